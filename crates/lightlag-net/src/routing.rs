//! The next link towards a destination: shortest paths by delay, then by hops.
//!
//! A [`RouteTable`] applies from one epoch of a run to the next. [`Routes`] holds the initial table, and the rows that
//! each later epoch replaces, so that tables share unchanged rows. A node with one outgoing link needs no row, so a
//! network of 200,000 hosts attached to two routers has two rows.

mod aloft;
mod epochs;
mod exit;

pub use epochs::{Epoch, LinkChange, Routes};
pub use exit::{Exit, InterfaceId, PackedExit, TunnelEndId};

use crate::NodeId;
use aloft::Aloft;
use lightlag_core::Duration;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// ID of a link direction: its index in the list of link directions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u32);

/// A link direction as an edge of the routing graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Upstream node.
    pub from: NodeId,
    /// Downstream node.
    pub to: NodeId,
    /// Propagation delay.
    pub delay: Duration,
}

const NONE: u32 = u32::MAX;

/// Exits of a node towards all destinations.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Row {
    /// One exit for all destinations; `NONE` if the node has no link.
    Single(u32),
    /// One exit per destination; `NONE` if there is no path to it.
    ByDestination(Arc<Vec<u32>>),
    /// The exit depends on the station where packets leave the constellation. The value is the row of the satellite in
    /// [`Aloft`].
    Aloft(u32),
}

/// Table of the next link from each node towards each destination.
#[derive(Clone, Debug)]
pub struct RouteTable {
    /// Rows of the nodes. Copies of a table share them until one of them changes.
    rows: Arc<[Row]>,
    /// Downstream node of each edge.
    heads: Arc<[NodeId]>,
    /// Number of edges that are links; these come first. The other edges connect nodes to media or to the
    /// constellation.
    links: u32,
    /// Index of the first edge that leads to a medium. Interfaces are numbered from this edge.
    interfaces: u32,
    /// Component of each node: nodes that can reach each other while every link is up have the same value. Empty if all
    /// nodes can reach each other. Links are full duplex, so reachability is mutual.
    component: Arc<[u32]>,
    /// Routes of satellites, if there are any.
    aloft: Option<Box<Aloft>>,
}

impl RouteTable {
    /// Returns the shortest paths by delay, then by number of links, then by the lowest link index.
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

    /// Sets the number of edges that are links. The other edges connect nodes to media. No path crosses a medium,
    /// because its nodes run their own routing.
    #[must_use]
    pub fn with_links(self, links: usize) -> Self {
        Self { links: links as u32, ..self }
    }

    /// Returns the downstream node of each edge. The memory is shared with the table.
    pub fn heads(&self) -> &Arc<[NodeId]> {
        &self.heads
    }

    /// Returns the next hop of `node` on the path to `destination`.
    pub fn neighbour(&self, node: NodeId, destination: NodeId) -> Option<NodeId> {
        let edge = self.next(node, destination)?.unpack().number(self.interfaces);
        Some(self.heads[edge as usize])
    }

    /// Returns the exit from `node` towards `destination`, which must be reachable.
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

    /// Makes packets from `node` leave through a tunnel if their path in the table `plain`, which has no tunnels, crosses
    /// or ends at the other end of the tunnel, the node `far`.
    pub fn enter_tunnel(&mut self, plain: &Self, node: NodeId, far: NodeId, end: TunnelEndId) {
        let nodes = self.rows.len() as u32;
        let exits = (0..nodes).map(NodeId).map(|destination| match self.next(node, destination) {
            Some(_) if plain.crosses(node, destination, far) => PackedExit::from(end).0,
            Some(exit) => exit.0,
            None => NONE,
        });
        let row = Row::ByDestination(Arc::new(exits.collect()));
        Arc::make_mut(&mut self.rows)[node.0 as usize] = row;
    }

    /// Returns true if the path between two nodes crosses the node `via` or ends there. A medium or the constellation is
    /// crossed in one step.
    pub fn crosses(&self, from: NodeId, to: NodeId, via: NodeId) -> bool {
        let mut node = from;
        for _ in 0..self.rows.len() {
            if node == to || !self.reaches(node, to) {
                return false;
            }
            match self.neighbour(node, to) {
                Some(next) if next == via => return true,
                Some(next) => node = next,
                None => return false,
            }
        }
        false
    }

    /// Returns the number of routes: each node with several links has one to every node.
    pub fn entries(&self) -> u64 {
        let entries = |row: &Row| if let Row::ByDestination(links) = row { links.len() as u64 } else { 0 };
        self.rows.iter().map(entries).sum()
    }

    /// Returns true if there is a path from `from` to `to` while every link is up.
    pub fn reaches(&self, from: NodeId, to: NodeId) -> bool {
        self.component.get(from.0 as usize) == self.component.get(to.0 as usize)
    }

    /// Returns the links of the path, in order; `None` if there is no path, or if it is a routing loop or crosses a
    /// medium.
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

/// Returns the delay of every edge, with all edges up.
fn delays(edges: &[Edge]) -> Vec<Option<Duration>> {
    edges.iter().map(|edge| Some(edge.delay)).collect()
}

/// Outgoing links of each node, in compressed sparse row format.
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
            let slot = &mut free[edge.from.0 as usize];
            links[*slot as usize] = link as u32;
            *slot += 1;
        }
        Self { edges, starts, links }
    }

    fn outgoing(&self, node: NodeId) -> &[u32] {
        let at = node.0 as usize;
        &self.links[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Returns the first link of the shortest path from `source` to each node (Dijkstra's algorithm). `delays` are the
    /// delays of the edges; an edge without a delay is down.
    fn first_links(&self, source: usize, delays: &[Option<Duration>]) -> Vec<u32> {
        let nodes = self.starts.len() - 1;
        let mut first = vec![NONE; nodes];
        let mut best = vec![(u64::MAX, u32::MAX, NONE); nodes];
        let mut open = BinaryHeap::new();
        best[source] = (0, 0, NONE);
        open.push(Reverse((0_u64, 0_u32, NONE, source as u32)));
        while let Some(Reverse((delay, hops, link, node))) = open.pop() {
            let index = node as usize;
            if (delay, hops, link) != best[index] {
                continue;
            }
            first[index] = link;
            for next in self.outgoing(NodeId(node)) {
                let Some(further) = delays[*next as usize] else { continue };
                let start = if index == source { *next } else { link };
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

    /// Returns the component of each node; empty if there is only one component.
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

    /// Returns the edges of full-duplex links, which are given as (node, node, delay in milliseconds).
    fn edges(links: &[(u32, u32, u64)]) -> Vec<Edge> {
        let edge = |from, to, ms| Edge { from: NodeId(from), to: NodeId(to), delay: Duration::from_millis(ms) };
        links.iter().flat_map(|(a, b, ms)| [edge(*a, *b, *ms), edge(*b, *a, *ms)]).collect()
    }

    #[test]
    fn takes_the_path_of_minimum_delay() {
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
    fn packets_enter_a_tunnel_at_both_ends() {
        // 0 - 1 - 2 - 3 - 4, and a tunnel between 1 and 3.
        let plain = RouteTable::shortest(5, &edges(&[(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1)]));
        let mut routes = plain.clone();
        let [near, far] = [TunnelEndId(0), TunnelEndId(1)];
        routes.enter_tunnel(&plain, NodeId(1), NodeId(3), near);
        routes.enter_tunnel(&plain, NodeId(3), NodeId(1), far);
        let exit = |node, destination| routes.next(NodeId(node), NodeId(destination)).map(PackedExit::unpack);
        assert_eq!((exit(1, 3), exit(1, 4)), (Some(Exit::Tunnel(near)), Some(Exit::Tunnel(near))));
        assert_eq!((exit(3, 1), exit(3, 0)), (Some(Exit::Tunnel(far)), Some(Exit::Tunnel(far))));
        // Destinations before the other end, and other nodes, are not affected.
        for (node, destination) in [(1, 0), (1, 2), (3, 4), (3, 2), (0, 4), (2, 4), (4, 0)] {
            assert_eq!(exit(node, destination), plain.next(NodeId(node), NodeId(destination)).map(PackedExit::unpack));
        }
        assert_eq!(near.peer(), far);
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
