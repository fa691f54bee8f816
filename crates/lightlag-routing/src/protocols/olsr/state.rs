//! The information sets of an OLSR node (RFC 3626 §4).

use super::config::{ALWAYS, NEVER};
use lightlag_core::Instant;
use lightlag_net::NodeId;
use std::collections::{BTreeMap, BTreeSet};

/// A link to a neighbour, and the neighbour (RFC 3626 §4.2.1 and §4.3.1: with one interface they are the same).
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// Time until which the link is symmetric; `None` if it is not.
    pub symmetric: Option<Instant>,
    /// Time until which the neighbour counts as received.
    pub asymmetric: Instant,
    /// Time when the link is removed.
    pub expires: Instant,
    pub willingness: u8,
}

impl Link {
    pub(super) fn is_symmetric(&self, now: Instant) -> bool {
        self.symmetric.is_some_and(|end| end > now)
    }
}

/// The last TC of a relay: the nodes that chose it as a relay.
#[derive(Clone, Debug)]
pub(super) struct Topology {
    pub sequence: u16,
    pub neighbours: Vec<NodeId>,
    pub expires: Instant,
}

/// The information sets; each member has the time when it is removed.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub links: BTreeMap<NodeId, Link>,
    /// Pairs of a symmetric neighbour and one of its symmetric neighbours.
    pub two_hop: BTreeMap<(NodeId, NodeId), Instant>,
    /// The neighbours chosen as relays.
    pub relays: BTreeSet<NodeId>,
    /// The neighbours that chose this node.
    pub selectors: BTreeMap<NodeId, Instant>,
    /// Topology entries, indexed by the node that sent the report.
    pub topology: BTreeMap<NodeId, Topology>,
    /// Messages already received, by originator and sequence number.
    pub duplicates: BTreeMap<(NodeId, u16), Instant>,
    /// A time that is not later than the first expiry of an entry.
    check: Option<Instant>,
}

/// The sets that have changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Changed {
    /// Neighbours or two-hop neighbours changed.
    pub neighbours: bool,
    pub selectors: bool,
    pub topology: bool,
}

impl State {
    /// Records the expiry time of a new entry.
    pub(super) fn note(&mut self, end: Instant) {
        self.check = Some(self.check.map_or(end, |check| check.min(end)));
    }

    /// Returns a time that is not later than the first expiry of an entry.
    pub(super) fn next(&self) -> Option<Instant> {
        self.check
    }

    /// Returns the neighbours with symmetric links.
    pub(super) fn symmetric(&self, now: Instant) -> impl Iterator<Item = (NodeId, &Link)> {
        self.links.iter().filter(move |(_, link)| link.is_symmetric(now)).map(|(node, link)| (*node, link))
    }

    pub(super) fn is_symmetric(&self, now: Instant, node: NodeId) -> bool {
        self.links.get(&node).is_some_and(|link| link.is_symmetric(now))
    }

    /// Removes the entries that have expired. An entry whose time is reached has expired.
    pub(super) fn expire(&mut self, now: Instant, changed: &mut Changed) {
        if self.check.is_none_or(|check| check > now) {
            return;
        }
        let is_over = |link: &Link| link.symmetric.is_some_and(|end| end <= now);
        let lost: Vec<NodeId> = self.links.iter().filter(|(_, link)| is_over(link)).map(|(node, _)| *node).collect();
        lost.into_iter().for_each(|node| self.lose(node, changed));
        let before = (self.two_hop.len(), self.selectors.len(), self.topology.len());
        self.links.retain(|_, link| link.expires > now);
        self.two_hop.retain(|_, end| *end > now);
        self.selectors.retain(|_, end| *end > now);
        self.topology.retain(|_, report| report.expires > now);
        self.duplicates.retain(|_, end| *end > now);
        changed.neighbours |= self.two_hop.len() != before.0;
        changed.selectors |= self.selectors.len() != before.1;
        changed.topology |= self.topology.len() != before.2;
        let ends =
            self.links.values().flat_map(|link| [link.symmetric, Some(link.asymmetric), Some(link.expires)]).flatten();
        let others = self.two_hop.values().chain(self.selectors.values()).chain(self.duplicates.values()).copied();
        let topology = self.topology.values().map(|report| report.expires);
        self.check = ends.chain(others).chain(topology).filter(|end| *end > now).min();
    }

    /// Handles a link that is no longer symmetric: removes the neighbour's two-hop neighbours, and the neighbour as a
    /// selector (RFC 3626 §8.5).
    pub(super) fn lose(&mut self, neighbour: NodeId, changed: &mut Changed) {
        if let Some(link) = self.links.get_mut(&neighbour) {
            link.symmetric = None;
        }
        self.two_hop.retain(|(via, _), _| *via != neighbour);
        changed.selectors |= self.selectors.remove(&neighbour).is_some();
        changed.neighbours = true;
    }

    /// Chooses the relays (RFC 3626 §8.3.1).
    pub(super) fn choose_relays(&mut self, now: Instant, own: NodeId) {
        let willing: BTreeMap<NodeId, u8> = self
            .symmetric(now)
            .filter(|(_, link)| link.willingness != NEVER)
            .map(|(node, link)| (node, link.willingness))
            .collect();
        // N2, with the neighbours through which each is reached.
        let mut targets: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for &(via, target) in self.two_hop.keys() {
            if target != own && willing.contains_key(&via) && !self.is_symmetric(now, target) {
                targets.entry(target).or_default().push(via);
            }
        }
        self.relays = relays(&willing, targets);
    }
}

/// Returns relays that together reach all targets, chosen from the neighbours by their willingness. Each target has the
/// list of neighbours that reach it, in ascending order.
fn relays(willing: &BTreeMap<NodeId, u8>, mut targets: BTreeMap<NodeId, Vec<NodeId>>) -> BTreeSet<NodeId> {
    let mut degrees: BTreeMap<NodeId, usize> = BTreeMap::new();
    targets.values().flatten().for_each(|via| *degrees.entry(*via).or_default() += 1);
    let mut chosen: BTreeSet<NodeId> =
        willing.iter().filter(|(_, willingness)| **willingness == ALWAYS).map(|(node, _)| *node).collect();
    chosen.extend(targets.values().filter(|vias| vias.len() == 1).map(|vias| vias[0]));
    loop {
        targets.retain(|_, vias| !vias.iter().any(|via| chosen.contains(via)));
        let mut reached: BTreeMap<NodeId, usize> = BTreeMap::new();
        targets.values().flatten().for_each(|via| *reached.entry(*via).or_default() += 1);
        let best = reached.iter().max_by_key(|(node, reached)| {
            // Among equals the lowest number.
            (willing[node], **reached, degrees[node], std::cmp::Reverse(**node))
        });
        let Some((best, _)) = best else { return chosen };
        chosen.insert(*best);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nodes(list: &[u32]) -> Vec<NodeId> {
        list.iter().copied().map(NodeId).collect()
    }

    #[test]
    fn sole_paths_come_first_and_then_the_greatest_reach() {
        let willing = [(1, 3), (2, 3), (3, 3), (4, 3)].map(|(node, will)| (NodeId(node), will)).into();
        // 10 only through 1. That covers 11 as well. For the rest, 3 reaches three, 2 and 4 two each.
        let targets = [
            (10, nodes(&[1])),
            (11, nodes(&[1, 2])),
            (12, nodes(&[2, 3])),
            (13, nodes(&[3, 4])),
            (14, nodes(&[2, 3])),
            (15, nodes(&[2, 4])),
        ];
        let targets = targets.map(|(node, vias)| (NodeId(node), vias)).into();
        // After 1: 2 reaches 12, 14, 15; 3 reaches 12, 13, 14; 4 reaches 13, 15. 2 has a higher degree than 3: 4 to 3.
        assert_eq!(relays(&willing, targets), nodes(&[1, 2, 3]).into_iter().collect());
    }

    #[test]
    fn the_willing_are_chosen_first() {
        let willing = [(1, 3), (2, 6), (3, 7)].map(|(node, will)| (NodeId(node), will)).into();
        let targets = [(10, nodes(&[1, 2])), (11, nodes(&[1, 2])), (12, nodes(&[1, 2]))];
        let targets = targets.map(|(node, vias)| (NodeId(node), vias)).into();
        assert_eq!(relays(&willing, targets), nodes(&[2, 3]).into_iter().collect());
    }

    proptest! {
        #[test]
        fn every_target_is_covered_and_no_chosen_node_is_unwilling(
            pairs in proptest::collection::btree_set((0u32..12, 100u32..140), 0..120),
            wills in proptest::collection::vec(1u8..8, 12),
        ) {
            let willing: BTreeMap<NodeId, u8> =
                wills.into_iter().enumerate().map(|(node, will)| (NodeId(node as u32), will)).collect();
            let mut targets: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
            for (via, target) in &pairs {
                targets.entry(NodeId(*target)).or_default().push(NodeId(*via));
            }
            let chosen = relays(&willing, targets.clone());
            prop_assert!(targets.values().all(|vias| vias.iter().any(|via| chosen.contains(via))));
            prop_assert!(chosen.iter().all(|node| willing.contains_key(node)));
        }
    }
}
