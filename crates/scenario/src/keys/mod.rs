//! What a scenario may say: its tables and their keys, as serde reads them and a schema describes them.

pub(crate) mod aliases;
mod constellation;
mod file;
pub(crate) mod names;
pub(crate) mod trace;
mod written;

pub(crate) use aliases::{named_here, no_such_scheme};
pub(crate) use bentpipe_units::keys_of;
pub(crate) use constellation::{ConstellationFile, ElementsFile, HopFile, Reconfigure, StationFile};
pub(crate) use file::{ABOUT_TCP, DirectionFile, FlowFile, HandoverFile, LinkFile, ScenarioFile};
pub(crate) use names::{Count, MAX_COPIES};
pub(crate) use trace::{Between, Format, TraceFile};
pub(crate) use written::{GatewayOrNone, table_or_file};
