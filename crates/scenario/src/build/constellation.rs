//! Satellites that move, and the stations under them, as a scenario has them.

use std::sync::Arc;

use bentpipe_net::DirectionSetup;
use bentpipe_path::Schedule;
use bentpipe_path::gateway::GatewaySpec;
use bentpipe_units::{Fault, Span, Under, conflict, ensure, fault, no_such, quoted};

use super::network;
use crate::keys::{ConstellationFile, DirectionFile, ElementsFile, HopFile, Reconfigure, StationFile, names};
use crate::model::ConstellationSpec;
use crate::read::read;
use crate::text::Node;
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

/// The stations of the scenario in `root`, in order of mention.
fn stations(root: &Node) -> Result<Ground, Fault> {
    let entries = root.entries("stations");
    let found = entries.len();
    ensure!(
        (2..=MOST_STATIONS).contains(&found),
        fault!("from 2 to {MOST_STATIONS} stations, such as [stations.london]", "{found}")
    );
    let mut stations = Vec::with_capacity(found);
    let mut relays = Vec::new();
    for (number, (name, node)) in (0..).zip(entries) {
        let file: StationFile = read(node).under(name)?;
        relays.extend(file.relay.then_some(number));
        stations.push((name.to_owned(), station(name, &file).under(name)?));
    }
    Ok((stations, relays))
}

fn station(name: &str, file: &StationFile) -> Result<Station, Fault> {
    names::check(name, "a station's name", None)?;
    let (latitude, longitude) = match (file.latitude, file.longitude, &file.city) {
        (Some(latitude), Some(longitude), None) => (latitude.0, longitude.0),
        (None, None, city) => {
            let names = CITIES.map(|(name, ..)| name);
            let sought = city.as_deref().unwrap_or(name);
            let fault = || no_such("a latitude and a longitude, or a city", sought, &names);
            let found = bentpipe_sky::city(sought).ok_or_else(fault);
            if city.is_some() { found.under("city")? } else { found? }
        }
        (Some(_), Some(_), Some(_)) => {
            return Err(conflict!("cannot be combined with latitude and longitude").under("city"));
        }
        (None, _, _) => return Err(conflict!("longitude needs a latitude").under("latitude")),
        (_, None, _) => return Err(conflict!("latitude needs a longitude").under("longitude")),
    };
    let latitude = within(latitude, [-90.0, 90.0], "deg").under("latitude")?;
    let longitude = within(longitude, [-180.0, 360.0], "deg").under("longitude")?;
    let altitude = within(file.altitude.0, [-1000.0, 100_000.0], "m").under("altitude")?;
    Ok(Station::new(latitude, longitude, altitude / 1000.0))
}

/// The constellation of the scenario in `root`, if it has one.
pub(super) fn constellation(root: &Node) -> Result<Option<Arc<ConstellationSpec>>, Fault> {
    let beside = |key: &str| !root.entries(key).is_empty();
    let Some(node) = root.get("constellation") else {
        ensure!(!beside("stations"), conflict!("[stations] needs [constellation]").under("stations"));
        return Ok(None);
    };
    for key in ["links", "handovers"] {
        ensure!(!beside(key), conflict!("[{key}] cannot be combined with [constellation]").under(key));
    }
    if root.get("routing").is_some() {
        let fault = conflict!("cannot be combined with [constellation], which chooses its own paths");
        return Err(fault.under("routing"));
    }
    let file: ConstellationFile = read(node).under("constellation")?;
    let sky = sky(&file).under("constellation")?;
    let (stations, relays) = stations(root).under("stations")?;
    let spec = links(&file, SkySpec { stations, relays, ..sky }).under("constellation")?;
    Ok(Some(Arc::new(spec)))
}

/// The satellites of `file`, and how paths lead over them; without stations.
fn sky(file: &ConstellationFile) -> Result<SkySpec, Fault> {
    let preset = file.preset.as_deref().map(|name| {
        let names = PRESETS.map(|(name, ..)| name);
        let found = PRESETS.iter().find(|(preset, ..)| *preset == name);
        found.ok_or_else(|| no_such("a constellation", name, &names).under("preset"))
    });
    let preset = preset.transpose()?;
    let text = match (preset, &file.shell, &file.elements) {
        (Some((_, shell, ..)), None, None) => Some(*shell),
        (None, Some(shell), None) => Some(shell.as_str()),
        (None, None, Some(_)) => None,
        _ => {
            let fault = conflict!("[constellation] needs one of preset, shell and elements, and no more");
            return Err(fault.under("preset"));
        }
    };
    let satellites = match text {
        Some(text) => {
            ensure!(file.epoch.is_none(), conflict!("needs elements").under("epoch"));
            Satellites::Shell(shell(text, preset.map(|(name, ..)| *name)).under("shell")?)
        }
        None => Satellites::Elements(Arc::new(elements(file)?)),
    };
    let of_shell = matches!(satellites, Satellites::Shell(_));
    ensure!(
        of_shell || file.lasers != Some(true),
        conflict!("cannot be combined with elements, which do not say which satellites are neighbours")
            .under("lasers")
    );
    let (_, _, lasers, least, every) = preset.copied().unwrap_or(("", "", of_shell, 25.0, None));
    let at_edge = file.cone.map(|cone| edge_of_cone(cone.0, &satellites)).transpose().under("cone")?;
    let elevation = file.elevation.map(|angle| angle.0);
    let elevation = elevation.or(at_edge.is_some().then_some(0.0)).unwrap_or(least);
    let elevation_deg = within(elevation, [0.0, 90.0], "deg").under("elevation")?;
    let lasers = file.lasers.unwrap_or(lasers);
    ensure!(file.polar.is_none() || lasers, conflict!("needs lasers").under("polar"));
    let polar = file.polar.map_or(90.0, |angle| angle.0);
    let reconfigure = match file.reconfigure {
        None => every.map(|seconds| Span::from_millis(1000 * seconds)),
        Some(Reconfigure::Loss) => None,
        Some(Reconfigure::Every(span)) => Some(span),
    };
    let step = file.step.unwrap_or(Span::from_millis(100));
    ensure!(step >= LEAST_STEP, fault!("a time of at least {LEAST_STEP}", "{step}").under("step"));
    Ok(SkySpec {
        satellites,
        stations: Vec::new(),
        relays: Vec::new(),
        lasers,
        polar_deg: within(polar, [0.0, 90.0], "deg").under("polar")?,
        elevation_deg: elevation_deg.max(at_edge.unwrap_or(0.0)),
        start: file.start,
        step,
        reconfigure,
        outage: file.handover.outage,
    })
}

/// What the links of this sky are like.
fn links(file: &ConstellationFile, sky: SkySpec) -> Result<ConstellationSpec, Fault> {
    if let Some(agent) = file.gateway.as_ref().filter(|spec| !spec.needs_limit()) {
        let expected =
            "a scheme that lowers windows or tells senders, which is all that satellites have aboard";
        return Err(Fault::value(expected, quoted(agent.name())).under("gateway"));
    }
    let uplink = direction("uplink", &file.uplink, None, None)?;
    Ok(ConstellationSpec {
        sky,
        in_flight: file.handover.in_flight.unwrap_or_default(),
        downlink: direction("downlink", &file.downlink, Some(&uplink), file.gateway.clone())?,
        laser: direction("laser", &file.laser, Some(&uplink), file.gateway.clone())?,
        uplink,
    })
}

/// The elevation at which stations on a sphere see a satellite from the edge of its beam, in degrees.
fn edge_of_cone(cone_deg: f64, satellites: &Satellites) -> Result<f64, Fault> {
    let Satellites::Shell(shell) = satellites else {
        return Err(conflict!("cannot be combined with elements, whose satellites are not equally high"));
    };
    ensure!(cone_deg > 0.0, fault!("above 0 deg", "{cone_deg} deg"));
    Ok(shell.elevation_at_edge_deg(within(cone_deg, [0.0, 90.0], "deg")?))
}

/// The shell that `text` describes.
fn shell(text: &str, preset: Option<&str>) -> Result<Shell, Fault> {
    let mut shell = Shell::parse(text).ok_or_else(|| {
        let expected = "a shell of up to 20,000 satellites as delta:T/P/F:INCLINATION:ALTITUDE, or star:..., such as \"delta:1584/72/36:53:550\"";
        Fault::value(expected, quoted(text))
    })?;
    if preset == Some("iridium") {
        // The planes that turn the same way are further apart than those at the seam (Fossa et al., 1998).
        shell.spacing_deg = 31.6;
    }
    Ok(shell)
}

/// The satellites of a file of element sets.
fn elements(file: &ConstellationFile) -> Result<ElementSets, Fault> {
    let Some(ElementsFile { file: None, text: Some(text) }) = &file.elements else {
        return Err(conflict!("needs a file, or text in its place").under("elements"));
    };
    let time = |written: &str| {
        let wrong = || Fault::value("a time such as \"2026-11-23T00:00:00Z\"", quoted(written));
        bentpipe_sky::read_time(written).ok_or_else(wrong)
    };
    let epoch = file.epoch.as_deref().map(time).transpose().under("epoch")?;
    ElementSets::read(text, epoch).under("text").under("elements")
}

/// One kind of links; what it leaves out is as `like` has it.
fn direction(
    key: &str,
    HopFile { rate, queue, loss }: &HopFile,
    like: Option<&DirectionSetup>,
    gateway: Option<GatewaySpec>,
) -> Result<DirectionSetup, Fault> {
    let (rate, queue, loss, delay) = (*rate, queue.clone(), loss.clone(), Some(Span::ZERO));
    let file = DirectionFile { rate, queue, loss, delay, gateway, ..DirectionFile::default() };
    network::direction(&file, like.map(|like| &like.link), Schedule::default(), 1).map_err(|fault| {
        // What guards is aboard, and not of one kind of links.
        let aboard = fault.path.first().is_some_and(|first| first == "gateway");
        if aboard { fault } else { fault.under(key) }
    })
}
