//! Routes through a constellation. They depend on the exit of a destination, not on the destination itself.
//!
//! Thousands of satellites carry packets to a few ground stations. A satellite stores a next link for each of these
//! exits, so a table of 1,584 satellites and 100 exits has 158,400 entries, instead of millions if there were one for
//! each node of the network. Entries change one at a time.

use super::{LinkId, NONE, RouteTable, Row};
use crate::NodeId;
use std::sync::Arc;

/// Next links of all satellites, by exit.
#[derive(Clone, Debug)]
pub(super) struct Aloft {
    /// Exit index of each destination; `NONE` for a destination that is not reached through the constellation.
    exits: Arc<[u32]>,
    /// Number of exits.
    many: usize,
    /// Next links: one row per satellite, with a column for each exit.
    next: Box<[u32]>,
}

impl Aloft {
    #[inline]
    pub(super) fn next(&self, row: u32, destination: NodeId) -> u32 {
        match self.exits[destination.0 as usize] {
            NONE => NONE,
            exit => self.next[row as usize * self.many + exit as usize],
        }
    }
}

impl RouteTable {
    /// Returns the table with routes by exit for `satellites`, all of them unset. `exits` has the exit index of each
    /// destination, which is below `many`, or [`NO_EXIT`](crate::NO_EXIT).
    ///
    /// # Panics
    /// If an exit index is not below `many`.
    #[must_use]
    pub fn with_satellites(mut self, satellites: &[NodeId], exits: Arc<[u32]>, many: usize) -> Self {
        assert!(exits.iter().all(|exit| *exit == NONE || (*exit as usize) < many), "exits have numbers below {many}");
        let rows = Arc::make_mut(&mut self.rows);
        for (row, satellite) in (0..).zip(satellites) {
            rows[satellite.0 as usize] = Row::Aloft(row);
        }
        let next = vec![NONE; satellites.len() * many].into();
        self.aloft = Some(Box::new(Aloft { exits, many, next }));
        self
    }

    /// Sets the link from a satellite towards an exit, or clears it. Returns the previous link.
    pub fn turn(&mut self, satellite: NodeId, exit: usize, link: Option<LinkId>) -> Option<LinkId> {
        let (Row::Aloft(row), Some(aloft)) = (&self.rows[satellite.0 as usize], &mut self.aloft) else { return None };
        let place = &mut aloft.next[*row as usize * aloft.many + exit];
        let before = std::mem::replace(place, link.map_or(NONE, |link| link.0));
        (before != NONE).then_some(LinkId(before))
    }

    /// Returns the exit of a destination.
    pub fn exit(&self, destination: NodeId) -> Option<usize> {
        let exit = self.aloft.as_ref()?.exits[destination.0 as usize];
        (exit != NONE).then_some(exit as usize)
    }

    /// Returns the table with all edge indices from `index` on increased by `by`, which leaves indices for other links.
    #[must_use]
    pub fn with_gap(mut self, index: usize, by: usize) -> Self {
        let moved = |link: u32| if link != NONE && link as usize >= index { link + by as u32 } else { link };
        for row in Arc::make_mut(&mut self.rows) {
            *row = match row {
                Row::Single(link) => Row::Single(moved(*link)),
                Row::ByDestination(links) => {
                    Row::ByDestination(Arc::new(links.iter().map(|link| moved(*link)).collect()))
                }
                Row::Aloft(row) => Row::Aloft(*row),
            };
        }
        let (before, after) = self.heads.split_at(index);
        self.heads = before.iter().copied().chain((0..by).map(|_| NodeId(NONE))).chain(after.iter().copied()).collect();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edge, NO_EXIT};
    use lightlag_core::Duration;

    /// Returns a table where nodes 0 and 1 are on the ground, 2 and 3 are satellites, and 4 is the constellation.
    fn table() -> RouteTable {
        let edge = |from, to| Edge { from: NodeId(from), to: NodeId(to), delay: Duration::from_millis(10) };
        let edges = [edge(0, 4), edge(1, 4), edge(4, 0), edge(4, 1)];
        let exits = [0, 1, NO_EXIT, NO_EXIT, NO_EXIT];
        RouteTable::shortest(5, &edges).with_links(2).with_gap(2, 3).with_satellites(
            &[NodeId(2), NodeId(3)],
            exits.into(),
            2,
        )
    }

    #[test]
    fn satellites_send_by_exit() {
        let mut table = table();
        assert_eq!(table.next(NodeId(2), NodeId(1)), None);
        assert_eq!(table.turn(NodeId(2), 1, Some(LinkId(3))), None);
        assert_eq!(table.next(NodeId(2), NodeId(1)), Some(LinkId(3).into()));
        assert_eq!(table.next(NodeId(3), NodeId(1)), None);
        assert_eq!(table.next(NodeId(2), NodeId(3)), None, "no packet has a satellite as its destination");
        assert_eq!(table.turn(NodeId(2), 1, None), Some(LinkId(3)));
        assert_eq!((table.exit(NodeId(1)), table.exit(NodeId(2))), (Some(1), None));
    }

    #[test]
    fn the_ground_sends_to_a_satellite_and_satellites_choose_the_next_hop() {
        let table = table();
        assert_eq!(table.next(NodeId(0), NodeId(1)), Some(LinkId(0).into()));
        assert_eq!(table.next(NodeId(1), NodeId(0)), Some(LinkId(1).into()));
        assert_eq!(table.next(NodeId(4), NodeId(1)), Some(LinkId(6).into()), "after the gap");
        assert_eq!(table.neighbour(NodeId(4), NodeId(1)), Some(NodeId(1)));
        assert!(table.reaches(NodeId(0), NodeId(1)));
        assert_eq!(table.path(NodeId(0), NodeId(1)), None, "terrestrial links alone do not reach it");
    }
}
