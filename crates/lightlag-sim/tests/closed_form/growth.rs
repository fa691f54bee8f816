//! Growth of the window: per round in slow start and congestion avoidance, and over time with CUBIC.

use crate::{assert_within, at, text::run};
use lightlag_sim::RunResult;

/// Round-trip time of the path, including a few microseconds of serialisation.
const RTT: f64 = 0.1;

/// Runs one endless flow on a link so fast that the time to send a window is negligible: every round of 100 ms starts
/// with one burst. Each of the `lost` times causes the loss of the first packet of the next round.
fn one_flow(tcp: &str, lost: &str, duration: &str) -> RunResult {
    run(&format!(
        r#"
        name = "growth"
        duration = "{duration}"

        [[links]]
        between = ["sender", "receiver"]
        rate = "100 Gbit/s"
        delay = "50 ms"
        queue = "1000000 packets"
        loss = {{ forward = {{ at = [{lost}] }}, backward = 0 }}

        [[flows]]
        from = "sender"
        to = "receiver"
        tcp = {{ profile = "rfc", receive_buffer = "512 MiB", initial_window = 10, {tcp} }}
        "#
    ))
}

/// Returns the windows in the middle of the rounds, in segments. The first round starts after the handshake, at 1 RTT.
fn by_round(result: &RunResult, rounds: u32) -> Vec<f64> {
    (1..=rounds).map(|round| at(result, &result.trace.cwnd_segments, RTT * (f64::from(round) + 0.5))).collect()
}

#[test]
fn slow_start_doubles_the_window_in_each_round() {
    let result = one_flow(r#"congestion = "newreno", delayed_ack = false"#, "", "1 s");
    assert_eq!(by_round(&result, 8), [10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1280.0]);
}

#[test]
fn suss_quadruples_the_window_in_three_rounds() {
    // The pacing of a round ends after 3/4, 7/8 and 15/16 of it. Pure slow start has 10, 20, 40, 80, 160, 320.
    for variant in ["rfc9438", "linux"] {
        let suss = format!(r#"congestion = {{ algorithm = "suss", variant = "{variant}" }}, delayed_ack = false"#);
        let result = one_flow(&suss, "", "1 s");
        let windows = (1..=6).map(|round| at(&result, &result.trace.cwnd_segments, RTT * (f64::from(round) + 0.96)));
        assert_eq!(windows.collect::<Vec<f64>>(), [10.0, 40.0, 160.0, 640.0, 1280.0, 2560.0], "{variant}");
    }
}

#[test]
fn suss_shortens_a_flow_of_2_mb_by_a_fifth() {
    // The paper: by more than 20 % for flows below 5 MB and round-trip times above 50 ms. 2 MB are 1382 segments of
    // 1448 bytes: after the handshake, slow start needs 10 + 20 + … + 640 and an eighth round, SUSS 10 + 40 + 160 + 640
    // and a fifth.
    let seconds = |congestion: &str, rtt_ms: u32| {
        let result = run(&format!(
            r#"
            name = "short"
            duration = "20 s"

            [[links]]
            between = ["sender", "receiver"]
            rate = "100 Mbit/s"
            delay = "{} ms"
            queue = "1 bdp"

            [[flows]]
            from = "sender"
            to = "receiver"
            transfer = "2 MB"
            tcp = {{ profile = "rfc", receive_buffer = "64 MiB", congestion = "{congestion}" }}
            "#,
            rtt_ms / 2
        ));
        result.summary.flows[0].finish_s.expect("2 MB arrive")
    };
    for rtt_ms in [60, 100, 200, 600] {
        let (cubic, suss) = (seconds("cubic", rtt_ms), seconds("suss", rtt_ms));
        assert!((0.2..0.5).contains(&(1.0 - suss / cubic)), "{rtt_ms} ms: {suss} s instead of {cubic} s");
    }
}

#[test]
fn slow_start_grows_by_half_with_delayed_acks_that_count_once() {
    // Every second segment is acknowledged and adds one. A last odd segment waits for the first of the next
    // round: una = 2·⌊received/2⌋, window = 10 + ⌊received/2⌋, and then una + window have been sent.
    let result = one_flow(r#"congestion = "newreno", growth = "per_ack", delayed_ack = { segments = 2 }"#, "", "2 s");
    let (mut received, mut expected) = (0_u32, Vec::new());
    for _ in 0..12 {
        let acks = received / 2;
        expected.push(f64::from(10 + acks));
        received = 2 * acks + 10 + acks;
    }
    assert_eq!(expected[..5], [10.0, 15.0, 22.0, 33.0, 49.0]);
    assert_eq!(by_round(&result, 12), expected);
    assert_within("growth of a late round", expected[11] / expected[10], 1.5, 0.01);
}

#[test]
fn byte_counting_makes_up_for_delayed_acks() {
    // RFC 3465 with L = 2: an ACK of two segments adds two, so the round doubles, except for an odd last segment.
    let abc = r#"congestion = "newreno", growth = { abc = 2 }, delayed_ack = { segments = 2 }"#;
    assert_eq!(by_round(&one_flow(abc, "", "1 s"), 8), [10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1280.0]);
}

/// Asserts that every round after 1 s adds `per_round` segments. Each ACK adds its part of `per_round`/W, where W is
/// the window in segments; ACKs cover `stretch` segments. As the window grows, the later ACKs of a round add less, so a
/// round adds no less than `per_round·(W−stretch)/(W+per_round)`.
fn assert_avoidance(result: &RunResult, per_round: f64, stretch: f64) {
    let window = |round: u32| at(result, &result.trace.cwnd_segments, 1.05 + RTT * f64::from(round));
    assert!(window(0) > 20.0 && window(0) < 1e5, "the window was {} after the loss", window(0));
    for round in 0..30 {
        let (before, grown) = (window(round), window(round + 1) - window(round));
        let min = per_round * (before - stretch) / (before + per_round);
        let max = per_round * (before + stretch - 1.0) / before;
        assert!(grown >= min && grown <= max + 1e-9, "round {round} at {before} added {grown}: {min}..{max}");
    }
    assert_within("growth over 30 rounds", window(30) - window(0), 30.0 * per_round, 0.03);
}

#[test]
fn newreno_avoidance_adds_one_segment_a_round() {
    let result = one_flow(r#"congestion = "newreno", delayed_ack = false"#, r#""0.55 s""#, "5 s");
    // The first packet of the round that starts at 0.6 s is lost, 320 are in flight: 320/2 = 160.
    assert_eq!(at(&result, &result.trace.ssthresh_segments, 1.0), 160.0);
    assert_avoidance(&result, 1.0, 1.0);
}

#[test]
fn newreno_avoidance_adds_half_a_segment_with_delayed_acks_that_count_once() {
    let tcp = r#"congestion = "newreno", growth = "per_ack", delayed_ack = { segments = 2 }"#;
    assert_avoidance(&one_flow(tcp, r#""0.65 s""#, "5 s"), 0.5, 2.0);
}

#[test]
fn hybla_slow_start_multiplies_by_two_to_the_rho() {
    // ρ = 100/25 = 4: each ACK adds 2⁴ − 1 = 15, so a round multiplies by 16.
    let result = one_flow(r#"congestion = "hybla", delayed_ack = false"#, "", "0.5 s");
    let windows = by_round(&result, 3);
    assert_within("the second round", windows[1] / windows[0], 16.0, 0.001);
    assert_within("the third round", windows[2] / windows[1], 16.0, 0.001);
}

#[test]
fn hybla_avoidance_adds_rho_squared_segments_a_round() {
    let result = one_flow(r#"congestion = "hybla", delayed_ack = false"#, r#""0.25 s""#, "5 s");
    assert_avoidance(&result, 16.0, 1.0);
}

/// Asserts the shape of CUBIC's window after one loss at `w_max` segments. The window starts at `beta`·Wmax and follows
/// C(t−K)³ + Wmax, with K = ∛(Wmax·(1−β)/C) (RFC 9438 §4.2; C = 0.4).
fn assert_cubic(variant: &str, beta: f64) {
    let tcp = format!(
        r#"congestion = {{ algorithm = "cubic", variant = "{variant}", slow_start = "standard" }}, delayed_ack = false"#
    );
    let result = one_flow(&tcp, r#""0.45 s""#, "12 s");
    let trace = &result.trace;
    // The round that starts at 0.5 s has 160 segments and loses its first.
    let (w_max, c) = (160.0, 0.4);
    let k = libm::cbrt(w_max * (1.0 - beta) / c);
    assert_within(&format!("{variant}: Wmax"), at(&result, &trace.w_max_segments, 3.0), w_max, 0.01);
    assert_within(&format!("{variant}: K"), at(&result, &trace.k_s, 3.0), k, 0.01);
    // Recovery ends, and the epoch starts, when the retransmission is acknowledged: at 0.7 s. ACKs arrive once per
    // round and aim one round ahead, so the window is on the curve, within one round.
    let curve = |t: f64| c * (t - k) * (t - k) * (t - k) + w_max;
    for step in 1..=20 {
        let t = 0.5 * f64::from(step) + 0.05;
        let ours = at(&result, &trace.cwnd_segments, 0.7 + t);
        let (least, most) = (curve(t - RTT) - 0.1, curve(t + RTT) + 0.1);
        assert!(ours >= least && ours <= most, "{variant}: {ours} segments after {t} s, W(t) = {least}..{most}");
    }
}

#[test]
fn cubic_follows_its_cubic() {
    assert_cubic("rfc9438", 0.7);
    assert_cubic("rfc8312", 0.7);
    assert_cubic("paper2008", 0.8);
}

#[test]
fn slow_start_loses_what_the_path_holds_unless_it_ends_early() {
    // 100 Mbit/s, 100 ms and a queue of one BDP hold 1667 packets. When they are full, each of the 1667 ACKs in transit
    // releases two packets for one that departed: one is dropped. HyStart ends before; HyStart++ then sends a quarter
    // of that excess, after an entire round has detected the queue.
    let dropped = |slow_start: &str| {
        let result = run(&format!(
            r#"
            name = "overshoot"
            duration = "5 s"

            [[links]]
            between = ["sender", "receiver"]
            rate = "100 Mbit/s"
            delay = "50 ms"
            queue = "1 bdp"

            [[flows]]
            from = "sender"
            to = "receiver"
            tcp = {{ receive_buffer = "64 MiB", congestion = {{ algorithm = "reno", slow_start = "{slow_start}" }} }}
            "#
        ));
        result.summary.links[0].dropped_queue as f64
    };
    assert_within("drops of slow start", dropped("standard"), 1667.0, 0.02);
    assert_eq!(dropped("hystart"), 0.0);
    let later = dropped("hystart++");
    assert!((1.0..0.5 * 1667.0).contains(&later), "{later} drops of HyStart++");
}

#[test]
fn search_ends_slow_start_before_a_long_queue_overflows() {
    // The window reaches about 5 times the BDP of 833 packets; without an end it overflows 6 BDP of queue.
    let run = |slow_start: &str| {
        run(&format!(
            r#"
            name = "search"
            duration = "4 s"

            [[links]]
            between = ["sender", "receiver"]
            rate = "100 Mbit/s"
            delay = "50 ms"
            queue = "6 bdp"

            [[flows]]
            from = "sender"
            to = "receiver"
            tcp = {{ profile = "rfc", receive_buffer = "64 MiB", congestion = {{ algorithm = "newreno", slow_start = "{slow_start}" }} }}
            "#
        ))
    };
    assert!(run("standard").summary.links[0].dropped_queue > 0);
    let result = run("search");
    assert_eq!(result.summary.links[0].dropped_queue, 0);
    // It drains to the data of 1.05 round-trip times: 100 ms carry 833 packets.
    let drained = at(&result, &result.trace.cwnd_segments, 3.9);
    assert!((1.0 * 833.0..1.2 * 833.0).contains(&drained), "{drained} segments");
}

#[test]
fn a_window_that_the_peer_bounds_grows_to_twice_that_and_no_further() {
    // As in Linux (tcp_is_cwnd_limited): in slow start half of the window in flight is sufficient. Bursts wait for
    // their last segments here, in the peer's window, not in the sender's.
    for tso in [false, true] {
        let result = run(&format!(
            r#"
            name = "bounded"
            duration = "15 s"
            links = [{{ between = ["sender", "receiver"], rate = "20 Mbit/s", delay = "300 ms", queue = "1 bdp" }}]
            flows = [{{ from = "sender", to = "receiver" }}]

            [defaults.tcp]
            congestion = "newreno"
            receive_buffer = "2.8 MB"
            tso = {tso}
            "#
        ));
        let most = result.trace.cwnd_segments.iter().fold(0.0_f64, |most, cwnd| most.max(*cwnd));
        assert_within("maximum window", most, 2.0 * 2.8e6 / 1448.0, 0.02);
    }
}
