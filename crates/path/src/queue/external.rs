//! Queues from outside the crate.

use std::fmt;

use bentpipe_units::Rate;
use bentpipe_units::external::ExternalKind;

use super::{ActiveSpec, Packets, Queue};
use crate::Stream;

/// What makes a queue for each direction of a link that names it.
pub trait QueueFactory: fmt::Debug + Send + Sync {
    /// The most packets that wait.
    fn limit(&self) -> Packets;

    /// An empty queue before a link of this rate. `stream` has its random numbers.
    fn make(&self, rate: Rate, stream: Stream) -> Box<dyn Queue>;
}

impl ExternalKind for dyn QueueFactory {
    const WHAT: &'static str = "a queue";

    fn ours() -> Vec<&'static str> {
        ActiveSpec::SCHEMES.iter().map(|(name, _)| *name).collect()
    }
}
