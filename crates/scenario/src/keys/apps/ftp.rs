//! Bulk transfer.

use super::prelude::*;

/// Bulk transfer: so many bytes, or as many as go in so long a time, or until the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FtpSpec {
    /// Stop after so many bytes.
    #[serde(with = "Size::<1, ANY>")]
    pub bytes: Option<u64>,
    /// Stop so long after the start.
    #[serde(with = "AboveZero")]
    pub duration: Option<Span>,
    /// Which host opens the connection: "sender" (the default), or "receiver", with a request.
    pub opened_by: Opener,
    /// Beside "receiver" the size of the request; default "350 B".
    #[serde(with = "Size::<1, LARGEST>")]
    pub request: u64,
}

impl Default for FtpSpec {
    fn default() -> FtpSpec {
        FtpSpec { bytes: None, duration: None, opened_by: Opener::Sender, request: size::<350>() }
    }
}

impl App for FtpSpec {
    const NAME: &'static str = "ftp";
    const SUMMARY: &'static str = "a bulk transfer over TCP";
    const ALSO: &'static [&'static str] = &["iperf"];
    const ENDS_BY: &'static str = "bytes or duration";

    fn check(&self, written: &Node) -> Result<(), Fault> {
        self.opened_by.check(written)
    }

    fn ends(&self) -> bool {
        self.bytes.is_some() || self.duration.is_some()
    }

    fn is_asked_for(&self) -> bool {
        self.opened_by == Opener::Receiver
    }
}
