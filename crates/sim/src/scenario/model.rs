//! A scenario as the simulator takes it: every name resolved, every default filled in, every value checked.

use std::path::PathBuf;
use std::sync::Arc;

use bentpipe_path::gateway::GatewaySpec;
use bentpipe_path::{LossSpec, QueueSpec};
use bentpipe_tcp::Config;
use bentpipe_units::{Rate, Span};

/// A whole run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// One line for people.
    pub title: String,
    /// Every random stream is derived from this and the component's name.
    pub seed: u64,
    /// When the run ends; `None` ends it when every flow has finished.
    pub duration: Option<Span>,
    /// Nodes, named by the links that touch them, in order of first mention.
    pub nodes: Vec<String>,
    /// Links, in order of mention.
    pub links: Vec<LinkSpec>,
    /// Flows, in order of mention.
    pub flows: Vec<FlowSpec>,
    /// Handovers, in order of mention.
    pub handovers: Vec<HandoverSpec>,
    /// The files that it was read from, with all that they extend; no preset, and nothing that was given as text.
    pub files: Vec<PathBuf>,
    /// The text of [`Scenario::toml`] without its seed.
    pub(crate) text: String,
}

impl Scenario {
    /// One TOML text that gives this scenario with this seed: what a file extends and what was put over it are in it, and it
    /// names no other file.
    pub fn toml(&self, seed: u64) -> String {
        format!("seed = {seed}\n{}", self.text)
    }

    /// How many connections all flows may open.
    pub(crate) fn connections(&self) -> usize {
        self.flows.iter().map(|flow| flow.app.connections()).sum()
    }

    /// The flows over UDP, each with its number among all flows.
    pub(crate) fn udp_flows(&self) -> impl Iterator<Item = (usize, &FlowSpec)> {
        self.flows.iter().enumerate().filter(|(_, flow)| flow.app.over_udp())
    }
}

/// A link between two nodes; each direction is set up by itself.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Unique name.
    pub name: String,
    /// Index in `Scenario::nodes`.
    pub from: usize,
    /// Index in `Scenario::nodes`.
    pub to: usize,
    /// `from` to `to`; reported as `name`.
    pub forward: DirectionSpec,
    /// `to` to `from`; reported as `name/reverse`.
    pub reverse: DirectionSpec,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct DirectionSpec {
    /// Nominal rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Share of the nominal rate that carries packets (framing, coding, roll-off); above 0, at most 1.
    pub efficiency: f64,
    /// What waits before the link.
    pub queue: QueueSpec,
    /// What the link loses.
    pub loss: LossSpec,
    /// What lowers the windows of the connections that it carries.
    pub gateway: Option<GatewaySpec>,
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
    /// When the application starts.
    pub start: Span,
    /// What it carries.
    pub app: AppSpec,
    /// The sending host's TCP; of no meaning to a flow over UDP.
    pub sender: Config,
    /// The receiving host's TCP; of no meaning to a flow over UDP.
    pub receiver: Config,
    /// The name under which results show recovery and control, such as `sack`; `udp` over UDP.
    pub variant: String,
}

/// Flows take another way.
#[derive(Clone, Debug)]
pub struct HandoverSpec {
    /// Unique name.
    pub name: String,
    /// When: what is sent from then on takes the new way. Above zero.
    pub at: Span,
    /// Indices in `Scenario::flows`, in their order.
    pub flows: Vec<usize>,
    /// Links of each flow's new way, as in `FlowSpec::via`.
    pub via: Vec<Arc<[usize]>>,
    /// What becomes of packets under way.
    pub in_flight: InFlight,
}

/// What a handover does to packets under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InFlight {
    /// They arrive over the old way.
    #[default]
    Deliver,
    /// Those on links that their flow leaves are lost; the others go on over the new way.
    Lose,
}

/// What a flow carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AppSpec {
    /// Bulk transfer: so many bytes, or as many as go in so long a time, or until the run ends.
    Ftp {
        /// Stop after this many bytes.
        bytes: Option<u64>,
        /// Stop offering data this long after the flow's start.
        duration: Option<Span>,
    },
    /// Pages, one after the other, over persistent connections that the receiving host opens.
    Http(HttpSpec),
    /// Bytes at a constant rate during on periods, over one connection.
    OnOff(OnOffSpec),
    /// UDP at a constant rate.
    Cbr(CbrSpec),
    /// Audio and video over UDP.
    Multimedia(MultimediaSpec),
}

impl AppSpec {
    /// Whether it sends datagrams, and takes no notice of what becomes of them.
    pub fn over_udp(&self) -> bool {
        matches!(self, AppSpec::Cbr(_) | AppSpec::Multimedia(_))
    }

    /// Whether it has an end of its own, before that of the run.
    pub(crate) fn ends(&self) -> bool {
        match self {
            AppSpec::Ftp { bytes, duration } => bytes.is_some() || duration.is_some(),
            AppSpec::Http(http) => http.pages.is_some() || http.duration.is_some(),
            AppSpec::OnOff(onoff) => onoff.duration.is_some(),
            AppSpec::Cbr(cbr) => cbr.bytes.is_some() || cbr.duration.is_some(),
            AppSpec::Multimedia(multimedia) => multimedia.duration.is_some(),
        }
    }

    /// How many connections the application may open; none over UDP.
    pub fn connections(&self) -> usize {
        match self {
            AppSpec::Ftp { .. } | AppSpec::OnOff(_) => 1,
            AppSpec::Http(http) => http.connections as usize,
            AppSpec::Cbr(_) | AppSpec::Multimedia(_) => 0,
        }
    }
}

/// Pages over HTTP/1.1 (RFC 9112): a main object, then embedded objects, over connections that stay open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpSpec {
    /// From one page's request to the next page's; a page that takes longer delays the next.
    pub page_interval: Span,
    /// Size of the main object in bytes, above zero.
    pub main_object: u64,
    /// Embedded objects of a page, at least one.
    pub objects: u32,
    /// Size of an embedded object in bytes, above zero.
    pub object: u64,
    /// Size of a request in bytes, above zero.
    pub request: u64,
    /// Connections for the embedded objects, at least one; the main object comes over the first.
    pub connections: u32,
    /// Whether a connection carries the requests of all its objects together, and not one after the other.
    pub pipelining: bool,
    /// Stop after this many pages.
    pub pages: Option<u64>,
    /// Stop this long after the flow's start, in the middle of a page too.
    pub duration: Option<Span>,
}

/// Writes at a constant rate during on periods, and nothing during off periods: each of a Pareto-distributed length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnOffSpec {
    /// Bytes written over time, during an on period.
    pub rate: Rate,
    /// Bytes of a write, above zero.
    pub packet: u32,
    /// Mean length of an on period, above zero.
    pub mean_on: Span,
    /// Mean length of an off period.
    pub mean_off: Span,
    /// Shape of both distributions, above 1.
    pub shape: f64,
    /// Stop this long after the flow's start.
    pub duration: Option<Span>,
}

/// Datagrams at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CbrSpec {
    /// Payload sent, over time.
    pub rate: Rate,
    /// Payload of a datagram in bytes, above zero; the last may be shorter.
    pub packet: u32,
    /// Stop after this many bytes of payload.
    pub bytes: Option<u64>,
    /// Stop this long after the flow's start.
    pub duration: Option<Span>,
}

/// Audio and video as frames, cut into datagrams that leave together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultimediaSpec {
    /// Payload of the audio over time, in frames of one size.
    pub audio: Rate,
    /// Mean payload of the video over time.
    pub video: Rate,
    /// Video frames a second, above zero.
    pub frame_rate: f64,
    /// Frames from one key frame to the next, at least one.
    pub gop: u32,
    /// Mean size of a key frame over that of another frame, above zero.
    pub key_frame_ratio: f64,
    /// Coefficient of variation of the sizes about either mean.
    pub frame_variation: f64,
    /// Most payload bytes of a datagram, above zero.
    pub packet: u32,
    /// Stop this long after the flow's start.
    pub duration: Option<Span>,
}
