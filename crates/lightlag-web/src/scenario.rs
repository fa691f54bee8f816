//! A text that is read and checked, and the network that it describes.

use crate::answer::Answer;
use crate::request::Asked;
use crate::text::{Place, Places};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lightlag_core::own;
use lightlag_scenario::{Crossing, Files, Flow, Hop, Network, Scenario, ScenarioError};
use lightlag_sim::estimate;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most nodes of a network that are told.
const MOST_NODES: usize = 2_000;
/// The most links and flows.
const MOST_PARTS: usize = 8_000;

/// A mistake, and where in the text it is, in units of UTF-16.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Problem {
    path: String,
    message: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    place: Option<Place>,
}

/// A warning, and where in the text it is.
#[derive(Serialize)]
struct Advice {
    kind: &'static str,
    #[serde(flatten)]
    problem: Problem,
}

/// Reads a scenario with its files.
pub(crate) fn read(asked: &Asked) -> Result<Scenario, Vec<Problem>> {
    let places = Places::of(&asked.toml);
    let with_place = |error: ScenarioError| {
        let place = places.find(&error.path);
        Problem { path: error.path, message: error.message, place }
    };
    let refused = |path: &str, message: String| vec![with_place(ScenarioError { path: path.to_owned(), message })];
    if let Some(path) = places.code().or_else(|| code_in_sets(&asked.sets)) {
        let message =
            "an algorithm from a file is not run here; name one of lightlag's, or run it from the command line";
        return Err(refused(&path, message.to_owned()));
    }
    let files = given(&asked.files).map_err(|(name, message)| refused(&name, message))?;
    let scenario = lightlag_scenario::parse_toml(&asked.toml, &asked.sets);
    let mut scenario = scenario.map_err(|errors| errors.into_iter().map(with_place).collect::<Vec<_>>())?;
    scenario.files = Files::Given(Arc::new(files));
    Ok(scenario)
}

/// Reads a scenario and expands it.
pub(crate) fn expanded(asked: &Asked, seed: Option<u64>) -> Result<(Scenario, Network), Vec<Problem>> {
    let scenario = read(asked)?;
    match scenario.expand_with(seed.unwrap_or(scenario.seed)) {
        Ok(network) => Ok((scenario, network)),
        Err(errors) => {
            let places = Places::of(&asked.toml);
            let problem = |error: ScenarioError| {
                let place = places.find(&error.path);
                Problem { path: error.path, message: error.message, place }
            };
            Err(errors.into_iter().map(problem).collect())
        }
    }
}

/// A change that names a file of code.
fn code_in_sets(sets: &[(String, String)]) -> Option<String> {
    let names = |text: &str| text.contains("python") || text.contains("plugin");
    sets.iter().find(|(path, value)| names(path) || names(value)).map(|(path, _)| path.clone())
}

fn given(files: &BTreeMap<String, String>) -> Result<BTreeMap<String, Vec<u8>>, (String, String)> {
    let decoded = |(name, text): (&String, &String)| match STANDARD.decode(text) {
        Ok(bytes) => Ok((name.clone(), bytes)),
        Err(error) => Err((name.clone(), format!("the file is not in base 64: {error}"))),
    };
    files.iter().map(decoded).collect()
}

/// The mistakes of a scenario, or its warnings, complete form and size.
pub(crate) fn check(asked: &Asked) -> Value {
    let (scenario, network) = match expanded(asked, None) {
        Ok(both) => both,
        Err(errors) => return json!({ "errors": errors, "warnings": [] }),
    };
    let places = Places::of(&asked.toml);
    let advice = |warning: lightlag_scenario::Warning| {
        let place = places.find(&warning.path);
        let kind = warning.kind.name();
        Advice { kind, problem: Problem { path: warning.path, message: warning.message, place } }
    };
    let warnings: Vec<Advice> = scenario.warnings(&network).into_iter().map(advice).collect();
    json!({
        "errors": [],
        "warnings": warnings,
        "scenario": scenario.to_json(),
        "links": scenario.link_count(),
        "flows": scenario.flow_count(),
        "memory_bytes": estimate::least_memory(&scenario).0,
        "is_random": scenario.is_random(&network),
    })
}

/// The network that a scenario describes, as far as a picture has room for it.
pub(crate) fn network(asked: &Asked) -> Result<Answer, String> {
    let (_, network) = match expanded(asked, None) {
        Ok(both) => both,
        Err(errors) => return Ok(Answer::of(json!({ "errors": errors }))),
    };
    let kinds = kinds(&network);
    let nodes: Vec<Value> = network
        .nodes
        .iter()
        .zip(&kinds)
        .take(MOST_NODES)
        .map(|(name, kind)| json!({ "name": name, "kind": kind }))
        .collect();
    let links: Vec<Value> = network
        .links
        .iter()
        .take(MOST_PARTS)
        .map(|link| {
            json!({
                "name": link.name,
                "from": link.from.0,
                "to": link.to.0,
                "rate_bps": link.rate.as_bps(),
                "delay_s": link.delay.as_secs_f64(),
            })
        })
        .collect();
    let media: Vec<Value> = network
        .media
        .iter()
        .map(|medium| {
            let members: Vec<u32> = medium.members.iter().map(|member| member.node.0).collect();
            json!({ "name": medium.name, "nodes": members })
        })
        .collect();
    let flows: Vec<Value> = network.flows.iter().take(MOST_PARTS).map(|flow| of_flow(&network, flow)).collect();
    let sky = network.space.as_ref().map(|space| {
        let stations: Vec<u32> = space.stations.iter().map(|node| node.0).collect();
        json!({ "first": space.first.0, "satellites": space.sky.satellites().len(), "stations": stations })
    });
    Ok(Answer::of(json!({
        "nodes": nodes,
        "links": links,
        "media": media,
        "flows": flows,
        "proxies": network.proxies.iter().map(|proxy| proxy.node.0).collect::<Vec<_>>(),
        "sky": sky,
        "more": {
            "nodes": network.nodes.len().saturating_sub(MOST_NODES),
            "links": network.links.len().saturating_sub(MOST_PARTS),
            "flows": network.flows.len().saturating_sub(MOST_PARTS),
        },
    })))
}

fn of_flow(network: &Network, flow: &Flow) -> Value {
    json!({
        "name": flow.name,
        "from": flow.from.0,
        "to": flow.to.0,
        "transport": flow.transport,
        "start_s": flow.start.as_secs_f64(),
        "transfer_bytes": flow.transfer.map(|bytes| bytes.0),
        "way": way(network, flow),
    })
}

/// The nodes on the way of a flow at the start; crossings of media and of the sky are one step.
fn way(network: &Network, flow: &Flow) -> Option<Vec<u32>> {
    let mut nodes = vec![flow.from.0];
    for hop in network.way(flow.from, flow.to)? {
        nodes.push(match hop {
            Hop::Link(link) => network.links[link.0 as usize].to.0,
            Hop::Air(Crossing { medium, to, .. }) => network.media[medium].members[to as usize].node.0,
            Hop::Sky([_, to]) => network.space.as_ref()?.stations[to].0,
        });
    }
    Some(nodes)
}

/// The kind of each node.
fn kinds(network: &Network) -> Vec<&'static str> {
    let mut kinds = vec!["router"; network.nodes.len()];
    let mut name = |node: u32, kind: &'static str| {
        if let Some(place) = kinds.get_mut(node as usize) {
            *place = kind;
        }
    };
    network.flows.iter().flat_map(|flow| [flow.from, flow.to]).for_each(|node| name(node.0, "host"));
    network.media.iter().flat_map(|medium| &medium.members).for_each(|member| name(member.node.0, "radio"));
    if let Some(space) = &network.space {
        space.stations.iter().for_each(|node| name(node.0, "station"));
        (0..space.sky.satellites().len() as u32).for_each(|number| name(space.first.0 + number, "satellite"));
    }
    kinds
}

/// The message of an algorithm from outside that failed.
pub(crate) fn failure(fault: &own::Fault) -> String {
    format!("at {:.6} s: {}", fault.at.as_secs_f64(), fault.message)
}
