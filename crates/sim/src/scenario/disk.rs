//! Scenario files on a disk; nothing else of a scenario touches one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::layers::{MAX_BYTES, too_large};

/// What is in the file at `path`; never reads more than a scenario may have, and nothing from a device or a pipe, which
/// may have nothing to give and no end.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let none = |e: io::Error| format!("expected a scenario file, found none that can be read ({e})");
    let metadata = fs::metadata(path).map_err(none)?;
    if metadata.is_dir() {
        return Err("expected a scenario file, found a directory".to_owned());
    }
    if !metadata.is_file() {
        return Err("expected a scenario file, found a device or a pipe".to_owned());
    }
    if metadata.len() > MAX_BYTES {
        return Err(too_large(MAX_BYTES));
    }
    let mut bytes = Vec::new();
    // A file may grow.
    File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(none)?;
    Ok(bytes)
}
