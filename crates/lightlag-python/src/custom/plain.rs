//! A class whose methods are run by the interpreter.

use super::base::{self, CongestionControl};
use super::class::{Class, ParameterTuple, call, check_ran};
use super::{Algorithm, Made};
use lightlag_control::congestion::custom::{AlgorithmFactory, Description, Factory};
use lightlag_control::congestion::{self, ConnectionStart, Needs};
use lightlag_custom::bound::{ConnectionCallbacks, bind};
use lightlag_custom::records;
use lightlag_plugin::Control;
use pyo3::prelude::*;
use std::sync::Arc;

/// The optional methods that a class; `on_ack` and `on_congestion` are mandatory.
#[derive(Clone, Copy)]
struct OptionalHooks {
    on_start: bool,
    on_undo: bool,
    on_idle: bool,
    on_recovered: bool,
}

struct PlainAlgorithm {
    class: Class,
    needs: Needs,
    optional: OptionalHooks,
}

/// Returns a congestion control whose methods are run by the interpreter. `needs` is the sum of its flags; `hooks` are
/// the names of the methods that it defines.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "a record in Python's terms")]
pub(crate) fn plain_algorithm(
    name: String,
    file: Option<String>,
    code: String,
    class_: Py<PyAny>,
    given: Vec<ParameterTuple>,
    needs: u64,
    hooks: Vec<String>,
) -> Made {
    let has = |hook: &str| hooks.iter().any(|name| name == hook);
    Made(Algorithm::Congestion(Arc::new(PlainAlgorithm {
        class: Class::new(name, file, code, class_, given),
        needs: records::needs(needs),
        optional: OptionalHooks {
            on_start: has("on_start"),
            on_undo: has("on_undo"),
            on_idle: has("on_idle"),
            on_recovered: has("on_recovered"),
        },
    })))
}

impl Factory for PlainAlgorithm {
    fn facts(&self) -> &Description {
        &self.class.facts
    }
}

impl AlgorithmFactory for PlainAlgorithm {
    fn needs(&self) -> Needs {
        self.needs
    }

    fn build(self: Arc<Self>, start: &ConnectionStart, values: &[f64]) -> Box<dyn congestion::CongestionControl> {
        let body = ConnectionObject { object: self.class.instance(values), optional: self.optional };
        bind(self.class.facts.name, body, self.needs, start)
    }
}

/// The object of a connection, or the reason why it could not be created.
struct ConnectionObject {
    object: Result<Py<CongestionControl>, String>,
    optional: OptionalHooks,
}

impl ConnectionObject {
    fn call<T>(&self, hook: &str, record: impl FnOnce() -> T) -> Result<(), String>
    where
        T: for<'py> IntoPyObject<'py>,
    {
        let object = self.object.as_ref().map_err(Clone::clone)?;
        call(object, hook, record(), |answer| if answer.is_none() { Ok(()) } else { check_ran(answer) })
    }
}

impl ConnectionCallbacks for ConnectionObject {
    fn control(&self) -> Control {
        match &self.object {
            Ok(object) => Python::attach(|py| object.borrow(py).control()),
            // The start fails with the reason, before anything is sent.
            Err(_) => Control {
                cwnd: 1.0,
                ssthresh: f64::INFINITY,
                pacing_rate: 0.0,
                segment_size: 1.0,
                prior_cwnd: 0.0,
                prior_ssthresh: 0.0,
                random: 0,
                fault: 0,
                epoch_ns: -1,
                epoch_w_max: 0.0,
                epoch_k: 0.0,
            },
        }
    }

    fn set_control(&mut self, control: Control) {
        if let Ok(object) = &self.object {
            Python::attach(|py| object.borrow_mut(py).set_control(control));
        }
    }

    fn on_start(&mut self, start: &lightlag_plugin::Start) -> Result<(), String> {
        if let Err(reason) = &self.object {
            return Err(reason.clone());
        }
        if self.optional.on_start { self.call("on_start", || base::Start(*start)) } else { Ok(()) }
    }

    fn on_ack(&mut self, ack: &lightlag_plugin::Ack) -> Result<(), String> {
        self.call("on_ack", || base::Ack(*ack))
    }

    fn on_congestion(&mut self, event: &lightlag_plugin::Congestion) -> Result<(), String> {
        self.call("on_congestion", || base::Congestion(*event))
    }

    fn on_undo(&mut self, moment: &lightlag_plugin::Moment) -> Result<bool, String> {
        let has = self.optional.on_undo;
        if has { self.call("on_undo", || base::Moment(*moment)) } else { Ok(()) }.map(|()| has)
    }

    fn on_idle(&mut self, idle: &lightlag_plugin::Idle) -> Result<bool, String> {
        let has = self.optional.on_idle;
        if has { self.call("on_idle", || base::Idle(*idle)) } else { Ok(()) }.map(|()| has)
    }

    fn on_recovered(&mut self, moment: &lightlag_plugin::Moment) -> Result<(), String> {
        if self.optional.on_recovered { self.call("on_recovered", || base::Moment(*moment)) } else { Ok(()) }
    }
}
