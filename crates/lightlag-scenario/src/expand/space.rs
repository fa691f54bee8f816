//! The constellation of a network: its satellites and stations become nodes, and its transmitters become links.

use super::joins::{Joins, Nodes};
use crate::network::Filed;
use crate::read::files::Files;
use crate::read::{Errors, nearest, shortened};
use crate::spec::{Constellation, Grid, GroundStationSpec, SatelliteLink, Scenario, VisibilityLimit};
use lightlag_net::NodeId;
use lightlag_orbit::grid::derived::found_grid;
use lightlag_orbit::grid::{Isl, plus_grid, sees_above_the_air};
use lightlag_orbit::{MOST_NODES, Satellite, Sky, Station, Visibility, elements};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::Arc;

/// Name of the node that stands for all satellites, in names of links.
const SKY: &str = "sky";
const GROUND: &str = "ground";
/// Maximum number of transmitters from satellites to the ground.
const MOST_ANTENNAS: usize = 1_000_000;
/// Maximum size in bytes of a file of orbital elements.
const MOST_BYTES: u64 = 100_000_000;

/// A constellation and its nodes.
pub(crate) struct SpaceNetwork<'a> {
    pub(crate) spec: &'a Constellation,
    specs: &'a [GroundStationSpec],
    pub(crate) sky: Arc<Sky>,
    pub(crate) hub: NodeId,
    pub(crate) stations: Vec<NodeId>,
    /// Node of the first satellite.
    pub(super) first: NodeId,
    pub(super) ground: NodeId,
    /// Data about the satellites that come from a file.
    pub(super) filed: Filed,
}

impl<'a> SpaceNetwork<'a> {
    /// Returns the constellation of a scenario, and adds its stations to the nodes of the network.
    pub(super) fn listed(scenario: &'a Scenario, joins: &mut Joins, errors: &mut Errors) -> Option<Self> {
        let Some(spec) = &scenario.constellation else {
            if !scenario.stations.is_empty() {
                errors.push("stations", "have no satellites; write a [constellation]");
            }
            return None;
        };
        if scenario.stations.len() < 2 {
            errors
                .push("stations", "a constellation needs at least two stations; write [[stations]], each with a name");
        }
        for name in [SKY, GROUND] {
            if joins.nodes.has(name) {
                errors.push(
                    "constellation",
                    format!(
                        "{name:?} is reserved for a part of the constellation in names of links; give the node another \
                         name"
                    ),
                );
            }
        }
        let mut stations: Vec<NodeId> = Vec::new();
        for (index, station) in scenario.stations.iter().enumerate() {
            let id = joins.nodes.add(&station.name);
            if stations.contains(&id) {
                let name = shortened(&station.name);
                errors.push(
                    format_args!("stations[{index}].name"),
                    format!("{name:?} already has a table; write one table per station"),
                );
            }
            if let Some(first) = stations.first() {
                joins.join_on_air(*first, id);
            }
            stations.push(id);
        }
        let hub = joins.nodes.add(SKY);
        let ground = joins.nodes.add(GROUND);
        let generated: u64 = spec.shells.iter().map(|shell| u64::from(shell.0.len())).sum();
        let fits = |satellites: u64, errors: &mut Errors| {
            let fits = satellites + scenario.stations.len() as u64 <= MOST_NODES as u64;
            if !fits {
                let many = scenario.stations.len();
                let message =
                    format!("{satellites} satellites and {many} stations are more than {MOST_NODES} in total");
                errors.push("constellation", message);
            }
            fits
        };
        if !fits(generated, errors) {
            return None;
        }
        let (satellites, isls, filed) = satellites(spec, &scenario.files, errors);
        if spec.file.is_some() && !fits(satellites.len() as u64, errors) {
            return None;
        }
        let sites = scenario.stations.iter().map(|station| {
            let visibility = visibility(spec, station.elevation.unwrap_or(spec.elevation));
            Station::moving(station.course.clone(), visibility).relaying(station.relays)
        });
        if !spec.downlink.is_shared && satellites.len() * stations.len() > MOST_ANTENNAS {
            let message = format!(
                "gives {} satellites a transmitter for each of {} stations, more than {MOST_ANTENNAS} in total; let \
                 stations share one",
                satellites.len(),
                stations.len()
            );
            errors.push("constellation.downlink.shared", message);
        }
        let sky = Arc::new(Sky::new(spec.start, satellites, isls, spec.polar_limit, sites.collect()));
        let specs = &scenario.stations;
        Some(Self { spec, specs, sky, hub, stations, first: NodeId(0), ground, filed })
    }

    /// Appends the satellites to the nodes of the network.
    pub(super) fn with_satellites(self, nodes: &mut Nodes, errors: &mut Errors) -> Self {
        let first = NodeId(nodes.names.len() as u32);
        for (index, satellite) in self.sky.satellites().iter().enumerate() {
            if nodes.add(&satellite.name).0 as usize != first.0 as usize + index {
                let name = shortened(&satellite.name);
                errors.push(
                    "constellation",
                    format!(
                        "{name:?} is the name of two satellites, or also of another node; give each shell a unique name"
                    ),
                );
                break;
            }
        }
        Self { first, ..self }
    }

    /// Returns the number of link directions of the constellation, excluding the transmitters of stations.
    pub(super) fn links_aloft(&self) -> usize {
        self.antennas() + 2 * self.sky.isls().len()
    }

    /// Returns the index of a link direction within the constellation. The transmitters of stations come first, then
    /// the transmitters of satellites to the ground, then the links between satellites.
    pub(super) fn direction(&self, from: NodeId, to: NodeId) -> Option<usize> {
        let station = |node: NodeId| self.stations.iter().position(|station| *station == node);
        if to == self.hub {
            return station(from);
        }
        let satellite = self.satellite(from)?;
        let antenna = if self.spec.downlink.is_shared { (to == self.ground).then_some(0) } else { station(to) };
        if let Some(antenna) = antenna {
            let each = if self.spec.downlink.is_shared { 1 } else { self.stations.len() };
            return Some(self.stations.len() + satellite as usize * each + antenna);
        }
        let other = self.satellite(to)?;
        let ends = (0..).zip(self.sky.isls()).find_map(|(index, isl)| match isl.ends {
            ends if ends == [satellite, other] => Some(2 * index),
            ends if ends == [other, satellite] => Some(2 * index + 1),
            _ => None,
        });
        ends.map(|place| self.stations.len() + self.antennas() + place)
    }

    /// Returns true if a node belongs to the constellation, or sends to it.
    pub(super) fn concerns(&self, node: NodeId) -> bool {
        self.stations.contains(&node) || self.stands_for_many(node) || self.satellite(node).is_some()
    }

    /// Returns true if a node stands for all satellites, or for all stations.
    pub(super) fn stands_for_many(&self, node: NodeId) -> bool {
        node == self.hub || node == self.ground
    }

    /// Returns the names of the link directions that start at a node. For a node that stands for many, returns an
    /// example of each kind.
    pub(super) fn directions(&self, from: NodeId, nodes: &Nodes) -> Vec<String> {
        let name = |from: NodeId, to: NodeId| format!("{}->{}", nodes.name(from), nodes.name(to));
        let satellite = |number: u32| NodeId(self.first.0 + number);
        if self.stations.contains(&from) {
            return vec![name(from, self.hub)];
        }
        let number = self.satellite(from).unwrap_or_default();
        let down = if self.spec.downlink.is_shared { &[self.ground] } else { &self.stations[..] };
        let across = self.sky.isls().iter().filter_map(|isl| match isl.ends {
            [a, b] if a == number => Some(satellite(b)),
            [a, b] if b == number => Some(satellite(a)),
            _ => None,
        });
        let up = self.stations.iter().take(1).map(|station| name(*station, self.hub));
        let own = down.iter().copied().chain(across).map(|to| name(satellite(number), to));
        if self.stands_for_many(from) { up.chain(own).collect() } else { own.collect() }
    }

    /// Returns the satellite index of a node.
    fn satellite(&self, node: NodeId) -> Option<u32> {
        node.0.checked_sub(self.first.0).filter(|number| (*number as usize) < self.sky.satellites().len())
    }

    /// Returns the transmitter of each station.
    pub(super) fn uplinks(&self) -> impl Iterator<Item = &'a SatelliteLink> {
        let spec = self.spec;
        self.specs.iter().map(move |station| station.uplink.as_ref().unwrap_or(&spec.uplink))
    }

    /// Returns the number of transmitters from satellites to the ground.
    pub(super) fn antennas(&self) -> usize {
        self.sky.satellites().len() * if self.spec.downlink.is_shared { 1 } else { self.stations.len() }
    }
}

/// Returns the satellites of shells, then the satellites of a file, and the links between them.
fn satellites(spec: &Constellation, files: &Files, errors: &mut Errors) -> (Vec<Satellite>, Vec<Isl>, Filed) {
    let (mut satellites, mut isls, mut filed) = (Vec::new(), Vec::new(), Filed::default());
    for (index, shell) in spec.shells.iter().map(|shell| &shell.0).enumerate() {
        let first = satellites.len() as u32;
        match shell.orbits() {
            Err(refusal) => errors.push(format_args!("constellation.shells[{index}]"), refusal.to_string()),
            Ok(orbits) => {
                let slots = (0..shell.planes).flat_map(|plane| (0..shell.slots).map(move |slot| (plane, slot)));
                satellites.extend(
                    slots
                        .zip(orbits)
                        .map(|((plane, slot), orbit)| Satellite { name: shell.satellite(plane, slot), orbit }),
                );
            }
        }
        if spec.isls == Grid::Plus {
            match plus_grid(shell, first) {
                Ok(grid) => isls.extend(grid),
                Err(message) => errors.push(format_args!("constellation.shells[{index}]"), message),
            }
        }
    }
    if let Some(file) = &spec.file {
        match of_file(spec, files, file) {
            Ok((sets, read)) => {
                filed.oldest = sets.iter().map(|set| spec.start.since(set.epoch()).abs()).fold(0.0, f64::max);
                if spec.isls == Grid::Plus {
                    match found_grid(&sets, &read, satellites.len() as u32) {
                        Ok(grid) => {
                            isls.extend(&grid.isls);
                            filed.grid = Some(grid);
                        }
                        Err(message) => errors.push("constellation.isls", format!("{file}: {message}")),
                    }
                }
                satellites.extend(read);
            }
            Err(message) => errors.push("constellation.file", format!("{file}: {message}")),
        }
    }
    if let Grid::Pairs(pairs) = &spec.isls {
        isls = linked(pairs, &satellites, errors);
    }
    (satellites, isls, filed)
}

/// Returns the links between satellites that are given as pairs of names.
fn linked(pairs: &[[String; 2]], satellites: &[Satellite], errors: &mut Errors) -> Vec<Isl> {
    let numbers: BTreeMap<&str, u32> = (0..).zip(satellites).map(|(at, satellite)| (&*satellite.name, at)).collect();
    let names = || satellites.iter().map(|satellite| &*satellite.name).collect::<Vec<_>>();
    let mut known = BTreeSet::new();
    let mut isls = Vec::with_capacity(pairs.len());
    for (index, [a, b]) in pairs.iter().enumerate() {
        let mut refuse = |message: String| errors.push(format_args!("constellation.isls[{index}]"), message);
        let mut end = |name: &str| {
            let number = numbers.get(name).copied();
            if number.is_none() {
                let near = nearest(name, &names()).map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
                refuse(format!("{:?} is not a satellite{near}", shortened(name)));
            }
            number
        };
        let (Some(one), Some(other)) = (end(a), end(b)) else { continue };
        if one == other {
            refuse(format!("joins {:?} to itself", shortened(a)));
        } else if !known.insert([one.min(other), one.max(other)]) {
            refuse(format!("joins {:?} and {:?}, which are already joined", shortened(a), shortened(b)));
        } else {
            let place = |at: u32| satellites[at as usize].orbit.position(0.0);
            if let (Some(one), Some(other)) = (place(one), place(other))
                && !sees_above_the_air(one, other)
            {
                let apart = one.distance(other) / 1e3;
                let (a, b) = (shortened(a), shortened(b));
                refuse(format!(
                    "joins {a:?} and {b:?}, which are {apart:.0} km apart at the start, with the Earth between them"
                ));
            }
            isls.push(Isl { ends: [one, other], crosses: false });
        }
    }
    isls
}

/// Returns the orbital elements in a file, and the satellites with these elements.
fn of_file(
    spec: &Constellation,
    files: &Files,
    file: &str,
) -> Result<(Vec<elements::ElementSet>, Vec<Satellite>), String> {
    let sets = read_elements(files, file)?;
    let satellites: Result<Vec<Satellite>, _> = sets.iter().map(|set| set.satellite(spec.start)).collect();
    let mut satellites = satellites.map_err(|error| error.to_string())?;
    // Catalogues call several objects of a launch by one name.
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    satellites.iter().for_each(|satellite| *names.entry(satellite.name.clone()).or_default() += 1);
    for (satellite, set) in satellites.iter_mut().zip(&sets).filter(|(satellite, _)| names[&satellite.name] > 1) {
        satellite.name = format!("{} {}", satellite.name, set.number());
    }
    Ok((sets, satellites))
}

/// Reads the orbital elements in a file.
fn read_elements(files: &Files, file: &str) -> Result<Vec<elements::ElementSet>, String> {
    let (mut from, length) = files.open(file)?;
    if length > MOST_BYTES {
        return Err(format!("is longer than {MOST_BYTES} bytes"));
    }
    let mut text = Vec::new();
    from.read_to_end(&mut text).map_err(|error| format!("cannot be read: {error}"))?;
    elements::read(&String::from_utf8_lossy(&text)).map_err(|error| error.to_string())
}

/// Returns the limits of a station's visibility.
fn visibility(spec: &Constellation, elevation: f64) -> Visibility {
    match (spec.visibility, spec.shells.first()) {
        (VisibilityLimit::Slant, Some(shell)) => {
            // On a flat Earth (`max_gsl_length_m` of Hypatia).
            let height = shell.0.height;
            let along = height / libm::tan(elevation.to_radians());
            Visibility::Slant(libm::sqrt(height * height + along * along))
        }
        (VisibilityLimit::Within(distance), _) => Visibility::Slant(distance),
        _ => Visibility::Elevation(elevation),
    }
}
