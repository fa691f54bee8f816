//! Invariants of every run, tested with random scenarios. Each scenario is generated from its index.
//!
//! `cargo test` runs the first 500 scenarios. `make soak` runs 20,000, or `SOAK_COUNT`, starting at index `SOAK_FIRST`.
//! A scenario that fails is printed with its index; `SOAK_SEED=NUMBER cargo test -p lightlag-sim --test soak` runs it
//! alone.
//!
//! `SOAK_WRITE=FILE` writes the first scenarios with their hashes, one line of JSON each, for another build to repeat.
//!
//! The number of swarms and of constellations is a tenth of that. `SOAK_SWARM=NUMBER` or `SOAK_SKY=NUMBER` runs one of
//! them alone.

mod air;
mod checks;
mod generator;
mod sky;
mod tcp;

use generator::Drawn;
use lightlag_sim::{Control, Parallel, RunResult, Simulation};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Default number of scenarios.
const COUNT: u64 = 500;
/// One in this number of scenarios runs twice.
const REPEATED: u64 = 10;
/// Numbers of scenarios, swarms and constellations that are written for another build.
const WRITTEN: [u64; 3] = [140, 30, 30];
/// Numbers of lanes. Each scenario also runs with one of them, on two threads or on one thread per lane.
const LANES: [usize; 3] = [2, 3, 8];
/// Number of scenarios for each swarm, and for each constellation.
const FOR_A_SWARM: u64 = 10;
/// One in this number of swarms also runs with captures.
const CAPTURED: u64 = 4;
/// Number of scenarios between two lines of progress.
const REPORTED: u64 = 1_000;

/// Totals over all runs.
#[derive(Default)]
struct Total {
    flows: u64,
    failed: u64,
    /// Number of flows that delivered payload.
    reached: u64,
    packet_hops: u64,
    events: u64,
    /// Maximum ratio of a scenario's events to [`checks::expected_events`]; then the index of this scenario.
    busiest: (f64, u64),
    /// Number of scenarios whose network was partitioned.
    cut: u64,
    broken: Vec<u64>,
}

fn prepared(text: &str) -> Simulation {
    let scenario = lightlag_scenario::parse_toml(text, &[]).unwrap_or_else(|errors| panic!("refused: {errors:#?}"));
    Simulation::new(&scenario, None).unwrap_or_else(|errors| panic!("refused: {errors:#?}"))
}

fn run(text: &str) -> RunResult {
    finished(prepared(text))
}

fn finished(simulation: Simulation) -> RunResult {
    // A run that does not end by itself is stopped, and then it has too many events.
    simulation.run(&mut |progress| if progress.events > checks::MOST { Control::Stop } else { Control::Continue })
}

/// Runs a scenario in partitions. The second value is true if the network was partitioned.
fn run_in_parts(text: &str, lanes: usize, threads: usize) -> (RunResult, bool) {
    let scenario = lightlag_scenario::parse_toml(text, &[]).unwrap_or_else(|errors| panic!("refused: {errors:#?}"));
    let how = Parallel { lanes, threads, always: true };
    let simulation = Simulation::parallel(&scenario, None, how).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let is_cut = simulation.cut().is_ok();
    (simulation.run(&mut |_| Control::Continue), is_cut)
}

/// Runs the scenario with this index.
fn one(number: u64) -> (RunResult, bool) {
    holds(number, &generator::scenario(number))
}

/// Runs a scenario and checks it. Its index determines the number of lanes, and whether it runs a second time.
fn holds(number: u64, drawn: &Drawn) -> (RunResult, bool) {
    let result = run(&drawn.text);
    checks::all(&result, drawn.finite);
    let lanes = LANES[number as usize % LANES.len()];
    let threads = if number.is_multiple_of(2) { lanes } else { 2 };
    let (in_parts, is_cut) = run_in_parts(&drawn.text, lanes, threads);
    let hashes = [&result, &in_parts].map(|result| &result.summary.result_hash);
    assert_eq!(hashes[0], hashes[1], "{lanes} lanes give the same result: {:#?}", [&result.summary, &in_parts.summary]);
    if number.is_multiple_of(REPEATED) {
        let again = run(&drawn.text);
        assert_eq!(result.summary.result_hash, again.summary.result_hash, "the same seed gives the same result");
    }
    (result, is_cut)
}

/// Runs the swarm with this index.
fn one_swarm(number: u64) -> RunResult {
    let text = air::scenario(number);
    let result = run(&text);
    checks::swarm(&result);
    let (in_parts, is_cut) = run_in_parts(&text, 2, 2);
    assert!(!is_cut, "a medium is not cut");
    assert_eq!(result.summary.result_hash, in_parts.summary.result_hash, "two threads give the same result");
    if number.is_multiple_of(CAPTURED) {
        let captured = prepared(&text.replace("record = {", "record = { pcap = {},"));
        let captured = captured.capture_to(&mut |_| Ok(Box::new(std::io::sink()))).unwrap();
        assert_eq!(result.summary.result_hash, finished(captured).summary.result_hash, "watching changes nothing");
    }
    result
}

/// Runs the constellation with this index.
fn one_sky(number: u64) -> RunResult {
    let text = sky::scenario(number);
    let result = run(&text);
    checks::sky(&result);
    let (in_parts, is_cut) = run_in_parts(&text, 2, 2);
    assert!(!is_cut, "a constellation is not cut");
    assert_eq!(result.summary.result_hash, in_parts.summary.result_hash, "two threads give the same result");
    result
}

/// Runs scenarios until no index is left. If one fails, the text that `fails` returns is printed.
fn work(
    (next, end): (&AtomicU64, u64),
    total: &Mutex<Total>,
    one: &(dyn Fn(u64) -> (RunResult, bool) + Sync),
    fails: &(dyn Fn(u64) -> String + Sync),
) {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= end {
            return;
        }
        let result = catch_unwind(AssertUnwindSafe(|| one(number)));
        let mut total = total.lock().unwrap();
        match result {
            Ok((result, is_cut)) => {
                let s = &result.summary;
                total.cut += u64::from(is_cut);
                total.flows += s.flows.len() as u64;
                total.failed += s.flows.iter().filter(|flow| flow.finish_s.is_none()).count() as u64;
                total.reached += s.flows.iter().filter(|flow| flow.delivered_bytes > 0).count() as u64;
                total.packet_hops += s.packet_hops;
                total.events += s.events;
                let busy = s.events as f64 / checks::expected_events(&result) as f64;
                if busy > total.busiest.0 {
                    total.busiest = (busy, number);
                }
            }
            Err(_) => {
                eprintln!("{}", fails(number));
                total.broken.push(number);
            }
        }
        if (number + 1).is_multiple_of(REPORTED) {
            eprintln!("{} scenarios, {} broken", number + 1, total.broken.len());
        }
    }
}

/// Runs the scenarios with all indices from `first` to `end`, on all cores.
fn all(
    first: u64,
    end: u64,
    one: impl Fn(u64) -> (RunResult, bool) + Sync,
    fails: impl Fn(u64) -> String + Sync,
) -> Total {
    let (next, total) = (AtomicU64::new(first), Mutex::new(Total::default()));
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| work((&next, end), &total, &one, &fails));
        }
    });
    total.into_inner().unwrap()
}

fn asked(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} = {text:?} is not a whole number")))
}

#[test]
fn random_scenarios_hold_their_promises() {
    if let Some(number) = asked("SOAK_SEED") {
        println!("{}", generator::scenario(number).text);
        println!("{:#?}", one(number).0.summary.flows);
        return;
    }
    let first = asked("SOAK_FIRST").unwrap_or(0);
    let end = first + asked("SOAK_COUNT").unwrap_or(COUNT);
    let fails = |number| format!("SOAK_SEED={number} fails:\n{}", generator::scenario(number).text);
    let total = all(first, end, one, fails);
    println!(
        "{} scenarios: {} flows, {} of them aborted or endless, {} packet-hops, {} events, {} cut; at most {:.2} of \
         the events expected (scenario {})",
        end - first,
        total.flows,
        total.failed,
        total.packet_hops,
        total.events,
        total.cut,
        total.busiest.0,
        total.busiest.1
    );
    assert!(total.broken.is_empty(), "{} scenarios fail: {:?}", total.broken.len(), total.broken);
}

#[test]
fn random_swarms_hold_their_promises() {
    if let Some(number) = asked("SOAK_SWARM") {
        println!("{}", air::scenario(number));
        println!("{:#?}", one_swarm(number).summary.flows);
        return;
    }
    let first = asked("SOAK_FIRST").unwrap_or(0) / FOR_A_SWARM;
    let end = first + asked("SOAK_COUNT").unwrap_or(COUNT) / FOR_A_SWARM;
    let fails = |number| format!("SOAK_SWARM={number} fails:\n{}", air::scenario(number));
    let total = all(first, end, |number| (one_swarm(number), false), fails);
    println!(
        "{} swarms: {} flows, {} of them reached their receivers, {} packet-hops, {} events",
        end - first,
        total.flows,
        total.reached,
        total.packet_hops,
        total.events
    );
    assert!(total.broken.is_empty(), "{} swarms fail: {:?}", total.broken.len(), total.broken);
}

#[test]
fn random_constellations_hold_their_promises() {
    if let Some(number) = asked("SOAK_SKY") {
        println!("{}", sky::scenario(number));
        println!("{:#?}", one_sky(number).summary.flows);
        return;
    }
    let first = asked("SOAK_FIRST").unwrap_or(0) / FOR_A_SWARM;
    let end = first + asked("SOAK_COUNT").unwrap_or(COUNT) / FOR_A_SWARM;
    let fails = |number| format!("SOAK_SKY={number} fails:\n{}", sky::scenario(number));
    let total = all(first, end, |number| (one_sky(number), false), fails);
    println!(
        "{} constellations: {} flows, {} of them reached their receivers, {} packet-hops, {} events",
        end - first,
        total.flows,
        total.reached,
        total.packet_hops,
        total.events
    );
    assert!(total.broken.is_empty(), "{} constellations fail: {:?}", total.broken.len(), total.broken);
}

/// Scenarios that have failed before. They are stored as text, because an index stands for a different scenario as soon
/// as the generator uses more random numbers.
const FAILED_ONCE: [&str; 5] = [
    include_str!("failed/tokens-9082.toml"),
    include_str!("failed/tokens-12793.toml"),
    include_str!("failed/tokens-17132.toml"),
    include_str!("failed/compressed-segment.toml"),
    include_str!("failed/compressed-ack.toml"),
];

#[test]
fn scenarios_that_failed_once_hold() {
    for (number, text) in (0..).zip(FAILED_ONCE) {
        holds(number, &Drawn { text: text.to_owned(), finite: true });
    }
}

#[test]
fn random_scenarios_are_written_for_another_build() {
    let Ok(file) = std::env::var("SOAK_WRITE") else { return };
    let [wired, swarms, skies] = WRITTEN;
    let texts = (0..wired).map(|number| generator::scenario(number).text);
    let texts = texts.chain((0..swarms).map(air::scenario)).chain((0..skies).map(sky::scenario));
    let line = |text: String| {
        let hash = run(&text).summary.result_hash;
        format!("{}\n", serde_json::json!({ "toml": text, "hash": hash, "files": files_of(&text) }))
    };
    std::fs::write(&file, texts.map(line).collect::<String>()).unwrap_or_else(|error| panic!("{file}: {error}"));
}

/// Returns the contents of the files that a scenario refers to, by name.
fn files_of(text: &str) -> BTreeMap<&str, String> {
    let names = text.split(" file = \"").skip(1).filter_map(|rest| rest.split('"').next());
    names.map(|name| (name, std::fs::read_to_string(name).unwrap())).collect()
}
