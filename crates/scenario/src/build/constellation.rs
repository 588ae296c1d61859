//! Satellites that move, and the stations under them, as a scenario has them.

use std::sync::Arc;

use bentpipe_net::DirectionSetup;
use bentpipe_path::Schedule;
use bentpipe_path::gateway::GatewaySpec;
use bentpipe_units::{Fault, Span, conflict, fault, quoted};

use super::network;
use crate::keys::{
    ConstellationFile, DirectionFile, ElementsFile, HopFile, Reconfigure, StationFile, names, no_such,
};
use crate::model::ConstellationSpec;
use crate::text::{Document, Place, ScenarioError};
use bentpipe_sky::{CITIES, ElementSets, Satellites, Shell, SkyNode, SkySpec, Station};

/// A constellation by name: its first shell, whether it has lasers, the least elevation, and how often paths are chosen.
const PRESETS: [(&str, &str, bool, f64, Option<u64>); 4] = [
    ("starlink", "delta:1584/72/36:53:550", true, 25.0, Some(15)),
    ("kuiper", "delta:1156/34/17:51.9:630", true, 30.0, None),
    ("oneweb", "star:720/18/9:87.9:1200", false, 55.0, None),
    ("iridium", "star:66/6/3:86.4:780", true, 8.2, None),
];

/// Satellites move less than 8 m in it.
const LEAST_STEP: Span = Span::from_millis(1);

/// Stations that a scenario may have.
const MOST_STATIONS: usize = 100_000;

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
    HopFile { rate, queue, loss }: &HopFile,
    like: Option<&DirectionSetup>,
    gateway: Option<GatewaySpec>,
) -> Result<DirectionSetup, ScenarioError> {
    let (rate, queue, loss, delay) = (*rate, queue.clone(), loss.clone(), Some(Span::ZERO));
    let file = DirectionFile { rate, queue, loss, delay, gateway, ..DirectionFile::default() };
    network::direction(&file, like.map(|like| &like.link), Schedule::default(), 1).map_err(|fault| {
        // What guards is aboard, and not of one kind of links.
        let keys: &[&str] =
            if fault.path.first().is_some_and(|first| first == "gateway") { &[] } else { &[key] };
        at.error(keys, fault)
    })
}
