//! The wall clock: our TCP and our path against the TCP of the Linux kernel, over a TUN device. Empty on other systems.
//!
//! [`interop`] makes a network namespace with a TUN device in it, starts an ordinary socket program there, and lets the
//! endpoint of `bentpipe-tcp`, or a second kernel, talk to it through the network of `bentpipe-net`: one link, or every link of a
//! scenario. The state machines are those of the simulator; only the driver differs.
#![cfg(target_os = "linux")]

mod clock;
mod driver;
mod emulator;
mod end;
mod ends;
mod error;
mod flow;
mod host;
mod interop;
mod kernel;
mod linux;
mod namespace;
mod options;
mod packet;
mod path;
mod path_setup;
mod payload;
mod plan;
mod program;
mod reader;
mod row;
mod settings;
mod sys;

pub use emulator::{EmulatorOptions, EmulatorReport, Snapshot, emulate};
pub use error::LiveError;
pub use flow::{FlowFacts, ScenarioFlow};
pub use interop::{interop, kernel_controls, kernel_release};
pub use options::LiveOptions;
pub use path::PathStats;
pub use plan::{AppPlan, FlowPlan, TcpPlan, plan};
pub use program::SocketInfo;
pub use row::Row;
pub use settings::{ClosesFirst, Direction, DisorderBothWays, Reading, Settings};
