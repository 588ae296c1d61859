//! Slow start as RFC 5681 has it: `standard`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{SlowStart, SlowStartFactory};
use crate::Named;
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

/// The choice of [`StandardStart`], which has no options.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub struct StandardStartOptions;

impl Named for StandardStartOptions {
    const NAME: &'static str = "standard";
    const SUMMARY: &'static str = "cwnd grows by what each ACK is worth until a loss ends it (RFC 5681)";
}

impl SlowStartFactory for StandardStartOptions {
    fn make(&self) -> Box<dyn SlowStart> {
        Box::new(StandardStart)
    }
}
