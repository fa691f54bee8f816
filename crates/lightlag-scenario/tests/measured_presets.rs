//! Presets of measured links: their files are read without warnings and equal what the command line offers.

use lightlag_scenario::{parse_json, parse_toml};
use std::path::Path;

const PRESETS: [&str; 9] = [
    "starlink-2026",
    "starlink-autobahn",
    "astra-geo",
    "konnect-geo",
    "lte-2023",
    "dsl-2023",
    "netem-lanman",
    "geo-web",
    "geo-pep",
];

#[test]
fn files_and_stored_presets_are_the_same_scenarios() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let stored = read("python/lightlag/scenario/presets.json");
    for name in PRESETS {
        let text = read(&format!("scenarios/{name}.toml"));
        let scenario = parse_toml(&text, &[]).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
        let start = format!("\"{name}\": ");
        let line =
            stored.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_else(|| panic!("{name} is stored"));
        assert_eq!(parse_json(line.trim_end_matches(','), &[]).as_ref(), Ok(&scenario), "{name}");
        let network = scenario.expand().unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
        assert_eq!(scenario.warnings(&network), [], "{name}");
    }
}
