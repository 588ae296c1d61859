//! Our numbers beside those of ITU-Rpy 0.4 (P.618-13, P.838-3, P.1853-1), which made the tables in `golden/`, within 1 %.

use bentpipe_weather::fading::Fading;
use bentpipe_weather::rain::{SlantPath, specific_coefficients};

fn rows(table: &str) -> Vec<Vec<f64>> {
    let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
    table.lines().skip(1).map(row).collect()
}

fn near(found: f64, expected: f64, what: &[f64]) {
    assert!((found / expected - 1.0).abs() < 0.01, "{what:?}: {found}, expected {expected}");
}

#[test]
fn attenuation_a_kilometre() {
    let table = rows(include_str!("golden/specific.csv"));
    assert_eq!(table.len(), 80);
    for row in &table {
        let (k, alpha) = specific_coefficients(row[0], row[1], row[2]);
        near(k, row[3], row);
        near(alpha, row[4], row);
    }
}

#[test]
fn attenuation_on_slant_paths() {
    let table = rows(include_str!("golden/slant.csv"));
    assert_eq!(table.len(), 76);
    for row in &table {
        let path = SlantPath {
            latitude_deg: row[0],
            altitude_km: row[1],
            rain_height_km: row[2],
            rain_rate_mm_h: row[3],
            frequency_ghz: row[4],
            elevation_deg: row[5],
            tilt_deg: row[6],
        };
        near(path.attenuation_db(row[7]), row[8], row);
    }
}

#[test]
fn the_lognormal_process_of_a_path() {
    for row in rows(include_str!("golden/lognormal.csv")) {
        let path = SlantPath {
            latitude_deg: row[0],
            altitude_km: row[1],
            rain_height_km: row[2],
            rain_rate_mm_h: row[3],
            frequency_ghz: row[5],
            elevation_deg: row[6],
            tilt_deg: row[7],
        };
        let fading = Fading::fit(&path, row[4]).unwrap_or_else(|error| panic!("{error}"));
        near(fading.mean, row[8], &row);
        near(fading.deviation, row[9], &row);
        near(fading.offset_db, row[10], &row);
    }
}
