//! Congestion controls as BPF programs (`bpf/`): registered with the running kernel, and held there by a pin.
//!
//! A control stays registered as long as its pin is there. Connections that use one when its pin goes keep it until they end;
//! the kernel takes the programs away after the last of them.
#![cfg(target_os = "linux")]

use std::fmt;
use std::io;
use std::path::Path;

use libbpf_rs::{ErrorKind, Link, MapCore, MapType, ObjectBuilder, PrintLevel};

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
    if !Path::new(BTF).exists() {
        let text = "this kernel does not describe its structures (CONFIG_DEBUG_INFO_BTF)";
        return Err(BpfError::Missing(text.to_owned()));
    }
    // What libbpf has to say of an error is in the error.
    libbpf_rs::set_print(Some((PrintLevel::Warn, |_, _| ())));
    let open = ObjectBuilder::default().open_file(object).map_err(|error| refused(&error))?;
    let mut loaded = open.load().map_err(|error| refused(&error))?;
    let controls = loaded.maps_mut().filter(|map| map.map_type() == MapType::StructOps);
    let links = controls.map(|mut map| map.attach_struct_ops().map_err(|error| refused(&error)));
    Ok(Held { links: links.collect::<Result<_, _>>()? })
}

/// As [`hold`], with a pin at `pin`, on a BPF file system, that holds the control from then on.
///
/// # Errors
/// As of [`hold`], and when the pin cannot be made.
pub fn install(object: &Path, pin: &Path) -> Result<(), BpfError> {
    for mut link in hold(object)?.links {
        link.pin(pin).map_err(|error| refused(&error))?;
        link.disconnect();
    }
    Ok(())
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
