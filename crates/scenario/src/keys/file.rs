//! The scenario file as it is written; the one place that defines its keys.
//!
//! A field that begins with an underscore is checked here and read elsewhere: TCP settings stand in layers, which are
//! laid over each other as text.

use std::collections::BTreeMap;

use bentpipe_path::gateway::GatewaySpec;
use bentpipe_path::{ArqSpec, FecSpec, LossSpec, QueueSpec, Schedule};
use bentpipe_tcp::Settings;
use bentpipe_units::bounded::{Above, AboveZero, Whole};
use bentpipe_units::registry::Kind;
use bentpipe_units::{Rate, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{ConstellationFile, Count, GatewayOrNone, StationFile, TraceFile, table_or_file};
use crate::model::{InFlight, Routing};
use bentpipe_apps::ApplicationFactory;

/// Every reader of JSON keeps whole numbers up to this exact.
const MOST_EXACT: u64 = (1 << 53) - 1;

/// A network, its TCP, and what it carries.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "bentpipe scenario")]
pub(crate) struct ScenarioFile {
    /// What this scenario starts from: "preset:NAME", or a path relative to this file.
    #[serde(rename = "extends")]
    pub(crate) _extends: Option<String>,
    /// One line for people.
    pub(crate) title: Option<String>,
    /// When the run ends; without it, when every flow has finished.
    #[serde(with = "AboveZero")]
    pub(crate) duration: Option<Span>,
    /// The first part of the run, which the numbers of flows and links leave out; default none.
    #[serde(with = "AboveZero")]
    pub(crate) warm_up: Option<Span>,
    /// Whether links tell quantiles of the queueing delay; default false.
    pub(crate) queueing_quantiles: bool,
    /// Every random stream is derived from this; default 1.
    pub(crate) seed: Option<Whole<0, MOST_EXACT>>,
    /// When routes are chosen: "static" (the default), by the delays at the start, or "dynamic", also when they change.
    pub(crate) routing: Option<Routing>,
    /// The links by name; they make the nodes.
    #[serde(rename = "links")]
    #[schemars(with = "BTreeMap<String, LinkFile>")]
    pub(crate) _links: BTreeMap<String, IgnoredAny>,
    /// Satellites that move, which make the links between the stations; in place of `links`.
    #[serde(rename = "constellation")]
    #[schemars(with = "ConstellationFile")]
    pub(crate) _constellation: BTreeMap<String, IgnoredAny>,
    /// The stations by name.
    #[serde(rename = "stations")]
    #[schemars(with = "BTreeMap<String, StationFile>")]
    pub(crate) _stations: BTreeMap<String, IgnoredAny>,
    /// TCP settings of every flow.
    #[serde(rename = "tcp")]
    #[schemars(with = "Settings")]
    pub(crate) _tcp: BTreeMap<String, IgnoredAny>,
    /// The flows by name.
    #[serde(rename = "flows")]
    #[schemars(with = "BTreeMap<String, FlowFile>")]
    pub(crate) _flows: BTreeMap<String, IgnoredAny>,
    /// The handovers by name.
    #[serde(rename = "handovers")]
    #[schemars(with = "BTreeMap<String, HandoverFile>")]
    pub(crate) _handovers: BTreeMap<String, IgnoredAny>,
}

/// A link between two nodes; beside these keys stand those of the direction from `from` to `to`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinkFile {
    /// The node at one end; {i} is the copy's number.
    pub(crate) from: String,
    /// The node at the other end; {i} is the copy's number.
    pub(crate) to: String,
    /// Make so many copies, numbered from 0.
    pub(crate) count: Option<Count>,
    /// The direction from `to` to `from`. A key that is not set has its value of the other direction, but for losses, repair, changes
    /// and a gateway, of which there are none then.
    #[serde(default)]
    pub(crate) reverse: DirectionFile,
}

/// One direction of a link.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DirectionFile {
    /// Rate.
    pub(crate) rate: Option<Rate>,
    /// Propagation delay.
    pub(crate) delay: Option<Span>,
    /// Share of the rate that carries packets, above 0; default 1.
    #[serde(with = "Above::<0, 1>")]
    pub(crate) efficiency: Option<f64>,
    /// What may wait before the link, drop-tail, or a table with a `scheme`; default "unlimited".
    pub(crate) queue: Option<QueueSpec>,
    /// What the link loses; default nothing.
    pub(crate) loss: Option<LossSpec>,
    /// How often frames that were lost are sent again; default not at all. Not with `fec`.
    pub(crate) arq: Option<ArqSpec>,
    /// Parity that is sent with the packets; default none. Not with `arq`.
    pub(crate) fec: Option<FecSpec>,
    /// Changes of rate, delay and losses, and outages; default none.
    pub(crate) schedule: Schedule,
    /// A file that says how rate, delay and losses change; not with `schedule`; default none.
    #[schemars(schema_with = "table_or_file::<TraceFile>")]
    pub(crate) trace: Option<TraceFile>,
    /// What stands before the link and reads the headers of its TCP; default nothing.
    #[serde(with = "GatewayOrNone")]
    pub(crate) gateway: Option<GatewaySpec>,
}

/// One connection, or `count` of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlowFile {
    /// The host that sends; {i} is the copy's number.
    pub(crate) from: String,
    /// The host that receives; {i} is the copy's number.
    pub(crate) to: String,
    /// Make so many copies, numbered from 0.
    pub(crate) count: Option<Count>,
    /// Links that its route takes, in this order; {i} is the copy's number. Default the route of least delay.
    #[serde(default)]
    pub(crate) via: Vec<String>,
    /// What it carries; default "ftp", a bulk transfer.
    #[serde(rename = "app")]
    #[schemars(schema_with = "application")]
    pub(crate) _app: Option<String>,
    /// When the application starts; default "0 s".
    #[serde(default)]
    pub(crate) start: Span,
    /// With `count`: how much later each copy starts than the one before; default "0 s".
    #[serde(default)]
    pub(crate) start_step: Span,
    /// A flow, or each copy, starts at a random moment within so long after that; default "0 s".
    #[serde(default)]
    pub(crate) start_spread: Span,
    /// What a priority queue serves its packets by, 0 to 7, the highest first; default 0.
    pub(crate) class: Option<Whole<0, 7>>,
    /// Its packets are encrypted (IPsec ESP), so that no gateway can read their headers; default false.
    #[serde(default)]
    pub(crate) ipsec: bool,
    /// Recovery and control by one name; default sack.
    pub(crate) variant: Option<String>,
    /// What to retransmit, when; default sack. Not with `variant`.
    pub(crate) recovery: Option<String>,
    /// How large the window is; default standard. Not with `variant`.
    pub(crate) control: Option<String>,
    /// Settings of this flow over those of [tcp].
    #[serde(default, rename = "tcp")]
    #[schemars(with = "Settings")]
    pub(crate) _tcp: BTreeMap<String, IgnoredAny>,
    /// Settings of the receiving host alone, over those of both ends.
    #[serde(default, rename = "receiver_tcp")]
    #[schemars(with = "Settings")]
    pub(crate) _receiver_tcp: BTreeMap<String, IgnoredAny>,
}

/// Keys of a flow that one over UDP has not.
pub(crate) const ABOUT_TCP: [&str; 5] = ["variant", "recovery", "control", "tcp", "receiver_tcp"];

/// The names of the applications.
fn application(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": <dyn ApplicationFactory>::ours().names() })
}

/// Flows that take another route from a time on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandoverFile {
    /// When.
    #[serde(with = "AboveZero")]
    pub(crate) at: Span,
    /// Names of flows, or patterns in which * stands for any letters.
    pub(crate) flows: Vec<String>,
    /// Links that the new route takes, in this order; {i} is the flow's number among its copies. None is the route of least delay.
    #[serde(default)]
    pub(crate) via: Vec<String>,
    /// What becomes of packets under way: "deliver" (the default) or "lose".
    pub(crate) in_flight: Option<InFlight>,
}
