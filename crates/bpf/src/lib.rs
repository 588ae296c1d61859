//! Congestion controls as BPF programs (`bpf/`): registered with the running kernel, and held there by a pin.
//!
//! From Linux 6.4 on the pin is that of a link, and a control stays registered as long as it is there. Before, the map of the
//! control is pinned, so that it can be found: it stays registered until its value is deleted. [`remove`] does either.
//! Connections that use a control when it goes keep it until they end; the kernel takes the programs away after the last.
#![cfg(target_os = "linux")]

mod gateway;

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;

use libbpf_rs::libbpf_sys::BPF_F_LINK;
use libbpf_rs::{ErrorKind, Link, MapCore, MapFdInfo, MapHandle, MapType, Object, ObjectBuilder, PrintLevel};

pub use gateway::{GatewayCounts, GatewaySettings, KernelGateway, RttFrom, Way};

/// Why a control was not registered.
#[derive(Debug)]
pub enum BpfError {
    /// The kernel or the user lacks something; the text says what, in a line.
    Missing(String),
    /// The kernel has refused the object.
    Refused(String),
}

impl fmt::Display for BpfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BpfError::Missing(text) | BpfError::Refused(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for BpfError {}

/// What describes the kernel's structures: without it no field can be found.
const BTF: &str = "/sys/kernel/btf/vmlinux";

/// Controls that stay registered for as long as this lives, and not after its process has ended.
pub struct Held {
    links: Vec<Link>,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Held({})", self.links.len())
    }
}

/// Loads the controls in the file `object` and registers them.
///
/// # Errors
/// [`BpfError::Missing`] when the kernel or the user lacks something, [`BpfError::Refused`] when the kernel does not take the
/// object. Nothing is registered then.
pub fn hold(object: &Path) -> Result<Held, BpfError> {
    let (mut loaded, with_links) = load(object)?;
    if !with_links {
        let text =
            "before Linux 6.4 a control cannot end with its process: bentpipe live install registers it";
        return Err(BpfError::Missing(text.to_owned()));
    }
    Ok(Held { links: attach(&mut loaded)? })
}

/// Whether the kernel describes its structures.
fn described() -> Result<(), BpfError> {
    if Path::new(BTF).exists() {
        return Ok(());
    }
    let text = "this kernel does not describe its structures (CONFIG_DEBUG_INFO_BTF)";
    Err(BpfError::Missing(text.to_owned()))
}

/// The object in the kernel, and whether that registers a control by a link.
fn load(object: &Path) -> Result<(Object, bool), BpfError> {
    described()?;
    // What libbpf has to say of an error is in the error.
    libbpf_rs::set_print(Some((PrintLevel::Warn, |_, _| ())));
    match load_as(object, true) {
        // Before 6.4 a kernel does not know the map's flag.
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            load_as(object, false).map(|loaded| (loaded, false))
        }
        either => either.map(|loaded| (loaded, true)),
    }
    .map_err(|error| refused(&error))
}

fn load_as(object: &Path, with_links: bool) -> libbpf_rs::Result<Object> {
    let mut open = ObjectBuilder::default().open_file(object)?;
    for mut map in open.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
        if !with_links {
            let flags = map.map_flags() & !BPF_F_LINK;
            map.set_map_flags(flags)?;
        }
    }
    open.load()
}

fn attach(loaded: &mut Object) -> Result<Vec<Link>, BpfError> {
    let controls = loaded.maps_mut().filter(|map| map.map_type() == MapType::StructOps);
    controls.map(|mut map| map.attach_struct_ops().map_err(|error| refused(&error))).collect()
}

/// Loads and registers as [`hold`], and pins at `pin`, on a BPF file system, what holds the control from then on.
///
/// # Errors
/// As of [`hold`], and when the pin cannot be made.
pub fn install(object: &Path, pin: &Path) -> Result<(), BpfError> {
    // Without links it is the object that keeps the map open.
    let (mut loaded, _) = load(object)?;
    for mut link in attach(&mut loaded)? {
        link.pin(pin).map_err(|error| refused(&error))?;
        link.disconnect();
    }
    Ok(())
}

/// Takes the control that is pinned at `pin` out of the kernel, and the pin away.
///
/// # Errors
/// [`BpfError::Missing`] when the user may not, [`BpfError::Refused`] when there is no such pin, or the kernel refuses.
pub fn remove(pin: &Path) -> Result<(), BpfError> {
    let link = Link::open(pin).map_err(|error| refused(&error))?;
    // What describes a link names no type of a map.
    if MapFdInfo::from_fd(link.as_fd()).is_ok_and(|held| held.map_type == MapType::StructOps) {
        let map = MapHandle::from_pinned_path(pin).map_err(|error| refused(&error))?;
        map.delete(&0_u32.to_ne_bytes()).map_err(|error| refused(&error))?;
    }
    fs::remove_file(pin).map_err(|error| refused(&error.into()))
}

fn refused(error: &libbpf_rs::Error) -> BpfError {
    let cause = io::Error::from_raw_os_error(match error.kind() {
        ErrorKind::PermissionDenied => 1,
        ErrorKind::AlreadyExists => 17,
        _ => return BpfError::Refused(error.to_string()),
    });
    match error.kind() {
        ErrorKind::PermissionDenied => BpfError::Missing(
            "a BPF program needs root (CAP_BPF and CAP_NET_ADMIN): run this with sudo".to_owned(),
        ),
        _ => BpfError::Refused(format!("the kernel has a control of that name: {cause}")),
    }
}
