//! Slow start as RFC 5681 has it: `standard`.

use super::{SlowStart, SlowStartFactory, options};
use crate::control::{Ack, Window};

/// All of the growth, until a loss ends it (RFC 5681 section 3.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct StandardStart;

impl SlowStart for StandardStart {
    #[inline]
    fn on_ack(&mut self, w: &mut Window, _ack: &Ack<'_>, growth: f64) {
        w.cwnd += growth;
    }
}

options! {
    "standard", "cwnd grows by what each ACK is worth until a loss ends it (RFC 5681)";
    /// The choice of [`StandardStart`], which has no options.
    pub struct StandardStartOptions;
}

impl SlowStartFactory for StandardStartOptions {
    fn make(&self) -> Box<dyn SlowStart> {
        Box::new(StandardStart)
    }
}
