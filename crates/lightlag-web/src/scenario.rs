//! Parsing and validation of a scenario text, and the network that it describes.

use crate::answer::Reply;
use crate::request::ScenarioRequest;
use crate::text::{KeyRanges, TextRange};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lightlag_core::custom;
use lightlag_scenario::{Crossing, Files, Flow, Hop, Network, Scenario, ScenarioError};
use lightlag_sim::estimate;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of nodes in a reply.
const MOST_NODES: usize = 2_000;
/// Maximum number of links in a reply, and maximum number of flows.
const MOST_PARTS: usize = 8_000;

/// An error, and its range in the scenario text in UTF-16 code units.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Problem {
    path: String,
    message: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    place: Option<TextRange>,
}

/// A warning, and its range in the scenario text.
#[derive(Serialize)]
struct Advice {
    kind: &'static str,
    #[serde(flatten)]
    problem: Problem,
}

/// Reads a scenario with its files.
pub(crate) fn read(scenario_request: &ScenarioRequest) -> Result<Scenario, Vec<Problem>> {
    let ranges = KeyRanges::of(&scenario_request.toml);
    let with_place = |error: ScenarioError| {
        let place = ranges.find(&error.path);
        Problem { path: error.path, message: error.message, place }
    };
    let refused = |path: &str, message: String| vec![with_place(ScenarioError { path: path.to_owned(), message })];
    if let Some(path) = ranges.code().or_else(|| code_in_sets(&scenario_request.sets)) {
        let message =
            "custom algorithms are not supported here; use a built-in one, or run the scenario from the command line";
        return Err(refused(&path, message.to_owned()));
    }
    let files = given(&scenario_request.files).map_err(|(name, message)| refused(&name, message))?;
    let scenario = lightlag_scenario::parse_toml(&scenario_request.toml, &scenario_request.sets);
    let mut scenario = scenario.map_err(|errors| errors.into_iter().map(with_place).collect::<Vec<_>>())?;
    scenario.files = Files::Given(Arc::new(files));
    Ok(scenario)
}

/// Reads and expands a scenario.
pub(crate) fn expanded(
    scenario_request: &ScenarioRequest,
    seed: Option<u64>,
) -> Result<(Scenario, Network), Vec<Problem>> {
    let scenario = read(scenario_request)?;
    match scenario.expand_with(seed.unwrap_or(scenario.seed)) {
        Ok(network) => Ok((scenario, network)),
        Err(errors) => {
            let ranges = KeyRanges::of(&scenario_request.toml);
            let problem = |error: ScenarioError| {
                let range = ranges.find(&error.path);
                Problem { path: error.path, message: error.message, place: range }
            };
            Err(errors.into_iter().map(problem).collect())
        }
    }
}

/// Returns the path of a change that refers to a file with code, if there is one.
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

/// Returns the errors of a scenario or, if it has none, its warnings, its complete form and its size.
pub(crate) fn check(scenario_request: &ScenarioRequest) -> Value {
    let (scenario, network) = match expanded(scenario_request, None) {
        Ok(both) => both,
        Err(errors) => return json!({ "errors": errors, "warnings": [] }),
    };
    let ranges = KeyRanges::of(&scenario_request.toml);
    let advice = |warning: lightlag_scenario::Warning| {
        let range = ranges.find(&warning.path);
        let kind = warning.kind.name();
        Advice { kind, problem: Problem { path: warning.path, message: warning.message, place: range } }
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

/// Returns the network that a scenario describes, limited to what a figure can show.
pub(crate) fn network(scenario_request: &ScenarioRequest) -> Result<Reply, String> {
    let (_, network) = match expanded(scenario_request, None) {
        Ok(both) => both,
        Err(errors) => return Ok(Reply::of(json!({ "errors": errors }))),
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
    Ok(Reply::of(json!({
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

/// Returns the nodes on the path of a flow at the start of the run. Crossing a shared medium or the constellation is
/// one step.
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

/// Returns the kind of each node.
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

/// Returns the error message of a custom algorithm that failed.
pub(crate) fn failure(fault: &custom::Fault) -> String {
    format!("at {:.6} s: {}", fault.at.as_secs_f64(), fault.message)
}
