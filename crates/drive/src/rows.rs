//! What links, gateways and handovers did: the same rows in the simulator and over the wall clock.

use bentpipe_net::{Carried, Network, Probe};
use bentpipe_path::gateway::{GatewaySpec, GatewayStats};
use bentpipe_scenario::HandoverSpec;
use bentpipe_units::{Numbers, Time};
use schemars::JsonSchema;
use serde::Serialize;

bentpipe_units::numbers! {
    /// One direction of a link.
    #[derive(Debug)]
    pub struct LinkResult {
        /// `name`, or `name/reverse`.
        pub name: String;
        /// Its measurements.
        #[serde(flatten)]
        pub stats: bentpipe_path::LinkStats;
    }

    /// One gateway.
    #[derive(Debug)]
    pub struct GatewayResult {
        /// The direction of a link that it guards: `name`, or `name/reverse`.
        pub name: String;
        /// What it does, such as `xfwa`.
        pub scheme: String;
        /// Its measurements.
        #[serde(flatten)]
        pub stats: GatewayStats;
    }

    /// One handover.
    #[derive(Debug)]
    pub struct HandoverResult {
        /// Its name.
        pub name: String;
        /// When it happens, in seconds.
        pub at_s: f64 = "s", "at", runs given;
        /// Flows that take another way.
        pub flows: u64 = "", "flows";
        /// Packets lost because they came out of a link that their flow had left; that link counts them as delivered.
        pub lost_packets: u64 = "packet", "lost", runs packets;
    }

    /// The path of a flow over satellites, from the end of the warm-up to the end of the run.
    #[derive(Debug)]
    pub struct FlowPathResult {
        /// The flow's name.
        pub flow: String;
        /// Changes from one path to another.
        pub handovers: u64 = "", "changes";
        /// Time without a path, outages after handovers included, in seconds.
        pub no_path_s: f64 = "s", "without";
        /// The fewest links of a path; null without a path.
        pub hops_min: Option<u64> = "", "links, fewest";
        /// The most links of a path; null without a path.
        pub hops_max: Option<u64> = "", "links, most";
        /// The least propagation delay there and back of all steps with a path, in seconds; null without a path.
        pub rtt_min_s: Option<f64> = "s", "round trip, least";
        /// The median propagation delay there and back of all steps with a path, in seconds; null without a path.
        pub rtt_median_s: Option<f64> = "s", "median";
        /// The largest propagation delay there and back of all steps with a path, in seconds; null without a path.
        pub rtt_max_s: Option<f64> = "s", "most";
        /// Packets of both directions that were lost because they came out of a link that their path had left, from the start of the
        /// run; that link counts them as delivered.
        pub left_packets: u64 = "packet", "left";
        /// Packets of both directions that were lost because their host sent them while it had no path, from the start of the run.
        pub no_path_packets: u64 = "packet", "no path";
    }
}

/// Why a recording ended before its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// It was as large as was asked for.
    Limit,
    /// The disk was nearly full.
    Disk,
}

impl Numbers for Ended {}

/// The rows of both directions of the links, which have these names, and of the gateways, at `end`. `guards` are the gateways of the
/// directions in their order; all behind these have the one `aboard` of satellites.
pub fn network_rows<'a, P: Carried, O: Probe<P>>(
    net: &mut Network<P, O>,
    links: &[String],
    guards: impl Iterator<Item = Option<&'a GatewaySpec>>,
    aboard: Option<&'a GatewaySpec>,
    end: Time,
) -> (Vec<LinkResult>, Vec<GatewayResult>) {
    let names: Vec<_> = links.iter().flat_map(|name| [name.clone(), format!("{name}/reverse")]).collect();
    let guards: Vec<_> = guards.collect();
    let gateways = net.gateways().filter_map(|(link, stats)| {
        let scheme = guards.get(link.index()).copied().unwrap_or(aboard)?.name().to_owned();
        Some(GatewayResult { name: names[link.index()].clone(), scheme, stats })
    });
    let gateways = gateways.collect();
    let links = names.into_iter().zip(net.links_mut());
    (links.map(|(name, link)| LinkResult { name, stats: link.stats(end) }).collect(), gateways)
}

impl HandoverResult {
    /// The rows of a scenario's handovers, each with the packets that it lost.
    pub fn of(handovers: &[HandoverSpec], lost: impl IntoIterator<Item = u64>) -> Vec<HandoverResult> {
        let rows = handovers.iter().zip(lost).map(|(spec, lost_packets)| HandoverResult {
            name: spec.name.clone(),
            at_s: spec.at.as_secs(),
            flows: spec.flows.len() as u64,
            lost_packets,
        });
        rows.collect()
    }
}
