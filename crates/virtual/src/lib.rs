//! Linux itself as the hosts of a run: a kernel is a program (User-Mode Linux), whose clock and network are the simulator's.
//!
//! The kernel's clock stands still unless it is told to run (`time-travel=ext`), and its network devices end here (vhost-user). Linux
//! on x86_64 only; empty elsewhere.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod calendar;
mod device;
mod folder;
mod found;
mod frames;
mod guest;
mod initramfs;
mod kernel;
mod sockets;

pub use found::{Found, find};
pub use kernel::start;
