//! Python routers: their base class, the records passed to their methods, and a class whose methods are run by the
//! interpreter.

// A router accesses its surroundings while one of its methods runs.
#![allow(unsafe_code)]

use super::class::{Class, ParameterTuple, call};
use super::{Algorithm, Made};
use lightlag_core::custom::{Description, Factory};
use lightlag_core::{Instant, Probability};
use lightlag_net::NodeId;
use lightlag_routing::custom::{self, Heard, LONGEST, NodeInfo, Order, RouterFactory};
use lightlag_routing::{FailedPacketFate, PacketInfo, Receiver, Surroundings, Verdict};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::collections::VecDeque;
use std::sync::Arc;

/// Return values of `next_hop` that are not node indices: hold the packet, or call `next_hop` again.
const HOLD: i64 = -1;
const REROUTE: i64 = -2;

/// The network's surroundings, available while a method is running.
struct World(*mut (dyn Surroundings + 'static));

// SAFETY: a router is called by the thread that runs it alone, and the world is gone when the call is over.
unsafe impl Send for World {}
// SAFETY: as above.
unsafe impl Sync for World {}

/// Base class of custom routers: a subclass chooses the neighbour that receives a packet.
///
/// One instance serves one node. Nodes are identified by their indices in the scenario.
#[pyclass(subclass, name = "Router", module = "lightlag._engine")]
pub(crate) struct Router {
    node: NodeId,
    now: Instant,
    wake: Option<Instant>,
    orders: VecDeque<Order>,
    /// The surroundings while a method is running that may use them; otherwise `None`.
    world: Option<World>,
    /// Whether the running method is `next_hop`.
    is_asked: bool,
    random: u64,
}

impl Router {
    fn world(&mut self) -> PyResult<&mut dyn Surroundings> {
        match &self.world {
            // SAFETY: `during` lends the world for the time of a call and takes it back; `self` is borrowed during the
            // call.
            Some(World(world)) => Ok(unsafe { &mut **world }),
            None => Err(PyRuntimeError::new_err(
                "positions and neighbours are available in on_start, next_hop, on_message and on_timer",
            )),
        }
    }

    /// Returns `node`, or this router's own node if that is `None`. Fails if the node is not on the medium.
    fn other(&mut self, node: Option<u32>) -> PyResult<NodeId> {
        let node = node.map_or(self.node, NodeId);
        if self.world()?.has(node) {
            Ok(node)
        } else {
            Err(PyValueError::new_err(format!("{} is not a node of the medium", node.0)))
        }
    }

    fn refuse_when_asked(&self, what: &str) -> PyResult<()> {
        if self.is_asked {
            return Err(PyRuntimeError::new_err(format!(
                "{what} cannot be called in next_hop, whose return value decides the fate of the packet"
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

    /// Returns the index of the router's node.
    #[getter]
    fn node(&self) -> u32 {
        self.node.0
    }

    /// Returns the time of the next call of `on_timer` in nanoseconds since the start of the run; -1 if there is none.
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

    /// Sends these bytes as a message to all neighbours, or only to the neighbour `to`, which acknowledges it.
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

    /// Requests the next hops again for the packets that wait for a destination.
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

    /// Returns the current position of this node, or of the node `node`, in metres.
    #[pyo3(signature = (node = None))]
    fn position(&mut self, node: Option<u32>) -> PyResult<(f64, f64, f64)> {
        let (node, now) = (self.other(node)?, self.now);
        let at = self.world()?.position(node, now);
        Ok((at.x, at.y, at.z))
    }

    /// Returns the nodes that currently receive the frames of this node, or of the node `node`, in ascending order.
    #[pyo3(signature = (node = None))]
    fn neighbours(&mut self, node: Option<u32>) -> PyResult<Vec<u32>> {
        let (node, now) = (self.other(node)?, self.now);
        Ok(self.world()?.neighbours(node, now, Probability::HALF).iter().map(|node| node.0).collect())
    }

    /// Returns the state of this node's random numbers, which `lightlag.custom.uniform` advances.
    #[getter(random)]
    fn random(&self) -> u64 {
        self.random
    }

    #[setter(random)]
    fn set_random(&mut self, random: u64) {
        self.random = random;
    }
}

/// A packet to forward.
#[pyclass(frozen, get_all, module = "lightlag._engine")]
pub(crate) struct Parcel {
    /// The time in nanoseconds since the start of the run.
    now_ns: u64,
    /// The node that created the packet.
    origin: u32,
    /// Destination node of the packet.
    destination: u32,
    /// The neighbour that sent the packet to this node; -1 if this node created it.
    came_from: i64,
    /// Remaining hops: the time to live.
    ttl: u8,
    /// Size in bytes, including the IP header.
    size: u32,
}

/// A message from another router.
#[pyclass(frozen, get_all, module = "lightlag._engine")]
pub(crate) struct Message {
    /// The time in nanoseconds since the start of the run.
    now_ns: u64,
    /// The neighbour that sent the message.
    sender: u32,
    /// Whether the message was sent to all neighbours.
    to_all: bool,
    /// The bytes of the message.
    data: Py<PyBytes>,
    /// The signal-to-noise ratio of the message in dB.
    snr_db: f64,
}

/// Reports that a neighbour did not acknowledge a frame.
#[pyclass(frozen, get_all, module = "lightlag._engine")]
pub(crate) struct Break {
    /// The time in nanoseconds since the start of the run.
    now_ns: u64,
    /// The neighbour that did not acknowledge.
    neighbour: u32,
    /// The destination of the packet in the frame; -1 for a message of the router.
    destination: i64,
    /// The node that created the packet in the frame; -1 for a message of the router.
    origin: i64,
}

/// The optional methods that a class; `next_hop` is mandatory.
#[derive(Clone, Copy)]
struct OptionalRouterHooks {
    on_start: bool,
    on_message: bool,
    on_timer: bool,
    on_broken: bool,
}

struct PlainRouter {
    class: Class,
    optional: OptionalRouterHooks,
}

/// Returns a router whose methods are run by the interpreter. `hooks` are the names of the methods that it defines.
#[pyfunction]
pub(crate) fn plain_router(
    name: String,
    file: Option<String>,
    code: String,
    class_: Py<PyAny>,
    given: Vec<ParameterTuple>,
    hooks: Vec<String>,
) -> Made {
    let has = |hook: &str| hooks.iter().any(|name| name == hook);
    let optional = OptionalRouterHooks {
        on_start: has("on_start"),
        on_message: has("on_message"),
        on_timer: has("on_timer"),
        on_broken: has("on_broken"),
    };
    Made(Algorithm::Router(Arc::new(PlainRouter { class: Class::new(name, file, code, class_, given), optional })))
}

impl Factory for PlainRouter {
    fn facts(&self) -> &Description {
        &self.class.facts
    }
}

impl RouterFactory for PlainRouter {
    fn build(self: Arc<Self>, start: &NodeInfo, values: &[f64]) -> Box<dyn custom::NodeRouter> {
        let object: Result<Py<Router>, String> = self.class.instance(values);
        if let Ok(object) = &object {
            Python::attach(|py| {
                let mut router = object.borrow_mut(py);
                (router.node, router.random) = (start.node, start.seed);
            });
        }
        Box::new(RouterObject { object, optional: self.optional })
    }
}

/// The object of a node's router, or the reason why it could not be created.
struct RouterObject {
    object: Result<Py<Router>, String>,
    optional: OptionalRouterHooks,
}

impl RouterObject {
    /// Calls a method, and gives it access to the surroundings during the call.
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
            // SAFETY: the lifetime is the duration of this call, which takes the pointer back at its end.
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

/// Returns a method's return value, an integer or None. For any other value, returns the error message.
fn number(answer: &Bound<'_, PyAny>, remedy: &str) -> PyResult<Result<Option<i64>, String>> {
    match answer.extract::<Option<i64>>() {
        Ok(number) => Ok(Ok(number)),
        Err(_) => Ok(Err(format!("returned {}; return {remedy}", answer.repr()?))),
    }
}

impl custom::NodeRouter for RouterObject {
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
        heading: &PacketInfo,
        from: Option<NodeId>,
        world: &mut dyn Surroundings,
    ) -> Result<Verdict, String> {
        const REMEDY: &str = "the ID of a neighbour, None or ll.HOLD";
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
            Some(HOLD) => Ok(Verdict::Wait),
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

    fn broken(&mut self, now: Instant, to: NodeId, heading: Option<&PacketInfo>) -> Result<FailedPacketFate, String> {
        const REMEDY: &str = "None, ll.HOLD or ll.REROUTE";
        if !self.optional.on_broken {
            return Ok(FailedPacketFate::Lost);
        }
        let end = |node: fn(&PacketInfo) -> NodeId| heading.map_or(-1, |heading| i64::from(node(heading).0));
        let broken = Break {
            now_ns: now.as_nanos(),
            neighbour: to.0,
            destination: end(|heading| heading.destination),
            origin: end(|heading| heading.origin),
        };
        match self.during(now, None, "on_broken", broken, |answer| number(answer, REMEDY))?? {
            None => Ok(FailedPacketFate::Lost),
            Some(HOLD) => Ok(FailedPacketFate::Wait),
            Some(REROUTE) => Ok(FailedPacketFate::Again),
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
