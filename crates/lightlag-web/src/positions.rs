//! Positions of satellites and flying nodes at any time, without a run.

use crate::answer::Reply;
use crate::request::ScenarioRequest;
use crate::scenario::{Problem, expanded, failure};
use crate::started_run::instant;
use lightlag_mobility::{Motion, Vector};
use lightlag_orbit::path_changes::courses;
use lightlag_orbit::{PathRules, Sky};
use lightlag_scenario::{Hop, Network};
use lightlag_sim::table::Data;
use serde_json::{Value, json};
use std::sync::Arc;

/// The satellites and stations, or the flying nodes, of a scenario.
pub(crate) enum Positions {
    Sky { sky: Arc<Sky>, rules: PathRules, stations: Vec<String>, pairs: Vec<(String, [usize; 2])> },
    Flight { nodes: Vec<String>, start: Vec<Motion>, now: f64, motions: Vec<Motion>, end: f64 },
}

impl Positions {
    /// Returns the satellites and stations of a scenario.
    pub(crate) fn sky(scenario_request: &ScenarioRequest) -> Result<Result<Self, Vec<Problem>>, String> {
        let network = match expanded(scenario_request, None) {
            Ok((_, network)) => network,
            Err(errors) => return Ok(Err(errors)),
        };
        let Some(space) = &network.space else { return Err("the scenario has no satellites".to_owned()) };
        let stations = space.stations.iter().map(|station| network.nodes[station.0 as usize].clone()).collect();
        Ok(Ok(Self::Sky { sky: space.sky.clone(), rules: space.rules, stations, pairs: pairs(&network) }))
    }

    /// Returns the nodes of a scenario that have radios.
    pub(crate) fn flight(scenario_request: &ScenarioRequest) -> Result<Result<Self, Vec<Problem>>, String> {
        let (scenario, network) = match expanded(scenario_request, None) {
            Ok(expanded) => expanded,
            Err(errors) => return Ok(Err(errors)),
        };
        let members: Vec<_> = network.media.iter().flat_map(|medium| &medium.members).collect();
        if members.is_empty() {
            return Err("the scenario has no nodes with radios".to_owned());
        }
        let nodes = members.iter().map(|member| network.nodes[member.node.0 as usize].clone()).collect();
        let start: Vec<Motion> = network.media.iter().flat_map(|medium| medium.motions().cloned()).collect();
        let end = scenario.duration.as_secs_f64().min(LONGEST);
        Ok(Ok(Self::Flight { nodes, motions: start.clone(), start, now: 0.0, end }))
    }

    /// Returns the names of the satellites and stations, or of the nodes.
    pub(crate) fn about(&self) -> Value {
        match self {
            Self::Sky { sky, rules, stations, pairs } => json!({
                "satellites": sky.satellites().iter().map(|satellite| &satellite.name).collect::<Vec<_>>(),
                "stations": stations,
                "start": sky.start().to_string(),
                "interval_s": rules.interval.as_secs_f64(),
                "flows": pairs.iter().map(|(name, [from, to])| json!({ "name": name, "from": from, "to": to })).collect::<Vec<_>>(),
            }),
            Self::Flight { nodes, .. } => json!({ "nodes": nodes }),
        }
    }

    /// Returns all positions at `time_s` in metres. Positions of satellites and stations are in the frame that rotates
    /// with the Earth; the reply then also contains the inter-satellite links that are up.
    pub(crate) fn at(&mut self, time_s: f64) -> Reply {
        let mut answer = Reply::of(json!({ "time_s": time_s }));
        match self {
            Self::Sky { sky, .. } => {
                let mut positions = Vec::new();
                sky.positions(instant(time_s), &mut positions);
                let up = sky.isls().iter().filter(|isl| {
                    let [a, b] = isl.ends.map(|end| positions[end as usize]);
                    sky.isl_is_up(isl, a, b)
                });
                let (a, b): (Vec<u32>, Vec<u32>) = up.map(|isl| (isl.ends[0], isl.ends[1])).unzip();
                let stations = sky.stations().iter().map(|station| station.site(instant(time_s)).position());
                positions.extend(stations);
                let column = |of: fn(&Vector) -> f64| Data::Numbers(positions.iter().map(of).collect());
                let columns = vec![("x", column(|at| at.x)), ("y", column(|at| at.y)), ("z", column(|at| at.z))];
                answer.numbers("places", columns);
                answer.numbers("isls", vec![("a", Data::Words(a)), ("b", Data::Words(b))]);
            }
            Self::Flight { start, now, motions, end, .. } => {
                // A path is followed leg by leg.
                let time_s = time_s.min(*end);
                // A path discards its distant past.
                if time_s < *now {
                    motions.clone_from(start);
                }
                *now = time_s;
                let places: Vec<_> = motions.iter_mut().map(|motion| motion.position(instant(time_s))).collect();
                let column = |of: fn(&Vector) -> f64| Data::Numbers(places.iter().map(of).collect());
                let columns = vec![("x", column(|at| at.x)), ("y", column(|at| at.y)), ("z", column(|at| at.z))];
                answer.numbers("places", columns);
            }
        }
        answer
    }

    /// Returns the paths between two stations from the start to `until_s`: the start time of each path, and its nodes.
    /// Node indices count the satellites first, then the stations.
    pub(crate) fn courses(&self, from: usize, to: usize, until_s: f64) -> Result<Reply, String> {
        let Self::Sky { sky, rules, stations, .. } = self else {
            return Err("mobile nodes have no fixed paths".to_owned());
        };
        if let Some(station) = [from, to].into_iter().find(|station| *station >= stations.len()) {
            return Err(format!("there is no station {station}; there are {}", stations.len()));
        }
        let until = if until_s.is_finite() { until_s.clamp(0.0, LONGEST) } else { 0.0 };
        let ways = courses(sky, from as u32, to as u32, *rules, None, until).map_err(|fault| failure(&fault))?;
        let ways: Vec<Value> = ways.into_iter().map(|way| json!({ "from_s": way.from, "nodes": way.nodes })).collect();
        Ok(Reply::of(json!({ "courses": ways })))
    }
}

/// Maximum time for paths and motions in seconds: a day.
const LONGEST: f64 = 86_400.0;

/// Returns the stations where each flow enters and leaves the constellation.
fn pairs(network: &Network) -> Vec<(String, [usize; 2])> {
    let crossing = |flow: &lightlag_scenario::Flow| {
        network.way(flow.from, flow.to)?.into_iter().find_map(|hop| match hop {
            Hop::Sky(ends) => Some((flow.name.clone(), ends)),
            Hop::Link(_) | Hop::Air(_) => None,
        })
    };
    network.flows.iter().filter_map(crossing).collect()
}
