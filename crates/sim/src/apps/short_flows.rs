//! Short connections that come by a Poisson process, or at the times of a trace, each for one transfer.

use std::ops::Range;

use bentpipe_path::Stream;
use bentpipe_units::{Span, Time};

use super::sizes::Drawn;
use super::{Exchange, answer, ask, offer};
use crate::engine::End;
use crate::ids::Side;
use bentpipe_scenario::{ShortFlowsSpec, TraceSpec};

pub(crate) struct ShortFlows {
    /// One a connection, in the order of their starts.
    transfers: Vec<Exchange>,
    /// The size of a request, with which the receiving host opens a connection; none where the sending one does.
    request: Option<u64>,
    closed: Vec<bool>,
    open: usize,
    /// Connections that were opened by the last call.
    pub(super) opened: Range<usize>,
}

impl ShortFlows {
    /// The transfers that begin before `stop`; their times and their sizes come from streams of their own.
    pub(crate) fn new(
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
            .map(|start| Exchange { start, response: None, size: drawn.draw(&mut sizes) })
            .collect();
        ShortFlows::of(transfers, spec.opened_by.asks(spec.request))
    }

    /// The transfers of a trace.
    pub(crate) fn replay(spec: &TraceSpec, start: Time) -> ShortFlows {
        let transfers = spec.trace.iter().map(|transfer| Exchange {
            start: start + transfer.at,
            response: None,
            size: transfer.bytes,
        });
        ShortFlows::of(transfers.collect(), spec.opened_by.asks(spec.request))
    }

    fn of(transfers: Vec<Exchange>, request: Option<u64>) -> ShortFlows {
        ShortFlows { request, closed: vec![false; transfers.len()], transfers, open: 0, opened: 0..0 }
    }

    /// Opens the connections that are due.
    pub(super) fn on_time(&mut self, now: Time, pairs: &mut [[End; 2]]) {
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
    pub(super) fn next_time(&self) -> Time {
        self.transfers.get(self.opened.end).map_or(Time::NEVER, |transfer| transfer.start)
    }

    /// New data was read at an end of connection `number`.
    pub(super) fn on_data(&mut self, now: Time, number: usize, side: Side, [data, back]: &mut [End; 2]) {
        let transfer = &mut self.transfers[number];
        if let (Side::Data, Some(request)) = (side, self.request) {
            answer(data, request, transfer.size);
        }
        if side == Side::Back && back.delivered() == transfer.size {
            transfer.response = Some(now.since(transfer.start));
        }
    }

    /// An end of connection `number` is closed or in TIME-WAIT: whether the flow is over.
    pub(super) fn on_closed(&mut self, number: usize, side: Side, failed: bool) -> bool {
        let over = side == Side::Data || (self.request.is_some() && failed);
        if over && !std::mem::replace(&mut self.closed[number], true) {
            self.open -= 1;
        }
        self.idle()
    }

    /// The transfers that have begun.
    pub(super) fn started(&self) -> &[Exchange] {
        &self.transfers[..self.opened.end]
    }

    /// Whether nothing is open and nothing to come.
    pub(super) fn idle(&self) -> bool {
        self.open == 0 && self.opened.end == self.transfers.len()
    }

    pub(super) fn complete(&self) -> bool {
        self.transfers.iter().all(|transfer| transfer.response.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_scenario::{Opener, Sizes};

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
