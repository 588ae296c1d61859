//! The calls that have no safe wrapper in a library that we use.
#![allow(unsafe_code, reason = "unshare, TUNSETIFF, sched_setscheduler and prctl are plain system calls")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The request of TUNSETIFF: `struct ifreq` of linux/if.h up to the flags, and room for the rest of its union.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; libc::IFNAMSIZ],
    flags: libc::c_short,
    rest: [u8; 22],
}

fn checked(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Moves the calling thread, and no other, into a network namespace of its own.
pub(crate) fn enter_new_network() -> io::Result<()> {
    // SAFETY: takes no pointer; CLONE_NEWNET changes nothing that other threads share.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNET) })
}

/// Makes the opened /dev/net/tun a TUN device called `name`, which lives as long as the file is open.
pub(crate) fn attach_tun(file: &File, name: &str) -> io::Result<()> {
    let mut request = InterfaceRequest {
        name: [0; libc::IFNAMSIZ],
        flags: (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short,
        rest: [0; 22],
    };
    let room = libc::IFNAMSIZ - 1;
    for (slot, byte) in request.name[..room].iter_mut().zip(name.bytes()) {
        *slot = byte;
    }
    // SAFETY: the descriptor is open, and the request is an `ifreq` in size and layout that outlives the call.
    checked(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })
}

/// Lets the calling thread run before those of other programs (SCHED_FIFO); its children do not inherit it.
pub(crate) fn run_first() -> io::Result<()> {
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: 0 is the calling thread, and the parameter outlives the call.
    checked(unsafe { libc::sched_setscheduler(0, policy, &raw const priority) })
}

/// Has the calling thread woken when its time is up, not up to 50 µs later.
pub(crate) fn wake_on_time() -> io::Result<()> {
    let nanoseconds: libc::c_ulong = 1;
    // SAFETY: takes no pointer.
    checked(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, nanoseconds) })
}
