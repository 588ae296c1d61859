//! What decides what goes out next: the whole of the recovery, or so little that a short way does.

/// What decides what goes out next, the least of it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SendPath {
    /// The recovery, a probe of a closed window, a slow start that listens, bursts, or writes that wait have a say.
    ByRecovery,
    /// Pacing, cwnd and rwnd alone: none of what was sent again is outstanding, and the recovery has nothing to do.
    Paced,
    /// cwnd and rwnd alone: the recovery has nothing to do, nothing is on the scoreboard, and an ACK of new data concerns the control alone.
    Plain,
    /// The same, and nothing hangs on an ACK but what the RFCs have: no sample of each, no send buffer, no window to be adjusted.
    Plainest,
}
