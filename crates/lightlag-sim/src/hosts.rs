//! Hosts: the endpoints of flows, and their applications.

use crate::body::Packet;
use crate::ids::FlowIndex;
use lightlag_control::congestion::custom::Fault;
use lightlag_core::Instant;
use lightlag_net::EndpointId;
use lightlag_transport::Failure;
use std::collections::BTreeMap;

pub(crate) mod application;
pub(crate) mod collector;
pub(crate) mod datagrams;
pub(crate) mod delays;
mod endings;
pub(crate) mod endpoints;
pub(crate) mod quic;
pub(crate) mod relay;
pub(crate) mod session;
pub(crate) mod socket;
pub(crate) mod source;
pub(crate) mod store;
pub(crate) mod tcp;
pub(crate) mod transport;
pub(crate) mod tunnels;

use collector::Collector;
use datagrams::Datagrams;
pub(crate) use endings::Ending;
use endpoints::EndpointIds;
use quic::Quic;
use relay::Relay;
use session::Session;
use socket::{AnySocket, Port};
use tcp::{Shared, Tcp};
use transport::Sockets;
use tunnels::Tunnels;

/// The endpoints of all flows, and their applications.
pub(crate) struct Hosts {
    /// TCP sockets, in the order of their endpoint IDs.
    pub(crate) tcp: Sockets<Tcp>,
    pub(crate) shared: Shared,
    /// QUIC sockets; their IDs follow the IDs of TCP sockets.
    pub(crate) quic: Sockets<Quic>,
    /// UDP endpoints; their IDs follow the IDs of sockets.
    pub(crate) datagrams: Datagrams,
    pub(crate) numbers: EndpointIds,
    /// Flows at proxies, with the state of each.
    pub(crate) relays: Vec<Relay>,
    /// Sinks of messages, in the order of their flows.
    pub(crate) collectors: Vec<Collector>,
    pub(crate) dialogues: Vec<Session>,
    /// Tunnels, if there are any.
    pub(crate) tunnels: Option<Box<Tunnels>>,
    pub(crate) outcomes: Outcomes,
    /// Accounts of senders whose data has all arrived, or whose flow has failed.
    pub(crate) endings: BTreeMap<EndpointId, Ending>,
    /// Number of finite flows that are neither finished nor failed.
    pub(crate) open_transfers: usize,
}

impl Hosts {
    /// Returns the socket of an endpoint, selected by the range of its ID.
    #[inline]
    pub(crate) fn socket(&self, endpoint: EndpointId) -> &dyn AnySocket {
        match self.tcp.get(endpoint) {
            Some(socket) => socket,
            None => &self.quic[endpoint],
        }
    }

    /// Returns a mutable reference to the socket of an endpoint.
    #[inline]
    pub(crate) fn socket_mut(&mut self, endpoint: EndpointId) -> &mut dyn AnySocket {
        if self.numbers.is_tcp(endpoint) { &mut self.tcp[endpoint] } else { &mut self.quic[endpoint] }
    }

    /// Returns all sockets, in the order of their IDs.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = &dyn AnySocket> {
        let of_quic = self.quic.iter().map(|socket| -> &dyn AnySocket { socket });
        self.tcp.iter().map(|socket| -> &dyn AnySocket { socket }).chain(of_quic)
    }

    /// Returns the number of sockets.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.tcp.len() + self.quic.len()
    }

    /// Drops the socket with this ID and all later ones of its transport.
    pub(crate) fn truncate(&mut self, from: EndpointId) {
        if self.numbers.is_tcp(from) {
            self.tcp.truncate(from);
        } else {
            self.quic.truncate(from);
        }
    }

    /// Drops all sockets, and frees the memory of their lists.
    pub(crate) fn clear(&mut self) {
        self.tcp.clear();
        self.quic.clear();
    }

    /// Swaps a socket with the same one of another partition.
    pub(crate) fn swap(&mut self, other: &mut Self, endpoint: EndpointId) {
        if self.numbers.is_tcp(endpoint) {
            self.tcp.swap(&mut other.tcp, endpoint);
        } else {
            self.quic.swap(&mut other.quic, endpoint);
        }
    }

    /// Returns the IDs of all sockets.
    pub(crate) fn ids(&self) -> impl Iterator<Item = EndpointId> + use<> {
        (0..self.len() as u32).map(EndpointId)
    }

    /// Returns the port of an endpoint, which is the part of its socket that does not depend on the transport.
    #[inline]
    pub(crate) fn port(&self, endpoint: EndpointId) -> &Port {
        self.socket(endpoint).port()
    }

    /// Returns a mutable reference to the port of an endpoint.
    #[inline]
    pub(crate) fn port_mut(&mut self, endpoint: EndpointId) -> &mut Port {
        self.socket_mut(endpoint).port_mut()
    }

    /// Returns the ports of all sockets with their IDs.
    pub(crate) fn ports(&self) -> impl Iterator<Item = (EndpointId, &Port)> {
        self.ids().zip(self.sockets().map(|socket| socket.port()))
    }

    /// Returns a lookup of the endpoints that packets are addressed to.
    pub(crate) fn addressees(&self) -> Addressees<'_> {
        Addressees { tcp: &self.tcp, quic: &self.quic, datagrams: &self.datagrams }
    }

    /// Returns the flow whose congestion control or application failed first, and the failure; `None` if none failed.
    pub(crate) fn fault(&self) -> Option<(FlowIndex, &Fault)> {
        let controls = self.sockets().map(|socket| (socket.port().flow, socket.inspect().fault()));
        let writing = self.ports().map(|(_, port)| (port.flow, port.application.as_ref().and_then(|of| of.fault())));
        let datagrams =
            self.datagrams.senders.iter().zip(self.datagrams.flows()).map(|(sender, flow)| (flow, sender.fault()));
        let faults = controls.chain(writing).chain(datagrams).filter_map(|(flow, fault)| Some((flow, fault?)));
        faults.min_by_key(|(flow, fault)| (fault.at, *flow))
    }

    /// Returns the name of the congestion control of a flow at its first sender; "udp" for UDP flows.
    pub(crate) fn congestion(&self, flow: FlowIndex) -> &str {
        match self.numbers.datagrams(flow) {
            Some(_) => "udp",
            None => self.socket(self.numbers.sender(flow)).inspect().congestion(),
        }
    }
}

/// Lookup of the endpoints that packets are addressed to.
#[derive(Clone, Copy)]
pub(crate) struct Addressees<'a> {
    pub(crate) tcp: &'a Sockets<Tcp>,
    pub(crate) quic: &'a Sockets<Quic>,
    pub(crate) datagrams: &'a Datagrams,
}

impl Addressees<'_> {
    /// Returns the flow of a packet. The second value is true if the packet is for the endpoint that sends the data of
    /// its connection.
    pub(crate) fn of(&self, packet: &Packet) -> (FlowIndex, bool) {
        let port = |socket: &dyn AnySocket| (socket.port().flow, socket.port().role.sends());
        let of_tcp = self.tcp.get(packet.to).map(|socket| port(socket));
        match of_tcp.or_else(|| self.quic.get(packet.to).map(|socket| port(socket))) {
            Some(heading) => heading,
            None => {
                let of_udp = self.datagrams.of_endpoint(packet.to).expect("a packet goes to an endpoint");
                (self.datagrams.heading(of_udp).flow, false)
            }
        }
    }
}

/// Outcomes of all flows. Until the first flow ends, they use no memory.
#[derive(Clone, Debug)]
pub(crate) struct Outcomes {
    flows: usize,
    /// Outcome of each flow; empty until the first flow ends.
    known: Vec<FlowOutcome>,
}

impl Outcomes {
    /// Returns the outcomes of `flows` flows that have not ended.
    pub(crate) fn new(flows: usize) -> Self {
        Self { flows, known: Vec::new() }
    }

    /// Returns the number of flows.
    pub(crate) fn flows(&self) -> usize {
        self.flows
    }

    /// Returns the outcome of a flow.
    pub(crate) fn of(&self, flow: FlowIndex) -> FlowOutcome {
        self.known.get(flow.index()).copied().unwrap_or(FlowOutcome::Unfinished)
    }

    /// Sets the outcome of a flow.
    pub(crate) fn set(&mut self, flow: FlowIndex, outcome: FlowOutcome) {
        if self.known.is_empty() {
            self.known = vec![FlowOutcome::Unfinished; self.flows];
        }
        self.known[flow.index()] = outcome;
    }
}

/// Outcome of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FlowOutcome {
    /// The flow has not ended.
    Unfinished,
    /// The last byte of the flow arrived at this time.
    Finished(Instant),
    /// A connection of the flow was aborted, or a proxy on its path crashed.
    Failed(Failure),
}
