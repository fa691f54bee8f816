//! Custom routers.
//!
//! A router chooses next hops and sends messages in a format of its own. A [`RouterFactory`] builds the router of each
//! node. The router's [`Agent`] stores its orders until the node takes them, and checks the values that it returns. A
//! router that fails is not called again, and its node drops the packets that it should forward.

use crate::outbox::Outbox;
use crate::{
    Agent, Break, FailedPacketFate, Identity, Message, NodeAction, PacketInfo, Receiver, Route, RoutingHeader,
    Surroundings, Traffic, Verdict,
};
use lightlag_core::Instant;
use lightlag_core::custom::Registry;
pub use lightlag_core::custom::{Factory, Fault};
use lightlag_net::NodeId;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Maximum length of a message in bytes: the UDP payload of an IPv4 packet of 1500 B.
pub const LONGEST: usize = 1472;

/// A custom router: a factory that builds the router of each node.
pub trait RouterFactory: Factory {
    /// Builds the router of a node. `values` has a value for each parameter.
    fn build(self: Arc<Self>, start: &NodeInfo, values: &[f64]) -> Box<dyn NodeRouter>;
}

/// A custom router and the values of its parameters.
pub type CustomRouter = lightlag_core::custom::Custom<dyn RouterFactory>;

/// The registered custom routers.
pub static CUSTOM: Registry<dyn RouterFactory> = Registry::new();

/// The data that a router gets when it is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeInfo {
    /// The node of the router.
    pub node: NodeId,
    /// The seed of the router's random numbers, different for each node.
    pub seed: u64,
}

/// A request of a router to its node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Order {
    /// Send a message to the neighbours, or to one of them.
    Send(Receiver, Arc<[u8]>),
    /// Route the packets again that wait for this destination.
    Release(NodeId),
    /// Drop the packets that wait for this destination.
    Discard(NodeId),
}

/// A control message that a router receives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Heard<'a> {
    /// The neighbour that sent the message.
    pub from: NodeId,
    /// The addressee of the message.
    pub to: Receiver,
    /// The bytes of the message.
    pub payload: &'a [u8],
    /// The signal-to-noise ratio of the message, in dB.
    pub snr_db: f32,
}

/// The router of one node. An error ends the run; its text describes the cause.
pub trait NodeRouter: Send {
    /// Called when the node starts to work.
    fn start(&mut self, now: Instant, world: &mut dyn Surroundings) -> Result<(), String>;

    /// Returns the routing decision for a packet that arrived from the neighbour `from`, or was created by this node if
    /// `from` is `None`.
    fn next_hop(
        &mut self,
        now: Instant,
        heading: &PacketInfo,
        from: Option<NodeId>,
        world: &mut dyn Surroundings,
    ) -> Result<Verdict, String>;

    /// Handles a message.
    fn hear(&mut self, now: Instant, heard: &Heard, world: &mut dyn Surroundings) -> Result<(), String>;

    /// Called at the time that `wakes_at` returned.
    fn wake(&mut self, now: Instant, world: &mut dyn Surroundings) -> Result<(), String>;

    /// Handles a frame that was not acknowledged. It contained the packet `heading`, or a message if that is `None`.
    /// Returns what the node does with the packet.
    fn broken(&mut self, now: Instant, to: NodeId, heading: Option<&PacketInfo>) -> Result<FailedPacketFate, String>;

    /// Removes and returns the next order of the router.
    fn take(&mut self) -> Option<Order>;

    /// Returns the time of the next timeout, if there is one; it must be later than the last call.
    fn wakes_at(&self) -> Option<Instant>;
}

/// The agent that connects a router to its node.
struct BoundRouter {
    name: &'static str,
    node: NodeId,
    router: Box<dyn NodeRouter>,
    /// Start time of the node, until it has started.
    start: Option<Instant>,
    outbox: Outbox,
    /// The last next hop that the router returned for each destination.
    routes: BTreeMap<NodeId, NodeId>,
    changes: u64,
    fault: Option<Box<Fault>>,
}

impl fmt::Debug for BoundRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound").field("name", &self.name).field("node", &self.node).finish_non_exhaustive()
    }
}

/// Returns the agent of a node that uses this router.
pub(crate) fn build(custom: &CustomRouter, identity: &Identity) -> Box<dyn Agent> {
    let (maker, values) = custom.parts();
    let start = NodeInfo { node: identity.node, seed: identity.stream("own").bits() };
    Box::new(BoundRouter {
        name: custom.name(),
        node: identity.node,
        router: Arc::clone(maker).build(&start, values),
        start: None,
        outbox: Outbox::default(),
        routes: BTreeMap::new(),
        changes: 0,
        fault: None,
    })
}

impl BoundRouter {
    /// Calls the router, unless it has failed, and takes its orders.
    fn call<T>(
        &mut self,
        now: Instant,
        hook: &str,
        failed: T,
        call: impl FnOnce(&mut dyn NodeRouter) -> Result<T, String>,
    ) -> T {
        if self.fault.is_some() {
            return failed;
        }
        let answer = call(self.router.as_mut());
        while let Some(order) = self.router.take() {
            match order {
                Order::Send(to, payload) => self.outbox.send(to, Message::Custom(payload), 1),
                Order::Release(destination) => self.outbox.release(destination),
                Order::Discard(destination) => self.outbox.discard(destination),
            }
        }
        answer.unwrap_or_else(|message| {
            self.fault = Some(Box::new(Fault { at: now, message: format!("{}: {hook}: {message}", self.name) }));
            failed
        })
    }

    fn note(&mut self, destination: NodeId, verdict: Verdict) {
        let before = match verdict {
            Verdict::Via(next) => self.routes.insert(destination, next),
            Verdict::Wait | Verdict::Unreachable => self.routes.remove(&destination),
        };
        self.changes += u64::from(before != self.routes.get(&destination).copied());
    }
}

impl Agent for BoundRouter {
    fn start(&mut self, now: Instant) {
        self.start = Some(now);
    }

    fn route(
        &mut self,
        now: Instant,
        heading: &PacketInfo,
        from: Option<NodeId>,
        _extra: &mut RoutingHeader,
        world: &mut dyn Surroundings,
    ) -> Verdict {
        if self.start.is_some() {
            self.handle_timeout(now, world);
        }
        let node = self.node;
        let verdict = self.call(now, "next_hop", Verdict::Unreachable, |router| {
            let verdict = router.next_hop(now, heading, from, world)?;
            match verdict {
                Verdict::Via(next) if next == node || !world.has(next) => {
                    let PacketInfo { origin, destination, .. } = heading;
                    let why = if next == node { "the node itself" } else { "not another node of the medium" };
                    Err(format!(
                        "returned {} for a packet from {} to {}, which is {why}; return a neighbour, None or ll.HOLD",
                        next.0, origin.0, destination.0
                    ))
                }
                verdict => Ok(verdict),
            }
        });
        self.note(heading.destination, verdict);
        verdict
    }

    fn hear(
        &mut self,
        now: Instant,
        from: NodeId,
        to: Receiver,
        message: &Message,
        snr_db: f32,
        world: &mut dyn Surroundings,
    ) {
        if let Message::Custom(payload) = message {
            self.call(now, "on_message", (), |router| router.hear(now, &Heard { from, to, payload, snr_db }, world));
        }
    }

    fn broken(&mut self, now: Instant, to: NodeId, cause: Break, heading: Option<&PacketInfo>) -> FailedPacketFate {
        // The others say nothing of the neighbour.
        if cause != Break::Retry {
            return FailedPacketFate::Lost;
        }
        self.call(now, "on_broken", FailedPacketFate::Lost, |router| router.broken(now, to, heading))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if self.fault.is_some() { None } else { self.start.or_else(|| self.router.wakes_at()) }
    }

    fn handle_timeout(&mut self, now: Instant, world: &mut dyn Surroundings) {
        if self.start.take().is_some() {
            return self.call(now, "on_start", (), |router| router.start(now, world));
        }
        self.call(now, "on_timer", (), |router| router.wake(now, world));
    }

    fn poll_action(&mut self) -> Option<NodeAction> {
        self.outbox.take()
    }

    fn routes(&self, _now: Instant) -> Vec<Route> {
        // A custom router does not report the lengths of its paths.
        let route = |(&destination, &next_hop)| Route { destination, next_hop, hops: 0, lifetime: None };
        self.routes.iter().map(route).collect()
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn traffic(&self) -> &Traffic {
        self.outbox.traffic()
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }
}

#[cfg(test)]
mod tests;
