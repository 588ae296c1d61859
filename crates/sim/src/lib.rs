//! What a packet meets between two hosts, as plain state machines.

pub mod pcap;
pub mod scenario;
