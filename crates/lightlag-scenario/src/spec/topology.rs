//! Topologies: networks that are generated from a few parameters instead of being listed.

use super::{Access, FlowTemplate, Iot, Line, Satellite, Swarm, access, many};
use crate::read::{Errors, FromValue, Path, TableReader, not_one_of};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Maximum number of links in a network, generated and listed ones in total.
pub(crate) const MOST_LINKS: u64 = 2_000_000;

/// A generated network.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Topology {
    /// `client` and `server`, connected by one link.
    PointToPoint(PointToPoint),
    /// `client`, routers `router1`, `router2`, … and `server` in a row.
    Chain(Chain),
    /// `client1`, `client2`, … attached to `router-left`; `server1`, `server2`, … attached to `router-right`; the
    /// bottleneck is the link between the routers.
    Dumbbell(Box<Dumbbell>),
    /// `leaf1`, `leaf2`, … each connected to `hub`.
    Star(Star),
    /// `client1`, `client2`, … attached to `gateway-left`, a satellite, and `gateway-right` with `server1`, `server2`,
    /// ….
    Satellite(Box<Satellite>),
    /// Sensors attached to sinks, whose connections share one satellite link from `gateway` to `server`.
    Iot(Box<Iot>),
    /// `uav1`, `uav2`, … on the radio medium `air`, each on its own path through a box.
    Swarm(Box<Swarm>),
}

/// `client` and `server`, connected by one link.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PointToPoint {
    /// Link from `client` to `server`.
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
    /// Number of links in the row, at least 1.
    pub hops: u64,
    /// Properties of each link.
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
    /// Number of clients, which is also the number of servers, at least 1.
    pub pairs: u64,
    /// Bottleneck from `router-left` to `router-right`.
    #[serde(flatten)]
    pub line: Line,
    /// Link of each client and server to its router; by default ten times the rate of the bottleneck and 1 ms. Data
    /// flows in the forward direction on all of them.
    pub access: Access,
    /// Flows from each client to its server; by default one, unless the scenario lists flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowTemplate>,
}

/// Leaves around a hub.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Star {
    /// Number of nodes around the hub, at least 1.
    pub leaves: u64,
    /// Link from each leaf to the hub.
    #[serde(flatten)]
    pub line: Line,
    /// Flows from each leaf to `hub`; by default one, unless the scenario lists flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowTemplate>,
}

const KINDS: [&str; 7] = ["point-to-point", "chain", "dumbbell", "star", "satellite", "iot", "swarm"];

impl FromValue for Topology {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = TableReader::open(value, path, "a table such as { kind = \"dumbbell\", … }", errors)?;
        let before = errors.len();
        let kind: String =
            table.required("kind", "write point-to-point, chain, dumbbell, star, satellite, iot or swarm", errors)?;
        let topology = match kind.as_str() {
            "point-to-point" => {
                let (line, flow) = line_and_flow(&mut table, errors);
                line.map(|line| Self::PointToPoint(PointToPoint { line, flow }))
            }
            "chain" => {
                let hops = many(&mut table, path, "hops", MOST_LINKS, errors);
                let (line, flow) = line_and_flow(&mut table, errors);
                hops.zip(line).map(|(hops, line)| Self::Chain(Chain { hops, line, flow }))
            }
            "dumbbell" => {
                let pairs = many(&mut table, path, "pairs", MOST_LINKS / 2 - 1, errors);
                let (line, flow) = line_and_flow(&mut table, errors);
                let access = access(&mut table, path, line.as_ref(), errors);
                let dumbbell =
                    |((pairs, line), access)| Dumbbell { pairs, line, access: Access { line: access }, flow };
                pairs.zip(line).zip(access).map(dumbbell).map(|dumbbell| Self::Dumbbell(Box::new(dumbbell)))
            }
            "star" => {
                let leaves = many(&mut table, path, "leaves", MOST_LINKS, errors);
                let (line, flow) = line_and_flow(&mut table, errors);
                leaves.zip(line).map(|(leaves, line)| Self::Star(Star { leaves, line, flow }))
            }
            "satellite" => {
                let flow = table.optional("flow", errors);
                Satellite::read_from(&mut table, path, flow, errors)
                    .map(|satellite| Self::Satellite(Box::new(satellite)))
            }
            "iot" => Iot::read_from(&mut table, path, errors).map(|iot| Self::Iot(Box::new(iot))),
            "swarm" => Swarm::read_from(&mut table, path, errors).map(|swarm| Self::Swarm(Box::new(swarm))),
            other => {
                errors.push(Path::Key(path, "kind"), not_one_of(other, "a topology", &KINDS));
                return None;
            }
        };
        table.finish(errors);
        topology.filter(|_| errors.len() == before)
    }
}

fn line_and_flow(table: &mut TableReader, errors: &mut Errors) -> (Option<Line>, Option<FlowTemplate>) {
    (Line::read_from(table, errors), table.optional("flow", errors))
}

/// Makes `access` optional in the schema.
fn access_has_a_default(schema: &mut schemars::Schema) {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|key| key != "access");
    }
}

impl Topology {
    /// Returns the settings of generated flows, if there are any.
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

    /// Returns the number of links.
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

    /// Returns the number of pairs of nodes that exchange flows.
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

    /// Returns the links, the bottleneck first. Data flows in the forward direction.
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

    /// Returns the senders and receivers of the flows. `seed` determines those that are random.
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
