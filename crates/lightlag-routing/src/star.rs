//! Forwarding in a star: nodes send to the hub, which sends to the destination. It needs no messages.

use crate::{Agent, PacketInfo, Route, RoutingHeader, Surroundings, Traffic, Verdict};
use lightlag_core::{Instant, Probability};
use lightlag_net::NodeId;

/// Position of a node in its star.
#[derive(Clone, Copy, Debug)]
enum Role {
    Hub,
    /// A node whose only neighbour is this one.
    Leaf(NodeId),
}

/// The agent of a node. Its position follows from the neighbours that it has when it forwards its first packet.
#[derive(Clone, Debug)]
pub(crate) struct Star {
    node: NodeId,
    role: Option<Role>,
    traffic: Traffic,
}

impl Star {
    pub(crate) fn new(node: NodeId) -> Self {
        Self { node, role: None, traffic: Traffic::default() }
    }
}

impl Agent for Star {
    fn route(
        &mut self,
        now: Instant,
        heading: &PacketInfo,
        _from: Option<NodeId>,
        _extra: &mut RoutingHeader,
        world: &mut dyn Surroundings,
    ) -> Verdict {
        let node = self.node;
        let role = *self.role.get_or_insert_with(|| match world.neighbours(node, now, Probability::HALF) {
            [only] => Role::Leaf(*only),
            _ => Role::Hub,
        });
        match role {
            Role::Leaf(hub) => Verdict::Via(hub),
            Role::Hub if world.has(heading.destination) => Verdict::Via(heading.destination),
            Role::Hub => Verdict::Unreachable,
        }
    }

    fn routes(&self, _now: Instant) -> Vec<Route> {
        Vec::new()
    }

    fn changes(&self) -> u64 {
        0
    }

    fn traffic(&self) -> &Traffic {
        &self.traffic
    }
}
