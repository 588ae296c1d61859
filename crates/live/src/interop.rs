//! One run, from the thread of its own that its namespace needs.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::driver::Driver;
use crate::{LiveError, Row, Settings, kernel};

/// How often the caller hears of the run.
const TURN: Duration = Duration::from_millis(20);

/// What a run needs beside its settings.
#[derive(Clone, Debug)]
pub struct Options {
    /// The socket program and its arguments; its task comes behind them.
    pub program: Vec<String>,
    /// Write every packet that the data's sender sent and received to this pcapng file.
    pub pcap: Option<PathBuf>,
}

/// What the caller's thread and the run's share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Bytes that were delivered or acknowledged.
    pub(crate) moved: AtomicU64,
    /// The run is to end.
    pub(crate) stop: AtomicBool,
}

/// Runs `settings` against this machine's kernel. `progress` is called about fifty times a second with the bytes that have
/// gone over, and may end the run.
///
/// # Errors
/// When a setting, the machine or the user does not allow it, when the connection or the socket program fails, or when
/// `progress` ends it. Namespace, device and program are gone in any case.
pub fn interop(
    settings: &Settings,
    options: &Options,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Row, LiveError> {
    let shared = Arc::new(Shared::default());
    thread::scope(|scope| {
        let run = {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("bentpipe-live".to_owned())
                .spawn_scoped(scope, move || Driver::set_up(settings, options, shared)?.run())
                .map_err(|error| LiveError::while_doing("starting a thread", &error))?
        };
        while !run.is_finished() {
            thread::sleep(TURN);
            if progress(shared.moved.load(Ordering::Relaxed)).is_break() {
                shared.stop.store(true, Ordering::Relaxed);
            }
        }
        run.join().unwrap_or_else(|_| Err(LiveError::Failed("the driver panicked".to_owned())))
    })
}

/// The release of the running kernel, as `uname -r` gives it.
///
/// # Errors
/// When /proc is not there.
pub fn kernel_release() -> Result<String, LiveError> {
    kernel::release().map_err(|error| LiveError::while_doing("reading the kernel's release", &error))
}

/// The congestion controls that the running kernel has, such as `reno`.
///
/// # Errors
/// When /proc is not there.
pub fn kernel_controls() -> Result<Vec<String>, LiveError> {
    kernel::controls().map_err(|error| LiveError::while_doing("reading the kernel's controls", &error))
}
