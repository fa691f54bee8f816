//! The partitioning of a network for a run on several threads, and the expected gain, estimated by a trial on one
//! thread.

use crate::scenario::Read;
use crate::scenario_error;
use lightlag_core::Instant;
use lightlag_sim::Parallel;
use lightlag_sim::partition::WorkCounts;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Number of events of a trial between two checks for Ctrl-C.
const SLICE: u64 = 1 << 20;

/// Returns how a scenario is partitioned for `threads` threads, and the work of each partition in a trial of about
/// `events` events, as JSON `{"whole": reason}` or `{"partitions": [{"nodes", "share", "lane"}, ...], "lanes",
/// "window_s", "round_s", "cut": [link, ...], "simulated_s", "windows", "crossings", "events", "speed_up"}`.
#[pyfunction]
#[pyo3(signature = (scenario, threads, events=3_000_000))]
pub(crate) fn partitions(py: Python<'_>, scenario: &Read, threads: usize, events: u64) -> PyResult<String> {
    let how = Parallel { lanes: threads, threads: 1, always: false };
    let mut simulation = py.detach(|| scenario.simulation(how)).map_err(|errors| scenario_error(py, &errors))?;
    let mut answer = match simulation.cut() {
        Err(whole) => return Ok(json!({ "whole": whole.reason() }).to_string()),
        Ok(cut) => {
            let names = simulation.link_names();
            let size = |partition| cut.nodes().iter().filter(|of| usize::from(**of) == partition).count();
            let shares = cut.shares().into_iter().enumerate();
            let part =
                |(partition, share)| json!({ "nodes": size(partition), "share": share, "lane": cut.lane(partition) });
            let partitions: Vec<Value> = shares.map(part).collect();
            let links: Vec<&str> = cut.links().map(|link| names[link.0 as usize].as_str()).collect();
            let [window, round] = [cut.window(), cut.round()].map(|time| time.as_secs_f64());
            let lanes = cut.lanes();
            json!({ "partitions": partitions, "lanes": lanes, "window_s": window, "round_s": round, "cut": links })
        }
    };
    while simulation.progress().events < events && py.detach(|| simulation.step(Instant::MAX, SLICE.min(events))) {
        py.check_signals()?;
    }
    let counts @ WorkCounts { windows, crossings, events, alone, .. } = simulation.counts();
    answer["simulated_s"] = simulation.progress().now.as_secs_f64().into();
    answer["windows"] = windows.into();
    answer["crossings"] = crossings.into();
    answer["events"] = (events + alone).into();
    answer["speed_up"] = counts.speed_up().into();
    Ok(answer.to_string())
}
