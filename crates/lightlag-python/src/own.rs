//! Algorithms of a user: classes of Python, plain or compiled, and libraries.
//!
//! - `plain`: a class whose methods the interpreter runs.
//! - `compiled`: a class whose methods are machine code behind the C interface.
//! - `base`: what both inherit, and the records that methods are given.

pub(crate) mod base;
pub(crate) mod compiled;
pub(crate) mod plain;

use lightlag_control::congestion::own::{self, Maker, Origin};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Lets scenarios name algorithms in files.
pub(crate) fn let_files_be_named() {
    own::load_by(open);
}

fn open(origin: &Origin) -> Result<Arc<dyn Maker>, String> {
    match origin {
        Origin::Plugin(file) => lightlag_own::library::open(file),
        Origin::Python(class) => Python::attach(|py| {
            let loaded = py.import("lightlag.own").and_then(|own| own.call_method1("load", (class,)));
            loaded.and_then(|made| Made::of(&made)).map_err(|error| error.value(py).to_string())
        }),
        Origin::Registered => Err("a registered algorithm has no file".to_owned()),
    }
}

/// An algorithm that is ready to be named by scenarios.
#[pyclass(frozen, name = "Algorithm", module = "lightlag._engine")]
pub(crate) struct Made(pub(crate) Arc<dyn Maker>);

impl Made {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Arc<dyn Maker>> {
        Ok(Arc::clone(&object.cast::<Self>()?.get().0))
    }
}

#[pymethods]
impl Made {
    /// Makes it known by its name.
    fn register(&self) -> PyResult<()> {
        lightlag_control::congestion::register(Arc::clone(&self.0)).map_err(pyo3::exceptions::PyValueError::new_err)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The digest of its code.
    #[getter]
    fn code(&self) -> &str {
        self.0.code()
    }
}

/// The files of the crate `lightlag-plugin` and its header of C, by their paths in the crate: a plug-in is built from them.
#[pyfunction]
pub(crate) fn plugin_sources() -> BTreeMap<&'static str, &'static str> {
    macro_rules! file {
        ($path:literal) => {
            ($path, include_str!(concat!("../../lightlag-plugin/", $path)))
        };
    }
    BTreeMap::from([
        file!("include/lightlag.h"),
        file!("src/congestion.rs"),
        file!("src/lib.rs"),
        file!("src/records.rs"),
        file!("src/table.rs"),
    ])
}

/// The place of an algorithm in a scenario: `file` is "FILE:CLASS" for one in a file.
pub(crate) fn origin(file: Option<String>) -> Origin {
    file.map_or(Origin::Registered, Origin::Python)
}
