//! Data of a result that comes from the network: names, and the nodes of flows and links. During a run these are
//! indices; the summary contains strings.

use crate::ids::FlowIndex;
use lightlag_core::Instant;
use lightlag_net::NodeId;
use lightlag_scenario::{Flow, LinkDirection, Network};
use std::num::NonZeroU32;
use std::sync::Arc;

/// A list of names, stored in one string.
pub(super) struct PackedNames {
    text: String,
    /// End of each name in the string.
    ends: Vec<u32>,
}

impl PackedNames {
    pub(super) fn of<'a>(names: impl ExactSizeIterator<Item = &'a str> + Clone) -> Self {
        let mut all = Self {
            text: String::with_capacity(names.clone().map(str::len).sum()),
            ends: Vec::with_capacity(names.len()),
        };
        for name in names {
            all.text.push_str(name);
            all.ends.push(u32::try_from(all.text.len()).expect("names are short"));
        }
        all
    }

    /// Returns the name at this index.
    pub(super) fn get(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[index] as usize]
    }

    /// Returns the name of a node. The list must contain the names of all nodes.
    pub(super) fn of_node(&self, node: NodeId) -> &str {
        self.get(node.0 as usize)
    }

    /// Returns the name `FROM->TO` for two nodes. The list must contain the names of all nodes.
    fn of_way(&self, [from, to]: [NodeId; 2]) -> String {
        format!("{}->{}", self.of_node(from), self.of_node(to))
    }

    /// Returns all names.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).map(|at| self.get(at))
    }
}

/// The end nodes and other properties of all link directions.
pub(super) struct LinkOrigins {
    count: usize,
    ends: Ends,
    /// Indices of the directions whose rate changes during the run, in ascending order.
    unsteady: Vec<u32>,
}

/// The nodes at both ends of each link direction.
enum Ends {
    /// Downstream node of each direction, shared with the routes. The two directions of a link have adjacent indices,
    /// so the upstream node of one is the downstream node of the other.
    Paired(Arc<[NodeId]>),
    /// Upstream and downstream node of each direction.
    Listed(Vec<[NodeId; 2]>),
}

impl LinkOrigins {
    /// Returns the links of a run that lasts until `end`.
    pub(super) fn of(network: &Network, nodes: &PackedNames, end: Instant) -> Self {
        let (links, heads) = (&network.links, network.routes.at_start().heads());
        let is_paired = |(index, link): (usize, &LinkDirection)| {
            heads.get(index) == Some(&link.to) && heads.get(index ^ 1) == Some(&link.from)
        };
        let ends = if links.iter().enumerate().all(is_paired) {
            Ends::Paired(heads.clone())
        } else {
            Ends::Listed(links.iter().map(|link| [link.from, link.to]).collect())
        };
        let unsteady = (0..).zip(links).filter(|(_, link)| !link.is_steady(end)).map(|(at, _)| at).collect();
        let origins = Self { count: links.len(), ends, unsteady };
        let are_named = || origins.names(nodes).zip(links).all(|(name, link)| name == link.name);
        debug_assert!(are_named(), "directions are named after their endpoints");
        origins
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Returns the upstream node and the downstream node of a direction.
    pub(super) fn ends(&self, index: usize) -> [NodeId; 2] {
        match &self.ends {
            Ends::Paired(heads) => [heads[index ^ 1], heads[index]],
            Ends::Listed(ends) => ends[index],
        }
    }

    pub(super) fn name(&self, index: usize, nodes: &PackedNames) -> String {
        nodes.of_way(self.ends(index))
    }

    pub(super) fn names(&self, nodes: &PackedNames) -> impl Iterator<Item = String> {
        (0..self.count).map(|at| self.name(at, nodes))
    }

    /// Returns true if the rate of a direction does not change during the run.
    pub(super) fn is_steady(&self, index: usize) -> bool {
        self.unsteady.binary_search(&(index as u32)).is_err()
    }
}

/// A flow as stored during a run, with indices instead of names.
pub(super) struct FlowOrigin {
    from: NodeId,
    to: NodeId,
    /// Index of the slowest link on the flow's path, counted from 1.
    bottleneck: Option<NonZeroU32>,
    is_web: bool,
    start: Instant,
}

const _: () = assert!(size_of::<FlowOrigin>() == 24, "there may be millions of them");

impl FlowOrigin {
    /// Returns all flows of a network.
    pub(super) fn all(network: &Network) -> Vec<Self> {
        let mut slowest = network.slowest_links();
        let origin = |flow: &Flow| {
            let bottleneck = if flow.transport.has_connections() { slowest(flow) } else { None };
            let Flow { from, to, start, .. } = *flow;
            let bottleneck = bottleneck.and_then(|link| NonZeroU32::new(link.0 + 1));
            Self { from, to, bottleneck, is_web: flow.traffic.has_pages(), start }
        };
        network.flows.iter().map(origin).collect()
    }

    /// Returns the identity of the flow, with names instead of indices.
    pub(super) fn identity(
        &self,
        name: String,
        congestion: &str,
        (nodes, links): (&PackedNames, &LinkOrigins),
    ) -> FlowIdentity {
        let node = |id: NodeId| nodes.of_node(id).to_owned();
        FlowIdentity {
            name,
            from: node(self.from),
            to: node(self.to),
            congestion: congestion.to_owned(),
            bottleneck: self.bottleneck.map(|link| links.name(link.get() as usize - 1, nodes)),
            start: self.start,
            is_web: self.is_web,
        }
    }
}

/// Names of flows. Only names that differ from `FROM->TO` are stored.
pub(super) struct FlowNames {
    /// Flows whose names are stored, in ascending order, and these names.
    others: Vec<FlowIndex>,
    names: PackedNames,
}

impl FlowNames {
    pub(super) fn of(network: &Network, nodes: &PackedNames) -> Self {
        let is_other = |flow: &Flow| flow.name != nodes.of_way([flow.from, flow.to]);
        let numbered = (0..).map(FlowIndex).zip(&network.flows);
        let others: Vec<FlowIndex> = numbered.filter(|(_, flow)| is_other(flow)).map(|(at, _)| at).collect();
        let names = PackedNames::of(others.iter().map(|at| network.flows[at.index()].name.as_str()));
        Self { others, names }
    }

    /// Returns the name of a flow.
    pub(super) fn get(&self, flow: FlowIndex, origin: &FlowOrigin, nodes: &PackedNames) -> String {
        match self.others.binary_search(&flow) {
            Ok(other) => self.names.get(other).to_owned(),
            Err(_) => nodes.of_way([origin.from, origin.to]),
        }
    }
}

/// The identity of a flow in the summary, with names instead of indices.
pub(super) struct FlowIdentity {
    pub(super) name: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) congestion: String,
    pub(super) bottleneck: Option<String>,
    pub(super) start: Instant,
    pub(super) is_web: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_one_text_match_the_list() {
        let names = ["left", "", "é", "router-1"];
        let all = PackedNames::of(names.into_iter());
        assert!(all.iter().eq(names) && all.get(3) == "router-1");
    }
}
