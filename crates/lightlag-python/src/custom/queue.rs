//! Python queue disciplines: their base class, the record of a packet, and a class whose methods are run by the
//! interpreter.

use super::class::{Class, ParameterTuple, call};
use super::{Algorithm, Made};
use lightlag_core::custom::{Description, Factory};
use lightlag_custom::queue::{QueueCallbacks, bind, refusal};
use lightlag_net::queue::custom::{DisciplineFactory, PacketPolicy, QueueInfo};
use lightlag_plugin::{Queue, verdict};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

/// Base class of custom queue disciplines: a subclass decides about arriving packets, departing packets, or both.
///
/// One instance serves one queue. The queue is first in, first out, and limited as specified in the scenario.
#[pyclass(subclass, name = "QueueDiscipline", module = "lightlag._engine")]
pub(crate) struct QueueDiscipline(Queue);

#[pymethods]
impl QueueDiscipline {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self(Queue::NONE)
    }

    /// Returns the number of queued packets, not counting the arriving or departing one.
    #[getter]
    fn packets(&self) -> i64 {
        self.0.packets
    }

    /// Returns the size of the queued packets in bytes.
    #[getter]
    fn bytes(&self) -> i64 {
        self.0.bytes
    }

    /// Returns the maximum number of queued packets; infinite if the limit is in bytes.
    #[getter]
    fn limit_packets(&self) -> f64 {
        self.0.limit_packets
    }

    /// Returns the maximum number of queued bytes; infinite if the limit is in packets.
    #[getter]
    fn limit_bytes(&self) -> f64 {
        self.0.limit_bytes
    }

    /// Returns the rate of the link in bytes per second.
    #[getter]
    fn rate(&self) -> f64 {
        self.0.rate
    }

    /// Returns the state of this queue's random numbers, which `lightlag.custom.uniform` advances.
    #[getter]
    fn random(&self) -> u64 {
        self.0.random
    }

    #[setter]
    fn set_random(&mut self, random: u64) {
        self.0.random = random;
    }
}

/// A class whose methods are run by the interpreter.
struct PlainDiscipline {
    class: Class,
    judges_arrivals: bool,
    judges_departures: bool,
}

/// Returns a queue discipline whose methods are run by the interpreter. `hooks` are the names of the methods that it
/// defines.
#[pyfunction]
pub(crate) fn plain_discipline(
    name: String,
    file: Option<String>,
    code: String,
    class_: Py<PyAny>,
    given: Vec<ParameterTuple>,
    hooks: Vec<String>,
) -> Made {
    let has = |hook: &str| hooks.iter().any(|name| name == hook);
    let (judges_arrivals, judges_departures) = (has("on_enqueue"), has("on_dequeue"));
    let class = Class::new(name, file, code, class_, given);
    Made(Algorithm::Queue(Arc::new(PlainDiscipline { class, judges_arrivals, judges_departures })))
}

impl Factory for PlainDiscipline {
    fn facts(&self) -> &Description {
        &self.class.facts
    }
}

impl DisciplineFactory for PlainDiscipline {
    fn build(self: Arc<Self>, start: &QueueInfo, values: &[f64]) -> Box<dyn PacketPolicy> {
        let body = QueueObject { object: self.class.instance(values), class: Arc::clone(&self) };
        bind(self.class.facts.name, body, start)
    }
}

/// The object of a queue, or the reason why it could not be created.
struct QueueObject {
    object: Result<Py<QueueDiscipline>, String>,
    class: Arc<PlainDiscipline>,
}

impl QueueObject {
    fn ask(&self, hook: &str, packet: &lightlag_plugin::Packet) -> Result<i64, String> {
        let object = self.object.as_ref().map_err(Clone::clone)?;
        call(object, hook, super::base::Packet(*packet), |answer| match answer.extract::<i64>() {
            Ok(number) => Ok(Ok(number)),
            Err(_) => answer.repr().map(|shown| Err(refusal(&shown.to_string()))),
        })?
    }
}

impl QueueCallbacks for QueueObject {
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
