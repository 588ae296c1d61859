//! The calls that have no safe wrapper in a library that we use.
#![allow(
    unsafe_code,
    reason = "unshare, ioctl, sched_setscheduler, prctl and packet(7) are plain system calls"
)]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;

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

/// What stands before each packet that a TUN device's file gives and takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Nothing.
    Bare,
    /// A `struct virtio_net_hdr`, all zero as a rule.
    Header,
    /// A `struct virtio_net_hdr`, which may leave the checksum to the reader, and the cutting into segments.
    Offloads,
}

/// Makes the opened /dev/net/tun a TUN device called `name`, which lives as long as the file is open.
pub(crate) fn attach_tun(file: &File, name: &str, framing: Framing) -> io::Result<()> {
    let header = if framing == Framing::Bare { 0 } else { libc::IFF_VNET_HDR };
    let mut request = InterfaceRequest {
        name: [0; libc::IFNAMSIZ],
        flags: (libc::IFF_TUN | libc::IFF_NO_PI | header) as libc::c_short,
        rest: [0; 22],
    };
    let room = libc::IFNAMSIZ - 1;
    for (slot, byte) in request.name[..room].iter_mut().zip(name.bytes()) {
        *slot = byte;
    }
    // SAFETY: the descriptor is open, and the request is an `ifreq` in size and layout that outlives the call.
    checked(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    if framing == Framing::Offloads {
        let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
        // Linux before 6.2 does not know those of UDP.
        offload(file, tcp | libc::TUN_F_USO4 | libc::TUN_F_USO6).or_else(|_| offload(file, tcp))?;
    }
    Ok(())
}

fn offload(file: &File, features: libc::c_uint) -> io::Result<()> {
    // SAFETY: the descriptor is open, and TUNSETOFFLOAD takes no pointer.
    checked(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, libc::c_ulong::from(features)) })
}

/// Opens a packet socket on the interface of the number `index`: every frame that comes in there, whoever it is for, with a
/// `struct virtio_net_hdr` before it; none that goes out.
pub(crate) fn open_interface(index: u32) -> io::Result<File> {
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: takes no pointer. With the protocol 0 nothing arrives before the socket is bound.
    let descriptor = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
    checked(descriptor)?;
    // SAFETY: the descriptor is open, and nobody else has it.
    let file = unsafe { File::from_raw_fd(descriptor) };
    set(&file, libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1_i32)?;
    set(&file, libc::SOL_PACKET, libc::PACKET_AUXDATA, 1_i32)?;
    set(&file, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1_i32)?;
    set(&file, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, ROOM)?;
    set(&file, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, ROOM)?;
    let everybody = libc::packet_mreq {
        mr_ifindex: index as libc::c_int,
        mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(&file, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, everybody)?;
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as libc::c_ushort,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: index as libc::c_int,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the descriptor is open, and the address is a `sockaddr_ll` that outlives the call.
    checked(unsafe { libc::bind(file.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(file)
}

/// Bytes that may wait in a packet socket.
const ROOM: libc::c_int = 16 << 20;

fn set<T: Copy>(file: &File, level: libc::c_int, name: libc::c_int, value: T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the descriptor is open, and the value outlives the call.
    checked(unsafe { libc::setsockopt(file.as_raw_fd(), level, name, (&raw const value).cast(), length) })
}

/// Frames that a packet socket had no room for, since this was asked last.
pub(crate) fn frames_dropped(file: &File) -> io::Result<u64> {
    let mut counts = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    let (level, name) = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
    // SAFETY: the descriptor is open, and both places outlive the call and are as long as it is told.
    checked(unsafe {
        libc::getsockopt(file.as_raw_fd(), level, name, (&raw mut counts).cast(), &raw mut length)
    })?;
    Ok(u64::from(counts.tp_drops))
}

/// Reads the next frame of a packet socket; gives its length, the header before it included, and the VLAN tag that the kernel
/// has taken out of it, as it stands on the wire.
pub(crate) fn receive_frame(file: &File, into: &mut [u8]) -> io::Result<(usize, Option<[u8; 4]>)> {
    /// A control message with its header, aligned as one.
    #[repr(C, align(8))]
    struct Control([u8; 64]);
    let mut control = Control([0; 64]);
    let mut piece = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: a `msghdr` of zeros is one without anything.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len();
    // SAFETY: the descriptor is open; the pieces and the control buffer outlive the call and are as long as it is told.
    let length = unsafe { libc::recvmsg(file.as_raw_fd(), &raw mut message, 0) };
    let Ok(length) = usize::try_from(length) else { return Err(io::Error::last_os_error()) };
    let mut tag = None;
    // SAFETY: the kernel has written whole control messages into the buffer and told their length in `message`.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while let Some(message_header) = header.as_ref() {
            if (message_header.cmsg_level, message_header.cmsg_type)
                == (libc::SOL_PACKET, libc::PACKET_AUXDATA)
            {
                let data: libc::tpacket_auxdata = ptr::read_unaligned(libc::CMSG_DATA(header).cast());
                if data.tp_status & libc::TP_STATUS_VLAN_VALID != 0 {
                    let [a, b] = match data.tp_status & libc::TP_STATUS_VLAN_TPID_VALID {
                        0 => (libc::ETH_P_8021Q as u16).to_be_bytes(),
                        _ => data.tp_vlan_tpid.to_be_bytes(),
                    };
                    let [c, d] = data.tp_vlan_tci.to_be_bytes();
                    tag = Some([a, b, c, d]);
                }
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
    }
    Ok((length, tag))
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
