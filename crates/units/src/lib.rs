//! Time, rate and size as types, and the way that people write them (`"250 ms"`, `"2.048 Mbit/s"`, `"64 KiB"`); [`numbers!`] declares
//! those of a result.
//!
//! Time is integer nanoseconds, so a run gives the same bytes on every machine.

pub mod bounded;
mod bounds;
mod fault;
mod keys;
mod no_such;
mod numbers;
mod quantity;
mod reader;
pub mod registry;
mod tagged;
mod text;
mod time;
pub mod tree;

pub use bounds::{LATEST, MAX_RATE};
pub use fault::{Fault, Problem, Under, Within, quoted};
pub use keys::keys_of;
pub use no_such::{closest, listed, no_such, no_such_key};
pub use numbers::{Numbers, schema_of};
pub use quantity::{Bytes, Rate};
pub use reader::KNOWN_NAMES;
pub use tagged::{Variant, read_tagged};
pub use text::{Written, read_text};
pub use time::{Span, Time};
