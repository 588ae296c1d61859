//! Control: how large the window is.
//!
//! A control is told what happened and changes [`Window`]. Every method has a default, and the defaults together are
//! RFC 5681 with RFC 6582's partial ACKs: a scheme overrides only what its paper changes. The methods are named after
//! events, never after a scheme.

mod composition;
mod events;
mod extras;
mod round;
mod rounds;
#[cfg(test)]
pub(crate) mod test_acks;
#[cfg(test)]
mod test_path;
#[cfg(test)]
mod test_properties;
mod window;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use bentpipe_units::options;
use bentpipe_units::{Span, Time};

pub use composition::{Composition, NoSuch, phases};
pub use events::{Ack, Exit, Feedback, Loss, Mark, PartialAck, Response, Resume, SendView, Supply, Timeout};
pub use extras::{Dummies, Extras, ReceiveWindow, Routers};
pub use window::Window;

use crate::Growth;
use crate::choice::schemes;
use crate::sender::Record;
use crate::slow_start::SlowStart;

schemes! {
    dyn ControlFactory, "control", "a control", composition::fits;
    standard::StandardOptions,
    adalr::AdalrOptions,
    afc::AfcOptions,
    cubic::CubicOptions,
    bbr1::Bbr1Options,
    bbr3::Bbr3Options,
    hybla::HyblaOptions,
    westwood::WestwoodOptions,
    veno::VenoOptions,
    vegas::VegasOptions,
    illinois::IllinoisOptions,
    highspeed::HighspeedOptions,
    xcp::XcpOptions,
    jersey::JerseyOptions,
    star::StarOptions,
    new_vegas::NewVegasOptions,
    peach::PeachOptions,
}

/// What makes the control of each connection: as a rule its options.
pub trait ControlFactory: Any + fmt::Debug + Send + Sync {
    /// The control of a new connection.
    fn make(&self) -> Box<dyn Control>;

    /// The recoveries with which it has a name as a variant: its own name where there is one, `NAME-RECOVERY` where there are
    /// several.
    fn recoveries(&self) -> &[&str] {
        &["sack"]
    }

    /// Whether Linux has it beside its own default, over the one recovery that there is.
    fn in_linux(&self) -> bool {
        false
    }

    /// The slow start with which it has a name as a variant, where a scenario names none; else that of the profile.
    fn slow_start(&self) -> Option<&str> {
        None
    }

    /// The names of the phases that it goes through ([`Control::phase`]), in the order of their first coming.
    fn phases(&self) -> &'static [&'static str] {
        &[]
    }

    /// The controls that it may go around, as `adalr+afc` is `afc` around `adalr`.
    fn wraps(&self) -> &[&str] {
        &[]
    }

    /// The factory of this control around what `inner` makes; none unless that is one of those that it may go around.
    fn around(&self, _inner: &dyn ControlFactory) -> Option<Arc<dyn ControlFactory>> {
        None
    }
}

/// How large the window is.
pub trait Control: Send {
    /// An ACK, in recovery or not; told after the recovery. `slow_start` decides what becomes of growth below ssthresh.
    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        grow(self, w, ack, slow_start);
    }

    /// An ACK of new data that tells nothing else, of a control that paces and goes by delivery rates: whether that is all about it. If not,
    /// [`Control::on_ack`] follows. `flight` is the flight size after it.
    #[inline]
    fn on_plain_ack(&mut self, _w: &mut Window, _now: Time, _record: &Record, _flight: u32) -> bool {
        false
    }

    /// What an ACK would add to cwnd while it is below ssthresh, in bytes.
    #[inline]
    fn slow_start_growth(&mut self, w: &Window, ack: &Ack<'_>) -> f64 {
        w.slow_start_growth(ack.counted())
    }

    /// Growth from ssthresh on.
    #[inline]
    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack<'_>) {
        w.avoid_congestion(ack.counted());
    }

    /// An ACK gave a sample to the retransmission timer, one a round trip where there are no timestamps; told before anything else that the ACK means.
    fn on_rtt_sample(&mut self, _now: Time, _sample: Span) {}

    /// The connection has opened, and its handshake took `rtt`; not told where the SYN had to be sent again.
    fn on_handshake(&mut self, _w: &mut Window, _now: Time, _rtt: Span) {}

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
        halve_by_mark(w, mark);
    }

    /// Duplicate ACKs tell that `segments` segments have left the network.
    ///
    /// RFC 5681 section 3.2 steps 3 and 4: "artificially "inflates" the congestion window by the number of segments
    /// (three) that have left the network and which the receiver has buffered".
    fn inflate(&mut self, w: &mut Window, segments: u32) {
        w.cwnd += f64::from(segments) * w.smss;
    }

    /// So many bytes of what [`Control::inflate`] has added go again.
    fn deflate(&mut self, w: &mut Window, bytes: u32) {
        w.cwnd = (w.cwnd - f64::from(bytes)).max(w.smss);
    }

    /// The recovery leads cwnd to what a reduction has set in steps of its own, or bounds a burst: cwnd is `cwnd` now.
    fn on_step(&mut self, w: &mut Window, cwnd: f64) {
        w.cwnd = cwnd;
    }

    /// After a reduction the recovery starts again from one segment, in slow start (Jacobson 1988).
    fn start_over(&mut self, w: &mut Window) {
        w.cwnd = w.smss;
    }

    /// Nothing was sent for longer than the retransmission timeout; `restart` is the window of the connection's start, in bytes.
    ///
    /// RFC 5681 section 4.1: "a TCP SHOULD set cwnd to no more than RW", with "RW = min(IW,cwnd)".
    fn restart_after_idle(&mut self, w: &mut Window, restart: f64) {
        w.cwnd = w.cwnd.min(restart);
    }

    /// Data is about to go out where all that was sent is acknowledged. Told after [`Control::restart_after_idle`].
    fn on_resume(&mut self, _w: &mut Window, _resume: &Resume) {}

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
        begin_again(w, timeout);
    }

    /// A reduction is about to be made that may turn out to be needless: what the control has now may be asked back.
    fn save(&mut self, w: &mut Window) {
        w.save();
    }

    /// The last reduction was needless (RFC 4015).
    fn restore(&mut self, w: &mut Window) {
        w.restore();
    }

    /// The name of the phase that it is in, one of [`ControlFactory::phases`], for a control that goes through phases.
    fn phase(&self) -> Option<&'static str> {
        None
    }

    /// What it asks for beside these hooks; looked at when the connection opens, and always the same.
    fn extras(&mut self) -> Extras<'_> {
        Extras::default()
    }
}

/// Lets an ACK open cwnd: in slow start as `slow_start` has it, else as the control avoids congestion.
#[inline]
fn grow<C: Control + ?Sized>(control: &mut C, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
    if !ack.opens_window() {
        return;
    }
    if w.in_slow_start() {
        let growth = control.slow_start_growth(w, ack);
        slow_start.on_ack(w, ack, growth);
        if w.growth == Growth::Delivered && w.cwnd > w.ssthresh {
            // `tcp_slow_start`: to ssthresh and no further; what is left counts from there on.
            let left = w.cwnd - w.ssthresh;
            w.cwnd = w.ssthresh;
            let counted_beside = left as i32 - ack.acked as i32;
            control.congestion_avoidance(w, &Ack { counted_beside, ..*ack });
        }
    } else {
        control.congestion_avoidance(w, ack);
    }
}

/// RFC 5681 equation 4, with cwnd following ssthresh.
fn halve(w: &mut Window, flight: u32) {
    w.ssthresh = (f64::from(flight) / 2.0).max(2.0 * w.smss);
    w.cwnd = w.ssthresh;
}

/// What [`halve`] does, but that a mark opens nothing.
fn halve_by_mark(w: &mut Window, mark: &Mark) {
    let cwnd = w.cwnd;
    halve(w, mark.flight);
    w.cwnd = w.cwnd.min(cwnd);
}

/// A timeout, by RFC 5681: ssthresh as with [`halve`], unless it repeats another, and cwnd a segment.
fn begin_again(w: &mut Window, timeout: &Timeout) {
    if !timeout.repeated {
        halve(w, timeout.flight);
    }
    w.cwnd = w.smss;
}
