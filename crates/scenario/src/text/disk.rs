//! Scenario files on a disk; nothing else of a scenario touches one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use bentpipe_units::Fault;

use super::FileKind;

/// The file at `path`, where it is no larger than its `kind` may be, and neither a device nor a pipe, which may have nothing to give
/// and no end.
pub(crate) fn read_file(path: &Path, kind: FileKind) -> Result<Box<dyn Read>, Fault> {
    let expected = kind.noun;
    let none = |e: io::Error| kind.unreadable(&e);
    let metadata = fs::metadata(path).map_err(none)?;
    if metadata.is_dir() {
        return Err(Fault::value(expected, "a directory"));
    }
    if !metadata.is_file() {
        return Err(Fault::value(expected, "a device or a pipe"));
    }
    if metadata.len() > kind.most {
        return Err(kind.too_large());
    }
    open(path).map(|file| Box::new(file) as Box<dyn Read>).map_err(none)
}

/// Opens a file without ever waiting for it: some that the kernel makes, such as `/proc/kmsg`, have no end.
#[cfg(target_os = "linux")]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    const O_NONBLOCK: i32 = 0o4000;
    OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path)
}

#[cfg(not(target_os = "linux"))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}
