//! A TCP endpoint as a plain state machine: segments and a time go in, segments and the next wake-up come out.

mod choice;
mod config;
pub mod control;
mod endpoint;
mod receiver;
pub mod recovery;
mod rtt;
mod runs;
mod segment;
mod sender;
mod seq;
pub mod slow_start;
pub mod wire;

pub use bentpipe_units::registry::{Catalogue, Chosen, Named, Scheme};
pub use config::{
    Config, DelayedAck, Growth, GrowthGate, Host, IdleRestart, Kernel, Nagle, Profile, ReceiveBuffer,
    RtoConfig, RtoEstimator, Settings, Spacing,
};
pub use endpoint::{Endpoint, State, Transmit, Written};
pub use receiver::{Receiver, ReceiverStats};
pub use rtt::{RttDistribution, RttEstimator};
pub use runs::{MOST_SMALL_RUNS, Runs};
pub use segment::{
    CongestionHeader, Ecn, Flags, IP_HEADER, Options, SackBlock, SackBlocks, Segment, TCP_HEADER, Timestamps,
};
pub use sender::{
    Agreed, ConnectionError, Incoming, Limit, LostSegment, Outgoing, RateSample, Record, Sender, SenderStats,
    Sent,
};
pub use seq::Seq;
