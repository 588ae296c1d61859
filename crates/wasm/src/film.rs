//! Where a scenario's satellites are while it runs, and which paths its flows take.

use bentpipe_sim::scenario::Scenario;
use bentpipe_sky::{PathStretch, SkyView};
use bentpipe_units::{Span, Time};
use serde::Serialize;

/// Frames of a film, the first and the last one counted.
const FRAMES: u32 = 121;

/// Satellites and paths over time.
#[derive(Serialize)]
pub(crate) struct Film {
    /// Name, latitude and longitude in degrees. A node of a path is one of them, or else, from their number on, a satellite.
    stations: Vec<(String, f64, f64)>,
    times_s: Vec<f64>,
    /// For each time the satellites' latitudes and longitudes in turn, in hundredths of a degree.
    places: Vec<Vec<i32>>,
    paths: Vec<FlowPath>,
}

/// The path of a flow.
#[derive(Serialize)]
struct FlowPath {
    flow: String,
    /// From a time in seconds on over these nodes; over none without a path.
    stretches: Vec<(f64, Vec<u32>)>,
}

impl Film {
    /// That of a scenario with satellites.
    pub(crate) fn of(scenario: &Scenario, until_s: f64) -> Option<Film> {
        let mut view = SkyView::of(&scenario.constellation.as_ref()?.sky);
        let until = Time::ZERO + Span::from_secs(until_s);
        let times_s: Vec<f64> =
            (0..FRAMES).map(|frame| until_s * f64::from(frame) / f64::from(FRAMES - 1)).collect();
        let hundredths = |degrees: f64| (degrees * 100.0) as i32;
        let places = times_s.iter().map(|at_s| {
            let positions = view.positions(Time::ZERO + Span::from_secs(*at_s));
            positions
                .iter()
                .flat_map(|(latitude, longitude, _)| [*latitude, *longitude].map(hundredths))
                .collect()
        });
        let places = places.collect();
        let row = |PathStretch { from, nodes, .. }: PathStretch| (from.as_secs(), nodes);
        let paths = scenario.flows.iter().map(|flow| {
            let found = view.follow([flow.from as u32, flow.to as u32], until, || true);
            FlowPath { flow: flow.name.clone(), stretches: found.into_iter().map(row).collect() }
        });
        let paths = paths.collect();
        Some(Film { stations: view.stations(), times_s, places, paths })
    }
}
