//! The scenarios under `benchmarks/scenarios`, as measured runs.

use crate::measure::{Sample, cpu_seconds, max_rss_kib};
use lightlag_sim::results::Summary;
use lightlag_sim::{Control, Simulation};
use std::path::Path;

/// Runs the scenario file `name` with some changes and measures its event loop.
pub fn measure(name: &str, sets: &[(String, String)]) -> Sample {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name).with_extension("toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let scenario = lightlag_scenario::parse_toml(&text, sets).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let network = scenario.expand().unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let entities = (network.links.len() + 2 * network.flows.len() + 1) as u64;
    drop(network);
    let simulation = Simulation::new(&scenario, None).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let begin = cpu_seconds();
    let result = simulation.run(&mut |_| Control::Continue);
    let cpu_s = cpu_seconds() - begin;
    let Summary { packet_hops, events, .. } = result.summary;
    Sample { packet_hops, events, cpu_s, entities, max_rss_kib: max_rss_kib() }
}
