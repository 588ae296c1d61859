//! A network namespace of the calling thread's own, with a TUN device in it.
//!
//! The namespace has no name: it lives as long as the thread in it, the program started from it and the TUN device's file do.
//! Whatever ends the process, a signal or a crash, the kernel takes it all away.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

use crate::sys::Framing;
use crate::{LiveError, sys};

/// The device in the namespace, through which its kernel reaches the path.
const DEVICE: &str = "bentpipe0";

/// The network of all hosts.
const NETWORK: &str = "10.0.0.0/8";

/// How a kernel's end of the path is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StackSettings {
    /// Of its TUN device, in bytes.
    pub(crate) mtu: u32,
    /// What stands before each packet of the TUN device.
    pub(crate) framing: Framing,
    /// Whether it acknowledges every segment at once.
    pub(crate) quickack: bool,
    /// Attributes of its route to the other end, by the name that `ip route` has for them.
    pub(crate) route: BTreeMap<String, String>,
    /// Settings by the name that they have under `net.ipv4`.
    pub(crate) sysctl: BTreeMap<String, String>,
}

/// A namespace and its TUN device.
pub(crate) struct Namespace {
    tun: File,
}

impl Namespace {
    /// Moves this thread into a new namespace, in which the kernel has `address` and reaches the rest of [`NETWORK`]
    /// through the TUN device.
    pub(crate) fn enter(address: &str, network: &StackSettings) -> Result<Namespace, LiveError> {
        sys::enter_new_network().map_err(|error| no_namespace(&error))?;
        // Before the device comes up, so that the kernel announces nothing for IPv6.
        if std::path::Path::new("/proc/sys/net/ipv6").exists() {
            write_setting("ipv6/conf/default/disable_ipv6", "1")?;
        }
        let tun = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open("/dev/net/tun")
            .map_err(|error| no_tun(&error))?;
        sys::attach_tun(&tun, DEVICE, network.framing).map_err(|error| no_tun(&error))?;
        ip(&["link", "set", "lo", "up"])?;
        ip(&["address", "add", &format!("{address}/8"), "dev", DEVICE])?;
        let mtu = network.mtu.to_string();
        ip(&["link", "set", DEVICE, "mtu", &mtu, "txqueuelen", "10000", "up"])?;
        if network.quickack || !network.route.is_empty() {
            let mut words = vec!["route", "change", NETWORK, "dev", DEVICE, "src", address];
            if network.quickack {
                words.extend(["quickack", "1"]);
            }
            words.extend(network.route.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]));
            ip(&words)?;
        }
        for (name, value) in &network.sysctl {
            write_setting(&format!("ipv4/{name}"), value)?;
        }
        Ok(Namespace { tun })
    }

    /// Sends what is for no other network through the device too.
    pub(crate) fn route_everything() -> Result<(), LiveError> {
        ip(&["route", "add", "default", "dev", DEVICE])
    }

    /// Packets that the device of this thread's namespace has lost so far: what the kernel sent and nobody read in time,
    /// and what it did not take.
    pub(crate) fn lost(table: &mut File) -> io::Result<u64> {
        let mut text = String::new();
        table.seek(SeekFrom::Start(0))?;
        table.read_to_string(&mut text)?;
        let row = text.lines().find_map(|line| line.trim().strip_prefix(DEVICE)?.strip_prefix(':'));
        let counts: Vec<u64> = row.into_iter().flat_map(str::split_whitespace).flat_map(str::parse).collect();
        Ok([3, 11].iter().filter_map(|column| counts.get(*column)).sum())
    }

    /// Reads the next packet from the kernel; none when there is none yet.
    pub(crate) fn read(&self, packet: &mut [u8]) -> Result<Option<usize>, LiveError> {
        match (&self.tun).read(packet) {
            Ok(length) => Ok(Some(length)),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
            Err(error) => Err(LiveError::while_doing("reading from the TUN device", &error)),
        }
    }

    /// Hands a packet to the kernel.
    pub(crate) fn write(&self, packet: &[u8]) -> Result<(), LiveError> {
        match (&self.tun).write_all(packet) {
            // The kernel has no room for it: a packet lost, as on any network.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::EAGAIN)) => Ok(()),
            written => written.map_err(|error| LiveError::while_doing("writing to the TUN device", &error)),
        }
    }

    /// The TUN device, which holds the namespace from now on.
    pub(crate) fn into_device(self) -> File {
        self.tun
    }

    /// For poll(2).
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}

fn no_namespace(error: &io::Error) -> LiveError {
    LiveError::Missing(match error.raw_os_error() {
        Some(libc::EPERM) => {
            "a network namespace needs root (CAP_SYS_ADMIN): run this with sudo, or a container with it"
                .to_owned()
        }
        Some(libc::EINVAL | libc::ENOSYS) => {
            "this kernel has no network namespaces (CONFIG_NET_NS)".to_owned()
        }
        _ => format!("no network namespace: {error}"),
    })
}

fn no_tun(error: &io::Error) -> LiveError {
    LiveError::Missing(match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::ENXIO) => {
            "/dev/net/tun is missing: load the module (modprobe tun), or give the container the device"
                .to_owned()
        }
        Some(libc::EPERM | libc::EACCES) => {
            "a TUN device needs root (CAP_NET_ADMIN) and access to /dev/net/tun".to_owned()
        }
        _ => format!("no TUN device: {error}"),
    })
}

/// Runs ip(8) from this thread, so in its namespace.
fn ip(arguments: &[&str]) -> Result<(), LiveError> {
    let output = Command::new("ip").args(arguments).output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => LiveError::Missing("the program ip is missing: install iproute2".to_owned()),
        _ => LiveError::while_doing("starting ip", &error),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().next().unwrap_or_default();
    Err(LiveError::Failed(format!("ip {}: {first}", arguments.join(" "))))
}

/// Writes a kernel setting; /proc/sys/net is that of the thread which opens the file.
fn write_setting(name: &str, value: &str) -> Result<(), LiveError> {
    let path = format!("/proc/sys/net/{name}");
    let written =
        OpenOptions::new().write(true).open(&path).and_then(|mut file| file.write_all(value.as_bytes()));
    written.map_err(|error| {
        let name = format!("net/{name}").replace('/', ".");
        match error.kind() {
            ErrorKind::NotFound => {
                LiveError::Setting(format!("sysctl: this kernel has no {name} in a namespace"))
            }
            _ => LiveError::Setting(format!("sysctl: {name}={value}: {error}")),
        }
    })
}
