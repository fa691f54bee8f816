//! Runs scenarios that are given as text.

use lightlag_sim::{Control, RunResult, Simulation};

/// Runs a scenario in TOML, and returns its result.
pub fn run(text: &str) -> RunResult {
    let scenario = lightlag_scenario::parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"));
    let simulation = Simulation::new(&scenario, None).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"));
    simulation.run(&mut |_| Control::Continue)
}
