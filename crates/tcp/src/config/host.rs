//! Whose habits an end has where the RFCs leave room.

/// Whose habits an end has where the RFCs leave room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Host {
    /// What the RFCs say first.
    #[default]
    Rfc,
    /// Linux 6.
    Linux,
}

/// What waits until what was sent is acknowledged, so that it may go with more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nagle {
    /// Nothing (`TCP_NODELAY`).
    Off,
    /// Less than a segment, while anything is outstanding (RFC 896).
    Classic,
    /// Less than a segment, while such a one is outstanding (draft-minshall-nagle, Linux).
    Minshall,
}
