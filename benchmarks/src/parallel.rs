//! The wall-clock time of one run on several threads compared with one thread.

use crate::measure::cpu_seconds;
use lightlag_sim::partition::WorkCounts;
use lightlag_sim::{Control, Parallel, Simulation};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The time of a run, and the work of its partitions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// Wall-clock time in seconds, without the set-up.
    pub wall_s: f64,
    /// Seconds of CPU time of all threads.
    pub cpu_s: f64,
    pub partitions: usize,
    /// Speed-up of one thread per partition over a single thread, by the number of events alone.
    pub by_events: f64,
    pub windows: u64,
    pub crossings: u64,
    pub packet_hops: u64,
    pub hash: String,
}

/// Runs the scenario file `name` with some changes on the given numbers of partitions and threads.
#[allow(clippy::disallowed_methods, reason = "this measures elapsed time")]
pub fn measure(name: &str, lanes: usize, threads: usize, sets: &[(String, String)]) -> Sample {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name).with_extension("toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let scenario = lightlag_scenario::parse_toml(&text, sets).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let how = Parallel { lanes, threads, always: false };
    let mut simulation =
        Simulation::parallel(&scenario, None, how).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let (begin, start) = (cpu_seconds(), std::time::Instant::now());
    while simulation.step(lightlag_core::Instant::MAX, 1 << 20) {}
    let (wall_s, cpu_s) = (start.elapsed().as_secs_f64(), cpu_seconds() - begin);
    let partitions = simulation.cut().map_or(1, |cut| cut.partitions());
    let counts @ WorkCounts { windows, crossings, .. } = simulation.counts();
    let summary = simulation.run(&mut |_| Control::Continue).summary;
    let (packet_hops, hash) = (summary.packet_hops, summary.result_hash);
    Sample { wall_s, cpu_s, partitions, by_events: counts.speed_up(), windows, crossings, packet_hops, hash }
}
