use std::fmt;
use std::io;

use bentpipe_units::Fault;

/// Why a live run gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveError {
    /// A setting that cannot be used.
    Setting(String),
    /// What a live run cannot make of the scenario.
    Scenario(Box<Fault>),
    /// Something that this machine or this user lacks.
    Missing(String),
    /// The run began and failed.
    Failed(String),
    /// The caller asked to stop.
    Stopped,
}

impl From<Fault> for LiveError {
    fn from(fault: Fault) -> LiveError {
        LiveError::Scenario(Box::new(fault))
    }
}

impl LiveError {
    /// A failure of the system, with what was being done.
    pub(crate) fn while_doing(what: &str, error: &io::Error) -> LiveError {
        LiveError::Failed(format!("{what}: {error}"))
    }
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiveError::Scenario(fault) => fault.fmt(f),
            LiveError::Setting(text) | LiveError::Missing(text) | LiveError::Failed(text) => {
                f.write_str(text)
            }
            LiveError::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for LiveError {}
