use proptest::prelude::*;

use super::{Answer, Modem, Request};

/// The earth station of the `afc` document, with a dish, a satellite's power and a carrier as such links have them.
fn ahmedabad(modem: Modem) -> Request {
    Request {
        latitude_deg: 23.03,
        longitude_deg: 72.58,
        altitude_km: 0.051,
        rain_height_km: 5.281,
        rain_rate_mm_h: 68.6,
        rain_percent: 1.103,
        satellite_longitude_deg: 74.0,
        frequency_ghz: 11.012,
        tilt_deg: 90.0,
        dish_m: 1.2,
        dish_efficiency: 0.65,
        noise_k: 150.0,
        eirp_dbw: 35.0,
        atmosphere_db: 0.1,
        uplink_dbhz: None,
        symbol_rate_bd: 2e6,
        modem,
        implementation_db: 1.0,
        modcod: None,
        margin_db: 0.5,
        hysteresis_db: 0.5,
        reaction_s: 0.6,
        duration_s: 3600.0,
        step_s: 1.0,
        storm_db: Some(15.0),
        seed: 1,
    }
}

fn answer(request: &Request) -> Answer {
    request.answer().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_parts_of_the_budget_come_to_the_whole() {
    let found = answer(&ahmedabad(Modem::QpskHalf));
    assert!((found.elevation_deg - 62.9).abs() < 0.2, "{}", found.elevation_deg);
    let sum = 35.0 + found.gain_over_temperature_db - found.free_space_db - 0.1 + 228.5992;
    assert!((found.clear.carrier_to_density_dbhz - sum).abs() < 1e-3, "{sum}");
    assert!((found.clear.es_n0_db - (sum - 63.0103 - 1.0)).abs() < 1e-3);
    assert_eq!((found.clear.eb_n0_db, found.clear.rate_bps), (Some(found.clear.es_n0_db), 2e6));
    assert_eq!((found.series.time_s.len(), found.series.time_s[3599]), (3600, 3599.0));
    assert!((found.series.rain_db[1800] - 15.0).abs() < 1e-9);
    assert!(found.exceeded.windows(2).all(|pair| pair[0].rain_db < pair[1].rain_db));
}

#[test]
fn adaptive_coding_goes_on_where_a_constant_one_loses() {
    let adaptive = answer(&ahmedabad(Modem::DvbS2));
    let constant = answer(&Request { modcod: Some("8PSK 3/4".to_owned()), ..ahmedabad(Modem::DvbS2) });
    assert!(adaptive.available > constant.available, "{} {}", adaptive.available, constant.available);
    assert!(adaptive.mean_rate_bps > constant.mean_rate_bps && adaptive.changes > 2);
    assert_eq!(constant.changes, 0);
    assert!(constant.series.loss[1800] == 1.0 && constant.series.rate_bps[1800] > 0.0);
    assert!(answer(&ahmedabad(Modem::DvbS2x)).mean_rate_bps >= adaptive.mean_rate_bps);
}

/// The hysteresis is between one MODCOD and the next, in time; a level of the table, and the begin of a series, have none before.
#[test]
fn the_hysteresis_takes_nothing_off_the_table_or_the_first_moment() {
    let with = |hysteresis_db| {
        answer(&Request { hysteresis_db, storm_db: None, duration_s: 10.0, ..ahmedabad(Modem::DvbS2) })
    };
    let none = with(0.0);
    for hysteresis_db in [0.5, 1.0, 2.0, 5.0] {
        let found = with(hysteresis_db);
        assert_eq!(found.clear.modcod, none.clear.modcod, "{hysteresis_db}");
        let rates = |answer: &Answer| answer.exceeded.iter().map(|row| row.rate_bps).collect::<Vec<_>>();
        assert_eq!(rates(&found), rates(&none), "{hysteresis_db}");
        assert_eq!(found.series.modcod[0], none.series.modcod[0], "{hysteresis_db}");
    }
}

#[test]
fn a_constant_modcod_is_lost_below_what_it_takes() {
    let found = answer(&Request { modcod: Some("8PSK 3/4".to_owned()), ..ahmedabad(Modem::DvbS2) });
    let levels = found.series.es_n0_db.iter().zip(&found.series.loss);
    assert!(levels.clone().all(|(db, loss)| *loss == if *db < 7.91 { 1.0 } else { 0.0 }));
    let near = |(db, _): &(&f64, &f64)| (7.0..7.9).contains(*db);
    assert!(levels.filter(near).count() > 10);
}

#[test]
fn a_link_that_answers_late_loses_what_one_that_answers_at_once_does_not() {
    let lost = |reaction_s: f64, margin_db: f64| {
        let found = answer(&Request { reaction_s, margin_db, ..ahmedabad(Modem::DvbS2) });
        found.series.loss.iter().filter(|loss| **loss > 0.0).count()
    };
    assert_eq!(lost(0.0, 0.0), 0);
    assert!(lost(5.0, 0.0) > 20, "{}", lost(5.0, 0.0));
    assert!(lost(5.0, 3.0) < lost(5.0, 0.0) / 4, "{}", lost(5.0, 3.0));
}

#[test]
fn what_cannot_be_asked_is_named() {
    let base = || ahmedabad(Modem::DvbS2);
    for (request, expected) in [
        (Request { dish_m: 0.0, ..base() }, "dish_m: expected more than 0, at most 100 m, found 0"),
        (
            Request { step_s: 1e-3, ..base() },
            "step_s: expected at most 200000 steps in the duration, found 3600000",
        ),
        (
            Request { storm_db: Some(-1.0), ..base() },
            "storm_db: expected more than 0, at most 200 dB, found -1",
        ),
        (Request { eirp_dbw: f64::NAN, ..base() }, "eirp_dbw: expected -50 to 100 dBW, found NaN"),
        (
            Request { modcod: Some("64QAM".to_owned()), ..base() },
            "modcod: expected a MODCOD of the modem, such as \"8PSK 3/4\", found \"64QAM\"",
        ),
        (
            Request { modcod: Some("8PSK 3/4".to_owned()), ..ahmedabad(Modem::QpskHalf) },
            "modcod: cannot be combined with the modem qpsk-1/2",
        ),
        (
            Request { satellite_longitude_deg: -100.0, ..base() },
            "satellite_longitude_deg: expected a satellite above the station's horizon, found one at -100 degrees seen 69.0 degrees below it",
        ),
        (
            Request { rain_rate_mm_h: 0.0, ..base() },
            "rain_rate_mm_h: expected rain on the path, found none: a rain rate of 0, or rain below the station",
        ),
    ] {
        assert_eq!(request.answer().map_err(|error| error.to_string()).err().as_deref(), Some(expected));
    }
}

proptest! {
    /// Whatever numbers come in, an answer has numbers, or an error says which key.
    #[test]
    fn an_answer_has_numbers_or_an_error_a_key(
        numbers in prop::collection::vec(
            prop_oneof![4 => 0.0..100.0, 2 => -100.0..0.0, 1 => Just(0.0), 1 => Just(f64::NAN), 1 => any::<f64>()], 12,
        ),
        modem in prop::sample::select(vec![Modem::QpskHalf, Modem::DvbS2, Modem::DvbS2x]),
        storm: bool,
        seed: u64,
    ) {
        let base = ahmedabad(modem);
        let request = Request {
            latitude_deg: numbers[0],
            satellite_longitude_deg: 72.0 + numbers[1] / 4.0,
            rain_rate_mm_h: numbers[2],
            rain_percent: numbers[3],
            frequency_ghz: numbers[4],
            rain_height_km: numbers[5] / 10.0,
            dish_m: numbers[6],
            eirp_dbw: numbers[7],
            noise_k: numbers[8],
            margin_db: numbers[9] / 10.0,
            storm_db: storm.then_some(numbers[10]),
            duration_s: numbers[11],
            seed,
            ..base
        };
        if let Ok(found) = request.answer() {
            for level in found.exceeded.iter().chain([&found.clear]) {
                prop_assert!(level.es_n0_db.is_finite() && level.rain_db >= 0.0 && level.rate_bps >= 0.0);
            }
            prop_assert!(found.series.rain_db.iter().all(|db| db.is_finite() && *db >= 0.0));
            prop_assert!((0.0..=1.0).contains(&found.available) && found.mean_rate_bps.is_finite());
        }
    }
}
