//! Satellites and stations as a scenario writes them.

use std::str::FromStr;

use bentpipe_path::gateway::GatewaySpec;
use bentpipe_path::{LossSpec, QueueSpec};
use bentpipe_units::bounded::AboveZero;
use bentpipe_units::{Fault, Rate, Span, quoted, written_as_text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{GatewayOrNone, table_or_file};
use crate::model::InFlight;

/// Satellites that move, over the stations between which flows go.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConstellationFile {
    /// A constellation by its name: "starlink", "kuiper", "oneweb" or "iridium". One of this, `shell` and `elements`.
    pub(crate) preset: Option<String>,
    /// A shell of circular orbits by Walker's rule: "delta:T/P/F:INCLINATION:ALTITUDE" or "star:...", in degrees and km.
    pub(crate) shell: Option<String>,
    /// A file of element sets, TLE or OMM in JSON, relative to this one.
    #[schemars(schema_with = "table_or_file::<ElementsFile>")]
    pub(crate) elements: Option<ElementsFile>,
    /// The time of the epoch, such as "2026-11-23T00:00:00Z"; default that of the newest element set. Beside `elements`.
    pub(crate) epoch: Option<String>,
    /// How long after the epoch the run begins; default "0 s".
    pub(crate) start: Span,
    /// How often delays follow the satellites, and paths are looked at; default "100 ms".
    #[serde(with = "AboveZero")]
    pub(crate) step: Option<Span>,
    /// When paths are chosen anew: "loss" (the default but for starlink), once a hop is out of sight, or so often, such as "15 s",
    /// and then too.
    pub(crate) reconfigure: Option<Reconfigure>,
    /// What a change of path costs.
    pub(crate) handover: PathChangeFile,
    /// Whether satellites have links to four neighbours; default true but for oneweb, and never beside `elements`.
    pub(crate) lasers: Option<bool>,
    /// The latitude, 0 deg to 90 deg, beyond which satellites have no lasers to other planes; default none. Beside a shell.
    pub(crate) polar: Option<Degrees>,
    /// The least elevation at which a station uses a satellite, 0 deg to 90 deg; default the preset's, or "25 deg".
    pub(crate) elevation: Option<Degrees>,
    /// The beam under a satellite in which it serves stations, as the angle from straight down to its edge, above 0 deg, up to
    /// 90 deg; in place of `elevation` or, where both are, beside it. Beside a shell.
    pub(crate) cone: Option<Degrees>,
    /// From a station up to a satellite.
    pub(crate) uplink: HopFile,
    /// From a satellite down to a station; what it leaves out is as `uplink` has it, but for loss.
    pub(crate) downlink: HopFile,
    /// From a satellite to another; what it leaves out is as `uplink` has it, but for loss.
    pub(crate) laser: HopFile,
    /// What lowers windows aboard each satellite, at all links that begin there; default nothing.
    #[serde(with = "GatewayOrNone")]
    pub(crate) gateway: Option<GatewaySpec>,
}

/// Element sets, from a file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ElementsFile {
    /// The file, relative to this one.
    pub(crate) file: Option<String>,
    /// What such a file says, in its place.
    pub(crate) text: Option<String>,
}

/// What a change of path costs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PathChangeFile {
    /// How long what hosts send is lost; default "0 s".
    pub(crate) outage: Span,
    /// What becomes of packets under way: "deliver" (the default) or "lose".
    pub(crate) in_flight: Option<InFlight>,
}

/// One kind of links of a constellation.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HopFile {
    /// The rate.
    pub(crate) rate: Option<Rate>,
    /// What may wait before the link, drop-tail, or a table with a `scheme`; default "unlimited".
    pub(crate) queue: Option<QueueSpec>,
    /// What the link loses; default nothing.
    pub(crate) loss: Option<LossSpec>,
}

/// A station on the ground.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StationFile {
    /// A city by its name, such as "London"; default, without coordinates, the city that the station is named after.
    pub(crate) city: Option<String>,
    /// Degrees north, from -90 to 90, such as "51.5 deg".
    pub(crate) latitude: Option<Degrees>,
    /// Degrees east, from -180 to 360.
    pub(crate) longitude: Option<Degrees>,
    /// Above the ellipsoid, from -1 km to 100 km; default "0 m".
    #[serde(default)]
    pub(crate) altitude: Metres,
    /// Whether paths between other stations may lead over it, down from a satellite and up to another; default false.
    #[serde(default)]
    pub(crate) relay: bool,
}

/// When paths are chosen anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reconfigure {
    Loss,
    Every(Span),
}

const RECONFIGURE: &str = "\"loss\", or a time above zero such as \"15 s\"";

impl FromStr for Reconfigure {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Reconfigure, Fault> {
        if text.trim() == "loss" {
            return Ok(Reconfigure::Loss);
        }
        let every = text.parse::<Span>().ok().filter(|every| *every > Span::ZERO);
        every.map(Reconfigure::Every).ok_or_else(|| Fault::value(RECONFIGURE, quoted(text)))
    }
}

/// An angle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Degrees(pub(crate) f64);

/// A height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Metres(pub(crate) f64);

const DEGREES: &str = "an angle such as \"51.5 deg\"";
const METRES: &str = "a height such as \"35 m\" or \"1.5 km\"";

fn number(text: &str) -> Option<f64> {
    let number = text.trim_end();
    let plain = number.ends_with(|c: char| c.is_ascii_digit() || c == '.');
    number.parse().ok().filter(|value: &f64| plain && value.is_finite())
}

impl FromStr for Degrees {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Degrees, Fault> {
        let found = text.trim().strip_suffix("deg").and_then(number);
        found.map(Degrees).ok_or_else(|| Fault::value(DEGREES, quoted(text)))
    }
}

impl FromStr for Metres {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Metres, Fault> {
        let trimmed = text.trim();
        let km = trimmed.strip_suffix("km").and_then(number).map(|km| 1000.0 * km);
        let found = km.or_else(|| trimmed.strip_suffix('m').and_then(number));
        found.map(Metres).ok_or_else(|| Fault::value(METRES, quoted(text)))
    }
}

written_as_text!(Reconfigure, "Reconfigure", RECONFIGURE, "^(loss|[0-9.eE+_-]+ *(ns|us|µs|ms|s|min|h))$");
written_as_text!(Degrees, "Degrees", DEGREES, "^[0-9.eE+-]+ *deg$");
written_as_text!(Metres, "Metres", METRES, "^[0-9.eE+-]+ *k?m$");
