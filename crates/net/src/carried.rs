//! What a packet carries, as far as the network looks at it.

use bentpipe_path::Label;
use bentpipe_path::gateway::{Direction, Gateway, LinkView};
use bentpipe_units::Time;

/// What a packet carries.
///
/// The network moves it and its length. Queues that mark look at it, and gateways do.
pub trait Carried: Default {
    /// What the packets of a network share, such as the addresses of those who send them.
    type Names;

    /// What a queue may know of it.
    fn label(&self, names: &Self::Names) -> Label;

    /// A queue has marked it.
    fn mark(&mut self);

    /// Shows it to a gateway, received with `ttl` on its way `way`, and lowers its window if the gateway says so. A
    /// gateway leaves alone what is no TCP segment.
    fn show(&mut self, names: &Self::Names, ttl: u8, way: Direction, meeting: Meeting<'_>);
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
