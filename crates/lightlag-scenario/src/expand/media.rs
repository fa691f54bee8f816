//! Radio media: the nodes on each, listed and generated ones, with their places and radios.

use super::layout::{Joins, Layout};
use crate::network::{Medium, Member};
use crate::read::path_file::read_paths;
use crate::read::{Errors, Path, not_one_of, shortened};
use crate::spec::{MediumSpec, NodeSpec, Scenario, Swarm, Topology};
use lightlag_mobility::models::group::Leader;
use lightlag_mobility::{Area, Mobility, Motion, Paths, Refusal, Vector};
use lightlag_net::NodeId;
use lightlag_net::setting::Registered;
use lightlag_radio::StationConfig;
use std::collections::BTreeMap;

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
    for (index, node) in scenario.nodes.iter().enumerate() {
        let at = Path::Root;
        let list = Path::Key(&at, "nodes");
        let at = Path::Index(&list, index);
        if !taken.insert(&node.name) {
            let message = format!("{:?} has a table already; write one for each node", shortened(&node.name));
            errors.push(Path::Key(&at, "name"), message);
        }
        let names: Vec<String> = media.iter().map(|medium| medium.spec.name.clone()).collect();
        if names.is_empty() {
            errors.push(&at, "there is no medium for its radio; write [[media]] with a standard, or a swarm");
            continue;
        }
        if node.media.is_empty() && names.len() > 1 {
            let message = format!("is missing; there are several media: {}", names.join(", "));
            errors.push(Path::Key(&at, "media"), message);
            continue;
        }
        let on: Vec<&String> = if node.media.is_empty() { vec![&names[0]] } else { node.media.iter().collect() };
        let id = joins.nodes.add(&node.name);
        for (place, name) in on.into_iter().enumerate() {
            let at = Path::Key(&at, "media");
            let Some(medium) = media.iter_mut().find(|medium| medium.spec.name == *name) else {
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
    for medium in &media {
        if let Some((first, others)) = medium.radios.split_first() {
            others.iter().for_each(|other| joins.join_on_air(first.node, other.node));
        }
    }
    media
}

/// Half the side of the box in which a listed node moves where nothing is said, in metres: beyond GEO.
const FAR: f64 = 1e8;

/// The media of a network, in a run with this seed.
pub(super) fn built(scenario: &Scenario, layout: &Layout, seed: u64, errors: &mut Errors) -> Vec<Medium> {
    let swarm = match &scenario.topology {
        Some(Topology::Swarm(swarm)) => Some(&**swarm),
        _ => None,
    };
    let area = swarm.and_then(|swarm| area_of(swarm, errors));
    let mut movements = Movements { scenario, files: BTreeMap::new() };
    let medium = |medium: &Radios| Medium {
        name: medium.spec.name.clone(),
        config: medium.spec.config.clone(),
        routing: medium.spec.routing.0.clone(),
        arp: medium.spec.arp,
        members: medium
            .radios
            .iter()
            .filter_map(|radio| member(radio, medium.spec, area.as_ref(), &mut movements, layout, seed, errors))
            .collect(),
    };
    layout.media.iter().map(medium).collect()
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

/// The movement of nodes, with what it takes from files and from other nodes.
struct Movements<'a> {
    scenario: &'a Scenario,
    /// Files of paths by name, format and dimension.
    files: BTreeMap<(String, u32, u32), Result<Paths, String>>,
}

impl Movements<'_> {
    /// The movement of the node called `name`, number `number` of a swarm if it is of one.
    fn of(&mut self, mobility: &Mobility, name: &str, number: Option<u64>) -> Result<Mobility, Refusal> {
        let mut whole = mobility.clone();
        match &mut whole {
            Mobility::Trace(trace) => {
                let key = (trace.file.clone(), trace.format as u32, trace.dimension);
                let read = || read_paths(&trace.file, trace.format, trace.dimension);
                let paths = self.files.entry(key).or_insert_with(read);
                let paths = paths
                    .as_ref()
                    .map_err(|message| Refusal { key: Some("file"), message: format!("{}: {message}", trace.file) })?;
                trace.track = match number {
                    Some(number) => paths.nodes().get(number as usize).map(|path| path.track.clone()),
                    None => paths.named(name).cloned(),
                };
            }
            Mobility::Group(group) => {
                let leader = self.scenario.nodes.iter().find(|node| node.name == group.leader);
                group.led = leader.map(|leader| {
                    let place = leader.at.map(|place| place.0);
                    Box::new(Leader { mobility: leader.mobility.0.clone(), place })
                });
            }
            _ => {}
        }
        Ok(whole)
    }
}

fn member(
    radio: &Radio,
    medium: &MediumSpec,
    area: Option<&Area>,
    movements: &mut Movements,
    layout: &Layout,
    seed: u64,
    errors: &mut Errors,
) -> Option<Member> {
    let name = layout.nodes.name(radio.node);
    let (motion, settings) = match radio.of {
        Of::Swarm { swarm, number } => {
            let place = swarm.placement.0.place(number as u32, swarm.nodes as u32, area?);
            let area = area?;
            let whole = movements.of(&swarm.mobility.0, name, Some(number));
            match whole.and_then(|mobility| mobility.check(area, place).map(|()| mobility)) {
                Ok(mobility) => (Motion::new(&mobility, area, place, seed, name), medium.radio.clone()),
                Err(Refusal { key, message }) => {
                    let top = Path::Key(&Path::Root, "topology");
                    let (table, key) = (Path::Key(&top, "mobility"), key.unwrap_or("model"));
                    let at = Path::Key(&table, key);
                    // Once: the same is wrong for each node.
                    if !errors.any_at(&at) {
                        errors.push(at, format!("{name}: {message}"));
                    }
                    return None;
                }
            }
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
            (listed_motion(node, area, movements, seed, &at, errors)?, settings)
        }
    };
    Some(Member { node: radio.node, station: StationConfig { name: name.to_owned(), motion, radio: settings } })
}

/// The way of a listed node.
fn listed_motion(
    node: &NodeSpec,
    swarm: Option<&Area>,
    movements: &mut Movements,
    seed: u64,
    at: &Path,
    errors: &mut Errors,
) -> Option<Motion> {
    let corner = Vector::new(FAR, FAR, FAR);
    let whole = || Area::new(-corner, corner);
    let area = match (node.area, swarm) {
        (Some(size), _) => Area::new(Vector::ZERO, size.0),
        (None, Some(area)) if node.at.is_none_or(|place| area.contains(place.0)) => Ok(*area),
        (None, _) => whole(),
    };
    let area = match area {
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
    let whole = movements.of(&node.mobility.0, &node.name, None);
    match whole.and_then(|mobility| mobility.check(&area, place).map(|()| mobility)) {
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
