//! Satellites and nodes that fly, at any time, without a run.

use crate::answer::Answer;
use crate::course::instant;
use crate::request::Asked;
use crate::scenario::{Problem, expanded, failure};
use lightlag_mobility::{Motion, Vector};
use lightlag_orbit::course::courses;
use lightlag_orbit::{Rules, Sky};
use lightlag_scenario::{Hop, Network};
use lightlag_sim::table::Data;
use serde_json::{Value, json};
use std::sync::Arc;

/// The satellites, or the flying nodes, of a scenario.
pub(crate) enum Places {
    Sky { sky: Arc<Sky>, rules: Rules, stations: Vec<String>, pairs: Vec<(String, [usize; 2])> },
    Flight { nodes: Vec<String>, start: Vec<Motion>, now: f64, motions: Vec<Motion>, end: f64 },
}

impl Places {
    /// The satellites and stations of a scenario.
    pub(crate) fn sky(asked: &Asked) -> Result<Result<Self, Vec<Problem>>, String> {
        let network = match expanded(asked, None) {
            Ok((_, network)) => network,
            Err(errors) => return Ok(Err(errors)),
        };
        let Some(space) = &network.space else { return Err("the scenario has no satellites".to_owned()) };
        let stations = space.stations.iter().map(|station| network.nodes[station.0 as usize].clone()).collect();
        Ok(Ok(Self::Sky { sky: space.sky.clone(), rules: space.rules, stations, pairs: pairs(&network) }))
    }

    /// The nodes of a scenario that have radios.
    pub(crate) fn flight(asked: &Asked) -> Result<Result<Self, Vec<Problem>>, String> {
        let (scenario, network) = match expanded(asked, None) {
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

    /// Its names.
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

    /// Where everything is after so many seconds, in metres: satellites and stations in the frame that turns with the Earth, and the
    /// links between satellites that are up; or the nodes that fly.
    pub(crate) fn at(&mut self, time_s: f64) -> Answer {
        let mut answer = Answer::of(json!({ "time_s": time_s }));
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
                // A path forgets what is long behind.
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

    /// The ways between two stations up to a time: since when, and their nodes, satellites first and stations behind them.
    pub(crate) fn courses(&self, from: usize, to: usize, until_s: f64) -> Result<Answer, String> {
        let Self::Sky { sky, rules, stations, .. } = self else {
            return Err("nodes that fly have no courses".to_owned());
        };
        if let Some(station) = [from, to].into_iter().find(|station| *station >= stations.len()) {
            return Err(format!("there is no station {station}; there are {}", stations.len()));
        }
        let until = if until_s.is_finite() { until_s.clamp(0.0, LONGEST) } else { 0.0 };
        let ways = courses(sky, from as u32, to as u32, *rules, None, until).map_err(|fault| failure(&fault))?;
        let ways: Vec<Value> = ways.into_iter().map(|way| json!({ "from_s": way.from, "nodes": way.nodes })).collect();
        Ok(Answer::of(json!({ "courses": ways })))
    }
}

/// The longest time over which ways are sought and nodes are followed: a day.
const LONGEST: f64 = 86_400.0;

/// The stations between which each flow crosses the sky.
fn pairs(network: &Network) -> Vec<(String, [usize; 2])> {
    let crossing = |flow: &lightlag_scenario::Flow| {
        network.way(flow.from, flow.to)?.into_iter().find_map(|hop| match hop {
            Hop::Sky(ends) => Some((flow.name.clone(), ends)),
            Hop::Link(_) | Hop::Air(_) => None,
        })
    };
    network.flows.iter().filter_map(crossing).collect()
}
