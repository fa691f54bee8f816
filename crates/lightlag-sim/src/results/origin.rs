//! The parts of a result that come from the network: names, and where flows and links are. While a run lasts they are numbers;
//! texts come with the summary.

use crate::ids::FlowIndex;
use lightlag_core::Instant;
use lightlag_net::NodeId;
use lightlag_scenario::{Flow, LinkDirection, Network, Traffic};
use std::num::NonZeroU32;
use std::sync::Arc;

/// Many names in one text.
pub(super) struct Names {
    text: String,
    /// The end of each name there.
    ends: Vec<u32>,
}

impl Names {
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

    /// The name with this number.
    pub(super) fn get(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[at] as usize]
    }

    /// The name of a node, if these are the names of nodes.
    pub(super) fn of_node(&self, node: NodeId) -> &str {
        self.get(node.0 as usize)
    }

    /// A way between two nodes, if these are the names of nodes.
    fn of_way(&self, [from, to]: [NodeId; 2]) -> String {
        format!("{}->{}", self.of_node(from), self.of_node(to))
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).map(|at| self.get(at))
    }
}

/// The link directions.
pub(super) struct LinkOrigins {
    count: usize,
    ends: Ends,
    /// The directions whose rate changes in the run, in ascending order.
    unsteady: Vec<u32>,
}

/// The nodes at both ends of link directions.
enum Ends {
    /// Where each direction ends, as the routes have it. It starts where the other one of its link ends, which stands beside it.
    Paired(Arc<[NodeId]>),
    /// Where each direction starts and ends.
    Listed(Vec<[NodeId; 2]>),
}

impl LinkOrigins {
    /// The links of a run that lasts until `end`.
    pub(super) fn of(network: &Network, nodes: &Names, end: Instant) -> Self {
        let (links, heads) = (&network.links, network.routes.at_start().heads());
        let is_paired = |(at, link): (usize, &LinkDirection)| {
            heads.get(at) == Some(&link.to) && heads.get(at ^ 1) == Some(&link.from)
        };
        let ends = if links.iter().enumerate().all(is_paired) {
            Ends::Paired(heads.clone())
        } else {
            Ends::Listed(links.iter().map(|link| [link.from, link.to]).collect())
        };
        let unsteady = (0..).zip(links).filter(|(_, link)| !link.is_steady(end)).map(|(at, _)| at).collect();
        let origins = Self { count: links.len(), ends, unsteady };
        let are_named = || origins.names(nodes).zip(links).all(|(name, link)| name == link.name);
        debug_assert!(are_named(), "directions are named by their ends");
        origins
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The nodes where a direction starts and ends.
    pub(super) fn ends(&self, at: usize) -> [NodeId; 2] {
        match &self.ends {
            Ends::Paired(heads) => [heads[at ^ 1], heads[at]],
            Ends::Listed(ends) => ends[at],
        }
    }

    pub(super) fn name(&self, at: usize, nodes: &Names) -> String {
        nodes.of_way(self.ends(at))
    }

    pub(super) fn names(&self, nodes: &Names) -> impl Iterator<Item = String> {
        (0..self.count).map(|at| self.name(at, nodes))
    }

    /// Whether the rate of a direction does not change in the run.
    pub(super) fn is_steady(&self, at: usize) -> bool {
        self.unsteady.binary_search(&(at as u32)).is_err()
    }
}

/// A flow.
pub(super) struct FlowOrigin {
    from: NodeId,
    to: NodeId,
    /// The number of the slowest link on its way, counted from 1.
    bottleneck: Option<NonZeroU32>,
    is_web: bool,
    start: Instant,
}

const _: () = assert!(size_of::<FlowOrigin>() == 24, "there may be millions of them");

impl FlowOrigin {
    /// All flows of a network.
    pub(super) fn all(network: &Network) -> Vec<Self> {
        let mut slowest = network.slowest_links();
        let of = |flow: &Flow| {
            let bottleneck = if flow.transport.has_connections() { slowest(flow) } else { None };
            let Flow { from, to, start, .. } = *flow;
            let bottleneck = bottleneck.and_then(|link| NonZeroU32::new(link.0 + 1));
            Self { from, to, bottleneck, is_web: matches!(*flow.traffic, Traffic::Web(_)), start }
        };
        network.flows.iter().map(of).collect()
    }

    /// The same in texts.
    pub(super) fn identity(
        &self,
        name: String,
        congestion: &str,
        (nodes, links): (&Names, &LinkOrigins),
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

/// The names of flows. Most are called by their ends, as a link direction is.
pub(super) struct FlowNames {
    /// The flows that have another name, in ascending order, and their names.
    others: Vec<FlowIndex>,
    names: Names,
}

impl FlowNames {
    pub(super) fn of(network: &Network, nodes: &Names) -> Self {
        let is_other = |flow: &Flow| flow.name != nodes.of_way([flow.from, flow.to]);
        let numbered = (0..).map(FlowIndex).zip(&network.flows);
        let others: Vec<FlowIndex> = numbered.filter(|(_, flow)| is_other(flow)).map(|(at, _)| at).collect();
        let names = Names::of(others.iter().map(|at| network.flows[at.index()].name.as_str()));
        Self { others, names }
    }

    /// The name of a flow.
    pub(super) fn get(&self, flow: FlowIndex, origin: &FlowOrigin, nodes: &Names) -> String {
        match self.others.binary_search(&flow) {
            Ok(other) => self.names.get(other).to_owned(),
            Err(_) => nodes.of_way([origin.from, origin.to]),
        }
    }
}

/// A flow, in the texts of the summary.
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
    fn names_in_one_text_are_those_of_the_list() {
        let names = ["left", "", "é", "router-1"];
        let all = Names::of(names.into_iter());
        assert!(all.iter().eq(names) && all.get(3) == "router-1");
    }
}
