//! The Python module `bentpipe._core`: scenarios in, results out, nothing computed here.

mod bpf;
mod gateway;
mod hooks;
mod indent;
mod live;
mod own;
mod scenario;
mod series;
mod sky;
mod weather;

use std::path::PathBuf;

use bentpipe_apps::ApplicationFactory;
use bentpipe_files::space;
use bentpipe_path::gateway::GatewayFactory;
use bentpipe_path::{FecSpec, GeoHop, GeoModel, LossFactory, QueueFactory, QueueSpec};
use bentpipe_sim::scenario as reader;
use bentpipe_tcp::control::Composition;
use bentpipe_tcp::recovery::RecoveryFactory;
use bentpipe_tcp::slow_start::SlowStartFactory;
use bentpipe_tcp::{Catalogue, Profile};
use bentpipe_units::registry::Kind;
use bentpipe_units::{Bytes, Rate, Span, fault};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// The version of the simulator.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// What names the engine: the same for the same sources of the simulator and of what it uses.
#[pyfunction]
fn engine_version() -> &'static str {
    env!("BENTPIPE_ENGINE")
}

#[pyfunction]
fn presets() -> Vec<(&'static str, String)> {
    reader::presets()
}

/// The schemes of a kind, each with its name and summary, as `bentpipe list` prints them.
#[pyfunction]
fn schemes(kind: &str) -> PyResult<Vec<(String, String)>> {
    fn all<K: Kind + ?Sized>(catalogue: &Catalogue) -> Vec<(String, String)> {
        catalogue.all::<K>().map(|scheme| (scheme.name().to_owned(), scheme.summary().to_owned())).collect()
    }
    let ours = &Catalogue::default();
    Ok(match kind {
        "variants" => reader::variants(ours),
        // Alone and around each other.
        "controls" => Composition::all(ours).iter().map(|one| (one.name(), one.summary())).collect(),
        "recoveries" => all::<dyn RecoveryFactory>(ours),
        "starts" => all::<dyn SlowStartFactory>(ours),
        "applications" => all::<dyn ApplicationFactory>(ours),
        "queues" => all::<dyn QueueFactory>(ours),
        "losses" => all::<dyn LossFactory>(ours),
        "repairs" => all::<FecSpec>(ours),
        "gateways" => all::<dyn GatewayFactory>(ours),
        "profiles" => {
            let all = Profile::ALL.into_iter();
            all.map(|profile| (profile.name().to_owned(), profile.summary().to_owned())).collect()
        }
        _ => return Err(PyValueError::new_err(format!("expected a kind of scheme, found {kind:?}"))),
    })
}

/// Of each variant its control, recovery and slow start, and what it is beside its recovery.
#[pyfunction]
fn parts_of_variants() -> Vec<[String; 4]> {
    reader::parts_of_variants(&Catalogue::default())
}

#[pyfunction]
fn schema() -> PyResult<String> {
    serde_json::to_string_pretty(&reader::schema(&Catalogue::default()))
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The JSON Schema of what `RunResult::json` gives.
#[pyfunction]
fn result_schema() -> PyResult<String> {
    serde_json::to_string_pretty(&bentpipe_sim::RunResult::schema())
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Raises unless `text` is a quantity of its kind as scenarios write it.
#[pyfunction]
fn check_quantity(kind: &str, text: &str) -> PyResult<()> {
    let checked = match kind {
        "time" => text.parse::<Span>().map(drop),
        "rate" => text.parse::<Rate>().map(drop),
        "size" => text.parse::<Bytes>().map(drop),
        "queue" => text.parse::<QueueSpec>().map(drop),
        _ => Err(fault!("time, rate, size or queue", "{kind:?}")),
    };
    checked.map_err(|fault| PyValueError::new_err(fault.to_string()))
}

/// The bytes that `text`, a size as scenarios write it, says.
#[pyfunction]
fn parse_size(text: &str) -> PyResult<u64> {
    text.parse::<Bytes>().map(Bytes::get).map_err(|fault| PyValueError::new_err(fault.to_string()))
}

/// Whether `more` bytes on the disk of `path` leave free what recordings leave free.
#[pyfunction]
fn has_room(path: PathBuf, more: u64) -> PyResult<bool> {
    Ok(space::has_room(&path, more)?)
}

/// Distance in km and delay in s, one way, between a station and a geostationary satellite.
#[pyfunction]
fn slant_range(
    model: &str,
    latitude_deg: f64,
    longitude_deg: f64,
    satellite_longitude_deg: f64,
) -> PyResult<(f64, f64)> {
    let model = geo_model(model)?;
    let hop = GeoHop { latitude_deg, longitude_deg, satellite_longitude_deg };
    let km = hop.slant_range_km(&model).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((km, model.delay(km).as_secs()))
}

/// Distance in km and delay in s, one way, to a geostationary satellite so many degrees above the horizon.
#[pyfunction]
fn slant_range_at_elevation(model: &str, elevation_deg: f64) -> PyResult<(f64, f64)> {
    let model = geo_model(model)?;
    let km = model.slant_range_at_elevation_km(elevation_deg);
    Ok((km, model.delay(km).as_secs()))
}

fn geo_model(name: &str) -> PyResult<GeoModel> {
    match name {
        "physical" => Ok(GeoModel::PHYSICAL),
        "sack" => Ok(GeoModel::SACK),
        _ => Err(PyValueError::new_err(format!("expected \"physical\" or \"sack\", found {name:?}"))),
    }
}

/// Lets two folders of one file system change places, in one step.
#[pyfunction]
fn exchange(one: PathBuf, other: PathBuf) -> PyResult<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        let exchanged = renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE);
        exchanged.map_err(|error| std::io::Error::from(error).into())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (one, other);
        Err(std::io::Error::from(std::io::ErrorKind::Unsupported).into())
    }
}

/// The Rust side of bentpipe.
#[pymodule]
mod _core {
    /// Whether this build loads BPF programs.
    #[pymodule_export]
    const HAS_BPF_LOADER: bool = cfg!(all(target_os = "linux", feature = "bpf"));
    #[pymodule_export]
    use super::bpf::{HeldControls, bpf_hold, bpf_install, bpf_remove};
    #[pymodule_export]
    use super::gateway::{KernelGateway, bpf_gateway};
    #[pymodule_export]
    use super::hooks::{
        PyAck, PyExit, PyLoss, PyMark, PyPartialAck, PyQueued, PySent, PyTimeout, PyWindow, StandardHooks,
    };
    #[pymodule_export]
    use super::indent::indented;
    #[pymodule_export]
    use super::live::{
        LiveFailed, LiveMissing, emulate, interop, kernel_controls, kernel_release, live_flow, live_plan,
        live_schema,
    };
    #[pymodule_export]
    use super::own::{OwnScheme, PyConnection, PyQueueView, PyRandom};
    #[pymodule_export]
    use super::scenario::{RunResult, Scenario, columns, scenario_error_line};
    #[pymodule_export]
    use super::series::Points;
    #[pymodule_export]
    use super::sky::Sky;
    #[pymodule_export]
    use super::weather::{fade, places, rain_height};
    #[pymodule_export]
    use super::{
        check_quantity, engine_version, exchange, has_room, parse_size, parts_of_variants, presets,
        result_schema, schema, schemes, slant_range, slant_range_at_elevation, version,
    };
}
