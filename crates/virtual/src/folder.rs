//! The folder of a run's kernel, and the process that ends the kernel and removes the folder when the run is over or gone.

use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::found::{FILES, Found, MAKE};
use crate::initramfs;

/// The kernel's memory. Only what is touched counts.
const MEMORY: &str = "mem=1G";
/// What must be free where its folder is.
const MEGABYTES: &str = "512";
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
        let bases = format!("/dev/shm:{}", std::env::temp_dir().display());
        let program = found.folder.join("keeper");
        let mut keeper = Command::new(&program)
            .args([&bases, MEGABYTES, &processor.to_string(), "./linux"])
            .args(ARGUMENTS)
            .env_clear()
            .env("LD_PRELOAD", "./entropy.so")
            .env("SEED", seed.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut ended = keeper.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut folder = Folder { path: PathBuf::new(), keeper };
        let mut line = String::new();
        BufReader::new(&mut ended).read_line(&mut line)?;
        folder.path = line.trim_end().into();
        let fault = match &line[..] {
            "" => format!("{} is of another version: {MAKE}", program.display()),
            "\n" => format!("expected {MEGABYTES} MB of room for programs in one of {bases}"),
            _ => {
                let listeners = fill(&folder.path, found, settings)?;
                folder.keeper.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.write_all(b"\n")?;
                return Ok((folder, listeners, ended));
            }
        };
        Err(io::Error::other(fault))
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
        // Where the keeper was killed.
        drop(fs::remove_dir_all(&self.path));
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
