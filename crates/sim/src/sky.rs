//! What the engine asks of satellites: which path two stations have at a time, and how long each hop takes.

mod view;
mod walker;

use bentpipe_units::{Span, Time};

pub use view::{PathStretch, SkyView};
use walker::Walker;
pub(crate) use walker::{Shell, Station};

/// A node of a path: the stations come first, in the scenario's order, then the satellites.
pub(crate) type SkyNode = u32;

/// Satellites in motion over stations on the ground.
pub(crate) trait Sky {
    /// Moves to a time of the run.
    fn set(&mut self, at: Time);

    /// The path of least delay between two stations now: one, satellites, the other; none without one.
    fn path(&mut self, from: SkyNode, to: SkyNode) -> Option<Vec<SkyNode>>;

    /// The propagation delay between two neighbours of a path now; none when they do not see each other any more.
    fn hop(&self, from: SkyNode, to: SkyNode) -> Option<Span>;

    /// The name of a node.
    fn name(&self, node: SkyNode) -> String;
}

/// Satellites and stations, as a scenario has them.
#[derive(Clone, Debug)]
pub(crate) struct SkySpec {
    /// The satellites.
    pub(crate) shell: Shell,
    /// The stations with their names, in the order of the scenario's nodes.
    pub(crate) stations: Vec<(String, Station)>,
    /// Whether satellites have links to their neighbours.
    pub(crate) lasers: bool,
    /// The least elevation at which a station uses a satellite, in degrees.
    pub(crate) elevation_deg: f64,
    /// How long after the epoch the run begins.
    pub(crate) start: Span,
}

impl SkySpec {
    /// The sky of a run.
    pub(crate) fn start(&self) -> Box<dyn Sky> {
        Box::new(Walker::new(self))
    }
}
