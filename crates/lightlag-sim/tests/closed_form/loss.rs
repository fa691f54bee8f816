//! Number of packets that a link loses, compared with the configured probability.

use crate::text::run;
use lightlag_sim::RunResult;

/// Asserts that `lost` of `sent` packets lies in the 99 % interval of a binomial distribution: 2.576 standard
/// deviations.
#[track_caller]
fn assert_lost(what: &str, lost: u64, sent: u64, probability: f64) {
    let mean = sent as f64 * probability;
    let half_width = 2.576 * (mean * (1.0 - probability)).sqrt();
    assert!((lost as f64 - mean).abs() < half_width, "{what}: {lost} of {sent} lost, expected {mean} ± {half_width}");
    assert!(half_width < 0.25 * mean, "{what}: {mean} ± {half_width} tests little");
}

/// Returns the number of data packets in the forward direction of the only link, and of ACKs in the backward direction.
/// The handshake is ignored: it is two packets among tens of thousands.
fn packets(result: &RunResult) -> [u64; 2] {
    let forward = result.summary.flows.iter().map(|flow| flow.sent_segments).sum();
    [forward, result.summary.packet_hops - forward]
}

#[test]
fn packets_are_lost_with_the_configured_probability() {
    for (seed, per) in [(1, 0.001), (2, 0.01), (3, 0.05)] {
        let result = run(&format!(
            r#"
            name = "packet errors"
            duration = "{}"
            seed = {seed}
            record = {{ trace = "off" }}

            [[links]]
            between = ["a", "b"]
            rate = "50 Mbit/s"
            delay = "5 ms"
            queue = "1000 packets"
            loss = {per}

            [[flows]]
            from = "a"
            to = "b"
            "#,
            if per < 0.01 { "150 s" } else { "60 s" }
        ));
        for (link, sent) in result.summary.links.iter().zip(packets(&result)) {
            assert_lost(&format!("PER {per} on {}", link.name), link.dropped_error, sent, per);
            assert_eq!(link.dropped_queue, 0);
        }
    }
}

#[test]
fn bit_errors_hit_packets_by_the_size_of_their_frame() {
    // Without options every data packet has 1500 B and every ACK 40 B, plus 7 B of link header.
    let result = run(r#"
        name = "bit errors"
        duration = "200 s"
        record = { trace = "off" }

        [[links]]
        between = ["a", "b"]
        rate = "50 Mbit/s"
        delay = "5 ms"
        queue = "1000 packets"
        header = "7 B"
        loss = { forward = { bit_error_rate = 1e-6 }, backward = { bit_error_rate = 5e-5 } }

        [[flows]]
        from = "a"
        to = "b"
        tcp = { profile = "rfc", timestamps = false, sack = false, delayed_ack = false }
    "#);
    // 1 − (1 − 10⁻⁶)^(8·1507) = 1.1984 %; 1 − (1 − 5·10⁻⁵)^(8·47) = 1.8625 %
    let [data, acks] = packets(&result);
    let links: Vec<_> = result.summary.links.iter().collect();
    let [forward, backward] = links[..] else { panic!("one link") };
    assert_lost("data", forward.dropped_error, data, 0.011_984);
    assert_lost("ACKs", backward.dropped_error, acks, 0.018_625);
}
