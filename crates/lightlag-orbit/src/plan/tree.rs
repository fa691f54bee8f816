//! A tree of shortest ways from all satellites to one station.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The number of a node in tables: there are many of those.
pub(super) type Number = u16;
/// The length of a link or a way, in units of the planner; [`Length::MAX`] where there is none.
pub(super) type Length = u32;
/// No node.
pub(super) const NONE: Number = Number::MAX;
/// The station itself, as the next node of a satellite.
pub(super) const GROUND: Number = Number::MAX - 1;
/// The most satellites and stations.
pub const MOST_NODES: usize = GROUND as usize;

/// The links of each satellite, and of each station that relays, in compressed sparse rows: the other end, and the number of the
/// link.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    starts: Vec<u32>,
    links: Vec<(Number, u32)>,
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
        let mut links = vec![(NONE, 0_u32); 2 * ends.len()];
        for (number, [a, b]) in (0..).zip(ends) {
            for (from, to) in [(*a, *b), (*b, *a)] {
                let place = &mut free[from as usize];
                links[*place as usize] = (to as Number, number);
                *place += 1;
            }
        }
        for satellite in 0..satellites {
            links[starts[satellite] as usize..starts[satellite + 1] as usize].sort_unstable();
        }
        Self { starts, links }
    }

    /// The neighbours of a satellite, in ascending order.
    fn of(&self, satellite: Number) -> &[(Number, u32)] {
        &self.links[self.starts[satellite as usize] as usize..self.starts[satellite as usize + 1] as usize]
    }
}

/// The distances of all satellites from a station, and the next node of each on the way there.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    distances: Vec<Length>,
    next: Vec<Number>,
    /// The satellites in an order in which each comes after the next node of it.
    order: Vec<Number>,
}

impl Tree {
    /// A tree without ways.
    pub(super) fn new(satellites: usize) -> Self {
        Self {
            distances: vec![Length::MAX; satellites],
            next: vec![NONE; satellites],
            order: (0..satellites as Number).collect(),
        }
    }

    /// The next node of each satellite.
    pub(super) fn next(&self) -> &[Number] {
        &self.next
    }

    /// The distance of a satellite from the station, if there is a way.
    pub(super) fn distance(&self, satellite: u32) -> Option<Length> {
        let distance = self.distances[satellite as usize];
        (distance != Length::MAX).then_some(distance)
    }

    /// Makes the tree that holds with these lengths of links, and with these satellites above the station. `straight` is room for
    /// the distance of each satellite straight to the station. Returns false only if each next node is the one before.
    pub(super) fn update(
        &mut self,
        graph: &Graph,
        lengths: &[Length],
        usable: &[(u32, Length)],
        straight: &mut Vec<Length>,
    ) -> bool {
        straight.clear();
        straight.resize(self.distances.len(), Length::MAX);
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

    /// Makes the tree with these next nodes. Returns false only if each is the one before.
    ///
    /// # Errors
    /// The reason why they make no tree: a link that is not there or is down, or a circle.
    pub(super) fn follow(
        &mut self,
        graph: &Graph,
        lengths: &[Length],
        usable: &[(u32, Length)],
        next: &[Number],
    ) -> Result<bool, Crooked> {
        let mut distances = vec![None; next.len()];
        for start in 0..next.len() {
            let (mut way, mut at) = (Vec::new(), start);
            // Up to a satellite whose distance is known: one before that is on its way now.
            while distances[at].is_none() {
                distances[at] = Some(ON_THE_WAY);
                let (from, to) = (at as Number, next[at]);
                let length = match to {
                    NONE => None,
                    GROUND => usable.iter().find(|(satellite, _)| *satellite as usize == at).map(|(_, length)| *length),
                    to => {
                        let link = graph.of(from).iter().find(|(neighbour, _)| *neighbour == to);
                        link.map(|(_, link)| lengths[*link as usize]).filter(|length| *length != Length::MAX)
                    }
                };
                match (to, length) {
                    (NONE, _) => distances[at] = Some(Length::MAX),
                    (GROUND, Some(length)) => distances[at] = Some(length),
                    (_, None) => return Err(Crooked::NoLink(from, to)),
                    (to, Some(length)) => {
                        way.push((at, length));
                        at = to as usize;
                    }
                }
            }
            if distances[at] == Some(ON_THE_WAY) {
                return Err(Crooked::Circle(at as Number, next[at]));
            }
            let mut rest = distances[at].unwrap_or(Length::MAX);
            for (at, length) in way.into_iter().rev() {
                rest = rest.saturating_add(length);
                distances[at] = Some(rest);
            }
        }
        let changes = self.next != next;
        self.next.copy_from_slice(next);
        self.distances = distances.into_iter().map(|distance| distance.unwrap_or(Length::MAX)).collect();
        Ok(changes)
    }

    /// Upper bounds of all distances: those along the branches until now, and straight down.
    fn follow_old_branches(&mut self, graph: &Graph, lengths: &[Length], straight: &[Length]) {
        for satellite in &self.order {
            let straight = straight[*satellite as usize];
            let along = match self.next[*satellite as usize] {
                NONE | GROUND => Length::MAX,
                next => {
                    let link = graph.of(*satellite).iter().find(|(to, _)| *to == next);
                    let length = link.map_or(Length::MAX, |(_, link)| lengths[*link as usize]);
                    self.distances[next as usize].saturating_add(length)
                }
            };
            self.distances[*satellite as usize] = straight.min(along);
        }
    }

    /// Looks at each satellite's links once: shortens its distance where one of them does, and finds the next node. Satellites whose
    /// distances became shorter are `open`; where there is none, all next nodes are final. Returns whether one changed.
    fn relax(&mut self, graph: &Graph, lengths: &[Length], straight: &[Length], open: &mut Open) -> bool {
        let mut changes = false;
        for (satellite, straight) in (0..).zip(straight) {
            let (mut best, mut next) = (Length::MAX, NONE);
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
            } else if *distance != Length::MAX && distance == straight {
                next = GROUND;
            }
            changes |= self.next[satellite as usize] != next;
            self.next[satellite as usize] = next;
        }
        changes
    }

    /// Shortens distances, from those of open satellites on, until no link shortens one.
    fn repair(&mut self, graph: &Graph, lengths: &[Length], open: &mut Open) {
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

/// A distance that is being added up.
const ON_THE_WAY: Length = Length::MAX - 1;

/// The reason why next nodes make no tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Crooked {
    /// One sends to another, or to the ground, where no link leads now.
    NoLink(Number, Number),
    /// Ways lead in a circle, on which one sends to another.
    Circle(Number, Number),
}

/// Satellites whose distances became shorter, the nearest first.
type Open = BinaryHeap<Reverse<(Length, Number)>>;

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
                (prop::collection::vec(prop::option::weighted(0.9, 1_u32..30), 40), prop::collection::vec((0..SATELLITES, 1_u32..30), 0..5)),
                1..6,
            ),
        ) {
            let ends: Vec<[u32; 2]> = links.iter().filter(|(a, b)| a < b).map(|(a, b)| [*a, *b]).collect();
            let graph = Graph::new(SATELLITES as usize, &ends);
            let mut warm = Tree::new(SATELLITES as usize);
            for (lengths, mut usable) in epochs {
                let lengths: Vec<Length> = lengths.into_iter().map(|length| length.unwrap_or(Length::MAX)).collect();
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
