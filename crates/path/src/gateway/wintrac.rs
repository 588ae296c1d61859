//! WINTRAC: one window for all flows, tracked towards a queue length.

use bentpipe_units::Time;

use super::flows::FlowTable;
use super::{LinkView, WintracOptions};

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
    pub(super) fn new(options: &WintracOptions) -> Wintrac {
        Wintrac { options: options.clone(), window: options.most.get() as f64, next: Time::ZERO }
    }

    /// Lets flows expire, and moves the window if an interval has passed; a longer silence counts as one.
    pub(super) fn advance(&mut self, now: Time, link: &LinkView, flows: &mut FlowTable) {
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

    /// The window in bytes.
    pub(super) fn window(&self) -> f64 {
        self.window
    }
}
