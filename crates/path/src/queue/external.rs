//! Queues from outside the crate.

use std::fmt;

use bentpipe_units::Rate;

use super::{Packets, Queue};
use crate::Stream;

/// What makes a queue for each direction of a link that names it.
pub trait QueueFactory: fmt::Debug + Send + Sync {
    /// The most packets that wait.
    fn limit(&self) -> Packets;

    /// An empty queue before a link of this rate. `stream` has its random numbers.
    fn make(&self, rate: Rate, stream: Stream) -> Box<dyn Queue>;
}
