//! The wall clock as the time of the state machines.

use bentpipe_units::Time;
use rustix::event::{PollFd, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::LiveError;

/// Nanoseconds since it was started, by CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    zero: u64,
}

fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Clock {
    /// Starts at zero.
    pub(crate) fn start() -> Clock {
        Clock { zero: monotonic() }
    }

    /// Time since the start.
    pub(crate) fn now(self) -> Time {
        self.at(monotonic())
    }

    /// The time of a reading of CLOCK_MONOTONIC in nanoseconds, such as another program took.
    pub(crate) fn at(self, monotonic_ns: u64) -> Time {
        Time::from_nanos(monotonic_ns.saturating_sub(self.zero))
    }

    /// Sleeps until one of `fds` has something to tell, or `due` has come.
    pub(crate) fn wait(self, fds: &mut [PollFd<'_>], due: Time) -> Result<(), LiveError> {
        let left = due.since(self.now()).as_nanos();
        let timeout =
            Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as i64 };
        match poll(fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(LiveError::while_doing("waiting for packets", &error.into())),
        }
    }
}
