//! Random starts of flows, the check whether a scenario uses random numbers at all, and the round-trip time as a
//! setting.

use crate::text::run;
use lightlag_core::{Duration, Instant};
use lightlag_scenario::{Scenario, parse_json, parse_toml};

const LINK: &str =
    "duration = \"60 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"50 ms\"\n";
const FLOW: &str = "[[flows]]\nfrom = \"a\"\nto = \"b\"\ntransfer = \"100 kB\"\n";

fn read(text: &str) -> Scenario {
    parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

fn starts(scenario: &Scenario, seed: u64) -> Vec<Instant> {
    scenario.expand_with(seed).unwrap().flows.iter().map(|flow| flow.start).collect()
}

#[test]
fn a_start_is_drawn_for_each_seed_from_the_stream_of_its_flow() {
    let uniform = "start = { uniform = [\"1 s\", \"3 s\"] }\n";
    let one = read(&format!("{LINK}{FLOW}name = \"x\"\n{uniform}"));
    let drawn: Vec<Instant> = (0..200).map(|seed| starts(&one, seed)[0]).collect();
    let seconds: Vec<f64> = drawn.iter().map(|start| start.as_secs_f64()).collect();
    assert!(seconds.iter().all(|start| (1.0..3.0).contains(start)));
    // The mean of 200 is 2 s, with a standard error of 2/√12/√200 = 0.041 s.
    let mean = seconds.iter().sum::<f64>() / 200.0;
    assert!((mean - 2.0).abs() < 4.0 * 0.041, "{mean}");
    // Another flow changes nothing of it.
    let two = read(&format!("{LINK}{FLOW}name = \"w\"\n{uniform}{FLOW}name = \"x\"\n{uniform}"));
    assert!((0..20).all(|seed| starts(&two, seed)[1] == drawn[seed as usize]));
    assert!((0..20).any(|seed| starts(&two, seed)[0] != starts(&two, seed)[1]));
    let result = run(&format!("{LINK}{FLOW}name = \"x\"\n{uniform}"));
    assert_eq!(result.summary.flows[0].start_s, starts(&one, 1)[0].as_secs_f64());
}

#[test]
fn an_exponential_start_has_its_mean() {
    let scenario = read(&format!("{LINK}{FLOW}start = {{ exponential = \"2 s\" }}\n"));
    let drawn: Vec<f64> = (0..400).map(|seed| starts(&scenario, seed)[0].as_secs_f64()).collect();
    let mean = drawn.iter().sum::<f64>() / 400.0;
    // Four standard errors of 2/√400.
    assert!((mean - 2.0).abs() < 0.4, "{mean}");
    let longer = read(&format!("{LINK}{FLOW}start = {{ distribution = \"exponential\", mean = \"2 s\" }}\n"));
    assert_eq!(longer, scenario, "two ways to write the same");
}

#[test]
fn flows_of_a_generator_keep_their_turn() {
    let scenario = read(
        "duration = \"60 s\"\n[topology]\nkind = \"dumbbell\"\npairs = 4\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
         flow = { stagger = \"10 s\", start = { uniform = [\"0 s\", \"1 s\"] } }\n",
    );
    let drawn = starts(&scenario, 1);
    for (turn, start) in drawn.iter().enumerate() {
        let after = start.since(Instant::ZERO + Duration::from_secs(10) * turn as u64);
        assert!(after < Duration::from_secs(1) && after > Duration::ZERO, "{start}");
    }
    let json = scenario.to_json();
    assert_eq!(parse_json(&json.to_string(), &[]).unwrap(), scenario);
}

#[test]
fn wrong_starts_are_rejected() {
    for (start, path, message) in [
        ("{ uniform = [\"3 s\", \"1 s\"] }", "flows[0].start.uniform[1]", "is not above min"),
        ("{ uniform = [\"3 s\"] }", "flows[0].start.uniform", "give two"),
        ("{ gauss = 1 }", "flows[0].start.distribution", "is missing"),
        ("{ exponential = \"0 s\" }", "flows[0].start.exponential", "is not above 0"),
        ("\"soon\"", "flows[0].start", "soon"),
        ("-1", "flows[0].start", "-1"),
    ] {
        let errors = parse_toml(&format!("{LINK}{FLOW}start = {start}\n"), &[]).unwrap_err();
        assert!(errors[0].path == path && errors[0].message.contains(message), "{start}: {errors:?}");
    }
}

fn is_random(text: &str) -> bool {
    let scenario = read(text);
    scenario.is_random(&scenario.expand().unwrap())
}

#[test]
fn a_scenario_reports_before_a_run_if_it_is_random() {
    let plain = format!("{LINK}{FLOW}");
    assert!(!is_random(&plain));
    assert!(!is_random(&plain.replace("50 ms\"\n", "50 ms\"\nloss = { packets = [3] }\n")));
    assert!(!is_random(&plain.replace("50 ms\"\n", "50 ms\"\nloss = 0\n")));
    for key in [
        "loss = 1e-3",
        "loss = { bit_error_rate = 1e-6 }",
        "duplicate = 0.1",
        "jitter = \"1 ms\"",
        "queue = { discipline = \"red\", limit = \"50 packets\" }",
    ] {
        assert!(is_random(&plain.replace("50 ms\"\n", &format!("50 ms\"\n{key}\n"))), "{key}");
    }
    for key in [
        "start = { uniform = [\"0 s\", \"1 s\"] }",
        "congestion = \"bbr\"",
        "traffic = { kind = \"poisson\", size = \"1 kB\", every = \"1 s\", count = 5 }",
    ] {
        let flow = FLOW.replace("transfer = \"100 kB\"\n", "");
        assert!(is_random(&format!("{LINK}{flow}{key}\n")), "{key}");
    }
    let steady = FLOW.replace("transfer = \"100 kB\"\n", "traffic = { kind = \"constant\", rate = \"1 Mbit/s\" }\n");
    assert!(!is_random(&format!("{LINK}{steady}")));
}

/// If a scenario uses no random numbers, another seed gives the same results.
#[test]
fn without_randomness_seeds_change_nothing() {
    let text = format!("{LINK}queue = \"20 packets\"\n{FLOW}{FLOW}start = \"100 ms\"\n").replace("100 kB", "2 MB");
    let numbers = |seed: u64| {
        let result = run(&format!("seed = {seed}\n{text}"));
        let flows = result.summary.flows.iter();
        flows.map(|flow| (flow.finish_s, flow.sent_segments, flow.retransmitted_segments)).collect::<Vec<_>>()
    };
    assert!(!is_random(&text));
    assert!(numbers(1)[0].2 > 0, "a packet is lost");
    assert_eq!(numbers(1), numbers(2));
}

const CHAIN: &str = r#"
duration = "60 s"
[[links]]
between = ["client", "gateway"]
rate = "1 Gbit/s"
delay = "1 ms"
[[links]]
between = ["gateway", "server"]
rate = "20 Mbit/s"
delay = { orbit = "geo", elevation = ["40 deg", "25 deg"], processing = "40 ms" }
[[flows]]
from = "client"
to = "server"
"#;

#[test]
fn a_round_trip_sets_the_maximum_delay() {
    let changes = read(CHAIN).changes_for_rtt(Duration::from_millis(250)).unwrap();
    assert_eq!(changes, [("links.1.delay".to_owned(), "124000000 ns".to_owned())]);
    let json = read(CHAIN).to_json().to_string();
    let changed = parse_json(&json, &changes).unwrap();
    let delays: Vec<Duration> = changed.expand().unwrap().links.iter().map(|link| link.delay).collect();
    assert_eq!(delays.iter().fold(Duration::ZERO, |sum, delay| sum + *delay), Duration::from_millis(250));
    let dumbbell =
        "duration = \"60 s\"\n[topology]\nkind = \"dumbbell\"\npairs = 2\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n";
    // Access links of 1 ms at both ends, there and back.
    let changes = read(dumbbell).changes_for_rtt(Duration::from_millis(100)).unwrap();
    assert_eq!(changes, [("topology.delay".to_owned(), "48000000 ns".to_owned())]);
}

#[test]
fn a_round_trip_that_cannot_be_set_is_rejected() {
    let far = "[[links]]\nbetween = [\"server\", \"far\"]\nrate = \"1 Gbit/s\"\ndelay = \"9 ms\"\n\
               [[flows]]\nfrom = \"client\"\nto = \"far\"\n";
    let uneven = CHAIN.replace(
        "delay = { orbit = \"geo\", elevation = [\"40 deg\", \"25 deg\"], processing = \"40 ms\" }",
        "delay = { forward = \"100 ms\", backward = \"50 ms\" }",
    );
    let moving = CHAIN.replace(
        "processing = \"40 ms\" }",
        "processing = \"40 ms\" }\nchanges = [{ at = \"1 s\", delay = \"20 ms\" }]",
    );
    for (text, rtt, message) in [
        (format!("{CHAIN}{far}"), 300, "flows have paths of different lengths"),
        (uneven, 300, "the directions of links[1] have different delays"),
        (moving, 300, "the delay of links[1] changes during the run"),
        (CHAIN.to_owned(), 1, "is less than the 2 ms of the links other than links[1]"),
        (
            include_str!("../../../../scenarios/heterogeneous.toml").to_owned(),
            300,
            "flows have paths of different lengths",
        ),
    ] {
        let errors = read(&text).changes_for_rtt(Duration::from_millis(rtt)).unwrap_err();
        assert!(errors[0].path == "rtt" && errors[0].message.contains(message), "{errors:?}");
    }
}
