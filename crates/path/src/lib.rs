//! What a packet meets between two hosts, as plain state machines.
//!
//! Nothing here reads a clock, opens a socket or draws a random number that it was not given: a driver passes the
//! time in, and asks each element when it wants to be called again.

mod disorder;
pub mod gateway;
mod geo;
mod link;
mod loss;
mod packet;
mod queue;
mod ring;
mod stream;
pub mod trace;

pub use disorder::{Disorder, DisorderSpec};
pub use geo::{GeoHop, GeoModel, SACK_SPEED_OF_LIGHT_M_PER_S, SPEED_OF_LIGHT_M_PER_S};
pub use link::{
    ArqSpec, Attempts, Change, Fate, FecSpec, InOutage, Leaving, Link, LinkConfig, LinkStats, Offered,
    Passed, Repair, RepairStats, Schedule, SupplyStats, WaitQuantiles,
};
pub use loss::{Loss, LossFactory, LossModel, LossSpec, Sent, packet_error_rate};
pub use packet::PacketId;
pub use queue::*;
pub use stream::Stream;
