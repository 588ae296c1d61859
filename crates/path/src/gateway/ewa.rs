//! EWA: one window for all flows, from the free buffer.

use bentpipe_units::bounded::{Above, AboveZero, Number, SomeBytes, Whole};
use bentpipe_units::{Bytes, Span, Time};

use super::flows::FlowTable;
use super::scheme::{Common, LEAST, MAX_FLOWS, PACKET, UnknownScale, Windows, window_options};
use super::{LinkView, Scheme};

window_options! {
    "ewa", "one window for all, from the logarithm of the free buffer";
    /// Settings of EWA.
    pub struct EwaOptions {
        /// Payload of a full segment, the unit of the window.
        #[serde(with = "SomeBytes")]
        pub segment: Bytes = LEAST,
        /// Time between two adaptations of alpha.
        #[serde(with = "AboveZero")]
        pub interval: Span = Span::from_millis(10),
        /// Share of the buffer below which alpha rises and above which it falls, 0 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub threshold: f64 = 0.5,
        /// Added to alpha while the queue is below the threshold.
        #[serde(with = "Above::<0, 1_000_000>")]
        pub increase: f64 = 1.0 / 8.0,
        /// Alpha is multiplied by this while the queue is above the threshold; above 0, at most 1.
        #[serde(with = "Above::<0, 1>")]
        pub decrease: f64 = 31.0 / 32.0,
        /// Largest alpha.
        #[serde(with = "Above::<0, 1_000_000>")]
        pub alpha_max: f64 = 64.0,
        /// Length of a packet, the unit of the free buffer.
        #[serde(with = "SomeBytes")]
        pub packet: Bytes = PACKET,
    }
}

impl Scheme for EwaOptions {
    fn common(&self) -> Option<Common> {
        self.shared()
    }

    fn windows(&self) -> Option<Box<dyn Windows>> {
        Some(Box::new(Ewa::new(self)))
    }
}

/// How long a flow counts as active after its last data: for the statistics alone, the scheme does not count flows.
const COUNTED_FOR: Span = Span::from_millis(500);

/// Explicit window adaptation (Kalampoukas, Varma and Ramakrishnan, IEEE/ACM Trans. Networking 10(3), 2002).
///
/// window = max(least, alpha log2(free buffer in packets) segments), the same for every flow, from the queue as it is when
/// the acknowledgment passes. Alpha adapts to the number of flows, which the scheme does not count: once an interval it
/// rises by `increase` while the queue is below `threshold` of the buffer and is multiplied by `decrease` otherwise.
///
/// The form of the two rules is the published one. The paper itself was not to be had: that the queue compared is the
/// present one (not a mean), the numbers that are the defaults, the start at 1 and the bound `alpha_max` are inferred.
#[derive(Clone, Debug)]
pub(super) struct Ewa {
    options: EwaOptions,
    alpha: f64,
    next: Time,
}

impl Ewa {
    fn new(options: &EwaOptions) -> Ewa {
        Ewa { options: *options, alpha: 1.0_f64.min(options.alpha_max), next: Time::ZERO }
    }
}

impl Windows for Ewa {
    /// Adapts alpha if an interval has passed; a silence of many intervals counts as one, nothing was learnt in it.
    fn advance(&mut self, now: Time, link: &LinkView, flows: &mut FlowTable) {
        if now < self.next {
            return;
        }
        self.next = now + self.options.interval;
        flows.expire(now, COUNTED_FOR);
        let below = (link.queued_bytes as f64) < self.options.threshold * link.buffer_bytes as f64;
        self.alpha =
            if below { self.alpha + self.options.increase } else { self.alpha * self.options.decrease };
        self.alpha = self.alpha.min(self.options.alpha_max);
    }

    fn window(&self, _rtt: Option<u64>, link: &LinkView) -> Option<f64> {
        let free = link.buffer_bytes.saturating_sub(link.queued_bytes) as f64;
        let packets = (free / self.options.packet.get() as f64).max(1.0);
        Some(self.alpha * libm::log2(packets) * self.options.segment.get() as f64)
    }
}
