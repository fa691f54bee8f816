//! Routers of Python: what they inherit, the records that their methods are given, and a class whose methods the interpreter runs.

// A router looks at the world while one of its methods runs.
#![allow(unsafe_code)]

use super::class::{Class, Given, call};
use super::{Algorithm, Made};
use lightlag_core::own::{Facts, Outside};
use lightlag_core::{Instant, Probability};
use lightlag_net::NodeId;
use lightlag_routing::own::{self, Heard, LONGEST, Maker, Order, Start};
use lightlag_routing::{Fate, Heading, Receiver, Surroundings, Verdict};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::collections::VecDeque;
use std::sync::Arc;

/// The answers that keep a packet, or ask again where it goes: no numbers of nodes.
const WAIT: i64 = -1;
const AGAIN: i64 = -2;

/// The world during a call of a method.
struct World(*mut (dyn Surroundings + 'static));

// SAFETY: a router is called by the thread that runs it alone, and the world is gone when the call is over.
unsafe impl Send for World {}
// SAFETY: as above.
unsafe impl Sync for World {}

/// A router of a user: a class that inherits from this one and says to which neighbour a packet goes.
///
/// One instance serves one node. Nodes are numbers, in the order of the scenario.
#[pyclass(subclass, name = "Router", module = "lightlag._engine")]
pub(crate) struct Router {
    node: NodeId,
    now: Instant,
    wake: Option<Instant>,
    orders: VecDeque<Order>,
    /// There is one while a method runs that may ask for it.
    world: Option<World>,
    /// Whether the running method is asked for a next hop.
    is_asked: bool,
    random: u64,
}

impl Router {
    fn world(&mut self) -> PyResult<&mut dyn Surroundings> {
        match &self.world {
            // SAFETY: `during` lends the world for the time of a call and takes it back; `self` is borrowed meanwhile.
            Some(World(world)) => Ok(unsafe { &mut **world }),
            None => Err(PyRuntimeError::new_err(
                "positions and neighbours can be asked for in on_start, next_hop, on_message and on_timer",
            )),
        }
    }

    /// This node, or another one of the medium.
    fn other(&mut self, node: Option<u32>) -> PyResult<NodeId> {
        let node = node.map_or(self.node, NodeId);
        if self.world()?.has(node) {
            Ok(node)
        } else {
            Err(PyValueError::new_err(format!("{} is no node of the medium", node.0)))
        }
    }

    fn refuse_when_asked(&self, what: &str) -> PyResult<()> {
        if self.is_asked {
            return Err(PyRuntimeError::new_err(format!(
                "{what} has no place in next_hop, whose answer says what becomes of the packet"
            )));
        }
        Ok(())
    }
}

#[pymethods]
impl Router {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            node: NodeId(0),
            now: Instant::ZERO,
            wake: None,
            orders: VecDeque::new(),
            world: None,
            is_asked: false,
            random: 0,
        }
    }

    /// The number of its node.
    #[getter]
    fn node(&self) -> u32 {
        self.node.0
    }

    /// The time at which `on_timer` is called, in nanoseconds since the start of the run; -1 for none.
    #[getter]
    fn wake_ns(&self) -> i64 {
        self.wake.map_or(-1, |wake| wake.as_nanos().cast_signed())
    }

    #[setter]
    fn set_wake_ns(&mut self, wake_ns: i64) -> PyResult<()> {
        let wake = u64::try_from(wake_ns).ok().map(Instant::from_nanos);
        if wake.is_none() && wake_ns != -1 || wake.is_some_and(|wake| wake <= self.now) {
            let now = self.now.as_nanos();
            return Err(PyValueError::new_err(format!("wake_ns = {wake_ns} is not after now, {now}; -1 for no timer")));
        }
        self.wake = wake;
        Ok(())
    }

    /// Sends a message of these bytes to all neighbours, or to one of them, which acknowledges it.
    #[pyo3(signature = (data, to = None))]
    fn send(&mut self, data: &[u8], to: Option<u32>) -> PyResult<()> {
        if data.len() > LONGEST {
            return Err(PyValueError::new_err(format!("a message of {} B is longer than {LONGEST} B", data.len())));
        }
        let to = match to {
            None => Receiver::All,
            Some(node) if NodeId(node) == self.node => {
                return Err(PyValueError::new_err(format!("{node} is the node itself; send to a neighbour")));
            }
            Some(node) if self.world.is_some() => Receiver::One(self.other(Some(node))?),
            Some(node) => Receiver::One(NodeId(node)),
        };
        self.orders.push_back(Order::Send(to, data.into()));
        Ok(())
    }

    /// Asks again where the packets go that wait for a destination.
    fn release(&mut self, destination: u32) -> PyResult<()> {
        self.refuse_when_asked("release")?;
        self.orders.push_back(Order::Release(NodeId(destination)));
        Ok(())
    }

    /// Drops the packets that wait for a destination.
    fn discard(&mut self, destination: u32) -> PyResult<()> {
        self.refuse_when_asked("discard")?;
        self.orders.push_back(Order::Discard(NodeId(destination)));
        Ok(())
    }

    /// Where this node is now, or another one: metres.
    #[pyo3(signature = (node = None))]
    fn position(&mut self, node: Option<u32>) -> PyResult<(f64, f64, f64)> {
        let (node, now) = (self.other(node)?, self.now);
        let at = self.world()?.position(node, now);
        Ok((at.x, at.y, at.z))
    }

    /// The nodes to which frames from this node get through now, or from another one, in ascending order.
    #[pyo3(signature = (node = None))]
    fn neighbours(&mut self, node: Option<u32>) -> PyResult<Vec<u32>> {
        let (node, now) = (self.other(node)?, self.now);
        Ok(self.world()?.neighbours(node, now, Probability::HALF).iter().map(|node| node.0).collect())
    }

    /// The state of the random numbers of this node, which `lightlag.own.uniform` moves on.
    #[getter(random)]
    fn random(&self) -> u64 {
        self.random
    }

    #[setter(random)]
    fn set_random(&mut self, random: u64) {
        self.random = random;
    }
}

/// A packet that is to go on.
#[pyclass(frozen, get_all, module = "lightlag._engine")]
pub(crate) struct Parcel {
    /// The time in nanoseconds since the start of the run.
    now_ns: u64,
    /// The node that sent it.
    origin: u32,
    /// The node for which it is.
    destination: u32,
    /// The neighbour from which it came; -1 for one of the node's own.
    came_from: i64,
    /// The hops that it may still go.
    ttl: u8,
    /// Bytes with the IP header.
    size: u32,
}

/// A message of another router.
#[pyclass(frozen, get_all, module = "lightlag._engine")]
pub(crate) struct Message {
    /// The time in nanoseconds since the start of the run.
    now_ns: u64,
    /// The neighbour that sent it.
    sender: u32,
    /// Whether it is for all neighbours.
    to_all: bool,
    /// Its bytes.
    data: Py<PyBytes>,
    /// Its signal-to-noise ratio.
    snr_db: f64,
}

/// A neighbour did not acknowledge a frame.
#[pyclass(frozen, get_all, module = "lightlag._engine")]
pub(crate) struct Break {
    /// The time in nanoseconds since the start of the run.
    now_ns: u64,
    /// The neighbour.
    neighbour: u32,
    /// The node for which the packet is that the frame held; -1 for a message of the router.
    destination: i64,
    /// The node that sent the packet; -1 for a message.
    origin: i64,
}

/// Methods that a class may have beside `next_hop`.
#[derive(Clone, Copy)]
struct Optional {
    on_start: bool,
    on_message: bool,
    on_timer: bool,
    on_broken: bool,
}

struct Plain {
    class: Class,
    optional: Optional,
}

/// A router whose methods the interpreter runs; `hooks` has their names.
#[pyfunction]
pub(crate) fn plain_router(
    name: String,
    file: Option<String>,
    code: String,
    class_: Py<PyAny>,
    given: Vec<Given>,
    hooks: Vec<String>,
) -> Made {
    let has = |hook: &str| hooks.iter().any(|name| name == hook);
    let optional = Optional {
        on_start: has("on_start"),
        on_message: has("on_message"),
        on_timer: has("on_timer"),
        on_broken: has("on_broken"),
    };
    Made(Algorithm::Router(Arc::new(Plain { class: Class::new(name, file, code, class_, given), optional })))
}

impl Outside for Plain {
    fn facts(&self) -> &Facts {
        &self.class.facts
    }
}

impl Maker for Plain {
    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn own::Router> {
        let object: Result<Py<Router>, String> = self.class.instance(values);
        if let Ok(object) = &object {
            Python::attach(|py| {
                let mut router = object.borrow_mut(py);
                (router.node, router.random) = (start.node, start.seed);
            });
        }
        Box::new(Object { object, optional: self.optional })
    }
}

/// The router of a node: its object, or the reason why there is none.
struct Object {
    object: Result<Py<Router>, String>,
    optional: Optional,
}

impl Object {
    /// Calls a method while it may look at the world.
    fn during<T, R>(
        &self,
        now: Instant,
        world: Option<&mut dyn Surroundings>,
        hook: &str,
        record: T,
        take: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Result<R, String>
    where
        T: for<'py> IntoPyObject<'py>,
    {
        let object = self.object.as_ref().map_err(Clone::clone)?;
        let world = world.map(|world| {
            // SAFETY: the lifetime is that of this call, at whose end the pointer is taken back.
            World(unsafe { std::mem::transmute::<*mut dyn Surroundings, *mut (dyn Surroundings + 'static)>(world) })
        });
        Python::attach(|py| {
            let mut router = object.borrow_mut(py);
            (router.now, router.world, router.is_asked) = (now, world, hook == "next_hop");
        });
        let answer = call(object, hook, record, take);
        Python::attach(|py| {
            let mut router = object.borrow_mut(py);
            (router.world, router.is_asked) = (None, false);
        });
        answer
    }
}

fn nothing(_: &Bound<'_, PyAny>) -> PyResult<()> {
    Ok(())
}

/// An answer that is a number, or none.
fn number(answer: &Bound<'_, PyAny>, remedy: &str) -> PyResult<Result<Option<i64>, String>> {
    match answer.extract::<Option<i64>>() {
        Ok(number) => Ok(Ok(number)),
        Err(_) => Ok(Err(format!("returned {}; return {remedy}", answer.repr()?))),
    }
}

impl own::Router for Object {
    fn start(&mut self, now: Instant, world: &mut dyn Surroundings) -> Result<(), String> {
        if let Err(reason) = &self.object {
            return Err(reason.clone());
        }
        if !self.optional.on_start {
            return Ok(());
        }
        let moment = super::base::Moment(lightlag_plugin::Moment { now_ns: now.as_nanos().cast_signed() });
        self.during(now, Some(world), "on_start", moment, nothing)
    }

    fn next_hop(
        &mut self,
        now: Instant,
        heading: &Heading,
        from: Option<NodeId>,
        world: &mut dyn Surroundings,
    ) -> Result<Verdict, String> {
        const REMEDY: &str = "the number of a neighbour, None or ll.WAIT";
        let parcel = Parcel {
            now_ns: now.as_nanos(),
            origin: heading.origin.0,
            destination: heading.destination.0,
            came_from: from.map_or(-1, |node| i64::from(node.0)),
            ttl: heading.ttl,
            size: heading.size,
        };
        let answer = self.during(now, Some(world), "next_hop", parcel, |answer| number(answer, REMEDY))??;
        match answer {
            None => Ok(Verdict::Unreachable),
            Some(WAIT) => Ok(Verdict::Wait),
            Some(node) => match u32::try_from(node) {
                Ok(node) => Ok(Verdict::Via(NodeId(node))),
                Err(_) => Err(format!("returned {node}; return {REMEDY}")),
            },
        }
    }

    fn hear(&mut self, now: Instant, heard: &Heard, world: &mut dyn Surroundings) -> Result<(), String> {
        if !self.optional.on_message {
            return Ok(());
        }
        let data = Python::attach(|py| PyBytes::new(py, heard.payload).unbind());
        let message = Message {
            now_ns: now.as_nanos(),
            sender: heard.from.0,
            to_all: heard.to == Receiver::All,
            data,
            snr_db: f64::from(heard.snr_db),
        };
        self.during(now, Some(world), "on_message", message, nothing)
    }

    fn wake(&mut self, now: Instant, world: &mut dyn Surroundings) -> Result<(), String> {
        if let Ok(object) = &self.object {
            Python::attach(|py| object.borrow_mut(py).wake = None);
        }
        if !self.optional.on_timer {
            return Ok(());
        }
        let moment = super::base::Moment(lightlag_plugin::Moment { now_ns: now.as_nanos().cast_signed() });
        self.during(now, Some(world), "on_timer", moment, nothing)
    }

    fn broken(&mut self, now: Instant, to: NodeId, heading: Option<&Heading>) -> Result<Fate, String> {
        const REMEDY: &str = "None, ll.WAIT or ll.AGAIN";
        if !self.optional.on_broken {
            return Ok(Fate::Lost);
        }
        let end = |node: fn(&Heading) -> NodeId| heading.map_or(-1, |heading| i64::from(node(heading).0));
        let broken = Break {
            now_ns: now.as_nanos(),
            neighbour: to.0,
            destination: end(|heading| heading.destination),
            origin: end(|heading| heading.origin),
        };
        match self.during(now, None, "on_broken", broken, |answer| number(answer, REMEDY))?? {
            None => Ok(Fate::Lost),
            Some(WAIT) => Ok(Fate::Wait),
            Some(AGAIN) => Ok(Fate::Again),
            Some(other) => Err(format!("returned {other}; return {REMEDY}")),
        }
    }

    fn take(&mut self) -> Option<Order> {
        let object = self.object.as_ref().ok()?;
        Python::attach(|py| object.borrow_mut(py).orders.pop_front())
    }

    fn wakes_at(&self) -> Option<Instant> {
        let object = self.object.as_ref().ok()?;
        Python::attach(|py| object.borrow(py).wake)
    }
}
