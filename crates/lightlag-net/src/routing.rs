//! The next link towards a destination: shortest paths by delay, then by hops.
//!
//! A [`RouteTable`] holds from one epoch of a run to the next. [`Routes`] are the table of the start and the rows that each
//! later epoch replaces, so that tables share what does not change. A node with one outgoing link needs no row, so a network
//! of 200,000 hosts behind two routers keeps two.

mod aloft;
mod epochs;
mod exit;

pub use epochs::{Epoch, LinkChange, Routes};
pub use exit::{Exit, InterfaceId, PackedExit};

use crate::NodeId;
use aloft::Aloft;
use lightlag_core::Duration;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// One direction of a link, numbered from 0 in the order of the list it came in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u32);

/// One direction of a link, for routing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Node at its start.
    pub from: NodeId,
    /// Node at its end.
    pub to: NodeId,
    /// Its propagation delay.
    pub delay: Duration,
}

const NONE: u32 = u32::MAX;

/// Links on which a node sends packets that are not for itself.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Row {
    /// Everything over one link; no link at all is `NONE`.
    Single(u32),
    /// By destination; `NONE` if there is no way.
    ByDestination(Arc<Vec<u32>>),
    /// By the exit of the destination from the sky: this row of those.
    Aloft(u32),
}

/// The next link from every node to every other.
#[derive(Clone, Debug)]
pub struct RouteTable {
    /// Copies of a table share them until one changes.
    rows: Arc<[Row]>,
    /// Where each edge ends.
    heads: Arc<[NodeId]>,
    /// Number of the edges, the first ones, that are links of paths. The others join nodes to media or to the sky.
    links: u32,
    /// The first of the edges that lead to media; their interfaces have the numbers after it.
    interfaces: u32,
    /// Nodes that reach each other while every link is up carry the same number; none do if all reach each other. Links are
    /// full duplex, so reaching is mutual.
    component: Arc<[u32]>,
    /// The routes of satellites, if there are any.
    aloft: Option<Box<Aloft>>,
}

impl RouteTable {
    /// Shortest paths by delay, then by number of links, then by the lowest link number.
    pub fn shortest(nodes: usize, edges: &[Edge]) -> Self {
        let (graph, delays) = (Graph::new(nodes, edges), delays(edges));
        let rows = (0..nodes)
            .map(|node| match graph.outgoing(NodeId(node as u32)) {
                [] => Row::Single(NONE),
                [only] => Row::Single(*only),
                _ => Row::ByDestination(graph.first_links(node, &delays).into()),
            })
            .collect();
        let heads = edges.iter().map(|edge| edge.to).collect();
        Self {
            rows,
            heads,
            links: edges.len() as u32,
            interfaces: edges.len() as u32,
            component: graph.components().into(),
            aloft: None,
        }
    }

    /// The same table, where only so many edges are links and the others join nodes to media: no path crosses a medium,
    /// because the nodes on it find their ways themselves.
    #[must_use]
    pub fn with_links(self, links: usize) -> Self {
        Self { links: links as u32, ..self }
    }

    /// The node at the end of each edge. Whoever needs it shares it with the table.
    pub fn heads(&self) -> &Arc<[NodeId]> {
        &self.heads
    }

    /// The node to which `node` is joined on its way to `destination`.
    pub fn neighbour(&self, node: NodeId, destination: NodeId) -> Option<NodeId> {
        let edge = self.next(node, destination)?.unpack().number(self.interfaces);
        Some(self.heads[edge as usize])
    }

    /// The exit over which `node` sends towards `destination`, which it must be able to reach.
    #[inline(always)]
    pub fn next(&self, node: NodeId, destination: NodeId) -> Option<PackedExit> {
        let exit = match &self.rows[node.0 as usize] {
            Row::Single(link) => *link,
            Row::ByDestination(links) => links[destination.0 as usize],
            Row::Aloft(row) => self.next_aloft(*row, destination),
        };
        (exit != NONE).then_some(PackedExit(exit))
    }

    #[inline(never)]
    fn next_aloft(&self, row: u32, destination: NodeId) -> u32 {
        self.aloft.as_ref().map_or(NONE, |aloft| aloft.next(row, destination))
    }

    /// Number of its routes: of each node with several links one to every node.
    pub fn entries(&self) -> u64 {
        let entries = |row: &Row| if let Row::ByDestination(links) = row { links.len() as u64 } else { 0 };
        self.rows.iter().map(entries).sum()
    }

    /// Whether there is a way while every link is up.
    pub fn reaches(&self, from: NodeId, to: NodeId) -> bool {
        self.component.get(from.0 as usize) == self.component.get(to.0 as usize)
    }

    /// The links of the way, in order; `None` if there is no way, or it is a loop, or it crosses a medium.
    pub fn path(&self, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        if !self.reaches(from, to) {
            return None;
        }
        let mut path = Vec::new();
        let mut node = from;
        while node != to {
            if path.len() == self.rows.len() {
                return None;
            }
            let link = self.next(node, to)?.link().filter(|link| link.0 < self.links)?;
            path.push(link);
            node = self.heads[link.0 as usize];
        }
        Some(path)
    }
}

/// The delay of every edge, all of them up.
fn delays(edges: &[Edge]) -> Vec<Option<Duration>> {
    edges.iter().map(|edge| Some(edge.delay)).collect()
}

/// Outgoing links of each node, in compressed sparse rows.
struct Graph<'a> {
    edges: &'a [Edge],
    starts: Vec<u32>,
    links: Vec<u32>,
}

impl<'a> Graph<'a> {
    fn new(nodes: usize, edges: &'a [Edge]) -> Self {
        let mut starts = vec![0_u32; nodes + 1];
        for edge in edges {
            starts[edge.from.0 as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut free = starts.clone();
        let mut links = vec![0; edges.len()];
        for (link, edge) in edges.iter().enumerate() {
            let place = &mut free[edge.from.0 as usize];
            links[*place as usize] = link as u32;
            *place += 1;
        }
        Self { edges, starts, links }
    }

    fn outgoing(&self, node: NodeId) -> &[u32] {
        let at = node.0 as usize;
        &self.links[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Dijkstra from `source` over edges with these delays, of which those without one are down; of each node, the first
    /// link of the way to it.
    fn first_links(&self, source: usize, delays: &[Option<Duration>]) -> Vec<u32> {
        let nodes = self.starts.len() - 1;
        let mut first = vec![NONE; nodes];
        let mut best = vec![(u64::MAX, u32::MAX, NONE); nodes];
        let mut open = BinaryHeap::new();
        best[source] = (0, 0, NONE);
        open.push(Reverse((0_u64, 0_u32, NONE, source as u32)));
        while let Some(Reverse((delay, hops, link, node))) = open.pop() {
            let at = node as usize;
            if (delay, hops, link) != best[at] {
                continue;
            }
            first[at] = link;
            for next in self.outgoing(NodeId(node)) {
                let Some(further) = delays[*next as usize] else { continue };
                let start = if at == source { *next } else { link };
                let way = (delay.saturating_add(further.as_nanos()), hops + 1, start);
                let to = self.edges[*next as usize].to.0 as usize;
                if way < best[to] {
                    best[to] = way;
                    open.push(Reverse((way.0, way.1, way.2, to as u32)));
                }
            }
        }
        first
    }

    /// Numbers the sets of nodes that reach each other, if there are several.
    fn components(&self) -> Vec<u32> {
        let nodes = self.starts.len() - 1;
        let mut component = vec![NONE; nodes];
        let mut stack = Vec::new();
        for node in 0..nodes {
            if component[node] == NONE {
                component[node] = node as u32;
                stack.push(node);
                while let Some(at) = stack.pop() {
                    for link in self.outgoing(NodeId(at as u32)) {
                        let to = self.edges[*link as usize].to.0 as usize;
                        if component[to] == NONE {
                            component[to] = node as u32;
                            stack.push(to);
                        }
                    }
                }
            }
        }
        if component.iter().all(|number| *number == 0) { Vec::new() } else { component }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petgraph::{algo::dijkstra, graph::DiGraph};
    use proptest::prelude::*;

    /// Full-duplex links (a, b, milliseconds).
    fn edges(links: &[(u32, u32, u64)]) -> Vec<Edge> {
        let edge = |from, to, ms| Edge { from: NodeId(from), to: NodeId(to), delay: Duration::from_millis(ms) };
        links.iter().flat_map(|(a, b, ms)| [edge(*a, *b, *ms), edge(*b, *a, *ms)]).collect()
    }

    #[test]
    fn takes_the_way_of_least_delay() {
        // 0-1-2 costs 20 ms, the direct link 300 ms.
        let routes = RouteTable::shortest(3, &edges(&[(0, 2, 300), (0, 1, 10), (1, 2, 10)]));
        assert_eq!(routes.path(NodeId(0), NodeId(2)), Some(vec![LinkId(2), LinkId(4)]));
        assert_eq!(routes.path(NodeId(2), NodeId(0)), Some(vec![LinkId(5), LinkId(3)]));
        assert_eq!(routes.path(NodeId(1), NodeId(1)), Some(vec![]));
    }

    #[test]
    fn equal_delays_go_by_hops_then_by_number() {
        let routes = RouteTable::shortest(4, &edges(&[(0, 1, 5), (1, 3, 5), (0, 2, 5), (2, 3, 5), (0, 3, 10)]));
        assert_eq!(routes.path(NodeId(0), NodeId(3)), Some(vec![LinkId(8)]));
        let routes = RouteTable::shortest(4, &edges(&[(0, 1, 5), (1, 3, 5), (0, 2, 5), (2, 3, 5)]));
        assert_eq!(routes.path(NodeId(0), NodeId(3)), Some(vec![LinkId(0), LinkId(2)]));
    }

    #[test]
    fn islands_do_not_reach_each_other() {
        let routes = RouteTable::shortest(5, &edges(&[(0, 1, 1), (2, 3, 1)]));
        assert!(routes.reaches(NodeId(0), NodeId(1)));
        assert_eq!(routes.path(NodeId(0), NodeId(3)), None);
        assert_eq!(routes.path(NodeId(4), NodeId(0)), None);
    }

    proptest! {
        #[test]
        fn path_delays_equal_those_of_petgraph(links in prop::collection::vec((0u32..12, 0u32..12, 0u64..50), 1..40)) {
            let edges = edges(&links);
            let routes = RouteTable::shortest(12, &edges);
            let mut graph = DiGraph::<(), u64>::new();
            let nodes: Vec<_> = (0..12).map(|_| graph.add_node(())).collect();
            for edge in &edges {
                graph.add_edge(nodes[edge.from.0 as usize], nodes[edge.to.0 as usize], edge.delay.as_nanos());
            }
            for from in 0..12 {
                let oracle = dijkstra(&graph, nodes[from as usize], None, |edge| *edge.weight());
                for to in 0..12 {
                    let delay = routes.path(NodeId(from), NodeId(to)).map(|path| {
                        path.iter().map(|link| edges[link.0 as usize].delay.as_nanos()).sum::<u64>()
                    });
                    prop_assert_eq!(delay, oracle.get(&nodes[to as usize]).copied());
                }
            }
        }
    }
}
