//! Kernels that `make virtual-kernel` has built, in the user's cache.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

pub(crate) const MAKE: &str = "`make virtual-kernel` in bentpipe's source folder builds one";
/// What is beside the kernel for a run: the first program in it, what keeps it, and what fixes its entropy.
pub(crate) const FILES: [&str; 4] = ["linux", "endpoint", "keeper", "entropy.so"];

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where its files are.
    pub folder: PathBuf,
    /// Its release, as `uname -r` says it.
    pub release: String,
    /// Its congestion controls.
    pub controls: Vec<String>,
}

#[derive(Deserialize)]
struct Manifest {
    release: String,
    controls: Vec<String>,
}

fn cache() -> PathBuf {
    let named = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    home.unwrap_or_default().join("bentpipe").join("virtual-kernel")
}

/// The kernel whose release begins so, or the one that was built or asked for last.
///
/// # Errors
/// When there is none: a line that says so.
pub fn find(release: Option<&str>) -> Result<Found, String> {
    let cache = cache();
    let Some(release) = release else {
        let newest = fs::read_to_string(cache.join("newest"));
        let name = newest.map_err(|_| format!("no virtual kernel here: {MAKE}"))?;
        return at(&cache.join(name.trim()));
    };
    let folders = fs::read_dir(&cache).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all: Vec<Found> = folders.filter_map(|folder| at(&folder).ok()).collect();
    all.sort_by(|one, other| one.release.cmp(&other.release));
    if let Some(exact) = all.iter().find(|found| found.release == release) {
        return Ok(exact.clone());
    }
    let mut fitting = all.iter().filter(|found| found.release.starts_with(release));
    match (fitting.next(), fitting.next()) {
        (Some(found), None) => Ok(found.clone()),
        _ => {
            let there: Vec<_> = all.iter().map(|found| found.release.as_str()).collect();
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            Err(format!("expected one virtual kernel of {there}, found {release:?}: {MAKE}"))
        }
    }
}

fn at(folder: &Path) -> Result<Found, String> {
    let whole = || format!("{} holds no whole virtual kernel: {MAKE}", folder.display());
    let manifest = fs::read(folder.join("kernel.json")).map_err(|_| whole())?;
    let Manifest { release, controls } = serde_json::from_slice(&manifest).map_err(|_| whole())?;
    if FILES.iter().any(|name| !folder.join(name).is_file()) {
        return Err(whole());
    }
    Ok(Found { folder: folder.to_owned(), release, controls })
}
