//! The virtual clock: events, topology, applications, scenarios, measurements.

mod addresses;
mod apps;
pub mod bounds;
mod causes;
mod engine;
mod ids;
mod limits;
mod moving;
mod observe;
mod packet;
pub mod pcap;
mod progress;
mod recorder;
mod result;
mod run;
pub mod scenario;
mod series;
mod sky;
mod turns;
mod watch;

pub use apps::datagrams;
pub use causes::LossCauses;
pub use moving::{MovingPaths, TURNS};
pub use progress::{Progress, RunError};
pub use result::*;
pub use run::{CaptureOptions, RunOptions, run};
pub use series::{FLOW_KINDS, LINK_KINDS, Points, SeriesOptions, Sink, Subjects};
pub use sky::{Look, Pass, PathStretch, SkyView};
pub use turns::{Turn, turns};

/// The examples of `docs/first-control.md`.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/first-control.md")]
struct FirstControl;
