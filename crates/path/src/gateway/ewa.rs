//! EWA: one window for all flows, from the free buffer.

use bentpipe_units::{Span, Time};

use super::flows::FlowTable;
use super::{EwaOptions, LinkView};

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
    pub(super) fn new(options: &EwaOptions) -> Ewa {
        Ewa { options: options.clone(), alpha: 1.0_f64.min(options.alpha_max), next: Time::ZERO }
    }

    /// Adapts alpha if an interval has passed; a silence of many intervals counts as one, nothing was learnt in it.
    pub(super) fn advance(&mut self, now: Time, link: &LinkView, flows: &mut FlowTable) {
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

    /// The window in bytes.
    pub(super) fn window(&self, link: &LinkView) -> f64 {
        let free = link.buffer_bytes.saturating_sub(link.queued_bytes) as f64;
        let packets = (free / self.options.packet.get() as f64).max(1.0);
        self.alpha * libm::log2(packets) * self.options.segment.get() as f64
    }
}
