//! Instructions per packet-hop, counted by callgrind: load on the machine cannot change them.

use crate::measure::Sample;
use std::process::{Command, ExitCode};

/// The file with the kept value.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt");
/// The count may exceed the kept value by this factor.
const TOLERANCE: f64 = 1.05;
/// Two lengths of `dumbbell-8`. Their difference excludes the start-up.
const LENGTHS: [&str; 2] = ["2 s", "12 s"];

/// Instructions per packet-hop of `dumbbell-8`, if valgrind is installed.
pub fn count() -> Result<f64, String> {
    let [short, long] = LENGTHS.map(counted);
    let ((short, few), (long, many)) = (short?, long?);
    Ok((long - short) as f64 / (many - few) as f64)
}

/// Instructions and packet-hops of one run.
fn counted(duration: &str) -> Result<(u64, u64), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["once", "dumbbell-8", &format!("duration={duration}")])
        .output()
        .map_err(|error| format!("valgrind does not run: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let sample: Sample = serde_json::from_slice(&output.stdout).map_err(|error| format!("{error}: {report}"))?;
    let collected = report.lines().find_map(|line| line.split_once("Collected :"));
    let instructions = collected.and_then(|(_, number)| number.trim().parse().ok());
    Ok((instructions.ok_or_else(|| format!("no count in: {report}"))?, sample.packet_hops))
}

/// The value that the repository keeps, if any.
pub fn kept() -> Option<f64> {
    let text = std::fs::read_to_string(KEPT).ok()?;
    text.lines().find(|line| !line.starts_with('#'))?.trim().parse().ok()
}

/// Compares the count with the kept value; with `keep`, replaces it.
pub fn check(keep: bool) -> ExitCode {
    let now = match count() {
        Ok(now) => now,
        Err(error) => {
            eprintln!("instructions: {error}");
            return ExitCode::FAILURE;
        }
    };
    if keep {
        let text = format!(
            "# Instructions a packet-hop of dumbbell-8, by callgrind. `make instructions-keep` writes this file; the\n\
             # commit that does so says why.\n{now:.1}\n"
        );
        if let Err(error) = std::fs::write(KEPT, text) {
            eprintln!("instructions: {KEPT}: {error}");
            return ExitCode::FAILURE;
        }
        println!("{now:.1} instructions a packet-hop, kept");
        return ExitCode::SUCCESS;
    }
    let Some(kept) = kept() else {
        eprintln!("instructions: {KEPT} has no value; `make instructions-keep` writes it");
        return ExitCode::FAILURE;
    };
    println!("{now:.1} instructions a packet-hop, {:+.1} % against the {kept:.1} kept", (now / kept - 1.0) * 100.0);
    if now > kept * TOLERANCE {
        eprintln!("instructions: more than 5 % above; if that is worth it, `make instructions-keep` and say why");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
