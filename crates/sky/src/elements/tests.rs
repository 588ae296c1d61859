use proptest::prelude::*;

use super::*;
use bentpipe_units::Within;

const VANGUARD: &str = "\
1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753
2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667
";
const DELTA: &str = "\
DELTA 1 DEB
1 06251U 62025E   06176.82412014  .00008885  00000-0  12808-3 0  3985
2 06251  58.0579  54.0425 0030035 139.1568 221.1854 15.56387291  6774
";

fn read(text: &str) -> ElementSets {
    ElementSets::read(text, None).unwrap_or_else(|fault| panic!("{fault:?}"))
}

fn complaint(text: &str) -> (usize, String) {
    let fault = ElementSets::read(text, None).unwrap_err();
    let Some(Within::Byte(at)) = fault.at else { panic!("{fault:?}") };
    (text[..at].matches('\n').count() + 1, fault.problem.to_string())
}

/// `tcppver.out` of AIAA 2006-6753: minutes since the epoch, and km in TEME.
#[test]
fn places_are_those_of_the_published_vectors() {
    for (text, rows) in [
        (
            VANGUARD,
            vec![
                (0.0, [7022.46529266, -1400.08296755, 0.03995155]),
                (360.0, [-7154.03120202, -3783.17682504, -3536.19412294]),
                (4320.0, [-9060.47373569, 4658.70952502, 813.68673153]),
            ],
        ),
        (
            DELTA,
            vec![
                (0.0, [3988.31022699, 5498.96657235, 0.90055879]),
                (120.0, [-3935.69800083, 409.10980837, 5471.33577327]),
            ],
        ),
    ] {
        let sets = read(text);
        let motion = Motion::new(&sets);
        for (minutes, expected) in rows {
            let mut found = [[0.0; 3]];
            motion.place(60.0 * minutes, &mut found);
            // Turned back into TEME.
            let turn = sgp4::iau_epoch_to_sidereal_time(motion.epoch_years + minutes / (365.25 * 1440.0));
            let (sin, cos) = (libm::sin(turn), libm::cos(turn));
            let [x, y, z] = found[0];
            for (found, expected) in [x * cos - y * sin, y * cos + x * sin, z].into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-5, "{minutes}: {found} {expected}");
            }
        }
    }
}

/// The Astronomical Almanac's mean sidereal time at the noon of 1 January 2000, 280.46 degrees, in a hundredth of a degree.
#[test]
fn the_earth_is_turned_as_the_almanac_has_it() {
    let noon = read_time("2000-01-01T12:00:00Z").unwrap_or_default();
    let turn = sgp4::iau_epoch_to_sidereal_time(sgp4::julian_years_since_j2000(&noon));
    assert!((turn.to_degrees() - 280.46).abs() < 0.01, "{}", turn.to_degrees());
}

#[test]
fn a_file_may_have_names_or_none_and_the_newest_set_is_the_epoch() {
    let sets = read(&format!("{VANGUARD}\r\n{DELTA}\n"));
    assert_eq!((sets.len(), sets.name(0), sets.name(1)), (2, "sat5", "DELTA-1-DEB"));
    assert_eq!(sets.epoch.date().to_string(), "2006-06-25");
    let [newest, oldest] = sets.ages_days(86_400.0);
    assert!((newest - 1.0).abs() < 1e-9 && (oldest - 2189.0 - 1.0).abs() < 1.0, "{newest} {oldest}");
}

#[test]
fn the_run_begins_when_it_is_told() {
    let at = |text: &str| read_time(text).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(at("2026-11-23T02:00:00+02:00"), at("2026-11-23T00:00:00Z"));
    assert_eq!(read_time("yesterday"), None);
    let later =
        ElementSets::read(DELTA, Some(at("2006-06-26T19:46:43.980096Z"))).unwrap_or_else(|e| panic!("{e:?}"));
    let (mut one, mut other) = ([[0.0; 3]], [[0.0; 3]]);
    Motion::new(&later).place(0.0, &mut one);
    Motion::new(&read(DELTA)).place(86_400.0, &mut other);
    assert!((0..3).all(|axis| (one[0][axis] - other[0][axis]).abs() < 1e-3), "{one:?} {other:?}");
}

#[test]
fn messages_in_json_are_the_same_satellite() {
    let message = r#"[{"OBJECT_NAME": "DELTA 1 DEB", "OBJECT_ID": "1962-025E", "EPOCH": "2006-06-25T19:46:43.980096",
        "MEAN_MOTION": 15.56387291, "ECCENTRICITY": 0.0030035, "INCLINATION": 58.0579, "RA_OF_ASC_NODE": 54.0425,
        "ARG_OF_PERICENTER": 139.1568, "MEAN_ANOMALY": 221.1854, "EPHEMERIS_TYPE": 0, "CLASSIFICATION_TYPE": "U",
        "NORAD_CAT_ID": 6251, "ELEMENT_SET_NO": 398, "REV_AT_EPOCH": 677, "BSTAR": 0.00012808,
        "MEAN_MOTION_DOT": 0.00008885, "MEAN_MOTION_DDOT": 0}]"#;
    let (mut one, mut other) = ([[0.0; 3]], [[0.0; 3]]);
    Motion::new(&read(message)).place(600.0, &mut one);
    Motion::new(&read(DELTA)).place(600.0, &mut other);
    assert!((0..3).all(|axis| (one[0][axis] - other[0][axis]).abs() < 1e-3), "{one:?} {other:?}");
    assert_eq!(read(message).name(0), "DELTA-1-DEB");
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let wrong = DELTA.replace("  3985", "  3984");
    assert_eq!(
        complaint(&wrong),
        (2, "expected an element set of two lines, found a bad line checksum on line 1 between characters 68 and 69".to_owned())
    );
    let wrong = format!("{VANGUARD}{}", DELTA.replace("  6774", "  6775"));
    assert_eq!(complaint(&wrong).0, 5);
    let (line, told) = complaint("1 06251U");
    assert!(line == 1 && told.starts_with("expected a second line"), "{told}");
    assert!(complaint("").1.starts_with("expected element sets"));
    assert!(complaint("hello").1.contains("TLE or as JSON"));
    assert!(complaint("hello\nthere").1.contains("begins with 1"));
    assert!(complaint("[{}]").1.contains("OMM"));
    assert!(complaint(&format!("{DELTA}{DELTA}")).1.contains("found 6251 twice"));
}

#[test]
fn an_orbit_below_ground_is_refused_and_a_satellite_that_comes_down_is_nowhere() {
    let message = |motion: f64| {
        format!(
            r#"{{"OBJECT_NAME": "LOW", "OBJECT_ID": null, "EPOCH": "2026-01-01T00:00:00", "MEAN_MOTION": {motion}, "ECCENTRICITY": 0.0001,
            "INCLINATION": 53, "RA_OF_ASC_NODE": 0, "ARG_OF_PERICENTER": 0, "MEAN_ANOMALY": 0, "EPHEMERIS_TYPE": 0,
            "CLASSIFICATION_TYPE": "U", "NORAD_CAT_ID": 1, "ELEMENT_SET_NO": 1, "REV_AT_EPOCH": 1, "BSTAR": 0.01,
            "MEAN_MOTION_DOT": 0, "MEAN_MOTION_DDOT": 0}}"#
        )
    };
    let (_, told) = complaint(&message(17.5));
    assert!(told.starts_with("expected an orbit, found "), "{told}");
    let mut found = [[0.0; 3]];
    let motion = Motion::new(&read(&message(16.0)));
    motion.place(0.0, &mut found);
    assert!(found[0][0].is_finite());
    motion.place(30.0 * 86_400.0, &mut found);
    assert!(found[0][0].is_nan(), "{found:?}");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "([12] [ -~]{0,70}\n?|[ -~]{0,20}\n){0,6}", flip in 0..140_usize, byte in b' '..b'~') {
        let _ = ElementSets::read(&text, None);
        let mut near = DELTA.as_bytes().to_vec();
        near[flip] = byte;
        let _ = ElementSets::read(&String::from_utf8(near).unwrap_or_default(), None);
    }
}
