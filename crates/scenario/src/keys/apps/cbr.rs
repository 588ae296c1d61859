//! Datagrams at a constant rate.

use super::prelude::*;

/// Datagrams at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
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

impl App for CbrSpec {
    const NAME: &'static str = "cbr";
    const SUMMARY: &'static str = "UDP datagrams at a constant rate; does not react to loss";
    const OVER_UDP: bool = true;
    const ENDS_BY: &'static str = "bytes or duration";

    fn ends(&self) -> bool {
        self.bytes.is_some() || self.duration.is_some()
    }
}
