//! Constellations: the time to find the paths, and the cost of a packet over them.

use crate::measure::{Sample, best, cpu_seconds, in_child, max_rss_kib};
use crate::report::{Verdicts, print_row, repeated};
use lightlag_core::{Duration, Instant};
use lightlag_orbit::grid::plus_grid;
use lightlag_orbit::{PathRules, Phasing, Planner, Satellite, Shell, Site, Sky, Station, Utc, Visibility, cities};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The measurement of a plan.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Simulated time in seconds.
    simulated_s: f64,
    /// CPU time for these seconds, in seconds.
    cpu_s: f64,
    /// Number of times when paths change.
    changes: u64,
    /// CPU time up to the first path, in seconds.
    set_up_s: f64,
    /// Memory in KiB, without the memory of an empty process.
    tables_kib: u64,
}

/// Plans that are measured: name, exits, stations, whether changes are found to the millisecond, simulated seconds.
const PLANS: [(&str, usize, usize, bool, u64); 5] = [
    ("steps-100", 100, 100, false, 20),
    ("steps-10", 10, 100, false, 60),
    ("events-10", 10, 100, true, 60),
    ("events-100", 100, 100, true, 20),
    ("large", 1000, 1000, true, 1),
];

/// The first generation of Starlink: the first shell, or all five of the filing of 2021.
fn satellites(all: bool) -> (Vec<Satellite>, Vec<lightlag_orbit::grid::Isl>) {
    let shells = [
        (550.0, 53.0, 72, 22, 39),
        (540.0, 53.2, 72, 22, 39),
        (570.0, 70.0, 36, 20, 11),
        (560.0, 97.6, 6, 58, 1),
        (560.0, 97.6, 4, 43, 1),
    ];
    let (mut satellites, mut isls) = (Vec::new(), Vec::new());
    for (height, inclination, planes, slots, f) in shells.into_iter().take(if all { 5 } else { 1 }) {
        let shell = Shell {
            height: height * 1e3,
            inclination,
            planes,
            slots,
            phasing: Phasing::Walker(f),
            may_collide: true,
            ..Shell::default()
        };
        isls.extend(plus_grid(&shell, satellites.len() as u32).expect("a grid"));
        let orbits = shell.orbits().expect("a shell").into_iter();
        satellites.extend(orbits.map(|orbit| Satellite { name: String::new(), orbit }));
    }
    (satellites, isls)
}

/// Stations in cities, then on a spiral around the Earth.
fn stations(many: usize) -> Vec<Station> {
    let in_cities = cities::names().filter_map(cities::find).filter(|(north, _)| north.abs() < 56.0);
    let spiral = (0..many).map(|at| {
        let part = (at as f64 + 0.5) / many as f64;
        (110.0 * part - 55.0, (at as f64 * 137.508) % 360.0 - 180.0)
    });
    let site = |(latitude, longitude)| Site { latitude, longitude, height: 0.0 };
    in_cities.chain(spiral).take(many).map(|at| Station::new(site(at), Visibility::Elevation(25.0))).collect()
}

/// Measures the plan of this name.
pub fn measure(name: &str) -> Option<Plan> {
    let (_, exits, many, exact, seconds) = PLANS.into_iter().find(|(known, ..)| *known == name)?;
    let before = (cpu_seconds(), max_rss_kib());
    let (satellites, isls) = satellites(name == "large");
    let sky = Arc::new(Sky::new(Utc::Y2000, satellites, isls, 90.0, stations(many)));
    // Each station sends to one of the exits, and each exit has a sender.
    let pairs: Vec<(u32, u32)> = (0..many)
        .map(|from| (from as u32, ((from * 37 + 11) % exits) as u32))
        .filter(|(from, to)| from != to)
        .collect();
    let until = Instant::ZERO + Duration::from_secs(seconds);
    let mut planner = Planner::new(sky, &pairs, PathRules { exact, ..PathRules::default() }, until);
    let set_up_s = cpu_seconds() - before.0;
    let begin = cpu_seconds();
    let mut changes = 0;
    while planner.next_change().is_some() {
        planner.advance();
        changes += 1;
    }
    let cpu_s = cpu_seconds() - begin;
    Some(Plan { simulated_s: seconds as f64, cpu_s, changes, set_up_s, tables_kib: max_rss_kib() - before.1 })
}

/// Measures constellations only, and prints the results.
pub fn print_skies() {
    let mut verdicts = Verdicts::default();
    skies(&mut verdicts);
    verdicts.print();
}

/// Measures plans of 1,584 satellites and 100 stations, a large plan, and packets through a constellation.
pub fn skies(verdicts: &mut Verdicts) {
    println!();
    for (name, least) in [("steps-100", 2.0), ("steps-10", 10.0), ("events-10", 20.0), ("events-100", 0.0)] {
        let plans: Vec<Plan> = (0..3).map(|_| in_child(&["plan", name])).collect();
        let best = plans.into_iter().min_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s)).expect("three plans");
        let speed = best.simulated_s / best.cpu_s;
        println!(
            "plan {name}: {speed:.1} simulated s a CPU second, {} changes, set up in {:.0} ms",
            best.changes,
            best.set_up_s * 1e3
        );
        if least > 0.0 {
            verdicts
                .add(speed >= least, format!("plan {name}: {speed:.1} simulated s a CPU second (at least {least})"));
            verdicts.add(
                best.set_up_s <= 0.1,
                format!("plan {name}: set up in {:.0} ms (at most 100)", best.set_up_s * 1e3),
            );
        }
    }
    let large: Plan = in_child(&["plan", "large"]);
    let megabytes = large.tables_kib as f64 * 1.024e-3;
    verdicts.add(
        megabytes <= 64.0,
        format!("4,408 satellites, 1,000 stations, all of them exits: {megabytes:.0} MB (at most 64)"),
    );

    let flows: Sample = in_child(&["once", "starlink"]);
    print_row("starlink, 100 flows of 10 Mbit/s", flows);
    verdicts.add(
        flows.cpu_s <= 20.0,
        format!("starlink: 60 s of 100 flows take {:.1} s of CPU time (at most 20)", flows.cpu_s),
    );
    let routes = "constellation.interval=1 h";
    let (moving, still) = alternating(&["once", "sky-chain"], &["once", "sky-chain", routes]);
    print_row("one flow over satellites", moving);
    print_row("the same with static routes", still);
    let ratio = moving.nanos() / still.nanos();
    verdicts.add(
        ratio <= 1.05,
        format!("a packet-hop with routes that change costs {ratio:.2} × one with static routes (at most 1.05 ×)"),
    );
    let wires = repeated(5, &["once", "wire-chain"]);
    print_row("the same over wires", wires);
    println!("a packet-hop over satellites costs {:.2} × one over wires", moving.nanos() / wires.nanos());
}

/// Runs two benches alternately, and returns the best sample of each.
fn alternating(one: &[&str], other: &[&str]) -> (Sample, Sample) {
    let pairs: Vec<(Sample, Sample)> = (0..9).map(|_| (in_child(one), in_child(other))).collect();
    (best(pairs.iter().map(|pair| pair.0)), best(pairs.iter().map(|pair| pair.1)))
}
