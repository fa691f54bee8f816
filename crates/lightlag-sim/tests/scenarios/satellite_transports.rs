//! Congestion-control algorithms for satellites, over a geostationary path: completion, throughput and queues.

use crate::text;
use lightlag_sim::RunResult;
use lightlag_sim::results::FlowSummary;

/// Algorithms that send in bursts; then algorithms with a window.
const BURSTS: [&str; 3] = [r#""noordwijk""#, r#""wave""#, r#"{ algorithm = "wave", dispersion = "scaled" }"#];
const WINDOWS: [&str; 4] =
    [r#""star""#, r#""jersey""#, r#"{ algorithm = "jersey", window_rtt = "min_rtt" }"#, r#""westwoodbr""#];

/// A geostationary path, and the flow over it.
#[derive(Clone, Copy)]
struct Geo<'a> {
    mbps: f64,
    /// Round-trip time without queueing, in milliseconds.
    rtt_ms: u32,
    loss: f64,
    queue: &'a str,
    /// Loss probability on the return path.
    lost_acks: f64,
    congestion: &'a str,
    tcp: &'a str,
    /// The line with the size of the transfer; empty for an endless flow.
    transfer: &'a str,
    duration_s: u32,
    seed: u32,
}

impl Default for Geo<'_> {
    fn default() -> Self {
        Self {
            mbps: 10.0,
            rtt_ms: 550,
            loss: 0.0,
            queue: r#""1 bdp""#,
            lost_acks: 0.0,
            congestion: r#""newreno""#,
            tcp: r#"profile = "linux""#,
            transfer: "",
            duration_s: 3600,
            seed: 1,
        }
    }
}

impl Geo<'_> {
    fn run(&self) -> RunResult {
        let Self { mbps, rtt_ms, loss, queue, lost_acks, congestion, tcp, transfer, duration_s, seed } = self;
        text::run(&format!(
            r#"
            name = "geo"
            duration = "{duration_s} s"
            seed = {seed}
            record = {{ trace = "sampled", queue = "sampled", interval = "10 ms" }}

            [[links]]
            between = ["a", "b"]
            rate = "{mbps} Mbit/s"
            delay = "{} us"
            queue = {queue}
            loss = {{ forward = {loss}, backward = {lost_acks} }}

            [[flows]]
            from = "a"
            to = "b"
            {transfer}

            [flows.tcp]
            receive_buffer = "64 MiB"
            congestion = {congestion}
            {tcp}
            "#,
            rtt_ms * 500
        ))
    }

    fn flow(&self) -> FlowSummary {
        self.run().summary.flows[0].clone()
    }
}

/// Returns the mean rate of delivered payload between two times, in bits per second.
fn rate(result: &RunResult, from_s: f64, until_s: f64) -> f64 {
    let bytes_at = |time: f64| {
        let row = result.trace.time_s.partition_point(|row| *row <= time);
        result.trace.delivered_bytes[row - 1] as f64
    };
    8.0 * (bytes_at(until_s) - bytes_at(from_s)) / (until_s - from_s)
}

/// Returns the maximum number of packets in the queue of the forward path after `from_s`.
fn longest_queue(result: &RunResult, from_s: f64) -> u64 {
    let samples = &result.queue;
    let first = samples.link.get(0);
    let rows = (0..samples.rows()).filter(|row| samples.time_s.get(*row) >= from_s && samples.link.get(*row) == first);
    rows.map(|row| samples.packets.get(row)).max().unwrap()
}

#[test]
fn each_finishes_at_every_error_rate_with_every_repair() {
    for congestion in [&BURSTS[..], &WINDOWS].concat() {
        for tcp in [
            r#"profile = "linux""#,
            r#"profile = "rfc""#,
            r#"profile = "rfc", sack = false, recovery = "newreno""#,
            r#"profile = "inet""#,
        ] {
            let tcp = &tcp.replace(", ", "\n");
            for (loss, lost_acks, seed) in
                [(0.0, 0.0, 1), (1e-3, 0.0, 2), (1e-2, 0.0, 3), (1e-2, 0.05, 4), (0.1, 0.1, 5)]
            {
                let transfer = "transfer = \"300 kB\"";
                let flow =
                    Geo { loss, lost_acks, seed, congestion, tcp, transfer, duration_s: 36_000, ..Geo::default() }
                        .flow();
                let what = format!("{congestion}, {tcp}, loss {loss}: {flow:?}");
                assert!(flow.finish_s.is_some() && flow.failure.is_none(), "{what}");
                assert_eq!(flow.delivered_bytes, 300_000, "{what}");
            }
        }
    }
}

/// Returns the goodput of a transfer of 20 MB as a fraction of the link's rate, for each of five seeds.
fn goodputs(congestion: &str, loss: f64) -> [f64; 5] {
    [1, 2, 3, 4, 5].map(|seed| {
        let transfer = r#"transfer = "20 MB""#;
        Geo { loss, congestion, seed, transfer, ..Geo::default() }.flow().goodput_bps / 1e7
    })
}

fn mean(values: [f64; 5]) -> f64 {
    values.iter().sum::<f64>() / 5.0
}

#[test]
fn errors_cost_those_with_a_window_a_fraction_of_what_they_cost_newreno() {
    for loss in [1e-3, 1e-2] {
        let newreno = goodputs(r#""newreno""#, loss);
        for congestion in [r#""star""#, r#""jersey""#, r#""westwoodbr""#] {
            let theirs = goodputs(congestion, loss);
            for (ours, reno) in theirs.iter().zip(newreno) {
                assert!(*ours > 2.0 * reno, "{congestion} at {loss}: {theirs:?}, NewReno {newreno:?}");
            }
        }
    }
}

#[test]
fn star_carries_more_than_jersey_and_westwoodbr_at_a_loss_of_a_thousandth() {
    // The abstract's claim.
    let star = goodputs(r#""star""#, 1e-3);
    for congestion in [r#""jersey""#, r#""westwoodbr""#] {
        let theirs = goodputs(congestion, 1e-3);
        assert!(mean(star) > 1.1 * mean(theirs), "{star:?}, {congestion} {theirs:?}");
    }
}

#[test]
fn errors_cost_bursts_next_to_nothing() {
    for congestion in BURSTS {
        let without = mean(goodputs(congestion, 0.0));
        for loss in [1e-3, 1e-2] {
            let with = mean(goodputs(congestion, loss));
            assert!(with > 0.94 * without, "{congestion}: {with} at {loss}, {without} without");
        }
    }
}

/// Runs an endless flow over a link without errors. Returns its rate, headers included, as a fraction of the link's
/// rate, and the maximum queueing delay in seconds after 40 s.
fn alone(congestion: &str, mbps: f64, rtt_ms: u32) -> (f64, f64) {
    let tcp = "profile = \"linux\"\ndelayed_ack = false";
    let queue = r#""4000 packets""#;
    let result = Geo { congestion, mbps, rtt_ms, tcp, queue, duration_s: 120, ..Geo::default() }.run();
    let packet_bits = 8.0 * 1500.0;
    let wait = longest_queue(&result, 40.0) as f64 * packet_bits / (mbps * 1e6);
    (rate(&result, 40.0, 120.0) / (mbps * 1e6) * 1500.0 / 1448.0, wait)
}

#[test]
fn noordwijk_alone_has_the_rate_of_the_bottleneck_and_a_burst_in_its_queue() {
    for rtt_ms in [10, 100, 550] {
        for mbps in [1.0, 2.0, 10.0, 50.0] {
            let (rate, wait) = alone(r#""noordwijk""#, mbps, rtt_ms);
            assert!((rate - 1.0).abs() < 0.01, "{mbps} Mbit/s, {rtt_ms} ms: {rate}");
            let burst = 20.0 * 12_000.0 / (mbps * 1e6);
            assert!(wait <= 1.1 * burst, "{mbps} Mbit/s, {rtt_ms} ms: {wait} s, a burst {burst} s");
        }
    }
}

#[test]
fn wave_alone_keeps_a_queue_below_beta_that_makes_up_for_its_rate() {
    // 10/9 of the bottleneck where the queue is empty; two segments and a burst where the reply is fast, and on long
    // paths an oscillating queue, whose amplitude grows with the number of segments per round trip.
    for (rtt_ms, mbps, least) in [
        (10, 1.0, 0.99),
        (10, 2.0, 0.99),
        (10, 10.0, 0.99),
        (100, 2.0, 0.97),
        (550, 1.0, 0.9),
        (550, 2.0, 0.85),
        (550, 10.0, 0.7),
        (550, 50.0, 0.55),
    ] {
        let (rate, wait) = alone(r#""wave""#, mbps, rtt_ms);
        assert!((least..1.01).contains(&rate), "{mbps} Mbit/s, {rtt_ms} ms: {rate}");
        let segment = 12_000.0 / (mbps * 1e6);
        // The queue that the first segment of a burst meets: the other nine follow it.
        let met = wait - 9.0 * segment;
        assert!(met < 0.15, "{mbps} Mbit/s, {rtt_ms} ms: {met} s");
        if least >= 0.99 {
            assert!(wait <= 13.5 * segment, "{mbps} Mbit/s, {rtt_ms} ms: {} segments", wait / segment);
        }
    }
}

#[test]
fn wave_with_the_time_of_the_complete_burst_has_the_rate_of_the_bottleneck() {
    for rtt_ms in [10, 100, 550] {
        for mbps in [1.0, 2.0, 10.0, 50.0] {
            let (rate, wait) = alone(BURSTS[2], mbps, rtt_ms);
            assert!((rate - 1.0).abs() < 0.01, "{mbps} Mbit/s, {rtt_ms} ms: {rate}");
            assert!(wait <= 10.0 * 12_000.0 / (mbps * 1e6), "{mbps} Mbit/s, {rtt_ms} ms: {wait} s");
        }
    }
}

#[test]
fn two_noordwijks_share_a_bottleneck() {
    let flow = "[[flows]]\nfrom = \"a\"\nto = \"b\"\n".repeat(2);
    let result = text::run(&format!(
        r#"
        name = "two"
        duration = "200 s"
        record = {{ trace = "sampled", queue = "sampled", interval = "10 ms" }}

        [[links]]
        between = ["a", "b"]
        rate = "10 Mbit/s"
        delay = "275 ms"
        queue = "1000 packets"

        [defaults.tcp]
        profile = "linux"
        congestion = "noordwijk"
        receive_buffer = "64 MiB"

        {flow}
        "#
    ));
    // Each flow alone fills the link: the queue signals that to both above β. Until the reply arrives, a round trip
    // with that queue later, it grows at the rate of the link.
    let rates: Vec<f64> = result.summary.flows.iter().map(|flow| flow.goodput_bps).collect();
    assert!(rates[0] + rates[1] > 7.5e6, "{rates:?}");
    assert!((rates[0] / rates[1] - 1.0).abs() < 0.1, "{rates:?}");
    assert_eq!(result.summary.links[0].dropped_queue, 0);
    let wait = longest_queue(&result, 0.0) as f64 * 12_000.0 / 10e6;
    assert!((0.2..0.2 + 0.55 + 0.4).contains(&wait), "{wait} s");
}

/// Runs Jersey for 300 s over a router that issues congestion warnings. `tcp` decides whether the flow uses them (ECN).
fn jersey(loss: f64, tcp: &str) -> RunResult {
    let queue = r#"{ discipline = "step", limit = "500 packets", threshold = "50 packets", weight = 0.02 }"#;
    Geo { congestion: r#""jersey""#, loss, tcp, queue, duration_s: 300, ..Geo::default() }.run()
}

#[test]
fn warnings_keep_the_queue_of_jersey_at_the_threshold() {
    let result = jersey(0.0, "profile = \"linux\"\necn = \"classic\"");
    let link = &result.summary.links[0];
    assert!(link.marked > 0 && link.dropped_queue == 0, "{link:?}");
    assert!(longest_queue(&result, 60.0) <= 60, "{}", longest_queue(&result, 60.0));
    let flow = &result.summary.flows[0];
    assert_eq!((flow.retransmitted_segments, flow.timeouts), (0, 0));
    assert!(rate(&result, 60.0, 300.0) > 0.85 * 1e7 * 1448.0 / 1500.0, "{}", rate(&result, 60.0, 300.0));
}

#[test]
fn where_routers_warn_errors_cost_jersey_little() {
    for (loss, min_ratio) in [(1e-3, 1.1), (1e-2, 2.3)] {
        let [with, without] = ["profile = \"linux\"\necn = \"classic\"", "profile = \"linux\""]
            .map(|tcp| rate(&jersey(loss, tcp), 60.0, 300.0));
        assert!(with > min_ratio * without, "{with} and {without} at {loss}");
        assert!(with > 0.6e7, "{with} at {loss}");
    }
}

#[test]
fn the_bulk_that_westwoodbr_repeats_is_a_window_a_loss() {
    // One loss in the twentieth second, when no packet waits: the data in flight at that time, except for the three
    // segments that reported it.
    let text = r#"
        name = "bulk"
        duration = "40 s"
        record = { trace = "sampled", queue = "off", interval = "10 ms" }

        [[links]]
        between = ["a", "b"]
        rate = "100 Mbit/s"
        delay = "50 ms"
        loss = { at = ["20 s"] }

        [[flows]]
        from = "a"
        to = "b"

        [flows.tcp]
        profile = "rfc"
        recovery = "sack"
        tlp = false
        congestion = { algorithm = "westwoodbr", rate_gap = 0.8 }
        receive_buffer = "150 kB"
    "#;
    let result = text::run(text);
    let flow = &result.summary.flows[0];
    // The peer's window equals the data in flight.
    assert_eq!((flow.recoveries, flow.timeouts), (1, 0));
    let window = 150_000 / 1448;
    assert!((window - 5..=window).contains(&flow.retransmitted_segments), "{}", flow.retransmitted_segments);
}

#[test]
fn star_has_no_margin_to_wait_for_where_the_maximum_timeout_is_below_the_round_trip_time() {
    let tcp = "profile = \"linux\"\nrto = { initial = \"1 s\", max = \"1 s\" }";
    let transfer = r#"transfer = "100 kB""#;
    let flow = Geo { congestion: r#""star""#, rtt_ms: 1600, tcp, transfer, ..Geo::default() }.flow();
    assert!(flow.finish_s.is_some() && flow.timeouts > 0, "{flow:?}");
}
