//! The CPU time and memory of a process. Each measurement runs in a process of its own, so that it also has a separate
//! peak of memory.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde::{Deserialize, Serialize};
use std::process::{Command, Stdio};

/// The measurement of one process.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Sample {
    /// Number of packets that passed a link; dropped ones count.
    pub packet_hops: u64,
    /// Number of lightlag's events; 0 for another simulator.
    #[serde(default)]
    pub events: u64,
    /// CPU time of these packet-hops, in seconds.
    pub cpu_s: f64,
    /// Number of entities in lightlag's event queue; 0 for another simulator.
    #[serde(default)]
    pub entities: u64,
    /// Peak memory of the process, in KiB.
    pub max_rss_kib: u64,
}

impl Sample {
    /// Nanoseconds per packet-hop.
    pub fn nanos(&self) -> f64 {
        self.cpu_s * 1e9 / self.packet_hops as f64
    }

    /// Millions of packet-hops per second of CPU time.
    pub fn millions(&self) -> f64 {
        1e3 / self.nanos()
    }
}

/// Returns the CPU time of this process in seconds, including the kernel's. The kernel counts this sum exactly. It
/// splits the sum into user and system time by ticks, which are too coarse for short runs.
pub fn cpu_seconds() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the kernel counts CPU time");
    (usage.user_time() + usage.system_time()).num_microseconds() as f64 * 1e-6
}

/// Returns the peak memory of this process, in KiB.
pub fn max_rss_kib() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the kernel counts memory");
    usage.max_rss().unsigned_abs()
}

/// Runs this program again with other arguments and reads what it prints.
pub fn in_child<T: serde::de::DeserializeOwned>(arguments: &[&str]) -> T {
    let program = std::env::current_exe().expect("a running program has a file");
    let mut command = Command::new(program);
    read(command.args(arguments)).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

/// Runs a program and reads the sample that it prints.
pub fn read<T: serde::de::DeserializeOwned>(command: &mut Command) -> Result<T, String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(output.status.to_string());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

/// Seconds of CPU time, including the kernel's, that a program takes from its start to its end.
pub fn cpu_of(command: &mut Command) -> Result<f64, String> {
    let children = || {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel counts CPU time");
        (usage.user_time() + usage.system_time()).num_microseconds() as f64 * 1e-6
    };
    let before = children();
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(children() - before) } else { Err(output.status.to_string()) }
}

/// Seconds of wall-clock time that a program takes from its start to its end.
#[allow(clippy::disallowed_methods, reason = "this measures elapsed time")]
pub fn wall_of(command: &mut Command) -> Result<f64, String> {
    let start = std::time::Instant::now();
    let output = command.output().map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    if output.status.success() { Ok(seconds) } else { Err(output.status.to_string()) }
}

/// The sample with the minimum time per packet-hop: load on the machine can only add time.
pub fn best(samples: impl IntoIterator<Item = Sample>) -> Sample {
    samples.into_iter().min_by(|a, b| a.nanos().total_cmp(&b.nanos())).expect("at least one sample")
}
