//! Oracle routing: shortest paths in hops on the actual graph, without messages.
//!
//! No protocol finds paths with fewer hops. A node recomputes its paths when they are older than an epoch. Two nodes
//! may therefore use graphs that are up to an epoch old, and a packet may loop between them for up to that time.

use crate::model::Model;
use crate::paths::{self, Paths, min_delivery};
use crate::{Agent, Identity, PacketInfo, Route, RoutingHeader, Surroundings, Traffic, Verdict};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, Probability};
use lightlag_net::NodeId;

/// The parameters of the oracle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Maximum age of the paths before they are recomputed.
    pub epoch: Duration,
    /// Minimum fraction of full data frames that a link must deliver to be part of a route.
    pub min_delivery: Probability,
}

impl Default for Config {
    fn default() -> Self {
        Self { epoch: Duration::from_millis(100), min_delivery: Probability::HALF }
    }
}

impl Described for Config {
    const ABOUT: &'static str = "An oracle: shortest paths by hops on the true graph. It detects changes of links \
        immediately, and needs no messages: the bound for protocols.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time_or_zero("epoch", |c: &mut Self| &mut c.epoch)
                .about("Validity period of paths before the graph is queried again."),
            min_delivery(|c: &mut Self| &mut c.min_delivery).checked(|c| paths::refusal(c.min_delivery)),
        ]
    }
}

impl Model for Config {
    fn build(&self, identity: &Identity) -> Box<dyn Agent> {
        Box::new(Oracle {
            node: identity.node,
            epoch: self.epoch,
            min_delivery: self.min_delivery,
            paths: Paths::default(),
            asked: None,
            changes: 0,
            traffic: Traffic::default(),
        })
    }
}

#[derive(Clone, Debug)]
struct Oracle {
    node: NodeId,
    epoch: Duration,
    min_delivery: Probability,
    paths: Paths,
    asked: Option<Instant>,
    changes: u64,
    traffic: Traffic,
}

impl Agent for Oracle {
    fn route(
        &mut self,
        now: Instant,
        heading: &PacketInfo,
        _from: Option<NodeId>,
        _extra: &mut RoutingHeader,
        world: &mut dyn Surroundings,
    ) -> Verdict {
        if self.asked.is_none_or(|asked| now.since(asked) >= self.epoch) {
            let paths = Paths::search(self.node, now, self.min_delivery, world);
            self.changes += paths.differences(&self.paths);
            (self.paths, self.asked) = (paths, Some(now));
        }
        self.paths.to(heading.destination).map_or(Verdict::Unreachable, |(next_hop, _)| Verdict::Via(next_hop))
    }

    fn routes(&self, _now: Instant) -> Vec<Route> {
        self.paths.routes()
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
    use crate::testbed::{Bed, Graph, PacketEnd, at, wifi};
    use lightlag_core::RandomStream;

    fn bed(graph: Graph, epoch: Duration) -> Bed {
        let agent =
            |node| Config { epoch, ..Config::default() }.build(&Identity { node: NodeId(node), name: "", seed: 1 });
        let agents = (0..graph.nodes()).map(agent).collect();
        Bed::new(graph, agents, wifi)
    }

    #[test]
    fn paths_match_a_breadth_first_search() {
        for seed in 0..20 {
            let graph = Graph::disc(30, 0.25, &mut RandomStream::new(seed, "disc"));
            let mut bed = bed(graph.clone(), Duration::from_secs(1));
            for origin in 0..30 {
                for (destination, hops) in graph.hops(origin).into_iter().enumerate() {
                    if destination as u32 == origin {
                        continue;
                    }
                    let packet = bed.send(origin, destination as u32);
                    bed.run(bed.now + Duration::from_millis(100));
                    match (&bed.ends[&packet], hops) {
                        (PacketEnd::Delivered { path, .. }, Some(hops)) => assert_eq!(path.len() as u32, hops),
                        (PacketEnd::Unreachable { path }, None) => assert!(path.is_empty()),
                        other => panic!("{other:?}"),
                    }
                }
            }
            assert_eq!(bed.cycle(), None);
        }
    }

    #[test]
    fn a_graph_is_requested_once_per_epoch() {
        let mut bed = bed(Graph::chain(3), Duration::from_millis(100));
        bed.send(0, 2);
        bed.run(at(0.05));
        bed.graph.join(0, 2);
        for (seconds, hops) in [(0.09, 2), (0.1, 1)] {
            bed.run(at(seconds));
            let packet = bed.send(0, 2);
            bed.run(at(seconds + 0.005));
            assert!(matches!(&bed.ends[&packet], PacketEnd::Delivered { path, .. } if path.len() == hops), "{seconds}");
        }
        assert_eq!(bed.agents[0].changes(), 2 + 1);
    }
}
