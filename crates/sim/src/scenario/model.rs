//! A scenario as the simulator takes it: every name resolved, every default filled in, every value checked.

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
}

impl Scenario {
    /// How many connections all flows may open.
    pub(crate) fn connections(&self) -> usize {
        self.flows.iter().map(|flow| flow.app.connections()).sum()
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
}

/// One flow: a connection, or several that carry one application.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Unique name.
    pub name: String,
    /// The host that the data comes from: index in `Scenario::nodes`.
    pub from: usize,
    /// The host that the data goes to: index in `Scenario::nodes`.
    pub to: usize,
    /// When the application starts.
    pub start: Span,
    /// What it carries.
    pub app: AppSpec,
    /// The sending host's TCP.
    pub sender: Config,
    /// The receiving host's TCP.
    pub receiver: Config,
    /// The name under which results show recovery and control, such as `sack`.
    pub variant: String,
}

/// What a flow carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl AppSpec {
    /// How many connections the application may open.
    pub fn connections(&self) -> usize {
        match self {
            AppSpec::Ftp { .. } => 1,
            AppSpec::Http(http) => http.connections as usize,
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
