//! Datagrams at a constant rate.

use crate::prelude::*;

options! {
    "cbr", "UDP datagrams at a constant rate; does not react to loss";
    /// Datagrams at a constant rate.
    pub struct CbrSpec {
        /// Payload sent, over time.
        pub rate: Rate,
        /// Payload of a datagram, of which the last may be shorter; default "1000 B".
        #[serde(default = "small::<1000>", with = "Size::<1, DATAGRAM>")]
        pub packet: u32,
        /// Stop after so many bytes.
        #[serde(default, with = "Size::<1, ANY>")]
        pub bytes: Option<u64>,
        /// Stop so long after the start.
        #[serde(default, with = "AboveZero")]
        pub duration: Option<Span>,
    }
}

impl App for CbrSpec {
    fn facts(&self) -> Facts {
        Facts {
            duration: self.duration,
            ends: self.bytes.is_some() || self.duration.is_some(),
            ends_by: "bytes or duration",
            ..Facts::default()
        }
    }

    fn sends(&self, beginning: &Beginning<'_>) -> Option<Datagrams> {
        let constant = Constant { spec: *self, start: beginning.start, sent: 0 };
        Some(Datagrams::new(constant, self.packet, beginning.stop))
    }
}

/// A datagram whenever the rate has made up one.
struct Constant {
    spec: CbrSpec,
    start: Time,
    sent: u64,
}

impl Source for Constant {
    fn next_frame(&mut self) -> Option<Frame> {
        let rest = self.spec.bytes.unwrap_or(u64::MAX) - self.sent;
        let at = self.start + elapsed(self.sent, self.spec.rate);
        let bytes = u64::from(self.spec.packet).min(rest);
        self.sent += bytes;
        (bytes > 0).then_some(Frame { at, bytes })
    }
}
