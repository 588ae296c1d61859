//! One run, from the thread of its own that its namespace needs.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use crate::driver::Driver;
use crate::options::Shared;
use crate::{LiveError, LiveOptions, Row, ScenarioFlow, Settings, kernel};

/// How often the caller hears of the run.
const TURN: Duration = Duration::from_millis(20);

/// Runs `settings` against this machine's kernel, over the links of a scenario's `flow` or over those of the settings. `progress` is called about fifty times a second with the bytes that have
/// gone over, and may end the run.
///
/// # Errors
/// When a setting, the machine or the user does not allow it, when the connection or the socket program fails, or when
/// `progress` ends it. Namespace, device and program are gone in any case.
pub fn interop(
    settings: &Settings,
    flow: Option<ScenarioFlow<'_>>,
    options: &LiveOptions,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Row, LiveError> {
    let shared = Arc::new(Shared::default());
    thread::scope(|scope| {
        let run = {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("bentpipe-live".to_owned())
                .spawn_scoped(scope, move || Driver::set_up(settings, flow, options, shared)?.run())
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
