//! Writes at a constant rate during on periods, and nothing during off periods; both are of Pareto-distributed lengths.

use bentpipe_path::Stream;
use bentpipe_units::{Span, Time};

use super::udp::elapsed;
use bentpipe_scenario::{Begins, OnOffSpec};

/// When the application writes next, and what.
pub(crate) struct OnOff {
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
}

impl OnOff {
    pub(crate) fn new(spec: &OnOffSpec, start: Time, mut stream: Stream) -> OnOff {
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
        };
        onoff.turn_to_next_write();
        onoff
    }

    /// When the application writes next.
    pub(crate) fn next_time(&self) -> Time {
        self.next
    }

    /// Bytes that the application writes by `now`.
    pub(crate) fn poll(&mut self, now: Time) -> u64 {
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

#[cfg(test)]
mod tests {
    use bentpipe_units::Rate;

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
        while onoff.next_time() < Time::ZERO + Span::from_secs(5000.0) {
            bytes += onoff.poll(onoff.next_time());
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
        let mut last = onoff.next_time();
        assert_eq!(last, Time::ZERO + Span::from_millis(8));
        for _ in 0..1000 {
            assert_eq!(onoff.poll(last), 1000);
            apart.push(onoff.next_time().since(last));
            last = onoff.next_time();
        }
        let together = apart.iter().filter(|span| **span == Span::from_millis(8)).count();
        assert!(apart.iter().all(|span| *span >= Span::from_millis(8)));
        assert!((700..1000).contains(&together), "{together}");
    }
}
