//! Throughput of BBR over a link of 10 Mbit/s, at two round-trip times, with and without random loss.

use crate::text;
use lightlag_sim::RunResult;

const RATE: f64 = 10e6;
/// Payload of a full packet as a fraction of its size.
const SHARE: f64 = 1448.0 / 1500.0;

fn one_flow(congestion: &str, rtt_ms: u32, loss: f64, seconds: u32, seed: u32) -> RunResult {
    text::run(&format!(
        r#"
        name = "bbr"
        seed = {seed}
        duration = "{seconds} s"
        record = {{ interval = "100 ms" }}

        [[links]]
        between = ["a", "b"]
        rate = "10 Mbit/s"
        delay = "{} ms"
        queue = "1000 packets"
        loss = {{ forward = {loss}, backward = 0 }}

        [[flows]]
        from = "a"
        to = "b"
        tcp = {{ profile = "linux", congestion = {congestion} }}
        "#,
        rtt_ms / 2
    ))
}

/// Returns the payload that arrives between two times, as a fraction of what the link can carry after losses.
fn utilisation(result: &RunResult, from_s: f64, to_s: f64, loss: f64) -> f64 {
    let delivered = |time: f64| {
        let rows = result.trace.time_s.partition_point(|row| *row <= time);
        result.trace.delivered_bytes[rows - 1] as f64
    };
    (delivered(to_s) - delivered(from_s)) * 8.0 / (to_s - from_s) / (RATE * SHARE * (1.0 - loss))
}

/// Returns the fraction of the link that one flow uses after Startup, as a mean over three seeds.
fn share(congestion: &str, rtt_ms: u32, loss: f64) -> f64 {
    let of = |seed| utilisation(&one_flow(congestion, rtt_ms, loss, 130, seed), 10.0, 130.0, loss);
    (1..=3).map(of).sum::<f64>() / 3.0
}

/// Round-trip time in ms, loss rate, and minimum utilisation without and with PROBE_RTT.
type Case = (u32, f64, f64, f64);

fn check(algorithm: &str, cases: &[Case]) {
    for &(rtt_ms, loss, without, with) in cases {
        let unprobed = share(&format!(r#"{{ algorithm = "{algorithm}", probe_rtt = "0 s" }}"#), rtt_ms, loss);
        assert!(unprobed > without, "{rtt_ms} ms, {loss} lost, without PROBE_RTT: {unprobed}");
        let probed = share(&format!("{algorithm:?}"), rtt_ms, loss);
        assert!(probed > with, "{rtt_ms} ms, {loss} lost: {probed}");
    }
}

#[test]
fn version_1_fills_the_link_despite_random_losses() {
    // PROBE_RTT empties the path: for 200 ms and some round trips in every 10 s. With losses of 5 % on the long path
    // the repair also has to wait for it.
    check(
        "bbr",
        &[
            (50, 0.0, 0.95, 0.95),
            (50, 0.01, 0.95, 0.95),
            (50, 0.05, 0.95, 0.93),
            (600, 0.0, 0.95, 0.85),
            (600, 0.01, 0.95, 0.83),
            (600, 0.05, 0.90, 0.80),
        ],
    );
}

#[test]
fn version_3_uses_what_losses_below_its_threshold_leave() {
    // At 50 ms 42 segments fill the path: one lost is 2.4 % of them, above the threshold.
    check("bbr3", &[(50, 0.0, 0.95, 0.95), (50, 0.01, 0.65, 0.65), (600, 0.0, 0.95, 0.85), (600, 0.01, 0.95, 0.77)]);
}

#[test]
fn losses_above_its_threshold_cost_version_3_most_of_the_link() {
    for rtt_ms in [50, 600] {
        let (first, third) = (share("\"bbr\"", rtt_ms, 0.05), share("\"bbr3\"", rtt_ms, 0.05));
        assert!(third < 0.7 * first && third > 0.03, "{rtt_ms} ms: {third} of the link, version 1 {first}");
    }
}
