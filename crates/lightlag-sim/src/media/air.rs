//! A medium, and the nodes on it as routing agents see them.

use super::AnyMedium;
use lightlag_core::{Instant, Probability};
use lightlag_mobility::Vector;
use lightlag_net::{InterfaceId, NodeId, StationId};
use lightlag_routing::Surroundings;

/// A medium, and the interfaces on it.
#[derive(Debug)]
pub(crate) struct Air {
    pub(crate) medium: AnyMedium,
    /// The node that stands for it in route tables.
    pub(super) hub: NodeId,
    /// The interface of its first station.
    pub(super) first: InterfaceId,
    /// The station of each node of the network that is on it.
    pub(super) stations: Vec<Option<StationId>>,
    /// The node of each station.
    pub(super) nodes: Vec<NodeId>,
    /// Room for the neighbours of a node.
    pub(super) neighbours: Vec<NodeId>,
    /// Whether sources are told of their routes.
    pub(super) elfn: bool,
}

impl Air {
    /// The interface of a station.
    pub(super) fn interface(&self, station: StationId) -> InterfaceId {
        interface(self.first, station)
    }
}

/// The interface of a station of the medium whose first station has the interface `first`.
pub(super) fn interface(first: InterfaceId, station: StationId) -> InterfaceId {
    InterfaceId(first.0 + station.0)
}

impl Surroundings for Air {
    fn has(&self, node: NodeId) -> bool {
        self.stations.get(node.0 as usize).is_some_and(Option::is_some)
    }

    fn position(&mut self, node: NodeId, now: Instant) -> Vector {
        match self.stations[node.0 as usize] {
            Some(station) => {
                let [x, y, z] = self.medium.position(station, now);
                Vector::new(x, y, z)
            }
            None => Vector::ZERO,
        }
    }

    fn neighbours(&mut self, node: NodeId, now: Instant, min_delivery: Probability) -> &[NodeId] {
        self.neighbours.clear();
        let Self { medium, stations, nodes, neighbours, .. } = self;
        if let Some(station) = stations[node.0 as usize] {
            medium.neighbours(station, now, min_delivery, &mut |other| neighbours.push(nodes[other.index()]));
            neighbours.sort_unstable();
        }
        neighbours
    }
}
