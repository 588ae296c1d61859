//! The satellites of a scenario without a run: where they are, and the paths between stations.

use bentpipe_sky::{Look, Pass, PathStretch, SkyView};
use bentpipe_units::{Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::scenario::ScenarioError;

/// Steps between two looks for a signal.
const STEPS: u32 = 1024;

#[pyclass(module = "bentpipe._core")]
pub(crate) struct Sky {
    view: SkyView,
    stations: Vec<(String, f64, f64)>,
    duration: Option<Span>,
}

/// From when on in seconds, over which nodes, with which delays in ms.
type Stretch = (f64, Vec<u32>, Vec<f64>);

/// The number of a satellite, its elevation and azimuth in degrees, and its range in km.
type Seen = (u32, f64, f64, f64);

fn seen(look: Look) -> Seen {
    (look.satellite, look.elevation_deg, look.azimuth_deg, look.range_km)
}

#[pymethods]
impl Sky {
    #[new]
    fn new(text: &str) -> PyResult<Sky> {
        let scenario = bentpipe_scenario::parse_str("text", text, &[]);
        let scenario = scenario.map_err(crate::scenario::scenario_error)?;
        let satellites = scenario.constellation.as_ref().ok_or_else(|| {
            ScenarioError::new_err((
                "expected satellites, found a scenario without",
                "text",
                None::<usize>,
                "constellation",
            ))
        })?;
        let view = SkyView::of(&satellites.sky);
        let stations = view.stations();
        Ok(Sky { view, stations, duration: scenario.duration })
    }

    #[getter]
    fn stations(&self) -> Vec<(String, f64, f64)> {
        self.stations.clone()
    }

    #[getter]
    fn satellites(&self) -> Vec<String> {
        self.view.satellites()
    }

    #[getter]
    fn step_s(&self) -> f64 {
        self.view.step().as_secs()
    }

    #[getter]
    fn duration_s(&self) -> Option<f64> {
        self.duration.map(Span::as_secs)
    }

    #[getter]
    fn outage_s(&self) -> f64 {
        self.view.outage().as_secs()
    }

    #[getter]
    fn elevation_deg(&self) -> f64 {
        self.view.elevation_deg()
    }

    fn positions(&mut self, at_s: f64) -> Vec<(f64, f64, f64)> {
        self.view.positions(Time::ZERO + Span::from_secs(at_s))
    }

    #[getter]
    fn ages_days(&self) -> Option<(f64, f64)> {
        self.view.ages_days().map(|[newest, oldest]| (newest, oldest))
    }

    fn visible(&mut self, station: &str, at_s: f64) -> PyResult<Vec<Seen>> {
        let station = self.number(station)?;
        let looks = self.view.visible(station, Time::ZERO + Span::from_secs(at_s));
        Ok(looks.into_iter().map(seen).collect())
    }

    fn passes(
        &mut self,
        py: Python<'_>,
        station: &str,
        until_s: f64,
        every_s: f64,
    ) -> PyResult<Vec<(f64, f64, f64, Seen)>> {
        let station = self.number(station)?;
        let until = Time::ZERO + Span::from_secs(until_s);
        let mut raised = Ok(());
        let found = self.view.passes(station, until, Span::from_secs(every_s), || {
            raised = py.check_signals();
            raised.is_ok()
        });
        raised?;
        let row = |Pass { times: [rise, set], highest: (at, look), .. }: Pass| {
            (rise.as_secs(), at.as_secs(), set.as_secs(), seen(look))
        };
        Ok(found.into_iter().map(row).collect())
    }

    fn follow(&mut self, py: Python<'_>, source: &str, to: &str, until_s: f64) -> PyResult<Vec<Stretch>> {
        let ends = [self.number(source)?, self.number(to)?];
        let (mut steps, mut raised) = (0, Ok(()));
        let found = self.view.follow(ends, Time::ZERO + Span::from_secs(until_s), || {
            steps += 1;
            if steps % STEPS == 0 {
                raised = py.check_signals();
            }
            raised.is_ok()
        });
        raised?;
        let row = |PathStretch { from, nodes, delays }: PathStretch| {
            (from.as_secs(), nodes, delays.into_iter().map(|delay| 1e3 * delay.as_secs()).collect())
        };
        Ok(found.into_iter().map(row).collect())
    }
}

impl Sky {
    fn number(&self, station: &str) -> PyResult<u32> {
        let found = (0..).zip(&self.stations).find(|(_, (name, ..))| name == station);
        found.map(|(number, _)| number).ok_or_else(|| {
            let names: Vec<&str> = self.stations.iter().map(|(name, ..)| name.as_str()).collect();
            PyValueError::new_err(format!("expected a station ({}), found {station:?}", names.join(", ")))
        })
    }
}
