//! WINTRAC: one window for all flows, tracked towards a queue length.

use bentpipe_units::{Bytes, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LinkView;
use super::flows::FlowTable;
use super::scheme::{
    Common, LEAST, MAX_FLOWS, PACKET, Scheme, UnknownScale, Windows, positive, share, some_bytes, some_time,
};
use crate::InvalidValue;

/// Settings of WINTRAC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WintracOptions {
    /// Time between two steps of the window.
    pub interval: Span,
    /// Share of the buffer that the queue is steered to, 0 to 1.
    pub target: f64,
    /// Share of the distance from the target that the windows together move in one step; above 0.
    pub gain: f64,
    /// A flow counts for so long after its last data.
    pub delta: Span,
    /// Largest window.
    pub most: Bytes,
    /// Length of a packet where the queue is given in packets.
    pub packet: Bytes,
    /// No window is lowered below this.
    pub least: Bytes,
    /// Most flows remembered; beyond them the least recently active is forgotten.
    pub max_flows: u32,
    /// What to do about flows first seen midway.
    pub unknown_scale: UnknownScale,
}

impl Default for WintracOptions {
    fn default() -> WintracOptions {
        WintracOptions {
            interval: Span::from_millis(50),
            target: 0.5,
            gain: 0.1,
            delta: Span::from_millis(500),
            most: Bytes::new(65_535),
            packet: PACKET,
            least: LEAST,
            max_flows: MAX_FLOWS,
            unknown_scale: UnknownScale::Leave,
        }
    }
}

impl Scheme for WintracOptions {
    const NAME: &'static str = "wintrac";
    const SUMMARY: &'static str = "one window for all, tracked towards a queue length";
    type Windows = Wintrac;

    fn validate(&self) -> Result<(), InvalidValue> {
        some_time("interval", self.interval)?;
        share("target", self.target)?;
        positive("gain", self.gain, 1e6)?;
        some_time("delta", self.delta)?;
        some_bytes("most", self.most)?;
        Ok(())
    }

    fn common(&self) -> Common {
        let WintracOptions { packet, least, max_flows, unknown_scale, .. } = *self;
        Common { packet, least, max_flows, unknown_scale }
    }

    fn windows(&self) -> Wintrac {
        Wintrac::new(self)
    }
}

/// Window tracking and computation (Aweya, Ouellette, Montuno and Yao, Performance Evaluation 46, 2001).
///
/// Published are the idea and its shape: a simple recursion at the router moves one window for all flows so that the load
/// fits the link and the queue stays at a target, and writes it into passing acknowledgments. The paper was not to be had;
/// the recursion here is inferred: W ← clamp(W + gain (T − q)/N, least, most) once an interval, with T the target and q the
/// queue in bytes, and N the active flows, so that the windows together move by gain (T − q). W starts at `most`.
#[derive(Clone, Debug)]
pub(super) struct Wintrac {
    options: WintracOptions,
    window: f64,
    next: Time,
}

impl Wintrac {
    fn new(options: &WintracOptions) -> Wintrac {
        Wintrac { options: options.clone(), window: options.most.get() as f64, next: Time::ZERO }
    }
}

impl Windows for Wintrac {
    /// Lets flows expire, and moves the window if an interval has passed; a longer silence counts as one.
    fn advance(&mut self, now: Time, link: &LinkView, flows: &mut FlowTable) {
        if now < self.next {
            return;
        }
        self.next = now + self.options.interval;
        flows.expire(now, self.options.delta);
        let error = self.options.target * link.buffer_bytes as f64 - link.queued_bytes as f64;
        let step = self.options.gain * error / f64::from(flows.active_flows().max(1));
        let most = self.options.most.get() as f64;
        self.window = (self.window + step).max(self.options.least.get() as f64).min(most);
    }

    fn window(&self, _rtt: Option<u64>, _link: &LinkView) -> Option<f64> {
        Some(self.window)
    }
}
