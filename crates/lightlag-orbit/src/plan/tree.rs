//! A tree of shortest paths from all satellites to one station.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Index of a node in tables. It has 16 bits, because the tables are large.
pub(super) type NodeIndex = u16;
/// The length of a link or a path in the planner's units; [`PathLength::MAX`] if there is none.
pub(super) type PathLength = u32;
/// The index that stands for no node.
pub(super) const NONE: NodeIndex = NodeIndex::MAX;
/// The index that stands for the station itself, as the next hop of a satellite.
pub(super) const GROUND: NodeIndex = NodeIndex::MAX - 1;
/// Maximum total number of satellites and stations.
pub const MOST_NODES: usize = GROUND as usize;

/// The links of each satellite and of each relay station, in compressed sparse rows of pairs: the other end, and the
/// index of the link.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    starts: Vec<u32>,
    links: Vec<(NodeIndex, u32)>,
}

impl Graph {
    /// Creates a graph with this number of satellites. `ends` contains the endpoints of each link.
    pub(super) fn new(satellites: usize, ends: &[[u32; 2]]) -> Self {
        let mut starts = vec![0_u32; satellites + 1];
        for end in ends.iter().flatten() {
            starts[*end as usize + 1] += 1;
        }
        for satellite in 0..satellites {
            starts[satellite + 1] += starts[satellite];
        }
        let mut free = starts.clone();
        let mut links = vec![(NONE, 0_u32); 2 * ends.len()];
        for (number, [a, b]) in (0..).zip(ends) {
            for (from, to) in [(*a, *b), (*b, *a)] {
                let slot = &mut free[from as usize];
                links[*slot as usize] = (to as NodeIndex, number);
                *slot += 1;
            }
        }
        for satellite in 0..satellites {
            links[starts[satellite] as usize..starts[satellite + 1] as usize].sort_unstable();
        }
        Self { starts, links }
    }

    /// Returns the neighbours of a satellite, in ascending order.
    fn of(&self, satellite: NodeIndex) -> &[(NodeIndex, u32)] {
        &self.links[self.starts[satellite as usize] as usize..self.starts[satellite as usize + 1] as usize]
    }
}

/// The distances of all satellites from a station, and the next hop of each satellite towards it.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    distances: Vec<PathLength>,
    next: Vec<NodeIndex>,
    /// The satellites in an order in which each one comes after its next hop.
    order: Vec<NodeIndex>,
}

impl Tree {
    /// Creates a tree without paths.
    pub(super) fn new(satellites: usize) -> Self {
        Self {
            distances: vec![PathLength::MAX; satellites],
            next: vec![NONE; satellites],
            order: (0..satellites as NodeIndex).collect(),
        }
    }

    /// Returns the next hop of each satellite.
    pub(super) fn next(&self) -> &[NodeIndex] {
        &self.next
    }

    /// Returns the distance from a satellite to the station; `None` if there is no path.
    pub(super) fn distance(&self, satellite: u32) -> Option<PathLength> {
        let distance = self.distances[satellite as usize];
        (distance != PathLength::MAX).then_some(distance)
    }

    /// Updates the tree to these link lengths and to these satellites above the station. `straight` is a buffer for the
    /// direct distance from each satellite to the station. Returns false only if no next hop has changed.
    pub(super) fn update(
        &mut self,
        graph: &Graph,
        lengths: &[PathLength],
        usable: &[(u32, PathLength)],
        straight: &mut Vec<PathLength>,
    ) -> bool {
        straight.clear();
        straight.resize(self.distances.len(), PathLength::MAX);
        for (satellite, length) in usable {
            straight[*satellite as usize] = *length;
        }
        self.follow_old_branches(graph, lengths, straight);
        let mut open = BinaryHeap::new();
        let mut changes = self.relax(graph, lengths, straight, &mut open);
        if !open.is_empty() {
            self.repair(graph, lengths, &mut open);
            changes |= self.relax(graph, lengths, straight, &mut open);
        }
        if changes {
            let distances = &self.distances;
            self.order.sort_by_key(|satellite| (distances[*satellite as usize], *satellite));
        }
        changes
    }

    /// Sets the tree to these next hops. Returns false only if no next hop has changed.
    ///
    /// # Errors
    /// The reason why the next hops do not form a tree: a link that is missing or down, or a routing loop.
    pub(super) fn follow(
        &mut self,
        graph: &Graph,
        lengths: &[PathLength],
        usable: &[(u32, PathLength)],
        next: &[NodeIndex],
    ) -> Result<bool, Crooked> {
        let mut distances = vec![None; next.len()];
        for start in 0..next.len() {
            let (mut way, mut node) = (Vec::new(), start);
            // Up to a satellite whose distance is known: an earlier one is now on its path.
            while distances[node].is_none() {
                distances[node] = Some(ON_THE_WAY);
                let (from, to) = (node as NodeIndex, next[node]);
                let length = match to {
                    NONE => None,
                    GROUND => {
                        usable.iter().find(|(satellite, _)| *satellite as usize == node).map(|(_, length)| *length)
                    }
                    to => {
                        let link = graph.of(from).iter().find(|(neighbour, _)| *neighbour == to);
                        link.map(|(_, link)| lengths[*link as usize]).filter(|length| *length != PathLength::MAX)
                    }
                };
                match (to, length) {
                    (NONE, _) => distances[node] = Some(PathLength::MAX),
                    (GROUND, Some(length)) => distances[node] = Some(length),
                    (_, None) => return Err(Crooked::NoLink(from, to)),
                    (to, Some(length)) => {
                        way.push((node, length));
                        node = to as usize;
                    }
                }
            }
            if distances[node] == Some(ON_THE_WAY) {
                return Err(Crooked::Circle(node as NodeIndex, next[node]));
            }
            let mut rest = distances[node].unwrap_or(PathLength::MAX);
            for (hop, length) in way.into_iter().rev() {
                rest = rest.saturating_add(length);
                distances[hop] = Some(rest);
            }
        }
        let changes = self.next != next;
        self.next.copy_from_slice(next);
        self.distances = distances.into_iter().map(|distance| distance.unwrap_or(PathLength::MAX)).collect();
        Ok(changes)
    }

    /// Sets each distance to an upper bound: the length along the old branch or the direct distance to the station,
    /// whichever is shorter.
    fn follow_old_branches(&mut self, graph: &Graph, lengths: &[PathLength], straight: &[PathLength]) {
        for satellite in &self.order {
            let straight = straight[*satellite as usize];
            let along = match self.next[*satellite as usize] {
                NONE | GROUND => PathLength::MAX,
                next => {
                    let link = graph.of(*satellite).iter().find(|(to, _)| *to == next);
                    let length = link.map_or(PathLength::MAX, |(_, link)| lengths[*link as usize]);
                    self.distances[next as usize].saturating_add(length)
                }
            };
            self.distances[*satellite as usize] = straight.min(along);
        }
    }

    /// Checks the links of each satellite once: shortens its distance if a link allows it, and determines its next hop.
    /// Satellites whose distances became shorter are added to `open`; if there are none, all next hops are final.
    /// Returns true if a next hop has changed.
    fn relax(&mut self, graph: &Graph, lengths: &[PathLength], straight: &[PathLength], open: &mut Open) -> bool {
        let mut changes = false;
        for (satellite, straight) in (0..).zip(straight) {
            let (mut best, mut next) = (PathLength::MAX, NONE);
            for (to, link) in graph.of(satellite) {
                let way = self.distances[*to as usize].saturating_add(lengths[*link as usize]);
                if way < best {
                    (best, next) = (way, *to);
                }
            }
            let distance = &mut self.distances[satellite as usize];
            if best < *distance {
                *distance = best;
                open.push(Reverse((best, satellite)));
            } else if *distance != PathLength::MAX && distance == straight {
                next = GROUND;
            }
            changes |= self.next[satellite as usize] != next;
            self.next[satellite as usize] = next;
        }
        changes
    }

    /// Shortens distances, starting at the open satellites, until no link shortens any distance.
    fn repair(&mut self, graph: &Graph, lengths: &[PathLength], open: &mut Open) {
        while let Some(Reverse((distance, satellite))) = open.pop() {
            if distance > self.distances[satellite as usize] {
                continue;
            }
            for (to, link) in graph.of(satellite) {
                let way = distance.saturating_add(lengths[*link as usize]);
                if way < self.distances[*to as usize] {
                    self.distances[*to as usize] = way;
                    open.push(Reverse((way, *to)));
                }
            }
        }
    }
}

/// Marks a distance that is still being calculated.
const ON_THE_WAY: PathLength = PathLength::MAX - 1;

/// The reason why next hops do not form a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Crooked {
    /// The first node sends to the second, or to the ground, but there is no such link now.
    NoLink(NodeIndex, NodeIndex),
    /// The paths contain a routing loop, in which the first node sends to the second.
    Circle(NodeIndex, NodeIndex),
}

/// Queue of satellites whose distances became shorter, nearest first.
type Open = BinaryHeap<Reverse<(PathLength, NodeIndex)>>;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SATELLITES: u32 = 12;

    proptest! {
        #[test]
        fn a_tree_derived_from_another_matches_a_new_search(
            links in prop::collection::btree_set((0..SATELLITES, 0..SATELLITES), 1..40),
            epochs in prop::collection::vec(
                (prop::collection::vec(prop::option::weighted(0.9, 1_u32..30), 40), prop::collection::vec((0..SATELLITES, 1_u32..30), 0..5)),
                1..6,
            ),
        ) {
            let ends: Vec<[u32; 2]> = links.iter().filter(|(a, b)| a < b).map(|(a, b)| [*a, *b]).collect();
            let graph = Graph::new(SATELLITES as usize, &ends);
            let mut warm = Tree::new(SATELLITES as usize);
            for (lengths, mut usable) in epochs {
                let lengths: Vec<PathLength> = lengths.into_iter().map(|length| length.unwrap_or(PathLength::MAX)).collect();
                usable.sort_unstable();
                usable.dedup_by_key(|(satellite, _)| *satellite);
                let mut straight = Vec::new();
                warm.update(&graph, &lengths, &usable, &mut straight);
                let mut cold = Tree::new(SATELLITES as usize);
                cold.update(&graph, &lengths, &usable, &mut straight);
                prop_assert_eq!(&warm.distances, &cold.distances);
                prop_assert_eq!(&warm.next, &cold.next);
                // Bellman and Ford.
                let mut expected = straight;
                for _ in 0..SATELLITES {
                    for (ends, length) in ends.iter().zip(&lengths) {
                        let [a, b] = ends.map(|end| end as usize);
                        expected[a] = expected[a].min(expected[b].saturating_add(*length));
                        expected[b] = expected[b].min(expected[a].saturating_add(*length));
                    }
                }
                prop_assert_eq!(&warm.distances, &expected);
            }
        }
    }
}
