//! TCP-Jersey (Xu, Tian and Ansari, IEEE JSAC 22(4), 2004): `jersey`.

use bentpipe_units::bounded::Number;
use bentpipe_units::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ack, Control, ControlFactory, Loss, Mark, Response, Timeout, Window, grow, halve, options};
use crate::slow_start::SlowStart;

options! {
    "jersey", "TCP-Jersey: the window at a loss or a mark is the bandwidth by the rate of ACKs (Xu 2004)";
    /// Options of the control jersey.
    pub struct JerseyOptions {
        /// Round trips that the bandwidth estimate looks back: K of the time window K RTT, 1 to 100.
        #[serde(with = "Number::<1, 100>")]
        pub k: f64 = 1.0,
        /// Which RTT makes a window of the estimated bandwidth.
        pub window_rtt: WindowRtt = WindowRtt::Least,
        /// What a loss does to the window when no mark has warned of congestion.
        pub unmarked_loss: UnmarkedLoss = UnmarkedLoss::Estimate,
    }
}

/// The RTT by which the estimated bandwidth is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowRtt {
    /// The smallest: a window that leaves the queue empty.
    Least,
    /// The smoothed one: a window that leaves the queue as it is.
    Smoothed,
}

/// What becomes of the window at a loss without a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnmarkedLoss {
    /// It is what the estimate has.
    Estimate,
    /// It stays: the loss is taken for one of the link. Only for a path whose queues mark.
    Keep,
}

impl ControlFactory for JerseyOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Jersey { options: *self, bandwidth: Bandwidth::default(), marked_at: None })
    }
}

/// The available bandwidth by the rate of ACKs (ABE), and the RTTs that it takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bandwidth {
    /// `R_n`, in bytes a second.
    rate: f64,
    /// When the ACK before this one came, `t_{n-1}`.
    last: Option<Time>,
    /// Smoothed RTT and the smallest one, in s.
    smoothed: Option<f64>,
    least: f64,
}

impl Bandwidth {
    /// The retransmission timer has a sample; it is smoothed as RFC 6298 does.
    pub(super) fn sample(&mut self, rtt: Span) {
        let rtt = rtt.as_secs();
        self.least = if self.smoothed.is_some() { self.least.min(rtt) } else { rtt };
        self.smoothed = Some(self.smoothed.map_or(rtt, |smoothed| smoothed + (rtt - smoothed) / 8.0));
    }

    /// An ACK reports so many bytes for the first time: `R_n = (K RTT R_{n-1} + L_n) / (t_n - t_{n-1} + K RTT)`.
    pub(super) fn deliver(&mut self, now: Time, bytes: u32, k: f64) {
        let Some(rtt) = self.smoothed.filter(|rtt| bytes > 0 && *rtt > 0.0) else { return };
        let gap = self.last.map_or(0.0, |last| now.since(last).as_secs());
        self.rate = (k * rtt * self.rate + f64::from(bytes)) / (gap + k * rtt);
        self.last = Some(now);
    }

    /// The window of the estimate in bytes; none before there is one.
    pub(super) fn window(&self, rtt: WindowRtt) -> Option<f64> {
        let rtt = match rtt {
            WindowRtt::Least => self.least,
            WindowRtt::Smoothed => self.smoothed.unwrap_or_default(),
        };
        (self.rate > 0.0).then_some(rtt * self.rate)
    }

    /// ssthresh is the window of the estimate, and cwnd no larger; half of `flight` while there is none.
    pub(super) fn limit(&self, w: &mut Window, rtt: WindowRtt, flight: u32) {
        let cwnd = w.cwnd;
        match self.window(rtt) {
            Some(window) => w.ssthresh = window.max(2.0 * w.smss),
            None => halve(w, flight),
        }
        w.cwnd = cwnd.min(w.ssthresh);
    }
}

/// The control of TCP-Jersey, for any recovery.
#[derive(Clone, Copy, Debug)]
struct Jersey {
    options: JerseyOptions,
    bandwidth: Bandwidth,
    /// When a mark was told last.
    marked_at: Option<Time>,
}

impl Jersey {
    fn limit(&self, w: &mut Window, flight: u32) {
        self.bandwidth.limit(w, self.options.window_rtt, flight);
    }

    /// Whether a mark has warned within the last round trip.
    fn warned(&self, now: Time) -> bool {
        let rtt = self.bandwidth.smoothed.unwrap_or_default();
        self.marked_at.is_some_and(|marked| now.since(marked).as_secs() <= rtt)
    }
}

impl Control for Jersey {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        self.bandwidth.deliver(ack.now, ack.newly_delivered(), self.options.k);
        if ack.mark_echo {
            self.marked_at = Some(ack.now);
        }
        grow(self, w, ack, slow_start);
    }

    fn on_rtt_sample(&mut self, _now: Time, sample: Span) {
        self.bandwidth.sample(sample);
    }

    /// With a warning the rate control sets the window; without one the loss is the link's, and `unmarked_loss` says what that means.
    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        if self.options.unmarked_loss == UnmarkedLoss::Keep && !self.warned(loss.now) {
            return Response::Keep;
        }
        self.limit(w, loss.flight);
        Response::Reduced
    }

    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        self.marked_at = Some(mark.now);
        self.limit(w, mark.flight);
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        if !timeout.repeated {
            self.limit(w, timeout.flight);
        }
        w.cwnd = w.smss;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::test_path::{Path, ms};
    use crate::{Growth, Record};

    const MSS: u32 = 1000;

    fn at(s: f64) -> Time {
        Time::ZERO + ms(s * 1e3)
    }

    fn window(cwnd: f64) -> Window {
        Window::new(cwnd, f64::INFINITY, f64::from(MSS), Growth::PerAck)
    }

    fn jersey(options: JerseyOptions) -> Jersey {
        Jersey { options, bandwidth: Bandwidth::default(), marked_at: None }
    }

    fn loss(now: Time, flight: u32) -> Loss {
        Loss { now, distance: 0, flight }
    }

    /// ACKs of a segment each, `gap` seconds apart, for so long.
    fn fed(mut control: Jersey, gap: f64, seconds: f64) -> Jersey {
        control.on_rtt_sample(at(0.0), ms(500.0));
        (0..(seconds / gap) as u32)
            .for_each(|n| control.bandwidth.deliver(at(1.0 + f64::from(n) * gap), MSS, control.options.k));
        control
    }

    #[test]
    fn the_estimate_follows_the_equation_step_by_step() {
        let mut abe = Bandwidth::default();
        abe.deliver(at(0.0), MSS, 1.0);
        assert_eq!(abe.window(WindowRtt::Least), None, "no RTT is known");
        abe.sample(ms(500.0));
        abe.deliver(at(1.0), MSS, 1.0);
        assert_eq!(abe.rate, 1000.0 / 0.5);
        abe.deliver(at(1.1), 2 * MSS, 1.0);
        // (0.5 * 2000 + 2000) / (0.1 + 0.5)
        assert!((abe.rate - 5000.0).abs() < 1e-9, "{}", abe.rate);
        abe.deliver(at(1.1), MSS, 1.0);
        assert!((abe.rate - (0.5 * 5000.0 + 1000.0) / 0.5).abs() < 1e-9, "at once with the one before");
        let before = abe.rate;
        abe.deliver(at(1.5), MSS, 2.0);
        assert!((abe.rate - (before + 1000.0) / 1.4).abs() < 1e-9, "K = 2");
        let before = abe;
        abe.deliver(at(9.0), 0, 1.0);
        assert_eq!((abe.rate, abe.last), (before.rate, before.last), "an ACK of nothing is no sample");
    }

    #[test]
    fn rtts_are_smoothed_by_an_eighth_and_the_least_is_kept() {
        let mut abe = Bandwidth::default();
        for (sample, smoothed, least) in [(800.0, 0.8, 0.8), (400.0, 0.75, 0.4), (750.0, 0.75, 0.4)] {
            abe.sample(ms(sample));
            assert!((abe.smoothed.unwrap() - smoothed).abs() < 1e-9 && (abe.least - least).abs() < 1e-9);
        }
        abe.rate = 100_000.0;
        assert!((abe.window(WindowRtt::Least).unwrap() - 40_000.0).abs() < 1e-6);
        assert!((abe.window(WindowRtt::Smoothed).unwrap() - 75_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_steady_rate_is_estimated_and_becomes_the_window_at_a_loss() {
        // A segment each 10 ms with an RTT of 500 ms: 100 kB/s, 50 segments.
        for k in [1.0, 4.0] {
            let mut control = fed(jersey(JerseyOptions { k, ..JerseyOptions::default() }), 0.01, 40.0);
            assert!((control.bandwidth.rate - 100_000.0).abs() < 1.0, "{}", control.bandwidth.rate);
            let mut w = window(70_000.0);
            assert_eq!(control.on_loss(&mut w, &loss(at(41.0), 70_000)), Response::Reduced);
            assert!((w.ssthresh - 50_000.0).abs() < 1.0 && w.cwnd == w.ssthresh, "{w:?}");
            let mut w = window(30_000.0);
            control.on_loss(&mut w, &loss(at(41.0), 30_000));
            assert!(w.cwnd == 30_000.0 && (w.ssthresh - 50_000.0).abs() < 1.0, "a loss opens nothing: {w:?}");
        }
    }

    #[test]
    fn a_window_is_two_segments_at_least_and_half_while_nothing_is_known() {
        let mut w = window(20_000.0);
        jersey(JerseyOptions::default()).on_loss(&mut w, &loss(at(1.0), 20_000));
        assert_eq!((w.cwnd, w.ssthresh), (10_000.0, 10_000.0));
        let mut slow = fed(jersey(JerseyOptions::default()), 2.0, 40.0);
        slow.on_loss(&mut w, &loss(at(41.0), 10_000));
        assert_eq!((w.cwnd, w.ssthresh), (2000.0, 2000.0));
    }

    #[test]
    fn without_a_mark_a_loss_may_keep_the_window_and_with_one_it_does_not() {
        let options = JerseyOptions { unmarked_loss: UnmarkedLoss::Keep, ..JerseyOptions::default() };
        let mut control = fed(jersey(options), 0.01, 40.0);
        let mut w = window(70_000.0);
        assert_eq!(control.on_loss(&mut w, &loss(at(41.0), 70_000)), Response::Keep);
        assert_eq!(w, window(70_000.0));
        control.on_congestion_mark(&mut w, &Mark { now: at(41.0), flight: 70_000 });
        assert!((w.cwnd - 50_000.0).abs() < 1.0, "{w:?}");
        w.cwnd = 60_000.0;
        assert_eq!(control.on_loss(&mut w, &loss(at(41.5), 70_000)), Response::Reduced);
        assert!((w.cwnd - 50_000.0).abs() < 1.0, "{w:?}");
        assert_eq!(control.on_loss(&mut w, &loss(at(41.6), 70_000)), Response::Keep, "a round trip later");
        // An echo that reduces nothing warns as well.
        let record = Record::default();
        let echo = Ack { now: at(42.0), mark_echo: true, ..Ack::new(&record) };
        control.on_ack(&mut w, &echo, &mut crate::slow_start::StandardStart);
        assert_eq!(control.on_loss(&mut w, &loss(at(42.4), 70_000)), Response::Reduced);
    }

    #[test]
    fn a_timeout_starts_over_towards_the_estimate() {
        let mut control = fed(jersey(JerseyOptions::default()), 0.01, 40.0);
        let mut w = window(70_000.0);
        let timeout = Timeout { now: at(43.0), flight: 70_000, repeated: false };
        control.on_timeout(&mut w, &timeout);
        assert!(w.cwnd == 1000.0 && (w.ssthresh - 50_000.0).abs() < 1.0, "{w:?}");
        w.ssthresh = 9000.0;
        control.on_timeout(&mut w, &Timeout { repeated: true, ..timeout });
        assert_eq!((w.cwnd, w.ssthresh), (1000.0, 9000.0));
    }

    #[test]
    fn losses_of_the_link_leave_it_full_and_a_full_queue_empties_it() {
        // 1 MB/s and 100 ms hold 100 segments.
        let mut path = Path::new(jersey(JerseyOptions::default()), 1e6, 100.0);
        path.buffer = 50_000.0;
        assert!(path.runs_until(20.0, |path| path.dropped > 0));
        path.run(30.0);
        let (dropped, ssthresh) = (path.dropped, path.sender.window().ssthresh);
        assert!(
            path.runs_until(60.0, |path| path.dropped > dropped && path.sender.window().ssthresh != ssthresh)
        );
        let ssthresh = path.sender.window().ssthresh;
        assert!((95_000.0..=105_000.0).contains(&ssthresh), "what the path holds: {ssthresh}");
        let mut path = Path::new(jersey(JerseyOptions::default()), 1e6, 100.0);
        path.loses = Box::new(|number| number % 500 == 0);
        path.run(10.0);
        let goodput = path.run(60.0);
        assert!(goodput > 0.85e6, "{goodput}");
    }
}
