//! What drivers on a machine with disks share: capture files, and room on a disk.

mod capture;
pub mod space;

pub use capture::CaptureFile;
