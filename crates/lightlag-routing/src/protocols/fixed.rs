//! Static routes: the shortest paths in hops when the node starts. They never change.

use crate::model::Model;
use crate::paths::{self, Paths, min_delivery};
use crate::{Agent, Identity, PacketInfo, Route, RoutingHeader, Surroundings, Traffic, Verdict};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Instant, Probability};
use lightlag_net::NodeId;

/// The parameters of static routes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Minimum fraction of full data frames that a link must deliver to be part of a route.
    pub min_delivery: Probability,
}

impl Default for Config {
    fn default() -> Self {
        Self { min_delivery: Probability::HALF }
    }
}

impl Described for Config {
    const ABOUT: &'static str = "Static routes: the shortest paths by hops at the start of the run. They do not \
        change while nodes move, and need no messages.";

    fn settings() -> Vec<Setting<Self>> {
        vec![min_delivery(|c: &mut Self| &mut c.min_delivery).checked(|c| paths::refusal(c.min_delivery))]
    }
}

impl Model for Config {
    fn build(&self, identity: &Identity) -> Box<dyn Agent> {
        Box::new(Static {
            node: identity.node,
            min_delivery: self.min_delivery,
            start: None,
            paths: None,
            changes: 0,
            traffic: Traffic::default(),
        })
    }
}

/// Static routes of a node.
#[derive(Clone, Debug)]
struct Static {
    node: NodeId,
    min_delivery: Probability,
    start: Option<Instant>,
    paths: Option<Paths>,
    changes: u64,
    traffic: Traffic,
}

impl Static {
    fn paths(&mut self, now: Instant, world: &mut dyn Surroundings) -> &Paths {
        self.paths.get_or_insert_with(|| {
            let paths = Paths::search(self.node, now, self.min_delivery, world);
            self.changes = paths.routes().len() as u64;
            paths
        })
    }
}

impl Agent for Static {
    fn start(&mut self, now: Instant) {
        self.start = Some(now);
    }

    fn route(
        &mut self,
        now: Instant,
        heading: &PacketInfo,
        _from: Option<NodeId>,
        _extra: &mut RoutingHeader,
        world: &mut dyn Surroundings,
    ) -> Verdict {
        let first = self.paths(now, world).to(heading.destination);
        first.map_or(Verdict::Unreachable, |(next_hop, _)| Verdict::Via(next_hop))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.start.filter(|_| self.paths.is_none())
    }

    fn handle_timeout(&mut self, now: Instant, world: &mut dyn Surroundings) {
        self.paths(now, world);
    }

    fn routes(&self, _now: Instant) -> Vec<Route> {
        self.paths.as_ref().map_or_else(Vec::new, Paths::routes)
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn traffic(&self) -> &Traffic {
        &self.traffic
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testbed::{Bed, Graph, at, wifi};

    #[test]
    fn routes_stay_as_they_were_at_the_start() {
        let graph = Graph::chain(4);
        let agent = |node| Config::default().build(&Identity { node: NodeId(node), name: "", seed: 1 });
        let mut bed = Bed::new(graph, (0..4).map(agent).collect(), wifi);
        bed.run(at(0.0));
        assert_eq!((0..4).map(|node| bed.agents[node].changes()).collect::<Vec<_>>(), [3; 4]);
        bed.graph.join(0, 3);
        let kept = bed.send(0, 3);
        bed.run(at(1.0));
        assert!(matches!(&bed.ends[&kept], crate::testbed::PacketEnd::Delivered { path, .. } if path.len() == 3));
        bed.graph.cut(1, 2);
        let lost = bed.send(0, 3);
        bed.run(at(2.0));
        assert!(matches!(&bed.ends[&lost], crate::testbed::PacketEnd::Broken { path } if path.len() == 1));
        assert!(bed.sent.is_empty());
    }
}
