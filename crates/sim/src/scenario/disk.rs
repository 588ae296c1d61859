//! Scenario files on a disk; nothing else of a scenario touches one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use super::layers::FileKind;

/// What is in the file at `path`; never reads more than its `kind` may have, and nothing from a device or a pipe, which
/// may have nothing to give and no end.
pub(crate) fn read_file(path: &Path, kind: FileKind) -> Result<Vec<u8>, String> {
    let expected = kind.noun;
    let none = |e: io::Error| format!("expected {expected}, found none that can be read ({e})");
    let metadata = fs::metadata(path).map_err(none)?;
    if metadata.is_dir() {
        return Err(format!("expected {expected}, found a directory"));
    }
    if !metadata.is_file() {
        return Err(format!("expected {expected}, found a device or a pipe"));
    }
    if metadata.len() > kind.most {
        return Err(kind.too_large());
    }
    let mut bytes = Vec::new();
    // A file may grow.
    open(path).and_then(|file| file.take(kind.most + 1).read_to_end(&mut bytes)).map_err(none)?;
    Ok(bytes)
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
