//! Congestion controls as BPF programs (`bpf/`): registered with the running kernel, and held there by a pin.
//!
//! From Linux 6.4 on the pin is that of a link, and a control stays registered as long as it is there. Before, the map of the
//! control is pinned, so that it can be found: it stays registered until its value is deleted. [`remove`] does either.
//! Connections that use a control when it goes keep it until they end; the kernel takes the programs away after the last.
#![cfg(target_os = "linux")]

mod gateway;

use std::error::Error;
use std::fmt;
use std::fs;
use std::os::fd::AsFd as _;
use std::path::Path;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Struct;
use libbpf_rs::libbpf_sys::BPF_F_LINK;
use libbpf_rs::{
    ErrorKind, Link, MapCore, MapFdInfo, MapHandle, MapType, Object, ObjectBuilder, OpenObject, PrintLevel,
};

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

impl Error for BpfError {}

/// What describes the kernel's structures: without it no field can be found.
const BTF: &str = "/sys/kernel/btf/vmlinux";

/// By what the kernel registers a congestion control that is a BPF program.
const REGISTERED: &str = "bpf_struct_ops_tcp_congestion_ops";

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

/// Opens the object in a file, where the kernel describes its structures.
fn open(object: &Path) -> Result<OpenObject, BpfError> {
    if !Path::new(BTF).exists() {
        let text = "this kernel does not describe its structures (CONFIG_DEBUG_INFO_BTF)";
        return Err(BpfError::Missing(text.to_owned()));
    }
    // What libbpf has to say of an error is in the error.
    libbpf_rs::set_print(Some((PrintLevel::Warn, |_, _| ())));
    ObjectBuilder::default().open_file(object).map_err(|error| refused(&error))
}

/// The object in the kernel, and whether that registers a control by a link.
fn load(object: &Path) -> Result<(Object, bool), BpfError> {
    let opened = open(object)?;
    takes_controls()?;
    let loaded = match opened.load() {
        // Before 6.4 a kernel does not know the map's flag.
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            without_links(open(object)?).map(|loaded| (loaded, false))
        }
        either => either.map(|loaded| (loaded, true)),
    };
    loaded.map_err(|error| refused(&error))
}

/// Whether the kernel has a structure to register controls by.
fn takes_controls() -> Result<(), BpfError> {
    let kernel = Btf::from_vmlinux().map_err(|error| refused(&error))?;
    match kernel.type_by_name::<Struct<'_>>(REGISTERED) {
        Some(_) => Ok(()),
        None => Err(BpfError::Missing(
            "this kernel takes no congestion control as a BPF program (struct_ops: Linux 5.6 or later)"
                .to_owned(),
        )),
    }
}

fn without_links(mut open: OpenObject) -> libbpf_rs::Result<Object> {
    for mut map in open.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
        let flags = map.map_flags() & !BPF_F_LINK;
        map.set_map_flags(flags)?;
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
    match error.kind() {
        ErrorKind::PermissionDenied => BpfError::Missing(
            "a BPF program needs root (CAP_BPF and CAP_NET_ADMIN): run this with sudo".to_owned(),
        ),
        ErrorKind::AlreadyExists => BpfError::Refused("the kernel has a control of that name".to_owned()),
        _ => BpfError::Refused(error.to_string()),
    }
}
