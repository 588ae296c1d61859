//! A scenario as the simulator takes it: every name resolved, every default filled in, every value checked.

use std::path::PathBuf;
use std::sync::Arc;

use bentpipe_apps::{AppSpec, Beginning};
use bentpipe_net::{DirectionSetup, LinkSetup, Topology};

use bentpipe_path::Stream;
use bentpipe_sky::SkySpec;
use bentpipe_tcp::Config;
use bentpipe_units::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// A whole run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// One line for people.
    pub title: String,
    /// Every random stream is derived from this and the component's name.
    pub seed: u64,
    /// When the run ends; `None` ends it when every flow has finished.
    pub duration: Option<Span>,
    /// The first part of the run, which the numbers of flows and links leave out.
    pub warm_up: Option<Span>,
    /// Whether links tell quantiles of the queueing delay.
    pub queueing_quantiles: bool,
    /// Nodes, named by the links that touch them, in order of first mention.
    pub nodes: Vec<String>,
    /// Links, in order of mention.
    pub links: Vec<LinkSetup>,
    /// Flows, in order of mention.
    pub flows: Vec<FlowSpec>,
    /// Whether routes follow the delays as they change.
    pub routing: Routing,
    /// Satellites that move, which make the links; the nodes are the stations.
    pub constellation: Option<Arc<ConstellationSpec>>,
    /// Handovers, in order of mention.
    pub handovers: Vec<HandoverSpec>,
    /// The files that it was read from, with all that they extend; no preset, and nothing that was given as text.
    pub files: Vec<PathBuf>,
    /// What its reader should know before a run, a line each.
    pub notes: Vec<String>,
    /// The text of [`Scenario::toml`] without its seed.
    pub(crate) text: String,
}

impl Scenario {
    /// One TOML text that gives this scenario with this seed: what a file extends and what was put over it are in it, and it
    /// names no other file but long traces of links.
    pub fn toml(&self, seed: u64) -> String {
        format!("seed = {seed}\n{}", self.text)
    }

    /// The network that it describes, its nodes and links known by their indices here.
    pub fn topology(&self) -> Topology {
        Topology { nodes: self.nodes.len(), links: self.links.clone() }
    }

    /// When the application of the flow with this index starts in the run with this seed: that of a relay with the first sender of
    /// its data.
    pub fn start_of(&self, flow: usize, seed: u64) -> Span {
        let spec = self.first_of(flow);
        if spec.start_spread == Span::ZERO {
            return spec.start;
        }
        let share = Stream::derive(seed, &format!("flow/{}/start", spec.name)).uniform();
        spec.start + Span::from_secs(spec.start_spread.as_secs() * share)
    }

    /// How the application of the flow with this index begins in the run with this seed.
    pub fn beginning(&self, flow: usize, seed: u64) -> Beginning<'_> {
        let (spec, start) = (&self.flows[flow], Time::ZERO + self.start_of(flow, seed));
        let stop = spec.app.facts().duration.map_or(Time::NEVER, |duration| start + duration);
        Beginning { flow: &spec.name, seed, start, stop }
    }

    /// The bytes that the flow with this index carries, over relays as before them; `u64::MAX` where they have no end, or the
    /// application decides.
    pub fn size_of(&self, flow: usize) -> u64 {
        match &*self.first_of(flow).app {
            AppSpec::Ftp(ftp) => ftp.bytes.unwrap_or(u64::MAX),
            _ => u64::MAX,
        }
    }

    /// The flow that data comes from which the one with this index carries, over relays or without.
    fn first_of(&self, flow: usize) -> &FlowSpec {
        let mut spec = &self.flows[flow];
        while let Some(upstream) = spec.upstream {
            spec = &self.flows[upstream];
        }
        spec
    }

    /// Whether any component draws random numbers on which a result may depend, so that another seed may give another run. Sequence
    /// numbers are drawn too, and nothing that is measured depends on them.
    pub fn is_random(&self) -> bool {
        let links = self.links.iter().flat_map(|link| [&*link.forward, &*link.reverse]);
        let hops = self.constellation.iter().flat_map(|sky| [&sky.uplink, &sky.downlink, &sky.laser]);
        let flows = self.flows.iter().any(|flow| flow.start_spread > Span::ZERO || flow.app.facts().draws);
        flows || links.chain(hops).any(|direction| direction.link.draws())
    }

    /// How many connections all flows may open.
    pub fn connections(&self) -> usize {
        self.flows.iter().map(|flow| flow.app.connections()).sum()
    }

    /// The flows over UDP, each with its number among all flows.
    pub fn udp_flows(&self) -> impl Iterator<Item = (usize, &FlowSpec)> {
        self.flows.iter().enumerate().filter(|(_, flow)| flow.app.over_udp())
    }
}

/// Satellites, and what their links are like.
#[derive(Clone, Debug)]
pub struct ConstellationSpec {
    /// Where they are, and where the stations are.
    pub sky: SkySpec,
    /// What becomes of packets under way when a path changes.
    pub in_flight: InFlight,
    /// From a station to a satellite; its delay is of no meaning, nor that of the others.
    pub uplink: DirectionSetup,
    /// From a satellite to a station.
    pub downlink: DirectionSetup,
    /// From a satellite to another.
    pub laser: DirectionSetup,
}

impl ConstellationSpec {
    /// Both directions of a link that begins at node number `from`, a station or a satellite.
    pub fn directions(&self, from: u32) -> [&DirectionSetup; 2] {
        match (from as usize) < self.sky.stations.len() {
            true => [&self.uplink, &self.downlink],
            false => [&self.laser; 2],
        }
    }
}

/// One flow: a connection, or several that carry one application.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Unique name.
    pub name: String,
    /// The name that the file gives to this flow and its copies, when it has a `count`.
    pub group: Option<String>,
    /// Its number among the copies of its group, from 0; 0 without a group.
    pub number: usize,
    /// The host that the data comes from: index in `Scenario::nodes`.
    pub from: usize,
    /// The host that the data goes to: index in `Scenario::nodes`.
    pub to: usize,
    /// Links that its route takes, in this order: indices in `Scenario::links`.
    pub via: Vec<usize>,
    /// What a priority queue serves its packets by, 0 to 7, the highest first.
    pub class: u8,
    /// Whether no gateway can read the headers of its packets.
    pub ipsec: bool,
    /// When the application starts, at the earliest; for a relay, when the first sender of its data does.
    pub start: Span,
    /// It starts at a random moment within so long after that.
    pub start_spread: Span,
    /// What it carries, which the copies of a flow share.
    pub app: Arc<AppSpec>,
    /// Of a relay: the flow whose data it carries on, an index in `Scenario::flows`.
    pub upstream: Option<usize>,
    /// The sending host's TCP; of no meaning to a flow over UDP.
    pub sender: Arc<Config>,
    /// The receiving host's TCP; of no meaning to a flow over UDP.
    pub receiver: Arc<Config>,
    /// The name under which results show recovery and control, such as `sack`; `udp` over UDP.
    pub variant: String,
    /// The kernel whose TCP both hosts have; none where it is ours, and of no meaning over UDP.
    pub kernel: Option<Box<KernelControl>>,
}

/// A congestion control of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelControl {
    /// The beginning of the kernel's release; none for the one that is there.
    pub release: Option<String>,
    /// Its name there.
    pub control: String,
}

/// Flows take another route.
#[derive(Clone, Debug)]
pub struct HandoverSpec {
    /// Unique name.
    pub name: String,
    /// When: what is sent from then on takes the new route. Above zero.
    pub at: Span,
    /// Indices in `Scenario::flows`, in their order.
    pub flows: Vec<usize>,
    /// Links of each flow's new route, as in `FlowSpec::via`.
    pub via: Vec<Arc<[usize]>>,
    /// What becomes of packets under way.
    pub in_flight: InFlight,
}

/// When routes are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Routing {
    /// Before the run, by the delays at its start.
    #[default]
    Static,
    /// Whenever a schedule changes a delay, or an outage begins or ends.
    Dynamic,
}

/// What a handover does to packets under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InFlight {
    /// They arrive over the old route.
    #[default]
    Deliver,
    /// Those on links that their flow leaves are lost; the others go on over the new route.
    Lose,
}
