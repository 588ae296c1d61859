//! Satellites by their element sets (TLE and OMM), moved by SGP4 with the constants of WGS 72, with which such sets are made (D. Vallado et al.,
//! Revisiting Spacetrack Report #3, AIAA 2006-6753).
//!
//! SGP4 gives places in axes of the true equator and the mean equinox of date (TEME). They are turned into the Earth's by the mean
//! sidereal time (IAU 1982), with UTC for UT1: the Earth is up to 0.42 km ahead or behind at the equator. The poles are where they
//! were.

use std::collections::HashSet;

use bentpipe_units::{Fault, fault};
use sgp4::chrono::{DateTime, NaiveDateTime};
use sgp4::{Constants, Elements, MinutesSinceEpoch};

use super::place::{EARTH_KM, Place};

/// Satellites that a file may have.
const MOST: usize = 20_000;
/// A satellite that is lower has come down.
const LEAST_ALTITUDE_KM: f64 = 80.0;
const SECONDS_A_DAY: f64 = 86_400.0;

/// The satellites of a file.
#[derive(Clone, Debug)]
pub struct ElementSets {
    satellites: Vec<Satellite>,
    /// When the run's time is zero, in UTC.
    epoch: NaiveDateTime,
}

#[derive(Clone, Debug)]
struct Satellite {
    name: String,
    constants: Constants,
    epoch: NaiveDateTime,
}

fn wrong<T>(at: usize, fault: Fault) -> Result<T, Fault> {
    Err(fault.at(at))
}

/// Reads a time such as `2026-11-23T00:00:00Z`.
pub fn read_time(text: &str) -> Option<NaiveDateTime> {
    DateTime::parse_from_rfc3339(text.trim()).ok().map(|time| time.naive_utc())
}

impl ElementSets {
    /// Reads element sets of two lines, or three with a name before them, or the JSON of orbit mean-elements messages (CCSDS
    /// 502.0-B-3) as CelesTrak has them. The run begins at `epoch`, or else when the newest of them was made.
    pub fn read(text: &str, epoch: Option<NaiveDateTime>) -> Result<ElementSets, Fault> {
        let sets = match text.trim_start().chars().next() {
            Some('[' | '{') => read_messages(text)?,
            _ => read_lines(text)?,
        };
        if sets.is_empty() {
            return wrong(0, fault!("element sets, two lines or a JSON object each", "none"));
        }
        if sets.len() > MOST {
            return wrong(0, Fault::value(format!("at most {MOST} satellites"), format!("{}", sets.len())));
        }
        let (mut numbers, mut names) = (HashSet::new(), HashSet::new());
        let mut satellites = Vec::with_capacity(sets.len());
        for (at, elements) in &sets {
            let number = elements.norad_id;
            let wrong = |what: String| wrong(*at, fault!("an orbit", "{what} (satellite {number})"));
            let constants = match Constants::from_elements_afspc_compatibility_mode(elements) {
                Ok(constants) => constants,
                Err(error) => return wrong(error.to_string()),
            };
            let low = match constants.propagate_afspc_compatibility_mode(MinutesSinceEpoch(0.0)) {
                Ok(prediction) => height_km(prediction.position) < LEAST_ALTITUDE_KM,
                Err(error) => return wrong(error.to_string()),
            };
            if low {
                return wrong(format!("one less than {LEAST_ALTITUDE_KM} km above the ground"));
            }
            if !numbers.insert(number) {
                return Err(fault!("each satellite once", "{number} twice").at(*at));
            }
            let plain = elements.object_name.as_deref().map(plain_name).unwrap_or_default();
            let mut name = if plain.is_empty() { format!("sat{number}") } else { plain };
            if !names.insert(name.clone()) {
                name = format!("{name}-{number}");
            }
            satellites.push(Satellite { name, constants, epoch: elements.datetime });
        }
        let newest = satellites.iter().map(|satellite| satellite.epoch).max().unwrap_or_default();
        Ok(ElementSets { satellites, epoch: epoch.unwrap_or(newest) })
    }

    pub(crate) fn len(&self) -> u32 {
        self.satellites.len() as u32
    }

    pub(crate) fn name(&self, satellite: u32) -> &str {
        &self.satellites[satellite as usize].name
    }

    /// How old the newest and the oldest set are so many seconds after the run's epoch, in days; below zero before they were made.
    pub(crate) fn ages_days(&self, seconds: f64) -> [f64; 2] {
        let age = |satellite: &Satellite| (since(self.epoch, satellite.epoch) + seconds) / SECONDS_A_DAY;
        let ages = self.satellites.iter().map(age);
        ages.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], age| [least.min(age), most.max(age)])
    }
}

/// A name without what has a meaning in the names of links.
fn plain_name(name: &str) -> String {
    let name = name.trim().trim_start_matches("0 ");
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    let plain: String = plain.collect();
    plain.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

fn height_km([x, y, z]: Place) -> f64 {
    (x * x + y * y + z * z).sqrt() - EARTH_KM
}

/// Seconds from one time to another.
fn since(later: NaiveDateTime, earlier: NaiveDateTime) -> f64 {
    let time = later - earlier;
    time.num_seconds() as f64 + f64::from(time.subsec_nanos()) / 1e9
}

/// Two lines each, with a name before them or without; each with the byte where it begins.
fn read_lines(text: &str) -> Result<Vec<(usize, Elements)>, Fault> {
    let mut sets = Vec::new();
    let mut name: Option<&str> = None;
    let mut first: Option<(usize, &str)> = None;
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let (here, line) = (at, whole.trim_end());
        at += whole.len();
        if !line.is_ascii() || (line.len() == 69 && !line.ends_with(|last: char| last.is_ascii_digit())) {
            let message =
                fault!("an element set of two lines in ASCII, each with a digit at its end", "another line");
            return wrong(here, message);
        }
        match (first.take(), line) {
            (Some((begin, one)), two) => {
                let name = name.take().map(str::to_owned);
                match Elements::from_tle(name, one.as_bytes(), two.as_bytes()) {
                    Ok(elements) => sets.push((begin, elements)),
                    Err(error) => {
                        let place = if error.to_string().contains("TLE line 2") { here } else { begin };
                        return wrong(
                            place,
                            Fault::value("an element set of two lines", format!("a {}", message(&error))),
                        );
                    }
                }
            }
            (None, "") => {}
            (None, line) if line.starts_with("1 ") => first = Some((here, line)),
            (None, line) if name.is_none() => name = Some(line),
            (None, _) => {
                return wrong(
                    here,
                    fault!("the first line of an element set, which begins with 1", "another").to_owned(),
                );
            }
        }
    }
    match (first, name) {
        (Some((begin, _)), _) => wrong(begin, fault!("a second line of the element set", "the end")),
        (None, Some(_)) if sets.is_empty() => {
            wrong(0, fault!("element sets as TLE or as JSON (OMM)", "another text"))
        }
        (None, Some(name)) => wrong(text.len() - 1, fault!("an element set behind {name:?}", "the end")),
        (None, None) => Ok(sets),
    }
}

fn message(error: &sgp4::TleError) -> String {
    let message = error.to_string();
    let message = message.trim_start_matches("TLE parse error: ").replace(" TLE line", " line");
    let mut letters = message.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn read_messages(text: &str) -> Result<Vec<(usize, Elements)>, Fault> {
    let one = text.trim_start().starts_with('{');
    let read = match one {
        true => serde_json::from_str(text).map(|elements| vec![elements]),
        false => serde_json::from_str::<Vec<Elements>>(text),
    };
    match read {
        Ok(sets) => Ok(sets.into_iter().map(|elements| (0, elements)).collect()),
        Err(error) => {
            let line = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
            wrong(line, fault!("orbit mean-elements messages (OMM) in JSON", "{error}"))
        }
    }
}

/// The satellites of a file in motion.
pub(crate) struct Motion {
    /// For each, minutes from its own epoch to the run's.
    orbits: Vec<(f64, Constants)>,
    /// The run's epoch, in Julian years of UTC since the noon of 1 January 2000.
    epoch_years: f64,
}

impl Motion {
    pub(crate) fn new(sets: &ElementSets) -> Motion {
        let orbit =
            |satellite: &Satellite| (since(sets.epoch, satellite.epoch) / 60.0, satellite.constants.clone());
        Motion {
            orbits: sets.satellites.iter().map(orbit).collect(),
            epoch_years: sgp4::julian_years_since_j2000(&sets.epoch),
        }
    }

    /// Writes where the satellites are so long after the epoch. One that has come down is nowhere: nobody sees it.
    pub(crate) fn place(&self, seconds: f64, positions: &mut [Place]) {
        let years = self.epoch_years + seconds / (365.25 * SECONDS_A_DAY);
        let turn = sgp4::iau_epoch_to_sidereal_time(years);
        let (sin, cos) = (libm::sin(turn), libm::cos(turn));
        for (position, (minutes, constants)) in positions.iter_mut().zip(&self.orbits) {
            let found =
                constants.propagate_afspc_compatibility_mode(MinutesSinceEpoch(minutes + seconds / 60.0));
            *position = match found.map(|prediction| prediction.position) {
                Ok([x, y, z]) if height_km([x, y, z]) >= LEAST_ALTITUDE_KM => {
                    [x * cos + y * sin, y * cos - x * sin, z]
                }
                _ => [f64::NAN; 3],
            };
        }
    }
}

#[cfg(test)]
mod tests;
