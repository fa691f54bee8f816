//! Generators: networks that are easier to name than to list.

use super::{Access, FlowTemplate, Iot, Line, Satellite, Swarm, access, many};
use crate::read::{Errors, FromValue, Path, Table, not_one_of};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The most links of a network, generated and listed ones together.
pub(crate) const MOST_LINKS: u64 = 2_000_000;

/// A generated network.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Topology {
    /// `client` and `server`, joined by one link.
    PointToPoint(PointToPoint),
    /// `client`, routers `router1`, `router2`, … and `server` in a row.
    Chain(Chain),
    /// `client1`, `client2`, … behind `router-left`; `server1`, `server2`, … behind `router-right`; a bottleneck
    /// between the routers.
    Dumbbell(Box<Dumbbell>),
    /// `leaf1`, `leaf2`, … each joined to `hub`.
    Star(Star),
    /// `client1`, `client2`, … behind `gateway-left`, a satellite, and `gateway-right` with `server1`, `server2`, ….
    Satellite(Box<Satellite>),
    /// Sensors behind sinks, whose connections share a satellite.
    Iot(Box<Iot>),
    /// `uav1`, `uav2`, … on the radio medium `air`, each on its own way through a box.
    Swarm(Box<Swarm>),
}

/// `client` and `server`, joined by one link.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PointToPoint {
    /// The link from `client` to `server`.
    #[serde(flatten)]
    pub line: Line,
    /// Flows from `client` to `server`; by default one, unless the scenario lists flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowTemplate>,
}

/// `client`, routers and `server` in a row.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Chain {
    /// Links in the row, at least 1.
    pub hops: u64,
    /// Each link.
    #[serde(flatten)]
    pub line: Line,
    /// Flows from `client` to `server`; by default one, unless the scenario lists flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowTemplate>,
}

/// Clients on the left, servers on the right, one bottleneck between them.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, transform = access_has_a_default)]
pub struct Dumbbell {
    /// Clients, and servers, at least 1.
    pub pairs: u64,
    /// The bottleneck from `router-left` to `router-right`.
    #[serde(flatten)]
    pub line: Line,
    /// The link of every client and server to its router; by default ten times the rate of the bottleneck and 1 ms.
    /// Data flows forward on all of them.
    pub access: Access,
    /// Flows from each client to its server; by default one, unless the scenario lists flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowTemplate>,
}

/// Leaves around a hub.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Star {
    /// Nodes around the hub, at least 1.
    pub leaves: u64,
    /// Each link from a leaf to the hub.
    #[serde(flatten)]
    pub line: Line,
    /// Flows from each leaf to `hub`; by default one, unless the scenario lists flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowTemplate>,
}

const KINDS: [&str; 7] = ["point-to-point", "chain", "dumbbell", "star", "satellite", "iot", "swarm"];

impl FromValue for Topology {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = Table::open(value, at, "a table such as { kind = \"dumbbell\", … }", errors)?;
        let before = errors.len();
        let kind: String =
            table.required("kind", "write point-to-point, chain, dumbbell, star, satellite, iot or swarm", errors)?;
        let topology = match kind.as_str() {
            "point-to-point" => {
                let (line, flow) = line_and_flow(&mut table, errors);
                line.map(|line| Self::PointToPoint(PointToPoint { line, flow }))
            }
            "chain" => {
                let hops = many(&mut table, at, "hops", MOST_LINKS, errors);
                let (line, flow) = line_and_flow(&mut table, errors);
                hops.zip(line).map(|(hops, line)| Self::Chain(Chain { hops, line, flow }))
            }
            "dumbbell" => {
                let pairs = many(&mut table, at, "pairs", MOST_LINKS / 2 - 1, errors);
                let (line, flow) = line_and_flow(&mut table, errors);
                let access = access(&mut table, at, line.as_ref(), errors);
                let dumbbell =
                    |((pairs, line), access)| Dumbbell { pairs, line, access: Access { line: access }, flow };
                pairs.zip(line).zip(access).map(dumbbell).map(|dumbbell| Self::Dumbbell(Box::new(dumbbell)))
            }
            "star" => {
                let leaves = many(&mut table, at, "leaves", MOST_LINKS, errors);
                let (line, flow) = line_and_flow(&mut table, errors);
                leaves.zip(line).map(|(leaves, line)| Self::Star(Star { leaves, line, flow }))
            }
            "satellite" => {
                let flow = table.optional("flow", errors);
                Satellite::read_from(&mut table, at, flow, errors).map(|satellite| Self::Satellite(Box::new(satellite)))
            }
            "iot" => Iot::read_from(&mut table, at, errors).map(|iot| Self::Iot(Box::new(iot))),
            "swarm" => Swarm::read_from(&mut table, at, errors).map(|swarm| Self::Swarm(Box::new(swarm))),
            other => {
                errors.push(Path::Key(at, "kind"), not_one_of(other, "a topology", &KINDS));
                return None;
            }
        };
        table.finish(errors);
        topology.filter(|_| errors.len() == before)
    }
}

fn line_and_flow(table: &mut Table, errors: &mut Errors) -> (Option<Line>, Option<FlowTemplate>) {
    (Line::read_from(table, errors), table.optional("flow", errors))
}

/// In the file, `access` may be left out.
fn access_has_a_default(schema: &mut schemars::Schema) {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|key| key != "access");
    }
}

impl Topology {
    /// The flows asked for, if any.
    pub(crate) fn template(&self) -> Option<&FlowTemplate> {
        match self {
            Self::PointToPoint(PointToPoint { flow, .. })
            | Self::Chain(Chain { flow, .. })
            | Self::Star(Star { flow, .. }) => flow.as_ref(),
            Self::Dumbbell(dumbbell) => dumbbell.flow.as_ref(),
            Self::Satellite(satellite) => satellite.flow.as_ref(),
            Self::Iot(iot) => Some(&iot.flow),
            Self::Swarm(swarm) => swarm.flow.as_ref(),
        }
    }

    /// Number of its links.
    pub(crate) fn link_count(&self) -> u64 {
        match self {
            Self::PointToPoint(_) => 1,
            Self::Chain(chain) => chain.hops,
            Self::Dumbbell(dumbbell) => dumbbell.pairs.saturating_mul(2).saturating_add(1),
            Self::Star(star) => star.leaves,
            Self::Satellite(satellite) => satellite.link_count(),
            Self::Iot(iot) => iot.link_count(),
            Self::Swarm(_) => 0,
        }
    }

    /// Number of pairs of nodes that exchange flows.
    pub(crate) fn pair_count(&self) -> u64 {
        match self {
            Self::PointToPoint(_) | Self::Chain(_) => 1,
            Self::Dumbbell(dumbbell) => dumbbell.pairs,
            Self::Star(star) => star.leaves,
            Self::Satellite(satellite) => satellite.pairs,
            Self::Iot(iot) => iot.sinks,
            Self::Swarm(swarm) => swarm.pair_count(),
        }
    }

    /// The links, bottleneck first. Data flows forward.
    pub(crate) fn links(&self) -> Box<dyn Iterator<Item = ([String; 2], &Line)> + '_> {
        match self {
            Self::PointToPoint(link) => Box::new(std::iter::once((client_and_server(), &link.line))),
            Self::Chain(chain) => {
                let node = |at: u64| match at {
                    0 => "client".to_owned(),
                    last if last == chain.hops => "server".to_owned(),
                    router => format!("router{router}"),
                };
                Box::new((0..chain.hops).map(move |hop| ([node(hop), node(hop + 1)], &chain.line)))
            }
            Self::Dumbbell(dumbbell) => {
                let bottleneck = (["router-left", "router-right"].map(str::to_owned), &dumbbell.line);
                let edges = (1..=dumbbell.pairs).flat_map(|pair| {
                    let left = [format!("client{pair}"), "router-left".to_owned()];
                    let right = ["router-right".to_owned(), format!("server{pair}")];
                    [left, right].map(|ends| (ends, &dumbbell.access.line))
                });
                Box::new(std::iter::once(bottleneck).chain(edges))
            }
            Self::Star(star) => {
                Box::new((1..=star.leaves).map(|leaf| ([format!("leaf{leaf}"), "hub".to_owned()], &star.line)))
            }
            Self::Satellite(satellite) => satellite.links(),
            Self::Iot(iot) => iot.links(),
            Self::Swarm(_) => Box::new(std::iter::empty()),
        }
    }

    /// Senders and receivers; `seed` draws those that are drawn.
    pub(crate) fn pairs(&self, seed: u64) -> Box<dyn Iterator<Item = [String; 2]> + '_> {
        match self {
            Self::PointToPoint(_) | Self::Chain(_) => Box::new(std::iter::once(client_and_server())),
            Self::Dumbbell(dumbbell) => {
                Box::new((1..=dumbbell.pairs).map(|pair| [format!("client{pair}"), format!("server{pair}")]))
            }
            Self::Star(star) => Box::new((1..=star.leaves).map(|leaf| [format!("leaf{leaf}"), "hub".to_owned()])),
            Self::Satellite(satellite) => Box::new(satellite.pairs()),
            Self::Iot(iot) => Box::new(iot.sink_pairs()),
            Self::Swarm(swarm) => Box::new(swarm.pairs(seed).into_iter()),
        }
    }
}

fn client_and_server() -> [String; 2] {
    ["client".to_owned(), "server".to_owned()]
}
