//! The window that the peer advertises.

/// The window that the peer advertised last, and the largest that it ever advertised (MAX.SND.WND), in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerWindow {
    pub(super) rwnd: u32,
    pub(super) largest: u32,
}
