//! Gathers the data of the papers, which the wheel carries beside the Python package.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let papers = Path::new("../../papers");
    println!("cargo::rerun-if-changed={}", papers.display());
    let out =
        PathBuf::from(env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("no OUT_DIR"))?).join("data");
    if out.is_dir() {
        fs::remove_dir_all(&out)?;
    }
    if papers.is_dir() { copy(papers, &out) } else { Ok(()) }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
