//! Limited slow start for large windows (RFC 3742): `limited`.

use bentpipe_units::bounded::Number;

use super::{SlowStart, SlowStartFactory, options};
use crate::control::{Ack, Window};

options! {
    "limited", "half of max_ssthresh a round trip at most once cwnd is past it (RFC 3742)";
    /// Options of the slow start limited.
    // RFC 3742 section 3 recommends 100 segments.
    pub struct LimitedStartOptions {
        /// The window beyond which growth is limited, in segments: `max_ssthresh` of RFC 3742, 2 to 1,000,000.
        #[serde(with = "Number::<2, 1_000_000>")]
        pub max_ssthresh: f64 = 100.0,
    }
}

impl SlowStartFactory for LimitedStartOptions {
    fn make(&self) -> Box<dyn SlowStart> {
        Box::new(*self)
    }
}

impl SlowStart for LimitedStartOptions {
    fn on_ack(&mut self, w: &mut Window, _ack: &Ack<'_>, growth: f64) {
        // RFC 3742 section 2: K = int(cwnd / (0.5 max_ssthresh)) shares out what an ACK adds.
        let limit = self.max_ssthresh * w.smss;
        let share = if w.cwnd <= limit { 1.0 } else { (w.cwnd / (0.5 * limit)).floor() };
        w.cwnd += growth / share;
    }
}
