//! What the literature says in one line, against what a run does.

mod growth;
mod loss;
mod response;
mod throughput;
mod timing;

#[path = "../text/mod.rs"]
mod text;

use lightlag_sim::RunResult;

/// The value of a trace column at a time: that of the last row of flow 0 at or before it.
fn at<T: Copy>(result: &RunResult, column: &[T], time_s: f64) -> T {
    let rows = result.trace.time_s.partition_point(|row| *row <= time_s);
    assert!(rows > 0, "nothing was recorded before {time_s} s");
    column[rows - 1]
}

/// Asserts that `ours` is within `share` of the closed form.
#[track_caller]
fn assert_within(what: &str, ours: f64, closed_form: f64, share: f64) {
    let off = ours / closed_form - 1.0;
    assert!(off.abs() <= share, "{what}: {ours} is {:+.2} % off the closed form {closed_form}", 100.0 * off);
}
