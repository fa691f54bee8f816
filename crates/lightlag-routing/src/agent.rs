//! The calls between an agent and its node.
//!
//! The node asks [`Agent::route`] for each packet, reports frames, and then takes [`Action`]s until there are none. It
//! calls [`Agent::handle_timeout`] at the instant of [`Agent::poll_timeout`], which it reads again after each call.

use crate::Traffic;
use crate::messages::Message;
use crate::messages::gpsr;
use lightlag_core::own::Fault;
use lightlag_core::{Duration, Instant, Probability, RandomStream};
use lightlag_mobility::Vector;
use lightlag_net::NodeId;

/// The parts of a packet's IP header that routing reads, and its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heading {
    /// The node that made the packet.
    pub origin: NodeId,
    /// The node for which it is.
    pub destination: NodeId,
    /// The hops that it may still go.
    pub ttl: u8,
    /// Its size in bytes, with the IP header.
    pub size: u32,
}

/// The answer to the question where a packet goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// To this neighbour.
    Via(NodeId),
    /// Nowhere yet: the node keeps the packet until the agent releases or discards its destination.
    Wait,
    /// Nowhere: the node drops the packet.
    Unreachable,
}

/// The answer to the question what becomes of a packet that a link did not carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The node drops it.
    Lost,
    /// The node keeps it, as after [`Verdict::Wait`].
    Wait,
    /// The node asks again where it goes, before it calls the agent for anything else.
    Again,
}

/// The addressee of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Receiver {
    /// Every node that hears it.
    All,
    /// One neighbour, which acknowledges it.
    One(NodeId),
}

/// The reason for which a frame to one neighbour was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Break {
    /// No acknowledgement came within the limit of retries.
    Retry,
    /// The queue of the interface was full.
    Queue,
    /// The frame waited in the queue for longer than its lifetime.
    Lifetime,
}

/// Something that an agent asks its node to do.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Send a control message.
    Send {
        /// Its addressee.
        to: Receiver,
        /// The message.
        message: Message,
        /// The time to live of its IP header.
        ttl: u8,
    },
    /// Ask again where the packets go that wait for this destination.
    Release {
        /// The destination.
        destination: NodeId,
    },
    /// Drop the packets that wait for this destination.
    Discard {
        /// The destination.
        destination: NodeId,
    },
    /// Know that the route to this destination broke.
    Broken {
        /// The destination.
        destination: NodeId,
    },
}

/// A header that an agent adds to each packet of data.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Extra {
    /// No header.
    #[default]
    None,
    /// The header of GPSR.
    Gpsr(gpsr::Header),
}

impl Extra {
    /// The bytes that it adds to a packet.
    pub fn size(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::Gpsr(_) => gpsr::Header::SIZE,
        }
    }
}

/// The facts about the world that some agents may ask for.
pub trait Surroundings {
    /// The position of a node.
    fn position(&mut self, node: NodeId, now: Instant) -> Vector;

    /// Whether a node is on the medium.
    fn has(&self, node: NodeId) -> bool;

    /// The nodes to which full frames of data from this one get through with a probability above `min_delivery`, in ascending
    /// order.
    fn neighbours(&mut self, node: NodeId, now: Instant, min_delivery: Probability) -> &[NodeId];
}

/// A route in an agent's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// Where it leads.
    pub destination: NodeId,
    /// The first neighbour on the way.
    pub next_hop: NodeId,
    /// The hops to the destination.
    pub hops: u32,
    /// The time until it expires, unless it is used or renewed; `None` if it does not expire.
    pub lifetime: Option<Duration>,
}

/// A step of [`Agent::prefetch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Where something is.
    Place,
    /// The thing itself.
    Value,
}

/// The routing of one node.
pub trait Agent: std::fmt::Debug + Send {
    /// The node starts to work.
    fn start(&mut self, now: Instant);

    /// Where a packet goes for which this node is not the destination. It came `from` a neighbour, or is the node's own.
    fn route(
        &mut self,
        now: Instant,
        heading: &Heading,
        from: Option<NodeId>,
        extra: &mut Extra,
        world: &mut dyn Surroundings,
    ) -> Verdict;

    /// A control message arrived, with this signal-to-noise ratio.
    fn hear(
        &mut self,
        now: Instant,
        from: NodeId,
        to: Receiver,
        message: &Message,
        snr_db: f32,
        world: &mut dyn Surroundings,
    );

    /// A control message will be heard soon. This fetches from memory what it needs, in two steps: where that is, and then
    /// the thing itself. Nothing else follows from it.
    fn prefetch(&self, _from: NodeId, _message: &Message, _step: Step) {}

    /// A packet of data arrived for which this node is the destination.
    fn delivered(&mut self, _now: Instant, _heading: &Heading, _from: NodeId, _extra: &Extra) {}

    /// A neighbour acknowledged a frame.
    fn sent(&mut self, _now: Instant, _to: NodeId) {}

    /// A frame to a neighbour was given up. It held this packet, or a control message. The answer concerns the packet.
    fn broken(&mut self, _now: Instant, _to: NodeId, _cause: Break, _heading: Option<&Heading>) -> Fate {
        Fate::Lost
    }

    /// The instant at which it wants to be called, if nothing happens before.
    fn poll_timeout(&self) -> Option<Instant>;

    /// The instant has come.
    fn handle_timeout(&mut self, now: Instant, world: &mut dyn Surroundings);

    /// The next thing to do.
    fn poll_action(&mut self) -> Option<Action>;

    /// The routes that could be used now, in the order of their destinations.
    fn routes(&self, now: Instant) -> Vec<Route>;

    /// How often a route appeared, vanished, or got another next hop or length.
    fn changes(&self) -> u64;

    /// The control messages that it sent.
    fn traffic(&self) -> &Traffic;

    /// Its failure, if it is one from outside. From then on it has no routes.
    fn fault(&self) -> Option<&Fault> {
        None
    }
}

/// The node on which an agent runs, and the source of its random numbers.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// The node.
    pub node: NodeId,
    /// Its name.
    pub name: &'a str,
    /// The seed of the run.
    pub seed: u64,
}

impl Identity<'_> {
    /// The random numbers of its agent for a purpose.
    pub(crate) fn stream(&self, purpose: &str) -> RandomStream {
        RandomStream::new(self.seed, &format!("node {} routing {purpose}", self.name))
    }
}

/// The earliest of some times, as far as there are any.
#[inline]
pub(crate) fn earliest<const N: usize>(times: [Option<Instant>; N]) -> Option<Instant> {
    times.into_iter().fold(None, |first: Option<Instant>, time| match (first, time) {
        (Some(first), Some(time)) => Some(first.min(time)),
        _ => first.or(time),
    })
}
