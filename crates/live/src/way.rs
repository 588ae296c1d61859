//! A path that options describe: one link, a direction each.

use bentpipe_path::{DisorderSpec, LinkConfig, LossSpec, QueueSpec, Repair, Schedule};
use bentpipe_units::{Rate, Span};
use serde::Deserialize;

use crate::LiveError;

/// One direction of the path.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// Rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// What may wait.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Which packets are lost.
    #[serde(default)]
    pub loss: LossSpec,
}

impl Way {
    pub(crate) fn link(&self) -> LinkConfig {
        LinkConfig {
            rate: self.rate,
            delay: self.delay,
            efficiency: 1.0,
            queue: self.queue,
            loss: self.loss.clone(),
            schedule: Schedule::default(),
            repair: Repair::None,
        }
    }

    pub(crate) fn validate(&self) -> Result<(), LiveError> {
        self.queue.validate().map_err(|error| LiveError::Setting(error.to_string()))
    }
}

/// Which packets come out of the path in another order than that of its links, or twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DisorderBothWays {
    /// On the way of the data.
    pub forward: DisorderSpec,
    /// On the way of the acknowledgments.
    pub backward: DisorderSpec,
}
