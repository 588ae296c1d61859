//! A TCP endpoint as a plain state machine: segments and a time go in, segments and the next wake-up come out.

mod config;

pub use config::{Config, ControlKind, DelayedAck, Growth, Profile, RecoveryKind, RtoConfig};
