//! Which segments go out together.

use crate::Config;

/// Which segments go out together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups {
    /// New data goes out so many segments at a time; 1 for as soon as it may.
    pub(super) burst: u32,
    /// Whether a burst goes out.
    pub(super) bursting: bool,
}

impl Groups {
    pub(super) fn new(config: &Config) -> Groups {
        Groups { burst: config.burst, bursting: false }
    }

    #[inline(always)]
    pub(super) fn has_bursts(&self) -> bool {
        self.burst > 1
    }
}
