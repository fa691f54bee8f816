//! Files of movements, read in the same way as for scenarios.

use lightlag_core::Instant;
use lightlag_mobility::models::trace::TraceFormat;
use lightlag_mobility::{Path, Paths};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A node: its name, the time in seconds of its last position, and its initial position in metres.
type Node = (String, f64, (f64, f64, f64));

/// Returns the nodes in a file of movements ("csv", "bonnmotion" or "ns2"), and the number of lines that were left out
/// because they do not move a node.
///
/// # Errors
/// ValueError that names the first line with an error.
#[pyfunction]
#[pyo3(signature = (format, text, dimension=2))]
pub(crate) fn movements(py: Python<'_>, format: &str, text: &str, dimension: u32) -> PyResult<(Vec<Node>, usize)> {
    let format = match format {
        "csv" => TraceFormat::Csv,
        "bonnmotion" => TraceFormat::BonnMotion,
        "ns2" => TraceFormat::Ns2,
        _ => return Err(PyValueError::new_err(format!("{format:?} is not a format of movements"))),
    };
    let read = py.detach(|| Paths::read(format, dimension, text.as_bytes()));
    let paths = read.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((paths.nodes().iter().map(node).collect(), paths.left_out()))
}

fn node(path: &Path) -> Node {
    let fixes = path.track.fixes();
    let (first, last) = (fixes[0], fixes[fixes.len() - 1]);
    (path.node.clone(), last.at.since(Instant::ZERO).as_secs_f64(), (first.place.x, first.place.y, first.place.z))
}
