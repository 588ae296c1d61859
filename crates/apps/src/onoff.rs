//! Writes at a constant rate during on periods, and nothing during off periods; both are of Pareto-distributed lengths.

use crate::prelude::*;

options! {
    "onoff", "writes over TCP at a constant rate during Pareto-distributed on periods";
    /// Writes at a constant rate during on periods, and nothing during off periods: each of a Pareto-distributed length. Over
    /// one connection.
    pub struct OnOffSpec {
        /// Bytes written, over the time of on periods.
        pub rate: Rate,
        /// Bytes of a write; default "1000 B".
        #[serde(default = "small::<1000>", with = "Size::<1, DATAGRAM>")]
        pub packet: u32,
        /// Mean length of an on period; default "160 ms".
        #[serde(default = "ms::<160>", with = "AboveZero")]
        pub mean_on: Span,
        /// Mean length of an off period; default "160 ms".
        #[serde(default = "ms::<160>")]
        pub mean_off: Span,
        /// Shape of the Pareto distributions of both, above 1; default 1.5.
        #[serde(default = "usual_shape", with = "Above::<1, 1000>")]
        pub shape: f64,
        /// What it starts in: "equilibrium" (the default), some moment of a period, on or off, or "on", the beginning of an on period.
        #[serde(default)]
        pub begins: Begins,
        /// Stop so long after the start.
        #[serde(default, with = "AboveZero")]
        pub duration: Option<Span>,
    }
}

/// What periods of on and off start in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Begins {
    /// Some moment of one that began long ago.
    #[default]
    Equilibrium,
    /// The beginning of an on period.
    On,
}

fn usual_shape() -> f64 {
    1.5
}

impl App for OnOffSpec {
    fn facts(&self) -> Facts {
        Facts { duration: self.duration, ends: self.duration.is_some(), draws: true, ..Facts::default() }
    }

    fn sends(&self, beginning: &Beginning<'_>) -> Option<Datagrams> {
        let writes = OnOff::new(self, beginning.start, beginning.stream("onoff"));
        Some(Datagrams::new(writes, self.packet, beginning.stop))
    }

    fn start<S: Socket>(&self, beginning: &Beginning<'_>) -> Running<S> {
        Running::connected(OnOff::new(self, beginning.start, beginning.stream("onoff")))
    }
}

/// When the application writes next, and what.
struct OnOff {
    spec: OnOffSpec,
    stream: Stream,
    /// The on period that was drawn last.
    on_start: Time,
    on_end: Time,
    /// Sum of the on periods before it.
    on_before: Span,
    written: u64,
    /// When the next write is due.
    next: Time,
    opened: bool,
}

impl OnOff {
    fn new(spec: &OnOffSpec, start: Time, mut stream: Stream) -> OnOff {
        let mut on_start = start;
        let mut length: fn(Span, f64, &mut Stream) -> Span = pareto;
        if spec.begins == Begins::Equilibrium {
            let (on, off) = (spec.mean_on.as_secs(), spec.mean_off.as_secs());
            match stream.uniform() * (on + off) < on {
                true => length = rest_of_pareto,
                false => on_start += rest_of_pareto(spec.mean_off, spec.shape, &mut stream),
            }
        }
        let mut onoff = OnOff {
            spec: *spec,
            on_start,
            on_end: on_start + length(spec.mean_on, spec.shape, &mut stream),
            stream,
            on_before: Span::ZERO,
            written: 0,
            next: start,
            opened: false,
        };
        onoff.turn_to_next_write();
        onoff
    }

    /// Bytes that the application writes by `now`.
    fn poll(&mut self, now: Time) -> u64 {
        let mut bytes = 0;
        while self.next <= now {
            bytes += u64::from(self.spec.packet);
            self.written += u64::from(self.spec.packet);
            self.turn_to_next_write();
        }
        bytes
    }

    /// A write is due when the rate has made up a packet, over all on periods: what one leaves over counts in the next.
    fn turn_to_next_write(&mut self) {
        let due = elapsed(self.written + u64::from(self.spec.packet), self.spec.rate);
        loop {
            let on = self.on_end.since(self.on_start);
            if due <= self.on_before + on {
                self.next = self.on_start + (due - self.on_before);
                return;
            }
            self.on_before += on;
            self.on_start = self.on_end + pareto(self.spec.mean_off, self.spec.shape, &mut self.stream);
            self.on_end = self.on_start + pareto(self.spec.mean_on, self.spec.shape, &mut self.stream);
        }
    }
}

/// Longer than any run.
const LONGEST_S: f64 = 9e6;

/// The length of a period.
fn pareto(mean: Span, shape: f64, stream: &mut Stream) -> Span {
    Span::from_secs((mean.as_secs() * stream.pareto(shape)).min(LONGEST_S))
}

/// The rest of a period that holds a given moment, of which the long ones hold more. It is longer than x with the probability
/// 1 − x / mean up to the scale, and (scale / x)^(shape − 1) / shape from there on: the integral of P(period > y) from x on, over the mean.
fn rest_of_pareto(mean: Span, shape: f64, stream: &mut Stream) -> Span {
    let (mean, beyond) = (mean.as_secs(), 1.0 - stream.uniform());
    let rest = match beyond * shape > 1.0 {
        true => (1.0 - beyond) * mean,
        false => mean * (shape - 1.0) / shape * libm::pow(shape * beyond, -1.0 / (shape - 1.0)),
    };
    Span::from_secs(rest.min(LONGEST_S))
}

impl Source for OnOff {
    fn next_frame(&mut self) -> Option<Frame> {
        let at = self.next;
        Some(Frame { at, bytes: self.poll(at) })
    }
}

/// The sending host opens the connection and closes it.
impl<S: Socket> Program<S> for OnOff {
    fn on_time(&mut self, now: Time, pairs: &mut [Pair<S>]) {
        let [[data, back]] = pairs else { return };
        if !std::mem::replace(&mut self.opened, true) {
            back.listen();
            data.connect();
        }
        data.write(self.poll(now));
    }

    /// What was written by then is still delivered.
    fn on_stop(&mut self, _: Time, pairs: &mut [Pair<S>]) {
        self.next = Time::NEVER;
        pairs.iter_mut().for_each(|[data, _]| data.close(false));
    }

    fn next_time(&self) -> Time {
        self.next
    }

    fn attends(&self, _: Side) -> bool {
        false
    }

    fn on_closed(&mut self, _: Time, _: usize, side: Side, _: bool) -> bool {
        side == Side::Data
    }

    fn complete(&self, pairs: &[Pair<S>]) -> bool {
        pairs.first().is_some_and(|[_, back]| back.finished())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(shape: f64) -> OnOffSpec {
        OnOffSpec {
            rate: Rate::from_bps(1_000_000),
            packet: 1000,
            mean_on: Span::from_millis(160),
            mean_off: Span::from_millis(320),
            shape,
            begins: Begins::Equilibrium,
            duration: None,
        }
    }

    fn from_on(shape: f64) -> OnOffSpec {
        OnOffSpec { begins: Begins::On, ..spec(shape) }
    }

    #[test]
    fn the_long_run_has_the_rate_times_the_share_of_on_time() {
        let mut onoff = OnOff::new(&spec(3.0), Time::ZERO, Stream::derive(1, "web"));
        let mut bytes = 0;
        while onoff.next < Time::ZERO + Span::from_secs(5000.0) {
            bytes += onoff.poll(onoff.next);
        }
        let rate = bytes as f64 * 8.0 / 5000.0;
        assert!((rate - 1e6 / 3.0).abs() < 0.03 * 1e6 / 3.0, "{rate}");
    }

    /// Each second has the long run's share of the rate, the first like the others; from the beginning of an on period it has more.
    #[test]
    fn a_start_in_equilibrium_has_the_rate_of_the_long_run_at_once() {
        let n = 4000;
        let shares = |spec: &OnOffSpec| {
            let mut bytes = [0_u64; 3];
            for seed in 0..n {
                let mut onoff = OnOff::new(spec, Time::ZERO, Stream::derive(seed, "web"));
                for (number, bytes) in bytes.iter_mut().enumerate() {
                    *bytes += onoff.poll(Time::ZERO + Span::from_millis(200) * (number as u64 + 1));
                }
            }
            bytes.map(|bytes| bytes as f64 * 8.0 / (0.2 * 1e6) / n as f64)
        };
        // A share of at most one is no further than this from its mean, five standard deviations.
        let within = 5.0 * 0.5 / (n as f64).sqrt();
        let found = shares(&spec(1.5));
        assert!(found.iter().all(|share| (share - 1.0 / 3.0).abs() < within), "{found:?}");
        assert!(shares(&from_on(1.5))[0] > 1.0 / 3.0 + 2.0 * within);
    }

    #[test]
    fn what_is_left_of_a_period_has_the_law_of_a_renewal_process() {
        let mut stream = Stream::derive(4, "web");
        let (n, mean, shape) = (100_000, Span::from_millis(160), 2.5);
        let rests: Vec<f64> = (0..n).map(|_| rest_of_pareto(mean, shape, &mut stream).as_secs()).collect();
        let scale = 0.160 * 1.5 / 2.5;
        for (x, share) in [(0.5 * scale, 0.7), (scale, 0.4), (4.0 * scale, 0.05)] {
            let above = rests.iter().filter(|rest| **rest > x).count() as f64 / f64::from(n);
            assert!((above - share).abs() < 5.0 * (share / f64::from(n)).sqrt(), "{above} {share}");
        }
    }

    // xfwa, section IV-C: on/off sources with Pareto periods [21]
    #[test]
    fn periods_are_pareto_distributed() {
        // `xfwa`, section IV-C: "The On/Off periods of the non-persistent connections are derived from Pareto distributions".
        let mut stream = Stream::derive(2, "web");
        let n = 100_000;
        let (mean, shape) = (Span::from_millis(160), 1.5);
        let scale = 0.160 / 3.0;
        let periods: Vec<f64> = (0..n).map(|_| pareto(mean, shape, &mut stream).as_secs()).collect();
        assert!(periods.iter().all(|period| *period >= scale - 1e-9));
        // P(X > x) = (scale / x)^shape; five standard deviations.
        for (x, share) in [(2.0 * scale, 0.353_553), (10.0 * scale, 0.031_623)] {
            let above = periods.iter().filter(|period| **period > x).count() as f64 / f64::from(n);
            assert!((above - share).abs() < 5.0 * (share / f64::from(n)).sqrt(), "{above} {share}");
        }
    }

    #[test]
    fn writes_within_an_on_period_are_a_packet_time_apart() {
        let mut onoff = OnOff::new(&from_on(1.5), Time::ZERO, Stream::derive(3, "web"));
        let mut apart = Vec::new();
        let mut last = onoff.next;
        assert_eq!(last, Time::ZERO + Span::from_millis(8));
        for _ in 0..1000 {
            assert_eq!(onoff.poll(last), 1000);
            apart.push(onoff.next.since(last));
            last = onoff.next;
        }
        let together = apart.iter().filter(|span| **span == Span::from_millis(8)).count();
        assert!(apart.iter().all(|span| *span >= Span::from_millis(8)));
        assert!((700..1000).contains(&together), "{together}");
    }
}
