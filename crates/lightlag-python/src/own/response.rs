//! Loss responses of Python: what they inherit, and a class whose methods the interpreter runs.

use super::class::{Class, Given, call};
use super::{Algorithm, Made};
use lightlag_control::congestion::Start;
use lightlag_control::congestion::response::{LossResponse as Response, Maker};
use lightlag_core::own::{Facts, Outside};
use lightlag_own::response::{Body, bind, refusal};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

/// A loss response of a user: a class that inherits from this one and says what a loss comes from.
///
/// One instance serves one sender.
#[pyclass(subclass, module = "lightlag._engine")]
pub(crate) struct LossResponse {
    /// The state of the random numbers of this connection, which `lightlag.uniform` moves on.
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

/// A class whose methods the interpreter runs.
struct Plain {
    class: Class,
    hears_acks: bool,
}

/// A loss response whose methods the interpreter runs. `hooks` are the names of its methods.
#[pyfunction]
pub(crate) fn plain_response(
    name: String,
    file: Option<String>,
    code: String,
    class_: Py<PyAny>,
    given: Vec<Given>,
    hooks: Vec<String>,
) -> Made {
    let hears_acks = hooks.iter().any(|name| name == "on_ack");
    Made(Algorithm::Response(Arc::new(Plain { class: Class::new(name, file, code, class_, given), hears_acks })))
}

impl Outside for Plain {
    fn facts(&self) -> &Facts {
        &self.class.facts
    }
}

impl Maker for Plain {
    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn Response> {
        let body = Object { object: self.class.instance(values), hears_acks: self.hears_acks };
        bind(self.class.facts.name, body, start)
    }
}

/// A sender: its object, or the reason why there is none.
struct Object {
    object: Result<Py<LossResponse>, String>,
    hears_acks: bool,
}

impl Body for Object {
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
