//! Hosts: the ends of flows, and their applications.

use crate::body::Packet;
use crate::ids::FlowIndex;
use lightlag_control::congestion::own::Fault;
use lightlag_core::Instant;
use lightlag_net::EndpointId;
use lightlag_transport::Failure;
use std::collections::BTreeMap;

pub(crate) mod application;
pub(crate) mod collector;
pub(crate) mod datagrams;
pub(crate) mod delays;
pub(crate) mod dialogue;
mod endings;
pub(crate) mod ends;
pub(crate) mod relay;
pub(crate) mod socket;
pub(crate) mod source;
pub(crate) mod tcp;
pub(crate) mod transport;

use collector::Collector;
use datagrams::Datagrams;
use dialogue::Dialogue;
pub(crate) use endings::Ending;
use ends::Numbers;
use relay::Relay;
use socket::{AnySocket, Port, Socket};
use tcp::{Shared, Tcp};
use transport::Sockets;

/// All ends of flows.
pub(crate) struct Hosts {
    /// The sockets of each transport, in the order of the numbers of their endpoints.
    pub(crate) tcp: Sockets<Tcp>,
    pub(crate) shared: Shared,
    /// Ends of flows of UDP: their numbers come behind those of sockets.
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
    /// Returns the socket of an endpoint, chosen by the range of its number.
    #[inline]
    pub(crate) fn socket(&self, at: EndpointId) -> &dyn AnySocket {
        &self.tcp[at]
    }

    /// As [`Self::socket`], to be changed.
    #[inline]
    pub(crate) fn socket_mut(&mut self, at: EndpointId) -> &mut dyn AnySocket {
        &mut self.tcp[at]
    }

    /// Returns all sockets, in the order of their numbers.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = &dyn AnySocket> {
        self.tcp.iter().map(|socket| -> &dyn AnySocket { socket })
    }

    /// Returns the number of sockets.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.tcp.len()
    }

    /// Drops the sockets from this one on.
    pub(crate) fn truncate(&mut self, from: EndpointId) {
        self.tcp.truncate(from);
    }

    /// Drops all sockets and their lists.
    pub(crate) fn clear(&mut self) {
        self.tcp.clear();
    }

    /// Swaps a socket with that of another partition.
    pub(crate) fn swap(&mut self, other: &mut Self, at: EndpointId) {
        std::mem::swap(&mut self.tcp[at], &mut other.tcp[at]);
    }

    /// Returns the numbers of all sockets.
    pub(crate) fn ids(&self) -> impl Iterator<Item = EndpointId> + use<> {
        (0..self.len() as u32).map(EndpointId)
    }

    /// Returns the port of an endpoint.
    #[inline]
    pub(crate) fn port(&self, at: EndpointId) -> &Port {
        self.socket(at).port()
    }

    /// As [`Self::port`], to be changed.
    #[inline]
    pub(crate) fn port_mut(&mut self, at: EndpointId) -> &mut Port {
        self.socket_mut(at).port_mut()
    }

    /// Returns the ports of all sockets with their numbers.
    pub(crate) fn ports(&self) -> impl Iterator<Item = (EndpointId, &Port)> {
        self.ids().zip(self.sockets().map(|socket| socket.port()))
    }

    /// Finds the endpoints that packets are for.
    pub(crate) fn addressees(&self) -> Addressees<'_> {
        Addressees { tcp: &self.tcp, datagrams: &self.datagrams }
    }

    /// The flow whose congestion control or application failed first, and the failure.
    pub(crate) fn fault(&self) -> Option<(FlowIndex, &Fault)> {
        let controls = self.sockets().map(|socket| (socket.port().flow, socket.inspect().fault()));
        let writing = self.ports().map(|(_, port)| (port.flow, port.application.as_ref().and_then(|of| of.fault())));
        let datagrams =
            self.datagrams.senders.iter().zip(self.datagrams.flows()).map(|(sender, flow)| (flow, sender.fault()));
        let faults = controls.chain(writing).chain(datagrams).filter_map(|(flow, fault)| Some((flow, fault?)));
        faults.min_by_key(|(flow, fault)| (fault.at, *flow))
    }

    /// The name of the congestion control of a flow, at its first sender.
    pub(crate) fn congestion(&self, flow: FlowIndex) -> &str {
        match self.numbers.datagrams(flow) {
            Some(_) => "udp",
            None => self.socket(self.numbers.sender(flow)).inspect().congestion(),
        }
    }
}

/// The endpoints that packets are for.
#[derive(Clone, Copy)]
pub(crate) struct Addressees<'a> {
    pub(crate) tcp: &'a Sockets<Tcp>,
    pub(crate) datagrams: &'a Datagrams,
}

impl Addressees<'_> {
    /// The flow of a packet, and whether the packet goes to the end that sends the data of its connection.
    pub(crate) fn of(&self, packet: &Packet) -> (FlowIndex, bool) {
        match self.tcp.get(packet.to) {
            Some(Socket { port, .. }) => (port.flow, port.role.sends()),
            None => {
                let of_udp = self.datagrams.of_endpoint(packet.to).expect("a packet goes to an endpoint");
                (self.datagrams.heading(of_udp).flow, false)
            }
        }
    }
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
