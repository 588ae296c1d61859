//! A shell of circular orbits by Walker's rule, and which satellites are neighbours in it.

use std::f64::consts::TAU;

use super::place::{EARTH_KM, MU_KM3_PER_S2, Place, ROTATION_RAD_PER_S, radians};

/// Satellites in circular orbits of one height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shell {
    /// In all.
    pub satellites: u32,
    /// Planes, of equally many.
    pub planes: u32,
    /// A satellite is `360 F / T` degrees ahead of its number in the plane before.
    pub phasing: u32,
    /// Of the orbits to the equator, in degrees.
    pub inclination_deg: f64,
    /// Over the sphere of the equator.
    pub altitude_km: f64,
    /// Degrees from one ascending node to the next.
    pub spacing_deg: f64,
    /// Whether the last plane's neighbour is the first, as in a delta; in a star a seam lies between.
    pub closed: bool,
}

impl Shell {
    /// Reads `delta:T/P/F:INCLINATION:ALTITUDE` or `star:…`, in degrees and km.
    pub fn parse(text: &str) -> Option<Shell> {
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

    pub(crate) fn per_plane(&self) -> u32 {
        self.satellites / self.planes
    }

    /// The elevation, on a sphere of the equator's radius, at which a satellite is seen from the edge of a beam that reaches so
    /// many degrees from straight down. No less than 0: a wider beam reaches past the horizon.
    pub fn elevation_at_edge_deg(&self, cone_deg: f64) -> f64 {
        let cosine = libm::sin(radians(cone_deg)) * (EARTH_KM + self.altitude_km) / EARTH_KM;
        libm::acos(cosine.min(1.0)) * 360.0 / TAU
    }

    /// How many whole places the phasing puts a plane ahead of the first one.
    fn places_ahead(&self, plane: u32) -> u32 {
        // Both are below 20,000.
        plane * self.phasing / self.planes
    }

    /// The satellites that one has lasers to: before and behind it in its plane, and those in the planes beside that are as far along.
    ///
    /// Less than one place ahead or behind, that is: were they those of one number, then half a place from plane to plane would add
    /// up, and a path around the Earth would climb.
    pub(crate) fn neighbours(&self, satellite: u32) -> impl Iterator<Item = u32> {
        let (n, planes) = (self.per_plane(), self.planes);
        let (plane, place) = (satellite / n, satellite % n);
        let level = place + self.places_ahead(plane);
        let on_level = |beside: u32| (beside, (level + planes * n - self.places_ahead(beside)) % n);
        let around = self.closed && planes > 2;
        let ahead = (plane + 1 < planes || around).then(|| on_level((plane + 1) % planes));
        let behind = (plane > 0 || around).then(|| on_level((plane + planes - 1) % planes));
        let along = [(plane, (place + 1) % n), (plane, (place + n - 1) % n)];
        let all = along.into_iter().chain(ahead).chain(behind).map(move |(plane, place)| plane * n + place);
        all.filter(move |other| *other != satellite)
    }
}

/// The satellites of a shell in motion. All turn at one rate, so that each is at `a cos u + b sin u` with one u.
pub(crate) struct Walker {
    orbits: Vec<(Place, Place)>,
    rate_rad_per_s: f64,
}

impl Walker {
    pub(crate) fn new(shell: &Shell) -> Walker {
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
            rate_rad_per_s: (MU_KM3_PER_S2 / (radius * radius * radius)).sqrt(),
        }
    }

    /// Writes where the satellites are so long after the epoch.
    pub(crate) fn place(&self, seconds: f64, positions: &mut [Place]) {
        let angle = self.rate_rad_per_s * seconds;
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        let turn = -ROTATION_RAD_PER_S * seconds;
        let (sin_turn, cos_turn) = (libm::sin(turn), libm::cos(turn));
        for (position, (a, b)) in positions.iter_mut().zip(&self.orbits) {
            let [x, y, z] = [0, 1, 2].map(|axis| a[axis] * cos + b[axis] * sin);
            *position = [x * cos_turn - y * sin_turn, x * sin_turn + y * cos_turn, z];
        }
    }
}
