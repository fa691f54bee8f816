//! Any text is a scenario or a list of errors, never a panic; and a scenario survives its own serialisation.
//!
//! Comment lines `#set key=value` are changes as in `--set`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_scenario::{Part, Scenario, ScenarioError, parse_json, parse_toml};
use lightlag_sim::estimate::{least_memory, results_size};

/// Maximum number of links and of flows of a network that is built; larger ones would only take longer.
const MOST: u64 = 100;
/// Maximum number of satellites; larger constellations would only take longer.
const MOST_SATELLITES: u32 = 300;

fuzz_target!(|text: &str| {
    let changes: Vec<(String, String)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("#set ")?.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    exercise(parse_toml(text, &changes));
    exercise(parse_json(text, &[]));
});

fn exercise(parsed: Result<Scenario, Vec<ScenarioError>>) {
    let scenario = match parsed {
        Ok(scenario) => scenario,
        Err(errors) => {
            assert!(!errors.is_empty(), "a rejection has a reason");
            return;
        }
    };
    let json = scenario.to_json().to_string();
    assert_eq!(parse_json(&json, &[]).as_ref(), Ok(&scenario), "{json}");
    let shells = || scenario.constellation.iter().flat_map(|sky| &sky.shells);
    if scenario.link_count() <= MOST
        && shells().map(|shell| shell.0.len()).fold(0, u32::saturating_add) <= MOST_SATELLITES
        && scenario.flow_count() <= MOST
        && let Ok(network) = scenario.expand()
    {
        // The links of a constellation are added to these.
        if network.space.is_none() {
            assert_eq!(network.links.len() as u64, 2 * scenario.link_count());
        }
        // A flow may become several: the transfers of an arrival process, perhaps none, or a browser's connections.
        let whole = network.flows.iter().filter(|flow| flow.part == Part::Whole || flow.part == Part::Connection(0));
        assert!(whole.count() as u64 <= scenario.flow_count());
        scenario.warnings(&network);
        assert!(results_size(&scenario, &network).0 < 1 << 60 && least_memory(&scenario).0 > 0);
    }
}
