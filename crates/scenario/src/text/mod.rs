//! The text of a scenario: TOML as a tree in which every value knows its place, texts and settings laid over each other, and the files
//! that they name.

mod disk;
mod document;
mod error;
mod files;
mod layers;
mod overrides;
mod parse;
mod presets;
mod traces;
mod transfers;
mod tree;

pub(crate) use bentpipe_units::tree::{Node, Origin, Table, Value};
pub(crate) use disk::read_file;
pub(crate) use document::{Document, Layer};
pub use error::{ScenarioError, error_line};
pub(crate) use files::WHOLE_TEXT;
use files::at_file;
pub use files::{FileKind, ReadFile};
pub(crate) use layers::{PRESET, document, find_preset};
use parse::{parse, parse_value};
use presets::PRESETS;
pub use presets::presets;
pub(crate) use tree::{dotted, merge};
