//! Room on a disk: recordings leave some, because a machine without any is of no use.

use std::io;
use std::path::Path;

use rustix::fs::statvfs;

/// What recordings leave free on a disk: this, or a hundredth of the disk when that is less.
pub const RESERVE_BYTES: u64 = 64 << 20;

/// Whether `bytes` more on the disk of `path`, which is there, leave the reserve free.
///
/// # Errors
/// When the disk cannot be asked.
pub fn has_room(path: &Path, bytes: u64) -> io::Result<bool> {
    let disk = statvfs(path)?;
    // A disk without a size has no bound that it knows of.
    let reserve = RESERVE_BYTES.min(disk.f_blocks.saturating_mul(disk.f_frsize) / 100);
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    Ok(disk.f_blocks == 0 || free >= reserve.saturating_add(bytes))
}
