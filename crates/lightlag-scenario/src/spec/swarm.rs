//! The topology of a swarm: flying nodes on one radio medium.

use super::{Coordinates, FlowTemplate, MediumSpec, Model, many};
use crate::read::{Errors, Path, TableReader};
use lightlag_core::RandomStream;
use lightlag_mobility::{Mobility, Placement, Vector};
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum number of nodes of a swarm.
const MOST: u64 = 10_000;
/// Maximum number of nodes on a medium whose cost does not grow with the pairs of nodes.
const MOST_IN_STAR: u64 = 1_000_001;

/// `uav1`, `uav2`, … on the medium `air`, each on its own path through a box.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Swarm {
    /// Number of nodes, at least 1.
    pub nodes: u64,
    /// Box in which the nodes move, with a corner at the origin; by default 400 m by 400 m, 100 m high.
    #[schemars(default = "default_area")]
    pub area: Coordinates,
    /// Initial positions: `"uniform"`, `"grid"`, `"line"` or `"circle"`.
    #[schemars(default)]
    pub placement: Model<Placement>,
    /// Mobility model; by default the nodes do not move.
    #[schemars(default)]
    pub mobility: Model<Mobility>,
    /// The medium and the radios of the nodes.
    #[schemars(default)]
    pub medium: MediumSpec,
    /// Number of flows between pairs of nodes that are chosen at random, each pair at most once; by default half the
    /// number of nodes. In a satellite beam, the number of terminals with a flow to the gateway; by default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
    /// Settings of these flows; by default each sends until the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowTemplate>,
}

fn default_area() -> Coordinates {
    Coordinates(Vector::new(400.0, 400.0, 100.0))
}

impl Swarm {
    /// Reads the keys next to `kind`.
    pub(crate) fn read_from(table: &mut TableReader, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let area = table.optional("area", errors).unwrap_or_else(default_area);
        let Vector { x, y, z } = area.0;
        if let Some((index, length)) = [x, y, z].into_iter().enumerate().find(|(_, length)| *length < 0.0) {
            let message = format!("{length} m is below 0 m; the box starts at the origin");
            errors.push(Path::Index(&Path::Key(path, "area"), index), message);
        }
        let placement = table.optional("placement", errors).unwrap_or_default();
        let mobility = table.optional("mobility", errors).unwrap_or_default();
        let medium: Option<MediumSpec> = table.optional("medium", errors);
        let is_star = |medium: &MediumSpec| medium.kind.is_star();
        let most = if medium.as_ref().is_some_and(is_star) { MOST_IN_STAR } else { MOST };
        let medium = medium.unwrap_or_default();
        let nodes = many(table, path, "nodes", most, errors);
        let flow = table.optional("flow", errors);
        let flows: Option<u64> = table.optional("flows", errors);
        let is_beam = is_star(&medium);
        if let (Some(nodes), Some(flows)) = (nodes, flows)
            && flows > if is_beam { nodes - 1 } else { nodes * (nodes - 1) }
        {
            let message = match is_beam {
                true => format!("{flows} flows are more than the {} terminals", nodes - 1),
                false => format!("{flows} flows are more than the {} pairs of {nodes} nodes", nodes * (nodes - 1)),
            };
            errors.push(Path::Key(path, "flows"), message);
        }
        let swarm = Self { nodes: nodes?, area, placement, mobility, medium, flows, flow };
        (errors.len() == before).then_some(swarm)
    }

    /// Returns the number of flows.
    pub(crate) fn pair_count(&self) -> u64 {
        self.flows.unwrap_or(if self.is_star() { self.nodes - 1 } else { self.nodes / 2 })
    }

    fn is_star(&self) -> bool {
        self.medium.kind.is_star()
    }

    /// Returns the name of the node with this index, starting at 0.
    pub(crate) fn node(&self, index: u64) -> String {
        match (self.is_star(), index) {
            (false, _) => format!("uav{}", index + 1),
            (true, 0) => "gateway".to_owned(),
            (true, _) => format!("terminal{index}"),
        }
    }

    /// Returns the endpoints of the flows in a run with this seed. The first pairs have no node in common; if more are
    /// needed, further distinct pairs are chosen at random.
    /// In a star, each flow starts at another terminal and ends at the gateway.
    pub(crate) fn pairs(&self, seed: u64) -> Vec<[String; 2]> {
        if self.is_star() {
            let terminals = 1..=self.pair_count();
            return terminals.map(|index| [self.node(index), self.node(0)]).collect();
        }
        let mut random = RandomStream::new(seed, "swarm pairs");
        let mut below = |limit: u64| ((random.uniform() * limit as f64) as u64).min(limit - 1);
        let mut order: Vec<u64> = (0..self.nodes).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, below(at as u64 + 1) as usize);
        }
        let mut taken = std::collections::BTreeSet::new();
        let mut pairs = Vec::new();
        let disjoint = order.chunks_exact(2).map(|pair| (pair[0], pair[1])).take(self.pair_count() as usize);
        for pair in disjoint {
            taken.insert(pair);
            pairs.push(pair);
        }
        while (pairs.len() as u64) < self.pair_count() && self.nodes > 1 {
            let pair = (below(self.nodes), below(self.nodes));
            if pair.0 != pair.1 && taken.insert(pair) {
                pairs.push(pair);
            }
        }
        pairs.into_iter().map(|(from, to)| [self.node(from), self.node(to)]).collect()
    }
}
