//! TCP-STAR (Obata, Ishida, Takeuchi and Hanasaki, IEICE Trans. Commun. E89-B(6), 2006): `star`.

use bentpipe_units::bounded::Number;
use bentpipe_units::{Span, Time};

use super::jersey::Bandwidth;
use super::{Ack, Control, ControlFactory, Loss, Mark, Response, Timeout, Window, WindowRtt, grow, options};
use crate::slow_start::SlowStart;

options! {
    "star", "TCP-STAR: window by the estimated bandwidth at a loss, and lifted towards it between losses (Obata 2006)";
    /// Options of the control star.
    pub struct StarOptions {
        /// Round trips that the bandwidth estimate looks back, 1 to 100.
        #[serde(with = "Number::<1, 100>")]
        pub k: f64 = 1.0,
        /// Lift window control: the share of what cwnd lacks to the estimated window that a round trip's ACKs bring, 0 for none to 1.
        #[serde(with = "Number::<0, 1>")]
        pub lift: f64 = 1.0,
    }
}

impl ControlFactory for StarOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Star { options: *self, bandwidth: Bandwidth::default() })
    }

    /// A recovery that finds out that what it sent again was not lost, and gives the window back: acknowledgment error
    /// notification, as far as it can be had.
    fn recoveries(&self) -> &[&str] {
        &["rack"]
    }
}

/// The control of TCP-STAR, for any recovery.
#[derive(Clone, Copy, Debug)]
struct Star {
    options: StarOptions,
    bandwidth: Bandwidth,
}

impl Star {
    /// Congestion window setting (CWS).
    fn set(&self, w: &mut Window, flight: u32) {
        self.bandwidth.limit(w, WindowRtt::Least, flight);
    }
}

impl Control for Star {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        self.bandwidth.deliver(ack.now, ack.newly_delivered(), self.options.k);
        grow(self, w, ack, slow_start);
    }

    /// Lift window control (LWC): `cwnd += max(SMSS^2 / cwnd, lift (R RTT_min - cwnd) acked / cwnd)`.
    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack<'_>) {
        let lacks = self.bandwidth.window(WindowRtt::Least).unwrap_or_default() - w.cwnd;
        let lifted = self.options.lift * lacks * f64::from(ack.acked) / w.cwnd;
        w.cwnd += w.avoidance_growth(ack.counted()).max(lifted);
    }

    fn on_rtt_sample(&mut self, _now: Time, sample: Span) {
        self.bandwidth.sample(sample);
    }

    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.set(w, loss.flight);
        Response::Reduced
    }

    /// The paper has no marks: one is what a loss is (RFC 3168).
    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        self.set(w, mark.flight);
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        if !timeout.repeated {
            self.set(w, timeout.flight);
        }
        w.cwnd = w.smss;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::test_path::{Path, SMSS, ms};
    use crate::{Growth, Record};

    fn at(s: f64) -> Time {
        Time::ZERO + ms(s * 1e3)
    }

    /// A control that takes a path of 500 ms for one of 100 kB/s.
    fn known(lift: f64) -> Star {
        let mut star =
            Star { options: StarOptions { lift, ..Default::default() }, bandwidth: Bandwidth::default() };
        star.on_rtt_sample(at(0.0), ms(500.0));
        (0..4000).for_each(|n| star.bandwidth.deliver(at(1.0 + f64::from(n) * 0.01), 1000, 1.0));
        star
    }

    fn window(cwnd: f64) -> Window {
        Window::new(cwnd, 10_000.0, SMSS, Growth::PerAck)
    }

    /// A path of 1 MB/s and 100 ms, which holds 100 segments.
    fn path(lift: f64) -> Path<Star> {
        let options = StarOptions { lift, ..Default::default() };
        Path::new(Star { options, bandwidth: Bandwidth::default() }, 1e6, 100.0)
    }

    #[test]
    fn an_ack_lifts_the_window_towards_the_estimate_and_never_adds_less_than_reno() {
        let record = Record::default();
        let ack = Ack { acked: 2000, ..Ack::new(&record) };
        for (lift, cwnd, expected) in [
            // 30 segments lack; the ACK is of 2 in 20.
            (1.0, 20_000.0, 23_000.0),
            (0.5, 20_000.0, 21_500.0),
            (0.0, 20_000.0, 20_050.0),
            (1.0, 50_000.0, 50_020.0),
            (1.0, 80_000.0, 80_012.5),
        ] {
            let mut w = window(cwnd);
            known(lift).congestion_avoidance(&mut w, &ack);
            assert!((w.cwnd - expected).abs() < 0.1, "{lift} {cwnd}: {}", w.cwnd);
        }
    }

    #[test]
    fn losses_marks_and_timeouts_set_the_window_by_the_estimate() {
        let (mut star, now, flight) = (known(1.0), at(42.0), 80_000);
        let near = |w: &Window, cwnd: f64| (w.ssthresh - 50_000.0).abs() < 1.0 && (w.cwnd - cwnd).abs() < 1.0;
        let mut w = window(80_000.0);
        assert_eq!(star.on_loss(&mut w, &Loss { now, distance: 0, flight }), Response::Reduced);
        assert!(near(&w, 50_000.0), "{w:?}");
        let mut w = window(80_000.0);
        star.on_congestion_mark(&mut w, &Mark { now, flight });
        assert!(near(&w, 50_000.0), "{w:?}");
        let mut w = window(80_000.0);
        star.on_timeout(&mut w, &Timeout { now, flight, repeated: false });
        assert!(near(&w, 1000.0), "{w:?}");
        w.ssthresh = 7000.0;
        star.on_timeout(&mut w, &Timeout { now, flight, repeated: true });
        assert_eq!(w.ssthresh, 7000.0);
    }

    #[test]
    fn a_needless_reduction_is_taken_back() {
        // With 30 segments in the queue one comes half of an RTT late: it goes again, and both arrive.
        let mut path = path(0.0);
        path.loses = Box::new(|number| number == 60);
        assert!(path.runs_until(30.0, |path| path.cwnd() > 130_000.0));
        let (number, sent) = (path.sent + 5, path.sender.stats().retransmitted_segments);
        path.late = Box::new(move |other| if other == number { ms(60.0) } else { Span::ZERO });
        let before = path.cwnd();
        assert!(path.runs_until(1.0, |path| path.cwnd() < 0.9 * before), "taken for a loss");
        path.run(1.0);
        assert!(path.dropped == 1 && path.sender.stats().retransmitted_segments > sent);
        assert!(path.cwnd() >= before, "{before} {}", path.cwnd());
    }

    #[test]
    fn a_window_that_is_too_small_is_lifted() {
        let time = |lift: f64| {
            let mut path = path(lift);
            path.buffer = 30_000.0;
            path.loses = Box::new(|number| (50..=52).contains(&number) || number % 400 == 0);
            path.run(3.0)
        };
        let (plain, lifted) = (time(0.0), time(1.0));
        assert!(lifted > 1.05 * plain, "{plain} {lifted}");
    }
}
