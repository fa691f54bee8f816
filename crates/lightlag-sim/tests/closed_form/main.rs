//! Runs compared with closed forms from the literature.

mod growth;
mod loss;
mod response;
mod throughput;
mod timing;

#[path = "../text/mod.rs"]
mod text;

use lightlag_sim::RunResult;

/// Returns the value of a trace column in the last row of flow 0 at or before a time.
fn at<T: Copy>(result: &RunResult, column: &[T], time_s: f64) -> T {
    let rows = result.trace.time_s.partition_point(|row| *row <= time_s);
    assert!(rows > 0, "nothing was recorded before {time_s} s");
    column[rows - 1]
}

/// Asserts that `ours` deviates from the closed form by at most the fraction `share`.
#[track_caller]
fn assert_within(what: &str, ours: f64, closed_form: f64, share: f64) {
    let off = ours / closed_form - 1.0;
    assert!(off.abs() <= share, "{what}: {ours} is {:+.2} % off the closed form {closed_form}", 100.0 * off);
}
