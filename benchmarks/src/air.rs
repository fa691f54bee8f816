//! Radio media compared with ns-3.

use crate::measure::{Sample, in_child};
use crate::report::{Verdicts, print_row, repeated};
use serde::Deserialize;
use std::process::Command;

/// The programs of ns-3 from `make target/simulators/ns3-air-saturation target/simulators/ns3-air-swarm`.
const SATURATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/simulators/ns3-air-saturation");
const SWARM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/simulators/ns3-air-swarm");

/// The output of an ns-3 program: acknowledged frames, and the total CPU time in seconds. If the output has the time
/// per frame without the start-up, that value is used.
#[derive(Deserialize)]
struct Peer {
    #[serde(alias = "acked_frames")]
    acked: u64,
    cpu_s: f64,
    cpu_us: Option<f64>,
}

/// Measures radio media only, and prints the results.
pub fn print_media() {
    let mut verdicts = Verdicts::default();
    media(&mut verdicts);
    verdicts.print();
}

/// Measures the cost of a delivered frame among 20 saturated stations, in a swarm of 60 nodes, and in one of 1,000.
pub fn media(verdicts: &mut Verdicts) {
    let saturation = repeated(3, &["once", "saturation-20"]);
    print_row("saturation-20: a frame delivered", saturation);
    let arguments = ["--standard=a", "--stations=20", "--retries=7", "--seed=1", "--seconds=3"];
    if let Some(ns3) = peer(SATURATION, &arguments) {
        print_row("ns-3.37: saturation-20, 3 s", sample(&ns3));
        let ratio = sample(&ns3).nanos() / saturation.nanos();
        verdicts.add(ratio >= 100.0, format!("saturation-20: {ratio:.0} × Debian's ns-3 a frame (at least 100 ×)"));
    }
    let swarm: Sample = repeated(3, &["once", "swarm", "duration=10 s"]);
    print_row("swarm of 60, 10 s", swarm);
    let arguments = ["--nodes=60", "--speed=25", "--flows=30", "--seed=1", "--seconds=10", "--power=32.02"];
    if let Some(ns3) = peer(SWARM, &arguments) {
        print_row("ns-3.37: swarm of 60, 10 s", sample(&ns3));
        let (whole, frame) = (ns3.cpu_s / swarm.cpu_s, sample(&ns3).nanos() / swarm.nanos());
        let text =
            format!("swarm of 60: {whole:.0} × Debian's ns-3, and {frame:.0} × a frame delivered (at least 50 ×)");
        verdicts.add(whole.min(frame) >= 50.0, text);
    }
    let large: Sample = in_child(&["once", "swarm-1000"]);
    print_row("swarm of 1,000, 10 s", large);
    let share = large.cpu_s / 10.0;
    verdicts.add(share <= 1.0, format!("swarm of 1,000 with 100 flows: {share:.2} s of CPU time a second (at most 1)"));
}

fn peer(program: &str, arguments: &[&str]) -> Option<Peer> {
    match crate::measure::read(Command::new(program).args(arguments)) {
        Ok(peer) => Some(peer),
        Err(error) => {
            println!("\nns-3 is not compared ({program}: {error}): `make {}` builds it", target(program));
            None
        }
    }
}

fn target(program: &str) -> &str {
    program.rsplit_once("../").map_or(program, |(_, target)| target)
}

fn sample(peer: &Peer) -> Sample {
    let cpu_s = peer.cpu_us.map_or(peer.cpu_s, |micros| micros * 1e-6 * peer.acked as f64);
    Sample { packet_hops: peer.acked, cpu_s, ..Sample::default() }
}
