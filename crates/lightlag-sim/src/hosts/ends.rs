//! The endpoints of a network: their numbers, their roles in flows, and their peers.
//!
//! Ends of connections come first. Each flow of TCP has two, from which its data comes and where it ends; then each
//! flow at a proxy has two, where its data enters and where it leaves. Behind them each flow of UDP has one number:
//! packets go to its receiver alone, and only its sender wakes. No other module computes with these numbers: an
//! endpoint knows its flow and its peer.

use crate::ids::{FlowIndex, SenderIndex, UdpIndex};
use lightlag_net::{EndpointId, NodeId};
use lightlag_scenario::{Network, Split, Transport};

/// The role of an endpoint in its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// The end that sends the data.
    Sender,
    /// The end at which the data arrives.
    Receiver,
    /// The end of a proxy toward the sender.
    Entry,
    /// The end of a proxy toward the receiver.
    Exit,
}

impl Role {
    /// Whether its connection carries data away from it. Packets that arrive there go backward.
    #[inline]
    pub(crate) fn sends(self) -> bool {
        matches!(self, Self::Sender | Self::Exit)
    }
}

/// One endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct End {
    pub(crate) flow: FlowIndex,
    pub(crate) role: Role,
    /// The endpoint at the other end of its connection.
    pub(crate) peer: EndpointId,
    /// Node at which it is.
    pub(crate) node: NodeId,
    /// Node at which its peer is.
    pub(crate) peer_node: NodeId,
}

/// The position of a sending endpoint among those of all connections.
#[inline]
pub(crate) fn number_of_sender(endpoint: EndpointId) -> SenderIndex {
    SenderIndex(endpoint.0 / 2)
}

/// The numbers of the endpoints of a network.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    /// The first number of each flow. Empty if all are of TCP: then it is twice the index of the flow.
    firsts: Vec<u32>,
    /// Flows of TCP.
    connections: u32,
    /// Flows at proxies.
    splits: u32,
}

impl Numbers {
    pub(crate) fn new(network: &Network) -> Self {
        let is_of_tcp = |transport: Transport| transport == Transport::Tcp;
        let connections = network.flows.iter().filter(|flow| is_of_tcp(flow.transport)).count() as u32;
        let mut numbers = Self { firsts: Vec::new(), connections, splits: network.splits.len() as u32 };
        if (connections as usize) < network.flows.len() {
            let (mut connection, mut datagrams) = (0, numbers.of_connections());
            let first = |transport| {
                let (next, step) = if is_of_tcp(transport) { (&mut connection, 2) } else { (&mut datagrams, 1) };
                let first = *next;
                *next += step;
                first
            };
            numbers.firsts = network.flows.iter().map(|flow| flow.transport).map(first).collect();
        }
        numbers
    }

    /// Number of endpoints that are ends of connections. Those of UDP come behind them.
    pub(crate) fn of_connections(&self) -> u32 {
        2 * (self.connections + self.splits)
    }

    /// Number of flows of UDP.
    pub(crate) fn of_datagrams(&self) -> usize {
        self.firsts.len().saturating_sub(self.connections as usize)
    }

    /// The endpoint from which the data of a flow of TCP comes.
    #[inline]
    pub(crate) fn sender(&self, flow: FlowIndex) -> EndpointId {
        EndpointId(self.firsts.get(flow.index()).map_or(2 * flow.0, |first| *first))
    }

    /// The endpoint where the data of a flow of TCP ends.
    #[inline]
    pub(crate) fn receiver(&self, flow: FlowIndex) -> EndpointId {
        EndpointId(self.sender(flow).0 + 1)
    }

    /// The endpoints from which the data of flows comes, in the order of the flows.
    pub(crate) fn senders(&self) -> impl Iterator<Item = EndpointId> + use<> {
        (0..self.connections).map(|connection| EndpointId(2 * connection))
    }

    /// The endpoint where the data of a flow enters a proxy; `split` is its place in the list of flows at proxies.
    pub(crate) fn entry(&self, split: usize) -> EndpointId {
        EndpointId(2 * (self.connections + split as u32))
    }

    /// The endpoint where the data of a flow leaves a proxy.
    pub(crate) fn exit(&self, split: usize) -> EndpointId {
        EndpointId(self.entry(split).0 + 1)
    }

    /// The place of an end of a proxy in the list of flows at proxies.
    pub(crate) fn split(&self, endpoint: EndpointId) -> usize {
        (endpoint.0 / 2 - self.connections) as usize
    }

    /// The position of a flow among those of UDP, if it is one of them.
    #[inline]
    pub(crate) fn datagrams(&self, flow: FlowIndex) -> Option<UdpIndex> {
        self.firsts.get(flow.index())?.checked_sub(self.of_connections()).map(UdpIndex)
    }
}

/// All endpoints that are ends of connections, in the order of their numbers.
pub(crate) fn of_connections<'a>(network: &'a Network, numbers: &'a Numbers) -> impl Iterator<Item = End> + 'a {
    let is_of_tcp = |flow: &FlowIndex| network.flows[flow.index()].transport == Transport::Tcp;
    let of_flows = (0..network.flows.len() as u32).map(FlowIndex).filter(is_of_tcp).flat_map(|flow| {
        let [first, next] = [0, 1].map(|more| network.splits.partition_point(|split| split.flow < flow.0 + more));
        [end(network, numbers, flow, Role::Sender, first), end(network, numbers, flow, Role::Receiver, next)]
    });
    let of_proxies = network.splits.iter().enumerate().flat_map(|(at, split)| {
        let flow = FlowIndex(split.flow);
        [end(network, numbers, flow, Role::Entry, at), end(network, numbers, flow, Role::Exit, at + 1)]
    });
    of_flows.chain(of_proxies)
}

/// The receivers of flows of UDP, in the order of their numbers.
pub(crate) fn of_datagrams<'a>(network: &'a Network, numbers: &'a Numbers) -> impl Iterator<Item = End> + 'a {
    (0..).zip(&network.flows).filter(|(_, flow)| flow.transport == Transport::Udp).map(|(index, flow)| {
        let peer = EndpointId(numbers.firsts[index as usize]);
        End { flow: FlowIndex(index), role: Role::Receiver, peer, node: flow.to, peer_node: flow.from }
    })
}

/// An endpoint. For the connection toward the receiver, `split` is the place in the list at which the connection
/// arrives; for that toward the sender, it is the place before which it comes.
fn end(network: &Network, numbers: &Numbers, flow: FlowIndex, role: Role, split: usize) -> End {
    let to = if role.sends() { arrival } else { origin };
    let (peer, peer_node) = to(network, numbers, flow, split);
    let of_flow = &network.flows[flow.index()];
    let node = match role {
        Role::Sender => of_flow.from,
        Role::Receiver => of_flow.to,
        Role::Entry => place(network, network.splits[split]),
        Role::Exit => place(network, network.splits[split - 1]),
    };
    End { flow, role, peer, node, peer_node }
}

/// The endpoint at which the data of a flow arrives next if the next proxy of the list is `split`.
fn arrival(network: &Network, numbers: &Numbers, flow: FlowIndex, split: usize) -> (EndpointId, NodeId) {
    match network.splits.get(split).filter(|split| split.flow == flow.0) {
        Some(at) => (numbers.entry(split), place(network, *at)),
        None => (numbers.receiver(flow), network.flows[flow.index()].to),
    }
}

/// The endpoint that sends the data of a flow to `split` of the list, or to its receiver after the last one.
fn origin(network: &Network, numbers: &Numbers, flow: FlowIndex, split: usize) -> (EndpointId, NodeId) {
    let before = split.checked_sub(1).map(|before| (before, network.splits[before]));
    match before.filter(|(_, split)| split.flow == flow.0) {
        Some((before, at)) => (numbers.exit(before), place(network, at)),
        None => (numbers.sender(flow), network.flows[flow.index()].from),
    }
}

fn place(network: &Network, split: Split) -> NodeId {
    network.proxies[split.proxy as usize].node
}
