//! What whoever drives the packets of a scenario needs, by a virtual clock or by the wall clock: paths that move, when flows take other
//! routes, rows of a result, captures.

mod moving;
pub mod pcap;
mod rows;
mod turns;

pub use moving::{MovingPaths, TURNS};
pub use rows::*;
pub use turns::{Turn, turns};
