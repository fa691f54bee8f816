//! Computes a hash of all sources that determine them.
//!
//! Two builds of the same sources, on any machine, produce bit-identical results and have the same version hash. A run
//! stored under a hash is therefore never reused for other sources. If the build happens in a git clone, the
//! commit is also recorded.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The crates whose code is executed in a run.
const CRATES: [&str; 11] =
    ["control", "core", "mobility", "net", "orbit", "wifi", "routing", "scenario", "sim", "tcp", "wire"];

fn main() -> io::Result<()> {
    let crates = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let mut files = Vec::new();
    for name in CRATES {
        let folder = crates.join(format!("lightlag-{name}"));
        println!("cargo:rerun-if-changed={}", folder.join("src").display());
        add(&folder, &folder.join("src"), &mut files)?;
    }
    let lock = crates.join("../Cargo.lock");
    let mut hash = Fnv::new();
    if lock.exists() {
        println!("cargo:rerun-if-changed={}", lock.display());
        hash.add(foreign(&fs::read_to_string(&lock)?).as_bytes());
    }
    files.sort();
    for (name, path) in files {
        hash.add(name.as_bytes());
        hash.add(&fs::read(path)?);
    }
    println!("cargo:rustc-env=LIGHTLAG_SOURCES={:016x}", hash.0);
    println!("cargo:rustc-env=LIGHTLAG_COMMIT={}", commit(&crates).unwrap_or_default());
    Ok(())
}

/// Returns the external packages in a lock file. The workspace's own crates are identified by their sources, and the
/// lock file of a source distribution lists fewer of them.
fn foreign(lock: &str) -> String {
    lock.split("[[package]]").filter(|package| package.contains("\nsource = ")).collect()
}

/// Returns the commit of the git clone that contains `crates`, with "+modified" if tracked files differ from it. It is
/// read together with the sources of the hash; a commit that does not change these sources causes no rebuild.
fn commit(crates: &Path) -> Option<String> {
    // The sources may lie in a clone of another project.
    let ours = crates.join("lightlag-python/build.rs");
    git(crates, &["ls-files", "--error-unmatch", ours.to_str()?])?;
    git(crates, &["describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+modified"])
}

/// Returns the output of a git command; `None` if git is missing or the command fails.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let done = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

/// Adds every file below a directory, with its path relative to the directory that contains its crate.
fn add(crate_folder: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add(crate_folder, &path, files)?;
        } else {
            let own = path.strip_prefix(crate_folder).expect("it lies below").to_string_lossy().replace('\\', "/");
            files.push((format!("{}/{own}", crate_folder.file_name().expect("it has one").to_string_lossy()), path));
        }
    }
    Ok(())
}

/// 64-bit FNV-1a hash (draft-eastlake-fnv). The length of each part is hashed before the part.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, part: &[u8]) {
        for byte in (part.len() as u64).to_le_bytes().iter().chain(part) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
