//! Tests that a run gives the same results in any number of partitions, on any number of threads.

use lightlag_core::{Duration, Instant};
use lightlag_scenario::{Scenario, parse_toml};
use lightlag_sim::partition::NotPartitioned;
use lightlag_sim::results::Summary;
use lightlag_sim::{Control, Parallel, RunResult, Simulation};
use std::path::{Path, PathBuf};

fn scenario(text: &str, sets: &[(&str, &str)]) -> Scenario {
    let sets: Vec<(String, String)> = sets.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    parse_toml(text, &sets).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"))
}

fn simulation(scenario: &Scenario, lanes: usize, threads: usize) -> Simulation {
    Simulation::parallel(scenario, None, Parallel { lanes, threads, always: true }).unwrap()
}

/// Returns all contents of a result as strings, with its hash first.
fn everything(result: &RunResult) -> (String, String) {
    let RunResult { summary, trace, queue, drops, acks, responses, interrupted, .. } = result;
    let numbers = Summary { result_hash: String::new(), ..summary.clone() };
    (
        summary.result_hash.clone(),
        format!("{numbers:?} {trace:?} {queue:?} {drops:?} {acks:?} {responses:?} {interrupted}"),
    )
}

/// Asserts that a result equals another one, given by its contents from [`everything`].
fn assert_same(one: &(String, String), other: &RunResult, what: &str) {
    let other = everything(other);
    let differs = one.1.bytes().zip(other.1.bytes()).position(|(one, other)| one != other);
    if let Some(at) = differs {
        let [one, other] = [one, &other].map(|text| &text.1[at.saturating_sub(400)..text.1.len().min(at + 100)]);
        panic!("{what}:\n{one}\nand\n{other}");
    }
    assert_eq!(one.0, other.0, "{what}");
}

/// Runs a scenario in 1, 2, 3 and up to 8 partitions, and asserts that the results are the same. Returns the maximum
/// number of partitions.
fn in_all(scenario: &Scenario, name: &str) -> usize {
    let whole = everything(&Simulation::new(scenario, None).unwrap().run(&mut |_| Control::Continue));
    let mut max_partitions = 1;
    for (partitions, threads) in [(2, 2), (3, 1), (8, 8)] {
        let simulation = simulation(scenario, partitions, threads);
        max_partitions = max_partitions.max(simulation.cut().map_or(1, |cut| cut.partitions()));
        let result = simulation.run(&mut |_| Control::Continue);
        assert_same(&whole, &result, &format!("{name} in {partitions} partitions"));
    }
    max_partitions
}

/// Two paths, of which the shorter one is down for some time. Until all nodes have applied the change, packets loop.
/// The planner prefers to cut the link that changes its delay.
const TWO_WAYS: &str = r#"
duration = "12 s"
routing = { kind = "follow links", convergence = "150 ms", ttl = 9 }
record = { trace = "change", queue = "sampled", drops = true, acks = true, interval = "50 ms" }
links = [
  { between = ["client", "a"], rate = "8 Mbit/s", delay = "1 ms" },
  { between = ["a", "b"], rate = "8 Mbit/s", delay = "10 ms" },
  { between = ["b", "d"], rate = "8 Mbit/s", delay = "10 ms", outage = "lose",
    changes = [{ at = "3 s", down = true }, { at = "6 s", down = false }, { at = "9 s", delay = "90 ms" }] },
  { between = ["a", "c"], rate = "8 Mbit/s", delay = "30 ms", queue = "40 packets" },
  { between = ["c", "d"], rate = "8 Mbit/s", delay = "30 ms", queue = "40 packets" },
  { between = ["d", "server"], rate = "8 Mbit/s", delay = "1 ms" },
]
flows = [
  { name = "bulk", from = "client", to = "server" },
  { name = "back", from = "server", to = "client", start = "1 s" },
  { name = "datagrams", from = "client", to = "server", transport = "udp",
    traffic = { kind = "constant", rate = "800 kbit/s", size = "500 B" } },
]
"#;

#[test]
fn routes_change_in_all_partitions_simultaneously() {
    let scenario = scenario(TWO_WAYS, &[]);
    let whole = Simulation::new(&scenario, None).unwrap().run(&mut |_| Control::Continue);
    assert!(whole.summary.expired_packets > 0, "packets went in circles");
    assert!(in_all(&scenario, "routes that follow the links") > 1);
}

#[test]
fn a_link_with_a_code_is_not_cut_and_others_are() {
    let link = |between: &str, more: &str| {
        format!("[[links]]\nbetween = [{between}]\nrate = \"4 Mbit/s\"\ndelay = \"50 ms\"\nloss = 0.02\n{more}\n")
    };
    let code = "fec = { data = 8, repair = 2, flush = \"20 ms\" }";
    let text = String::from(
        "duration = \"20 s\"\nrecord = { trace = \"change\", queue = \"sampled\", drops = true, acks = true }\n",
    ) + &link("\"a\", \"b\"", code)
        + &link("\"b\", \"c\"", "")
        + "[[flows]]\nfrom = \"a\"\nto = \"c\"\n[[flows]]\nfrom = \"c\"\nto = \"a\"\ntransfer = \"1 MB\"\n";
    assert_eq!(in_all(&scenario(&text, &[]), "a chain with a code"), 2);
}

/// Two pairs of hosts at the ends of a long link, with all tables that a result can have.
const PAIRS: &str = r#"
duration = "30 s"
record = { trace = "change", queue = "sampled", drops = true, acks = true, interval = "50 ms" }
[[links]]
between = ["a", "left"]
rate = "20 Mbit/s"
delay = "2 ms"
[[links]]
between = ["b", "left"]
rate = "20 Mbit/s"
delay = "2 ms"
[[links]]
between = ["left", "right"]
rate = "4 Mbit/s"
delay = "120 ms"
queue = "30 packets"
loss = 1e-3
[[links]]
between = ["right", "c"]
rate = "20 Mbit/s"
delay = "2 ms"
[[links]]
between = ["right", "d"]
rate = "20 Mbit/s"
delay = "3 ms"
[[flows]]
from = "a"
to = "c"
transfer = "3 MB"
[[flows]]
from = "d"
to = "b"
transfer = "1500 kB"
start = "2 s"
[[flows]]
from = "b"
to = "c"
traffic = { kind = "poisson", every = "20 ms", size = "300 B" }
transport = "udp"
"#;

#[test]
fn a_result_is_the_same_in_any_number_of_partitions() {
    assert!(in_all(&scenario(PAIRS, &[]), "pairs") >= 5);
}

#[test]
fn queues_that_decide_late_are_cut() {
    for queue in [
        "{ limit = \"40 packets\", discipline = \"codel\" }",
        "{ limit = \"40 packets\", discipline = \"red\", min_threshold = \"5 packets\", max_threshold = \"15 packets\" }",
        "{ limit = \"40 packets\", discipline = \"pie\" }",
    ] {
        let text = PAIRS.replace("queue = \"30 packets\"", &format!("queue = {queue}"));
        assert!(in_all(&scenario(&text, &[]), queue) >= 5);
    }
}

#[test]
fn links_that_change_are_cut() {
    let more = r#"jitter = { distribution = "uniform", max = "5 ms" }
        changes = [{ at = "3 s", delay = "80 ms" }, { at = "6 s", rate = "1 Mbit/s" }, { at = "9 s", down = true },
            { at = "11 s", down = false, rate = "8 Mbit/s" }]"#;
    let text = PAIRS.replace("loss = 1e-3", more);
    assert!(in_all(&scenario(&text, &[]), "changes") >= 5);
}

#[test]
fn routes_that_follow_the_links_are_the_same_everywhere() {
    let text = PAIRS.replace(
        "loss = 1e-3",
        "outage = \"lose\"\nchanges = [{ at = \"4 s\", down = true }, { at = \"9 s\", down = false }]",
    );
    let detour = r#"
[[links]]
between = ["left", "detour"]
rate = "3 Mbit/s"
delay = "130 ms"
[[links]]
between = ["detour", "right"]
rate = "3 Mbit/s"
delay = "130 ms"
"#;
    let text = format!("routing = \"follow links\"\n{text}{detour}");
    let result = Simulation::new(&scenario(&text, &[]), None).unwrap().run(&mut |_| Control::Continue);
    let carried = |name| result.summary.links.iter().find(|link| link.name == name).unwrap().carried_bytes;
    assert!(carried("left->detour") > 100_000, "the routes have changed");
    assert!(in_all(&scenario(&text, &[]), "routes") >= 5);
}

#[test]
fn aborted_connections_end_at_both_endpoints() {
    // No packet passes after 4 s; every connection aborts before the end.
    let text = PAIRS.replace("loss = 1e-3", "changes = [{ at = \"4 s\", down = true }]");
    let text = text
        .replace("duration = \"30 s\"", "duration = \"2 h\"\n[defaults.tcp]\nretries = 4")
        .replace("record =", "[record]\n#");
    let result = Simulation::new(&scenario(&text, &[]), None).unwrap().run(&mut |_| Control::Continue);
    assert!(result.summary.flows.iter().take(2).all(|flow| flow.failure.is_some()), "{:#?}", result.summary.flows);
    in_all(&scenario(&text, &[]), "failures");
}

#[test]
fn flows_through_proxies_are_cut_at_them() {
    let text = format!(
        "{PAIRS}\n[[proxies]]\nnode = \"left\"\nbuffer = \"200 kB\"\n[[proxies]]\nnode = \"right\"\nbuffer = \"200 kB\"\n"
    );
    assert!(in_all(&scenario(&text, &[]), "proxies") >= 5);
}

#[test]
#[ignore = "long: left out of make test, and part of make test-all"]
fn shipped_scenarios_give_the_same_in_partitions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    names.sort();
    assert!(names.len() > 10);
    let is_cut = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let partitions = in_all(&scenario(&text, &[]), &path.display().to_string());
        eprintln!("{}: {partitions}", path.display());
        partitions > 1
    };
    // They take longer than all other tests here, which end while this one works.
    let cut: usize = std::thread::scope(|scope| {
        let halves = [0, 1].map(|first| {
            let half = names.iter().skip(first).step_by(2);
            scope.spawn(|| half.filter(|path| is_cut(path)).count())
        });
        halves.into_iter().map(|half| half.join().unwrap()).sum()
    });
    assert!(cut >= 8, "{cut} were cut");
}

#[test]
fn steps_in_partitions_record_the_same() {
    let scenario = scenario(PAIRS, &[]);
    let mut whole = Simulation::new(&scenario, None).unwrap();
    let mut parts = simulation(&scenario, 3, 2);
    for step in 1.. {
        let time = Instant::ZERO + Duration::from_millis(170) * step;
        let goes_on = whole.step_until(time);
        assert_eq!(parts.step_until(time), goes_on);
        assert_eq!(parts.progress().now, whole.progress().now);
        assert_eq!(parts.progress().events, whole.progress().events);
        let tables = |simulation: &Simulation| {
            let recorded = simulation.recorded();
            format!("{:?} {:?} {:?} {:?}", recorded.trace, recorded.queue, recorded.drops, recorded.acks)
        };
        if step % 20 == 0 {
            assert!(tables(&parts) == tables(&whole), "at {time:?}");
        }
        if !goes_on {
            break;
        }
    }
    assert_same(&everything(&whole.finish()), &parts.finish(), "stepped");
}

#[test]
fn a_run_that_is_stopped_is_the_same() {
    let scenario = scenario(PAIRS, &[]);
    let time = Instant::ZERO + Duration::from_millis(3_210);
    let [mut whole, mut parts] = [1, 3].map(|partitions| simulation(&scenario, partitions, 2));
    whole.step_until(time);
    parts.step_until(time);
    assert_same(&everything(&whole.finish()), &parts.finish(), "stopped");
}

/// A hundred senders upstream of one bottleneck. They have more work than their receivers.
const CROWD: &str = r#"
duration = "8 s"
record = { trace = "change", queue = "sampled", drops = true, acks = true, interval = "50 ms" }
[topology]
kind = "dumbbell"
pairs = 100
rate = "1 Gbit/s"
delay = "30 ms"
queue = "200 packets"
access = { rate = "100 Mbit/s", delay = "1 ms" }
flow = { stagger = "3 ms" }
"#;

#[test]
fn a_lane_takes_over_hosts_of_the_other() {
    for record in ["", "record.trace=off record.queue=off record.drops=false record.acks=false"] {
        let sets: Vec<(&str, &str)> = record.split_whitespace().map(|set| set.split_once('=').unwrap()).collect();
        let scenario = scenario(CROWD, &sets);
        let whole = Simulation::new(&scenario, None).unwrap().run(&mut |_| Control::Continue);
        assert!(whole.summary.links.iter().any(|link| link.dropped_queue > 100), "the queue overflows");
        let whole = everything(&whole);
        for threads in [1, 2] {
            let how = Parallel { lanes: 2, threads, always: false };
            let parts = Simulation::parallel(&scenario, None, how).unwrap();
            let cut = parts.cut().unwrap();
            assert_eq!((cut.lanes(), cut.partitions()), (2, 3));
            assert_eq!([cut.window(), cut.round()], [1, 30].map(Duration::from_millis));
            let shares = cut.shares();
            let lane = |lane| (0..3).filter(|of| cut.lane(*of) == lane).map(|of| shares[of]).sum::<f64>();
            assert!((lane(0) - lane(1)).abs() < 0.1, "{shares:?}");
            assert_same(&whole, &parts.run(&mut |_| Control::Continue), &format!("{threads} threads {record}"));
        }
    }
}

/// Six pairs of hosts around a bottleneck, with QUIC flows of all profiles in both directions, some with ECN, 0-RTT or
/// Retry, and other transports next to them. `link` has more keys of the bottleneck, and `access` keys of the other
/// links.
fn quic_pairs(link: &str, access: &str) -> String {
    let mut text = format!(
        "duration = \"6 s\"\nrecord = {{ trace = \"change\", queue = \"sampled\", drops = true, acks = true, \
         interval = \"50 ms\" }}\n[[links]]\nbetween = [\"left\", \"right\"]\nrate = \"20 Mbit/s\"\n\
         delay = \"20 ms\"\n{link}\n"
    );
    let profiles = ["rfc9002", "quinn", "picoquic", "quiche", "msquic", "aioquic"];
    for (pair, profile) in (1..).zip(profiles) {
        let more = ["zero_rtt = true", "ecn = \"ect0\"", "server = { retry = true }"][pair % 3];
        text += &format!(
            "[[links]]\nbetween = [\"a{pair}\", \"left\"]\nrate = \"100 Mbit/s\"\ndelay = \"{pair} ms\"\n{access}\n\
             [[links]]\nbetween = [\"right\", \"b{pair}\"]\nrate = \"100 Mbit/s\"\ndelay = \"{pair} ms\"\n{access}\n\
             [[flows]]\nname = \"forward {pair}\"\nfrom = \"a{pair}\"\nto = \"b{pair}\"\ntransport = \"quic\"\n\
             transfer = \"{pair}00 kB\"\nquic = {{ profile = \"{profile}\", {more} }}\n\
             [[flows]]\nname = \"back {pair}\"\nfrom = \"b{pair}\"\nto = \"a{pair}\"\ntransport = \"quic\"\n\
             transfer = \"700 kB\"\nstart = \"{pair}00 ms\"\nquic = {{ profile = \"{profile}\" }}\n"
        );
    }
    text + "[[flows]]\nfrom = \"a1\"\nto = \"b2\"\n\
            [[flows]]\nfrom = \"b3\"\nto = \"a4\"\ntransport = \"udp\"\n\
            traffic = { kind = \"constant\", rate = \"300 kbit/s\" }\n\
            [[flows]]\nname = \"slow\"\nfrom = \"a5\"\nto = \"b6\"\ntransport = \"quic\"\n\
            traffic = { kind = \"constant\", rate = \"200 kbit/s\", stop = \"4 s\" }\n\
            [[flows]]\nname = \"asks\"\nfrom = \"a6\"\nto = \"b6\"\ntransport = \"quic\"\n\
            traffic = { kind = \"requests\", response = \"50 kB\", think = \"1 s\", count = 3 }\n"
}

#[test]
fn quic_is_the_same_in_any_number_of_partitions() {
    let proxy =
        "[[proxies]]\nnode = \"right\"\nkind = \"quic\"\nbuffer = \"500 kB\"\nflows = [\"forward 2\", \"forward 3\"]\n";
    for (link, access, proxy) in [
        ("queue = \"60 packets\"\nloss = 0.005", "", proxy),
        // Queued links, whose near half keeps the packets in transit.
        (
            "queue = { limit = \"60 packets\", discipline = \"codel\" }\nloss = 0.002",
            "queue = { discipline = \"pie\" }",
            "",
        ),
        (
            "queue = \"60 packets\"\noutage = \"lose\"\n\
             changes = [{ at = \"300 ms\", down = true }, { at = \"900 ms\", down = false, rate = \"10 Mbit/s\" }]",
            "",
            "",
        ),
        // Contents of packets are stored until the end of the run.
        ("queue = \"60 packets\"\nduplicate = 0.01", "", ""),
    ] {
        let text = quic_pairs(link, access) + proxy;
        let most = in_all(&scenario(&text, &[]), link);
        assert!(most >= 4, "{most} partitions: {link}");
    }
}

#[test]
fn a_run_with_quic_that_is_stopped_is_the_same() {
    // The partitions join while packets of handshakes, and of repairs later, are in transit.
    for link in ["queue = \"60 packets\"\nloss = 0.02", "queue = { limit = \"60 packets\", discipline = \"codel\" }"] {
        let scenario = scenario(&quic_pairs(link, ""), &[]);
        for millis in [23, 61, 2_210] {
            let time = Instant::ZERO + Duration::from_millis(millis);
            let [mut whole, mut parts] = [1, 4].map(|partitions| simulation(&scenario, partitions, 2));
            whole.step_until(time);
            parts.step_until(time);
            assert_same(&everything(&whole.finish()), &parts.finish(), &format!("{millis} ms {link}"));
        }
    }
}

#[test]
fn a_network_that_cannot_be_cut_gives_a_reason() {
    let reason = |text: &str, lanes| {
        let how = Parallel { lanes, threads: 1, always: false };
        Simulation::parallel(&scenario(text, &[]), None, how).unwrap().cut().map(|cut| cut.partitions()).unwrap_err()
    };
    assert_eq!(reason(PAIRS, 1), NotPartitioned::Asked);
    let near = PAIRS.replace("120 ms", "0 ms").replace("2 ms", "0 ms").replace("3 ms", "0 ms");
    assert_eq!(reason(&near, 4), NotPartitioned::Connected);
    let short = PAIRS.replace("120 ms", "10 us").replace("2 ms", "10 us").replace("3 ms", "10 us");
    assert_eq!(reason(&short, 4), NotPartitioned::NotWorth);
}
