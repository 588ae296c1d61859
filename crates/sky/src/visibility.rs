//! What sees what: stations and satellites, satellites and their neighbours, and the path of least delay over them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bentpipe_units::{Span, Time};

use super::elements::Motion;
use super::place::{EARTH_KM, Place, Station, dot, less, radians};
use super::walker::Walker;
use super::{Satellites, Sky, SkyNode, SkySpec};

/// The speed of light in vacuum.
const LIGHT_KM_PER_S: f64 = bentpipe_path::SPEED_OF_LIGHT_M_PER_S / 1000.0;
/// A laser passes no lower over the ground, because of the air.
const LEAST_LASER_KM: f64 = 80.0;
/// What rounding to nanoseconds may take off a path beside the straight line.
const ROUNDING_NS: u64 = 128;

/// What moves satellites.
enum Orbits {
    Shell(Walker),
    Elements(Motion),
}

/// Satellites over stations at a time.
pub(crate) struct Heavens {
    spec: SkySpec,
    orbits: Orbits,
    positions: Vec<Place>,
    /// For each satellite, those that it has lasers to; nothing without lasers.
    neighbours: Vec<Vec<u32>>,
    least_sin: f64,
    /// The sine of the latitude beyond which there are no lasers between planes.
    polar_sin: f64,
    /// How many satellites a plane of a shell has.
    per_plane: u32,
    /// Room for a search.
    known: Vec<(u64, SkyNode)>,
}

impl Heavens {
    pub(crate) fn new(spec: &SkySpec) -> Heavens {
        let orbits = match &spec.satellites {
            Satellites::Shell(shell) => Orbits::Shell(Walker::new(shell)),
            Satellites::Elements(sets) => Orbits::Elements(Motion::new(sets)),
        };
        Heavens {
            orbits,
            positions: vec![[0.0; 3]; spec.satellites.len() as usize],
            neighbours: match (&spec.satellites, spec.lasers) {
                (Satellites::Shell(shell), true) => {
                    (0..shell.satellites).map(|satellite| shell.neighbours(satellite).collect()).collect()
                }
                _ => Vec::new(),
            },
            known: Vec::new(),
            least_sin: libm::sin(radians(spec.elevation_deg)),
            polar_sin: if spec.polar_deg < 90.0 { libm::sin(radians(spec.polar_deg)) } else { f64::INFINITY },
            per_plane: match &spec.satellites {
                Satellites::Shell(shell) => shell.per_plane(),
                Satellites::Elements(_) => 1,
            },
            spec: spec.clone(),
        }
    }

    /// Where the satellites are.
    pub(crate) fn positions(&self) -> &[Place] {
        &self.positions
    }

    fn satellite(&self, node: SkyNode) -> Option<(u32, Place)> {
        let number = node.checked_sub(self.spec.stations.len() as u32)?;
        Some((number, self.positions[number as usize]))
    }

    /// Adds what a satellite has links to: the station at the end, other satellites, and stations that a path may lead over.
    fn hops_of_satellite(&self, number: u32, ends: [SkyNode; 2], hops: &mut Vec<(SkyNode, u64, Place)>) {
        let place = self.positions[number as usize];
        let down = self.spec.relays.iter().filter(|relay| !ends.contains(relay)).chain([&ends[1]]);
        hops.extend(down.filter_map(|station| {
            let there = &self.spec.stations[*station as usize].1;
            Some((*station, access(there, place, self.least_sin)?, there.place))
        }));
        let stations = self.spec.stations.len() as u32;
        let beside = self.neighbours.get(number as usize).into_iter().flatten();
        hops.extend(beside.filter_map(|other| {
            Some((stations + other, self.beside(number, *other)?, self.positions[*other as usize]))
        }));
    }

    /// Adds the satellites that a station sees.
    fn hops_up(&self, station: SkyNode, hops: &mut Vec<(SkyNode, u64, Place)>) {
        let (stations, here) = (self.spec.stations.len() as u32, &self.spec.stations[station as usize].1);
        hops.extend(
            (stations..)
                .zip(&self.positions)
                .filter_map(|(node, place)| Some((node, access(here, *place, self.least_sin)?, *place))),
        );
    }

    /// The delay from a satellite to a neighbour of it, if their laser is on.
    fn beside(&self, one: u32, other: u32) -> Option<u64> {
        let (here, there) = (self.positions[one as usize], self.positions[other as usize]);
        let polar = |place: Place| place[2].abs() > self.polar_sin * dot(place, place).sqrt();
        let on = one / self.per_plane == other / self.per_plane || !(polar(here) || polar(there));
        on.then(|| laser(here, there)).flatten()
    }
}

/// The delay from a station to what is at `there`, if it stands high enough.
fn access(station: &Station, there: Place, least_sin: f64) -> Option<u64> {
    let way = less(there, station.place);
    let range = dot(way, way).sqrt();
    (dot(way, station.up) >= least_sin * range).then(|| nanos(range))
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

impl Sky for Heavens {
    fn set(&mut self, at: Time) {
        let seconds = at.as_secs() + self.spec.start.as_secs();
        match &self.orbits {
            Orbits::Shell(walker) => walker.place(seconds, &mut self.positions),
            Orbits::Elements(motion) => motion.place(seconds, &mut self.positions),
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
        let mut known = std::mem::take(&mut self.known);
        known.clear();
        known.resize(stations as usize + self.positions.len(), (u64::MAX, from));
        let mut queue = BinaryHeap::new();
        known[from as usize].0 = 0;
        queue.push(Reverse((0, 0, from)));
        let mut hops = Vec::new();
        while let Some(Reverse((_, delay, node))) = queue.pop() {
            if known[node as usize].0 != delay {
                continue;
            }
            if node == to {
                break;
            }
            hops.clear();
            match node.checked_sub(stations) {
                Some(number) => self.hops_of_satellite(number, [from, to], &mut hops),
                None => self.hops_up(node, &mut hops),
            }
            for (next, hop, place) in &hops {
                let delay = delay + hop;
                let best = &mut known[*next as usize];
                if delay < best.0 {
                    *best = (delay, node);
                    queue.push(Reverse((delay + ahead(*place), delay, *next)));
                }
            }
        }
        let reached = known[to as usize].0 != u64::MAX;
        let path = reached.then(|| {
            let before = |node: &SkyNode| (*node != from).then(|| known[*node as usize].1);
            let mut path: Vec<SkyNode> = std::iter::successors(Some(to), before).collect();
            path.reverse();
            path
        });
        self.known = known;
        path
    }

    fn hop(&self, from: SkyNode, to: SkyNode) -> Option<Span> {
        let nanos = match (self.satellite(from), self.satellite(to)) {
            (Some((one, _)), Some((other, _))) => self.beside(one, other),
            (None, Some((_, place))) => access(&self.spec.stations[from as usize].1, place, self.least_sin),
            (Some((_, place)), None) => access(&self.spec.stations[to as usize].1, place, self.least_sin),
            (None, None) => None,
        };
        nanos.map(Span::from_nanos)
    }

    fn name(&self, node: SkyNode) -> String {
        match self.satellite(node) {
            Some((number, _)) => self.spec.satellites.name(number),
            None => self.spec.stations[node as usize].0.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
