//! The endpoints of a network: their IDs, their roles in flows, and their peers.
//!
//! Endpoints of connections have the first IDs. Each TCP flow has two, its sender and its receiver. Then each TCP flow at
//! a proxy has two, its entry and its exit. The endpoints of QUIC follow in the same order. Each UDP flow has one further
//! ID, because packets are sent only to its receiver, and only its sender has events. No other module computes with these IDs: an
//! endpoint stores its flow and its peer.

use crate::ids::{FlowIndex, SenderIndex, UdpIndex};
use lightlag_net::{EndpointId, NodeId};
use lightlag_scenario::{Network, Split, Transport};

/// The role of an endpoint in its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Sends the data of the flow.
    Sender,
    /// Receives the data of the flow.
    Receiver,
    /// A proxy's endpoint toward the sender.
    Entry,
    /// A proxy's endpoint toward the receiver.
    Exit,
}

impl Role {
    /// Returns true if the endpoint sends the data of its connection. Packets that arrive at such an endpoint travel
    /// backwards.
    #[inline]
    pub(crate) fn sends(self) -> bool {
        matches!(self, Self::Sender | Self::Exit)
    }
}

/// One endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EndpointSpec {
    pub(crate) flow: FlowIndex,
    pub(crate) role: Role,
    /// Other endpoint of the connection.
    pub(crate) peer: EndpointId,
    /// Node of the endpoint.
    pub(crate) node: NodeId,
    /// Node of the peer.
    pub(crate) peer_node: NodeId,
}

/// Returns the index of a sending endpoint among the senders of all connections.
#[inline]
pub(crate) fn number_of_sender(endpoint: EndpointId) -> SenderIndex {
    SenderIndex(endpoint.0 / 2)
}

/// Endpoint IDs of a network.
#[derive(Clone, Debug)]
pub(crate) struct EndpointIds {
    /// First endpoint ID of each flow. Empty if all flows are TCP, because the ID is then twice the index of the flow.
    firsts: Vec<u32>,
    /// Number of TCP flows.
    connections: u32,
    /// Number of TCP flows at proxies.
    splits: u32,
    /// Number of QUIC flows.
    quic: u32,
    /// Index of each flow at a proxy in the order of endpoint IDs, and the inverse. Empty if all flows at proxies are
    /// TCP, because the list of flows at proxies then has this order.
    order: Vec<u32>,
    ranks: Vec<u32>,
    /// Number of QUIC flows at proxies.
    quic_splits: u32,
}

impl EndpointIds {
    pub(crate) fn new(network: &Network) -> Self {
        let count = |transport| network.flows.iter().filter(|flow| flow.transport == transport).count() as u32;
        let (connections, quic) = (count(Transport::Tcp), count(Transport::Quic));
        let is_quic = |split: &u32| {
            let split = network.splits[*split as usize];
            network.flows[split.flow as usize].transport == Transport::Quic
        };
        let all = || 0..network.splits.len() as u32;
        let quic_splits = all().filter(is_quic).count() as u32;
        let splits = network.splits.len() as u32 - quic_splits;
        let (mut order, mut ranks) = (Vec::new(), Vec::new());
        if quic_splits > 0 {
            order.extend(all().filter(|split| !is_quic(split)));
            order.extend(all().filter(is_quic));
            ranks = vec![0; order.len()];
            (0..).zip(&order).for_each(|(rank, split)| ranks[*split as usize] = rank);
        }
        let mut numbers = Self { firsts: Vec::new(), connections, splits, quic, order, ranks, quic_splits };
        if (connections as usize) < network.flows.len() {
            let (mut tcp, mut quic, mut udp) = (0, numbers.of_tcp(), numbers.of_connections());
            let first = |transport| {
                let (next, step) = match transport {
                    Transport::Tcp => (&mut tcp, 2),
                    Transport::Quic => (&mut quic, 2),
                    Transport::Udp => (&mut udp, 1),
                };
                let first = *next;
                *next += step;
                first
            };
            numbers.firsts = network.flows.iter().map(|flow| flow.transport).map(first).collect();
        }
        numbers
    }

    /// Returns the number of TCP endpoints, including endpoints at proxies.
    pub(crate) fn of_tcp(&self) -> u32 {
        2 * (self.connections + self.splits)
    }

    /// Returns true if an endpoint of a connection belongs to TCP.
    #[inline]
    pub(crate) fn is_tcp(&self, endpoint: EndpointId) -> bool {
        endpoint.0 < self.of_tcp()
    }

    /// Returns the number of endpoints of connections. UDP endpoints have higher IDs.
    pub(crate) fn of_connections(&self) -> u32 {
        self.of_tcp() + 2 * (self.quic + self.quic_splits)
    }

    /// Returns the number of UDP flows.
    pub(crate) fn of_datagrams(&self) -> usize {
        self.firsts.len().saturating_sub((self.connections + self.quic) as usize)
    }

    /// Returns the sending endpoint of a flow with a connection.
    #[inline]
    pub(crate) fn sender(&self, flow: FlowIndex) -> EndpointId {
        EndpointId(self.firsts.get(flow.index()).map_or(2 * flow.0, |first| *first))
    }

    /// Returns the receiving endpoint of a flow with a connection.
    #[inline]
    pub(crate) fn receiver(&self, flow: FlowIndex) -> EndpointId {
        EndpointId(self.sender(flow).0 + 1)
    }

    /// Returns the sending endpoints of flows with connections, in the order of their IDs.
    pub(crate) fn senders(&self) -> impl Iterator<Item = EndpointId> + use<> {
        let of_quic = self.of_tcp() / 2;
        (0..self.connections).chain(of_quic..of_quic + self.quic).map(|connection| EndpointId(2 * connection))
    }

    /// Returns the endpoint where the data of a flow enters a proxy. `split` is the index in the list of flows at
    /// proxies.
    pub(crate) fn entry(&self, split: usize) -> EndpointId {
        let rank = self.ranks.get(split).copied().unwrap_or(split as u32);
        let before = if rank < self.splits { self.connections } else { self.connections + self.quic };
        EndpointId(2 * (before + rank))
    }

    /// Returns the endpoint where the data of a flow leaves a proxy. `split` is the index in the list of flows at
    /// proxies.
    pub(crate) fn exit(&self, split: usize) -> EndpointId {
        EndpointId(self.entry(split).0 + 1)
    }

    /// Returns the index of a proxy's endpoint in the list of flows at proxies.
    pub(crate) fn split(&self, endpoint: EndpointId) -> usize {
        let before = if self.is_tcp(endpoint) { self.connections } else { self.connections + self.quic };
        self.split_at((endpoint.0 / 2 - before) as usize)
    }

    fn split_at(&self, rank: usize) -> usize {
        self.order.get(rank).map_or(rank, |split| *split as usize)
    }

    /// Returns the index, in the list of flows at proxies, of each sender of a connection: `None` for the sender of a
    /// flow. The senders have the order of their IDs.
    pub(crate) fn splits_of_senders(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        let of_flows = |count: u32| std::iter::repeat_n(None, count as usize);
        let at_proxies = |ranks: std::ops::Range<u32>| ranks.map(|rank| Some(self.split_at(rank as usize)));
        let all = self.splits + self.quic_splits;
        let of_tcp = of_flows(self.connections).chain(at_proxies(0..self.splits));
        of_tcp.chain(of_flows(self.quic)).chain(at_proxies(self.splits..all))
    }

    /// Returns the index of a flow among the UDP flows; `None` if it is not a UDP flow.
    #[inline]
    pub(crate) fn datagrams(&self, flow: FlowIndex) -> Option<UdpIndex> {
        self.firsts.get(flow.index())?.checked_sub(self.of_connections()).map(UdpIndex)
    }
}

/// Returns all endpoints of connections, in the order of their IDs.
pub(crate) fn of_connections<'a>(
    network: &'a Network,
    numbers: &'a EndpointIds,
) -> impl Iterator<Item = EndpointSpec> + 'a {
    let flows = move |transport| {
        let is_of = move |flow: &FlowIndex| network.flows[flow.index()].transport == transport;
        (0..network.flows.len() as u32).map(FlowIndex).filter(is_of).flat_map(|flow| {
            let [first, next] = [0, 1].map(|more| network.splits.partition_point(|split| split.flow < flow.0 + more));
            [end(network, numbers, flow, Role::Sender, first), end(network, numbers, flow, Role::Receiver, next)]
        })
    };
    let proxies = move |transport| {
        let is_of = move |split: &Split| network.flows[split.flow as usize].transport == transport;
        network.splits.iter().enumerate().filter(move |(_, split)| is_of(split)).flat_map(|(split_index, split)| {
            let flow = FlowIndex(split.flow);
            [
                end(network, numbers, flow, Role::Entry, split_index),
                end(network, numbers, flow, Role::Exit, split_index + 1),
            ]
        })
    };
    let all = move |transport| flows(transport).chain(proxies(transport));
    all(Transport::Tcp).chain(all(Transport::Quic))
}

/// Returns the receivers of UDP flows, in the order of their IDs.
pub(crate) fn of_datagrams<'a>(
    network: &'a Network,
    numbers: &'a EndpointIds,
) -> impl Iterator<Item = EndpointSpec> + 'a {
    (0..).zip(&network.flows).filter(|(_, flow)| flow.transport == Transport::Udp).map(|(index, flow)| {
        let peer = EndpointId(numbers.firsts[index as usize]);
        EndpointSpec { flow: FlowIndex(index), role: Role::Receiver, peer, node: flow.to, peer_node: flow.from }
    })
}

/// Returns the properties of an endpoint. `split` is an index in the list of flows at proxies. For an endpoint that
/// sends, it is the next proxy towards the receiver. For one that receives, the proxy before `split` is the origin of
/// its connection.
fn end(network: &Network, numbers: &EndpointIds, flow: FlowIndex, role: Role, split: usize) -> EndpointSpec {
    let to = if role.sends() { arrival } else { origin };
    let (peer, peer_node) = to(network, numbers, flow, split);
    let of_flow = &network.flows[flow.index()];
    let node = match role {
        Role::Sender => of_flow.from,
        Role::Receiver => of_flow.to,
        Role::Entry => place(network, network.splits[split]),
        Role::Exit => place(network, network.splits[split - 1]),
    };
    EndpointSpec { flow, role, peer, node, peer_node }
}

/// Returns the endpoint and node where the data of a flow arrives next: at the proxy `split` of the list if that
/// belongs to the flow, otherwise at the flow's receiver.
fn arrival(network: &Network, numbers: &EndpointIds, flow: FlowIndex, split: usize) -> (EndpointId, NodeId) {
    match network.splits.get(split).filter(|split| split.flow == flow.0) {
        Some(at) => (numbers.entry(split), place(network, *at)),
        None => (numbers.receiver(flow), network.flows[flow.index()].to),
    }
}

/// Returns the endpoint and node that send the data of a flow to the proxy `split` of the list, or to the receiver: the
/// proxy before if that belongs to the flow, otherwise the flow's sender.
fn origin(network: &Network, numbers: &EndpointIds, flow: FlowIndex, split: usize) -> (EndpointId, NodeId) {
    let before = split.checked_sub(1).map(|before| (before, network.splits[before]));
    match before.filter(|(_, split)| split.flow == flow.0) {
        Some((before, at)) => (numbers.exit(before), place(network, at)),
        None => (numbers.sender(flow), network.flows[flow.index()].from),
    }
}

fn place(network: &Network, split: Split) -> NodeId {
    network.proxies[split.proxy as usize].node
}
