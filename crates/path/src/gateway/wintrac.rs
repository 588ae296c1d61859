//! WINTRAC: one window for all flows, tracked towards a queue length.

use bentpipe_units::bounded::{Above, AboveZero, Number, SomeBytes, Whole};
use bentpipe_units::{Bytes, Span, Time};

use super::flow::Flow;
use super::flows::FlowTable;
use super::scheme::{Common, LEAST, MAX_FLOWS, PACKET, UnknownScale, Windows, window_options};
use super::{LinkView, Scheme};

window_options! {
    "wintrac", "one window for all, tracked towards a queue length";
    /// Settings of WINTRAC.
    pub struct WintracOptions {
        /// Time between two steps of the window.
        #[serde(with = "AboveZero")]
        pub interval: Span = Span::from_millis(50),
        /// Share of the buffer that the queue is steered to, 0 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub target: f64 = 0.5,
        /// Share of the distance from the target that the windows together move in one step; above 0.
        #[serde(with = "Above::<0, 1_000_000>")]
        pub gain: f64 = 0.1,
        /// A flow counts for so long after its last data.
        #[serde(with = "AboveZero")]
        pub delta: Span = Span::from_millis(500),
        /// Largest window.
        #[serde(with = "SomeBytes")]
        pub most: Bytes = Bytes::new(65_535),
        /// Length of a packet where the queue is given in packets.
        #[serde(with = "SomeBytes")]
        pub packet: Bytes = PACKET,
    }
}

impl Scheme for WintracOptions {
    fn common(&self) -> Option<Common> {
        self.shared()
    }

    fn windows(&self) -> Option<Box<dyn Windows>> {
        Some(Box::new(Wintrac::new(self)))
    }
}

/// Window tracking and computation (Aweya, Ouellette, Montuno and Yao, Performance Evaluation 46, 2001).
///
/// Published are the idea and its shape: a simple recursion at the router moves one window for all flows so that the load
/// fits the link and the queue stays at a target, and writes it into passing acknowledgments. The paper was not to be had;
/// the recursion here is inferred: W ← clamp(W + gain (T − q)/N, least, most) once an interval, with T the target and q the
/// queue in bytes, and N the active flows, so that the windows together move by gain (T − q). W starts at `most`.
///
/// Against winding up while no flow is held by W, which is inferred too: W is at most [`ROOM_TO_GROW`] times the largest window in use,
/// that is what a flow sent in the last `delta`, or mean round-trip time if that is longer, for one round trip of its own; or T/N, if
/// that is more, with which the windows together overrun no queue. Round-trip times are those of the handshakes; while none is known,
/// only `most` bounds W.
#[derive(Clone, Debug)]
pub(super) struct Wintrac {
    options: WintracOptions,
    window: f64,
    next: Time,
    /// The largest window in use and when it was looked for.
    used: Option<f64>,
    looked: Time,
}

/// A flow may double its window in the interval that follows, as slow start does.
const ROOM_TO_GROW: f64 = 2.0;

impl Wintrac {
    fn new(options: &WintracOptions) -> Wintrac {
        let window = options.most.get() as f64;
        Wintrac { options: *options, window, next: Time::ZERO, used: None, looked: Time::ZERO }
    }

    /// Looks for the largest window in use, when the last look is long enough ago.
    fn look(&mut self, now: Time, flows: &mut FlowTable) {
        let elapsed = now.since(self.looked).as_nanos() as f64;
        let least = self.options.delta.as_nanos() as f64;
        if elapsed < flows.mean_rtt().map_or(least, |mean| mean.max(least)) {
            return;
        }
        self.looked = now;
        let mut most = None;
        flows.each_active(|flow, rtt| {
            let used = rtt.map(|rtt| flow.sent as f64 * rtt as f64 / elapsed);
            most = used.map(|used| most.map_or(used, |most: f64| most.max(used))).or(most);
            flow.begin_interval(false);
        });
        // Between the bursts of a long round trip nobody is active.
        self.used = most.or(self.used);
    }
}

impl Windows for Wintrac {
    /// Lets flows expire, and moves the window if an interval has passed; a longer silence counts as one.
    fn advance(&mut self, now: Time, link: &LinkView, flows: &mut FlowTable) {
        if now < self.next {
            return;
        }
        self.next = now + self.options.interval;
        self.look(now, flows);
        flows.expire(now, self.options.delta);
        let target = self.options.target * link.buffer_bytes as f64;
        let active = f64::from(flows.active_flows().max(1));
        let step = self.options.gain * (target - link.queued_bytes as f64) / active;
        let most = self.options.most.get() as f64;
        let most = self.used.map_or(most, |used| most.min((ROOM_TO_GROW * used).max(target / active)));
        self.window = (self.window + step).min(most).max(self.options.least.get() as f64);
    }

    fn rtt(&self, flow: &Flow) -> Option<u64> {
        flow.handshake_nanos()
    }

    fn window(&self, _rtt: Option<u64>, _link: &LinkView) -> Option<f64> {
        Some(self.window)
    }
}
