//! The folder of a run's kernel, and the process that ends the kernel and removes the folder when the run is over or gone.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FlockOperation, flock};

use crate::found::{FILES, Found};
use crate::initramfs;

/// How the folder of a run is named, as python/bentpipe/live/virtual/machine.py has it.
const PREFIX: &str = "bentpipe-virtual-";
/// Only what is touched counts.
const MEMORY: &str = "mem=1G";
/// The kernel's command line is a part of its entropy: constant names, whatever the folder is.
const ARGUMENTS: [&str; 16] = [
    MEMORY,
    "initrd=./initramfs",
    "time-travel=ext:./clock",
    "virtio_uml.device=./device-0:1",
    "virtio_uml.device=./device-1:1",
    "virtio_uml.device=./device-2:1",
    "virtio_net.napi_tx=0",
    "random.trust_cpu=on",
    "random.trust_bootloader=on",
    "con=null",
    "con0=null,fd:1",
    "loglevel=4",
    "panic=-1",
    "umid=kernel",
    "uml_dir=./",
    "noreboot",
];
/// What it says on its console when all is well.
const PREAMBLE: [&str; 5] = ["Checking ", "Core dump limits", "soft - ", "hard - ", "reboot: "];

pub(crate) struct Folder {
    path: PathBuf,
    keeper: Child,
    _lock: File,
}

/// Where its clock and its devices connect to.
pub(crate) struct Listeners {
    pub(crate) clock: UnixListener,
    pub(crate) devices: [UnixListener; 3],
}

impl Folder {
    /// Makes a folder and starts the kernel in it, on this processor.
    pub(crate) fn start(
        found: &Found,
        seed: u64,
        settings: &str,
        processor: usize,
    ) -> io::Result<(Folder, Listeners, ChildStdout)> {
        let base = base()?;
        sweep(&base);
        let (path, lock) = make(&base)?;
        let listeners = fill(&path, found, settings).inspect_err(|_| drop(fs::remove_dir_all(&path)))?;
        let keeper = Command::new(found.folder.join("keeper"))
            .arg(&path)
            .arg(processor.to_string())
            .arg("./linux")
            .args(ARGUMENTS)
            .env_clear()
            .env("TMPDIR", &base)
            .env("LD_PRELOAD", "./entropy.so")
            .env("SEED", seed.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut keeper = keeper.inspect_err(|_| drop(fs::remove_dir_all(&path)))?;
        let ended = keeper.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok((Folder { path, keeper, _lock: lock }, listeners, ended))
    }

    /// Why the kernel ended: its panic, or what it or its program said last.
    pub(crate) fn last_words(&self) -> String {
        let said = fs::read(self.path.join("console")).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
        let lines: Vec<_> =
            lines.filter(|line| !PREAMBLE.iter().any(|start| line.starts_with(start))).collect();
        let panic = lines.iter().find(|line| line.contains("anic") || line.starts_with("bentpipe: "));
        panic.or(lines.last()).copied().unwrap_or("it was killed").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // It cannot fail for a process that was started and not waited for.
        drop(self.keeper.wait());
    }
}

/// Where there is room for the kernel's memory, and programs may run.
fn base() -> io::Result<PathBuf> {
    let bases = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
    let fits = |base: &PathBuf| {
        rustix::fs::statvfs(base).is_ok_and(|told| {
            !told.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC)
                && told.f_bavail * told.f_frsize >= 1 << 29
        })
    };
    let missing =
        || io::Error::other("expected half a GB of room for programs in /dev/shm or the temporary folder");
    bases.into_iter().find(fits).ok_or_else(missing)
}

fn make(base: &Path) -> io::Result<(PathBuf, File)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("{PREFIX}{}-{number}", std::process::id()));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => {
                made?;
                let lock = File::create(path.join("lock"))?;
                flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
                return Ok((path, lock));
            }
        }
    }
}

fn fill(path: &Path, found: &Found, settings: &str) -> io::Result<Listeners> {
    for name in ["linux", "entropy.so"] {
        debug_assert!(FILES.contains(&name), "{name} is looked for");
        symlink(found.folder.join(name), path.join(name))?;
    }
    let program = fs::read(found.folder.join("endpoint"))?;
    let files = [("init", 0o755, &program[..]), ("settings", 0o644, settings.as_bytes())];
    fs::write(path.join("initramfs"), initramfs::archive(&files))?;
    fs::set_permissions(path.join("initramfs"), Permissions::from_mode(0o600))?;
    let listen = |name: &str| UnixListener::bind(path.join(name));
    let devices = [listen("device-0")?, listen("device-1")?, listen("device-2")?];
    Ok(Listeners { clock: listen("clock")?, devices })
}

/// Removes the folders of runs that were killed together with what would have removed them.
fn sweep(base: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.metadata().is_ok_and(|folder| folder.uid() == own);
        if !ours {
            continue;
        }
        let unlocked = File::open(entry.path().join("lock"))
            .is_ok_and(|lock| flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok());
        if unlocked {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}
