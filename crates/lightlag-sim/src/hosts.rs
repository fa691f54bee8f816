//! Hosts: the ends of flows, and their applications.

use crate::body::Packet;
use crate::ids::FlowIndex;
use lightlag_control::congestion::own::Fault;
use lightlag_core::{Instant, prefetch};
use lightlag_net::{EndpointId, LinkId, NodeId};
use lightlag_transport::Failure;
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
pub(crate) mod tcp;

use application::Application;
use collector::Collector;
use datagrams::Datagrams;
use dialogue::Dialogue;
pub(crate) use endings::Ending;
use ends::{End, Numbers, Role};
use relay::Relay;
use tcp::{Shared, Tcp};

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
    pub(crate) connection: Tcp,
}

impl Endpoint {
    pub(crate) fn new(end: End, out: LinkId, connection: Tcp, task: Task) -> Self {
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
