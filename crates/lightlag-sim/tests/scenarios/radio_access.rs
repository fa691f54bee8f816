//! Links of radio access: slot grids, channels with a good and a bad state, capacity that follows demand, frames, and
//! queues per flow.

use crate::text::run;
use lightlag_scenario::{parse_json, parse_toml};
use lightlag_sim::{Control, Parallel, RunResult, Simulation};

/// Returns a link of 10 Mbit/s and 20 ms with these keys, between hosts and routers, and a flow of datagrams at 4 Mbit/s.
fn scenario(keys: &str, flows: &str) -> String {
    let hop = |between: &str, rate: &str, keys: &str| {
        format!("[[links]]\nbetween = [{between}]\nrate = \"{rate}\"\ndelay = \"20 ms\"\n{keys}\n")
    };
    String::from("duration = \"150 s\"\nrecord = { queue = \"sampled\", interval = \"1 s\", drops = true }\n")
        + &hop("\"a\", \"b\"", "1 Gbit/s", "")
        + &hop("\"b\", \"c\"", "10 Mbit/s", keys)
        + &hop("\"c\", \"d\"", "1 Gbit/s", "")
        + flows
}

const STREAM: &str = "[[flows]]\nfrom = \"a\"\nto = \"d\"\ntransport = \"udp\"\n\
                      traffic = { kind = \"constant\", rate = \"4 Mbit/s\", size = \"1000 B\" }\n";
const DOWNLOAD: &str = "[[flows]]\nfrom = \"a\"\nto = \"d\"\n";
const SLOTS: &str = "slots = { period = \"15 s\", phase = \"12 s\", outage = \"100 ms\", step = { uniform = [\"0 s\", \
                     \"30 ms\"] }, loss = 0.2, before = \"500 ms\", after = \"1 s\", dip = 0.8 }";
const CHANNEL: &str = "channel = { good = { mean_time = \"2 s\" }, bad = { mean_time = \"500 ms\", delay = \"30 ms\", \
                       loss = 0.3, rate = 0.5 } }";
const RAMP: &str = "ramp = { idle = \"2 Mbit/s\", time = \"400 ms\", rest = \"1 s\" }";
const FRAMES: &str = "aggregate = { interval = \"5 ms\", max = 8 }";

fn hash(text: &str) -> String {
    run(text).summary.result_hash
}

/// Returns the fraction of the stream's datagrams that arrived.
fn delivered(result: &RunResult) -> f64 {
    // 4 Mbit/s are 500 datagrams per second, until the end of the run.
    result.summary.flows[0].delivered_bytes as f64 / (150.0 * 500e3)
}

#[test]
fn packets_wait_for_the_end_of_the_outage_of_a_slot() {
    let keys = "slots = { period = \"15 s\", phase = \"12 s\", outage = \"100 ms\" }";
    let result = run(&scenario(keys, STREAM));
    assert!(result.drops.time_s.is_empty(), "the queue holds 50 datagrams of an outage");
    // 60 ms of the last datagrams are in transit.
    assert!((0.999..1.0).contains(&delivered(&result)), "{}", delivered(&result));
    assert!((45..=60).contains(&result.summary.links[2].max_queue_packets), "{:?}", result.summary.links[2]);
    // An outage that the transmitter does not detect loses 0.1 s of each 15 s: 10 edges, 1 s of 150 s.
    let lost = delivered(&run(&scenario(&format!("{keys}\noutage = \"lose\""), STREAM)));
    assert!((1.0 - lost - 10.0 * 0.1 / 150.0).abs() < 8e-4, "{lost}");
}

#[test]
fn losses_near_the_edges_are_those_of_the_slots() {
    let lost = 1.0 - delivered(&run(&scenario(SLOTS, STREAM)));
    // 10 edges of 1.5 s with p = 0.2 in 150 s: 0.02; binomial, 7,500 datagrams lose 1,500 ± 35. Four of them.
    assert!((lost - 0.02).abs() < 4.0 * 35.0 / 75_000.0 + 5e-4, "{lost}");
}

#[test]
fn a_channel_delays_and_loses_together() {
    let lost = 1.0 - delivered(&run(&scenario(CHANNEL, STREAM)));
    // b = 0.5 / 2.5 = 0.2, of it 0.3: 0.06. The fraction of time varies by √(2 · 2² · 0.5² / (2.5³ · 150)) = 0.029 in
    // 150 s; three of them, times 0.3.
    assert!((lost - 0.06).abs() < 0.026, "{lost}");
}

#[test]
fn a_download_raises_the_rate_and_a_slow_stream_does_not() {
    let goodput = |keys: &str, flows: &str| run(&scenario(keys, flows)).summary.flows[0].goodput_bps;
    let full = goodput("", DOWNLOAD);
    let ramped = goodput(RAMP, DOWNLOAD);
    assert!((0.9..=1.0).contains(&(ramped / full)), "{ramped} of {full}");
    let slow = STREAM.replace("4 Mbit/s", "1 Mbit/s");
    let result = run(&scenario(RAMP, &slow));
    // A datagram of 1028 B takes 4.1 ms at 2 Mbit/s every 8 ms: the link is busy for half of the time.
    let busy = result.summary.links[2].utilisation;
    assert!((busy - 0.514).abs() < 0.005, "{busy}");
}

#[test]
fn frames_bound_the_rate_of_packets() {
    let result = run(&scenario("aggregate = { interval = \"10 ms\", max = 4 }", STREAM));
    // 4 packets per 10 ms are 400 of 500 datagrams per second, and the queue holds 1000 more.
    let expected = (400.0 * 150.0) / (500.0 * 150.0);
    assert!((delivered(&result) - expected).abs() < 0.002, "{}", delivered(&result));
}

#[test]
fn flows_with_queues_of_their_own_share_the_rate() {
    let flows = |rate: &str| {
        format!("{STREAM}{}", STREAM.replace("4 Mbit/s", rate).replace("\"a\"\nto", "\"a\"\nname = \"other\"\nto"))
    };
    for drop in ["tail", "head"] {
        let queue = format!("queue = {{ discipline = \"per_flow\", limit = \"50 packets\", drop = \"{drop}\" }}");
        let result = run(&scenario(&queue, &flows("40 Mbit/s")));
        // 4 Mbit/s are less than half of the link and lose nothing; the other flow has the rest.
        assert!(delivered(&result) > 0.999, "{drop}: {}", delivered(&result));
        let other = result.summary.flows[1].delivered_bytes as f64 * 8.0 / 150.0;
        // 10 Mbit/s · 1000/1028 − 4 Mbit/s.
        assert!((other / 5.728e6 - 1.0).abs() < 0.005, "{drop}: {other}");
    }
    let shared = run(&scenario("queue = \"50 packets\"", &flows("40 Mbit/s")));
    assert!(delivered(&shared) < 0.5, "without them, both lose: {}", delivered(&shared));
}

#[test]
fn runs_are_the_same_in_any_number_of_partitions() {
    let all = format!(
        "{SLOTS}\n{CHANNEL}\n{}\n{FRAMES}\njitter = \"2 ms\"\nqueue = {{ discipline = \"per_flow\" }}",
        RAMP.replace("rest", "reset = true, rest")
    );
    for keys in [SLOTS, CHANNEL, RAMP, FRAMES, &all] {
        let text = scenario(keys, &format!("{DOWNLOAD}{STREAM}")).replace("150 s", "15 s");
        let scenario = parse_toml(&text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let whole = hash(&text);
        let parallel = Parallel { lanes: 2, threads: 2, always: true };
        let simulation = Simulation::parallel(&scenario, None, parallel).unwrap();
        assert_eq!(simulation.cut().map(|cut| cut.partitions()).ok(), Some(2), "{keys}");
        let parts = simulation.run(&mut |_| Control::Continue).summary.result_hash;
        assert_eq!(parts, whole, "{keys}");
        let other = text.replace("duration", "seed = 2\nduration");
        let is_random = [SLOTS, CHANNEL, &all].contains(&keys);
        assert!(!is_random || hash(&other) != whole, "{keys}");
        assert_eq!(scenario.is_random(&scenario.expand().unwrap()), is_random, "{keys}");
    }
}

#[test]
fn the_complete_forms_read_back() {
    for keys in [SLOTS, CHANNEL, RAMP, FRAMES, "queue = { discipline = \"per_flow\", drop = \"head\" }"] {
        let scenario = parse_toml(&scenario(keys, DOWNLOAD), &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
        assert_eq!(parse_json(&scenario.to_json().to_string(), &[]), Ok(scenario), "{keys}");
    }
    let one = SLOTS.replacen("slots = {", "slots = { backward = {", 1) + " }";
    let network = parse_toml(&scenario(&one, DOWNLOAD), &[]).unwrap().expand().unwrap();
    assert!(network.links[2].dynamics.is_none() && network.links[3].dynamics.is_some());
}

#[test]
fn wrong_settings_are_rejected() {
    for (keys, path, fragment) in [
        ("slots = { phase = \"1 s\" }", "slots.period", "is missing; specify the duration of a slot"),
        ("slots = { period = \"15 s\", phase = \"20 s\" }", "slots.phase", "is not below the period"),
        ("slots = { period = \"15 s\", outage = \"15 s\" }", "slots.outage", "use a shorter one"),
        (
            "slots = { period = \"15 s\", loss = 0.1, before = \"9 s\", after = \"7 s\" }",
            "slots.after",
            "exceed the period",
        ),
        ("slots = { period = \"15 s\", dip = 2 }", "slots.dip", "from 0 to 1"),
        ("slots = \"15 s\"", "slots", "is not a table such as"),
        ("slots = { period = \"1 s\", stp = \"1 ms\" }", "slots.stp", "did you mean \"step\"?"),
        (
            "slots = { period = \"1 s\", loss = 0.1, after = \"0 s\" }\nloss = { packets = [3] }",
            "slots",
            "losses of single packets",
        ),
        ("channel = { good = { mean_time = \"1 s\" } }", "channel.bad", "is missing"),
        (
            "channel = { good = { mean_time = \"0 s\" }, bad = { mean_time = \"1 s\" } }",
            "channel.good.mean_time",
            "0 s",
        ),
        (
            "channel = { good = { mean_time = \"1 s\" }, bad = { mean_time = \"1 s\", rate = 0 } }",
            "channel.bad",
            "below 0.001",
        ),
        ("ramp = { idle = \"11 Mbit/s\", time = \"1 s\" }", "ramp.idle", "above the rate of the link"),
        ("ramp = { idle = \"1 kbit/s\", time = \"1 s\" }", "ramp.idle", "below a thousandth"),
        ("ramp = { idle = \"1 Mbit/s\", time = \"1 s\", reset = true }", "ramp", "needs slots"),
        ("ramp = { idle = \"1 Mbit/s\", time = \"1 s\" }\non_demand = { latency = \"1 s\" }", "ramp", "on_demand"),
        ("aggregate = { interval = \"1 us\" }", "aggregate.interval", "minimum duration of a frame"),
        ("aggregate = { interval = \"1 ms\", max = 0 }", "aggregate.max", "write at least 1"),
        (
            "aggregate = { interval = \"1 ms\" }\nfec = { data = 4, repair = 1 }",
            "aggregate",
            "cannot be combined with fec",
        ),
        (
            "aggregate = { interval = \"1 ms\" }\ntrace = { file = \"x\", format = \"mahimahi\" }",
            "aggregate",
            "trace of deliveries",
        ),
        ("queue = { discipline = \"per_flow\", drop = \"middle\" }", "queue.drop", "middle"),
    ] {
        let errors = parse_toml(&scenario(keys, DOWNLOAD), &[]).expect_err(keys);
        let first = &errors[0];
        assert_eq!(first.path, format!("links[1].{path}"), "{keys}: {errors:#?}");
        assert!(first.message.contains(fragment), "{keys}: {first}");
    }
    let text = scenario("slots = { period = \"1 ms\" }", DOWNLOAD).replace("150 s", "5 h");
    let errors = parse_toml(&text, &[]).unwrap().expand().unwrap_err();
    assert_eq!(errors[0].path, "links[1].slots", "{errors:?}");
    assert!(errors[0].message.contains("use longer ones"), "{errors:?}");
}
