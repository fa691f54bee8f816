//! The cost of a packet-hop. `make bench` runs this program without arguments; the other forms are the parts that it
//! runs in separate processes.
//!
//! ```text
//! lightlag-bench                            every bench, one table, what holds and what does not
//! lightlag-bench once NAME [KEY=VALUE ...]  one scenario of benchmarks/scenarios, as JSON
//! lightlag-bench engine SIDE                the engine alone: SIDE links with SIDE packets each, as JSON
//! lightlag-bench floor ENTITIES             the event queue alone, as JSON
//! lightlag-bench setup FLOWS                flows written one by one, up to the first event, as JSON
//! lightlag-bench parallel NAME LANES THREADS [KEY=VALUE ...]
//!                                           one scenario in so many lanes on so many threads, as JSON
//! lightlag-bench air                        radio media beside ns-3, alone
//! lightlag-bench access                     satellite beams and random access, alone
//! lightlag-bench access NAME COUNT          one medium, beam or sensors, with COUNT stations, as JSON
//! lightlag-bench sky                        constellations, alone
//! lightlag-bench plan NAME                  the ways through a sky alone, as JSON
//! lightlag-bench comparison                 a comparison beside one run of ns-3, alone
//! lightlag-bench quic                       QUIC, alone
//! lightlag-bench instructions [--keep]      instructions per packet-hop, against the kept value
//! ```
//!
//! A packet-hop is one packet, data or ACK, through one link, dropped ones included. Time is CPU time, including the
//! kernel's.

mod access;
mod air;
mod engine;
mod features;
mod instructions;
mod measure;
mod parallel;
mod quic;
mod report;
mod scenarios;
mod set_up;
mod sky;

use measure::Sample;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &words[..] {
        [] => report::print_all(),
        ["once", name, changes @ ..] => match changes.iter().map(|change| change.split_once('=')).collect() {
            Some(sets) => return print(once(name, sets)),
            None => return usage(),
        },
        ["engine", side] => match side.parse() {
            Ok(side) => return print(engine::measure(side)),
            Err(_) => return usage(),
        },
        ["floor", entities] => match entities.parse() {
            Ok(entities) => return print(engine::floor(entities)),
            Err(_) => return usage(),
        },
        ["setup", flows] => match flows.parse() {
            Ok(flows) => return print(set_up::measure(flows)),
            Err(_) => return usage(),
        },
        ["parallel", name, lanes, threads, changes @ ..] => {
            let sets: Option<Vec<_>> = changes.iter().map(|change| change.split_once('=')).collect();
            let (Some(sets), Ok(lanes), Ok(threads)) = (sets, lanes.parse(), threads.parse()) else {
                return usage();
            };
            let sample = parallel::measure(name, lanes, threads, &owned(sets));
            println!("{}", serde_json::to_string(&sample).expect("a sample is plain data"));
        }
        ["air"] => air::print_media(),
        ["access"] => access::print_media(),
        ["access", name, count] => match count.parse().ok().and_then(|count| access::measure(name, count)) {
            Some(sample) => return print(sample),
            None => return usage(),
        },
        ["sky"] => sky::print_skies(),
        ["plan", name] => match sky::measure(name) {
            Some(plan) => println!("{}", serde_json::to_string(&plan).expect("a plan is plain data")),
            None => return usage(),
        },
        ["comparison"] => report::print_comparison(),
        ["features"] => report::print_features(),
        ["quic"] => quic::print_quic(),
        ["instructions"] => return instructions::check(false),
        ["instructions", "--keep"] => return instructions::check(true),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn once(name: &str, sets: Vec<(&str, &str)>) -> Sample {
    scenarios::measure(name, &owned(sets))
}

fn owned(sets: Vec<(&str, &str)>) -> Vec<(String, String)> {
    sets.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn print(sample: Sample) -> ExitCode {
    println!("{}", serde_json::to_string(&sample).expect("a sample is plain data"));
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: lightlag-bench [once NAME [KEY=VALUE ...] | engine SIDE | floor ENTITIES | setup FLOWS | parallel NAME PARTITIONS THREADS [KEY=VALUE ...] | air | access [NAME COUNT] | sky | plan NAME | comparison | features | quic | instructions [--keep]]"
    );
    ExitCode::from(2)
}
