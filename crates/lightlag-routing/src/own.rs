//! Routing of a user's own.
//!
//! A router says where packets go and sends messages of its own form. This crate knows it as a [`Maker`]; an [`Agent`] of it
//! keeps its orders until the node takes them, and checks its answers. A router that fails is asked nothing more, and its node
//! drops what it would forward.

use crate::outbox::Outbox;
use crate::{
    Action, Agent, Break, Extra, Fate, Heading, Identity, Message, Receiver, Route, Surroundings, Traffic, Verdict,
};
use lightlag_core::Instant;
use lightlag_core::own::Registry;
pub use lightlag_core::own::{Fault, Outside};
use lightlag_net::NodeId;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The longest message in bytes: a datagram of IPv4 in 1500 B.
pub const LONGEST: usize = 1472;

/// A router from outside, which builds those of nodes.
pub trait Maker: Outside {
    /// Builds the router of a node, with a value for each parameter.
    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn Router>;
}

/// A router from outside with the values of its parameters.
pub type Own = lightlag_core::own::Own<dyn Maker>;

/// The routers from outside.
pub static OUTSIDE: Registry<dyn Maker> = Registry::new();

/// The facts known when a router is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// Its node.
    pub node: NodeId,
    /// The seed of its random draws, different for each node.
    pub seed: u64,
}

/// Something that a router asks its node to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Order {
    /// Send a message to the neighbours, or to one of them.
    Send(Receiver, Arc<[u8]>),
    /// Ask again where the packets go that wait for this destination.
    Release(NodeId),
    /// Drop the packets that wait for this destination.
    Discard(NodeId),
}

/// A control message that a router hears.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Heard<'a> {
    /// The neighbour that sent it.
    pub from: NodeId,
    /// Its addressee.
    pub to: Receiver,
    /// Its bytes.
    pub payload: &'a [u8],
    /// Its signal-to-noise ratio.
    pub snr_db: f32,
}

/// The router of a node. Errors end the run; they say what went wrong.
pub trait Router: Send {
    /// The node starts to work.
    fn start(&mut self, now: Instant, world: &mut dyn Surroundings) -> Result<(), String>;

    /// The answer to the question where a packet goes that came `from` a neighbour, or is the node's own.
    fn next_hop(
        &mut self,
        now: Instant,
        heading: &Heading,
        from: Option<NodeId>,
        world: &mut dyn Surroundings,
    ) -> Result<Verdict, String>;

    /// A message arrived.
    fn hear(&mut self, now: Instant, heard: &Heard, world: &mut dyn Surroundings) -> Result<(), String>;

    /// The instant has come at which it wanted to be called.
    fn wake(&mut self, now: Instant, world: &mut dyn Surroundings) -> Result<(), String>;

    /// A neighbour did not acknowledge a frame, which held this packet or a message. The answer concerns the packet.
    fn broken(&mut self, now: Instant, to: NodeId, heading: Option<&Heading>) -> Result<Fate, String>;

    /// Takes its next order.
    fn take(&mut self) -> Option<Order>;

    /// The instant at which it wants to be called, if there is one: later than the last call.
    fn wakes_at(&self) -> Option<Instant>;
}

/// The agent of a router.
struct Bound {
    name: &'static str,
    node: NodeId,
    router: Box<dyn Router>,
    /// When the node starts, until it has.
    start: Option<Instant>,
    outbox: Outbox,
    /// The last answer for each destination.
    routes: BTreeMap<NodeId, NodeId>,
    changes: u64,
    fault: Option<Box<Fault>>,
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound").field("name", &self.name).field("node", &self.node).finish_non_exhaustive()
    }
}

/// The agent of a node.
pub(crate) fn build(own: &Own, identity: &Identity) -> Box<dyn Agent> {
    let (maker, values) = own.parts();
    let start = Start { node: identity.node, seed: identity.stream("own").bits() };
    Box::new(Bound {
        name: own.name(),
        node: identity.node,
        router: Arc::clone(maker).build(&start, values),
        start: None,
        outbox: Outbox::default(),
        routes: BTreeMap::new(),
        changes: 0,
        fault: None,
    })
}

impl Bound {
    /// Calls the router, unless it has failed, and takes its orders.
    fn call<T>(
        &mut self,
        now: Instant,
        hook: &str,
        failed: T,
        call: impl FnOnce(&mut dyn Router) -> Result<T, String>,
    ) -> T {
        if self.fault.is_some() {
            return failed;
        }
        let answer = call(self.router.as_mut());
        while let Some(order) = self.router.take() {
            match order {
                Order::Send(to, payload) => self.outbox.send(to, Message::Own(payload), 1),
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

impl Agent for Bound {
    fn start(&mut self, now: Instant) {
        self.start = Some(now);
    }

    fn route(
        &mut self,
        now: Instant,
        heading: &Heading,
        from: Option<NodeId>,
        _extra: &mut Extra,
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
                    let Heading { origin, destination, .. } = heading;
                    let why = if next == node { "the node itself" } else { "no other node of the medium" };
                    Err(format!(
                        "returned {} for a packet from {} to {}, which is {why}; return a neighbour, None or ll.WAIT",
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
        if let Message::Own(payload) = message {
            self.call(now, "on_message", (), |router| router.hear(now, &Heard { from, to, payload, snr_db }, world));
        }
    }

    fn broken(&mut self, now: Instant, to: NodeId, cause: Break, heading: Option<&Heading>) -> Fate {
        // The others say nothing of the neighbour.
        if cause != Break::Retry {
            return Fate::Lost;
        }
        self.call(now, "on_broken", Fate::Lost, |router| router.broken(now, to, heading))
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

    fn poll_action(&mut self) -> Option<Action> {
        self.outbox.take()
    }

    fn routes(&self, _now: Instant) -> Vec<Route> {
        // Nobody tells how long the ways are.
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
