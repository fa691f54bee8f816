//! lightlag's TCP as a host on a TUN device, for the command line.

use lightlag_live::serve::{Control, Event, ServeError, ServeOptions, serve};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

/// Runs a host with these options (JSON). `watch` is called with each event as JSON: the device exists, a connection is
/// open, one is over. Ctrl-C ends the run: open connections are reset, and the device goes away. Returns counters of
/// the packets as JSON, with `interrupted`.
#[pyfunction]
pub fn serve_tcp(py: Python<'_>, options: &str, watch: Py<PyAny>) -> PyResult<String> {
    let options: ServeOptions =
        serde_json::from_str(options).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let config = options.resolve().map_err(PyValueError::new_err)?;
    let mut stopped: Option<PyErr> = None;
    let result = py.detach(|| {
        serve(&config, &mut |event| match Python::attach(|py| tell(py, &watch, event)) {
            Ok(()) => Control::Continue,
            Err(error) => {
                stopped = Some(error);
                Control::Stop
            }
        })
    });
    let interrupted = stopped.is_some();
    if let Some(error) = stopped.filter(|error| !error.is_instance_of::<PyKeyboardInterrupt>(py)) {
        return Err(error);
    }
    let summary = result.map_err(|error| match error {
        ServeError::Tun(_) | ServeError::File(_) | ServeError::Listen { .. } => PyOSError::new_err(error.to_string()),
    })?;
    let mut json = serde_json::to_value(summary).expect("a summary is plain data");
    json["interrupted"] = interrupted.into();
    Ok(json.to_string())
}

fn tell(py: Python<'_>, watch: &Py<PyAny>, event: &Event) -> PyResult<()> {
    py.check_signals()?;
    if matches!(event, Event::Tick) {
        return Ok(());
    }
    let json = serde_json::to_string(event).expect("an event is plain data");
    watch.call1(py, (json,)).map(drop)
}
