//! Queue disciplines of Python: what they inherit, the record of a packet, and a class whose methods the interpreter runs.

use super::class::{Class, Given, call};
use super::{Algorithm, Made};
use lightlag_core::own::{Facts, Outside};
use lightlag_net::queue::own::{Judge, Maker, Start};
use lightlag_own::queue::{Body, bind, refusal};
use lightlag_plugin::{Queue, verdict};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

/// A queue discipline of a user: a class that inherits from this one and judges packets that come, packets that leave, or both.
///
/// One instance serves one queue, which is first in, first out, up to the limit of the scenario.
#[pyclass(subclass, name = "QueueDiscipline", module = "lightlag._engine")]
pub(crate) struct QueueDiscipline(Queue);

#[pymethods]
impl QueueDiscipline {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self(Queue::NONE)
    }

    /// Packets that wait, without the one that comes or is about to leave.
    #[getter]
    fn packets(&self) -> i64 {
        self.0.packets
    }

    /// Their bytes.
    #[getter]
    fn bytes(&self) -> i64 {
        self.0.bytes
    }

    /// The most packets that may wait; infinite if the limit is in bytes.
    #[getter]
    fn limit_packets(&self) -> f64 {
        self.0.limit_packets
    }

    /// The most bytes that may wait; infinite if the limit is in packets.
    #[getter]
    fn limit_bytes(&self) -> f64 {
        self.0.limit_bytes
    }

    /// The rate of the link in bytes a second.
    #[getter]
    fn rate(&self) -> f64 {
        self.0.rate
    }

    /// The state of the random numbers of this queue, which `lightlag.uniform` moves on.
    #[getter]
    fn random(&self) -> u64 {
        self.0.random
    }

    #[setter]
    fn set_random(&mut self, random: u64) {
        self.0.random = random;
    }
}

/// A class whose methods the interpreter runs.
struct Plain {
    class: Class,
    judges_arrivals: bool,
    judges_departures: bool,
}

/// A discipline whose methods the interpreter runs. `hooks` are the names of its methods.
#[pyfunction]
pub(crate) fn plain_discipline(
    name: String,
    file: Option<String>,
    code: String,
    class_: Py<PyAny>,
    given: Vec<Given>,
    hooks: Vec<String>,
) -> Made {
    let has = |hook: &str| hooks.iter().any(|name| name == hook);
    let (judges_arrivals, judges_departures) = (has("on_enqueue"), has("on_dequeue"));
    let class = Class::new(name, file, code, class_, given);
    Made(Algorithm::Queue(Arc::new(Plain { class, judges_arrivals, judges_departures })))
}

impl Outside for Plain {
    fn facts(&self) -> &Facts {
        &self.class.facts
    }
}

impl Maker for Plain {
    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn Judge> {
        let body = Object { object: self.class.instance(values), class: Arc::clone(&self) };
        bind(self.class.facts.name, body, start)
    }
}

/// A queue: its object, or the reason why there is none.
struct Object {
    object: Result<Py<QueueDiscipline>, String>,
    class: Arc<Plain>,
}

impl Object {
    fn ask(&self, hook: &str, packet: &lightlag_plugin::Packet) -> Result<i64, String> {
        let object = self.object.as_ref().map_err(Clone::clone)?;
        call(object, hook, super::base::Packet(*packet), |answer| match answer.extract::<i64>() {
            Ok(number) => Ok(Ok(number)),
            Err(_) => answer.repr().map(|shown| Err(refusal(&shown.to_string()))),
        })?
    }
}

impl Body for Object {
    fn queue(&self) -> Queue {
        self.object.as_ref().map_or(Queue::NONE, |object| Python::attach(|py| object.borrow(py).0))
    }

    fn set_queue(&mut self, queue: Queue) {
        if let Ok(object) = &self.object {
            Python::attach(|py| object.borrow_mut(py).0 = queue);
        }
    }

    fn on_enqueue(&mut self, packet: &lightlag_plugin::Packet) -> Result<i64, String> {
        if self.class.judges_arrivals { self.ask("on_enqueue", packet) } else { Ok(verdict::PASS) }
    }

    fn on_dequeue(&mut self, packet: &lightlag_plugin::Packet) -> Result<i64, String> {
        if self.class.judges_departures { self.ask("on_dequeue", packet) } else { Ok(verdict::PASS) }
    }
}
