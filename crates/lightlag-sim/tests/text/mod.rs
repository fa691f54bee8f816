//! Runs of scenarios that are written as text.

use lightlag_sim::{Control, RunResult, Simulation};

/// The result of a scenario in TOML.
pub fn run(text: &str) -> RunResult {
    let scenario = lightlag_scenario::parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"));
    let simulation = Simulation::new(&scenario, None).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"));
    simulation.run(&mut |_| Control::Continue)
}
