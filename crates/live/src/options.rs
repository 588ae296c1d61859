//! What a run has beside its settings.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// What a run needs beside its settings.
#[derive(Clone, Debug)]
pub struct LiveOptions {
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
