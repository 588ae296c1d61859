//! Time series of a run: points of curves, handed on as they come, so that a long run needs no more memory than a short one.

use std::ops::ControlFlow;

use bentpipe_tcp::{Catalogue, control};

use bentpipe_drive::addresses::lines;
use bentpipe_scenario::Scenario;

/// The curves of a flow, or of one of its connections where it may open several: kind and unit. Sequence numbers are bytes
/// since the first byte of data, and do not wrap.
pub const FLOW_KINDS: [(&str, &str); 16] = [
    ("cwnd", "B"),
    ("ssthresh", "B"),
    ("flight", "B"),
    ("rtt", "s"),
    ("rto", "s"),
    ("pacing_rate", "bit/s"),
    ("delivery_rate", "bit/s"),
    ("phase", "phase"),
    ("sent", "B"),
    ("resent", "B"),
    ("acked", "B"),
    ("sack_start", "B"),
    ("sack_end", "B"),
    ("dropped", "B"),
    ("damaged", "B"),
    ("buffer", "B"),
];

/// The curves of a direction of a link: kind and unit.
pub const LINK_KINDS: [(&str, &str); 1] = [("queue", "packets")];

/// Whose curves a run has. Kind k of flow i is curve `i * FLOW_KINDS.len() + k`; those of the links follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subjects {
    /// The connections, in the scenario's order of flows: under the flow's name, with `/1`, `/2` and so on behind it where
    /// there may be several. Then the flows over UDP.
    pub flows: Vec<String>,
    /// The directions of links: 2i is link i, 2i + 1 its reverse.
    pub links: Vec<String>,
    /// The names of phases: a point of a curve `phase` is a number of one of them, from 0.
    pub phases: Vec<&'static str>,
}

impl Subjects {
    /// Those of a scenario.
    pub fn of(scenario: &Scenario) -> Subjects {
        let connections = scenario.flows.iter().flat_map(|flow| {
            let several = flow.app.connections() > 1;
            (1..=flow.app.connections()).map(move |number| {
                if several { format!("{}/{number}", flow.name) } else { flow.name.clone() }
            })
        });
        let streams = scenario.udp_flows().map(|(_, flow)| flow.name.clone());
        let links = scenario.links.iter();
        let flows = connections.chain(streams).collect();
        debug_assert_eq!(lines(scenario).count(), Vec::len(&flows));
        Subjects {
            flows,
            links: links.flat_map(|link| [link.name.clone(), format!("{}/reverse", link.name)]).collect(),
            phases: phases(scenario),
        }
    }
}

/// The names of the phases of all schemes that are ours, so that a number means the same in every run; behind them those of others
/// that the scenario has.
pub(crate) fn phases(scenario: &Scenario) -> Vec<&'static str> {
    let mut names = control::phases(&Catalogue::default());
    for flow in &scenario.flows {
        let (control, start) = (flow.sender.control.factory(), flow.sender.slow_start.factory());
        for name in control.phases().iter().chain(start.phases()) {
            if !names.contains(name) {
                names.push(name);
            }
        }
    }
    names
}

/// Points of curves, as columns of equal length. Those of one curve come in the order of their times.
#[derive(Clone, Debug, Default)]
pub struct Points {
    /// The number of the curve ([`Subjects`]).
    pub curves: Vec<u32>,
    /// Time in seconds.
    pub times_s: Vec<f64>,
    /// The value, in the unit of the curve's kind.
    pub values: Vec<f64>,
}

impl Points {
    pub(crate) fn clear(&mut self) {
        self.curves.clear();
        self.times_s.clear();
        self.values.clear();
    }
}

/// Takes points, at most 65,536 at a time. Breaks off the recording, not the run, when it has no room for more.
pub type Sink = Box<dyn FnMut(&Points) -> ControlFlow<()>>;

/// Which time series to record, and where they go.
pub struct SeriesOptions {
    /// For each of the subjects, flows first, the kinds to record: bit k for kind k. Without it, everything.
    pub wanted: Option<Vec<u32>>,
    /// Points after which the recording ends.
    pub limit: u64,
    /// Where the points go.
    pub sink: Sink,
}
