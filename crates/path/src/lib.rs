//! What a packet meets between two hosts, as plain state machines.
//!
//! Nothing here reads a clock, opens a socket or draws a random number that it was not given: a driver passes the
//! time in, and asks each element when it wants to be called again.

mod loss;
mod queue;

pub use loss::{InvalidLoss, LossSpec};
pub use queue::QueueSpec;
