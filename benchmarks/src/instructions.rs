//! Instructions per packet-hop, counted by callgrind, so that the load on the machine does not affect them.

use crate::measure::Sample;
use std::fmt::Write as _;
use std::process::{Command, ExitCode};

/// The file with the stored values.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt");
/// Maximum ratio between a count and the stored value.
const TOLERANCE: f64 = 1.05;

/// A scenario, run for two lengths. Their difference excludes the start-up.
pub struct Counted {
    /// The name of the file in `benchmarks/scenarios`.
    pub name: &'static str,
    lengths: [&'static str; 2],
}

/// TCP over links, datagrams of many sensors, and TCP over a shared medium.
pub const COUNTED: [Counted; 3] = [
    Counted { name: "dumbbell-8", lengths: ["2 s", "12 s"] },
    Counted { name: "iot-10k", lengths: ["20 s", "60 s"] },
    Counted { name: "swarm", lengths: ["10 s", "30 s"] },
];

impl Counted {
    /// Counts the instructions per packet-hop.
    fn count(&self) -> Result<f64, String> {
        per_hop(self.name, self.lengths, &[])
    }

    /// Returns the value that is stored in the repository, if any.
    fn kept(&self) -> Option<f64> {
        let text = std::fs::read_to_string(KEPT).ok()?;
        let kept = text.lines().find_map(|line| line.strip_prefix(self.name)?.strip_prefix(' '));
        kept?.trim().parse().ok()
    }

    /// Returns a line about a count, and whether the count is within the tolerance.
    pub fn judge(&self, now: f64) -> (String, bool) {
        let name = self.name;
        match self.kept() {
            None => (format!("{name}: {KEPT} has no value; `make instructions-keep` writes it"), false),
            Some(kept) if now > kept * TOLERANCE => (
                format!(
                    "{name}: {now:.1} instructions per packet-hop, more than 5 % above the {kept:.1} kept; \
                     if that is worth it, `make instructions-keep` and say why"
                ),
                false,
            ),
            Some(kept) => {
                let change = (now / kept - 1.0) * 100.0;
                (
                    format!("{name}: {now:.1} instructions per packet-hop, {change:+.1} % against the {kept:.1} kept"),
                    true,
                )
            }
        }
    }
}

/// Counts the instructions per packet-hop of a scenario with these changes, over the difference of two lengths.
pub fn per_hop(name: &str, lengths: [&str; 2], changes: &[&str]) -> Result<f64, String> {
    let [short, long] = lengths.map(|duration| run(name, duration, changes));
    let ((short, few), (long, many)) = (short?, long?);
    Ok((long - short) as f64 / (many - few) as f64)
}

/// Returns the instructions and the packet-hops of one run.
fn run(name: &str, duration: &str, changes: &[&str]) -> Result<(u64, u64), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["once", name, &format!("duration={duration}")])
        .args(changes)
        .output()
        .map_err(|error| format!("valgrind does not run: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let sample: Sample = serde_json::from_slice(&output.stdout).map_err(|error| format!("{error}: {report}"))?;
    let collected = report.lines().find_map(|line| line.split_once("Collected :"));
    let instructions = collected.and_then(|(_, number)| number.trim().parse().ok());
    Ok((instructions.ok_or_else(|| format!("no count in: {report}"))?, sample.packet_hops))
}

/// Compares the counts with the stored values; with `keep`, replaces those.
pub fn check(keep: bool) -> ExitCode {
    match counts().and_then(|counts| if keep { write(&counts).map(|()| true) } else { Ok(within(&counts)) }) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Counts the instructions per packet-hop of each scenario, in parallel. Returns an error if valgrind is not installed.
pub fn counts() -> Result<[f64; COUNTED.len()], String> {
    let counts = std::thread::scope(|scope| {
        COUNTED
            .each_ref()
            .map(|counted| scope.spawn(|| counted.count()))
            .map(|thread| thread.join().expect("counting does not panic"))
    });
    let [dumbbell, sensors, swarm] = counts;
    Ok([dumbbell?, sensors?, swarm?])
}

/// Prints a line for each count. Returns false if one exceeds its tolerance.
fn within(counts: &[f64; COUNTED.len()]) -> bool {
    let mut all = true;
    for (counted, &now) in COUNTED.iter().zip(counts) {
        let (line, within) = counted.judge(now);
        println!("{line}");
        all &= within;
    }
    all
}

/// Replaces the stored values.
fn write(counts: &[f64; COUNTED.len()]) -> Result<(), String> {
    let mut text = String::from(
        "# Instructions per packet-hop, by callgrind. `make instructions-keep` writes this file; the commit that does\n\
         # so gives the reason.\n",
    );
    for (counted, now) in COUNTED.iter().zip(counts) {
        writeln!(text, "{} {now:.1}", counted.name).expect("a string takes every line");
    }
    std::fs::write(KEPT, &text).map_err(|error| format!("{KEPT}: {error}"))?;
    print!("{text}");
    Ok(())
}
