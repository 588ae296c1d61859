//! Traces of links: files that say how rate, delay and losses change, which become a schedule, and back.

mod changes;
mod delays;
mod deliveries;
mod lines;
mod rows;
mod written;

pub use delays::{beside, read_delays, unfilled};
pub use deliveries::read_deliveries;
pub use lines::Lines;
pub use rows::{Rules, read_rows};
pub use written::{as_deliveries, as_rows};
