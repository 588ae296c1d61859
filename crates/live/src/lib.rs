//! The wall clock: our TCP and our path against the TCP of the Linux kernel, over a TUN device. Empty on other systems.
//!
//! [`interop`] makes a network namespace with a TUN device in it, starts an ordinary socket program there, and lets the
//! endpoint of `bentpipe-tcp`, or a second kernel, talk to it through two links of `bentpipe-path`. The state machines are
//! those of the simulator; only the driver differs.
#![cfg(target_os = "linux")]

mod clock;
mod driver;
mod end;
mod error;
mod host;
mod interop;
mod kernel;
mod linux;
mod namespace;
mod options;
mod path;
mod payload;
mod program;
mod reader;
mod row;
mod settings;
mod sys;

pub use error::LiveError;
pub use interop::{interop, kernel_controls, kernel_release};
pub use options::Options;
pub use path::PathStats;
pub use program::SocketInfo;
pub use row::Row;
pub use settings::{ClosesFirst, Direction, Reading, Settings, Way};
