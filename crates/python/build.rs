//! Names the engine by its sources.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};

/// The crates of the workspace that decide what a run gives.
const ENGINE: [&str; 5] = ["units", "tcp", "path", "net", "sim"];

fn main() -> io::Result<()> {
    println!("cargo::rustc-env=BENTPIPE_ENGINE={}", engine()?);
    Ok(())
}

/// The first 16 hexadecimal digits of a SHA-256 of the engine's sources and of the versions of the packages that it uses.
fn engine() -> io::Result<String> {
    let mut sources = Vec::new();
    for name in ENGINE {
        let folder = Path::new("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        gather(&folder, &mut sources)?;
    }
    sources.sort();
    let mut digest = Sha256::new();
    for path in sources {
        let content = fs::read(&path)?;
        digest.update(format!("{} {}\n", path.display(), content.len()));
        digest.update(content);
    }
    let lock = Path::new("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    digest.update(used_packages(&fs::read_to_string(lock)?).join("\n"));
    Ok(digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// The Rust files below `folder`, but for those of tests.
fn gather(folder: &Path, sources: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_stem() == Some(OsStr::new("tests")) {
            continue;
        }
        if path.is_dir() {
            gather(&path, sources)?;
        } else if path.extension() == Some(OsStr::new("rs")) {
            sources.push(path);
        }
    }
    Ok(())
}

/// Names and versions of what the simulator's crate uses, directly or not, as Cargo.lock has them.
fn used_packages(lock: &str) -> Vec<String> {
    let mut packages: BTreeMap<&str, (&str, Vec<&str>)> = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let field = |key: &str| package.lines().find(|line| line.starts_with(key)).and_then(text);
        let uses = package.lines().filter(|line| line.starts_with(" \"")).filter_map(text).collect();
        if let (Some(name), Some(version)) = (field("name = "), field("version = ")) {
            packages.insert(name, (version, uses));
        }
    }
    let (mut found, mut waiting) = (BTreeMap::new(), vec!["bentpipe-sim"]);
    while let Some(name) = waiting.pop() {
        if let Some((version, uses)) = packages.get(name)
            && found.insert(name, *version).is_none()
        {
            // Behind a name stands its version where there are several.
            waiting.extend(uses.iter().filter_map(|used| used.split(' ').next()));
        }
    }
    found.iter().map(|(name, version)| format!("{name} {version}")).collect()
}

/// What stands between the first quotation marks.
fn text(line: &str) -> Option<&str> {
    line.split('"').nth(1)
}
