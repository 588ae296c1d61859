//! Where the emulator meets a host: a TUN device in its namespace, or an interface at which another machine is.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use bentpipe_units::Time;

use super::bundle::Bundle;
use super::interface::Interface;
use super::offload::{HEADER, Offload, Packets};
use crate::namespace::{Namespace, StackSettings};
use crate::sys::{self, Framing};
use crate::{LiveError, packet};

/// Of the TUN devices, in bytes: Ethernet's.
const MTU: u32 = 1500;
/// The longest that a kernel gives at once.
const LONGEST: usize = HEADER + 18 + (1 << 16);
/// Destination and source: what stands before a VLAN tag.
const MACS: usize = 12;

/// What a host is reached through.
#[derive(Debug)]
enum Device {
    /// The TUN device, its namespace, and the namespace's table of devices; the namespace lives as long as these, or a
    /// program in it.
    Namespace {
        tun: File,
        namespace: File,
        devices: File,
    },
    Interface(Interface),
}

/// The way into a host and out of it.
#[derive(Debug)]
pub(super) struct Port {
    device: Device,
    /// Whether packets that come together are handed over together.
    bundles: bool,
    inbox: Vec<u8>,
    /// The bytes of what was read last, and its VLAN tag.
    length: usize,
    tag: Option<[u8; 4]>,
    packets: Option<Packets>,
    outbox: Bundle,
    /// When the packets in the outbox were due, and how many bytes they are on the links.
    due: Vec<Time>,
    bytes: u64,
    /// What the host has been given: packets, and bytes on the links.
    pub(super) given: (u64, u64),
    lost: u64,
}

/// What came of looking for a packet.
pub(super) enum Came {
    /// Nothing is there.
    Nothing,
    /// So many packets.
    Packets(usize),
    /// Something that is no packet.
    Unreadable,
}

impl Port {
    fn new(device: Device, bundles: bool) -> Port {
        let (inbox, outbox, due) = (vec![0; LONGEST], Bundle::default(), Vec::new());
        let (length, tag, packets) = (0, None, None);
        Port { device, bundles, inbox, length, tag, packets, outbox, due, bytes: 0, given: (0, 0), lost: 0 }
    }

    /// Moves this thread into a new namespace with `address`, and gives what holds it.
    pub(super) fn namespace(address: Ipv4Addr, offloads: bool) -> Result<Port, LiveError> {
        let stack = StackSettings {
            mtu: MTU,
            framing: if offloads { Framing::Offloads } else { Framing::Header },
            quickack: false,
            route: BTreeMap::new(),
            sysctl: BTreeMap::new(),
        };
        let tun = Namespace::enter(&address.to_string(), &stack)?.into_device();
        Namespace::route_everything()?;
        let open = |path: &str| {
            File::open(format!("/proc/thread-self/{path}"))
                .map_err(|error| LiveError::while_doing("opening /proc/thread-self", &error))
        };
        let device = Device::Namespace { tun, namespace: open("ns/net")?, devices: open("net/dev")? };
        Ok(Port::new(device, offloads))
    }

    /// At an interface of this machine.
    pub(super) fn interface(interface: Interface, offloads: bool) -> Port {
        Port::new(Device::Interface(interface), offloads)
    }

    /// The descriptor of its namespace, where it has one.
    pub(super) fn namespace_descriptor(&self) -> Option<RawFd> {
        match &self.device {
            Device::Namespace { namespace, .. } => Some(namespace.as_raw_fd()),
            Device::Interface(_) => None,
        }
    }

    /// The interface at which its host is, where it has one.
    pub(super) fn interface_name(&self) -> Option<&str> {
        match &self.device {
            Device::Namespace { .. } => None,
            Device::Interface(interface) => Some(&interface.name),
        }
    }

    /// For poll(2).
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.file().as_fd()
    }

    fn file(&self) -> &File {
        match &self.device {
            Device::Namespace { tun, .. } => tun,
            Device::Interface(interface) => &interface.socket,
        }
    }

    /// Where the IP header of `frame` begins; none where it carries another protocol.
    pub(super) fn ip(&self, frame: &[u8]) -> Option<usize> {
        match &self.device {
            Device::Namespace { .. } => Some(0),
            Device::Interface(_) => packet::ip_in_ethernet(frame),
        }
    }

    /// Takes what the host has sent next, from its device.
    pub(super) fn read(&mut self) -> Result<Came, LiveError> {
        let (read, what) = match &mut self.device {
            Device::Namespace { tun, .. } => {
                (tun.read(&mut self.inbox).map(|length| (length, None)), "reading from the TUN device")
            }
            Device::Interface(interface) => {
                (sys::receive_frame(&interface.socket, &mut self.inbox), "reading from the interface")
            }
        };
        let (length, tag) = match read {
            Ok(read) => read,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                return Ok(Came::Nothing);
            }
            Err(error) => {
                if let (Device::Interface(interface), Some(libc::ENETDOWN)) =
                    (&self.device, error.raw_os_error())
                {
                    interface.check()?;
                    return Ok(Came::Nothing);
                }
                return Err(LiveError::while_doing(what, &error));
            }
        };
        (self.length, self.tag, self.packets) = (length, tag, None);
        let Some((header, frame)) = self.inbox[..length].split_first_chunk::<HEADER>() else {
            return Ok(Came::Unreadable);
        };
        let offload = Offload::read(header);
        self.packets = Packets::of(offload, frame, self.ip(frame).unwrap_or(0));
        Ok(self.packets.as_ref().map_or(Came::Unreadable, |packets| Came::Packets(packets.count())))
    }

    /// What the host sent last, as it was read.
    pub(super) fn frame(&self) -> &[u8] {
        &self.inbox[HEADER.min(self.length)..self.length]
    }

    /// Writes the packet of the number `number` among those that were read last; whether its checksum is vouched for.
    pub(super) fn packet(&self, number: usize, into: &mut Vec<u8>) -> bool {
        let Some(packets) = &self.packets else { return false };
        packets.write(self.frame(), number, into);
        if let Some(tag) = self.tag
            && into.len() >= MACS
        {
            into.splice(MACS..MACS, tag);
        }
        packets.is_trusted()
    }

    /// Hands a packet over that was due at `due`, at once or, where its checksum is vouched for, with those that follow it:
    /// [`flush`](Port::flush) ends that. `told` hears when those were due that have been handed over.
    pub(super) fn hand_over(
        &mut self,
        bytes: &[u8],
        trusted: bool,
        due: Time,
        sent: &mut impl FnMut(&[Time]),
    ) -> Result<(), LiveError> {
        let ip = if self.bundles && trusted { self.ip(bytes) } else { None };
        let follows = self.outbox.count() > 0 && ip.is_some_and(|ip| self.outbox.add(bytes, ip));
        if !follows {
            self.flush(sent)?;
            self.outbox.begin(bytes, ip);
        }
        self.due.push(due);
        self.bytes += u64::from(self.length_on_links(bytes));
        if ip.is_none() { self.flush(sent) } else { Ok(()) }
    }

    /// Bytes of a packet as links count them: without what Ethernet puts before it.
    pub(super) fn length_on_links(&self, frame: &[u8]) -> u32 {
        let header = match &self.device {
            Device::Namespace { .. } => 0,
            Device::Interface(_) => packet::ip_in_ethernet(frame).unwrap_or(packet::ETHERNET),
        };
        frame.len().saturating_sub(header) as u32
    }

    /// Hands over what waits for more.
    pub(super) fn flush(&mut self, sent: &mut impl FnMut(&[Time])) -> Result<(), LiveError> {
        let count = self.outbox.count();
        if count == 0 {
            return Ok(());
        }
        let written = match &mut self.device {
            Device::Namespace { tun, .. } => tun.write(self.outbox.take()),
            Device::Interface(interface) => interface.socket.write(self.outbox.take()),
        };
        match written {
            Ok(_) => self.given = (self.given.0 + count as u64, self.given.1 + self.bytes),
            // The kernel has no room for it, or the device is down: a packet lost.
            Err(error) if self.is_loss(&error) => self.lost += count as u64,
            Err(error) => return Err(LiveError::while_doing("writing to the device", &error)),
        }
        sent(&self.due);
        self.due.clear();
        self.bytes = 0;
        Ok(())
    }

    fn is_loss(&self, error: &io::Error) -> bool {
        let code = error.raw_os_error();
        match self.device {
            Device::Namespace { .. } => matches!(code, Some(libc::ENOBUFS | libc::EAGAIN | libc::EIO)),
            // Longer than the interface takes, or its other end is out.
            Device::Interface(_) => matches!(
                code,
                Some(libc::ENOBUFS | libc::EAGAIN | libc::EMSGSIZE | libc::ENETDOWN | libc::ENXIO)
            ),
        }
    }

    /// Packets that were lost between the host and the emulator, either way.
    pub(super) fn lost(&mut self) -> Result<u64, LiveError> {
        let lost = match &mut self.device {
            Device::Namespace { devices, .. } => Namespace::lost(devices)
                .map_err(|error| LiveError::while_doing("reading /proc/net/dev", &error))?,
            Device::Interface(interface) => interface.lost(),
        };
        Ok(lost + self.lost)
    }
}
