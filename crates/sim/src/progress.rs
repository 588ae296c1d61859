//! How far a run has come, and why it has no result.

use std::fmt;
use std::io;

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time in seconds.
    pub simulated_s: f64,
    /// When the run ends at the latest, in simulated seconds; none when its flows decide.
    pub end_s: Option<f64>,
    /// Events handled.
    pub events: u64,
}

/// Why a run has no result.
#[derive(Debug)]
pub enum RunError {
    /// The progress function asked to stop.
    Interrupted {
        /// Simulated time reached, in seconds.
        simulated_s: f64,
    },
    /// Every flow was over before the warm-up was.
    WarmUp {
        /// When the last flow was over, in seconds.
        over_s: f64,
        /// How long the warm-up is, in seconds.
        warm_up_s: f64,
    },
    /// The capture could not be written; the message is that of its output.
    Capture(io::Error),
    /// A flow cannot have the kernel that it asks for: a line that says why.
    NoKernel(String),
    /// A kernel has stopped: a line that says why.
    Kernel(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Interrupted { simulated_s } => {
                write!(f, "interrupted at {simulated_s:.3} s of simulated time")
            }
            RunError::WarmUp { over_s, warm_up_s } => write!(
                f,
                "warm_up: expected a time before the last flow is over ({over_s:.3} s), found {warm_up_s} s"
            ),
            RunError::NoKernel(why) | RunError::Kernel(why) => f.write_str(why),
            RunError::Capture(error) => write!(f, "cannot write the capture: {error}"),
        }
    }
}

impl std::error::Error for RunError {}
