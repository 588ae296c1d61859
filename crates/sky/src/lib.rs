//! Where satellites are: which path two stations have at a time, and how long each hop takes.

mod cities;
mod elements;
mod place;
mod view;
mod visibility;
mod walker;

use std::sync::Arc;

use bentpipe_units::{Span, Time};

pub use cities::{CITIES, city};
pub use elements::{ElementSets, read_time};
pub use place::Station;
pub use view::{Look, Pass, PathStretch, SkyView};
use visibility::Heavens;
pub use walker::Shell;

/// A node of a path: the stations come first, in the scenario's order, then the satellites.
pub type SkyNode = u32;

/// Satellites in motion over stations on the ground.
pub trait Sky {
    /// Moves to a time of the run.
    fn set(&mut self, at: Time);

    /// The path of least delay between two stations now: one, satellites, the other; none without one.
    fn path(&mut self, from: SkyNode, to: SkyNode) -> Option<Vec<SkyNode>>;

    /// The propagation delay between two neighbours of a path now; none when they do not see each other any more.
    fn hop(&self, from: SkyNode, to: SkyNode) -> Option<Span>;

    /// The name of a node.
    fn name(&self, node: SkyNode) -> String;
}

/// Which satellites there are, and how they move.
#[derive(Clone, Debug)]
pub enum Satellites {
    /// Circular orbits by Walker's rule.
    Shell(Shell),
    /// Those of a file.
    Elements(Arc<ElementSets>),
}

impl Satellites {
    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> u32 {
        match self {
            Satellites::Shell(shell) => shell.satellites,
            Satellites::Elements(sets) => sets.len(),
        }
    }

    /// The name of a satellite.
    pub fn name(&self, satellite: u32) -> String {
        match self {
            Satellites::Shell(_) => format!("sat{satellite}"),
            Satellites::Elements(sets) => sets.name(satellite).to_owned(),
        }
    }
}

/// Satellites and stations, as a scenario has them.
#[derive(Clone, Debug)]
pub struct SkySpec {
    /// The satellites.
    pub satellites: Satellites,
    /// The stations with their names, in the order of the scenario's nodes.
    pub stations: Vec<(String, Station)>,
    /// Those that paths between others may lead over.
    pub relays: Vec<SkyNode>,
    /// Whether satellites have links to their neighbours.
    pub lasers: bool,
    /// Beyond which latitude there are no lasers between planes, in degrees; 90 where there is no such.
    pub polar_deg: f64,
    /// The least elevation at which a station uses a satellite, in degrees.
    pub elevation_deg: f64,
    /// How long after the epoch the run begins.
    pub start: Span,
    /// How often delays are brought up to date.
    pub step: Span,
    /// How often paths are chosen anew though they still hold; never, without one.
    pub reconfigure: Option<Span>,
    /// How long nothing goes after a change of path.
    pub outage: Span,
}

impl SkySpec {
    /// The sky of a run.
    pub fn start(&self) -> Box<dyn Sky> {
        Box::new(Heavens::new(self))
    }
}
