//! A scenario's satellites and paths without a run: where they are, and which paths two stations have in turn.

use std::f64::consts::PI;
use std::sync::Arc;

use bentpipe_units::{Span, Time};

use super::Sky;
use super::walker::{EARTH_KM, FLATTENING, Place, Walker};
use crate::scenario::{ConstellationSpec, Scenario};

/// Satellites in motion, as a scenario has them.
pub struct SkyView {
    spec: Arc<ConstellationSpec>,
    walker: Walker,
}

/// A path from a time on.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStretch {
    /// From then on.
    pub from: Time,
    /// Its nodes: the stations have the first numbers, in the scenario's order, then come the satellites. None without a path.
    pub nodes: Vec<u32>,
    /// The propagation delay one way at each step.
    pub delays: Vec<Span>,
}

impl SkyView {
    /// The sky of a scenario, if it has one.
    pub fn of(scenario: &Scenario) -> Option<SkyView> {
        let spec = scenario.constellation.clone()?;
        Some(SkyView { walker: Walker::new(&spec.sky), spec })
    }

    /// The stations: name, geodetic latitude and longitude in degrees.
    pub fn stations(&self) -> Vec<(String, f64, f64)> {
        let stations = self.spec.sky.stations.iter();
        let place = |(name, station): &(String, super::Station)| {
            let (latitude, longitude, _) = geodetic(station.place());
            (name.clone(), latitude, longitude)
        };
        stations.map(place).collect()
    }

    /// The names of the satellites.
    pub fn satellites(&self) -> Vec<String> {
        let first = self.spec.sky.stations.len() as u32;
        (0..self.spec.sky.shell.satellites).map(|satellite| self.walker.name(first + satellite)).collect()
    }

    /// From step to step.
    pub fn step(&self) -> Span {
        self.spec.step
    }

    /// The least elevation at which a station uses a satellite, in degrees.
    pub fn elevation_deg(&self) -> f64 {
        self.spec.sky.elevation_deg
    }

    /// Where each satellite is at a time: geodetic latitude and longitude in degrees, and the height in km.
    pub fn positions(&mut self, at: Time) -> Vec<(f64, f64, f64)> {
        self.walker.set(at);
        self.walker.positions().iter().map(|place| geodetic(*place)).collect()
    }

    /// The paths between two stations up to `until`, by the rule of the scenario: chosen at the start, every `reconfigure`, and
    /// when a hop is out of sight. It ends early when `go_on` says no, which it is asked at each step.
    pub fn follow(
        &mut self,
        ends: [u32; 2],
        until: Time,
        mut go_on: impl FnMut() -> bool,
    ) -> Vec<PathStretch> {
        let (mut at, mut next_choice) = (Time::ZERO, Time::ZERO);
        let mut found: Vec<PathStretch> = Vec::new();
        // A run looks for the path of a pair from the station with the lower number.
        let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        while at < until && go_on() {
            self.walker.set(at);
            let held = found.last().map_or(&[][..], |last| &last.nodes);
            let mut delay = self.delay(held);
            let choose = at >= next_choice;
            if choose {
                next_choice = self.spec.reconfigure.map_or(Time::NEVER, |every| next_choice + every);
            }
            if choose || delay.is_none() {
                let mut nodes = self.walker.path(low, high).unwrap_or_default();
                if low != ends[0] {
                    nodes.reverse();
                }
                if nodes != held || found.is_empty() {
                    delay = self.delay(&nodes);
                    found.push(PathStretch { from: at, nodes, delays: Vec::new() });
                }
            }
            if let Some(last) = found.last_mut() {
                last.delays.extend(delay);
            }
            at += self.spec.step;
        }
        found
    }

    /// The delay one way of a path, if all its hops are in sight.
    fn delay(&self, nodes: &[u32]) -> Option<Span> {
        let hop = |ends: &[u32]| self.walker.hop(ends[0], ends[1]);
        let sum = nodes.windows(2).try_fold(Span::ZERO, |sum, ends| Some(sum + hop(ends)?));
        sum.filter(|_| !nodes.is_empty())
    }
}

/// Latitude and longitude in degrees and height in km over the ellipsoid, by Bowring's formula (Survey Review 28, 1985), which is
/// good to a millimetre at these heights.
fn geodetic([x, y, z]: Place) -> (f64, f64, f64) {
    let polar = EARTH_KM * (1.0 - FLATTENING);
    let e2 = FLATTENING * (2.0 - FLATTENING);
    let across = (x * x + y * y).sqrt();
    let radius = (across * across + z * z).sqrt();
    let reduced = libm::atan2(polar * z * (1.0 + e2 / (1.0 - e2) * polar / radius), EARTH_KM * across);
    let (sin, cos) = (libm::sin(reduced), libm::cos(reduced));
    let latitude =
        libm::atan2(z + e2 / (1.0 - e2) * polar * sin * sin * sin, across - e2 * EARTH_KM * cos * cos * cos);
    let (sin, cos) = (libm::sin(latitude), libm::cos(latitude));
    let normal = EARTH_KM / (1.0 - e2 * sin * sin).sqrt();
    let height = across * cos + z * sin - normal * (1.0 - e2 * sin * sin);
    (latitude * 180.0 / PI, libm::atan2(y, x) * 180.0 / PI, height)
}

#[cfg(test)]
mod tests {
    use bentpipe_units::{Span, Time};

    use super::SkyView;
    use crate::scenario::parse_str;

    fn sky(more: &str) -> SkyView {
        let text = format!(
            "duration = \"60 s\"\n[constellation]\n{more}uplink.rate = \"1 Mbit/s\"\n\
             [stations.a]\nlatitude = \"51.5 deg\"\nlongitude = \"-0.1 deg\"\naltitude = \"100 m\"\n\
             [stations.b]\nlatitude = \"-33.9 deg\"\nlongitude = \"151.2 deg\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n"
        );
        let scenario = parse_str("test", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
        SkyView::of(&scenario).unwrap_or_else(|| panic!("no sky"))
    }

    fn at(s: f64) -> Time {
        Time::ZERO + Span::from_secs(s)
    }

    #[test]
    fn stations_stand_where_the_scenario_puts_them() {
        let found = sky("preset = \"starlink\"\n").stations();
        let [(a, a_north, a_east), (b, b_north, b_east)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((a.as_str(), b.as_str()), ("a", "b"));
        for (found, expected) in [(a_north, 51.5), (a_east, -0.1), (b_north, -33.9), (b_east, 151.2)] {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn satellites_stay_at_their_height_and_below_their_inclination() {
        for seconds in [0.0, 1234.5] {
            for (latitude, longitude, height) in sky("preset = \"starlink\"\n").positions(at(seconds)) {
                // The ellipsoid is up to 21.4 km lower than at the equator, and its upright leans by up to 0.2 degrees.
                assert!((549.9..572.0).contains(&height), "{height}");
                assert!(latitude.abs() < 53.2 && longitude.abs() <= 180.0, "{latitude} {longitude}");
            }
        }
    }

    #[test]
    fn paths_are_chosen_when_they_are_due_and_have_a_delay_at_each_step() {
        let found = sky("preset = \"starlink\"\n").follow([0, 1], at(60.0), || true);
        assert!(found.len() > 1);
        assert_eq!(found.iter().map(|stretch| stretch.delays.len()).sum::<usize>(), 600);
        for (stretch, next) in found.iter().zip(&found[1..]) {
            let steps = stretch.delays.len() as u64;
            assert_eq!(stretch.from + Span::from_millis(100) * steps, next.from);
            assert_ne!(stretch.nodes, next.nodes);
        }
        let back = sky("preset = \"starlink\"\n").follow([1, 0], at(60.0), || true);
        for (there, back) in found.iter().zip(&back) {
            assert_eq!(there.delays, back.delays);
            assert!(there.nodes.iter().eq(back.nodes.iter().rev()));
        }
    }

    #[test]
    fn a_path_that_nothing_carries_is_a_stretch_without_nodes() {
        // Bent pipes reach nobody on the other side of the Earth.
        let found = sky("preset = \"starlink\"\nlasers = false\n").follow([0, 1], at(60.0), || true);
        assert_eq!(found.len(), 1);
        assert!(found[0].nodes.is_empty() && found[0].delays.is_empty());
    }

    #[test]
    fn it_ends_when_it_is_told_to() {
        let mut steps = 0;
        let found = sky("preset = \"starlink\"\n").follow([0, 1], at(60.0), || {
            steps += 1;
            steps <= 5
        });
        assert_eq!(found[0].delays.len(), 5);
    }
}
