//! What the driver asks of either end of the path.

use bentpipe_units::Time;
use rustix::event::PollFd;

use crate::LiveError;
use crate::clock::Clock;
use crate::kernel::Testimony;

/// How a connection stands, as one end sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// There is more to come.
    Open,
    /// It ended before everything had gone over.
    Broke(String),
    /// Both directions are closed, and what ran there has said what it saw.
    Over,
}

/// One end of the path: our endpoint, or a kernel's TCP.
pub(crate) trait Host {
    /// The next packet that it sends; none until something changes.
    fn poll(&mut self, now: Time) -> Result<Option<Vec<u8>>, LiveError>;

    /// A packet arrives.
    fn on_packet(&mut self, now: Time, packet: &[u8]) -> Result<(), LiveError>;

    /// Does what is due by `now`.
    fn on_time(&mut self, _now: Time) {}

    /// When [`Host::on_time`] wants to be called.
    fn next_time(&self) -> Time {
        Time::NEVER
    }

    /// Adds what poll(2) is to watch for it.
    fn watch<'a>(&'a self, _fds: &mut Vec<PollFd<'a>>) {}

    /// How the connection stands.
    fn condition(&mut self) -> Result<Condition, LiveError>;

    /// Bytes of the stream that it has in order; it may count the other end's FIN as one more.
    fn received(&self) -> u64;

    /// What it saw, when everything is over.
    fn measured(&mut self, clock: Clock) -> Result<Measured, LiveError>;
}

/// What one end saw of the connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// SHA-256 of all that it sent.
    pub(crate) sent_sha256: String,
    pub(crate) received_bytes: u64,
    pub(crate) received_sha256: String,
    /// When its application had the last byte; the start when there was none.
    pub(crate) last_byte: Time,
    /// Packets that it sent with a wrong checksum.
    pub(crate) wrong_checksums_sent: u64,
    /// Segments that came to it with a wrong checksum.
    pub(crate) wrong_checksums_received: u64,
    pub(crate) data_segments: u64,
    pub(crate) retransmitted_segments: u64,
    pub(crate) resets: u64,
    pub(crate) timeouts: u64,
    pub(crate) window_probes: u64,
    pub(crate) rtt_mean_s: Option<f64>,
    pub(crate) cwnd_segments: f64,
    pub(crate) ssthresh_segments: Option<f64>,
    pub(crate) state: String,
    /// What the kernel says of its end; nothing of ours.
    pub(crate) testimony: Option<Testimony>,
}
