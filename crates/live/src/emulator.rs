//! The emulator: any scenario's network between the kernels of its hosts, driven by the wall clock.
//!
//! Each host is a network namespace with a TUN device, or another machine behind an interface of this one. The emulator's
//! thread reads what the hosts send, cut into the packets that a wire would see, and hands each on when the network says that it
//! has arrived.

mod bundle;
mod frame;
mod host_routes;
mod interface;
mod lateness;
mod machine;
mod offload;
mod port;
mod report;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use bentpipe_scenario::Scenario;
use bentpipe_units::Span;

use self::machine::Machine;
pub use self::report::{EmulatorReport, Snapshot};
use crate::LiveError;

/// How often the caller is asked whether the run is to go on.
const TURN: Duration = Duration::from_millis(50);

/// What an emulator needs beside its scenario.
#[derive(Clone, Debug, Default)]
pub struct EmulatorOptions {
    /// For how long; without it, until the caller ends it.
    pub time: Option<Span>,
    /// Write every packet that a host sends or receives to this pcapng file.
    pub pcap: Option<PathBuf>,
    /// Whether hosts leave checksums and the cutting of long segments to the emulator, and are given packets that come together
    /// together. The links see the same packets either way.
    pub offloads: bool,
    /// Hosts that are other machines, each with the interface of this one at which it is: none, or two.
    pub interfaces: Vec<(String, String)>,
    /// Whether the machine's clock stands still while programs work, and timers are exact.
    pub virtual_clock: bool,
}

/// Emulates the network of `scenario` until its time is over or `seen` ends it; both give the report. `seen` is called about
/// twenty times a second, a few times a second with how things stand, and first when every host is ready: the scenario's time
/// begins when it returns from that.
///
/// # Errors
/// When the scenario, the machine or the user does not allow it, or a device fails. Namespaces and devices are gone in any
/// case.
pub fn emulate(
    scenario: &Scenario,
    options: &EmulatorOptions,
    seen: &mut dyn FnMut(Option<Snapshot>) -> ControlFlow<()>,
) -> Result<EmulatorReport, LiveError> {
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    let (begin, may_begin) = mpsc::channel();
    let mut begin = Some(begin);
    thread::scope(|scope| {
        let run = {
            let stop = &stop;
            // Namespaces are a thread's own.
            thread::Builder::new()
                .name("bentpipe-emulate".to_owned())
                .spawn_scoped(scope, move || {
                    Machine::set_up(scenario, options)?.run(stop, &sender, &may_begin)
                })
                .map_err(|error| LiveError::while_doing("starting a thread", &error))?
        };
        loop {
            let snapshot = match receiver.recv_timeout(TURN) {
                Ok(snapshot) => Some(snapshot),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let ready = snapshot.is_some();
            if seen(snapshot).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
            if ready {
                begin.take();
            }
        }
        run.join().unwrap_or_else(|_| Err(LiveError::Failed("the emulator panicked".to_owned())))
    })
}
