//! What the connections between two nodes know of their path together.

use std::any::Any;
use std::collections::BTreeMap;

use bentpipe_tcp::slow_start::{SharedPath, SharedStart, SharedStartOptions};
use bentpipe_tcp::{Config, Endpoint};

/// The paths whose senders share what they know, by the nodes that they lead from and to.
#[derive(Default)]
pub(super) struct SharedPaths(BTreeMap<(usize, usize), SharedPath>);

impl SharedPaths {
    /// Lets a sender that begins by what others have know of those that send the same way.
    pub(super) fn join(&mut self, tcp: &mut Endpoint, config: &Config, way: (usize, usize)) {
        let factory: &dyn Any = config.slow_start.factory();
        if let Some(options) = factory.downcast_ref::<SharedStartOptions>() {
            let path = self.0.entry(way).or_default();
            tcp.set_slow_start(Box::new(SharedStart::new(*options, path)));
        }
    }
}
