//! What a packet carries, as far as the network looks at it.

use bentpipe_path::Label;
use bentpipe_path::gateway::{Answer, Direction, Gateway, LinkView, Seen};
use bentpipe_units::Time;

/// What a packet carries.
///
/// The network moves it and its length. Queues that mark look at it, and gateways do. Agents have it copied.
pub trait Carried: Clone + Default {
    /// What the packets of a network share, such as the addresses of those who send them.
    type Names;

    /// What a queue may know of it.
    fn label(&self, names: &Self::Names) -> Label;

    /// A queue has marked it.
    fn mark(&mut self);

    /// Shows it to a gateway, received with `ttl` on its way `way`, and lowers its window if the gateway says so. A
    /// gateway leaves alone what is no TCP segment.
    fn show(&mut self, names: &Self::Names, ttl: u8, way: Direction, meeting: Meeting<'_>);

    /// What an agent reads of it, received with `ttl`; none where it can read nothing, and so leaves it alone.
    fn seen(&self, _names: &Self::Names, _ttl: u8) -> Option<Seen> {
        None
    }

    /// Writes a window field, below its own.
    fn lower(&mut self, _window: u16) {}

    /// Writes a sequence number; it has no data.
    fn renumber(&mut self, _seq: u32) {}

    /// Writes a TSval where there are timestamps.
    fn stamp(&mut self, _value: u32) {}

    /// Makes an acknowledgment of this copy of a segment; returns the bytes of its packet.
    fn answer(&mut self, _answer: &Answer) -> u32 {
        0
    }
}

/// A gateway, when a packet comes to it.
pub struct Meeting<'a> {
    /// The gateway.
    pub gateway: &'a mut Gateway,
    /// The time.
    pub now: Time,
    /// The link that it guards.
    pub link: LinkView,
}
