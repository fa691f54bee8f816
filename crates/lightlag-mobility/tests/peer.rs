//! Comparison of node populations with ns-3.37 (`benchmarks/simulators/ns3/mobility.cc`): 10 000 nodes in 400 m × 400 m
//! × 100 m, averaged over the times 100, 200 and 400 s.
//!
//! Moments of positions may differ by 5 %: four standard deviations of the difference between two such samples.
//! Fractions of nodes may differ by 0.02, mean speeds by 2 %.

use lightlag_core::{Duration, Instant};
use lightlag_mobility::models::{GaussMarkov, RandomWaypoint};
use lightlag_mobility::{Area, Mobility, Motion, Vector};

const NODES: u64 = 10_000;

/// Returns the positions of the nodes relative to the centre, and their velocities, after 200 s.
fn population(mobility: &Mobility, area: &Area) -> Vec<(Vector, Vector)> {
    let time = Instant::ZERO + Duration::from_secs(200);
    let node = |seed| {
        let mut motion = Motion::new(mobility, area, None, seed, "a");
        (motion.position(time) - area.centre(), motion.velocity(time))
    };
    (0..NODES).map(node).collect()
}

fn mean(population: &[(Vector, Vector)], quantity: impl Fn(&(Vector, Vector)) -> f64) -> f64 {
    population.iter().map(quantity).sum::<f64>() / population.len() as f64
}

fn near(name: &str, ours: f64, theirs: f64, tolerance: f64) {
    assert!((ours / theirs - 1.0).abs() <= tolerance, "{name}: {ours} against {theirs}");
}

fn at_edge((position, _): &(Vector, Vector)) -> f64 {
    f64::from(position.x.abs() > 160.0)
}

#[test]
fn gauss_markov_has_the_positions_of_ns3() {
    let area = Area::new(Vector::ZERO, Vector::new(400.0, 400.0, 100.0)).unwrap();
    let nodes = population(&Mobility::GaussMarkov(GaussMarkov::calm(10.0, 20.0)), &area);
    near("x²", mean(&nodes, |(place, _)| place.x * place.x), 13_091.0, 0.05);
    near("y²", mean(&nodes, |(place, _)| place.y * place.y), 13_164.0, 0.05);
    near("z²", mean(&nodes, |(place, _)| place.z * place.z), 910.0, 0.05);
    near("speed", mean(&nodes, |(_, velocity)| velocity.length()), 14.99, 0.02);
    near("climb²", mean(&nodes, |(_, velocity)| velocity.z * velocity.z), 4.00, 0.05);
    let edge = mean(&nodes, at_edge);
    assert!((edge - 0.193).abs() < 0.02, "{edge}");
}

#[test]
fn random_waypoint_has_the_positions_of_ns3() {
    let area = Area::new(Vector::ZERO, Vector::new(400.0, 300.0, 0.0)).unwrap();
    let config = RandomWaypoint {
        speed_min: 1.0,
        speed_max: 20.0,
        pause_min: Duration::from_secs(5),
        pause_max: Duration::from_secs(35),
        ..RandomWaypoint::default()
    };
    let nodes = population(&Mobility::RandomWaypoint(config), &area);
    near("x²", mean(&nodes, |(place, _)| place.x * place.x), 10_464.0, 0.05);
    let (edge, paused) = (mean(&nodes, at_edge), mean(&nodes, |(_, velocity)| f64::from(velocity.length() == 0.0)));
    assert!((edge - 0.121).abs() < 0.02, "{edge}");
    assert!((paused - 0.408).abs() < 0.02, "{paused}");
    near("speed", mean(&nodes, |(_, velocity)| velocity.length()) / (1.0 - paused), 6.294, 0.02);
}
