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

/// One connection.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Unique name.
    pub name: String,
    /// Sending host: index in `Scenario::nodes`.
    pub from: usize,
    /// Receiving host: index in `Scenario::nodes`.
    pub to: usize,
    /// When the connection is opened.
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
}
