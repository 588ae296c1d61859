//! Which segments go out together.

use crate::{Config, Host};

/// Which segments go out together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups {
    /// New data goes out so many segments at a time; 1 for as soon as it may.
    pub(super) burst: u32,
    /// Whether a burst goes out.
    pub(super) bursting: bool,
    /// Segments of the packet that is going out which are still to go; none of a host whose packets have one.
    pub(super) left: Option<u32>,
}

impl Groups {
    pub(super) fn new(config: &Config) -> Groups {
        let left = (config.host == Host::Linux).then_some(0);
        Groups { burst: config.burst, bursting: false, left }
    }

    #[inline(always)]
    pub(super) fn has_bursts(&self) -> bool {
        self.burst > 1
    }

    /// Whether segments go in packets of several.
    #[inline(always)]
    pub(super) fn are_there(&self) -> bool {
        self.left.is_some()
    }
}
