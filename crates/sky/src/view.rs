//! A scenario's satellites and paths without a run: where they are, and which paths two stations have in turn.

use std::collections::HashMap;

use bentpipe_units::{Span, Time};

use crate::place::{dot, geodetic, less};
use crate::visibility::Heavens;
use crate::{Satellites, Sky, SkySpec, Station};

/// Satellites in motion.
pub struct SkyView {
    spec: SkySpec,
    heavens: Heavens,
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

/// A satellite over a station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Its number.
    pub satellite: u32,
    /// Above the horizon, in degrees.
    pub elevation_deg: f64,
    /// From north over east, from 0 to 360 degrees.
    pub azimuth_deg: f64,
    /// From the station, in km.
    pub range_km: f64,
}

/// A satellite's time over a station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Its number.
    pub satellite: u32,
    /// When it was seen first and last.
    pub times: [Time; 2],
    /// When it stood highest, and where.
    pub highest: (Time, Look),
}

impl SkyView {
    /// A view of a sky.
    pub fn of(spec: &SkySpec) -> SkyView {
        SkyView { heavens: Heavens::new(spec), spec: spec.clone() }
    }

    /// The stations: name, geodetic latitude and longitude in degrees.
    pub fn stations(&self) -> Vec<(String, f64, f64)> {
        let stations = self.spec.stations.iter();
        let place = |(name, station): &(String, Station)| {
            let (latitude, longitude, _) = geodetic(station.place);
            (name.clone(), latitude, longitude)
        };
        stations.map(place).collect()
    }

    /// The names of the satellites.
    pub fn satellites(&self) -> Vec<String> {
        let satellites = &self.spec.satellites;
        (0..satellites.len()).map(|satellite| satellites.name(satellite)).collect()
    }

    /// From step to step.
    pub fn step(&self) -> Span {
        self.spec.step
    }

    /// How long nothing goes after a change of path.
    pub fn outage(&self) -> Span {
        self.spec.outage
    }

    /// The least elevation at which a station uses a satellite, in degrees.
    pub fn elevation_deg(&self) -> f64 {
        self.spec.elevation_deg
    }

    /// Where each satellite is at a time: geodetic latitude and longitude in degrees, and the height in km.
    pub fn positions(&mut self, at: Time) -> Vec<(f64, f64, f64)> {
        self.heavens.set(at);
        self.heavens.positions().iter().map(|place| geodetic(*place)).collect()
    }

    /// How old the newest and the oldest element set are at the start of the run, in days; none of a shell.
    pub fn ages_days(&self) -> Option<[f64; 2]> {
        match &self.spec.satellites {
            Satellites::Shell(_) => None,
            Satellites::Elements(sets) => Some(sets.ages_days(self.spec.start.as_secs())),
        }
    }

    /// The satellites that a station may use at a time.
    pub fn visible(&mut self, station: u32, at: Time) -> Vec<Look> {
        self.heavens.set(at);
        (0..self.spec.satellites.len()).filter_map(|satellite| self.look(station, satellite)).collect()
    }

    fn look(&self, station: u32, satellite: u32) -> Option<Look> {
        self.heavens.hop(station, self.spec.stations.len() as u32 + satellite)?;
        let station = &self.spec.stations[station as usize].1;
        let way = less(self.heavens.positions()[satellite as usize], station.place);
        let range_km = dot(way, way).sqrt();
        let [x, y, z] = station.up;
        let across = (x * x + y * y).sqrt();
        // On a pole every way leads south, or north.
        let (east, north) = match across > 0.0 {
            true => ([-y / across, x / across, 0.0], [-z * x / across, -z * y / across, across]),
            false => ([0.0, 1.0, 0.0], [-z, 0.0, 0.0]),
        };
        let azimuth = libm::atan2(dot(way, east), dot(way, north)).to_degrees();
        let elevation = libm::asin((dot(way, station.up) / range_km).clamp(-1.0, 1.0));
        Some(Look {
            satellite,
            elevation_deg: elevation.to_degrees(),
            azimuth_deg: if azimuth < 0.0 { azimuth + 360.0 } else { azimuth },
            range_km,
        })
    }

    /// The passes over a station up to `until`, looked at every `every`, in the order in which they begin. It ends early when `go_on` says
    /// no, which it is asked each time.
    pub fn passes(
        &mut self,
        station: u32,
        until: Time,
        every: Span,
        mut go_on: impl FnMut() -> bool,
    ) -> Vec<Pass> {
        let mut passes: Vec<Pass> = Vec::new();
        // For each satellite that was there the last time, its pass.
        let mut open: HashMap<u32, usize> = HashMap::new();
        let mut at = Time::ZERO;
        while at <= until && go_on() {
            let mut still = HashMap::new();
            for look in self.visible(station, at) {
                let number = open.get(&look.satellite).copied().unwrap_or_else(|| {
                    passes.push(Pass { satellite: look.satellite, times: [at; 2], highest: (at, look) });
                    passes.len() - 1
                });
                let pass = &mut passes[number];
                pass.times[1] = at;
                if look.elevation_deg > pass.highest.1.elevation_deg {
                    pass.highest = (at, look);
                }
                still.insert(look.satellite, number);
            }
            open = still;
            at += every;
        }
        passes
    }

    /// The paths between two stations up to and with `until`, by the rule of the scenario: chosen at the start, every `reconfigure`, and
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
        while at <= until && go_on() {
            self.heavens.set(at);
            let held = found.last().map_or(&[][..], |last| &last.nodes);
            let mut delay = self.delay(held);
            let choose = at >= next_choice;
            if choose {
                next_choice = self.spec.reconfigure.map_or(Time::NEVER, |every| next_choice + every);
            }
            if choose || delay.is_none() {
                let mut nodes = self.heavens.path(low, high).unwrap_or_default();
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
        let hop = |ends: &[u32]| self.heavens.hop(ends[0], ends[1]);
        let sum = nodes.windows(2).try_fold(Span::ZERO, |sum, ends| Some(sum + hop(ends)?));
        sum.filter(|_| !nodes.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use bentpipe_units::{Span, Time};

    use super::SkyView;
    use crate::{Satellites, Shell, Sky, SkySpec, Station};

    fn spec(shell: &str, lasers: bool, stations: [Station; 2]) -> SkySpec {
        SkySpec {
            satellites: Satellites::Shell(Shell::parse(shell).unwrap()),
            stations: ["a", "b"].map(str::to_owned).into_iter().zip(stations).collect(),
            relays: Vec::new(),
            lasers,
            polar_deg: 90.0,
            elevation_deg: 25.0,
            start: Span::ZERO,
            step: Span::from_millis(100),
            reconfigure: None,
            outage: Span::ZERO,
        }
    }

    /// Over London and Sydney.
    fn over(shell: &str, lasers: bool) -> SkySpec {
        spec(shell, lasers, [Station::new(51.5, -0.1, 0.1), Station::new(-33.9, 151.2, 0.0)])
    }

    fn starlink() -> SkyView {
        let reconfigure = Some(Span::from_millis(15_000));
        SkyView::of(&SkySpec { reconfigure, ..over("delta:1584/72/36:53:550", true) })
    }

    fn at(s: f64) -> Time {
        Time::ZERO + Span::from_secs(s)
    }

    #[test]
    fn stations_stand_where_the_scenario_puts_them() {
        let found = starlink().stations();
        let [(a, a_north, a_east), (b, b_north, b_east)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((a.as_str(), b.as_str()), ("a", "b"));
        for (found, expected) in [(a_north, 51.5), (a_east, -0.1), (b_north, -33.9), (b_east, 151.2)] {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn satellites_stay_at_their_height_and_below_their_inclination() {
        for seconds in [0.0, 1234.5] {
            for (latitude, longitude, height) in starlink().positions(at(seconds)) {
                // The ellipsoid is up to 21.4 km lower than at the equator, and its upright leans by up to 0.2 degrees.
                assert!((549.9..572.0).contains(&height), "{height}");
                assert!(latitude.abs() < 53.2 && longitude.abs() <= 180.0, "{latitude} {longitude}");
            }
        }
    }

    #[test]
    fn paths_are_chosen_when_they_are_due_and_have_a_delay_at_each_step() {
        let found = starlink().follow([0, 1], at(120.0), || true);
        assert!(found.len() > 1);
        assert_eq!(found.iter().map(|stretch| stretch.delays.len()).sum::<usize>(), 1201);
        for (stretch, next) in found.iter().zip(&found[1..]) {
            let steps = stretch.delays.len() as u64;
            assert_eq!(stretch.from + Span::from_millis(100) * steps, next.from);
            assert_ne!(stretch.nodes, next.nodes);
        }
        let back = starlink().follow([1, 0], at(120.0), || true);
        for (there, back) in found.iter().zip(&back) {
            assert_eq!(there.delays, back.delays);
            assert!(there.nodes.iter().eq(back.nodes.iter().rev()));
        }
    }

    /// Range, elevation and azimuth by the triangle on the equator.
    #[test]
    fn a_satellite_to_the_east_stands_in_the_east() {
        let stations = [Station::new(0.0, -5.0, 0.0), Station::new(4.0, 0.0, 0.0)];
        let mut view = SkyView::of(&spec("delta:1/1/0:0:550", true, stations));
        let (east, south) = (view.visible(0, at(0.0)), view.visible(1, at(0.0)));
        let (angle, ratio) = (5.0_f64.to_radians(), 6378.137 / 6928.137);
        let range = 6928.137 * (1.0 + ratio * ratio - 2.0 * ratio * libm::cos(angle)).sqrt();
        let elevation = libm::atan2(libm::cos(angle) - ratio, libm::sin(angle)).to_degrees();
        assert!((east[0].range_km - range).abs() < 1e-6 && (east[0].elevation_deg - elevation).abs() < 1e-9);
        assert!((east[0].azimuth_deg - 90.0).abs() < 1e-9, "{}", east[0].azimuth_deg);
        assert!((south[0].azimuth_deg - 180.0).abs() < 1e-9, "{}", south[0].azimuth_deg);
    }

    #[test]
    fn a_pass_rises_culminates_and_sets() {
        let mut view = starlink();
        let every = Span::from_secs(1.0);
        let passes = view.passes(0, at(1200.0), every, || true);
        let whole: Vec<_> =
            passes.iter().filter(|pass| pass.times[0] > at(0.0) && pass.times[1] < at(1200.0)).collect();
        assert!(whole.len() > 20, "{}", whole.len());
        for pass in whole {
            let [rise, set] = pass.times;
            // Seen from 25 degrees on, it flies 16.9 degrees of its orbit, 4.5 minutes, and the Earth turns with it.
            assert!(set.since(rise) < Span::from_secs(290.0));
            assert!(rise <= pass.highest.0 && pass.highest.0 <= set);
            let lowest = view.visible(0, rise).into_iter().find(|look| look.satellite == pass.satellite);
            assert!(lowest.is_some_and(|look| (25.0..25.5).contains(&look.elevation_deg)), "{lowest:?}");
            let before = Time::ZERO + rise.since(Time::ZERO + every);
            assert!(!view.visible(0, before).iter().any(|look| look.satellite == pass.satellite));
        }
    }

    #[test]
    fn a_path_is_kept_while_it_holds_and_changes_when_it_breaks() {
        let mut sky =
            SkyView::of(&SkySpec { elevation_deg: 30.0, ..over("delta:1156/34/17:51.9:630", true) });
        let found = sky.follow([0, 1], at(300.0), || true);
        assert!((2..10).contains(&found.len()), "{}", found.len());
        assert_eq!(found.iter().map(|stretch| stretch.delays.len()).sum::<usize>(), 3001);
        for pair in found.windows(2) {
            sky.heavens.set(pair[1].from);
            assert_eq!(sky.delay(&pair[0].nodes), None);
        }
    }

    #[test]
    fn a_path_that_nothing_carries_is_a_stretch_without_nodes() {
        // Bent pipes reach nobody on the other side of the Earth.
        let found = SkyView::of(&SkySpec {
            reconfigure: Some(Span::from_millis(15_000)),
            ..over("delta:1584/72/36:53:550", false)
        })
        .follow([0, 1], at(60.0), || true);
        assert_eq!(found.len(), 1);
        assert!(found[0].nodes.is_empty() && found[0].delays.is_empty());
    }

    #[test]
    fn it_ends_when_it_is_told_to() {
        let mut steps = 0;
        let found = starlink().follow([0, 1], at(60.0), || {
            steps += 1;
            steps <= 5
        });
        assert_eq!(found[0].delays.len(), 5);
    }
}
