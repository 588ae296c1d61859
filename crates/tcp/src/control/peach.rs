//! TCP-Peach (Akyildiz, Morabito and Palazzo, IEEE/ACM Trans. Networking 9(3), 2001): `peach`.

use bentpipe_units::bounded::Whole;
use bentpipe_units::{Span, Time};

use super::{
    Ack, Control, ControlFactory, Dummies, Extras, Loss, Mark, Response, Timeout, Window, grow, halve,
    halve_by_mark, options,
};
use crate::slow_start::SlowStart;

options! {
    "peach", "TCP-Peach: sudden start and rapid recovery by dummy segments of low priority (Akyildiz 2001)";
    /// Options of the control peach.
    pub struct PeachOptions {
        /// The window in segments that a sudden start asks the network for, 0 to 100,000; 0 for the window that the receiver advertises then.
        #[serde(with = "Whole::<0, 100_000>")]
        pub sudden_start: u32 = 0,
    }
}

impl ControlFactory for PeachOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Peach::new(*self))
    }
}

/// The control of TCP-Peach, for any recovery.
#[derive(Clone, Copy, Debug)]
struct Peach {
    options: PeachOptions,
    /// The receiver's window in bytes, and the newest RTT; zero before there is one.
    rwnd: u32,
    rtt: Span,
    /// Dummy segments of a sudden start that are to go out, when the next one may, and the time between two.
    sudden: u32,
    next: Time,
    gap: Span,
    /// Dummy segments of a rapid recovery that are to go out, `adsn`; those that the ACKs of now have let go.
    to_send: u32,
    allowed: u32,
    /// Dummy segments whose ACKs will not open cwnd, `wdsn`.
    ignored: u32,
}

impl Peach {
    fn new(options: PeachOptions) -> Peach {
        Peach {
            options,
            rwnd: 0,
            rtt: Span::ZERO,
            sudden: 0,
            next: Time::NEVER,
            gap: Span::ZERO,
            to_send: 0,
            allowed: 0,
            ignored: 0,
        }
    }

    /// Sudden start: from one segment, with a dummy segment for each further one of the receiver's window, evenly over a round trip.
    fn start(&mut self, w: &mut Window, now: Time) {
        (self.to_send, self.allowed, self.ignored) = (0, 0, 0);
        w.cwnd = w.smss;
        if self.rtt == Span::ZERO {
            return;
        }
        let asked = match self.options.sudden_start {
            0 => (f64::from(self.rwnd) / w.smss) as u32,
            segments => segments,
        };
        // What the ACKs bring from here on is congestion avoidance's.
        w.ssthresh = w.cwnd;
        self.sudden = asked.saturating_sub(1);
        self.gap = Span::from_nanos(self.rtt.as_nanos() / u64::from(asked.max(1)));
        self.next = now + self.gap;
    }

    /// Rapid recovery: half of the window `cwnd0`, and `cwnd0` dummy segments, whose first `cwnd0 / 2` ACKs show only that the half
    /// gets through.
    fn recover(&mut self, w: &Window, flight: u32) {
        let window = (f64::from(flight) / w.smss) as u32;
        (self.sudden, self.allowed) = (0, 0);
        (self.to_send, self.ignored) = (window, window / 2);
    }
}

impl Control for Peach {
    /// Each ACK lets a dummy segment of a rapid recovery go.
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        self.rwnd = ack.rwnd;
        if self.to_send > 0 {
            self.to_send -= 1;
            self.allowed += 1;
        }
        grow(self, w, ack, slow_start);
    }

    fn on_rtt_sample(&mut self, _now: Time, sample: Span) {
        self.rtt = sample;
    }

    fn on_handshake(&mut self, w: &mut Window, now: Time, rtt: Span) {
        self.rtt = rtt;
        self.start(w, now);
    }

    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.recover(w, loss.flight);
        halve(w, loss.flight);
        Response::Reduced
    }

    /// The paper has no marks. One is congestion: nothing is to be asked for.
    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        (self.sudden, self.to_send, self.allowed) = (0, 0, 0);
        halve_by_mark(w, mark);
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        self.start(w, timeout.now);
    }

    fn extras(&mut self) -> Extras<'_> {
        Extras { dummies: Some(self), ..Extras::default() }
    }
}

impl Dummies for Peach {
    fn on_first_window(&mut self, rwnd: u32) {
        self.rwnd = rwnd;
    }

    fn has_dummies(&self) -> bool {
        self.sudden > 0 || self.to_send > 0 || self.allowed > 0
    }

    fn next_dummy(&self) -> Time {
        match (self.allowed, self.sudden) {
            (0, 0) => Time::NEVER,
            (0, _) => self.next,
            _ => Time::ZERO,
        }
    }

    fn on_dummy_sent(&mut self, now: Time) {
        if self.allowed > 0 {
            self.allowed -= 1;
        } else {
            self.sudden -= 1;
            self.next = now + self.gap;
        }
    }

    /// `if wdsn == 0 then cwnd = cwnd + 1 else wdsn = wdsn - 1`.
    fn on_dummy_acked(&mut self, w: &mut Window, _now: Time) {
        if self.ignored > 0 {
            self.ignored -= 1;
        } else {
            w.cwnd += w.smss;
            w.ssthresh = w.ssthresh.max(w.cwnd);
        }
    }
}

#[cfg(test)]
mod tests;
