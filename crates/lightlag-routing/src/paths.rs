//! Shortest paths from one node to all others, in hops.

use crate::{Route, Surroundings};
use lightlag_core::params::Setting;
use lightlag_core::{Instant, Probability};
use lightlag_net::NodeId;
use std::collections::VecDeque;

/// Returns the setting for the minimum delivery probability of the links that a path may use.
pub(crate) fn min_delivery<C: Clone + 'static>(field: fn(&mut C) -> &mut Probability) -> Setting<C> {
    Setting::probability("min_delivery", field)
        .about(
            "Minimum delivery ratio of a usable link: the probability that a frame of 1536 B arrives at the data rate.",
        )
        .quiet()
}

/// Returns the reason why a threshold excludes every link, if it does.
pub(crate) fn refusal(min_delivery: Probability) -> Option<&'static str> {
    (min_delivery == Probability::ONE)
        .then_some("leaves no link, because links must exceed it; write a number below 1, such as 0.3")
}

/// The first hop of a shortest path to each node that can be reached. Among paths of equal length, the path with the
/// lowest-numbered first hop is used.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Paths {
    /// First hop and number of hops, indexed by destination.
    first: Vec<Option<(NodeId, u32)>>,
}

impl Paths {
    /// Returns the shortest paths from a node, by breadth-first search over the links that deliver more than
    /// `min_delivery` of all frames.
    pub(crate) fn search(from: NodeId, now: Instant, min_delivery: Probability, world: &mut dyn Surroundings) -> Self {
        let mut paths = Self::default();
        let mut queue = VecDeque::new();
        for &neighbour in world.neighbours(from, now, min_delivery) {
            if paths.reach(neighbour, neighbour, 1) {
                queue.push_back(neighbour);
            }
        }
        while let Some(node) = queue.pop_front() {
            let Some((first, hops)) = paths.to(node) else { continue };
            for &neighbour in world.neighbours(node, now, min_delivery) {
                if neighbour != from && paths.reach(neighbour, first, hops + 1) {
                    queue.push_back(neighbour);
                }
            }
        }
        paths
    }

    /// Records how a node is reached. Returns true if it had not been reached before.
    fn reach(&mut self, node: NodeId, first: NodeId, hops: u32) -> bool {
        let index = node.0 as usize;
        if index >= self.first.len() {
            self.first.resize(index + 1, None);
        }
        let is_new = self.first[index].is_none();
        if is_new {
            self.first[index] = Some((first, hops));
        }
        is_new
    }

    /// Returns the first hop to a node, and the number of hops.
    pub(crate) fn to(&self, node: NodeId) -> Option<(NodeId, u32)> {
        *self.first.get(node.0 as usize)?
    }

    pub(crate) fn routes(&self) -> Vec<Route> {
        let route = |(destination, first): (usize, &Option<(NodeId, u32)>)| {
            let (next_hop, hops) = (*first)?;
            Some(Route { destination: NodeId(destination as u32), next_hop, hops, lifetime: None })
        };
        self.first.iter().enumerate().filter_map(route).collect()
    }

    /// Returns the number of destinations whose routes differ between the two searches.
    pub(crate) fn differences(&self, other: &Self) -> u64 {
        let nodes = self.first.len().max(other.first.len()) as u32;
        (0..nodes).filter(|node| self.to(NodeId(*node)) != other.to(NodeId(*node))).count() as u64
    }
}
