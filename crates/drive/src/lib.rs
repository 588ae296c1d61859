//! Parts of every driver of a scenario's packets, be its clock virtual or the wall's: paths that move, times at which flows take other
//! routes, rows of a result, captures.

pub mod addresses;
mod moving;
pub mod pcap;
mod rows;
mod turns;

pub use moving::{MovingPaths, TURNS};
pub use rows::*;
pub use turns::{Turn, turns};
