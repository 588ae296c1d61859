//! XCP (Katabi, Handley and Rohrs, SIGCOMM 2002; draft-falk-xcp-spec-03), the part of the hosts: `xcp`.

use bentpipe_units::bounded::{Number, Size};
use bentpipe_units::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Ack, Control, ControlFactory, Extras, Feedback, Loss, Response, Routers, Supply, Timeout, Window, grow,
    halve, options,
};
use crate::CongestionHeader;
use crate::slow_start::SlowStart;

options! {
    "xcp", "the window that routers allot, XCP and P-XCP (Katabi et al. 2002); without them RFC 5681";
    /// Options of the control xcp.
    pub struct XcpOptions {
        /// Bytes of the congestion header, from 1 B to 40 B; the draft's has 20 (section 3.2).
        #[serde(with = "Size::<1, 40>")]
        #[schemars(with = "bentpipe_units::Bytes")]
        pub header: u8 = 20,
        /// What a loss does to the window.
        pub loss: XcpLoss = XcpLoss::Halve,
        /// What is asked of the routers.
        pub demand: XcpDemand = XcpDemand::Window,
        /// Share that the window goes, each round trip in which it is not used, to what was used, 0 to 1: p of the draft's section 4.1.3.1.
        #[serde(with = "Number::<0, 1>")]
        pub aging: f64 = 0.5,
    }
}

/// What a loss does to the window of XCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum XcpLoss {
    /// It is halved, and goes by the routers again when the window of the loss is through.
    Halve,
    /// It is halved, and the connection goes on as a standard TCP.
    Standard,
    /// Nothing: P-XCP.
    Keep,
}

/// What XCP asks of the routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum XcpDemand {
    /// What the receiver's window has room for, and nothing where the application has too little to send.
    Window,
    /// All that they give.
    Unbounded,
}

impl ControlFactory for XcpOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Xcp::new(*self))
    }
}

/// Share of a new sample in the smoothed round-trip time (ns-2's `XCP_UPDATE_SRTT`, RFC 6298's α).
const NEW_SAMPLE: f64 = 1.0 / 8.0;

/// More than any link: what an unbounded demand has for the throughput, in bytes a second.
const UNBOUNDED: f64 = 1e12;

/// The control of XCP, for any recovery.
#[derive(Clone, Copy, Debug)]
pub struct Xcp {
    options: XcpOptions,
    /// Smoothed round-trip time in s; 0 before the first sample.
    srtt: f64,
    /// Whether routers allot the window.
    allotted: bool,
    /// Whether a loss has made it a standard TCP.
    standard: bool,
    /// The round trip under way: when it ends, the most that was outstanding in it, and whether that was all that cwnd let out.
    round: Round,
}

#[derive(Clone, Copy, Debug, Default)]
struct Round {
    ends: Time,
    used: u32,
    full: bool,
}

impl Xcp {
    /// A control that has heard of no router.
    pub fn new(options: XcpOptions) -> Xcp {
        Xcp { options, srtt: 0.0, allotted: false, standard: false, round: Round::default() }
    }

    /// Whether the window goes by the routers.
    fn goes_by_routers(&self) -> bool {
        self.allotted && !self.standard
    }

    /// Section 4.1.3.1 of the draft: a window that was not used for a round trip goes a share of the way to what was used.
    fn age(&mut self, w: &mut Window, ack: &Ack<'_>) {
        self.round.used = self.round.used.max(ack.prior_flight);
        self.round.full |= f64::from(ack.prior_flight) + w.smss > w.cwnd;
        if ack.now < self.round.ends {
            return;
        }
        let Round { used, full, ends } = self.round;
        if ends > Time::ZERO && !full && !ack.in_recovery && self.goes_by_routers() {
            let p = self.options.aging;
            w.cwnd = (w.cwnd * (1.0 - p) + f64::from(used) * p).max(w.smss);
        }
        self.round = Round { ends: ack.now + Span::from_secs(self.srtt), used: 0, full: false };
    }
}

impl Control for Xcp {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack<'_>, slow_start: &mut dyn SlowStart) {
        self.age(w, ack);
        if !self.goes_by_routers() {
            grow(self, w, ack, slow_start);
        }
    }

    fn on_handshake(&mut self, _w: &mut Window, _now: Time, rtt: Span) {
        self.srtt = rtt.as_secs();
    }

    fn on_rtt_sample(&mut self, _now: Time, sample: Span) {
        let sample = sample.as_secs();
        self.srtt = if self.srtt == 0.0 { sample } else { self.srtt + NEW_SAMPLE * (sample - self.srtt) };
    }

    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        if self.options.loss == XcpLoss::Keep && self.goes_by_routers() {
            return Response::Keep;
        }
        self.standard |= self.options.loss == XcpLoss::Standard;
        halve(w, loss.flight);
        Response::Reduced
    }

    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        self.standard |= self.options.loss == XcpLoss::Standard;
        if !timeout.repeated {
            halve(w, timeout.flight);
        }
        w.cwnd = w.smss;
    }

    fn extras(&mut self) -> Extras<'_> {
        Extras { routers: Some(self), ..Extras::default() }
    }
}

impl Routers for Xcp {
    /// cwnd = max(cwnd + feedback RTT, SMSS): section 4.1.3 of the draft. While a recovery has the window that a loss was answered
    /// with, it stays so.
    fn on_feedback(&mut self, w: &mut Window, feedback: &Feedback) {
        self.allotted = feedback.routers > 0;
        let answered = feedback.in_recovery && self.options.loss != XcpLoss::Keep;
        if self.goes_by_routers() && !answered {
            w.cwnd = (w.cwnd + feedback.change * self.srtt).max(w.smss);
        }
    }

    /// Section 4.1.1 of the draft: X = RTT SMSS / cwnd, and the wanted change of throughput divided among the packets of a round trip.
    fn asks_of_routers(&self, w: &Window, supply: &Supply) -> CongestionHeader {
        if self.srtt == 0.0 {
            return CongestionHeader::default();
        }
        let room = f64::from(supply.rwnd).max(w.smss);
        let window = w.cwnd.min(room);
        let packets = window / w.smss;
        let change = match self.options.demand {
            XcpDemand::Unbounded => UNBOUNDED,
            XcpDemand::Window if (supply.unsent as f64) < window => 0.0,
            XcpDemand::Window => (room - w.cwnd) / self.srtt,
        };
        CongestionHeader {
            rtt: self.srtt as f32,
            interval: (self.srtt / packets) as f32,
            delta: (change / packets) as f32,
            ..CongestionHeader::default()
        }
    }

    fn header_bytes(&self) -> u8 {
        self.options.header
    }
}

#[cfg(test)]
mod tests;
