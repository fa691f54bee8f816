//! Radio media: the nodes on each medium, listed and generated, with their positions and radios.

use super::flights::{Flights, listed_area};
use super::joins::{Joins, Nodes};
use crate::network::{Medium, MediumMember};
use crate::read::{Errors, Path, not_one_of, shortened};
use crate::spec::{MediumKind, MediumSpec, MediumStation, NodeSpec, Scenario, StationChanges, Swarm, Topology};
use lightlag_core::params::Registered;
use lightlag_mobility::{Area, Doubt, Motion, Vector};
use lightlag_net::NodeId;

/// A medium and the radios on it.
pub(crate) struct Radios<'a> {
    spec: &'a MediumSpec,
    /// Path of the medium in the scenario.
    path: String,
    radios: Vec<Radio<'a>>,
}

/// A radio of a generated node, or of a listed node with its index.
struct Radio<'a> {
    node: NodeId,
    of: Of<'a>,
}

enum Of<'a> {
    Swarm { swarm: &'a Swarm, number: u64 },
    Listed { node: &'a NodeSpec, index: usize },
}

impl Radios<'_> {
    /// Returns the name of the medium.
    pub(crate) fn name(&self) -> &str {
        &self.spec.name
    }

    /// Returns the nodes on the medium.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.radios.iter().map(|radio| radio.node)
    }
}

/// Returns the media of a scenario, and adds the nodes on them to the network.
pub(super) fn listed<'a>(scenario: &'a Scenario, joins: &mut Joins, errors: &mut Errors) -> Vec<Radios<'a>> {
    let mut media: Vec<Radios> = Vec::new();
    for (index, spec) in scenario.media.iter().enumerate() {
        if media.iter().any(|other| other.spec.name == spec.name) {
            let message =
                format!("{:?} is already the name of another medium; names must be unique", shortened(&spec.name));
            errors.push(format_args!("media[{index}].name"), message);
        }
        media.push(Radios { spec, path: format!("media[{index}]"), radios: Vec::new() });
    }
    if let Some(Topology::Swarm(swarm)) = &scenario.topology {
        if media.iter().any(|other| other.spec.name == swarm.medium.name) {
            let message = format!("{:?} is also the medium of the swarm; names must be unique", swarm.medium.name);
            errors.push("topology.medium.name", message);
        }
        let node = |number: u64, joins: &mut Joins| Radio {
            node: joins.nodes.add(&swarm.node(number)),
            of: Of::Swarm { swarm, number },
        };
        let radios = (0..swarm.nodes).map(|number| node(number, joins)).collect();
        media.push(Radios { spec: &swarm.medium, path: "topology.medium".to_owned(), radios });
    }
    let mut taken = std::collections::BTreeSet::new();
    // Nodes without a position: that they reach no node is not a second error.
    let mut lost = Vec::new();
    for (index, node) in scenario.nodes.iter().enumerate() {
        let root = Path::Root;
        let list = Path::Key(&root, "nodes");
        let node_path = Path::Index(&list, index);
        if !taken.insert(&node.name) {
            let message = format!("{:?} already has a table; write one table per node", shortened(&node.name));
            errors.push(Path::Key(&node_path, "name"), message);
            continue;
        }
        let id = joins.nodes.add(&node.name);
        let names: Vec<String> = media.iter().map(|medium| medium.spec.name.clone()).collect();
        if names.is_empty() {
            lost.push(id);
            errors.push(node_path, "there is no medium for its radio; write [[media]] with a standard, or a swarm");
            continue;
        }
        if node.media.is_empty() && names.len() > 1 {
            lost.push(id);
            let message = format!("is missing; there are several media: {}", names.join(", "));
            errors.push(Path::Key(&node_path, "media"), message);
            continue;
        }
        let on: Vec<&String> = if node.media.is_empty() { vec![&names[0]] } else { node.media.iter().collect() };
        for (position, name) in on.into_iter().enumerate() {
            let media_path = Path::Key(&node_path, "media");
            let Some(medium) = media.iter_mut().find(|medium| medium.spec.name == *name) else {
                lost.push(id);
                let known: Vec<&str> = names.iter().map(String::as_str).collect();
                errors.push(Path::Index(&media_path, position), not_one_of(name, "a medium", &known));
                continue;
            };
            if medium.radios.iter().any(|radio| radio.node == id) {
                let message = format!("{:?} already has a radio on {name:?}", shortened(&node.name));
                errors.push(Path::Index(&media_path, position), message);
                continue;
            }
            medium.radios.push(Radio { node: id, of: Of::Listed { node, index } });
        }
    }
    if let Some(first) = lost.first() {
        (0..joins.nodes.names.len() as u32).for_each(|other| joins.join_on_air(*first, NodeId(other)));
    }
    for medium in &media {
        if let Some((first, others)) = medium.radios.split_first() {
            others.iter().for_each(|other| joins.join_on_air(first.node, other.node));
        }
    }
    media
}

/// Returns the media of a network with these nodes for a run with this seed, and the implausible traces of the nodes.
pub(super) fn built(
    scenario: &Scenario,
    media: &[Radios],
    nodes: &Nodes,
    seed: u64,
    errors: &mut Errors,
) -> (Vec<Medium>, Vec<(Doubt, String)>) {
    let swarm = match &scenario.topology {
        Some(Topology::Swarm(swarm)) => Some(&**swarm),
        _ => None,
    };
    let area = swarm.and_then(|swarm| area_of(swarm, errors));
    let mut flights = Flights::new(scenario, area);
    let area = area.filter(|area| swarm.is_none_or(|swarm| flies(swarm, area, &mut flights, errors)));
    let medium = |medium: &Radios| {
        let kind = &medium.spec.kind;
        let radios = medium.radios.iter();
        let configured =
            radios.filter_map(|radio| member(radio, kind, area.as_ref(), nodes, seed, &mut flights, errors));
        let (members, stations): (_, Vec<_>) = configured.unzip();
        if stations.len() == medium.radios.len() {
            kind.check_stations(&stations, &medium.path, errors);
        }
        Medium {
            name: medium.spec.name.clone(),
            plan: kind.plan(stations),
            routing: medium.spec.routing.clone(),
            arp: medium.spec.arp,
            elfn: medium.spec.elfn,
            members,
        }
    };
    let media = media.iter().map(medium).collect();
    (media, flights.doubts())
}

/// Returns the box of a swarm; `None` if its nodes do not fit in it.
fn area_of(swarm: &Swarm, errors: &mut Errors) -> Option<Area> {
    let area = match Area::new(Vector::ZERO, swarm.area.0) {
        Ok(area) => area,
        Err(error) => {
            errors.push("topology.area", error.to_string());
            return None;
        }
    };
    if let Err(message) = swarm.placement.0.check(swarm.nodes as u32, &area) {
        errors.push("topology.placement", message);
        return None;
    }
    Some(area)
}

/// Returns true if every node of the swarm can move as specified. Reports an error for the first node that cannot.
fn flies(swarm: &Swarm, area: &Area, flights: &mut Flights, errors: &mut Errors) -> bool {
    let refusal = (0..swarm.nodes).find_map(|number| {
        let position = swarm.placement.0.place(number as u32, swarm.nodes as u32, area);
        let mobility = flights.complete(&swarm.mobility.0, &swarm.node(number), Some(number));
        mobility.and_then(|mobility| mobility.check(area, position)).err()
    });
    let Some(refusal) = refusal else { return true };
    match refusal.key {
        Some(key) => errors.push(format_args!("topology.mobility.{key}"), refusal.message),
        None => errors.push("topology.placement", refusal.message),
    }
    false
}

fn member<'a>(
    radio: &Radio<'a>,
    kind: &MediumKind,
    area: Option<&Area>,
    nodes: &Nodes,
    seed: u64,
    flights: &mut Flights,
    errors: &mut Errors,
) -> Option<(MediumMember, MediumStation<'a>)> {
    let name = nodes.name(radio.node);
    let (motion, changes) = match radio.of {
        Of::Swarm { swarm, number } => {
            let position = swarm.placement.0.place(number as u32, swarm.nodes as u32, area?);
            let mobility = flights.complete(&swarm.mobility.0, name, Some(number)).ok()?;
            (Motion::new(&mobility, area?, position, seed, name), StationChanges::default())
        }
        Of::Listed { node, index } => {
            let root = Path::Root;
            let list = Path::Key(&root, "nodes");
            let node_path = Path::Index(&list, index);
            let changes = StationChanges { radio: node.radio.as_ref(), terminal: node.terminal.as_ref() };
            if !kind.admits(changes, &node_path, errors) {
                return None;
            }
            (listed_motion(node, kind, area, seed, flights, &node_path, errors)?, changes)
        }
    };
    Some((MediumMember { node: radio.node }, MediumStation { name: name.to_owned(), motion, changes }))
}

/// Returns the motion of a listed node.
fn listed_motion(
    node: &NodeSpec,
    kind: &MediumKind,
    swarm: Option<&Area>,
    seed: u64,
    flights: &mut Flights,
    path: &Path,
    errors: &mut Errors,
) -> Option<Motion> {
    let area = match listed_area(node, swarm) {
        Ok(area) => area,
        Err(error) => {
            errors.push(Path::Key(path, "area"), error.to_string());
            return None;
        }
    };
    let is_static = node.mobility.0.name() == "static";
    if node.at.is_none() && is_static && !kind.is_star() {
        errors.push(
            Path::Key(path, "at"),
            "is missing; specify the coordinates of the node, such as [\"0 m\", \"0 m\", \"1.5 m\"]",
        );
        return None;
    }
    // The stations of a star have one delay each, wherever they are.
    let position = node.at.map(|place| place.0).or((is_static && kind.is_star()).then_some(Vector::ZERO));
    let mobility = flights.complete(&node.mobility.0, &node.name, None);
    match mobility.and_then(|mobility| mobility.check(&area, position).map(|()| mobility)) {
        Ok(mobility) => Some(Motion::new(&mobility, &area, position, seed, &node.name)),
        Err(refusal) => {
            match refusal.key {
                Some(key) => errors.push(Path::Key(&Path::Key(path, "mobility"), key), refusal.message),
                None => errors.push(Path::Key(path, "at"), refusal.message),
            }
            None
        }
    }
}
