//! Short connections that come by a Poisson process, or at the times of a trace, each for one transfer.

mod sizes;

use std::ops::Range;

use self::sizes::Drawn;
use crate::TraceSpec;
use crate::prelude::*;

options! {
    "short-flows", "short TCP connections that come by a Poisson process";
    /// Connections that come by a Poisson process, each for one transfer of a size of its own.
    pub struct ShortFlowsSpec {
        /// Mean time from one connection's start to the next one's, which is exponentially distributed.
        #[serde(with = "AboveZero")]
        pub mean_interval: Span,
        /// Size of a transfer, or its mean.
        #[serde(with = "Size::<1, LARGEST>")]
        pub bytes: u64,
        /// How sizes are distributed: "constant" (the default), "exponential" or "pareto".
        #[serde(default)]
        pub size_distribution: Sizes,
        /// Shape of the Pareto distribution, above 1; default 1.5.
        #[serde(default, with = "Above::<1, 1000>")]
        pub shape: Option<f64>,
        /// Beside "pareto" the largest size, above `bytes`, which stays the mean; default none.
        #[serde(default, with = "Size::<2, LARGEST>")]
        pub largest: Option<u64>,
        /// Connections, at most.
        #[serde(with = "Whole::<1, 100_000>")]
        pub transfers: u32,
        /// Open no more so long after the start.
        #[serde(default, with = "AboveZero")]
        pub duration: Option<Span>,
        /// Which host opens the connection: "sender" (the default), or "receiver", with a request.
        #[serde(default)]
        pub opened_by: Opener,
        /// Beside "receiver" the size of the request; default "350 B".
        #[serde(default = "size::<350>", with = "Size::<1, LARGEST>")]
        pub request: u64,
    }
}

/// How the sizes of transfers are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// Each is the same.
    #[default]
    Constant,
    /// Most are below the mean, and few are far above it.
    Exponential,
    /// A few carry most of the bytes.
    Pareto,
}

impl App for ShortFlowsSpec {
    fn facts(&self) -> Facts {
        Facts {
            ends: true,
            connections: self.transfers as usize,
            is_asked_for: self.opened_by == Opener::Receiver,
            draws: true,
            ..Facts::default()
        }
    }

    fn check(&self, written: &Written<'_>) -> Result<(), Fault> {
        self.opened_by.check(written)?;
        let (other, needs) =
            (self.size_distribution != Sizes::Pareto, "needs size_distribution = \"pareto\"");
        fitting(written, &[("shape", other, needs), ("largest", other, needs)])?;
        let (mean, largest) = (Bytes::new(self.bytes), Bytes::new(self.largest.unwrap_or(u64::MAX)));
        ensure!(largest > mean, fault!("a size above the mean ({mean})", "{largest}").under("largest"));
        Ok(())
    }

    fn start<S: Socket>(&self, beginning: &Beginning<'_>) -> Running<S> {
        let (arrivals, sizes) = (beginning.stream("arrivals"), beginning.stream("sizes"));
        // What has begun by then is still delivered.
        let stop = self.duration.map_or(Time::NEVER, |duration| beginning.start + duration);
        Running::connected(ShortFlows::new(self, beginning.start, stop, arrivals, sizes))
    }
}

pub(super) struct ShortFlows {
    /// One a connection, in the order of their starts.
    transfers: Vec<Exchange>,
    /// The size of a request, with which the receiving host opens a connection; none where the sending one does.
    request: Option<u64>,
    closed: Vec<bool>,
    open: usize,
    /// Connections that were opened by the last call.
    opened: Range<usize>,
}

impl ShortFlows {
    /// The transfers that begin before `stop`; their times and their sizes come from streams of their own.
    pub(super) fn new(
        spec: &ShortFlowsSpec,
        start: Time,
        stop: Time,
        mut gaps: Stream,
        mut sizes: Stream,
    ) -> ShortFlows {
        let (mut at, drawn) = (start, Drawn::of(spec));
        let arrivals = std::iter::from_fn(|| {
            at += Span::from_secs(spec.mean_interval.as_secs() * gaps.exponential());
            (at < stop).then_some(at)
        });
        let transfers: Vec<_> = arrivals
            .take(spec.transfers as usize)
            .map(|start| Exchange::begun(start, drawn.draw(&mut sizes)))
            .collect();
        ShortFlows::of(transfers, spec.opened_by.asks(spec.request))
    }

    /// The transfers of a trace.
    pub(super) fn replay(spec: &TraceSpec, start: Time) -> ShortFlows {
        let transfers =
            spec.trace.iter().map(|transfer| Exchange::begun(start + transfer.at, transfer.bytes));
        ShortFlows::of(transfers.collect(), spec.opened_by.asks(spec.request))
    }

    fn of(transfers: Vec<Exchange>, request: Option<u64>) -> ShortFlows {
        ShortFlows { request, closed: vec![false; transfers.len()], transfers, open: 0, opened: 0..0 }
    }

    /// Whether nothing is open and nothing to come.
    fn idle(&self) -> bool {
        self.open == 0 && self.opened.end == self.transfers.len()
    }
}

/// The sending host opens the connections, or the receiving one with a request; the sending host closes them.
impl<S: Socket> Program<S> for ShortFlows {
    /// Opens the connections that are due.
    fn on_time(&mut self, now: Time, pairs: &mut [Pair<S>]) {
        let first = self.opened.end;
        let due = self.transfers[first..].iter().take_while(|transfer| transfer.start <= now).count();
        self.opened = first..first + due;
        self.open += due;
        for (transfer, pair) in self.transfers.iter().zip(pairs).skip(first).take(due) {
            if let Some(request) = self.request {
                ask(pair, request);
                continue;
            }
            let [data, back] = pair;
            back.listen();
            data.connect();
            offer(data, transfer.size);
        }
    }

    /// When the next connection is due.
    fn next_time(&self) -> Time {
        self.transfers.get(self.opened.end).map_or(Time::NEVER, |transfer| transfer.start)
    }

    fn called(&self) -> Option<Range<usize>> {
        Some(self.opened.clone())
    }

    fn on_data(&mut self, now: Time, number: usize, side: Side, _: u64, pairs: &mut [Pair<S>]) -> Due {
        let (transfer, [data, back]) = (&mut self.transfers[number], &mut pairs[number]);
        if let (Side::Data, Some(request)) = (side, self.request) {
            answer(data, request, transfer.size);
        }
        if side == Side::Back && back.delivered() == transfer.size {
            transfer.end(now);
        }
        Due::default()
    }

    fn on_closed(&mut self, _: Time, number: usize, side: Side, failed: bool) -> bool {
        let over = side == Side::Data || (self.request.is_some() && failed);
        if over && !std::mem::replace(&mut self.closed[number], true) {
            self.open -= 1;
        }
        self.idle()
    }

    /// The transfers that have begun.
    fn exchanges(&self) -> &[Exchange] {
        &self.transfers[..self.opened.end]
    }

    fn is_idle(&self) -> bool {
        self.idle()
    }

    fn complete(&self, _: &[Pair<S>]) -> bool {
        self.transfers.iter().all(|transfer| transfer.response.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(distribution: Sizes, seed: u64, stop: Time) -> ShortFlows {
        let spec = ShortFlowsSpec {
            mean_interval: Span::from_millis(500),
            bytes: 20_000,
            size_distribution: distribution,
            shape: (distribution == Sizes::Pareto).then_some(2.5),
            largest: None,
            opened_by: Opener::Sender,
            request: 350,
            transfers: 20_000,
            duration: None,
        };
        let stream = |name| Stream::derive(seed, name);
        ShortFlows::new(&spec, Time::ZERO, stop, stream("arrivals"), stream("sizes"))
    }

    #[test]
    fn arrivals_are_a_poisson_process() {
        let flows = flows(Sizes::Constant, 1, Time::NEVER);
        let starts: Vec<f64> = flows.transfers.iter().map(|transfer| transfer.start.as_secs()).collect();
        let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        // Five standard deviations of the mean, which is that of the gaps over √n.
        assert!((mean - 0.5).abs() < 5.0 * 0.5 / n.sqrt(), "{mean}");
        // P(gap > x) = exp(−x / mean).
        for (x, share) in [(0.5, 0.367_879), (1.5, 0.049_787)] {
            let above = gaps.iter().filter(|gap| **gap > x).count() as f64 / n;
            assert!((above - share).abs() < 5.0 * (share / n).sqrt(), "{above} {share}");
        }
    }

    #[test]
    fn sizes_have_their_distribution_and_leave_the_arrivals_alone() {
        let starts = |flows: &ShortFlows| flows.transfers.iter().map(|it| it.start).collect::<Vec<_>>();
        let constant = flows(Sizes::Constant, 1, Time::NEVER);
        assert!(constant.transfers.iter().all(|transfer| transfer.size == 20_000));
        // P(size > 40,000): exp(−2), and (scale / 40,000)^2.5 with the scale 12,000.
        for (distribution, share) in [(Sizes::Exponential, 0.135_335), (Sizes::Pareto, 0.049_295)] {
            let drawn = flows(distribution, 1, Time::NEVER);
            assert_eq!(starts(&drawn), starts(&constant));
            let n = drawn.transfers.len() as f64;
            let above = drawn.transfers.iter().filter(|it| it.size > 40_000).count() as f64 / n;
            assert!((above - share).abs() < 5.0 * (share / n).sqrt(), "{above} {share}");
            let mean = drawn.transfers.iter().map(|it| it.size as f64).sum::<f64>() / n;
            assert!((mean / 20_000.0 - 1.0).abs() < 0.05, "{mean}");
        }
    }

    #[test]
    fn none_begins_at_the_stop_or_later() {
        let stop = Time::ZERO + Span::from_secs(100.0);
        let (all, some) = (flows(Sizes::Constant, 3, Time::NEVER), flows(Sizes::Constant, 3, stop));
        let before = all.transfers.iter().filter(|transfer| transfer.start < stop).count();
        assert_eq!(some.transfers.len(), before);
        assert!((150..250).contains(&before), "{before}");
    }
}
