//! All benches as one table, with their requirements.

use crate::access;
use crate::air;
use crate::features;
use crate::instructions;
use crate::measure::{Sample, best, cpu_of, in_child, read, wall_of};
use crate::parallel;
use crate::quic;
use crate::set_up;
use crate::sky;
use std::process::Command;

/// The program of ns-3 from `make target/simulators/ns3-dumbbell`.
const NS3: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/simulators/ns3-dumbbell");
/// The program of ns-3 that simulates the same network as `SATELLITE`.
const NS3_SATELLITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/simulators/ns3-satellite");
const SATELLITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/satellite.toml");
/// The algorithms that are compared over `SATELLITE`.
const COMPARED: &str = "newreno,cubic,hybla,westwood,htcp,bbr";
/// The command line, as `make` installs it, and a scenario with one flow.
const LIGHTLAG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.venv/bin/lightlag");
const ONE_FLOW: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/one-flow.toml");
/// Nanoseconds per packet-hop of the engine's prototype, by the number of links, which is also the number of packets on
/// each.
const ENGINE: [(&str, f64); 3] = [("10", 26.0), ("100", 35.0), ("1000", 110.0)];
const ROUNDS: usize = 5;

/// Runs all benches and prints the table.
pub fn print_all() {
    println!(
        "CPU time of one thread, kernel included, the best of several runs; × floor: of one queue operation a packet-hop\n"
    );
    println!("| {:33} | {:>9} | {:>8} | {:>7} | {:>8} |", "bench", "Mhops/s", "ns/hop", "× floor", "peak MiB");
    println!("|{:-<35}|{:->11}|{:->10}|{:->9}|{:->10}|", "", ":", ":", ":", ":");
    let mut verdicts = Verdicts::default();

    let engine = ENGINE.map(|(side, prototype)| {
        let sample = repeated(3, &["engine", side]);
        let packets = side.parse::<u64>().map_or(0, |side| side * side);
        print_row(&format!("engine, {packets} packets in flight"), sample);
        let ratio = sample.nanos() / prototype;
        verdicts.add(ratio <= 1.5, format!("engine, {packets}: {ratio:.2} × {prototype} ns (at most 1.5 ×)"));
        sample
    });

    let (summary, recorded) = recording();
    print_row("dumbbell-8", summary);
    print_row("dumbbell-8, every change recorded", recorded);
    verdicts.at_least("dumbbell-8", summary, 8.0);
    let ratio = summary.nanos() / engine[0].nanos();
    verdicts.add(ratio <= 4.0, format!("full TCP costs {ratio:.2} × the engine alone (at most 4 ×)"));
    let ratio = recorded.nanos() / summary.nanos();
    verdicts.add(ratio <= 1.1, format!("recording every change costs {ratio:.2} × the summary (at most 1.1 ×)"));

    long_fat(summary, &mut verdicts);
    space(&mut verdicts);
    many(summary, &mut verdicts);
    sensors(&mut verdicts);
    on_two_threads(&mut verdicts);
    simulators(summary, &mut verdicts);
    air::media(&mut verdicts);
    access::media(&mut verdicts);
    sky::skies(&mut verdicts);
    start_up(&mut verdicts);
    set_up(&mut verdicts);
    comparison(&mut verdicts);
    count_instructions(&mut verdicts);
    quic::quic(&mut verdicts);
    features::features(&mut verdicts);
    verdicts.print();
}

/// One flow with up to 100,000 segments in flight. Without HyStart its slow start overshoots the queue: every other
/// segment is lost for a round trip, and the holes stay open for seconds.
fn long_fat(dumbbell: Sample, verdicts: &mut Verdicts) {
    let overshoot = "topology.flow.congestion={ algorithm = \"cubic\", slow_start = \"standard\" }";
    for (name, arguments) in
        [("long-fat-1", &["once", "long-fat-1"][..]), ("long-fat-1, overshoot", &["once", "long-fat-1", overshoot])]
    {
        let sample = repeated(ROUNDS, arguments);
        print_row(name, sample);
        let ratio = sample.nanos() / dumbbell.nanos();
        verdicts.at_least(name, sample, 8.0);
        verdicts.add(
            ratio <= 1.3,
            format!("{name}: a packet costs {ratio:.2} times its cost in dumbbell-8 (at most 1.3 ×)"),
        );
    }
}

/// SCPS-TP with token buckets compared with the defaults of TCP over the same network, with losses and without.
fn space(verdicts: &mut Verdicts) {
    let plain = "defaults.tcp={ mss = \"1460 B\", receive_buffer = \"4 MiB\" }";
    for (name, loss) in [("scps", "topology.loss=1e-4"), ("scps, no losses", "topology.loss=0")] {
        // The two alternate often: a busy moment of the machine costs more than the required margin.
        let pairs: Vec<_> = (0..3 * ROUNDS)
            .map(|_| (in_child(&["once", "scps", loss]), in_child(&["once", "scps", loss, plain])))
            .collect();
        let (ours, plain) = (best(pairs.iter().map(|pair| pair.0)), best(pairs.iter().map(|pair| pair.1)));
        print_row(name, ours);
        print_row(&format!("{name}, but plain TCP"), plain);
        let ratio = ours.nanos() / plain.nanos();
        verdicts.add(
            ratio <= 1.3,
            format!("{name}: a packet costs {ratio:.2} times its cost with plain TCP (at most 1.3 ×)"),
        );
    }
}

fn many(dumbbell: Sample, verdicts: &mut Verdicts) {
    let many = repeated(3, &["once", "many-1000"]);
    print_row("many-1000", many);
    verdicts.at_least("many-1000", many, 4.0);
    let nothing: Sample = in_child(&["once", "many-1000", "topology.pairs=1", "duration=1 ms"]);
    let still = in_child(&["once", "many-1000", "defaults.tcp.receive_buffer=4 kB"]);
    let [kib, all] = [still, many].map(|sample| (sample.max_rss_kib - nothing.max_rss_kib) as f64 / 1000.0);
    let text = format!("many-1000: {kib:.1} KiB a flow with two packets in flight (at most 8), {all:.1} with all");
    verdicts.add(kib <= 8.0, text);

    let many = repeated(2, &["once", "many-100k"]);
    print_row("many-100k", many);
    verdicts.at_least("many-100k", many, 1.0);
    let kib = many.max_rss_kib as f64 / 100_000.0;
    verdicts.add(kib <= 3.0, format!("many-100k: {kib:.1} KiB a flow (at most 3)"));
    let ratio = many.nanos() / dumbbell.nanos();
    verdicts
        .add(ratio <= 3.0, format!("many-100k: a packet costs {ratio:.1} times its cost in dumbbell-8 (at most 3 ×)"));
}

/// Sensors downstream of sinks. With fewer sensors each sends more often: the number of packets is the same, but the
/// state fits into any cache.
fn sensors(verdicts: &mut Verdicts) {
    let few = ["topology.sinks=1", "topology.sensors=10", "topology.sensor.traffic.every=10 ms"];
    let few = [&["once", "iot-10k"], &few[..]].concat();
    // Alternating as above: another process that evicts the outer cache slows down only the larger world.
    let pairs: Vec<_> = (0..3 * ROUNDS).map(|_| (in_child(&few), in_child(&["once", "iot-10k"]))).collect();
    let (few, many) = (best(pairs.iter().map(|pair| pair.0)), best(pairs.iter().map(|pair| pair.1)));
    print_row("iot-10k, but 10 sensors", few);
    print_row("iot-10k", many);
    let nothing: Sample = in_child(&["once", "iot-10k", "topology.sinks=1", "topology.sensors=1", "duration=1 ms"]);
    let bytes = (many.max_rss_kib - nothing.max_rss_kib) * 1024 / 10_000;
    let events = many.events as f64 / many.cpu_s / 1e6;
    println!("\niot-10k: {events:.2} million events a CPU second, {bytes} bytes a sensor\n");
    let gib = many.max_rss_kib as f64 / 1_048_576.0;
    verdicts.add(gib < 1.0, format!("iot-10k: {gib:.2} GiB (under 1)"));
    let ratio = many.nanos() / few.nanos();
    verdicts.add(ratio < 1.5, format!("iot-10k: a packet costs {ratio:.2} × that with 10 sensors (under 1.5 ×)"));
}

/// One run on two threads compared with one thread: the two alternate, and the minimum wall-clock times are compared.
fn on_two_threads(verdicts: &mut Verdicts) {
    for name in ["many-1000", "multi-dumbbell-64"] {
        let mut best: [Option<parallel::Sample>; 2] = [None, None];
        for _ in 0..ROUNDS {
            for (threads, best) in ["1", "2"].into_iter().zip(&mut best) {
                let sample: parallel::Sample = in_child(&["parallel", name, threads, threads]);
                if best.as_ref().is_none_or(|best| sample.wall_s < best.wall_s) {
                    *best = Some(sample);
                }
            }
        }
        let [Some(alone), Some(both)] = best else { return };
        let ratio = alone.wall_s / both.wall_s;
        verdicts.add(alone.hash == both.hash, format!("{name}: the same result on two threads"));
        verdicts.add(
            ratio >= 1.8,
            format!(
                "{name}: {ratio:.2} × as fast on two threads, on the wall (at least 1.8 ×; by events {:.2} ×)",
                both.by_events
            ),
        );
    }
}

fn simulators(ours: Sample, verdicts: &mut Verdicts) {
    match read(&mut Command::new(NS3)) {
        Ok(ns3) => {
            print_row("ns-3.37: dumbbell-8, 10 s", ns3);
            let ratio = ours.millions() / ns3.millions();
            verdicts.add(ratio >= 50.0, format!("dumbbell-8: {ratio:.0} × Debian's ns-3 (at least 50 ×)"));
        }
        Err(error) => {
            println!("\nns-3 is not compared ({NS3}: {error}): `make target/simulators/ns3-dumbbell` builds it")
        }
    }
}

/// The cost of starting: a complete short command.
fn start_up(verdicts: &mut Verdicts) {
    let commands = [("--help", &["--help"][..], 0.25), ("run of one flow for 10 s", &["run", ONE_FLOW, "--json"], 0.6)];
    for (name, arguments, limit) in commands {
        let times: Result<Vec<f64>, String> =
            (0..ROUNDS).map(|_| cpu_of(Command::new(LIGHTLAG).args(arguments))).collect();
        match times {
            Ok(times) => {
                let best = times.into_iter().fold(f64::INFINITY, f64::min);
                verdicts.add(best < limit, format!("lightlag {name}: {best:.2} s of CPU time (under {limit})"));
            }
            Err(error) => {
                println!("\nstart-up is not measured ({LIGHTLAG}: {error}): `make demo` installs it");
                return;
            }
        }
    }
}

/// The cost of flows before the first event, in the engine and for a complete command.
fn set_up(verdicts: &mut Verdicts) {
    let [few, many] = [20_000, 200_000].map(|flows: u64| repeated(ROUNDS, &["setup", &flows.to_string()]));
    let ratio = many.nanos() / few.nanos();
    let text = format!(
        "setting up 200,000 flows: {:.1} µs each, {ratio:.2} × the cost of one of 20,000 (at most 1.5 ×)",
        many.nanos() / 1e3
    );
    verdicts.add(ratio <= 1.5, text);

    let folder = std::env::temp_dir().join(format!("lightlag-bench-{}", std::process::id()));
    let command = |flows: u64| {
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let file = folder.join("by-hand.toml");
        std::fs::write(&file, set_up::by_hand(flows)).map_err(|error| error.to_string())?;
        let results = folder.join("results");
        let arguments = ["run", "--quiet", "--force", "--out"];
        cpu_of(Command::new(LIGHTLAG).args(arguments).arg(&results).arg(&file))
    };
    let pairs: Result<Vec<(f64, f64)>, String> = (0..ROUNDS).map(|_| Ok((command(2_000)?, command(20_000)?))).collect();
    match pairs {
        Ok(pairs) => {
            let few = pairs.iter().map(|pair| pair.0).fold(f64::INFINITY, f64::min);
            let many = pairs.iter().map(|pair| pair.1).fold(f64::INFINITY, f64::min);
            let micros = (many - few) / 18_000.0 * 1e6;
            let text = format!("lightlag run: {micros:.1} µs a flow written by hand, results included (at most 20)");
            verdicts.add(micros <= 20.0, text);
            let _ = std::fs::remove_dir_all(&folder);
        }
        Err(error) => println!("\nsetting up through a command is not measured: {error}"),
    }
}

/// Measures a comparison alone.
pub fn print_comparison() {
    let mut verdicts = Verdicts::default();
    comparison(&mut verdicts);
    verdicts.print();
}

/// Prints the cost of queue disciplines and link features.
pub fn print_features() {
    let mut verdicts = Verdicts::default();
    features::features(&mut verdicts);
    verdicts.print();
}

/// A comparison of six algorithms with ten seeds each, including its tables, figures and report, compared with one run
/// of one of them in ns-3. It measures wall-clock time, because a comparison uses every processor. The comparison and
/// ns-3 alternate.
fn comparison(verdicts: &mut Verdicts) {
    let folder = std::env::temp_dir().join(format!("lightlag-bench-{}", std::process::id()));
    let ours = || {
        let figures = ["--figures", "pdf,svg"];
        let arguments = ["compare", SATELLITE, "-c", COMPARED, "-n", "10", "--quiet", "--force", "--out"];
        wall_of(Command::new(LIGHTLAG).args(arguments).arg(&folder).args(figures))
    };
    let pairs: Result<Vec<(f64, f64)>, String> =
        (0..3).map(|_| Ok((ours()?, wall_of(&mut Command::new(NS3_SATELLITE))?))).collect();
    // The remains of a failed command tell why it failed.
    if pairs.is_ok() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    match pairs {
        Ok(pairs) => {
            let (ours, ns3) = pairs
                .into_iter()
                .fold((f64::INFINITY, f64::INFINITY), |best, pair| (best.0.min(pair.0), best.1.min(pair.1)));
            let text = format!(
                "compare 6 algorithms × 10 seeds × 60 s of satellite: {ours:.2} s on the wall (under the {ns3:.2} s of one \
                 run in ns-3)"
            );
            verdicts.add(ours < ns3, text);
        }
        Err(error) => println!(
            "\na comparison is not measured ({error}): `make demo` installs {LIGHTLAG}, `make target/simulators/ns3-satellite` \
             builds {NS3_SATELLITE}"
        ),
    }
}

fn count_instructions(verdicts: &mut Verdicts) {
    match instructions::counts() {
        Ok(counts) => {
            for (counted, now) in instructions::COUNTED.iter().zip(counts) {
                let (text, within) = counted.judge(now);
                verdicts.add(within, text);
            }
        }
        Err(error) => println!("\ninstructions are not counted: {error}"),
    }
}

/// Measures `dumbbell-8` with only the summary, and with every change recorded. The two alternate, so that other load
/// on the machine affects both.
fn recording() -> (Sample, Sample) {
    let pairs: Vec<_> = (0..2 * ROUNDS)
        .map(|_| (in_child(&["once", "dumbbell-8"]), in_child(&["once", "dumbbell-8", "record.trace=change"])))
        .collect();
    (best(pairs.iter().map(|pair| pair.0)), best(pairs.iter().map(|pair| pair.1)))
}

pub fn repeated(times: usize, arguments: &[&str]) -> Sample {
    best((0..times).map(|_| in_child(arguments)))
}

pub fn print_row(name: &str, sample: Sample) {
    let floor = match sample.entities {
        0 => String::new(),
        entities => format!("{:.1}", sample.nanos() / repeated(3, &["floor", &entities.to_string()]).nanos()),
    };
    let (millions, nanos, mib) = (sample.millions(), sample.nanos(), sample.max_rss_kib as f64 / 1024.0);
    println!("| {name:33} | {millions:9.3} | {nanos:8.1} | {floor:>7} | {mib:8.1} |");
}

/// The requirements, and whether they are met.
#[derive(Default)]
pub struct Verdicts(Vec<(bool, String)>);

impl Verdicts {
    pub fn add(&mut self, holds: bool, text: String) {
        self.0.push((holds, text));
    }

    fn at_least(&mut self, name: &str, sample: Sample, millions: f64) {
        let text = format!("{name}: {:.2} million packet-hops a CPU second (at least {millions})", sample.millions());
        self.add(sample.millions() >= millions, text);
    }

    pub fn print(&self) {
        println!();
        for (holds, text) in &self.0 {
            println!("{} {text}", if *holds { "holds " } else { "MISSED" });
        }
        let held = self.0.iter().filter(|(holds, _)| *holds).count();
        println!("\n{held} of {} hold on this machine under its present load", self.0.len());
    }
}
