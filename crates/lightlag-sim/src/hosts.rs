//! Hosts: the ends of flows, and their applications.

use crate::body::Packet;
use crate::ids::FlowIndex;
use lightlag_control::bucket::Bucket;
use lightlag_control::congestion::Report;
use lightlag_control::congestion::own::Fault;
use lightlag_core::{Instant, prefetch};
use lightlag_net::{EndpointId, LinkId, NodeId};
use lightlag_tcp::fast_open::Jar;
use lightlag_tcp::{Connection, Segment};
use lightlag_transport::{Failure, Snapshot};
use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};

pub(crate) mod application;
pub(crate) mod collector;
pub(crate) mod datagrams;
pub(crate) mod delays;
pub(crate) mod dialogue;
mod endings;
pub(crate) mod ends;
pub(crate) mod relay;
pub(crate) mod source;

use application::Application;
use collector::Collector;
use datagrams::Datagrams;
use dialogue::Dialogue;
pub(crate) use endings::Ending;
use ends::{End, Numbers, Role};
use relay::Relay;

/// All ends of flows.
pub(crate) struct Hosts {
    pub(crate) endpoints: Endpoints,
    pub(crate) shared: Shared,
    /// Ends of flows of UDP: their numbers come behind those of `endpoints`.
    pub(crate) datagrams: Datagrams,
    pub(crate) numbers: Numbers,
    /// Flows at proxies.
    pub(crate) relays: Vec<Relay>,
    /// Sinks of messages, in the order of their flows.
    pub(crate) collectors: Vec<Collector>,
    pub(crate) dialogues: Vec<Dialogue>,
    pub(crate) outcomes: Outcomes,
    /// Accounts of senders whose data has arrived, or whose flow has failed.
    pub(crate) endings: BTreeMap<EndpointId, Ending>,
    /// Finite flows that are neither finished nor failed.
    pub(crate) open_transfers: usize,
}

impl Hosts {
    /// Finds the endpoints that packets are for.
    pub(crate) fn addressees(&self) -> Addressees<'_> {
        Addressees { endpoints: &self.endpoints, datagrams: &self.datagrams }
    }

    /// The flow whose congestion control or application failed first, and the failure.
    pub(crate) fn fault(&self) -> Option<(FlowIndex, &Fault)> {
        let controls = self.endpoints.iter().map(|end| (end.flow, end.connection.fault()));
        let writing = self.endpoints.iter().map(|end| (end.flow, end.application.as_ref().and_then(|of| of.fault())));
        let datagrams =
            self.datagrams.senders.iter().zip(self.datagrams.flows()).map(|(sender, flow)| (flow, sender.fault()));
        let faults = controls.chain(writing).chain(datagrams).filter_map(|(flow, fault)| Some((flow, fault?)));
        faults.min_by_key(|(flow, fault)| (fault.at, *flow))
    }

    /// The name of the congestion control of a flow, at its first sender.
    pub(crate) fn congestion(&self, flow: FlowIndex) -> &str {
        match self.numbers.datagrams(flow) {
            Some(_) => "udp",
            None => self.endpoints[self.numbers.sender(flow)].connection.config().congestion.name(),
        }
    }

    /// A flow that is steered; None for others, and before its connection starts to send.
    pub(crate) fn observe(&mut self, flow: FlowIndex) -> Option<Observed> {
        if self.numbers.datagrams(flow).is_some() {
            return None;
        }
        let at = self.numbers.sender(flow);
        let connection = &mut self.endpoints[at].connection;
        let report = connection.take_told()?;
        let retransmitted = connection.statistics().retransmitted_segments;
        let is_over = self.outcomes.of(flow) != Outcome::Unfinished;
        Some(Observed { report, sender: connection.snapshot(), retransmitted, is_over })
    }

    /// The next segment of this endpoint, until there is none.
    #[inline]
    pub(crate) fn next_segment(&mut self, now: Instant, at: EndpointId) -> Option<Segment> {
        if self.shared.of_endpoint.is_empty() {
            self.endpoints[at].connection.poll_segment(now)
        } else {
            self.next_shared(now, at)
        }
    }

    #[cold]
    fn next_shared(&mut self, now: Instant, at: EndpointId) -> Option<Segment> {
        let connection = &mut self.endpoints[at].connection;
        let share = self.shared.of(at);
        if let Some(number) = share.jar {
            let jar = &mut self.shared.jars[number as usize];
            if let Some(lesson) = connection.take_lesson() {
                jar.take(lesson);
            }
            connection.remember(jar);
        }
        match share.bucket {
            Some(number) => connection.poll_limited(now, &mut self.shared.buckets[number as usize]),
            None => connection.poll_segment(now),
        }
    }

    /// Takes a connection that has ended from its bucket: it sends nothing any more that would let the others see that.
    pub(crate) fn vacate(&mut self, at: EndpointId) {
        if let Some(number) = self.shared.of(at).bucket {
            self.endpoints[at].connection.vacate(&mut self.shared.buckets[number as usize]);
        }
    }
}

/// The buckets and jars that several connections of a node share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Token buckets, each for the connections that leave a node on one link at one rate.
    pub(crate) buckets: Vec<Bucket>,
    /// Cookies, each for the connections that one node opens to another.
    pub(crate) jars: Vec<Jar>,
    /// The share of each endpoint up to the last that has one.
    of_endpoint: Vec<Share>,
}

impl Shared {
    /// The share of an endpoint.
    pub(crate) fn of(&self, at: EndpointId) -> Share {
        self.of_endpoint.get(at.index()).copied().unwrap_or_default()
    }

    /// The same, to be changed.
    pub(crate) fn of_mut(&mut self, at: EndpointId) -> &mut Share {
        if self.of_endpoint.len() <= at.index() {
            self.of_endpoint.resize(at.index() + 1, Share::default());
        }
        &mut self.of_endpoint[at.index()]
    }
}

/// The numbers of the bucket and of the jar of an endpoint, if it has any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share {
    pub(crate) bucket: Option<u32>,
    pub(crate) jar: Option<u32>,
}

/// One end of a connection.
// Whole cache lines: neighbours do not share one.
#[repr(C, align(64))]
pub(crate) struct Endpoint {
    pub(crate) node: NodeId,
    pub(crate) peer_node: NodeId,
    /// The endpoint at the other end of its connection.
    pub(crate) peer: EndpointId,
    /// The link on which its packets leave in this epoch of the routes.
    pub(crate) out: LinkId,
    /// The flow that it belongs to, and its role in it.
    pub(crate) flow: FlowIndex,
    pub(crate) role: Role,
    pub(crate) task: Task,
    /// An application that does more than write everything and read at once.
    pub(crate) application: Option<Box<Application>>,
    pub(crate) connection: Connection,
}

impl Endpoint {
    pub(crate) fn new(end: End, out: LinkId, connection: Connection, task: Task) -> Self {
        let End { flow, role, peer, node, peer_node } = end;
        debug_assert!(node != peer_node, "a connection joins two nodes");
        Self { connection, node, peer_node, peer, out, flow, role, task, application: None }
    }

    /// Fetches from memory what a packet to it needs.
    #[inline(always)]
    pub(crate) fn prefetch_for(&self, packet: &Packet) {
        prefetch(self);
        if !packet.flags.carries_payload() {
            self.connection.prefetch_sender();
        }
    }

    /// Instant at which it next has something to do by itself.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let timeout = self.connection.poll_timeout();
        match &self.application {
            None => timeout,
            Some(application) => timeout.into_iter().chain(application.next(&self.connection)).min(),
        }
    }

    /// The application reads what is due.
    #[inline]
    pub(crate) fn read(&mut self, now: Instant) {
        if let Some(application) = &mut self.application {
            application.read(now, &mut self.connection);
        }
    }
}

/// The ends of connections, by their numbers.
#[derive(Default)]
pub(crate) struct Endpoints(Vec<Endpoint>);

impl Endpoints {
    pub(crate) fn new(endpoints: Vec<Endpoint>) -> Self {
        Self(endpoints)
    }

    /// Number of endpoints.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The numbers of the endpoints.
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = EndpointId> + use<> {
        (0..self.0.len() as u32).map(EndpointId)
    }

    /// The endpoint with this number; none if it is not an end of a connection.
    #[inline]
    pub(crate) fn get(&self, at: EndpointId) -> Option<&Endpoint> {
        self.0.get(at.index())
    }

    /// Two endpoints.
    ///
    /// # Panics
    /// If they are one.
    #[inline]
    pub(crate) fn pair_mut(&mut self, ends: [EndpointId; 2]) -> [&mut Endpoint; 2] {
        self.0.get_disjoint_mut(ends.map(EndpointId::index)).expect("two ends are two endpoints")
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Endpoint> {
        self.0.iter()
    }

    /// The endpoints with their numbers.
    pub(crate) fn enumerated(&self) -> impl Iterator<Item = (EndpointId, &Endpoint)> {
        (0..).map(EndpointId).zip(&self.0)
    }

    /// As [`Self::enumerated`], to be changed.
    pub(crate) fn enumerated_mut(&mut self) -> impl Iterator<Item = (EndpointId, &mut Endpoint)> {
        (0..).map(EndpointId).zip(&mut self.0)
    }

    /// Drops the endpoints from this one on.
    pub(crate) fn truncate(&mut self, from: EndpointId) {
        self.0.truncate(from.index());
    }
}

impl Index<EndpointId> for Endpoints {
    type Output = Endpoint;

    #[inline(always)]
    fn index(&self, at: EndpointId) -> &Endpoint {
        &self.0[at.index()]
    }
}

impl IndexMut<EndpointId> for Endpoints {
    #[inline(always)]
    fn index_mut(&mut self, at: EndpointId) -> &mut Endpoint {
        &mut self.0[at.index()]
    }
}

/// The endpoints that packets are for.
#[derive(Clone, Copy)]
pub(crate) struct Addressees<'a> {
    pub(crate) endpoints: &'a Endpoints,
    pub(crate) datagrams: &'a Datagrams,
}

impl Addressees<'_> {
    /// The flow of a packet, and whether the packet goes to the end that sends the data of its connection.
    pub(crate) fn of(&self, packet: &Packet) -> (FlowIndex, bool) {
        match self.endpoints.get(packet.to) {
            Some(endpoint) => (endpoint.flow, endpoint.role.sends()),
            None => {
                let of_udp = self.datagrams.of_endpoint(packet.to).expect("a packet goes to an endpoint");
                (self.datagrams.heading(of_udp).flow, false)
            }
        }
    }
}

/// The task that the application at an endpoint still has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    /// Open the connection at the start of the flow, write this many bytes (`None`: without end) and close.
    Open { transfer: Option<u64> },
    /// Open the connection at the start of the flow; the application writes by itself.
    Begin,
    /// Wait until this many bytes have arrived, holes counted.
    Receive { transfer: u64 },
    /// Pass on what arrives to the other end of this relay.
    Relay(u32),
    /// Report to this collector how much has arrived of its messages.
    Collected(u32),
    /// Nothing.
    Idle,
}

/// A flow whose congestion control is steered.
#[derive(Clone, Copy, Debug)]
pub struct Observed {
    /// The sum of what its ACKs told since the last observation.
    pub report: Report,
    /// Its sender.
    pub sender: Snapshot,
    /// Segments that it sent again so far.
    pub retransmitted: u64,
    /// Whether its transfer has arrived, or has failed.
    pub is_over: bool,
}

/// The ends of all flows. Until the first flow ends, they take no memory.
#[derive(Clone, Debug)]
pub(crate) struct Outcomes {
    flows: usize,
    /// One a flow, or none.
    known: Vec<Outcome>,
}

impl Outcomes {
    /// So many flows, all of them open.
    pub(crate) fn new(flows: usize) -> Self {
        Self { flows, known: Vec::new() }
    }

    /// Number of flows.
    pub(crate) fn flows(&self) -> usize {
        self.flows
    }

    /// The end of a flow.
    pub(crate) fn of(&self, flow: FlowIndex) -> Outcome {
        self.known.get(flow.index()).copied().unwrap_or(Outcome::Unfinished)
    }

    /// A flow ends.
    pub(crate) fn set(&mut self, flow: FlowIndex, outcome: Outcome) {
        if self.known.is_empty() {
            self.known = vec![Outcome::Unfinished; self.flows];
        }
        self.known[flow.index()] = outcome;
    }
}

/// The end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Still open.
    Unfinished,
    /// The last byte arrived at this time.
    Finished(Instant),
    /// A connection gave up, or a proxy crashed.
    Failed(Failure),
}
