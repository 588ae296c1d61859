//! Parts of every driver of a scenario's packets, be its clock virtual or the wall's: paths that move, times at which flows take other
//! routes, rows of a result, captures.

pub mod addresses;
pub mod pcap;
mod rows;
mod satellite_paths;
mod turns;

pub use rows::*;
pub use satellite_paths::{SatellitePaths, TURNS};
pub use turns::{Turn, turns};
