//! Traffic of Python: what it inherits, the record of its progress, and a class whose method the interpreter runs.

use super::class::{Class, Given, call};
use super::{Algorithm, Made};
use lightlag_core::own::{Facts, Outside};
use lightlag_own::traffic::{Body, bind};
use lightlag_plugin::Source;
use lightlag_scenario::own_traffic::{Application, Maker, Start};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

/// Traffic of a user: a class that inherits from this one and says, message by message, when the next one comes and how large it is.
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

    /// From the last message, or the start of the flow, to the next one, in nanoseconds; between messages, 0 counts as 1.
    #[getter]
    fn wait_ns(&self) -> i64 {
        self.0.wait_ns
    }

    #[setter]
    fn set_wait_ns(&mut self, wait_ns: i64) {
        self.0.wait_ns = wait_ns;
    }

    /// Bytes of the next message; 0: there is none any more.
    #[getter]
    fn size(&self) -> i64 {
        self.0.size
    }

    #[setter]
    fn set_size(&mut self, size: i64) {
        self.0.size = size;
    }

    /// The state of the random numbers of this flow, which `lightlag.own.uniform` moves on.
    #[getter(random)]
    fn random(&self) -> u64 {
        self.0.random
    }

    #[setter(random)]
    fn set_random(&mut self, random: u64) {
        self.0.random = random;
    }
}

struct Plain(Class);

/// Traffic whose method the interpreter runs.
#[pyfunction]
pub(crate) fn plain_traffic(
    name: String,
    file: Option<String>,
    code: String,
    class_: Py<PyAny>,
    given: Vec<Given>,
) -> Made {
    Made(Algorithm::Traffic(Arc::new(Plain(Class::new(name, file, code, class_, given)))))
}

impl Outside for Plain {
    fn facts(&self) -> &Facts {
        &self.0.facts
    }
}

impl Maker for Plain {
    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn Application> {
        bind(self.0.facts.name, Object(self.0.instance(values)), start)
    }
}

/// An application: its object, or the reason why there is none.
struct Object(Result<Py<Traffic>, String>);

impl Body for Object {
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
