//! Satellites that move, and the stations under them, as a scenario has them.

use std::str::FromStr;
use std::sync::Arc;

use bentpipe_net::DirectionSetup;
use bentpipe_path::gateway::GatewaySpec;
use bentpipe_path::{LinkConfig, LossSpec, QueueSpec, Repair, Schedule};
use bentpipe_units::bounded::AboveZero;
use bentpipe_units::{Fault, Problem, Rate, Span, conflict, fault, quoted, written_as_text};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::error::{ScenarioError, no_such};
use super::model::InFlight;
use super::names;
use super::network::{check, too_fast};
use super::tree::{Document, Place};
use super::written::GatewayOrNone;
use bentpipe_sky::{CITIES, ElementSets, Satellites, Shell, SkyNode, SkySpec, Station};

/// A constellation by name: its first shell, whether it has lasers, the least elevation, and how often paths are chosen.
const PRESETS: [(&str, &str, bool, f64, Option<u64>); 4] = [
    ("starlink", "delta:1584/72/36:53:550", true, 25.0, Some(15)),
    ("kuiper", "delta:1156/34/17:51.9:630", true, 30.0, None),
    ("oneweb", "star:720/18/9:87.9:1200", false, 55.0, None),
    ("iridium", "star:66/6/3:86.4:780", true, 8.2, None),
];

/// Stations that a scenario may have.
const MOST_STATIONS: usize = 100_000;

/// Satellites, and what their links are like.
#[derive(Clone, Debug)]
pub struct ConstellationSpec {
    /// Where they are, and where the stations are.
    pub sky: SkySpec,
    /// What becomes of packets under way when a path changes.
    pub in_flight: InFlight,
    /// From a station to a satellite; its delay is of no meaning, nor that of the others.
    pub uplink: DirectionSetup,
    /// From a satellite to a station.
    pub downlink: DirectionSetup,
    /// From a satellite to another.
    pub laser: DirectionSetup,
}

impl ConstellationSpec {
    /// Both directions of a link that begins at node number `from`, a station or a satellite.
    pub fn directions(&self, from: u32) -> [&DirectionSetup; 2] {
        match (from as usize) < self.sky.stations.len() {
            true => [&self.uplink, &self.downlink],
            false => [&self.laser; 2],
        }
    }
}

/// Satellites that move, over the stations between which flows go.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConstellationFile {
    /// A constellation by its name: "starlink", "kuiper", "oneweb" or "iridium". One of this, `shell` and `elements`.
    pub(crate) preset: Option<String>,
    /// A shell of circular orbits by Walker's rule: "delta:T/P/F:INCLINATION:ALTITUDE" or "star:...", in degrees and km.
    pub(crate) shell: Option<String>,
    /// A file of element sets, TLE or OMM in JSON, relative to this one.
    #[schemars(schema_with = "ElementsFile::described")]
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

/// Satellites move less than 8 m in it.
const LEAST_STEP: Span = Span::from_millis(1);

/// Element sets, from a file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ElementsFile {
    /// The file, relative to this one.
    pub(crate) file: Option<String>,
    /// What such a file says, in its place.
    pub(crate) text: Option<String>,
}

impl ElementsFile {
    fn described(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<ElementsFile>();
        json_schema!({ "anyOf": [{ "type": "string" }, table] })
    }
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
pub(crate) struct Degrees(f64);

/// A height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Metres(f64);

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

fn within(found: f64, [least, most]: [f64; 2], unit: &str) -> Result<f64, Fault> {
    match (least..=most).contains(&found) {
        true => Ok(found),
        false => Err(fault!("from {least} {unit} to {most} {unit}", "{found} {unit}")),
    }
}

/// The stations with their names, and the numbers of those that paths may lead over.
type Ground = (Vec<(String, Station)>, Vec<SkyNode>);

/// The stations of `document`, in order of mention.
fn stations(document: &Document) -> Result<Ground, ScenarioError> {
    let entries = document.place(&["stations"]).entries();
    if !(2..=MOST_STATIONS).contains(&entries.len()) {
        let found = entries.len();
        let message = fault!("from 2 to {MOST_STATIONS} stations, such as [stations.london]", "{found}");
        return Err(document.place(&["stations"]).error(&[], message));
    }
    let mut stations = Vec::with_capacity(entries.len());
    let mut relays = Vec::new();
    for (number, (name, at, node)) in (0..).zip(&entries) {
        let file: StationFile = at.read_from(node)?;
        relays.extend(file.relay.then_some(number));
        let fail = |key: &str, fault: Fault| at.error(&[key], fault);
        names::check(name, "a station's name", None).map_err(|e| at.error(&[], e))?;
        let (latitude, longitude) = match (file.latitude, file.longitude, &file.city) {
            (Some(latitude), Some(longitude), None) => (latitude.0, longitude.0),
            (None, None, city) => {
                let names = CITIES.map(|(name, ..)| name);
                let key: &[&str] = if city.is_some() { &["city"] } else { &[] };
                let city = city.as_deref().unwrap_or(name);
                let expected = "a latitude and a longitude, or a city";
                bentpipe_sky::city(city).ok_or_else(|| at.error(key, no_such(expected, city, &names)))?
            }
            (Some(_), Some(_), Some(_)) => {
                return Err(fail("city", conflict!("cannot be combined with latitude and longitude")));
            }
            (None, _, _) => {
                return Err(fail("latitude", conflict!("longitude needs a latitude")));
            }
            (_, None, _) => {
                return Err(fail("longitude", conflict!("latitude needs a longitude")));
            }
        };
        let latitude = within(latitude, [-90.0, 90.0], "deg").map_err(|e| fail("latitude", e))?;
        let longitude = within(longitude, [-180.0, 360.0], "deg").map_err(|e| fail("longitude", e))?;
        let altitude = within(file.altitude.0, [-1000.0, 100_000.0], "m").map_err(|e| fail("altitude", e))?;
        stations.push(((*name).to_owned(), Station::new(latitude, longitude, altitude / 1000.0)));
    }
    Ok((stations, relays))
}

/// The constellation of `document`, if it has one.
pub(super) fn constellation(document: &Document) -> Result<Option<Arc<ConstellationSpec>>, ScenarioError> {
    let at = document.place(&["constellation"]);
    let beside = |key: &'static str| !document.place(&[key]).entries().is_empty();
    if at.node().is_none() {
        if beside("stations") {
            let message = conflict!("[stations] needs [constellation]");
            return Err(document.place(&["stations"]).error(&[], message));
        }
        return Ok(None);
    }
    for key in ["links", "handovers"] {
        if beside(key) {
            let message = conflict!("[{key}] cannot be combined with [constellation]");
            return Err(document.place(&[key]).error(&[], message));
        }
    }
    if document.place(&["routing"]).node().is_some() {
        let message = conflict!("cannot be combined with [constellation], which chooses its own paths");
        return Err(document.place(&["routing"]).error(&[], message));
    }
    let file: ConstellationFile = at.read()?;
    let fail = |keys: &[&str], fault: Fault| at.error(keys, fault);
    let preset = file.preset.as_deref().map(|name| {
        let names = PRESETS.map(|(name, ..)| name);
        let found = PRESETS.iter().find(|(preset, ..)| *preset == name);
        found.ok_or_else(|| fail(&["preset"], no_such("a constellation", name, &names)))
    });
    let preset = preset.transpose()?;
    let text = match (preset, &file.shell, &file.elements) {
        (Some((_, shell, ..)), None, None) => Some(*shell),
        (None, Some(shell), None) => Some(shell.as_str()),
        (None, None, Some(_)) => None,
        _ => {
            let message = conflict!("[constellation] needs one of preset, shell and elements, and no more");
            return Err(fail(&["preset"], message));
        }
    };
    let satellites = match text {
        Some(text) if file.epoch.is_none() => {
            Satellites::Shell(shell(&at, text, preset.map(|(name, ..)| *name))?)
        }
        Some(_) => return Err(fail(&["epoch"], conflict!("needs elements"))),
        None => Satellites::Elements(Arc::new(elements(&at, &file)?)),
    };
    let of_shell = matches!(satellites, Satellites::Shell(_));
    if !of_shell && file.lasers == Some(true) {
        let message =
            conflict!("cannot be combined with elements, which do not say which satellites are neighbours");
        return Err(fail(&["lasers"], message));
    }
    let (_, _, lasers, least, every) = preset.copied().unwrap_or(("", "", of_shell, 25.0, None));
    let at_edge = file.cone.map(|cone| edge_of_cone(&at, cone.0, &satellites)).transpose()?;
    let elevation = file.elevation.map(|angle| angle.0);
    let elevation = elevation.or(at_edge.is_some().then_some(0.0)).unwrap_or(least);
    let elevation_deg = within(elevation, [0.0, 90.0], "deg").map_err(|e| fail(&["elevation"], e))?;
    let lasers = file.lasers.unwrap_or(lasers);
    if file.polar.is_some() && !lasers {
        return Err(fail(&["polar"], conflict!("needs lasers")));
    }
    let polar = file.polar.map_or(90.0, |angle| angle.0);
    let (stations, relays) = stations(document)?;
    let reconfigure = match file.reconfigure {
        None => every.map(|seconds| Span::from_millis(1000 * seconds)),
        Some(Reconfigure::Loss) => None,
        Some(Reconfigure::Every(span)) => Some(span),
    };
    if let Some(agent) = file.gateway.as_ref().filter(|spec| !spec.needs_limit()) {
        let expected =
            "a scheme that lowers windows or tells senders, which is all that satellites have aboard";
        return Err(fail(&["gateway"], Fault::value(expected, quoted(agent.name()))));
    }
    let step = file.step.unwrap_or(Span::from_millis(100));
    if step < LEAST_STEP {
        return Err(fail(&["step"], fault!("a time of at least {LEAST_STEP}", "{step}")));
    }
    let sky = SkySpec {
        satellites,
        stations,
        relays,
        lasers,
        polar_deg: within(polar, [0.0, 90.0], "deg").map_err(|e| fail(&["polar"], e))?,
        elevation_deg: elevation_deg.max(at_edge.unwrap_or(0.0)),
        start: file.start,
        step,
        reconfigure,
        outage: file.handover.outage,
    };
    let uplink = direction(&at, "uplink", &file.uplink, None, None)?;
    Ok(Some(Arc::new(ConstellationSpec {
        sky,
        in_flight: file.handover.in_flight.unwrap_or_default(),
        downlink: direction(&at, "downlink", &file.downlink, Some(&uplink), file.gateway.clone())?,
        laser: direction(&at, "laser", &file.laser, Some(&uplink), file.gateway.clone())?,
        uplink,
    })))
}

/// The elevation at which stations on a sphere see a satellite from the edge of its beam, in degrees.
fn edge_of_cone(at: &Place<'_>, cone_deg: f64, satellites: &Satellites) -> Result<f64, ScenarioError> {
    let Satellites::Shell(shell) = satellites else {
        let message = conflict!("cannot be combined with elements, whose satellites are not equally high");
        return Err(at.error(&["cone"], message));
    };
    if cone_deg <= 0.0 {
        return Err(at.error(&["cone"], fault!("above 0 deg", "{cone_deg} deg")));
    }
    let cone_deg = within(cone_deg, [0.0, 90.0], "deg").map_err(|message| at.error(&["cone"], message))?;
    Ok(shell.elevation_at_edge_deg(cone_deg))
}

/// The shell that `text` describes.
fn shell(at: &Place<'_>, text: &str, preset: Option<&str>) -> Result<Shell, ScenarioError> {
    let mut shell = Shell::parse(text).ok_or_else(|| {
        let expected = "a shell of up to 20,000 satellites as delta:T/P/F:INCLINATION:ALTITUDE, or star:..., such as \"delta:1584/72/36:53:550\"";
        at.error(&["shell"], Fault::value(expected, quoted(text)))
    })?;
    if preset == Some("iridium") {
        // The planes that turn the same way are further apart than those at the seam (Fossa et al., 1998).
        shell.spacing_deg = 31.6;
    }
    Ok(shell)
}

/// The satellites of a file of element sets.
fn elements(at: &Place<'_>, file: &ConstellationFile) -> Result<ElementSets, ScenarioError> {
    let Some(ElementsFile { file: None, text: Some(text) }) = &file.elements else {
        let message = conflict!("needs a file, or text in its place");
        return Err(at.error(&["elements"], message));
    };
    let epoch = file.epoch.as_deref().map(|written| {
        bentpipe_sky::read_time(written).ok_or_else(|| {
            let message = Fault::value("a time such as \"2026-11-23T00:00:00Z\"", quoted(written));
            at.error(&["epoch"], message)
        })
    });
    let read = ElementSets::read(text, epoch.transpose()?);
    read.map_err(|fault| at.below(&["elements"]).error_within(&["text"], fault.at.unwrap_or(0), fault))
}

/// One kind of links; what it leaves out is as `like` has it.
fn direction(
    at: &Place<'_>,
    key: &'static str,
    file: &HopFile,
    like: Option<&DirectionSetup>,
    gateway: Option<GatewaySpec>,
) -> Result<DirectionSetup, ScenarioError> {
    let Some(rate) = file.rate.or(like.map(|like| like.link.rate)) else {
        return Err(at.error(&[key, "rate"], Problem::Missing));
    };
    if let Some(message) = too_fast(rate) {
        return Err(at.error(&[key, "rate"], message));
    }
    let link = LinkConfig {
        rate,
        delay: Span::ZERO,
        efficiency: 1.0,
        queue: file.queue.or(like.map(|like| like.link.queue)).unwrap_or_default(),
        loss: file.loss.clone().unwrap_or_default(),
        repair: Repair::None,
        schedule: Schedule::default(),
    };
    let direction = DirectionSetup { link, gateway };
    check(&direction, 1).map_err(|fault| {
        // What guards is aboard, and not of one kind of links.
        let keys: &[&str] =
            if fault.path.first().is_some_and(|first| first == "gateway") { &[] } else { &[key] };
        at.error(keys, fault)
    })?;
    Ok(direction)
}
