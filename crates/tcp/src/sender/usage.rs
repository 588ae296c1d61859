//! Whether so much of cwnd is used that an ACK may open it.

use bentpipe_units::{Span, Time};

use crate::control::Window;
use crate::rtt::RttEstimator;
use crate::{GrowthGate, Seq};

/// What of cwnd was in use, as far as the gate asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    gate: GrowthGate,
    /// New data goes out so many segments at a time: less room than that holds it back, as cwnd does.
    burst: u32,
    /// Whether the ACK at hand has found cwnd full.
    full: bool,
    /// Up to here cwnd opens though it was not full.
    free: f64,
    /// The round trip, or window of data, under way ends here.
    until: Seq,
    /// Linux: the largest flight of that window in whole segments, and the newest byte sent when the last ACK came.
    most: u32,
    sent: Seq,
    pipe_ack: PipeAck,
}

/// RFC 7661 section 4.2: the largest volume that was acknowledged in a round trip of late.
#[derive(Clone, Copy, Debug, Default)]
struct PipeAck {
    /// SND.UNA when the round trip under way began; none before the first.
    began: Option<Seq>,
    /// The largest of this sampling period, and of the one before.
    newest: u32,
    before: u32,
    /// When this sampling period ends.
    renewed: Time,
}

/// RFC 7661 section 4.2: the sampling period is "max(3*RTT, 1 second)".
const SAMPLING_PERIOD: Span = Span::from_millis(1000);

impl Usage {
    pub(super) fn new(gate: GrowthGate, burst: u32, first: Seq) -> Usage {
        let free = match gate {
            GrowthGate::Off | GrowthGate::Rfc7661 => f64::INFINITY,
            GrowthGate::Full | GrowthGate::Linux => 0.0,
        };
        let pipe_ack = PipeAck::default();
        Usage { gate, burst, full: false, free, until: first, most: 0, sent: first, pipe_ack }
    }

    /// Whether an ACK that moved SND.UNA to `una` may open cwnd, where it found `flight` bytes outstanding and all of it in the network.
    #[inline(always)]
    pub(super) fn of_plain(
        &mut self,
        now: Time,
        w: &Window,
        una: Seq,
        max: Seq,
        flight: u32,
        rtt: &RttEstimator,
    ) -> bool {
        let full = f64::from(flight) + w.smss > w.cwnd;
        match self.gate {
            GrowthGate::Linux => {
                self.full = full;
                self.validate(w, max - flight, max);
                return self.lets_grow(w);
            }
            GrowthGate::Rfc7661 if una >= self.until => self.end_round(now, una, max, rtt),
            _ => {}
        }
        full || w.cwnd <= self.free
    }

    /// An ACK comes, and finds so much outstanding, from `una` to `max`, and so much of it in the network.
    pub(super) fn look(&mut self, w: &Window, una: Seq, max: Seq, in_flight: u32) {
        let room = match self.burst {
            1 => w.smss,
            burst => (f64::from(burst) * w.smss).min(w.cwnd / 3.0).max(w.smss),
        };
        self.full = f64::from(in_flight) + room > w.cwnd;
        if self.gate == GrowthGate::Linux {
            self.validate(w, una, max);
        }
    }

    /// `tcp_cwnd_validate`, which the kernel calls when it has sent.
    #[inline(always)]
    fn validate(&mut self, w: &Window, una: Seq, max: Seq) {
        if self.full {
            (self.free, self.until, self.sent) = (f64::INFINITY, max, max);
        } else if self.sent != max {
            self.sent = max;
            let flight = max - una;
            if una >= self.until || (self.free == 0.0 && flight > self.most) {
                // The kernel counts packets, of which the last may be less than full.
                let smss = w.smss as u32;
                (self.free, self.until, self.most) = (0.0, max, flight.div_ceil(smss) * smss);
            }
        }
    }

    /// Nothing more goes out though there is room, up to `max`: as good as full in Linux (`is_cwnd_limited`).
    pub(super) fn filled(&mut self, max: Seq) {
        if self.gate == GrowthGate::Linux {
            (self.free, self.until, self.sent) = (f64::INFINITY, max, max);
        }
    }

    /// Whether that ACK, which has moved SND.UNA to `una`, may open cwnd.
    pub(super) fn of_other(
        &mut self,
        now: Time,
        w: &Window,
        una: Seq,
        max: Seq,
        in_recovery: bool,
        rtt: &RttEstimator,
    ) -> bool {
        if self.gate == GrowthGate::Rfc7661 {
            if in_recovery {
                self.forget();
            } else if una >= self.until {
                self.end_round(now, una, max, rtt);
            }
        }
        self.lets_grow(w)
    }

    /// A round trip is through, and what went out in it is acknowledged; the next ends at `max`.
    ///
    /// RFC 7661 section 4.3: "Validated phase: pipeACK >=(1/2)*cwnd, or pipeACK is undefined".
    #[cold]
    #[inline(never)]
    fn end_round(&mut self, now: Time, una: Seq, max: Seq, rtt: &RttEstimator) {
        self.until = max;
        let pipe = &mut self.pipe_ack;
        let Some(began) = pipe.began.replace(una) else { return };
        if self.free.is_infinite() {
            (pipe.newest, pipe.before, pipe.renewed) = (0, 0, Time::ZERO);
        }
        if now >= pipe.renewed {
            (pipe.newest, pipe.before) = (0, pipe.newest);
            pipe.renewed = now + (rtt.smoothed().unwrap_or_default() * 3).max(SAMPLING_PERIOD);
        }
        pipe.newest = pipe.newest.max(una - began);
        self.free = 2.0 * f64::from(pipe.newest.max(pipe.before));
    }

    /// A reduction: what was measured before it says nothing (RFC 7661 section 4.4).
    pub(super) fn forget(&mut self) {
        if self.gate == GrowthGate::Rfc7661 {
            (self.free, self.pipe_ack.began) = (f64::INFINITY, None);
        }
    }

    /// Whether the ACK at hand may open cwnd.
    #[inline(always)]
    fn lets_grow(&self, w: &Window) -> bool {
        self.full
            || w.cwnd <= self.free
            // `tcp_is_cwnd_limited`: "If in slow start, ensure cwnd grows to twice what was ACKed."
            || (self.gate == GrowthGate::Linux && w.in_slow_start() && w.cwnd < 2.0 * f64::from(self.most))
    }
}
