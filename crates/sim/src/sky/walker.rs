//! A shell of circular orbits by Walker's rule, stations on the ellipsoid, and lasers to four neighbours.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::f64::consts::{PI, TAU};

use bentpipe_units::{Span, Time};

use super::{Sky, SkyNode, SkySpec};

/// The Earth's equatorial radius and flattening (WGS 84).
pub(super) const EARTH_KM: f64 = 6378.137;
pub(super) const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// The Earth's gravitational parameter (WGS 84).
const MU_KM3_PER_S2: f64 = 398_600.441_8;
/// Its rotation (WGS 84).
const ROTATION_RAD_PER_S: f64 = 7.292_115e-5;
/// The speed of light in vacuum.
const LIGHT_KM_PER_S: f64 = bentpipe_path::SPEED_OF_LIGHT_M_PER_S / 1000.0;
/// A laser passes no lower over the ground, because of the air.
const LEAST_LASER_KM: f64 = 80.0;
/// What rounding to nanoseconds may take off a path beside the straight line.
const ROUNDING_NS: u64 = 128;

/// Satellites in circular orbits of one height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shell {
    /// In all.
    pub(crate) satellites: u32,
    /// Planes, of equally many.
    pub(crate) planes: u32,
    /// A satellite is `360 F / T` degrees ahead of its number in the plane before.
    pub(crate) phasing: u32,
    pub(crate) inclination_deg: f64,
    pub(crate) altitude_km: f64,
    /// Degrees from one ascending node to the next.
    pub(crate) spacing_deg: f64,
    /// Whether the last plane's neighbour is the first, as in a delta; in a star a seam lies between.
    pub(crate) closed: bool,
}

impl Shell {
    /// Reads `delta:T/P/F:INCLINATION:ALTITUDE` or `star:…`, in degrees and km.
    pub(crate) fn parse(text: &str) -> Option<Shell> {
        let [kind, numbers, inclination, altitude] = text.split(':').collect::<Vec<_>>().try_into().ok()?;
        let numbers: Vec<u32> = numbers.split('/').map(str::parse).collect::<Result<_, _>>().ok()?;
        let [satellites, planes, phasing] = numbers.try_into().ok()?;
        let closed = match kind {
            "delta" => true,
            "star" => false,
            _ => return None,
        };
        let shell = Shell {
            satellites,
            planes,
            phasing,
            inclination_deg: inclination.parse().ok()?,
            altitude_km: altitude.parse().ok()?,
            spacing_deg: if closed { 360.0 } else { 180.0 } / f64::from(planes.max(1)),
            closed,
        };
        let possible = (1..=20_000).contains(&satellites)
            && (1..=satellites).contains(&planes)
            && satellites.is_multiple_of(planes)
            && phasing < planes
            && (0.0..=180.0).contains(&shell.inclination_deg)
            && (100.0..=100_000.0).contains(&shell.altitude_km);
        possible.then_some(shell)
    }

    fn per_plane(&self) -> u32 {
        self.satellites / self.planes
    }

    /// The satellites that one has lasers to: before and behind it in its plane, and those of its number in the planes beside.
    fn neighbours(&self, satellite: u32) -> impl Iterator<Item = u32> {
        let (n, planes) = (self.per_plane(), self.planes);
        let (plane, place) = (satellite / n, satellite % n);
        // All around, the phasing adds up to so many places.
        let shift = self.phasing % n;
        let ahead = match plane + 1 < planes {
            true => Some((plane + 1, place)),
            false => (self.closed && planes > 2).then_some((0, (place + shift) % n)),
        };
        let behind = match plane > 0 {
            true => Some((plane - 1, place)),
            false => (self.closed && planes > 2).then_some((planes - 1, (place + n - shift) % n)),
        };
        let along = [(plane, (place + 1) % n), (plane, (place + n - 1) % n)];
        let all = along.into_iter().chain(ahead).chain(behind).map(move |(plane, place)| plane * n + place);
        all.filter(move |other| *other != satellite)
    }
}

fn radians(degrees: f64) -> f64 {
    degrees * PI / 180.0
}

/// A place, in km in axes that turn with the Earth.
pub(super) type Place = [f64; 3];

fn less([a, b, c]: Place, [x, y, z]: Place) -> Place {
    [a - x, b - y, c - z]
}

fn dot([a, b, c]: Place, [x, y, z]: Place) -> f64 {
    a * x + b * y + c * z
}

/// A station on the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Station {
    place: Place,
    up: Place,
}

impl Station {
    /// At a geodetic latitude and longitude, so many km above the ellipsoid.
    pub(crate) fn new(latitude_deg: f64, longitude_deg: f64, altitude_km: f64) -> Station {
        let (latitude, longitude) = (radians(latitude_deg), radians(longitude_deg));
        let (sin, cos) = (libm::sin(latitude), libm::cos(latitude));
        let up = [cos * libm::cos(longitude), cos * libm::sin(longitude), sin];
        let eccentricity2 = FLATTENING * (2.0 - FLATTENING);
        let normal = EARTH_KM / (1.0 - eccentricity2 * sin * sin).sqrt();
        let across = normal + altitude_km;
        let place = [across * up[0], across * up[1], (normal * (1.0 - eccentricity2) + altitude_km) * sin];
        Station { place, up }
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }
}

/// The satellites of a shell in motion. All turn at one rate, so that each is at `a cos u + b sin u` with one u.
pub(super) struct Walker {
    spec: SkySpec,
    orbits: Vec<(Place, Place)>,
    positions: Vec<Place>,
    rate_rad_per_s: f64,
    least_sin: f64,
}

impl Walker {
    pub(super) fn new(spec: &SkySpec) -> Walker {
        let shell = &spec.shell;
        let radius = EARTH_KM + shell.altitude_km;
        let inclination = radians(shell.inclination_deg);
        let (sin_i, cos_i) = (libm::sin(inclination), libm::cos(inclination));
        let n = shell.per_plane();
        let orbits = (0..shell.satellites).map(|satellite| {
            let (plane, place) = (f64::from(satellite / n), f64::from(satellite % n));
            let node = radians(plane * shell.spacing_deg);
            let ahead = plane * f64::from(shell.phasing) / f64::from(shell.satellites);
            let phase = TAU * (place / f64::from(n) + ahead);
            let (sin_node, cos_node) = (libm::sin(node), libm::cos(node));
            let (sin, cos) = (libm::sin(phase) * radius, libm::cos(phase) * radius);
            let (p, q) = ([cos_node, sin_node, 0.0], [-sin_node * cos_i, cos_node * cos_i, sin_i]);
            let turned = |c: f64, s: f64| [0, 1, 2].map(|axis| p[axis] * c + q[axis] * s);
            (turned(cos, sin), turned(-sin, cos))
        });
        Walker {
            orbits: orbits.collect(),
            positions: vec![[0.0; 3]; shell.satellites as usize],
            rate_rad_per_s: (MU_KM3_PER_S2 / (radius * radius * radius)).sqrt(),
            least_sin: libm::sin(radians(spec.elevation_deg)),
            spec: spec.clone(),
        }
    }

    /// Where the satellites are, in km in axes that turn with the Earth.
    pub(super) fn positions(&self) -> &[Place] {
        &self.positions
    }

    fn satellite(&self, node: SkyNode) -> Option<(u32, Place)> {
        let number = node.checked_sub(self.spec.stations.len() as u32)?;
        Some((number, self.positions[number as usize]))
    }

    /// The delay from a station to what is at `there`, if it stands high enough.
    fn access(&self, station: SkyNode, there: Place) -> Option<u64> {
        let station = &self.spec.stations[station as usize].1;
        let way = less(there, station.place);
        let range = dot(way, way).sqrt();
        (dot(way, station.up) >= self.least_sin * range).then(|| nanos(range))
    }
}

fn nanos(km: f64) -> u64 {
    Span::from_secs(km / LIGHT_KM_PER_S).as_nanos()
}

/// The delay of a laser, if the Earth does not stand between.
fn laser(one: Place, other: Place) -> Option<u64> {
    let way = less(other, one);
    let length2 = dot(way, way);
    let share = (-dot(one, way) / length2).clamp(0.0, 1.0);
    let nearest = [0, 1, 2].map(|axis| one[axis] + way[axis] * share);
    let least = EARTH_KM + LEAST_LASER_KM;
    (dot(nearest, nearest) >= least * least).then(|| nanos(length2.sqrt()))
}

impl Sky for Walker {
    fn set(&mut self, at: Time) {
        let seconds = at.as_secs() + self.spec.start.as_secs();
        let angle = self.rate_rad_per_s * seconds;
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        let turn = -ROTATION_RAD_PER_S * seconds;
        let (sin_turn, cos_turn) = (libm::sin(turn), libm::cos(turn));
        for (position, (a, b)) in self.positions.iter_mut().zip(&self.orbits) {
            let [x, y, z] = [0, 1, 2].map(|axis| a[axis] * cos + b[axis] * sin);
            *position = [x * cos_turn - y * sin_turn, x * sin_turn + y * cos_turn, z];
        }
    }

    /// Searches from the first station, those first from which the straight line to the other is shortest (A*).
    fn path(&mut self, from: SkyNode, to: SkyNode) -> Option<Vec<SkyNode>> {
        let stations = self.spec.stations.len() as u32;
        let goal = self.spec.stations[to as usize].1.place;
        let ahead = |place: Place| {
            let way = less(goal, place);
            nanos(dot(way, way).sqrt()).saturating_sub(ROUNDING_NS)
        };
        // For each node, its delay and the node before it.
        let mut known: HashMap<SkyNode, (u64, SkyNode)> = HashMap::new();
        let mut queue = BinaryHeap::new();
        for (number, place) in (0..).zip(&self.positions) {
            if let Some(delay) = self.access(from, *place) {
                known.insert(stations + number, (delay, from));
                queue.push(Reverse((delay + ahead(*place), delay, stations + number)));
            }
        }
        while let Some(Reverse((_, delay, node))) = queue.pop() {
            if known[&node].0 != delay {
                continue;
            }
            let Some((number, place)) = self.satellite(node) else { break };
            let down = self.access(to, place).map(|hop| (to, hop, 0));
            let beside =
                self.spec.shell.neighbours(number).filter(|_| self.spec.lasers).filter_map(|other| {
                    let there = self.positions[other as usize];
                    Some((stations + other, laser(place, there)?, ahead(there)))
                });
            for (next, hop, ahead) in down.into_iter().chain(beside) {
                let delay = delay + hop;
                if known.get(&next).is_none_or(|known| delay < known.0) {
                    known.insert(next, (delay, node));
                    queue.push(Reverse((delay + ahead, delay, next)));
                }
            }
        }
        let mut path = vec![to];
        let mut node = known.get(&to)?.1;
        while node != from {
            path.push(node);
            node = known[&node].1;
        }
        path.push(from);
        path.reverse();
        Some(path)
    }

    fn hop(&self, from: SkyNode, to: SkyNode) -> Option<Span> {
        let nanos = match (self.satellite(from), self.satellite(to)) {
            (Some((_, one)), Some((_, other))) => laser(one, other),
            (None, Some((_, place))) => self.access(from, place),
            (Some((_, place)), None) => self.access(to, place),
            (None, None) => None,
        };
        nanos.map(Span::from_nanos)
    }

    fn name(&self, node: SkyNode) -> String {
        match self.satellite(node) {
            Some((number, _)) => format!("sat{number}"),
            None => self.spec.stations[node as usize].0.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
