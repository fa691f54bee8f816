//! Python traffic sources: their base class, the record of their progress, and a class whose method is run by the
//! interpreter.

use super::class::{Class, ParameterTuple, call};
use super::{Algorithm, Made};
use lightlag_core::custom::{Description, Factory};
use lightlag_custom::traffic::{ApplicationCallbacks, bind};
use lightlag_plugin::Source;
use lightlag_traffic::custom::{Application, ApplicationInfo, TrafficFactory};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

/// Base class of custom traffic: for each message, a subclass sets the time and the size.
///
/// One instance serves one flow.
#[pyclass(subclass, name = "Traffic", module = "lightlag._engine")]
pub(crate) struct Traffic(Source);

#[pymethods]
impl Traffic {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self(Source::NONE)
    }

    /// Time from the last message, or from the start of the flow, to the next message, in nanoseconds. Between
    /// messages, 0 counts as 1.
    #[getter]
    fn wait_ns(&self) -> i64 {
        self.0.wait_ns
    }

    #[setter]
    fn set_wait_ns(&mut self, wait_ns: i64) {
        self.0.wait_ns = wait_ns;
    }

    /// Size of the next message in bytes; 0 if there are no more messages.
    #[getter]
    fn size(&self) -> i64 {
        self.0.size
    }

    #[setter]
    fn set_size(&mut self, size: i64) {
        self.0.size = size;
    }

    /// Returns the state of this flow's random numbers, which `lightlag.custom.uniform` advances.
    #[getter(random)]
    fn random(&self) -> u64 {
        self.0.random
    }

    #[setter(random)]
    fn set_random(&mut self, random: u64) {
        self.0.random = random;
    }
}

struct PlainTraffic(Class);

/// A traffic source whose method is run by the interpreter.
#[pyfunction]
pub(crate) fn plain_traffic(
    name: String,
    file: Option<String>,
    code: String,
    class_: Py<PyAny>,
    given: Vec<ParameterTuple>,
) -> Made {
    Made(Algorithm::Traffic(Arc::new(PlainTraffic(Class::new(name, file, code, class_, given)))))
}

impl Factory for PlainTraffic {
    fn facts(&self) -> &Description {
        &self.0.facts
    }
}

impl TrafficFactory for PlainTraffic {
    fn build(self: Arc<Self>, start: &ApplicationInfo, values: &[f64]) -> Box<dyn Application> {
        bind(self.0.facts.name, ApplicationObject(self.0.instance(values)), start)
    }
}

/// The object of an application, or the reason why it could not be created.
struct ApplicationObject(Result<Py<Traffic>, String>);

impl ApplicationCallbacks for ApplicationObject {
    fn source(&self) -> Source {
        self.0.as_ref().map_or(Source::NONE, |object| Python::attach(|py| object.borrow(py).0))
    }

    fn set_source(&mut self, source: Source) {
        if let Ok(object) = &self.0 {
            Python::attach(|py| object.borrow_mut(py).0 = source);
        }
    }

    fn next_message(&mut self, sent: &lightlag_plugin::Sent) -> Result<(), String> {
        let object = self.0.as_ref().map_err(Clone::clone)?;
        call(object, "next_message", super::base::Sent(*sent), |_| Ok(()))
    }
}
