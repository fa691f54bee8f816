//! Routes that adapt to changes of links: one table for each interval between two changes.
//!
//! The nodes at both ends of a link that changes apply the change immediately, and every other node after the
//! convergence time; until then their tables are inconsistent, and packets may loop. A node that has lost its path to a
//! destination retains its previous route, so its packets encounter the outage at the same link as before.

use super::{Edge, Graph, InterfaceId, LinkId, NONE, PackedExit, RouteTable, Row, delays};
use crate::NodeId;
use lightlag_core::{Duration, Instant};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// All route tables of a run.
#[derive(Clone, Debug)]
pub struct Routes {
    first: RouteTable,
    epochs: Arc<[Epoch]>,
}

/// A change of the routes of some nodes at a point in time.
#[derive(Clone, Debug)]
pub struct Epoch {
    /// Start of the epoch.
    pub from: Instant,
    rows: Vec<(NodeId, Row)>,
}

/// A change of a link direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LinkChange {
    /// Time of the change.
    pub at: Instant,
    /// Link direction that changes.
    pub link: LinkId,
    /// New propagation delay; `None` while the link is down.
    pub delay: Option<Duration>,
}

impl Epoch {
    /// Returns the nodes whose routes change in this epoch.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.rows.iter().map(|(node, _)| *node)
    }
}

impl RouteTable {
    /// Applies the next epoch to the table.
    pub fn advance(&mut self, epoch: &Epoch) {
        let rows = Arc::make_mut(&mut self.rows);
        for (node, row) in &epoch.rows {
            rows[node.0 as usize] = row.clone();
        }
    }
}

impl Routes {
    /// Returns routes that never change, with this table.
    pub fn fixed(table: RouteTable) -> Self {
        Self { first: table, epochs: Arc::default() }
    }

    /// Returns the shortest paths over the links that are up, with their delays at each time. `whole` is the table of
    /// these edges while all are up. `changes` are in the order of time. Changes at time zero apply at every node when
    /// the run starts.
    pub fn following(whole: RouteTable, edges: &[Edge], changes: &[LinkChange], convergence: Duration) -> Self {
        let nodes = whole.rows.len();
        let graph = Graph::new(nodes, edges);
        let mut delays = delays(edges);
        let (at_start, later) = changes.split_at(changes.partition_point(|change| change.at == Instant::ZERO));
        apply(at_start, &mut delays);
        let mut newest = Arc::new(graph.rows(&delays, &whole.rows));
        let first = RouteTable { rows: newest.as_slice().into(), ..whole };
        let mut plan = EpochPlan {
            rows: first.rows.to_vec(),
            versions: vec![0; nodes],
            now: Instant::ZERO,
            changed: BTreeSet::new(),
            epochs: Vec::new(),
        };
        let mut unknown: VecDeque<(Instant, usize, Arc<Vec<Row>>)> = VecDeque::new();
        for (version, together) in (1..).zip(later.chunk_by(|a, b| a.at == b.at)) {
            let time = together[0].at;
            while let Some((due, version, rows)) = unknown.front()
                && *due <= time
            {
                plan.learn(*due, *version, rows, (0..nodes as u32).map(NodeId));
                unknown.pop_front();
            }
            apply(together, &mut delays);
            newest = Arc::new(graph.rows(&delays, &newest));
            let ends = together.iter().flat_map(|change| {
                let edge = &edges[change.link.0 as usize];
                [edge.from, edge.to]
            });
            plan.learn(time, version, &newest, ends);
            unknown.push_back((time + convergence, version, newest.clone()));
        }
        for (due, version, rows) in unknown {
            plan.learn(due, version, &rows, (0..nodes as u32).map(NodeId));
        }
        plan.end_epoch();
        Self { first, epochs: plan.epochs.into() }
    }

    /// Returns the tables with `count` edges, starting at index `first`, marked as interfaces of nodes to media.
    #[must_use]
    pub fn with_interfaces(mut self, first: u32, count: u32) -> Self {
        let packed = |edge: u32| match edge.checked_sub(first) {
            Some(interface) if edge != NONE && interface < count => PackedExit::from(InterfaceId(interface)).0,
            _ => edge,
        };
        let pack = |row: &mut Row| match row {
            Row::Single(edge) => *edge = packed(*edge),
            Row::ByDestination(edges) => *edges = Arc::new(edges.iter().map(|edge| packed(*edge)).collect()),
            Row::Aloft(_) => {}
        };
        self.first.interfaces = first;
        if count > 0 {
            Arc::make_mut(&mut self.first.rows).iter_mut().for_each(pack);
            let epochs = self.epochs.iter().cloned().map(|mut epoch| {
                epoch.rows.iter_mut().for_each(|(_, row)| pack(row));
                epoch
            });
            self.epochs = epochs.collect();
        }
        self
    }

    /// Returns the table at the start of the run.
    pub fn at_start(&self) -> &RouteTable {
        &self.first
    }

    /// Returns the epochs after the start, in the order of time.
    pub fn epochs(&self) -> &[Epoch] {
        &self.epochs
    }

    /// Returns the start time of each table, with the table; the first starts at zero.
    pub fn tables(&self) -> impl Iterator<Item = (Instant, RouteTable)> + '_ {
        let mut table = self.first.clone();
        let first = (Instant::ZERO, table.clone());
        let later = self.epochs.iter().map(move |epoch| {
            table.advance(epoch);
            (epoch.from, table.clone())
        });
        std::iter::once(first).chain(later)
    }
}

fn apply(changes: &[LinkChange], delays: &mut [Option<Duration>]) {
    for change in changes {
        delays[change.link.0 as usize] = change.delay;
    }
}

/// State of the computation of epochs.
struct EpochPlan {
    /// Current rows of all nodes.
    rows: Vec<Row>,
    /// Version of the network state that each node has applied. An older state is never restored.
    versions: Vec<usize>,
    /// Time of the current state.
    now: Instant,
    changed: BTreeSet<NodeId>,
    epochs: Vec<Epoch>,
}

impl EpochPlan {
    /// Applies version `version` of the network state, with these rows, at some nodes.
    fn learn(&mut self, now: Instant, version: usize, rows: &[Row], nodes: impl Iterator<Item = NodeId>) {
        if now != self.now {
            self.end_epoch();
            self.now = now;
        }
        for node in nodes {
            let index = node.0 as usize;
            if self.versions[index] < version {
                self.versions[index] = version;
                if self.rows[index] != rows[index] {
                    self.rows[index].clone_from(&rows[index]);
                    self.changed.insert(node);
                }
            }
        }
    }

    fn end_epoch(&mut self) {
        if !self.changed.is_empty() {
            let changed = std::mem::take(&mut self.changed);
            let rows = changed.into_iter().map(|node| (node, self.rows[node.0 as usize].clone())).collect();
            self.epochs.push(Epoch { from: self.now, rows });
        }
    }
}

impl Graph<'_> {
    /// Returns the rows of all nodes over links with these delays. A route whose path is gone stays as it was in
    /// `before`. Equal rows share memory.
    fn rows(&self, delays: &[Option<Duration>], before: &[Row]) -> Vec<Row> {
        let row = |(node, before): (usize, &Row)| match before {
            Row::Single(_) | Row::Aloft(_) => before.clone(),
            Row::ByDestination(old) => {
                let mut links = self.first_links(node, delays);
                for (link, old) in links.iter_mut().zip(&**old).filter(|(link, _)| **link == NONE) {
                    *link = *old;
                }
                Row::ByDestination(if links[..] == old[..] { old.clone() } else { links.into() })
            }
        };
        before.iter().enumerate().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::Exit;
    use proptest::prelude::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);
    const C: NodeId = NodeId(2);
    const D: NodeId = NodeId(3);

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    /// Returns the edges of full-duplex links, which are given as (node, node, delay in milliseconds). Link `i` has the
    /// edges `2i` (forward) and `2i + 1` (backward).
    fn edges(links: &[(u32, u32, u64)]) -> Vec<Edge> {
        let edge = |from, to, ms| Edge { from: NodeId(from), to: NodeId(to), delay: Duration::from_millis(ms) };
        links.iter().flat_map(|(a, b, ms)| [edge(*a, *b, *ms), edge(*b, *a, *ms)]).collect()
    }

    /// Returns the edges of a square: the path from A to D takes 20 ms over B, and 40 ms over C.
    fn square() -> Vec<Edge> {
        edges(&[(0, 1, 10), (1, 3, 10), (0, 2, 20), (2, 3, 20)])
    }

    /// Returns a change of both directions of a link.
    fn change(seconds: u64, link: u32, delay: Option<u64>) -> [LinkChange; 2] {
        let delay = delay.map(Duration::from_millis);
        [0, 1].map(|side| LinkChange { at: at(seconds), link: LinkId(2 * link + side), delay })
    }

    fn following(edges: &[Edge], changes: &[[LinkChange; 2]], convergence: u64) -> Vec<(Instant, RouteTable)> {
        Routes::following(
            RouteTable::shortest(4, edges),
            edges,
            changes.as_flattened(),
            Duration::from_secs(convergence),
        )
        .tables()
        .collect()
    }

    /// Returns the nodes on the path of a packet; `None` if there is no path.
    fn way(table: &RouteTable, from: NodeId, to: NodeId) -> Option<Vec<NodeId>> {
        table.path(from, to).map(|links| links.iter().map(|link| table.heads[link.0 as usize]).collect())
    }

    #[test]
    fn routes_move_with_an_outage_and_back() {
        let tables = following(&square(), &[change(10, 1, None), change(20, 1, Some(10))], 0);
        let times: Vec<Instant> = tables.iter().map(|(from, _)| *from).collect();
        assert_eq!(times, [at(0), at(10), at(20)]);
        let ways = tables.iter().map(|(_, table)| way(table, A, D).unwrap());
        assert!(ways.eq([vec![B, D], vec![C, D], vec![B, D]]));
    }

    #[test]
    fn a_longer_delay_also_moves_routes() {
        let tables = following(&square(), &[change(10, 0, Some(31))], 0);
        assert_eq!(way(&tables[0].1, A, D), Some(vec![B, D]));
        assert_eq!(way(&tables[1].1, A, D), Some(vec![C, D]), "31 + 10 ms against 20 + 20 ms");
        assert_eq!(way(&tables[1].1, A, B), Some(vec![B]), "31 ms against 50 ms");
    }

    #[test]
    fn until_they_converge_tables_may_disagree() {
        let tables = following(&square(), &[change(10, 1, None)], 3);
        let times: Vec<Instant> = tables.iter().map(|(from, _)| *from).collect();
        assert_eq!(times, [at(0), at(10), at(13)]);
        let (_, meanwhile) = &tables[1];
        assert_eq!(meanwhile.next(B, D), Some(LinkId(1).into()), "B has learned of the change, and sends back to A");
        assert_eq!(meanwhile.next(A, D), Some(LinkId(0).into()), "A has not learned of it yet");
        assert_eq!(way(meanwhile, A, D), None, "a loop");
        assert_eq!(way(&tables[2].1, B, D), Some(vec![A, C, D]));
    }

    #[test]
    fn a_node_ignores_changes_that_it_already_applied() {
        // C and D apply both changes of their link before they could receive the first from others.
        let tables = following(&square(), &[change(10, 3, None), change(12, 3, Some(1)), change(30, 0, Some(10))], 5);
        let next: Vec<_> = tables.iter().map(|(from, table)| (*from, table.next(C, D))).collect();
        let (around, straight) = (Some(LinkId(5).into()), Some(LinkId(6).into()));
        assert_eq!(next[..3], [(at(0), straight), (at(10), around), (at(12), straight)]);
        assert!(next[3..].iter().all(|(_, link)| *link == straight), "{next:?}");
    }

    #[test]
    fn without_a_path_the_last_route_stays() {
        let tables = following(&square(), &[change(10, 1, None), change(15, 3, None)], 0);
        // D is cut off; the last path to it was over C.
        assert_eq!(tables.len(), 2);
        assert_eq!(way(&tables[1].1, A, D), Some(vec![C, D]));
    }

    #[test]
    fn changes_at_the_start_apply_from_the_start() {
        let tables = following(&square(), &[change(0, 1, None)], 60);
        assert_eq!(tables.len(), 1);
        assert_eq!(way(&tables[0].1, B, D), Some(vec![A, C, D]));
    }

    #[test]
    fn edges_to_a_medium_are_interfaces_in_every_epoch() {
        // The square, and a medium with A and D on it, which is the path from A to D while B and C are cut off.
        let mut edges = square();
        let (medium, ms) = (NodeId(4), Duration::from_millis);
        edges.extend([A, D].map(|from| Edge { from, to: medium, delay: ms(30) }));
        edges.extend([A, D].map(|to| Edge { from: medium, to, delay: Duration::ZERO }));
        let whole = RouteTable::shortest(5, &edges).with_links(8);
        let changes: Vec<LinkChange> = [change(10, 0, None), change(20, 0, Some(10))].concat();
        let routes = Routes::following(whole, &edges, &changes, Duration::ZERO).with_interfaces(8, 2);
        let exits: Vec<Exit> = routes.tables().filter_map(|(_, table)| Some(table.next(A, D)?.unpack())).collect();
        let straight = Exit::Link(LinkId(0));
        assert_eq!(exits, [straight, Exit::Interface(InterfaceId(0)), straight]);
        let tables: Vec<RouteTable> = routes.tables().map(|(_, table)| table).collect();
        assert_eq!(tables[1].neighbour(A, D), Some(medium));
        assert_eq!(tables[1].neighbour(medium, D), Some(D), "edges after the interfaces keep their endpoints");
        assert_eq!(tables[1].path(A, D), None, "no path crosses a medium");
    }

    #[test]
    fn epochs_hold_only_the_rows_that_change() {
        // E, between A and F, sends everything to A or F whatever happens in the square.
        let mut edges = square();
        edges.extend(self::edges(&[(0, 4, 5), (4, 5, 5)]));
        let routes = |delay| {
            Routes::following(RouteTable::shortest(6, &edges), &edges, &change(10, 0, Some(delay)), Duration::ZERO)
        };
        assert!(routes(10).epochs().is_empty(), "nothing changes");
        let nodes: Vec<NodeId> = routes(31).epochs()[0].nodes().collect();
        assert_eq!(nodes, [A, B, C, D]);
    }

    proptest! {
        #[test]
        fn without_convergence_time_each_table_matches_the_links_that_are_up(
            links in prop::collection::vec((0u32..8, 0u32..8, 1u64..50), 1..20),
            changes in prop::collection::vec((0u64..20, 0usize..40, prop::option::of(1u64..50)), 0..12),
        ) {
            let edges = edges(&links);
            let mut changes: Vec<LinkChange> = changes
                .into_iter()
                .map(|(seconds, link, delay)| LinkChange {
                    at: at(seconds),
                    link: LinkId((link % edges.len()) as u32),
                    delay: delay.map(Duration::from_millis),
                })
                .collect();
            changes.sort_by_key(|change| change.at);
            let routes = Routes::following(RouteTable::shortest(8, &edges), &edges, &changes, Duration::ZERO);
            for (from, table) in routes.tables() {
                let mut present = delays(&edges);
                apply(&changes[..changes.partition_point(|change| change.at <= from)], &mut present);
                let up: Vec<(LinkId, Edge)> = (0..).map(LinkId).zip(&edges).zip(&present)
                    .filter_map(|((link, edge), delay)| Some((link, Edge { delay: (*delay)?, ..*edge })))
                    .collect();
                let alone: Vec<Edge> = up.iter().map(|(_, edge)| *edge).collect();
                let graph = Graph::new(8, &alone);
                let all_up = delays(&alone);
                for source in (0..8).filter(|node| matches!(table.rows[*node], Row::ByDestination(_))) {
                    let expected = graph.first_links(source, &all_up);
                    for (to, link) in expected.into_iter().enumerate().filter(|(_, link)| *link != NONE) {
                        let link = up[link as usize].0;
                        prop_assert_eq!(table.next(NodeId(source as u32), NodeId(to as u32)), Some(link.into()));
                    }
                }
            }
        }
    }
}
