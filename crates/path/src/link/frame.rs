//! A packet of the link, with its number, as a repair sends it.

/// What a scheme knows of a frame on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    /// Which packet of the link it carries, counted from 0 in the order in which they were first sent.
    pub(super) number: u64,
    /// ARQ: how often it had been sent before. FEC: the number of its block.
    pub(super) part: u64,
    /// FEC: it carries no packet.
    pub(super) parity: bool,
}
