use std::f64::consts::{PI, TAU};

use proptest::prelude::*;

use super::*;
use crate::{Shell, Station};

const STARLINK: &str = "delta:1584/72/36:53:550";

fn sky(shell: &str, places: &[(f64, f64)], lasers: bool, elevation_deg: f64) -> Heavens {
    Heavens::new(&spec(shell, places, lasers, elevation_deg))
}

fn spec(shell: &str, places: &[(f64, f64)], lasers: bool, elevation_deg: f64) -> SkySpec {
    let stations = places.iter().enumerate().map(|(number, (latitude, longitude))| {
        (format!("s{number}"), Station::new(*latitude, *longitude, 0.0))
    });
    let satellites = Satellites::Shell(Shell::parse(shell).unwrap());
    SkySpec {
        satellites,
        stations: stations.collect(),
        relays: Vec::new(),
        lasers,
        polar_deg: 90.0,
        elevation_deg,
        start: Span::ZERO,
        step: Span::from_millis(100),
        reconfigure: None,
        outage: Span::ZERO,
    }
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

fn delay(sky: &Heavens, path: &[SkyNode]) -> u64 {
    path.windows(2).map(|ends| sky.hop(ends[0], ends[1]).unwrap().as_nanos()).sum()
}

/// The textbook way: by the argument of latitude, the inclination, the node and the Earth's turn.
#[test]
fn satellites_are_where_a_circular_orbit_has_them() {
    let mut sky = sky(STARLINK, &[], true, 25.0);
    let (cos, sin) = (libm::cos, libm::sin);
    let radius: f64 = 6928.137;
    let period = TAU * (radius * radius * radius / 398_600.441_8).sqrt();
    assert!((period - 5739.0).abs() < 1.0, "{period}");
    for seconds in [0.0, 60.0, 5731.0, 86_400.0] {
        sky.set(at(seconds));
        for satellite in [0_u32, 1, 21, 22, 100, 1583] {
            let (plane, place) = (satellite / 22, satellite % 22);
            let degrees = f64::from(place) * 360.0 / 22.0 + f64::from(plane) * 36.0 * 360.0 / 1584.0;
            let u = degrees * PI / 180.0 + TAU * seconds / period;
            let node = f64::from(plane) * 5.0 * PI / 180.0 - 7.292_115e-5 * seconds;
            let i = 53.0 * PI / 180.0;
            let expected = [
                radius * (cos(node) * cos(u) - sin(node) * sin(u) * cos(i)),
                radius * (sin(node) * cos(u) + cos(node) * sin(u) * cos(i)),
                radius * sin(u) * sin(i),
            ];
            let off = less(expected, sky.positions[satellite as usize]);
            assert!(dot(off, off) < 1e-9, "{satellite} at {seconds}");
        }
    }
}

/// On the equator the ellipsoid's section is a circle, where range and elevation come from one triangle.
#[test]
fn a_satellite_is_seen_down_to_the_least_elevation() {
    // One satellite over the equator at longitude 0.
    for degrees in [0.0, 2.0, 5.0, 7.5, 12.0, 20.0] {
        let mut one = sky("delta:1/1/0:0:550", &[(0.0, degrees), (0.0, 0.0)], false, 25.0);
        one.set(Time::ZERO);
        let angle = degrees * PI / 180.0;
        let ratio = 6378.137 / 6928.137;
        let range = 6928.137 * (1.0 + ratio * ratio - 2.0 * ratio * libm::cos(angle)).sqrt();
        let elevation = libm::atan2(libm::cos(angle) - ratio, libm::sin(angle)) * 180.0 / PI;
        let expected = (elevation >= 25.0).then(|| Span::from_secs(range / 299_792.458));
        assert_eq!(one.hop(0, 2), expected, "{degrees}: {elevation}");
    }
}

#[test]
fn lasers_join_four_neighbours_both_ways() {
    for text in [STARLINK, "star:66/6/3:86.4:780", "delta:1156/34/17:51.9:630"] {
        let shell = Shell::parse(text).unwrap();
        for one in 0..shell.satellites {
            let beside: Vec<u32> = shell.neighbours(one).collect();
            let plane = one / (shell.satellites / shell.planes);
            let seam = !shell.closed && (plane == 0 || plane + 1 == shell.planes);
            assert_eq!(beside.len(), if seam { 3 } else { 4 }, "{text} {one}");
            assert!(
                beside.iter().all(|other| shell.neighbours(*other).any(|back| back == one)),
                "{text} {one}"
            );
        }
    }
}

/// A path that goes from plane to plane, all around, neither climbs nor falls.
#[test]
fn lasers_between_planes_go_less_than_a_place_ahead_or_back() {
    for text in [STARLINK, "star:66/6/3:86.4:780", "delta:1156/34/17:51.9:630", "delta:60/6/5:53:550"] {
        let shell = Shell::parse(text).unwrap();
        let (t, n) = (shell.satellites, shell.satellites / shell.planes);
        // In units of 1/T of a revolution.
        let phase = |one: u32| (one % n * shell.planes + one / n * shell.phasing) % t;
        for one in 0..t {
            for other in shell.neighbours(one).filter(|other| other / n != one / n) {
                let ahead = (phase(other) + t - phase(one)) % t;
                assert!(ahead.min(t - ahead) < shell.planes, "{text}: {one} to {other}: {ahead}");
            }
        }
    }
}

/// Neighbours of a shell are as far apart in phase across the join of the first and the last plane as elsewhere.
#[test]
fn the_last_plane_is_beside_the_first() {
    let mut sky = sky(STARLINK, &[], true, 25.0);
    sky.set(at(17.0));
    let far = |one: u32, other: u32| {
        let way = less(sky.positions[one as usize], sky.positions[other as usize]);
        dot(way, way).sqrt()
    };
    let shell = Shell::parse(STARLINK).unwrap();
    let longest = |plane: u32| {
        (0..22)
            .flat_map(|place| shell.neighbours(plane * 22 + place).map(move |to| (plane * 22 + place, to)))
            .map(|(one, other)| far(one, other))
            .fold(0.0, f64::max)
    };
    let usual = longest(30);
    assert!((longest(71) - usual).abs() < 40.0, "{} {usual}", longest(71));
}

/// Over the poles planes cross, and only the lasers along them are on.
#[test]
fn lasers_between_planes_are_off_near_the_poles() {
    const IRIDIUM: &str = "star:66/6/3:86.4:780";
    let shell = Shell::parse(IRIDIUM).unwrap();
    let mut everywhere = sky(IRIDIUM, &[], true, 8.2);
    let mut cut = Heavens::new(&SkySpec { polar_deg: 68.0, ..spec(IRIDIUM, &[], true, 8.2) });
    let (mut off, mut on) = (0, 0);
    for seconds in [0.0, 100.0, 200.0, 300.0] {
        everywhere.set(at(seconds));
        cut.set(at(seconds));
        for one in 0..shell.satellites {
            for other in shell.neighbours(one) {
                let latitude = |node: u32| {
                    let [x, y, z] = everywhere.positions[node as usize];
                    libm::atan2(z.abs(), (x * x + y * y).sqrt()) * 180.0 / PI
                };
                let polar = latitude(one).max(latitude(other)) > 68.0 && one / 11 != other / 11;
                let expected = everywhere.hop(one, other).filter(|_| !polar);
                assert_eq!(cut.hop(one, other), expected, "{one} {other}");
                off += usize::from(polar);
                on += usize::from(expected.is_some());
            }
        }
    }
    assert!(off > 100 && on > 600, "{off} {on}");
}

/// Where a path goes over the pole from plane to plane, it takes another way round without those lasers.
#[test]
fn a_path_goes_around_the_poles_without_their_lasers() {
    let of = |polar_deg: f64| {
        let ends = [(60.0, 0.0), (60.0, 80.0)];
        Heavens::new(&SkySpec { polar_deg, ..spec("star:66/6/3:86.4:780", &ends, true, 8.2) })
    };
    let (mut everywhere, mut cut) = (of(90.0), of(50.0));
    let mut longer = 0;
    for seconds in (0..20).map(|number| at(300.0 * f64::from(number))) {
        everywhere.set(seconds);
        cut.set(seconds);
        let paths = [&mut everywhere, &mut cut].map(|sky| sky.path(0, 1).map(|path| delay(sky, &path)));
        let [Some(short), Some(long)] = paths else { panic!("{paths:?}") };
        assert!(long >= short);
        longer += usize::from(long > short);
    }
    assert!(longer > 5, "{longer}");
}

/// Between satellites without lasers a path leads over stations that may carry it, and no others.
#[test]
fn a_path_without_lasers_comes_down_at_relays() {
    // London, Vienna, Tbilisi and Bucharest; no satellite sees both of two that are not neighbours on the way.
    let places = [(51.5, -0.1), (48.2, 16.4), (41.7, 44.8), (44.4, 26.1)];
    let of = |relays: &[u32]| {
        let mut sky =
            Heavens::new(&SkySpec { relays: relays.to_vec(), ..spec(STARLINK, &places, false, 25.0) });
        sky.set(at(60.0));
        let path = sky.path(0, 2)?;
        let delay = delay(&sky, &path);
        Some((path, delay))
    };
    assert_eq!((of(&[]), of(&[1]), of(&[3])), (None, None, None));
    let (path, taken) = of(&[1, 3]).unwrap();
    let [0, _, 1, _, 3, _, 2] = path[..] else { panic!("{path:?}") };
    // Each part is the shortest by itself, and relays at the ends of a path are no detour.
    let mut sky = sky(STARLINK, &places, false, 25.0);
    sky.set(at(60.0));
    let parts = [(0, 1), (1, 3), (3, 2)].map(|(from, to)| {
        let path = sky.path(from, to).unwrap();
        delay(&sky, &path)
    });
    assert_eq!(taken, parts.iter().sum::<u64>());
    assert_eq!(of(&[0, 1, 2, 3]), Some((path, taken)));
}

/// Starlink's beams as filed reach 44.85 degrees from straight down, where stations see the satellite at 40 degrees.
#[test]
fn a_cone_is_an_elevation_at_its_edge() {
    let shell = Shell::parse(STARLINK).unwrap();
    assert!(
        (shell.elevation_at_edge_deg(44.85) - 40.0).abs() < 0.1,
        "{}",
        shell.elevation_at_edge_deg(44.85)
    );
    assert_eq!(shell.elevation_at_edge_deg(80.0), 0.0);
}

#[test]
fn the_earth_stands_between_satellites_that_are_far_apart() {
    let radius = 6928.137;
    assert!(laser([radius, 0.0, 0.0], [0.0, radius, 0.0]).is_none());
    // The chord touches 80 km at 2 acos(6458.137 / 6928.137) = 42.5 degrees.
    let there = |degrees: f64| {
        let angle = degrees * PI / 180.0;
        [radius * libm::cos(angle), radius * libm::sin(angle), 0.0]
    };
    assert!(laser(there(0.0), there(42.4)).is_some());
    assert!(laser(there(0.0), there(42.8)).is_none());
}

#[test]
fn without_lasers_a_path_needs_one_satellite_that_both_see() {
    let places = [(48.9, 2.4), (50.1, 8.7), (40.7, -74.0)];
    let mut pipe = sky(STARLINK, &places, false, 25.0);
    pipe.set(at(30.0));
    assert_eq!(pipe.path(0, 1).unwrap().len(), 3);
    assert_eq!(pipe.path(0, 2), None);
}

/// Dijkstra's algorithm over all nodes, to hold the search against.
fn shortest(sky: &Heavens, from: SkyNode, to: SkyNode) -> Option<u64> {
    let stations = sky.spec.stations.len() as u32;
    let nodes = stations + sky.spec.satellites.len();
    let mut best = vec![u64::MAX; nodes as usize];
    best[from as usize] = 0;
    let mut queue = BinaryHeap::from([Reverse((0, from))]);
    while let Some(Reverse((delay, node))) = queue.pop() {
        if node == to {
            return Some(delay);
        }
        let next: Vec<u32> = if node < stations {
            (stations..nodes).filter(|_| node == from).collect()
        } else {
            let lasers = sky.neighbours[(node - stations) as usize].iter().map(|other| other + stations);
            lasers.chain([to]).collect()
        };
        for next in next {
            if let Some(hop) = sky.hop(node, next)
                && delay + hop.as_nanos() < best[next as usize]
            {
                best[next as usize] = delay + hop.as_nanos();
                queue.push(Reverse((best[next as usize], next)));
            }
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_path_is_shorter(
        one in (-60.0..60.0_f64, -180.0..180.0_f64),
        other in (-60.0..60.0_f64, -180.0..180.0_f64),
        seconds in 0.0..6000.0_f64,
        shell in prop::sample::select(vec![STARLINK, "star:66/6/3:86.4:780"]),
    ) {
        let mut sky = sky(shell, &[one, other], true, 20.0);
        sky.set(at(seconds));
        let found = sky.path(0, 1);
        if let Some(path) = &found {
            prop_assert_eq!((path[0], path[path.len() - 1]), (0, 1));
            prop_assert!(path.len() > 2 && path[1..path.len() - 1].iter().all(|node| *node > 1));
        }
        prop_assert_eq!(found.map(|path| delay(&sky, &path)), shortest(&sky, 0, 1));
    }
}

#[test]
fn what_is_no_shell_is_none() {
    for text in [
        "",
        "delta:1584/72:53:550",
        "ring:66/6/3:86:780",
        "delta:100/7/1:53:550",
        "delta:6/6/6:53:550",
        "delta:66/6/3:190:780",
        "delta:66/6/3:86:NaN",
        "delta:0/1/0:53:550",
        "delta:40000/100/1:53:550",
    ] {
        assert_eq!(Shell::parse(text), None, "{text}");
    }
}
