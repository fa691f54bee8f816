//! The door of the web page, for the server of `lightlag studio`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Mutex;

/// The engine behind a door of JSON and columns, as a web page has it.
#[pyclass(frozen, module = "lightlag._engine")]
pub(crate) struct Door(Mutex<lightlag_web::Door>);

#[pymethods]
impl Door {
    #[new]
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// Answers a request without the GIL: a head in JSON, and columns behind it.
    fn ask<'py>(&self, py: Python<'py>, request: &str) -> PyResult<Bound<'py, PyBytes>> {
        // Does not block: a thread that waits here with the GIL would hold up the one that works without it.
        let mut door =
            self.0.try_lock().map_err(|_| PyRuntimeError::new_err("the door is at work in another thread"))?;
        let door = &mut *door;
        let answer = py.detach(|| door.ask(request));
        Ok(PyBytes::new(py, &answer))
    }
}
