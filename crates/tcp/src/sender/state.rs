//! What a sender tells of itself.

use super::application::Fin;
use super::timers::Persist;
use super::{Record, Sender};
use crate::Seq;
use crate::control::Window;
use crate::recovery::Reduction;
use crate::rtt::{RttDistribution, RttEstimator};

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Segments with payload, retransmissions included.
    pub data_segments: u64,
    /// Payload bytes, retransmissions included.
    pub data_bytes: u64,
    /// Segments whose first byte was sent before.
    pub retransmitted_segments: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Zero-window probes.
    pub window_probes: u64,
    /// Duplicate ACKs received.
    pub duplicate_acks: u64,
    /// Reductions of the window in answer to a mark.
    pub mark_reductions: u64,
}

impl Sender {
    pub(super) fn fin_seq(&self) -> Option<Seq> {
        match self.app.fin {
            Fin::Sent(seq) => Some(seq),
            _ => None,
        }
    }

    /// Whether an ACK of nothing new counts as a duplicate, with so much outstanding. With nothing outstanding it may answer the probe of
    /// the tail: the original and the probe arrived (RFC 8985 section 7.4).
    pub(super) fn counts_duplicate(&self, outstanding: u32) -> bool {
        let awaited = outstanding > 0 || (self.recovery.probes_tail() && !self.recovery.is_idle());
        awaited && self.recovery.counts_plain_duplicates()
    }

    /// Whether the receiver's window is closed, so that what goes out probes it.
    #[inline]
    pub(crate) fn probing(&self) -> bool {
        self.timers.persist != Persist::Off
    }

    /// Whether data is paced.
    #[inline]
    pub fn is_paced(&self) -> bool {
        self.paced
    }

    /// Bytes sent and not cumulatively acknowledged.
    #[inline]
    pub fn flight(&self) -> u32 {
        self.max - self.una
    }

    /// SND.UNA.
    #[inline]
    pub fn una(&self) -> Seq {
        self.una
    }

    /// The byte after the newest one ever sent.
    #[inline]
    pub fn max(&self) -> Seq {
        self.max
    }

    /// Whether everything handed over, FIN included, was sent and acknowledged.
    #[inline]
    pub fn all_acknowledged(&self) -> bool {
        self.una == self.max && self.app.unsent == 0 && self.app.fin != Fin::Queued
    }

    /// Whether FIN was sent and acknowledged.
    #[inline]
    pub fn fin_acknowledged(&self) -> bool {
        self.fin_seq().is_some_and(|fin| self.una > fin)
    }

    /// Whether FIN was sent.
    #[inline]
    pub fn fin_sent(&self) -> bool {
        self.fin_seq().is_some()
    }

    /// The congestion window.
    #[inline]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The window that the peer advertised last, in bytes.
    #[inline]
    pub fn peer_window(&self) -> u32 {
        self.peer.rwnd
    }

    /// The largest window that the peer ever advertised (MAX.SND.WND), in bytes.
    #[inline]
    pub fn largest_peer_window(&self) -> u32 {
        self.peer.largest
    }

    /// The delivery rate that the newest ACK showed, in bytes a second; of a control that goes by delivery rates
    /// ([`Extras::reads_rates`](crate::control::Extras::reads_rates)).
    pub fn delivery_rate(&self) -> Option<f64> {
        self.record.stamps.as_ref()?.newest_rate()
    }

    /// What was sent, and what became of it.
    #[inline]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The round-trip estimator.
    #[inline]
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// The round trips so far, each sample by the bytes acknowledged since the one before.
    pub fn round_trips(&self) -> RttDistribution {
        let mut all = RttDistribution::default();
        self.add_round_trips_to(&mut all);
        all
    }

    /// Adds them to others.
    pub fn add_round_trips_to(&self, all: &mut RttDistribution) {
        self.round_trips.add_to(all);
    }

    /// Whether a recovery phase is under way.
    pub fn in_recovery(&self) -> bool {
        self.recovery.in_recovery()
    }

    /// Runs of bytes that the peer reported to hold.
    pub fn scoreboard_runs(&self) -> usize {
        self.record.board().count()
    }

    /// Recovery phases entered so far.
    pub fn recovery_phases(&self) -> u32 {
        self.recovery.phases()
    }

    /// The reductions of the window since this was called last, in the order in which they happened.
    pub fn take_reductions(&mut self) -> Vec<Reduction> {
        self.reductions.take()
    }

    /// Counters.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// The name of the phase that the control or the slow start is in, where either goes through phases.
    pub fn phase(&self) -> Option<&'static str> {
        self.control.phase().or_else(|| self.slow_start.phase(&self.window))
    }
}
