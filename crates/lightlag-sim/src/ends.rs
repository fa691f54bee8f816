//! Who the endpoints of a network are: their numbers, what of a flow each one is, and whom it talks to.
//!
//! The first two of flow `f` have the numbers `2f`, from which its data comes, and `2f + 1`, where it ends; those of all
//! flows come first. Then come two for each flow at a proxy: where its data enters and where it leaves. Nobody else
//! computes with these numbers: an endpoint knows its flow and its peer.

use crate::scenario::{Network, Split};
use lightlag_net::NodeId;

/// What an endpoint is of its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Where the data comes from.
    Sender,
    /// Where it ends.
    Receiver,
    /// The end of a proxy toward the sender.
    Entry,
    /// The end of a proxy toward the receiver.
    Exit,
}

impl Role {
    /// Whether its connection carries data away from it. What arrives there goes backward.
    #[inline]
    pub(crate) fn sends(self) -> bool {
        matches!(self, Self::Sender | Self::Exit)
    }
}

/// One endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct End {
    /// Index of the flow.
    pub(crate) flow: u32,
    pub(crate) role: Role,
    /// The endpoint at the other end of its connection.
    pub(crate) peer: u32,
    /// Where it is.
    pub(crate) node: NodeId,
    /// Where its peer is.
    pub(crate) peer_node: NodeId,
}

/// The endpoint from which the data of a flow comes.
#[inline]
pub(crate) fn sender(flow: usize) -> usize {
    2 * flow
}

/// The endpoint where the data of a flow ends.
#[inline]
pub(crate) fn receiver(flow: usize) -> usize {
    2 * flow + 1
}

/// The number of a sending endpoint among all of them: flows first, then the far ends of proxies.
#[inline]
pub(crate) fn number_of_sender(endpoint: usize) -> usize {
    endpoint / 2
}

/// The flow of which an endpoint is the sender or the receiver; of other endpoints a number that no flow has.
#[inline]
pub(crate) fn flow(endpoint: usize) -> usize {
    endpoint / 2
}

/// The endpoint where the data of a flow enters a proxy; `split` is its place in the list of flows at proxies.
pub(crate) fn entry(flows: usize, split: usize) -> usize {
    2 * (flows + split)
}

/// The endpoint where the data of a flow leaves a proxy.
pub(crate) fn exit(flows: usize, split: usize) -> usize {
    2 * (flows + split) + 1
}

/// All endpoints, in the order of their numbers.
pub(crate) fn ends(network: &Network) -> impl Iterator<Item = End> + '_ {
    let of_flows = (0..network.flows.len()).flat_map(|flow| {
        let [first, next] =
            [0, 1].map(|more| network.splits.partition_point(|split| (split.flow as usize) < flow + more));
        [end(network, flow, Role::Sender, first), end(network, flow, Role::Receiver, next)]
    });
    let of_proxies = network.splits.iter().enumerate().flat_map(|(at, split)| {
        let flow = split.flow as usize;
        [end(network, flow, Role::Entry, at), end(network, flow, Role::Exit, at + 1)]
    });
    of_flows.chain(of_proxies)
}

/// An endpoint. Of the connection toward the receiver `split` is the place where it arrives, toward the sender the place
/// before which it comes.
fn end(network: &Network, flow: usize, role: Role, split: usize) -> End {
    let (peer, peer_node) = if role.sends() { arrival(network, flow, split) } else { origin(network, flow, split) };
    let of_flow = &network.flows[flow];
    let node = match role {
        Role::Sender => of_flow.from,
        Role::Receiver => of_flow.to,
        Role::Entry => place(network, network.splits[split]),
        Role::Exit => place(network, network.splits[split - 1]),
    };
    End { flow: flow as u32, role, peer: peer as u32, node, peer_node }
}

/// Where the data of a flow arrives next if the next proxy of the list is `split`.
fn arrival(network: &Network, flow: usize, split: usize) -> (usize, NodeId) {
    match network.splits.get(split).filter(|split| split.flow as usize == flow) {
        Some(at) => (entry(network.flows.len(), split), place(network, *at)),
        None => (receiver(flow), network.flows[flow].to),
    }
}

/// Where the data of a flow comes from that arrives at `split` of the list, or at its receiver after the one before.
fn origin(network: &Network, flow: usize, split: usize) -> (usize, NodeId) {
    let before = split.checked_sub(1).map(|before| (before, network.splits[before]));
    match before.filter(|(_, split)| split.flow as usize == flow) {
        Some((before, at)) => (exit(network.flows.len(), before), place(network, at)),
        None => (sender(flow), network.flows[flow].from),
    }
}

fn place(network: &Network, split: Split) -> NodeId {
    network.proxies[split.proxy as usize].node
}
