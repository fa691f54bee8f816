//! The parts of a result that come from the network: names, and where flows and links are. While a run lasts they are numbers;
//! texts come with the summary.

use lightlag_core::Instant;
use lightlag_net::{LinkId, NodeId};
use lightlag_scenario::{Flow, LinkDirection, LinkProperties, Network, Traffic, Transport};
use std::sync::Arc;

/// The names of all nodes in one text.
pub(super) struct NodeNames {
    text: String,
    /// The end of each name there.
    ends: Vec<u32>,
}

impl NodeNames {
    pub(super) fn of(names: &[String]) -> Self {
        let mut all = Self { text: names.concat(), ends: Vec::with_capacity(names.len()) };
        let mut end = 0;
        for name in names {
            end += u32::try_from(name.len()).expect("names are short");
            all.ends.push(end);
        }
        all
    }

    pub(super) fn get(&self, node: NodeId) -> &str {
        let at = node.0 as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[at] as usize]
    }

    /// All of them.
    pub(super) fn to_list(&self) -> Vec<String> {
        (0..self.ends.len() as u32).map(|node| self.get(NodeId(node)).to_owned()).collect()
    }
}

/// A link direction.
pub(super) struct LinkOrigin {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    properties: Arc<LinkProperties>,
}

impl LinkOrigin {
    pub(super) fn of(link: &LinkDirection, nodes: &NodeNames) -> Self {
        let LinkDirection { from, to, ref properties, .. } = *link;
        let origin = Self { from, to, properties: properties.clone() };
        debug_assert_eq!(origin.name(nodes), link.name, "directions are named by their ends");
        origin
    }

    pub(super) fn name(&self, nodes: &NodeNames) -> String {
        format!("{}->{}", nodes.get(self.from), nodes.get(self.to))
    }

    /// Its rate, if that does not change in a run that lasts until `end`.
    pub(super) fn rate_bps(&self, end: Instant) -> Option<f64> {
        self.properties.is_steady(end).then_some(self.properties.rate.as_bps() as f64)
    }
}

/// A flow.
pub(super) struct FlowOrigin {
    pub(super) name: String,
    from: NodeId,
    to: NodeId,
    congestion: &'static str,
    bottleneck: Option<LinkId>,
    start: Instant,
    is_web: bool,
}

impl FlowOrigin {
    /// All flows of a network.
    pub(super) fn all(network: &Network) -> Vec<Self> {
        let mut slowest = network.slowest_links();
        let of = |flow: &Flow| {
            let (congestion, bottleneck) = match flow.transport {
                Transport::Tcp => (flow.tcp.congestion.name(), slowest(flow)),
                Transport::Udp => ("udp", None),
            };
            let Flow { from, to, start, .. } = *flow;
            let is_web = matches!(*flow.traffic, Traffic::Web(_));
            Self { name: flow.name.clone(), from, to, congestion, bottleneck, start, is_web }
        };
        network.flows.iter().map(of).collect()
    }

    /// The same in texts.
    pub(super) fn identity(self, nodes: &NodeNames, links: &[LinkOrigin]) -> FlowIdentity {
        let node = |id: NodeId| nodes.get(id).to_owned();
        FlowIdentity {
            name: self.name,
            from: node(self.from),
            to: node(self.to),
            congestion: self.congestion.to_owned(),
            bottleneck: self.bottleneck.map(|link| links[link.0 as usize].name(nodes)),
            start: self.start,
            is_web: self.is_web,
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
        let names = ["left", "", "é", "router-1"].map(str::to_owned);
        let all = NodeNames::of(&names);
        assert!((0..).map(NodeId).zip(&names).all(|(node, name)| all.get(node) == name));
    }
}
