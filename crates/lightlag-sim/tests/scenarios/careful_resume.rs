//! Careful Resume (RFC 9959) over a geostationary satellite: its gain on the path with the saved parameters, and its
//! cost on a path with a tenth of the saved capacity.

use crate::text::run;
use lightlag_sim::RunResult;

const RTT: f64 = 0.55;

/// Runs a transfer with segments of 1000 B over the satellite.
fn transfer(mbps: u32, size: &str, congestion: &str, resume: &str) -> RunResult {
    run(&format!(
        r#"
        name = "careful resume"
        duration = "120 s"
        record = {{ interval = "1 ms" }}

        [[links]]
        between = ["a", "b"]
        rate = "{mbps} Mbit/s"
        delay = "275 ms"
        queue = "1 bdp"

        [[flows]]
        from = "a"
        to = "b"
        transfer = "{size}"

        [flows.tcp]
        profile = "rfc"
        congestion = "{congestion}"
        mss = "1012 B"
        initial_window = 10
        delayed_ack = false
        growth = "per_segment"
        receive_buffer = "8 MB"
        {resume}
        "#
    ))
}

/// Parameters that were saved on a path of 20 Mbit/s. The window of 2.75 MB is twice the bandwidth-delay product.
const SAVED: &str = "careful_resume = { saved_cwnd = \"2.75 MB\", saved_rtt = \"550 ms\" }";

/// Returns the transmission time of a segment at `mbps` in seconds.
fn segment(mbps: f64) -> f64 {
    1_052.0 * 8.0 / (mbps * 1e6)
}

#[test]
fn a_transfer_takes_four_round_trips_instead_of_nine() {
    for congestion in ["newreno", "cubic"] {
        let finish = |resume| transfer(20, "2 MB", congestion, resume).summary.flows[0].finish_s.unwrap();
        // The handshake; 10 · (2^7 - 1) = 1270 segments in seven rounds; half a round for what is left.
        let plain = (1.0 + 7.0 + 0.5) * RTT + 730.0 * segment(20.0);
        assert!((finish("") - plain).abs() < 0.02 * RTT, "{congestion}: {} of {plain} s", finish(""));
        // The handshake and the round of the initial window; then the link is full, as half of what was saved fills it.
        let resumed = (1.0 + 1.0 + 0.5) * RTT + 1_990.0 * segment(20.0);
        assert!((finish(SAVED) - resumed).abs() < 0.1 * RTT, "{congestion}: {} of {resumed} s", finish(SAVED));
        assert!(resumed < 4.1 * RTT && plain > 9.0 * RTT);
    }
}

#[test]
fn the_jump_follows_the_first_round_and_is_spread_over_the_next() {
    let result = transfer(20, "2 MB", "newreno", SAVED);
    let trace = &result.trace;
    let row_at = |time: f64| trace.time_s.iter().position(|other| *other >= time).unwrap();
    assert!(trace.cwnd_segments[row_at(2.0 * RTT - 0.02)] <= 10.0);
    assert_eq!(trace.cwnd_segments[row_at(2.0 * RTT + 0.02)], 1_375.0);
    // The fraction of the window in use, a quarter, a half, and three quarters of the round trip later.
    for share in [0.25, 0.5, 0.75] {
        let used = trace.inflight_bytes[row_at((2.0 + share) * RTT)] as f64 / 1_375_000.0;
        assert!((used - share).abs() < 0.03, "{used} of the window after {share} of a round trip");
    }
    assert_eq!(result.summary.links[0].dropped_queue, 0);
}

#[test]
fn on_a_path_with_a_tenth_of_the_capacity_the_retreat_bounds_the_loss() {
    for congestion in ["newreno", "cubic"] {
        let plain = transfer(2, "5 MB", congestion, "");
        let result = transfer(2, "5 MB", congestion, SAVED);
        let (flow, trace) = (&result.summary.flows[0], &result.trace);
        // At most the 1375 segments of the jump are lost, in one episode, and none of them costs a timeout.
        let dropped = result.summary.links[0].dropped_queue;
        assert!((300..1_375).contains(&dropped), "{congestion}: {dropped} dropped");
        assert_eq!(flow.timeouts, 0, "{congestion}");
        // The path carries 131 segments, and as many wait. Half of the data acknowledged before the loss is less than
        // that.
        let lowest = (0..trace.time_s.len()).filter(|row| trace.time_s[*row] > 2.2).map(|row| trace.cwnd_segments[row]);
        let lowest = lowest.fold(f64::INFINITY, f64::min);
        assert!((20.0..131.0).contains(&lowest), "{congestion}: {lowest}");
        let finish = plain.summary.flows[0].finish_s.unwrap();
        assert!(flow.finish_s.unwrap() < 1.2 * finish, "{congestion}: {:?} against {finish} s", flow.finish_s);
    }
}

#[test]
fn saved_parameters_of_another_path_are_not_used() {
    let other = SAVED.replace("550 ms", "1.2 s");
    let finish = |resume| transfer(20, "2 MB", "newreno", resume).summary.flows[0].finish_s.unwrap();
    assert_eq!(finish(&other), finish(""));
}
