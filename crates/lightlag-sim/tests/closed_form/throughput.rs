//! Throughput in closed form: the window divided by the round-trip time, or the payload fraction of the link's rate.

use crate::{assert_within, at, text::run};
use lightlag_sim::RunResult;

/// Returns the delivered payload in bits per second between two times. Either no packets may be in transit at these
/// times, or the interval must be long.
fn throughput(result: &RunResult, from_s: f64, to_s: f64) -> f64 {
    let delivered = |time| at(result, &result.trace.delivered_bytes, time) as f64;
    (delivered(to_s) - delivered(from_s)) * 8.0 / (to_s - from_s)
}

/// Runs a flow that is limited only by the receiver's window, on a path with a round-trip time of 600 ms and spare
/// capacity.
fn window_limited(tcp: &str) -> RunResult {
    run(&format!(
        r#"
        name = "window over RTT"
        duration = "100 s"
        record = {{ interval = "10 ms" }}

        [[links]]
        between = ["ground", "ship"]
        rate = "10 Gbit/s"
        delay = "300 ms"
        queue = "100000 packets"

        [[flows]]
        from = "ground"
        to = "ship"
        tcp = {{ profile = "rfc", congestion = "newreno", delayed_ack = false, {tcp} }}
        "#
    ))
}

#[test]
fn without_window_scaling_a_flow_gets_65535_bytes_a_round_trip() {
    // 51 segments of 1285 B are 65,535 B. In 600 ms: 873.8 kbit/s, whatever the link's rate.
    let result =
        window_limited(r#"window_scaling = false, timestamps = false, mss = "1285 B", receive_buffer = "16 MiB""#);
    assert_within("throughput", throughput(&result, 30.3, 90.3), 65_535.0 * 8.0 / 0.6, 1e-4);
    let flow = &result.summary.flows[0];
    assert!(flow.limited_s.rwnd > 95.0, "the result names the cause: {:?}", flow.limited_s);
}

#[test]
fn a_receive_window_limits_to_window_over_rtt() {
    // 100 and 1000 segments of 1448 B.
    for segments in [100_u64, 1000] {
        let buffer = segments * 1448;
        let result = window_limited(&format!(r#"timestamps = true, mss = "1460 B", receive_buffer = "{buffer} B""#));
        // The advertised window is rounded down to a multiple of its scale (RFC 7323 §2.3), so the last segment
        // of the window may not fit.
        let window = throughput(&result, 30.3, 90.3) * 0.6 / 8.0 / 1448.0;
        let full = segments as f64;
        assert!(window > full - 1.01 && window < full + 0.01, "{window} segments per round trip of {segments}");
    }
}

/// Runs a flow that fills a link without loss. Its receive window covers the path and a part of the queue.
fn filled(link: &str, buffer: &str, tcp: &str) -> RunResult {
    run(&format!(
        r#"
        name = "filled"
        duration = "60 s"

        [[links]]
        between = ["a", "b"]
        delay = "25 ms"
        queue = "1000 packets"
        {link}

        [[flows]]
        from = "a"
        to = "b"
        tcp = {{ receive_buffer = "{buffer}", {tcp} }}
        "#
    ))
}

#[test]
fn a_lossless_link_is_filled_to_its_payload_fraction() {
    // rate · payload / (payload + TCP and IP headers + link header)
    let cases = [
        (r#"rate = "10 Mbit/s""#, r#"profile = "linux""#, 10e6 * 1448.0 / 1500.0),
        (r#"rate = "34.368 Mbit/s""#, r#"profile = "linux", congestion = "newreno""#, 34.368e6 * 1448.0 / 1500.0),
        (r#"rate = "10 Mbit/s""#, r#"profile = "rfc", timestamps = false"#, 10e6 * 1460.0 / 1500.0),
        (
            "rate = \"5 Mbit/s\"\nheader = \"7 B\"",
            r#"profile = "linux", mss = "1024 B""#,
            5e6 * 1012.0 / (1064.0 + 7.0),
        ),
        ("rate = \"5 Mbit/s\"\nheader = \"38 B\"", r#"profile = "linux", congestion = "hybla""#, 5e6 * 1448.0 / 1538.0),
    ];
    for (link, tcp, share) in cases {
        let result = filled(link, "1 MB", tcp);
        assert_within(&format!("{link}, {tcp}"), throughput(&result, 20.0, 60.0), share, 2e-4);
        assert_eq!(result.summary.links[0].dropped_queue, 0);
        assert_eq!(result.summary.flows[0].retransmitted_segments, 0);
    }
}

#[test]
fn flows_share_a_lossless_link_by_their_windows() {
    // With a standing queue, each flow has its entire receive window in the path, so the rates are proportional to the
    // windows.
    let result = run(r#"
        name = "shares"
        duration = "120 s"

        [[links]]
        between = ["a", "b"]
        rate = "10 Mbit/s"
        delay = "10 ms"
        queue = "1000 packets"

        [defaults.tcp]
        congestion = "newreno"

        [[flows]]
        from = "a"
        to = "b"
        tcp = { receive_buffer = "100 kB" }
        [[flows]]
        from = "a"
        to = "b"
        tcp = { receive_buffer = "200 kB" }
    "#);
    let flows: Vec<_> = result.summary.flows.iter().collect();
    let [one, two] = flows[..] else { panic!("two flows") };
    // 69 and 138 whole segments.
    assert_within("the ratio", two.goodput_bps / one.goodput_bps, 2.0, 0.03);
    assert_within("the sum", one.goodput_bps + two.goodput_bps, 10e6 * 1448.0 / 1500.0, 0.005);
}

#[test]
fn a_standing_queue_makes_the_round_trip_time_window_over_rate() {
    // 200 segments in packets of 1500 B at 10 Mbit/s take 240 ms, of which the path is 50 ms.
    let result = filled(r#"rate = "10 Mbit/s""#, "289600 B", r#"profile = "rfc", delayed_ack = false"#);
    assert_within("RTT", at(&result, &result.trace.rtt_s, 30.0), 200.0 * 12_000.0 / 10e6, 1e-9);
    // 50 ms are 41.7 packets; packets that are not in transit, in transmission or acknowledged on the return path wait.
    let queued = result.queue.packets.get(result.queue.rows() - 2) as f64;
    assert_within("queue", queued, 200.0 - 0.05 * 10e6 / 12_000.0, 0.01);
}

#[test]
fn newreno_has_the_utilisation_that_its_queue_allows() {
    // The window saws between (1+b)·P/2 and (1+b)·P, with P packets on the path and b·P in the queue. Below P a
    // round takes the path's RTT, above it W/P of that. Segments over time: 3/4·(1+b)²/(1+b+b²).
    for b in [0.25, 0.5, 0.75, 1.0] {
        let result = run(&format!(
            r#"
            name = "sawtooth"
            duration = "400 s"

            [[links]]
            between = ["a", "b"]
            rate = "20 Mbit/s"
            delay = "50 ms"
            queue = {{ forward = "{b} bdp", backward = "1000 packets" }}

            [[flows]]
            from = "a"
            to = "b"
            tcp = {{ profile = "rfc", congestion = "newreno", delayed_ack = false }}
            "#
        ));
        let share = 0.75 * (1.0 + b) * (1.0 + b) / (1.0 + b + b * b);
        let ours = throughput(&result, 50.0, 400.0) / (20e6 * 1448.0 / 1500.0);
        assert_within(&format!("share with a queue of {b} BDP"), ours, share, 0.02);
        // Little's law, by which the summary has its mean, against the samples: 4000 of them, evenly spaced.
        let queue = &result.queue;
        let samples: Vec<u64> =
            (0..queue.rows()).filter(|row| queue.link.get(*row) == 0).map(|row| queue.packets.get(row)).collect();
        let sampled = samples.iter().sum::<u64>() as f64 / samples.len() as f64;
        assert_within(&format!("mean queue of {b} BDP"), result.summary.links[0].mean_queue_packets, sampled, 0.01);
    }
}
