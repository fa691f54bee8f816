//! Python loss responses: their base class, and a class whose methods are run by the interpreter.

use super::class::{Class, ParameterTuple, call};
use super::{Algorithm, Made};
use lightlag_control::congestion::ConnectionStart;
use lightlag_control::congestion::response::{LossResponse as Response, ResponseFactory};
use lightlag_core::custom::{Description, Factory};
use lightlag_custom::response::{ResponseCallbacks, bind, refusal};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

/// Base class of custom loss responses: a subclass attributes a loss to a cause.
///
/// One instance serves one sender.
#[pyclass(subclass, module = "lightlag._engine")]
pub(crate) struct LossResponse {
    /// The state of this connection's random numbers, which `lightlag.custom.uniform` advances.
    #[pyo3(get, set)]
    random: u64,
}

#[pymethods]
impl LossResponse {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { random: 0 }
    }
}

/// A class whose methods are run by the interpreter.
struct PlainResponse {
    class: Class,
    hears_acks: bool,
}

/// Returns a loss response whose methods are run by the interpreter. `hooks` are the names of the methods that it
/// defines.
#[pyfunction]
pub(crate) fn plain_response(
    name: String,
    file: Option<String>,
    code: String,
    class_: Py<PyAny>,
    given: Vec<ParameterTuple>,
    hooks: Vec<String>,
) -> Made {
    let hears_acks = hooks.iter().any(|name| name == "on_ack");
    Made(Algorithm::Response(Arc::new(PlainResponse {
        class: Class::new(name, file, code, class_, given),
        hears_acks,
    })))
}

impl Factory for PlainResponse {
    fn facts(&self) -> &Description {
        &self.class.facts
    }
}

impl ResponseFactory for PlainResponse {
    fn build(self: Arc<Self>, start: &ConnectionStart, values: &[f64]) -> Box<dyn Response> {
        let body = ResponseObject { object: self.class.instance(values), hears_acks: self.hears_acks };
        bind(self.class.facts.name, body, start)
    }
}

/// The object of a sender, or the reason why it could not be created.
struct ResponseObject {
    object: Result<Py<LossResponse>, String>,
    hears_acks: bool,
}

impl ResponseCallbacks for ResponseObject {
    fn head(&self) -> lightlag_plugin::Response {
        let random = self.object.as_ref().map_or(0, |object| Python::attach(|py| object.borrow(py).random));
        lightlag_plugin::Response { random, fault: 0 }
    }

    fn set_head(&mut self, head: lightlag_plugin::Response) {
        if let Ok(object) = &self.object {
            Python::attach(|py| object.borrow_mut(py).random = head.random);
        }
    }

    fn on_ack(&mut self, ack: &lightlag_plugin::Ack) -> Result<(), String> {
        let object = self.object.as_ref().map_err(Clone::clone)?;
        if self.hears_acks { call(object, "on_ack", super::base::Ack(*ack), |_| Ok(())) } else { Ok(()) }
    }

    fn on_loss(&mut self, loss: &lightlag_plugin::Loss) -> Result<i64, String> {
        let object = self.object.as_ref().map_err(Clone::clone)?;
        call(object, "on_loss", super::base::Loss(*loss), |answer| match answer.extract::<i64>() {
            Ok(number) => Ok(Ok(number)),
            Err(_) => answer.repr().map(|shown| Err(refusal(&shown.to_string()))),
        })?
    }
}
