//! Hosts: the ends of flows, and their applications.

use crate::body::Packet;
use lightlag_control::bucket::Bucket;
use lightlag_control::congestion::Report;
use lightlag_control::congestion::own::Fault;
use lightlag_core::{Instant, prefetch};
use lightlag_net::{LinkId, NodeId};
use lightlag_tcp::fast_open::Jar;
use lightlag_tcp::{Connection, Failure, Segment, Snapshot};
use std::collections::BTreeMap;

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
    pub(crate) endpoints: Vec<Endpoint>,
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
    pub(crate) endings: BTreeMap<usize, Ending>,
    /// Finite flows that are neither finished nor failed.
    pub(crate) open_transfers: usize,
}

impl Hosts {
    /// Finds the endpoints that packets are for.
    pub(crate) fn addressees(&self) -> Addressees<'_> {
        Addressees { endpoints: &self.endpoints, datagrams: &self.datagrams }
    }

    /// The flow whose congestion control or application failed first, and the failure.
    pub(crate) fn fault(&self) -> Option<(usize, &Fault)> {
        let controls = self.endpoints.iter().map(|end| (end.flow as usize, end.connection.fault()));
        let writing =
            self.endpoints.iter().map(|end| (end.flow as usize, end.application.as_ref().and_then(|of| of.fault())));
        let datagrams =
            self.datagrams.senders.iter().zip(self.datagrams.flows()).map(|(sender, flow)| (flow, sender.fault()));
        let faults = controls.chain(writing).chain(datagrams).filter_map(|(flow, fault)| Some((flow, fault?)));
        faults.min_by_key(|(flow, fault)| (fault.at, *flow))
    }

    /// The name of the congestion control of a flow, at its first sender.
    pub(crate) fn congestion(&self, flow: usize) -> &str {
        match self.numbers.datagrams(flow) {
            Some(_) => "udp",
            None => self.endpoints[self.numbers.sender(flow)].connection.config().congestion.name(),
        }
    }

    /// A flow that is steered; None for others, and before its connection starts to send.
    pub(crate) fn observe(&mut self, flow: usize) -> Option<Observed> {
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
    pub(crate) fn next_segment(&mut self, now: Instant, at: usize) -> Option<Segment> {
        if self.shared.of_endpoint.is_empty() {
            self.endpoints[at].connection.poll_segment(now)
        } else {
            self.next_shared(now, at)
        }
    }

    #[cold]
    fn next_shared(&mut self, now: Instant, at: usize) -> Option<Segment> {
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
    pub(crate) fn vacate(&mut self, at: usize) {
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
    pub(crate) fn of(&self, at: usize) -> Share {
        self.of_endpoint.get(at).copied().unwrap_or_default()
    }

    /// The same, to be changed.
    pub(crate) fn of_mut(&mut self, at: usize) -> &mut Share {
        if self.of_endpoint.len() <= at {
            self.of_endpoint.resize(at + 1, Share::default());
        }
        &mut self.of_endpoint[at]
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
    pub(crate) peer: u32,
    /// The link on which its packets leave in this epoch of the routes.
    pub(crate) out: LinkId,
    /// Index of the flow that it belongs to, and its role in it.
    pub(crate) flow: u32,
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

/// The endpoints that packets are for.
#[derive(Clone, Copy)]
pub(crate) struct Addressees<'a> {
    pub(crate) endpoints: &'a [Endpoint],
    pub(crate) datagrams: &'a Datagrams,
}

impl Addressees<'_> {
    /// The flow of a packet, and whether the packet goes to the end that sends the data of its connection.
    pub(crate) fn of(&self, packet: &Packet) -> (u32, bool) {
        let at = packet.flow as usize;
        match self.endpoints.get(at) {
            Some(endpoint) => (endpoint.flow, endpoint.role.sends()),
            None => (self.datagrams.heading(at - self.endpoints.len()).flow, false),
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
    pub(crate) fn of(&self, flow: usize) -> Outcome {
        self.known.get(flow).copied().unwrap_or(Outcome::Unfinished)
    }

    /// A flow ends.
    pub(crate) fn set(&mut self, flow: usize, outcome: Outcome) {
        if self.known.is_empty() {
            self.known = vec![Outcome::Unfinished; self.flows];
        }
        self.known[flow] = outcome;
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
