//! The analysis of results: quantities as text, and tables and sentences about runs, which come and go as JSON.

use lightlag_analysis::numbers;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Answers a request of `lightlag_analysis::Request` in JSON with JSON.
#[pyfunction]
pub(crate) fn analysis(py: Python<'_>, request: &str) -> PyResult<String> {
    py.detach(|| lightlag_analysis::answer(request)).map_err(PyValueError::new_err)
}

/// A number with this many significant digits and no exponent; large ones are whole numbers.
#[pyfunction]
#[pyo3(signature = (value, digits=4))]
pub(crate) fn number(value: f64, digits: usize) -> String {
    numbers::number(value, digits)
}

/// A mean window in segments; "unlimited" for one that does not limit the sender.
#[pyfunction]
pub(crate) fn window(segments: f64) -> String {
    numbers::window(segments)
}

/// A number below 1000 and its decimal prefix.
#[pyfunction]
pub(crate) fn scaled(value: f64) -> (f64, &'static str) {
    numbers::scaled(value)
}

/// The power of 1000 of the prefix that a value takes, and the prefix.
#[pyfunction]
pub(crate) fn factor_of(value: f64) -> (f64, &'static str) {
    numbers::factor_of(value)
}

/// A rate in bit/s, in its own unit or in that of another.
#[pyfunction]
#[pyo3(signature = (bits_per_second, like=None))]
pub(crate) fn rate(bits_per_second: f64, like: Option<f64>) -> String {
    numbers::rate_like(bits_per_second, like.unwrap_or(bits_per_second))
}

/// A size in bytes, in its own unit or in that of another.
#[pyfunction]
#[pyo3(signature = (count, like=None))]
pub(crate) fn size(count: f64, like: Option<f64>) -> String {
    numbers::size_like(count, like.unwrap_or(count))
}

/// A share in percent, with two digits for small ones.
#[pyfunction]
pub(crate) fn share(part: f64, whole: f64) -> String {
    numbers::share(part, whole)
}

/// A time in milliseconds, from 10 s on in seconds; a dash where there is none.
#[pyfunction]
pub(crate) fn milliseconds(seconds: Option<f64>) -> String {
    numbers::milliseconds(seconds)
}
