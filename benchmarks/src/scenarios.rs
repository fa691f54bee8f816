//! The scenarios under `benchmarks/scenarios`, as measured runs.

use crate::engine;
use crate::measure::{Sample, max_rss_kib, user_seconds};
use lightlag_sim::{Control, Simulation, scenario};
use std::path::Path;

/// Runs the scenario file `name` with some changes and measures its event loop.
pub fn measure(name: &str, sets: &[(String, String)]) -> Sample {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name).with_extension("toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let scenario = scenario::parse_toml(&text, sets).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let network = scenario.expand().unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let entities = network.links.len() + 2 * network.flows.len() + 1;
    drop(network);
    let simulation = Simulation::new(&scenario, None).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let begin = user_seconds();
    let result = simulation.run(&mut |_| Control::Continue);
    let user_s = user_seconds() - begin;
    let max_rss_kib = max_rss_kib();
    let packet_hops = result.summary.packet_hops;
    drop(result);
    Sample { packet_hops, user_s, floor_ns: engine::floor(entities), max_rss_kib }
}

/// Scheduled losses that leave thousands of holes open: from each of the times on, a packet every 50 µs is lost at
/// the bottleneck, 2,000 in 100 ms.
pub fn holes() -> (String, String) {
    let mut times = Vec::new();
    for second in [15, 30, 45] {
        for loss in 0..2000 {
            times.push(format!("\"{} us\"", second * 1_000_000 + loss * 50));
        }
    }
    ("topology.loss".to_owned(), format!("{{ forward = {{ at = [{}] }}, backward = 0 }}", times.join(", ")))
}
