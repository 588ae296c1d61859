//! XFWA in the running kernel, at an interface.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::live::LiveMissing;

/// XFWA at an interface until `release`, and not after the process has ended.
#[pyclass(frozen, module = "bentpipe._core")]
pub(crate) struct KernelGateway {
    #[cfg(all(target_os = "linux", feature = "bpf"))]
    gateway: std::sync::Mutex<Option<bentpipe_bpf::KernelGateway>>,
}

/// Puts the gateway of a BPF object at the interface with this index. `rtt` is `handshake`, or a time for all flows; with
/// `isl_delay` it is by hops.
#[cfg(all(target_os = "linux", feature = "bpf"))]
#[pyfunction]
#[pyo3(signature = (object, interface, *, rate, queue, rtt, isl_delay, least, delta_factor, link_header))]
// Python gives them by name.
#[allow(clippy::too_many_arguments)]
pub(crate) fn bpf_gateway(
    py: Python<'_>,
    object: PathBuf,
    interface: i32,
    rate: &str,
    queue: &str,
    rtt: &str,
    isl_delay: Option<&str>,
    least: &str,
    delta_factor: u32,
    link_header: u32,
) -> PyResult<KernelGateway> {
    use bentpipe_bpf::{GatewaySettings, RttFrom};
    use bentpipe_units::{Bytes, Rate, Span};
    use pyo3::exceptions::PyValueError;

    use crate::bpf::raise;

    let wrong = |name: &str, error: String| PyValueError::new_err(format!("{name}: {error}"));
    let span = |name: &str, text: &str| {
        text.parse::<Span>().map(Span::as_nanos).map_err(|error| wrong(name, error.to_string()))
    };
    let bytes = |name: &str, text: &str| {
        text.parse::<Bytes>().map(Bytes::get).map_err(|error| wrong(name, error.to_string()))
    };
    let bps = rate.parse::<Rate>().map_err(|error| wrong("--rate", error.to_string()))?.as_bps();
    if bps == 0 || bps / 8 >= 1 << 31 {
        return Err(wrong("--rate", format!("expected above 0 and below 17 Gbit/s, found {rate}")));
    }
    let rtt = match (isl_delay, rtt) {
        (Some(delay), _) => RttFrom::Hops(span("--isl-delay", delay)?),
        (None, "handshake") => RttFrom::Handshake,
        (None, told) => RttFrom::Told(span("--rtt", told)?),
    };
    let settings = GatewaySettings {
        rate: bps / 8,
        buffer: match queue.strip_suffix("packets") {
            Some(count) => {
                let count: u64 =
                    count.trim().parse().map_err(|_| wrong("--queue", format!("found {queue:?}")))?;
                count * 1500
            }
            None => bytes("--queue", queue)?,
        },
        rtt,
        least: u32::try_from(bytes("--least", least)?)
            .map_err(|_| wrong("--least", "expected less than 4 GiB".to_owned()))?,
        delta_factor,
        link_header,
    };
    let gateway = py.detach(|| {
        let mut gateway = bentpipe_bpf::KernelGateway::load(&object, &settings)?;
        gateway.attach(interface).map(|()| gateway)
    });
    let gateway = gateway.map_err(|error| raise(&error))?;
    Ok(KernelGateway { gateway: std::sync::Mutex::new(Some(gateway)) })
}

#[cfg(all(target_os = "linux", feature = "bpf"))]
#[pymethods]
impl KernelGateway {
    /// Segments that left by the interface and that came in, windows lowered, their bytes together, active flows, and
    /// their mean round-trip time in seconds.
    fn counts(&self) -> PyResult<(u64, u64, u64, u64, u32, f64)> {
        let counts = self.ask(bentpipe_bpf::KernelGateway::counts)?;
        Ok((
            counts.segments_forward,
            counts.segments_backward,
            counts.windows_lowered,
            counts.written_bytes,
            counts.flows,
            counts.mean_rtt_ns as f64 * 1e-9,
        ))
    }

    /// Flows in the table, all of whose keys are read.
    fn flows_remembered(&self) -> PyResult<u32> {
        self.ask(bentpipe_bpf::KernelGateway::flows_remembered)
    }

    /// Takes it away.
    fn release(&self) {
        if let Ok(mut held) = self.gateway.lock() {
            held.take();
        }
    }
}

#[cfg(all(target_os = "linux", feature = "bpf"))]
impl KernelGateway {
    fn ask<T>(
        &self,
        what: impl FnOnce(&bentpipe_bpf::KernelGateway) -> Result<T, bentpipe_bpf::BpfError>,
    ) -> PyResult<T> {
        let missing = || LiveMissing::new_err("the gateway was released");
        let held = self.gateway.lock().map_err(|_| missing())?;
        what(held.as_ref().ok_or_else(missing)?).map_err(|error| crate::bpf::raise(&error))
    }
}

#[cfg(not(all(target_os = "linux", feature = "bpf")))]
#[pyfunction]
#[pyo3(signature = (object, interface, *, rate, queue, rtt, isl_delay, least, delta_factor, link_header))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn bpf_gateway(
    object: PathBuf,
    interface: i32,
    rate: &str,
    queue: &str,
    rtt: &str,
    isl_delay: Option<&str>,
    least: &str,
    delta_factor: u32,
    link_header: u32,
) -> PyResult<KernelGateway> {
    let _ =
        (object, interface, rate, queue, rtt, isl_delay, least, delta_factor, link_header, KernelGateway {});
    Err(LiveMissing::new_err(crate::bpf::MISSING))
}

#[cfg(not(all(target_os = "linux", feature = "bpf")))]
#[pymethods]
impl KernelGateway {
    fn flows_remembered(&self) -> PyResult<u32> {
        Err(LiveMissing::new_err(crate::bpf::MISSING))
    }

    fn counts(&self) -> PyResult<(u64, u64, u64, u64, u32, f64)> {
        Err(LiveMissing::new_err(crate::bpf::MISSING))
    }

    fn release(&self) {}
}
