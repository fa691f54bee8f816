//! The engine's interface for the web page, used by the server of `lightlag studio`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Mutex;

/// The engine with the interface that a web page uses: requests and replies in JSON, and columns.
#[pyclass(frozen, module = "lightlag._engine")]
pub(crate) struct Door(Mutex<lightlag_web::Door>);

#[pymethods]
impl Door {
    #[new]
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// Handles a request without holding the GIL. Returns a JSON head, followed by columns.
    fn ask<'py>(&self, py: Python<'py>, request: &str) -> PyResult<Bound<'py, PyBytes>> {
        // Does not block: a thread that waits here with the GIL would hold up the one that works without it.
        let mut door =
            self.0.try_lock().map_err(|_| PyRuntimeError::new_err("the interface is in use by another thread"))?;
        let door = &mut *door;
        let answer = py.detach(|| door.ask(request));
        Ok(PyBytes::new(py, &answer))
    }
}
