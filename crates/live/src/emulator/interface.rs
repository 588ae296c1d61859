//! An interface of this machine that the user has named, at which another machine is the host.

use std::fs::File;
use std::process::Command;

use serde::Deserialize;

use crate::{LiveError, sys};

/// An Ethernet interface, and a packet socket on it.
#[derive(Debug)]
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) socket: File,
    index: u32,
    mtu: u32,
    dropped: u64,
}

/// What ip(8) tells of an interface.
#[derive(Debug, Deserialize)]
struct Link {
    #[serde(rename = "ifindex")]
    index: u32,
    #[serde(rename = "ifname")]
    name: String,
    mtu: u32,
    flags: Vec<String>,
    link_type: String,
    master: Option<String>,
    #[serde(rename = "addr_info", default)]
    addresses: Vec<Address>,
}

#[derive(Debug, Deserialize)]
struct Address {
    scope: String,
    local: Option<String>,
}

fn refused(text: String) -> LiveError {
    LiveError::Setting(format!("--interface: {text}"))
}

/// Asks ip(8) what it knows of the interface `name`.
fn ask(name: &str) -> Result<Link, LiveError> {
    let output = Command::new("ip").args(["-json", "address", "show", "dev", name]).output();
    let output = output.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            LiveError::Missing("the program ip is missing: install iproute2".to_owned())
        }
        _ => LiveError::while_doing("starting ip", &error),
    })?;
    let link: Vec<Link> = serde_json::from_slice(&output.stdout).unwrap_or_default();
    // An option of ip's would be read as one.
    let link = link.into_iter().find(|link| link.name == name && output.status.success());
    link.ok_or_else(|| refused(format!("expected an interface of this machine, found {name:?}")))
}

impl Interface {
    /// Opens the interface `name`, and changes nothing on it but that it listens to every frame while it is open.
    pub(super) fn open(name: &str) -> Result<Interface, LiveError> {
        let link = ask(name)?;
        if link.link_type != "ether" {
            return Err(refused(format!(
                "expected an Ethernet interface, found {name} of the type {}",
                link.link_type
            )));
        }
        if !link.flags.iter().any(|flag| flag == "UP") {
            return Err(refused(format!("{name} is down: ip link set {name} up")));
        }
        if let Some(master) = link.master {
            return Err(refused(format!("expected an interface of its own, found {name} in {master}")));
        }
        // What IPv6 gives every interface by itself is of the scope link.
        if let Some(address) = link.addresses.iter().find(|address| address.scope == "global") {
            let address = address.local.as_deref().unwrap_or("one");
            return Err(refused(format!(
                "expected an interface without addresses, which this machine does not use itself, found {address} at {name}"
            )));
        }
        let socket = sys::open_interface(link.index).map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM) => {
                LiveError::Missing("a packet socket needs root (CAP_NET_RAW): run this with sudo".to_owned())
            }
            Some(libc::EAFNOSUPPORT) => {
                LiveError::Missing("this kernel has no packet sockets (CONFIG_PACKET)".to_owned())
            }
            _ => LiveError::while_doing(&format!("opening the interface {name}"), &error),
        })?;
        Ok(Interface { name: link.name, socket, index: link.index, mtu: link.mtu, dropped: 0 })
    }

    /// That frames of the one fit the other.
    pub(super) fn fits(&self, other: &Interface) -> Result<(), LiveError> {
        if self.index == other.index {
            return Err(refused(format!("expected two interfaces, found {} twice", self.name)));
        }
        if self.mtu != other.mtu {
            return Err(refused(format!(
                "expected the same MTU, found {} bytes at {} and {} bytes at {}",
                self.mtu, self.name, other.mtu, other.name
            )));
        }
        Ok(())
    }

    /// Frames that came in and were not read in time.
    pub(super) fn lost(&mut self) -> u64 {
        // An interface that has gone has lost nothing more.
        self.dropped += sys::frames_dropped(&self.socket).unwrap_or(0);
        self.dropped
    }

    /// That the interface is still there, after its socket has link of an end.
    pub(super) fn check(&self) -> Result<(), LiveError> {
        match ask(&self.name) {
            Ok(link) if link.index == self.index => Ok(()),
            _ => Err(LiveError::Failed(format!("the interface {} is gone", self.name))),
        }
    }
}
