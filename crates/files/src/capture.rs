//! The file of a capture.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use bentpipe_drive::pcap::Output;

use crate::space;

/// A file for a capture: under a temporary name until the capture is finished, and gone without that. Its errors name it.
#[derive(Debug)]
pub struct CaptureFile {
    /// `None` only when closed.
    file: Option<BufWriter<File>>,
    path: PathBuf,
    temporary: PathBuf,
}

impl CaptureFile {
    /// Opens a file that comes to `path` in the end, and replaces what is there.
    ///
    /// # Errors
    /// When `path` names no file, is a directory, or its folder cannot be written to; the message names it.
    pub fn create(path: impl AsRef<Path>) -> io::Result<CaptureFile> {
        let path = path.as_ref();
        if path.is_dir() {
            return Err(naming(path, io::ErrorKind::IsADirectory.into()));
        }
        let (file, temporary) = create_beside(path).map_err(|error| naming(path, error))?;
        Ok(CaptureFile { file: Some(BufWriter::new(file)), path: path.to_owned(), temporary })
    }
}

impl Write for CaptureFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let CaptureFile { file: Some(file), path, .. } = self else { return Ok(bytes.len()) };
        file.write(bytes).map_err(|error| naming(path, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        let CaptureFile { file: Some(file), path, .. } = self else { return Ok(()) };
        file.flush().map_err(|error| naming(path, error))
    }
}

impl Output for CaptureFile {
    /// Whether the disk has more than [`space::RESERVE_BYTES`] left.
    fn has_room(&mut self) -> io::Result<bool> {
        space::has_room(&self.temporary, 0).map_err(|error| naming(&self.path, error))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// When the file cannot be written or renamed; nothing is left then.
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if let Some(file) = self.file.take() {
            file.into_inner().map_err(|error| naming(&self.path, error.into_error()))?;
        }
        fs::rename(&self.temporary, &self.path).map_err(|error| naming(&self.path, error))?;
        self.temporary.clear();
        Ok(())
    }
}

impl Drop for CaptureFile {
    fn drop(&mut self) {
        if self.temporary.as_os_str().is_empty() {
            return;
        }
        // Closed first, for systems that do not remove an open file. A drop has nobody to tell of an error.
        self.file = None;
        let _ = fs::remove_file(&self.temporary);
    }
}

/// A new file in the folder of `path`, of a name that no other capture has.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
    };
    loop {
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{}.part", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        let temporary = path.with_file_name(temporary);
        match File::create_new(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => return file.map(|file| (file, temporary)),
        }
    }
}

fn naming(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
