//! Tests that the same scenario, seed and version give the same numbers, and that a change affects only what depends on
//! it.

mod text;

use lightlag_sim::{RunResult, results::DropCause};
use std::path::Path;
use text::run;

/// Returns a scenario with two lossy links and a flow across both, with this seed and the lines `more`.
fn scenario(seed: u64, more: &str) -> String {
    format!(
        r#"
        name = "determinism"
        duration = "20 s"
        seed = {seed}
        record = {{ drops = true }}

        [[links]]
        between = ["a", "b"]
        rate = "10 Mbit/s"
        delay = "10 ms"
        queue = "20 packets"
        loss = 0.01
        [[links]]
        between = ["b", "c"]
        rate = "8 Mbit/s"
        delay = "100 ms"
        queue = "1 bdp"
        loss = {{ bit_error_rate = 1e-7 }}

        [[flows]]
        name = "first"
        from = "a"
        to = "c"
        {more}
        "#
    )
}

#[test]
fn the_same_seed_gives_the_same_hash() {
    let [one, two] = [run(&scenario(1, "")), run(&scenario(1, ""))];
    assert_eq!(one.summary.result_hash, two.summary.result_hash);
    assert_eq!(one.summary.result_hash.len(), 32, "128 bits in hexadecimal");
    assert!(one.summary.links[0].dropped_error > 0, "the run is random");
}

#[test]
fn another_seed_gives_another_hash() {
    assert_ne!(run(&scenario(1, "")).summary.result_hash, run(&scenario(2, "")).summary.result_hash);
}

/// Returns a [`scenario`] in which all properties of a link that can change do change.
fn changing(seed: u64) -> String {
    let changes = r#"loss = { good = { mean_time = "2 s", loss = 1e-3 }, bad = { mean_time = "50 ms" } }
        jitter = { distribution = "normal", deviation = "1 ms", correlation = 0.7 }
        changes = [
            { at = "3 s", rate = "3 Mbit/s" }, { at = "6 s", delay = "4 ms" }, { at = "8 s", down = true },
            { at = "8500 ms", down = false, rate = "20 Mbit/s", loss = { mean = 0.01, burst = 3 } },
        ]"#;
    scenario(seed, "").replace("loss = 0.01", changes)
}

#[test]
fn links_that_change_keep_to_the_seed() {
    let [one, two, other] = [1, 1, 2].map(|seed| run(&changing(seed)));
    assert_eq!(one.summary.result_hash, two.summary.result_hash);
    assert_ne!(one.summary.result_hash, other.summary.result_hash);
    let link = &one.summary.links[0];
    assert!(link.dropped_error > 0 && link.carried_bytes > 1_000_000, "the run is random: {link:?}");
}

#[test]
fn a_change_after_the_end_changes_nothing() {
    let later = "loss = 0.01\nchanges = [{ at = \"1 h\", rate = \"1 kbit/s\", down = true, loss = 1 }]";
    let [plain, changed] = [scenario(1, ""), scenario(1, "").replace("loss = 0.01", later)].map(|text| run(&text));
    let numbers = |result: &RunResult| format!("{:?} {:?}", result.summary.flows, result.summary.links);
    assert_eq!(numbers(&plain), numbers(&changed));
    let bits = |result: &RunResult| result.trace.srtt_s.iter().map(|srtt| srtt.to_bits()).collect::<Vec<_>>();
    assert!(bits(&plain) == bits(&changed), "the two kinds of link agree");
}

#[test]
fn the_hash_covers_what_was_recorded() {
    let full = scenario(1, "");
    let less = full.replace("drops = true", "drops = false");
    assert_ne!(run(&full).summary.result_hash, run(&less).summary.result_hash);
}

#[test]
fn recording_more_changes_nothing_that_happens() {
    let outcome = |record: &str| {
        let result = run(&scenario(1, "").replace("{ drops = true }", record));
        let flow = &result.summary.flows[0];
        (flow.delivered_bytes, flow.sent_segments, flow.mean_rtt_s, result.summary.packet_hops)
    };
    let off = outcome(r#"{ trace = "off", queue = "off", drops = false }"#);
    assert_eq!(outcome(r#"{ trace = "sampled", interval = "3 ms" }"#), off);
    assert_eq!(outcome(r#"{ trace = "change", queue = "sampled", drops = true }"#), off);
}

/// Returns the time, flow and size of every packet that a link direction corrupted.
fn errors_on(result: &RunResult, link: u32) -> Vec<(u64, u32, u32)> {
    let drops = &result.drops;
    (0..drops.time_s.len())
        .filter(|row| drops.link[*row] == link && drops.cause[*row] == DropCause::Error)
        .map(|row| (drops.time_s[row].to_bits(), drops.flow[row], drops.bytes[row]))
        .collect()
}

#[test]
fn a_flow_elsewhere_leaves_the_losses_of_a_link_alone() {
    // A third link that is as lossy, with a flow of its own; it comes last, so that indices stay.
    let more = r#"
        [[links]]
        between = ["x", "y"]
        rate = "5 Mbit/s"
        delay = "5 ms"
        queue = "20 packets"
        loss = 0.01

        [[flows]]
        name = "second"
        from = "x"
        to = "y"
    "#;
    let (alone, beside) = (run(&scenario(1, "")), run(&scenario(1, more)));
    for link in 0..4 {
        assert_eq!(errors_on(&alone, link), errors_on(&beside, link), "link {link}");
    }
    assert!(!errors_on(&alone, 0).is_empty() && !errors_on(&beside, 4).is_empty(), "links lose packets");
    assert_ne!(errors_on(&beside, 0), errors_on(&beside, 4), "links do not share their draws");
    assert_eq!(alone.summary.flows[0].delivered_bytes, beside.summary.flows[0].delivered_bytes);
}

/// Returns a lossy link with its own flow that meets no other traffic.
fn island(name: &str, start: &str) -> String {
    format!(
        r#"
        [[links]]
        between = ["{name}-1", "{name}-2"]
        rate = "5 Mbit/s"
        delay = "7 ms"
        queue = "20 packets"
        loss = 0.01

        [[flows]]
        name = "{name}"
        from = "{name}-1"
        to = "{name}-2"
        transfer = "1 MB"
        start = "{start}"
        "#
    )
}

#[test]
fn the_order_in_the_file_does_not_matter_to_what_does_not_meet() {
    let head = "name = \"islands\"\nduration = \"60 s\"\n";
    let [x, y] = [island("x", "0 s"), island("y", "0 s")];
    let [one, other] = [run(&format!("{head}{x}{y}")), run(&format!("{head}{y}{x}"))];
    assert_eq!(format!("{:?}", one.summary.flows[0]), format!("{:?}", other.summary.flows[1]));
    assert_eq!(format!("{:?}", one.summary.flows[1]), format!("{:?}", other.summary.flows[0]));
    assert_ne!(one.summary.flows[0].finish_s, one.summary.flows[1].finish_s, "each has its own losses");
}

#[test]
fn a_later_start_shifts_everything() {
    let head = "name = \"shift\"\nduration = \"60 s\"\n";
    let [early, late] = ["0 s", "1.5 s"].map(|start| run(&format!("{head}{}", island("x", start))));
    let [early, late] = [&early.summary.flows[0], &late.summary.flows[0]];
    assert!((late.finish_s.unwrap() - early.finish_s.unwrap() - 1.5).abs() < 1e-9, "{early:?} {late:?}");
    assert!(early.retransmitted_segments > 0);
    assert_eq!(early.retransmitted_segments, late.retransmitted_segments);
    assert_eq!((early.min_rtt_s, early.mean_rtt_s), (late.min_rtt_s, late.mean_rtt_s));
}

#[test]
fn links_without_losses_draw_nothing() {
    let quiet = |seed| run(&scenario(seed, "").replace("0.01", "0").replace("1e-7", "0"));
    let [one, two] = [quiet(1), quiet(2)];
    assert_eq!(one.summary.packet_hops, two.summary.packet_hops);
    assert_eq!(one.trace.time_s, two.trace.time_s);
    assert_eq!(one.trace.cwnd_segments, two.trace.cwnd_segments);
}

/// The scenarios of `scenarios/` whose hashes are stored in `tests/golden/hashes.txt`. They cover generated and listed
/// networks, asymmetric, congested and lossy links, every algorithm, finite and endless flows, and every kind of
/// traffic.
const GOLDEN: [&str; 6] = ["asymmetric", "dumbbell", "lossy", "leo", "heterogeneous", "traffic"];

/// If a hash differs, the results on this machine or since the last commit differ. If the change is intended,
/// `LIGHTLAG_UPDATE_HASHES=1 cargo test -p lightlag-sim --test determinism` rewrites the file.
#[test]
fn shipped_scenarios_keep_their_hashes() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut ours = String::new();
    for name in GOLDEN {
        let text = std::fs::read_to_string(here.join(format!("../../scenarios/{name}.toml"))).unwrap();
        ours += &format!("{name} {}\n", run(&text).summary.result_hash);
    }
    let file = here.join("tests/golden/hashes.txt");
    if std::env::var_os("LIGHTLAG_UPDATE_HASHES").is_some() {
        std::fs::write(&file, &ours).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        ours, kept,
        "if the change is intended, update the file as its test describes, and give the reason in the commit"
    );
}
