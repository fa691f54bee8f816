//! Who the endpoints of a network are: their numbers, what of a flow each one is, and whom it talks to.
//!
//! The first two of flow `f` have the numbers `2f`, from which its data comes, and `2f + 1`, where it ends. Nobody else
//! computes with these numbers: an endpoint knows its flow and its peer.

use crate::scenario::Flow;
use lightlag_net::NodeId;

/// What an endpoint is of its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Where the data comes from.
    Sender,
    /// Where it ends.
    Receiver,
}

impl Role {
    /// Whether its connection carries data away from it. What arrives there goes backward.
    #[inline]
    pub(crate) fn sends(self) -> bool {
        match self {
            Self::Sender => true,
            Self::Receiver => false,
        }
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

/// All endpoints, in the order of their numbers.
pub(crate) fn ends(flows: &[Flow]) -> impl Iterator<Item = End> + '_ {
    flows.iter().enumerate().flat_map(|(index, flow)| {
        let end = |role, peer, node, peer_node| End { flow: index as u32, role, peer: peer as u32, node, peer_node };
        [end(Role::Sender, receiver(index), flow.from, flow.to), end(Role::Receiver, sender(index), flow.to, flow.from)]
    })
}
