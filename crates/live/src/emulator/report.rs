//! What an emulator tells: while it runs, and at its end.

use bentpipe_drive::{FlowPathResult, GatewayResult, HandoverResult, LinkResult};
use serde::Serialize;

use super::lateness::Quantiles;

/// What an emulated network did.
#[derive(Debug, Serialize)]
pub struct EmulatorReport {
    /// The scenario's title.
    pub title: String,
    /// What the links' random streams are derived from.
    pub seed: u64,
    /// How long it ran, s.
    pub duration_s: f64,
    /// The hosts.
    pub hosts: Vec<HostResult>,
    /// Each direction of each link.
    pub links: Vec<LinkResult>,
    /// Each gateway.
    pub gateways: Vec<GatewayResult>,
    /// Each handover of the scenario, those to come included.
    pub handovers: Vec<HandoverResult>,
    /// Under satellites, the path between each two hosts that packets have gone between; its `flow` names them.
    pub paths: Vec<FlowPathResult>,
    /// Flows over a relay, whose splitting of the connection the emulator does not do.
    pub not_relayed: Vec<String>,
    /// The emulator itself.
    pub emulator: EmulatorResult,
}

/// A host.
#[derive(Clone, Debug, Serialize)]
pub struct HostResult {
    /// Name in the scenario.
    pub name: String,
    /// IPv4 address; none where another machine is the host.
    pub address: Option<String>,
    /// The interface of this machine at which the host is, where it is another machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// Packets that it sent into the network.
    pub sent_packets: u64,
    /// Bytes of these, IP headers included.
    pub sent_bytes: u64,
    /// Packets that it was given.
    pub received_packets: u64,
    /// Bytes of these, IP headers included.
    pub received_bytes: u64,
}

/// How the emulator itself did.
#[derive(Clone, Debug, Serialize)]
pub struct EmulatorResult {
    /// Packets that it took from hosts for the network.
    pub packets: u64,
    /// Bytes of these, IP headers included.
    pub bytes: u64,
    /// How much later than due packets were handed over; none before the first.
    pub lateness: Option<Quantiles>,
    /// The share of the time in which a packet waited that was handed over more than a millisecond late.
    pub overload: f64,
    /// Packets that a TUN device lost: the emulator did not read them in time, or the host's kernel did not take them.
    pub device_lost_packets: u64,
    /// Packets to an address that is no host's, or that no way leads to.
    pub unroutable_packets: u64,
    /// Whether its thread ran before those of other programs (SCHED_FIFO).
    pub realtime: bool,
}

/// How an emulator stands.
#[derive(Debug, Serialize)]
pub struct Snapshot {
    /// What happened until now.
    pub report: EmulatorReport,
    /// For each direction of each link, in the order of the report's, how things are now.
    pub now: Vec<LinkNow>,
    /// For each host that has a namespace, in the order of the report's, the descriptor of this process that is it.
    pub namespaces: Vec<i32>,
}

/// A direction of a link now.
#[derive(Clone, Debug, Serialize)]
pub struct LinkNow {
    /// Rate, bit/s; 0 while it is out of service.
    pub rate_bps: f64,
    /// Packets that wait.
    pub queue_packets: u32,
}
