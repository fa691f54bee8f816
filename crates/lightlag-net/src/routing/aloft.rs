//! Routes through a sky: by the exit of a destination, not by the destination.
//!
//! Thousands of satellites carry packets to a few ground stations. A satellite keeps a next link for each of these exits, so
//! a table of 1,584 satellites and 100 exits has 158,400 entries, where one for each node of the network would have millions.
//! The entries change one by one.

use super::{LinkId, NONE, RouteTable, Row};
use crate::NodeId;
use std::sync::Arc;

/// The next links of satellites.
#[derive(Clone, Debug)]
pub(super) struct Aloft {
    /// By destination, the number of its exit; `NONE` for what is not reached through the sky.
    exits: Arc<[u32]>,
    /// Number of exits.
    many: usize,
    /// Row by row, for each exit.
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
    /// The same table, in which `satellites` send by exit, on no link yet. `exits` has the number of the exit of every
    /// destination, below `many`, or [`NO_EXIT`](crate::NO_EXIT).
    ///
    /// # Panics
    /// If the number of an exit is not below `many`.
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

    /// Lets a satellite send on another link, or on none, towards an exit. Returns the link until now.
    pub fn turn(&mut self, satellite: NodeId, exit: usize, link: Option<LinkId>) -> Option<LinkId> {
        let (Row::Aloft(row), Some(aloft)) = (&self.rows[satellite.0 as usize], &mut self.aloft) else { return None };
        let place = &mut aloft.next[*row as usize * aloft.many + exit];
        let before = std::mem::replace(place, link.map_or(NONE, |link| link.0));
        (before != NONE).then_some(LinkId(before))
    }

    /// The number of the exit of a destination.
    pub fn exit(&self, destination: NodeId) -> Option<usize> {
        let exit = self.aloft.as_ref()?.exits[destination.0 as usize];
        (exit != NONE).then_some(exit as usize)
    }

    /// The same table, where the edges from number `at` on have numbers that are larger by `by`: links that are no edges
    /// stand between.
    #[must_use]
    pub fn with_gap(mut self, at: usize, by: usize) -> Self {
        let moved = |link: u32| if link != NONE && link as usize >= at { link + by as u32 } else { link };
        for row in Arc::make_mut(&mut self.rows) {
            *row = match row {
                Row::Single(link) => Row::Single(moved(*link)),
                Row::ByDestination(links) => {
                    Row::ByDestination(Arc::new(links.iter().map(|link| moved(*link)).collect()))
                }
                Row::Aloft(row) => Row::Aloft(*row),
            };
        }
        let (before, after) = self.heads.split_at(at);
        self.heads = before.iter().copied().chain((0..by).map(|_| NodeId(NONE))).chain(after.iter().copied()).collect();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edge, NO_EXIT};
    use lightlag_core::Duration;

    /// Nodes 0 and 1 are on the ground, 2 and 3 in the sky, 4 is the sky.
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
        assert_eq!(table.next(NodeId(2), NodeId(3)), None, "nobody sends to a satellite");
        assert_eq!(table.turn(NodeId(2), 1, None), Some(LinkId(3)));
        assert_eq!((table.exit(NodeId(1)), table.exit(NodeId(2))), (Some(1), None));
    }

    #[test]
    fn the_ground_sends_to_the_sky_and_the_sky_knows_who_is_next() {
        let table = table();
        assert_eq!(table.next(NodeId(0), NodeId(1)), Some(LinkId(0).into()));
        assert_eq!(table.next(NodeId(1), NodeId(0)), Some(LinkId(1).into()));
        assert_eq!(table.next(NodeId(4), NodeId(1)), Some(LinkId(6).into()), "behind the gap");
        assert_eq!(table.neighbour(NodeId(4), NodeId(1)), Some(NodeId(1)));
        assert!(table.reaches(NodeId(0), NodeId(1)));
        assert_eq!(table.path(NodeId(0), NodeId(1)), None, "links alone do not lead there");
    }
}
