//! A TCP endpoint as a plain state machine: segments and a time go in, segments and the next wake-up come out.

mod config;
mod segment;
mod seq;
pub mod wire;

pub use config::{Config, ControlKind, DelayedAck, Growth, Profile, RecoveryKind, RtoConfig};
pub use segment::{Flags, IP_HEADER, Options, SackBlock, SackBlocks, Segment, TCP_HEADER, Timestamps};
pub use seq::Seq;
