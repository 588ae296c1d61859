//! The virtual clock: events, applications, measurements.

pub mod bounds;
mod causes;
mod deliveries;
mod engine;
mod flow;
mod ids;
pub mod kernel;
mod limits;
mod observe;
mod packet;
mod progress;
mod recorder;
mod relay;
mod result;
mod run;
mod series;
mod udp;
mod watch;

pub use bentpipe_scenario as scenario;
pub use causes::LossCauses;
pub use progress::{Progress, RunError};
pub use result::*;
pub use run::{CaptureOptions, RunOptions, run};
pub use series::{FLOW_KINDS, LINK_KINDS, Points, SeriesOptions, Sink, Subjects};

/// The examples of `docs/how-to/own-scheme.md`.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/own-scheme.md")]
struct OwnScheme;
