//! Control: how large the window is.
//!
//! A control is told what happened and changes [`Window`]. Every method has a default, and the defaults together are
//! RFC 5681 with RFC 6582's partial ACKs: a scheme overrides only what its paper changes. The methods are named after
//! events, never after a scheme.

mod adalr;
mod afc;
mod standard;

pub use adalr::{Adalr, AdalrOptions, AvoidanceReading, RwndReading};
pub use afc::{Afc, AfcOptions, DelayedGrowth};
pub use standard::Standard;

use bentpipe_units::{Span, Time};

use crate::{Config, ControlKind, Growth, Seq};

/// The congestion window, in bytes. Fractions of a byte are kept so that slow growth is not rounded away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window, including what fast recovery has inflated it by.
    pub cwnd: f64,
    /// Slow start threshold; infinite until the first loss unless it was set.
    pub ssthresh: f64,
    /// Sender maximum segment size.
    pub smss: f64,
    /// How an ACK opens cwnd.
    pub growth: Growth,
}

impl Window {
    /// Whether cwnd is below ssthresh.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// What an ACK of `acked` bytes adds in slow start.
    ///
    /// RFC 5681 section 3.1: "cwnd += min (N, SMSS)"; RFC 3465 section 2.2 raises the bound to L SMSS.
    #[inline]
    pub fn slow_start_growth(&self, acked: u32) -> f64 {
        match self.growth {
            Growth::PerAck => self.smss,
            Growth::Bytes { limit } => f64::from(acked).min(f64::from(limit) * self.smss),
        }
    }

    /// What an ACK of `acked` bytes adds in congestion avoidance.
    ///
    /// RFC 5681 equation 3: "cwnd += SMSS*SMSS/cwnd"; by bytes, "at most one full-sized segment" a cwnd acknowledged.
    #[inline]
    pub fn avoidance_growth(&self, acked: u32) -> f64 {
        let counted = match self.growth {
            Growth::PerAck => self.smss,
            Growth::Bytes { .. } => f64::from(acked),
        };
        self.smss * counted / self.cwnd
    }
}

/// An ACK of new data.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Bytes newly acknowledged.
    pub acked: u32,
    /// Flight size after the ACK.
    pub flight: u32,
    /// Flight size before the ACK.
    pub prior_flight: u32,
    /// The window that the receiver advertised in this ACK.
    pub rwnd: u32,
    /// RTT sample that the ACK gave, if any.
    pub rtt_sample: Option<Span>,
    /// Smallest RTT sample of the connection.
    pub rtt_min: Option<Span>,
    /// Whether the sender had filled cwnd, so that growth is warranted.
    pub cwnd_limited: bool,
}

/// A loss found by recovery (not by the timer).
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was found.
    pub now: Time,
    /// First byte of the hole.
    pub hole: Seq,
    /// First byte of the first hole of this window; equals `hole` for the first.
    pub first_hole: Seq,
    /// First byte not yet sent when the first hole of this window was found: what is lost beyond belongs to the next.
    pub recover: Seq,
    /// Bytes sent and not cumulatively acknowledged.
    pub flight: u32,
}

/// News that a packet was marked on its way (RFC 3168), in a window of data for which the window was not reduced yet.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// When it came.
    pub now: Time,
    /// Bytes sent and not cumulatively acknowledged, before the ACK that told it.
    pub flight: u32,
}

/// What a control answers to a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// The window was reduced; recovery goes on as its RFC says.
    Reduced,
    /// Repair the hole, leave the window alone.
    Keep,
}

/// An ACK of new data that leaves data of the window in which the loss happened outstanding.
#[derive(Clone, Copy, Debug)]
pub struct PartialAck {
    /// Bytes newly acknowledged.
    pub acked: u32,
    /// Flight size after the ACK.
    pub flight: u32,
    /// Whether duplicate ACKs have inflated cwnd (Reno, NewReno) or pipe stands for them (SACK).
    pub inflated: bool,
}

/// The end of a recovery phase.
#[derive(Clone, Copy, Debug)]
pub struct Exit {
    /// Flight size after the ACK that ended it.
    pub flight: u32,
    /// Bytes cumulatively acknowledged from the phase's first loss to its end.
    pub acked: u32,
    /// cwnd as the recovery's RFC has it.
    pub cwnd: f64,
}

/// The retransmission timer's expiry.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// When it expired.
    pub now: Time,
    /// Bytes sent and not cumulatively acknowledged.
    pub flight: u32,
    /// Whether the oldest segment was retransmitted by the timer already.
    pub repeated: bool,
}

/// What the sender is about to compare a segment with.
#[derive(Clone, Copy, Debug)]
pub struct SendView {
    /// Bytes sent and not cumulatively acknowledged.
    pub flight: u32,
    /// The window that the receiver advertised.
    pub rwnd: u32,
    /// Whether recovery is under way.
    pub in_recovery: bool,
}

/// How large the window is.
pub trait Control: Send {
    /// An ACK of new data outside recovery.
    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if !ack.cwnd_limited {
            return;
        }
        if w.in_slow_start() {
            self.slow_start(w, ack);
        } else {
            self.congestion_avoidance(w, ack);
        }
    }

    /// Growth while cwnd is below ssthresh.
    #[inline]
    fn slow_start(&mut self, w: &mut Window, ack: &Ack) {
        w.cwnd += w.slow_start_growth(ack.acked);
    }

    /// Growth from ssthresh on.
    #[inline]
    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack) {
        w.cwnd += w.avoidance_growth(ack.acked);
    }

    /// An ACK gave an RTT sample; told before anything else that the ACK means.
    fn on_rtt_sample(&mut self, _now: Time, _sample: Span) {}

    /// An ACK advertised a window of `rwnd` bytes; told after everything else that the ACK means.
    #[inline]
    fn on_advertised_window(&mut self, _rwnd: u32) {}

    /// The first loss of a window.
    ///
    /// RFC 5681 equation 4: "ssthresh = max (FlightSize / 2, 2*SMSS)".
    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        halve(w, loss.flight);
        Response::Reduced
    }

    /// A further loss in a window in which one was found already.
    fn on_further_loss(&mut self, _w: &mut Window, _loss: &Loss) -> Response {
        Response::Keep
    }

    /// A packet was marked on its way. A control always reduces, and the network is told that it has.
    ///
    /// RFC 3168 section 6.1.2: "The indication of congestion should be treated just as a congestion loss in non-ECN-Capable
    /// TCP. That is, the TCP source halves the congestion window "cwnd" and reduces the slow start threshold "ssthresh"."
    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        let cwnd = w.cwnd;
        halve(w, mark.flight);
        w.cwnd = w.cwnd.min(cwnd);
    }

    /// A partial ACK.
    ///
    /// RFC 6582 section 3.2: "Deflate the congestion window by the amount of new data acknowledged by the Cumulative
    /// Acknowledgment field. If the partial ACK acknowledges at least one SMSS of new data, then add back SMSS bytes".
    fn on_partial_ack(&mut self, w: &mut Window, ack: &PartialAck) {
        if ack.inflated {
            let acked = f64::from(ack.acked);
            w.cwnd -= acked;
            if acked >= w.smss {
                w.cwnd += w.smss;
            }
            w.cwnd = w.cwnd.max(w.smss);
        }
    }

    /// The window in which the loss happened is through.
    fn on_recovery_exit(&mut self, w: &mut Window, exit: &Exit) {
        w.cwnd = exit.cwnd;
    }

    /// The retransmission timer expired.
    ///
    /// RFC 5681 section 3.1: "cwnd MUST be set to no more than the loss window, LW, which equals 1 full-sized segment";
    /// ssthresh is "held constant" when the segment was already retransmitted by the timer.
    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        if !timeout.repeated {
            halve(w, timeout.flight);
        }
        w.cwnd = w.smss;
    }

    /// The receive window to send by, asked once before each segment; cwnd limits beside it.
    #[inline]
    fn receive_window(&mut self, _w: &Window, view: &SendView) -> u32 {
        view.rwnd
    }

    /// Added to "now" when the timer is scheduled after a timeout.
    fn timeout_slack(&self) -> Span {
        Span::ZERO
    }

    /// Segments that one pass through the retransmission buffer may resend after a timeout.
    fn resend_limit(&self) -> u32 {
        u32::MAX
    }
}

/// The control that `config` names.
pub fn new(config: &Config) -> Box<dyn Control> {
    match config.control {
        ControlKind::Standard => Box::new(Standard),
        ControlKind::Adalr => Box::new(Adalr::new(config.adalr)),
        ControlKind::Afc => Box::new(Afc::new(Standard, config.afc)),
        ControlKind::AdalrAfc => Box::new(Afc::new(Adalr::new(config.adalr), config.afc)),
    }
}

/// RFC 5681 equation 4, with cwnd following ssthresh.
fn halve(w: &mut Window, flight: u32) {
    w.ssthresh = (f64::from(flight) / 2.0).max(2.0 * w.smss);
    w.cwnd = w.ssthresh;
}
