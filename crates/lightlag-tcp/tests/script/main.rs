//! Packet scripts: runs every file of `tests/scripts`. The format is described in [`text`].

mod expect;
mod fact;
mod player;
mod segment;
mod tests;
mod text;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts")
}

/// Returns the entries of a directory, sorted by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Runs a script. The error gives the line that fails and the reason.
fn check(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    text::parse(&text)
        .and_then(|script| player::play(&script))
        .map_err(|problem| format!("{}:{}: {}", path.display(), problem.line, problem.message))
}

/// Runs all scripts of an area, and reports every script that fails.
fn play(area: &str) {
    let paths = entries(&folder().join(area));
    assert!(!paths.is_empty(), "{area} has no scripts");
    let failures: Vec<_> = paths.iter().filter_map(|path| check(path).err()).collect();
    assert!(failures.is_empty(), "{} of {} scripts fail:\n\n{}\n", failures.len(), paths.len(), failures.join("\n\n"));
}

macro_rules! areas {
    ($($area:ident),* $(,)?) => {
        $(#[test] fn $area() { play(stringify!($area)); })*
        const AREAS: &[&str] = &[$(stringify!($area)),*];
    };
}

areas!(
    ack, close, congestion, dsack, ecn, fack, handshake, idle, keepalive, newreno, options, pacing, prr, rack, reset,
    rto, sack, send, timestamps, undo, whole, window,
);

#[test]
fn every_script_is_played() {
    for path in entries(&folder()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(
            AREAS.contains(&name.as_str()),
            "{} is not a valid area: add it to areas!, or move the file",
            path.display()
        );
        for script in entries(&path) {
            assert_eq!(script.extension().and_then(|ext| ext.to_str()), Some("script"), "{}", script.display());
        }
    }
}
