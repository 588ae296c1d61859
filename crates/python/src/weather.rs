//! Rain over a satellite link, for Python.

use bentpipe_weather::fade::Request;
use bentpipe_weather::places::{PLACES, Place};
use bentpipe_weather::rain::rain_height_km;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The answer to a request, both as JSON; what is wrong with the request, as `key: expected …`.
#[pyfunction]
pub(crate) fn fade(py: Python<'_>, request: &str) -> PyResult<String> {
    let request: Request =
        serde_json::from_str(request).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let answer = py.detach(|| request.answer());
    let answer = answer.map_err(|error| PyValueError::new_err(error.to_string()))?;
    serde_json::to_string(&answer).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A place: latitude and longitude in degrees, heights of the ground and of rain in km, rain rate exceeded for 0.01 % of a year in mm/h,
/// and how much of it it rains, in percent.
type Row = (&'static str, f64, f64, f64, f64, f64, f64);

/// Every place that has a name.
#[pyfunction]
pub(crate) fn places() -> Vec<Row> {
    let row = |place: &Place| {
        let (heights, rain) =
            ((place.altitude_km, place.rain_height_km), (place.rain_rate_mm_h, place.rain_percent));
        (place.name, place.latitude_deg, place.longitude_deg, heights.0, heights.1, rain.0, rain.1)
    };
    PLACES.iter().map(row).collect()
}

/// Height of rain in km above the sea by latitude alone.
#[pyfunction]
pub(crate) fn rain_height(latitude_deg: f64) -> f64 {
    rain_height_km(latitude_deg)
}
