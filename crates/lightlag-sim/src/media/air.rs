//! A medium and the nodes on it, as routing agents see them.

use super::AnyMedium;
use lightlag_core::{Instant, Probability};
use lightlag_mobility::Vector;
use lightlag_net::{InterfaceId, NodeId, StationId};
use lightlag_routing::Surroundings;

/// A medium, and the interfaces on it.
#[derive(Debug)]
pub(crate) struct Air {
    pub(crate) medium: AnyMedium,
    /// Node that stands for the medium in route tables.
    pub(super) hub: NodeId,
    /// Interface of the medium's first station.
    pub(super) first: InterfaceId,
    /// Station of each node of the network; `None` if the node is not on the medium.
    pub(super) stations: Vec<Option<StationId>>,
    /// Node of each station.
    pub(super) nodes: Vec<NodeId>,
    /// Reusable buffer for the neighbours of a node.
    pub(super) neighbours: Vec<NodeId>,
    /// Whether senders are notified of route changes.
    pub(super) elfn: bool,
}

impl Air {
    /// Returns the interface of a station.
    pub(super) fn interface(&self, station: StationId) -> InterfaceId {
        interface(self.first, station)
    }
}

/// Returns the interface of a station. `first` is the interface of the medium's first station.
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
