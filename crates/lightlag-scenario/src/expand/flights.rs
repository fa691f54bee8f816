//! Node movements that depend on more than their own settings: traces from files, and members of groups that follow a
//! leader.

use crate::read::path_file::read_paths;
use crate::spec::{NodeSpec, Scenario, Topology};
use lightlag_mobility::models::trace::TraceFormat;
use lightlag_mobility::models::{Leader, Trace};
use lightlag_mobility::{Area, AreaError, Doubt, Mobility, Paths, Refusal, Track, Vector};

/// Maximum plausible speed in metres per second, the speed of sound. A trace that exceeds it contains a jump.
const JUMP: f64 = 340.0;

/// The files and nodes that movements refer to.
pub(super) struct Flights<'a> {
    scenario: &'a Scenario,
    /// Box in which the swarm moves, if there is one.
    area: Option<Area>,
    files: Vec<(File, Result<Paths, String>)>,
    /// Implausible traces, each with its path in the scenario.
    doubts: Vec<(Doubt, String)>,
}

/// A trace file, and how to read it.
#[derive(Clone, PartialEq)]
struct File {
    name: String,
    format: TraceFormat,
    dimension: u32,
}

impl<'a> Flights<'a> {
    pub(super) fn new(scenario: &'a Scenario, area: Option<Area>) -> Self {
        Self { scenario, area, files: Vec::new(), doubts: Vec::new() }
    }

    /// Returns the implausible traces, each with its path in the scenario.
    pub(super) fn doubts(self) -> Vec<(Doubt, String)> {
        self.doubts
    }

    /// Returns the complete movement of the node `name`, including its trace or its leader. `number` is the index of a
    /// node of the swarm, starting at 0.
    pub(super) fn complete(
        &mut self,
        mobility: &Mobility,
        name: &str,
        number: Option<u64>,
    ) -> Result<Mobility, Refusal> {
        let mobility = self.traced(mobility, name, number)?;
        let Mobility::Group(mut group) = mobility else { return Ok(mobility) };
        if group.leader == name {
            let message = format!("{name} would follow itself; name another node");
            return Err(Refusal { key: Some("leader"), message });
        }
        group.led = self.leader(&group.leader)?.map(Box::new);
        Ok(Mobility::Group(group))
    }

    /// Returns the movement; if it comes from a file, with its trace.
    fn traced(&mut self, mobility: &Mobility, name: &str, number: Option<u64>) -> Result<Mobility, Refusal> {
        let Mobility::Trace(trace) = mobility else { return Ok(mobility.clone()) };
        let track = self.track(trace, name, number).map_err(|message| Refusal { key: Some("file"), message })?;
        Ok(Mobility::Trace(Trace { track: Some(track), ..trace.clone() }))
    }

    fn track(&mut self, trace: &Trace, name: &str, number: Option<u64>) -> Result<Track, String> {
        let file = File { name: trace.file.clone(), format: trace.format, dimension: trace.dimension };
        let known = self.files.iter().position(|(other, _)| *other == file).unwrap_or_else(|| {
            let paths = read_paths(&self.scenario.files, &file.name, file.format, file.dimension);
            self.files.push((file.clone(), paths));
            self.files.len() - 1
        });
        let paths = self.files[known].1.as_ref().map_err(|message| format!("{}: {message}", file.name))?;
        let by_number = || match (number, paths.nodes()) {
            (Some(number), nodes) => nodes.get(number as usize),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let wanted = if trace.node.is_empty() { name } else { &trace.node };
        let named = paths.nodes().iter().find(|path| path.node == wanted);
        let path = match (trace.node.is_empty(), named) {
            (true, None) => by_number(),
            (_, named) => named,
        };
        let Some(path) = path else {
            let nodes = paths.nodes();
            return Err(format!(
                "{}: has no path for {wanted:?}; it has {}, the first for {:?}",
                file.name,
                nodes.len(),
                nodes[0].node
            ));
        };
        for doubt in path.doubts(self.scenario.duration, Some(JUMP)) {
            let key_path = match self.scenario.nodes.iter().position(|node| node.name == name) {
                Some(index) => format!("nodes[{index}].mobility.file"),
                None => "topology.mobility.file".to_owned(),
            };
            if !self.doubts.iter().any(|(other, _)| *other == doubt) {
                self.doubts.push((doubt, key_path));
            }
        }
        Ok(path.track.clone())
    }

    /// Returns the motion of the node `name`; `None` if there is no such node.
    fn leader(&mut self, name: &str) -> Result<Option<Leader>, Refusal> {
        let scenario = self.scenario;
        if let Some(node) = scenario.nodes.iter().find(|node| node.name == name) {
            let mobility = self.traced(&node.mobility.0, name, None)?;
            let place = node.at.map(|place| place.0);
            return Ok(listed_area(node, self.area.as_ref()).ok().map(|area| Leader { mobility, place, area }));
        }
        let (Some(Topology::Swarm(swarm)), Some(area)) = (&scenario.topology, self.area) else { return Ok(None) };
        let Some(number) = (0..swarm.nodes).find(|number| swarm.node(*number) == name) else { return Ok(None) };
        let mobility = self.traced(&swarm.mobility.0, name, Some(number))?;
        let place = swarm.placement.0.place(number as u32, swarm.nodes as u32, &area);
        Ok(Some(Leader { mobility, place, area }))
    }
}

/// Half the side of the default box in which a listed node moves, in metres. It is larger than the radius of a
/// geostationary orbit.
const FAR: f64 = 1e8;

/// Returns the box in which a listed node moves.
pub(super) fn listed_area(node: &NodeSpec, swarm: Option<&Area>) -> Result<Area, AreaError> {
    let corner = Vector::new(FAR, FAR, FAR);
    match (node.area, swarm) {
        (Some(size), _) => Area::new(Vector::ZERO, size.0),
        (None, Some(area)) if node.at.is_none_or(|place| area.contains(place.0)) => Ok(*area),
        (None, _) => Area::new(-corner, corner),
    }
}
