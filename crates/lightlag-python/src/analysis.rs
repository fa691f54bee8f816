//! The analysis of results: quantities as text, and tables and sentences about runs, with JSON as input and output.

use lightlag_analysis::statistics::{self, Interval};
use lightlag_analysis::{measures, numbers, outcome};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Evaluates a `lightlag_analysis::Request` in JSON; returns JSON.
#[pyfunction]
pub(crate) fn analysis(py: Python<'_>, request: &str) -> PyResult<String> {
    py.detach(|| lightlag_analysis::answer(request)).map_err(PyValueError::new_err)
}

/// Formats a number with this many significant digits and without an exponent; large numbers are rounded to integers.
#[pyfunction]
#[pyo3(signature = (value, digits=4))]
pub(crate) fn number(value: f64, digits: usize) -> String {
    numbers::number(value, digits)
}

/// Formats a mean window in segments; "unlimited" if it does not limit the sender.
#[pyfunction]
pub(crate) fn window(segments: f64) -> String {
    numbers::window(segments)
}

/// Returns a value scaled to below 1000, and its decimal prefix.
#[pyfunction]
pub(crate) fn scaled(value: f64) -> (f64, &'static str) {
    numbers::scaled(value)
}

/// Returns the power of 1000 of the prefix with which a value is written, and the prefix.
#[pyfunction]
pub(crate) fn factor_of(value: f64) -> (f64, &'static str) {
    numbers::factor_of(value)
}

/// Formats a rate in bit/s. The unit is chosen for the rate itself, or for another rate `like`.
#[pyfunction]
#[pyo3(signature = (bits_per_second, like=None))]
pub(crate) fn rate(bits_per_second: f64, like: Option<f64>) -> String {
    numbers::rate_like(bits_per_second, like.unwrap_or(bits_per_second))
}

/// Formats a size in bytes. The unit is chosen for the size itself, or for another size `like`.
#[pyfunction]
#[pyo3(signature = (count, like=None))]
pub(crate) fn size(count: f64, like: Option<f64>) -> String {
    numbers::size_like(count, like.unwrap_or(count))
}

/// Formats a fraction as a percentage, with two digits if it is small.
#[pyfunction]
pub(crate) fn share(part: f64, whole: f64) -> String {
    numbers::share(part, whole)
}

/// Formats a time in milliseconds, from 10 s in seconds; a dash if there is none.
#[pyfunction]
pub(crate) fn milliseconds(seconds: Option<f64>) -> String {
    numbers::milliseconds(seconds)
}

/// Returns the t for which a Student-t variable lies in [-t, t] with this probability.
#[pyfunction]
pub(crate) fn student_t(confidence: f64, freedom: i64) -> PyResult<f64> {
    let freedom = usize::try_from(freedom).unwrap_or(0);
    statistics::student_t(confidence, freedom).map_err(PyValueError::new_err)
}

/// Returns the mean of independent values, the half-width of its Student-t interval, and the number of values.
#[pyfunction]
pub(crate) fn mean_interval(values: Vec<f64>, confidence: f64) -> PyResult<(f64, f64, usize)> {
    let interval = statistics::mean_interval(&values, confidence).map_err(PyValueError::new_err)?;
    Ok((interval.mean, interval.half_width, interval.count))
}

/// Returns Jain's fairness index.
#[pyfunction]
pub(crate) fn jain(values: Vec<f64>) -> f64 {
    statistics::jain(&values)
}

/// Returns the goodput of all flows in bit/s: their total payload divided by the time from the first start to the last
/// end.
#[pyfunction]
pub(crate) fn aggregate_goodput(starts_s: Vec<f64>, ends_s: Vec<f64>, delivered_bytes: u64) -> f64 {
    outcome::goodput_bps(delivered_bytes, outcome::seconds_together(starts_s.into_iter().zip(ends_s)))
}

/// Formats a mean with its confidence interval, in the unit of a metric.
#[pyfunction]
#[pyo3(signature = (unit, mean, half_width, count, like=None))]
pub(crate) fn shown(unit: &str, mean: f64, half_width: f64, count: usize, like: Option<f64>) -> String {
    measures::shown(unit, Interval { mean, half_width, count }, like.unwrap_or(mean))
}

/// Returns the number of decimals that show two significant digits of the half-width, but at most four digits of the
/// mean.
#[pyfunction]
pub(crate) fn decimals(mean: f64, half_width: f64) -> usize {
    measures::decimals(mean, half_width)
}

/// Returns the fraction of payload segments that were retransmissions; None if none were sent.
#[pyfunction]
pub(crate) fn retransmitted_share(again: u64, sent: u64) -> Option<f64> {
    lightlag_analysis::summary::retransmitted_share_of(again, sent)
}
