//! A tree of shortest ways from all satellites to one station.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No node.
pub(super) const NONE: u32 = u32::MAX;
/// The station itself, as the next node of a satellite.
pub(super) const GROUND: u32 = u32::MAX - 1;

/// The links of each satellite, and of each station that relays, in compressed sparse rows: the other end, and the number of the
/// link.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    starts: Vec<u32>,
    links: Vec<(u32, u32)>,
}

impl Graph {
    /// A graph of so many nodes with links between these.
    pub(super) fn new(satellites: usize, ends: &[[u32; 2]]) -> Self {
        let mut starts = vec![0_u32; satellites + 1];
        for end in ends.iter().flatten() {
            starts[*end as usize + 1] += 1;
        }
        for satellite in 0..satellites {
            starts[satellite + 1] += starts[satellite];
        }
        let mut free = starts.clone();
        let mut links = vec![(NONE, NONE); 2 * ends.len()];
        for (number, [a, b]) in (0..).zip(ends) {
            for (from, to) in [(*a, *b), (*b, *a)] {
                let place = &mut free[from as usize];
                links[*place as usize] = (to, number);
                *place += 1;
            }
        }
        for satellite in 0..satellites {
            links[starts[satellite] as usize..starts[satellite + 1] as usize].sort_unstable();
        }
        Self { starts, links }
    }

    /// The neighbours of a satellite, in ascending order.
    fn of(&self, satellite: u32) -> &[(u32, u32)] {
        &self.links[self.starts[satellite as usize] as usize..self.starts[satellite as usize + 1] as usize]
    }
}

/// The distances of all satellites from a station, and the next node of each on the way there.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    distances: Vec<u64>,
    next: Vec<u32>,
    /// The satellites in an order in which each comes after the next node of it.
    order: Vec<u32>,
    /// Of each satellite the distance straight to the station.
    straight: Vec<u64>,
}

impl Tree {
    /// A tree without ways.
    pub(super) fn new(satellites: usize) -> Self {
        Self {
            distances: vec![u64::MAX; satellites],
            next: vec![NONE; satellites],
            order: (0..satellites as u32).collect(),
            straight: vec![u64::MAX; satellites],
        }
    }

    /// The next node of each satellite.
    pub(super) fn next(&self) -> &[u32] {
        &self.next
    }

    /// The distance of a satellite from the station, if there is a way.
    pub(super) fn distance(&self, satellite: u32) -> Option<u64> {
        let distance = self.distances[satellite as usize];
        (distance != u64::MAX).then_some(distance)
    }

    /// Makes the tree that holds with these lengths of links, and with these satellites above the station.
    pub(super) fn update(&mut self, graph: &Graph, lengths: &[u64], usable: &[(u32, u64)]) {
        self.straight.fill(u64::MAX);
        for (satellite, length) in usable {
            self.straight[*satellite as usize] = *length;
        }
        self.follow_old_branches(graph, lengths);
        self.shorten(graph, lengths);
        if self.choose_next(graph, lengths) {
            let distances = &self.distances;
            self.order.sort_by_key(|satellite| (distances[*satellite as usize], *satellite));
        }
    }

    /// Upper bounds of all distances: those along the branches until now, and straight down.
    fn follow_old_branches(&mut self, graph: &Graph, lengths: &[u64]) {
        for satellite in &self.order {
            let straight = self.straight[*satellite as usize];
            let along = match self.next[*satellite as usize] {
                NONE | GROUND => u64::MAX,
                next => {
                    let link = graph.of(*satellite).iter().find(|(to, _)| *to == next);
                    let length = link.map_or(u64::MAX, |(_, link)| lengths[*link as usize]);
                    self.distances[next as usize].saturating_add(length)
                }
            };
            self.distances[*satellite as usize] = straight.min(along);
        }
    }

    /// Shortens distances until no link shortens one.
    fn shorten(&mut self, graph: &Graph, lengths: &[u64]) {
        let mut open = BinaryHeap::new();
        for satellite in 0..self.distances.len() as u32 {
            let mut best = self.distances[satellite as usize];
            for (to, link) in graph.of(satellite) {
                best = best.min(self.distances[*to as usize].saturating_add(lengths[*link as usize]));
            }
            if best < self.distances[satellite as usize] {
                self.distances[satellite as usize] = best;
                open.push(Reverse((best, satellite)));
            }
        }
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

    /// Finds the next node of each satellite by the distances. Returns whether one is another than before.
    fn choose_next(&mut self, graph: &Graph, lengths: &[u64]) -> bool {
        let mut changes = false;
        for satellite in 0..self.distances.len() as u32 {
            let distance = self.distances[satellite as usize];
            let next = if distance == u64::MAX {
                NONE
            } else if distance == self.straight[satellite as usize] {
                GROUND
            } else {
                let leads = |(to, link): &&(u32, u32)| {
                    self.distances[*to as usize].saturating_add(lengths[*link as usize]) == distance
                };
                graph.of(satellite).iter().find(leads).map_or(NONE, |(to, _)| *to)
            };
            changes |= self.next[satellite as usize] != next;
            self.next[satellite as usize] = next;
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SATELLITES: u32 = 12;

    proptest! {
        #[test]
        fn a_tree_made_from_another_is_that_of_a_new_search(
            links in prop::collection::btree_set((0..SATELLITES, 0..SATELLITES), 1..40),
            epochs in prop::collection::vec(
                (prop::collection::vec(prop::option::weighted(0.9, 1_u64..30), 40), prop::collection::vec((0..SATELLITES, 1_u64..30), 0..5)),
                1..6,
            ),
        ) {
            let ends: Vec<[u32; 2]> = links.iter().filter(|(a, b)| a < b).map(|(a, b)| [*a, *b]).collect();
            let graph = Graph::new(SATELLITES as usize, &ends);
            let mut warm = Tree::new(SATELLITES as usize);
            for (lengths, mut usable) in epochs {
                let lengths: Vec<u64> = lengths.into_iter().map(|length| length.unwrap_or(u64::MAX)).collect();
                usable.sort_unstable();
                usable.dedup_by_key(|(satellite, _)| *satellite);
                warm.update(&graph, &lengths, &usable);
                let mut cold = Tree::new(SATELLITES as usize);
                cold.update(&graph, &lengths, &usable);
                prop_assert_eq!(&warm.distances, &cold.distances);
                prop_assert_eq!(&warm.next, &cold.next);
                // Bellman and Ford.
                let mut expected = cold.straight.clone();
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
