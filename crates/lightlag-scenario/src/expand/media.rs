//! Radio media: the nodes on each, listed and generated ones, with their places and radios.

use super::flights::{Flights, listed_area};
use super::joins::{Joins, Nodes};
use crate::network::{Medium, MediumPlan, Member, WifiPlan};
use crate::read::{Errors, Path, not_one_of, shortened};
use crate::spec::{MediumKind, MediumSpec, NodeSpec, Scenario, Swarm, Topology, WifiSpec};
use lightlag_core::params::Registered;
use lightlag_mobility::{Area, Doubt, Motion, Vector};
use lightlag_net::NodeId;
use lightlag_wifi::StationConfig;

/// A medium and the radios on it.
pub(crate) struct Radios<'a> {
    spec: &'a MediumSpec,
    radios: Vec<Radio<'a>>,
}

/// A radio: of a generated node, or of a listed one with its index.
struct Radio<'a> {
    node: NodeId,
    of: Of<'a>,
}

enum Of<'a> {
    Swarm { swarm: &'a Swarm, number: u64 },
    Listed { node: &'a NodeSpec, index: usize },
}

impl Radios<'_> {
    /// The name of the medium.
    pub(crate) fn name(&self) -> &str {
        &self.spec.name
    }

    /// The nodes on the medium.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.radios.iter().map(|radio| radio.node)
    }
}

/// The media of a scenario, whose nodes become nodes of the network.
pub(super) fn listed<'a>(scenario: &'a Scenario, joins: &mut Joins, errors: &mut Errors) -> Vec<Radios<'a>> {
    let mut media: Vec<Radios> = Vec::new();
    for (index, spec) in scenario.media.iter().enumerate() {
        if media.iter().any(|other| other.spec.name == spec.name) {
            let message = format!("{:?} names another medium already; names are unique", shortened(&spec.name));
            errors.push(format_args!("media[{index}].name"), message);
        }
        media.push(Radios { spec, radios: Vec::new() });
    }
    if let Some(Topology::Swarm(swarm)) = &scenario.topology {
        if media.iter().any(|other| other.spec.name == swarm.medium.name) {
            let message = format!("{:?} is also the medium of the swarm; names are unique", swarm.medium.name);
            errors.push("topology.medium.name", message);
        }
        let node = |number: u64, joins: &mut Joins| Radio {
            node: joins.nodes.add(&Swarm::node(number)),
            of: Of::Swarm { swarm, number },
        };
        let radios = (0..swarm.nodes).map(|number| node(number, joins)).collect();
        media.push(Radios { spec: &swarm.medium, radios });
    }
    let mut taken = std::collections::BTreeSet::new();
    // Nodes of which nobody knows where they are: that they reach nobody is no second mistake.
    let mut lost = Vec::new();
    for (index, node) in scenario.nodes.iter().enumerate() {
        let at = Path::Root;
        let list = Path::Key(&at, "nodes");
        let at = Path::Index(&list, index);
        if !taken.insert(&node.name) {
            let message = format!("{:?} has a table already; write one for each node", shortened(&node.name));
            errors.push(Path::Key(&at, "name"), message);
            continue;
        }
        let id = joins.nodes.add(&node.name);
        let names: Vec<String> = media.iter().map(|medium| medium.spec.name.clone()).collect();
        if names.is_empty() {
            lost.push(id);
            errors.push(at, "there is no medium for its radio; write [[media]] with a standard, or a swarm");
            continue;
        }
        if node.media.is_empty() && names.len() > 1 {
            lost.push(id);
            let message = format!("is missing; there are several media: {}", names.join(", "));
            errors.push(Path::Key(&at, "media"), message);
            continue;
        }
        let on: Vec<&String> = if node.media.is_empty() { vec![&names[0]] } else { node.media.iter().collect() };
        for (place, name) in on.into_iter().enumerate() {
            let at = Path::Key(&at, "media");
            let Some(medium) = media.iter_mut().find(|medium| medium.spec.name == *name) else {
                lost.push(id);
                let known: Vec<&str> = names.iter().map(String::as_str).collect();
                errors.push(Path::Index(&at, place), not_one_of(name, "a medium", &known));
                continue;
            };
            if medium.radios.iter().any(|radio| radio.node == id) {
                let message = format!("{:?} has a radio on {name:?} already", shortened(&node.name));
                errors.push(Path::Index(&at, place), message);
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

/// The media of a network with these nodes, in a run with this seed, and doubts about the paths of the nodes.
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
        let MediumKind::Wifi(wifi) = &medium.spec.kind;
        let found = medium.radios.iter();
        let found = found.filter_map(|radio| member(radio, wifi, area.as_ref(), nodes, seed, &mut flights, errors));
        let (members, stations) = found.unzip();
        Medium {
            name: medium.spec.name.clone(),
            plan: MediumPlan::Wifi(WifiPlan { config: wifi.config.clone(), stations }),
            routing: medium.spec.routing.clone(),
            arp: medium.spec.arp,
            elfn: medium.spec.elfn,
            members,
        }
    };
    let media = media.iter().map(medium).collect();
    (media, flights.doubts())
}

/// The box of a swarm, if its nodes fit in it.
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

/// Whether every node of the swarm can move as it says. The first that cannot leaves an error.
fn flies(swarm: &Swarm, area: &Area, flights: &mut Flights, errors: &mut Errors) -> bool {
    let refusal = (0..swarm.nodes).find_map(|number| {
        let place = swarm.placement.0.place(number as u32, swarm.nodes as u32, area);
        let mobility = flights.complete(&swarm.mobility.0, &Swarm::node(number), Some(number));
        mobility.and_then(|mobility| mobility.check(area, place)).err()
    });
    let Some(refusal) = refusal else { return true };
    match refusal.key {
        Some(key) => errors.push(format_args!("topology.mobility.{key}"), refusal.message),
        None => errors.push("topology.placement", refusal.message),
    }
    false
}

fn member(
    radio: &Radio,
    medium: &WifiSpec,
    area: Option<&Area>,
    nodes: &Nodes,
    seed: u64,
    flights: &mut Flights,
    errors: &mut Errors,
) -> Option<(Member, StationConfig)> {
    let name = nodes.name(radio.node);
    let (motion, settings) = match radio.of {
        Of::Swarm { swarm, number } => {
            let place = swarm.placement.0.place(number as u32, swarm.nodes as u32, area?);
            let mobility = flights.complete(&swarm.mobility.0, name, Some(number)).ok()?;
            (Motion::new(&mobility, area?, place, seed, name), medium.radio.clone())
        }
        Of::Listed { node, index } => {
            let at = Path::Root;
            let list = Path::Key(&at, "nodes");
            let at = Path::Index(&list, index);
            let settings = match &node.radio {
                Some(changes) => changes.of(medium.radio.clone(), &Path::Key(&at, "radio"), errors),
                None => medium.radio.clone(),
            };
            if let Err((key, message)) = settings.check(&medium.config) {
                errors.push(Path::Key(&Path::Key(&at, "radio"), key), message);
                return None;
            }
            (listed_motion(node, area, seed, flights, &at, errors)?, settings)
        }
    };
    Some((Member { node: radio.node }, StationConfig { name: name.to_owned(), motion, radio: settings }))
}

/// The way of a listed node.
fn listed_motion(
    node: &NodeSpec,
    swarm: Option<&Area>,
    seed: u64,
    flights: &mut Flights,
    at: &Path,
    errors: &mut Errors,
) -> Option<Motion> {
    let area = match listed_area(node, swarm) {
        Ok(area) => area,
        Err(error) => {
            errors.push(Path::Key(at, "area"), error.to_string());
            return None;
        }
    };
    let is_static = node.mobility.0.name() == "static";
    if node.at.is_none() && is_static {
        errors.push(Path::Key(at, "at"), "is missing; say where the node is, such as [\"0 m\", \"0 m\", \"1.5 m\"]");
        return None;
    }
    let place = node.at.map(|place| place.0);
    let mobility = flights.complete(&node.mobility.0, &node.name, None);
    match mobility.and_then(|mobility| mobility.check(&area, place).map(|()| mobility)) {
        Ok(mobility) => Some(Motion::new(&mobility, &area, place, seed, &node.name)),
        Err(refusal) => {
            match refusal.key {
                Some(key) => errors.push(Path::Key(&Path::Key(at, "mobility"), key), refusal.message),
                None => errors.push(Path::Key(at, "at"), refusal.message),
            }
            None
        }
    }
}
