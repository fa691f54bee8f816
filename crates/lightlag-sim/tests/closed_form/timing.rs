//! Timing on an otherwise empty path: round-trip times, retransmission timeouts, packets on the wire.

use crate::{at, text::run};
use lightlag_sim::RunResult;

/// Runs one transfer over 300 ms each way at 1 Gbit/s, where 1500 B take 12 µs. After each of the `lost` times, the
/// next packet that is transmitted in the forward direction is lost.
fn transfer(segments: u32, lost: &str, tcp: &str) -> RunResult {
    run(&format!(
        r#"
        name = "timing"
        duration = "60 s"

        [[links]]
        between = ["a", "b"]
        rate = "1 Gbit/s"
        delay = "300 ms"
        loss = {{ forward = {{ at = [{lost}] }}, backward = 0 }}

        [[flows]]
        from = "a"
        to = "b"
        transfer = "{} B"
        tcp = {{ mss = "1460 B", initial_window = 30, delayed_ack = false, {tcp} }}
        "#,
        segments * 1448
    ))
}

#[track_caller]
fn assert_finish(result: &RunResult, expected_s: f64) {
    let finish = result.summary.flows[0].finish_s.expect("the transfer finishes");
    assert!((finish - expected_s).abs() < 1e-3, "finished at {finish} s, expected {expected_s} s");
}

/// TCP keys without tail loss probes, which would be sent before the timeout.
const RFC: &str = r#"profile = "rfc", timestamps = true, tlp = false"#;

/// Returns the time just before the `n`th data segment of the first window is transmitted, so that this segment is
/// lost.
fn before(n: u32) -> String {
    // SYN and SYN-ACK of 60 B take 0.48 µs each, the ACK of 52 B 0.416 µs; then data leaves back to back.
    format!("\"{:.9} s\"", 0.600_001_376 + 12e-6 * f64::from(n - 1) - 0.2e-6)
}

#[test]
fn the_round_trip_time_is_propagation_and_serialisation() {
    let result = run(r#"
        name = "RTT"
        duration = "10 s"
        record = { interval = "10 ms" }

        [[links]]
        between = ["a", "b"]
        rate = "1 Mbit/s"
        delay = "300 ms"
        queue = "100 packets"

        [[flows]]
        from = "a"
        to = "b"
        tcp = { profile = "rfc", tlp = false, initial_window = 1, timestamps = true, sack = true, delayed_ack = false }
    "#);
    // SYN and SYN-ACK: 60 B, 0.48 ms each.
    let handshake = 0.6 + 2.0 * 0.000_48;
    let flow = &result.summary.flows[0];
    assert!((flow.min_rtt_s.unwrap() - handshake).abs() < 1e-9, "{:?}", flow.min_rtt_s);
    // The ACK of the SYN-ACK leaves first: 0.416 ms for 52 B. Then 1500 B take 12 ms, their ACK 0.416 ms.
    let data = 0.6 + 0.000_416 + 0.012 + 0.000_416;
    let sample = at(&result, &result.trace.rtt_s, handshake + data + 0.005);
    assert!((sample - data).abs() < 1e-9, "{sample}");
}

#[test]
fn the_retransmission_timeout_follows_rfc_6298() {
    // Samples of 600 ms: SRTT 0.6, RTTVAR 0.3·0.75^(n−1), RTO = SRTT + 4·RTTVAR, at least 1 s. The last segment
    // is lost; the timer runs since the ACK of the segment before it, at 1.2 s, or since it was sent, at 0.6 s.
    let unscaled = format!("{RFC}, rto = {{ scaled_gains = false }}");
    for (segments, timeout) in [(1, 1.8), (2, 1.5), (3, 1.275), (4, 1.106_25), (5, 1.0), (9, 1.0)] {
        let result = transfer(segments, &before(segments), &unscaled);
        let armed = if segments == 1 { 0.6 } else { 1.2 };
        assert_finish(&result, armed + timeout + 0.3);
        assert_eq!(result.summary.flows[0].timeouts, 1);
        assert_eq!(result.summary.flows[0].retransmitted_segments, 1);
    }
}

#[test]
fn the_variance_falls_slower_where_a_round_trip_gives_many_samples() {
    // RFC 7323 appendix G: two or three segments and a FIN in flight should give two samples, and each moves RTTVAR by
    // an eighth: 0.3·(7/8)^(n−1).
    for (segments, timeout) in [(1, 1.8), (2, 1.65), (3, 1.518_75)] {
        let armed = if segments == 1 { 0.6 } else { 1.2 };
        assert_finish(&transfer(segments, &before(segments), RFC), armed + timeout + 0.3);
    }
}

#[test]
fn the_timeout_doubles_while_retransmissions_are_lost() {
    // Sent at 0.6 s, then after 1.8 s, 3.6 s and 7.2 s.
    let lost = format!("{}, \"2.3 s\", \"5.9 s\"", before(1));
    let result = transfer(1, &lost, RFC);
    assert_finish(&result, 0.6 + 1.8 + 3.6 + 7.2 + 0.3);
    assert_eq!(result.summary.flows[0].timeouts, 3);
}

#[test]
fn linux_keeps_the_timeout_200_ms_above_the_round_trip_time() {
    // After 30 samples 4·RTTVAR is 0.2 ms and the floor of the variance term holds: 0.6 + 0.2.
    // With exact timers, and with the mean RTTVAR: the peak of Linux stays for longer than these 30 segments take.
    let linux = r#"profile = "linux", timer_granularity = "exact", rto = { variance = "mean" }"#;
    let result = transfer(30, &before(30), linux);
    assert_finish(&result, 1.2 + 0.8 + 0.3);
}

#[test]
fn a_lost_syn_costs_a_second_and_makes_the_first_timeout_three() {
    // RFC 6298 §2.1: 1 s; §5.7: the timer of the first data starts at 3 s.
    let no_timestamps = r#"profile = "rfc", timestamps = false, tlp = false"#;
    assert_finish(&transfer(1, r#""0 s""#, no_timestamps), 1.0 + 0.6 + 0.3);
    assert_finish(&transfer(1, r#""0 s", "1.600001 s""#, no_timestamps), 1.0 + 0.6 + 3.0 + 0.3);
}

#[test]
fn a_transfer_puts_the_expected_packets_on_the_wire() {
    // A second transfer that never ends keeps the run going, so that the first one closes. N segments of 1448 B
    // in packets of 1500 B, ACKs of 52 B, SYNs of 60 B.
    for (segments, delayed_ack, acks) in [(10, "false", 10), (10, "{ segments = 2 }", 5), (11, "{ segments = 2 }", 6)] {
        let result = run(&format!(
            r#"
            name = "packets on the wire"
            duration = "30 s"

            [[links]]
            between = ["a", "b"]
            rate = "1 Gbit/s"
            delay = "300 ms"
            [[links]]
            between = ["c", "d"]
            rate = "10 kbit/s"
            delay = "1 ms"

            [[flows]]
            from = "a"
            to = "b"
            transfer = "{} B"
            tcp = {{ profile = "rfc", timestamps = true, delayed_ack = {delayed_ack} }}
            [[flows]]
            from = "c"
            to = "d"
            transfer = "1 GB"
            "#,
            segments * 1448
        ));
        let links: Vec<_> = result.summary.links.iter().collect();
        let [forward, backward, ..] = links[..] else { panic!("two links") };
        // SYN, ACK, the data, whose last segment has the FIN, and the ACK of the other FIN.
        assert_eq!(forward.carried_bytes, 60 + 52 + 1500 * segments + 52, "{segments} segments");
        assert_eq!(result.summary.flows[0].sent_segments, segments);
        // SYN-ACK, and the ACKs: the FIN is acknowledged immediately, by the other FIN.
        assert_eq!(backward.carried_bytes, 60 + 52 * acks, "{segments} segments, {delayed_ack}");
    }
}
