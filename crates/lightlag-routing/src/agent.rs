//! The calls between an agent and its node.
//!
//! The node calls [`Agent::route`] for each packet, reports frames to the agent, and then takes [`NodeAction`]s until
//! there are none. It calls [`Agent::handle_timeout`] at the time that [`Agent::poll_timeout`] returned, and reads that
//! time again after each call.

use crate::Traffic;
use crate::messages::Message;
use crate::messages::gpsr;
use lightlag_core::custom::Fault;
use lightlag_core::{Duration, Instant, Probability, RandomStream};
use lightlag_mobility::Vector;
use lightlag_net::NodeId;

/// The parts of a packet's IP header that routing reads, and its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketInfo {
    /// The node that created the packet.
    pub origin: NodeId,
    /// Destination of the packet.
    pub destination: NodeId,
    /// Remaining hops: the time to live.
    pub ttl: u8,
    /// Size of the packet in bytes, including the IP header.
    pub size: u32,
}

/// The routing decision for a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Send the packet to this neighbour.
    Via(NodeId),
    /// There is no route yet: the node holds the packet until the agent releases or discards its destination.
    Wait,
    /// There is no route: the node drops the packet.
    Unreachable,
}

/// Fate of a packet that could not be delivered over its link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailedPacketFate {
    /// The node drops it.
    Lost,
    /// The node holds the packet, as after [`Verdict::Wait`].
    Wait,
    /// The node routes the packet again: its next call is [`Agent::route`].
    Again,
}

/// The addressee of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Receiver {
    /// Every node in range.
    All,
    /// One neighbour, which acknowledges the frame.
    One(NodeId),
}

/// The reason for dropping a frame to one neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Break {
    /// No acknowledgement arrived within the retry limit.
    Retry,
    /// The queue of the interface was full.
    Queue,
    /// The frame waited in the queue for longer than its lifetime.
    Lifetime,
}

/// A request of an agent to its node.
#[derive(Clone, PartialEq, Debug)]
pub enum NodeAction {
    /// Send a control message.
    Send {
        /// The addressee of the message.
        to: Receiver,
        /// The message.
        message: Message,
        /// The time to live of its IP header.
        ttl: u8,
    },
    /// Call [`Agent::route`] again for the packets that wait for this destination.
    Release {
        /// The destination.
        destination: NodeId,
    },
    /// Drop the packets that wait for this destination.
    Discard {
        /// The destination.
        destination: NodeId,
    },
    /// Notification: the route to this destination broke.
    Broken {
        /// The destination.
        destination: NodeId,
    },
}

/// A header that an agent adds to each data packet.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum RoutingHeader {
    /// No header.
    #[default]
    None,
    /// The header of GPSR.
    Gpsr(gpsr::GpsrHeader),
}

impl RoutingHeader {
    /// Returns the size of the header in bytes.
    pub fn size(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::Gpsr(_) => gpsr::GpsrHeader::SIZE,
        }
    }
}

/// Information about the network that some agents need: positions and neighbours.
pub trait Surroundings {
    /// Returns the position of a node.
    fn position(&mut self, node: NodeId, now: Instant) -> Vector;

    /// Returns true if a node is on the medium.
    fn has(&self, node: NodeId) -> bool;

    /// Returns the nodes that receive full data frames from `node` with a probability above `min_delivery`, in
    /// ascending order.
    fn neighbours(&mut self, node: NodeId, now: Instant, min_delivery: Probability) -> &[NodeId];
}

/// A route in an agent's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// Destination.
    pub destination: NodeId,
    /// Next hop.
    pub next_hop: NodeId,
    /// Number of hops to the destination.
    pub hops: u32,
    /// Remaining time until the route expires, unless it is used or renewed; `None` if it does not expire.
    pub lifetime: Option<Duration>,
}

/// A step of [`Agent::prefetch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrefetchStep {
    /// The location of a value in memory.
    Place,
    /// The value itself.
    Value,
}

/// The routing of one node.
pub trait Agent: std::fmt::Debug + Send {
    /// Called when the node starts to work.
    fn start(&mut self, _now: Instant) {}

    /// Routes a packet for another node, which arrived from the neighbour `from`, or was created by this node if `from`
    /// is `None`.
    fn route(
        &mut self,
        now: Instant,
        heading: &PacketInfo,
        from: Option<NodeId>,
        extra: &mut RoutingHeader,
        world: &mut dyn Surroundings,
    ) -> Verdict;

    /// Handles a control message that was received with this signal-to-noise ratio.
    fn hear(
        &mut self,
        _now: Instant,
        _from: NodeId,
        _to: Receiver,
        _message: &Message,
        _snr_db: f32,
        _world: &mut dyn Surroundings,
    ) {
    }

    /// Announces that a control message is about to be handled, so that the agent can prefetch the memory that it
    /// needs, in two steps: first the location, then the value itself. The call has no other effect.
    fn prefetch(&self, _from: NodeId, _message: &Message, _step: PrefetchStep) {}

    /// Handles a data packet for this node.
    fn delivered(&mut self, _now: Instant, _heading: &PacketInfo, _from: NodeId, _extra: &RoutingHeader) {}

    /// Handles a neighbour's acknowledgement of a frame.
    fn sent(&mut self, _now: Instant, _to: NodeId) {}

    /// Handles the loss of a frame to a neighbour. The frame contained the packet `_heading`, or a control message if
    /// that is `None`. Returns what the node does with the packet.
    fn broken(&mut self, _now: Instant, _to: NodeId, _cause: Break, _heading: Option<&PacketInfo>) -> FailedPacketFate {
        FailedPacketFate::Lost
    }

    /// Returns the time of the next call of [`Agent::handle_timeout`], unless another call changes it before.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Called at the time that `poll_timeout` returned.
    fn handle_timeout(&mut self, _now: Instant, _world: &mut dyn Surroundings) {}

    /// Returns the next action.
    fn poll_action(&mut self) -> Option<NodeAction> {
        None
    }

    /// Returns the routes that could be used now, sorted by destination.
    fn routes(&self, now: Instant) -> Vec<Route>;

    /// Returns the number of times that a route appeared or disappeared, or that its next hop or length changed.
    fn changes(&self) -> u64;

    /// Returns the counters of the control messages that the agent sent.
    fn traffic(&self) -> &Traffic;

    /// Returns the failure of a custom router, if it has failed; it then has no routes.
    fn fault(&self) -> Option<&Fault> {
        None
    }
}

/// The node of an agent, and the data that determine the agent's random streams.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// The node.
    pub node: NodeId,
    /// The name of the node.
    pub name: &'a str,
    /// The seed of the run.
    pub seed: u64,
}

impl Identity<'_> {
    /// Returns the agent's random stream for a purpose.
    pub(crate) fn stream(&self, purpose: &str) -> RandomStream {
        RandomStream::new(self.seed, &format!("node {} routing {purpose}", self.name))
    }
}

/// Returns the earliest of the given times; `None` if none is set.
#[inline]
pub(crate) fn earliest<const N: usize>(times: [Option<Instant>; N]) -> Option<Instant> {
    times.into_iter().fold(None, |first: Option<Instant>, time| match (first, time) {
        (Some(first), Some(time)) => Some(first.min(time)),
        _ => first.or(time),
    })
}
