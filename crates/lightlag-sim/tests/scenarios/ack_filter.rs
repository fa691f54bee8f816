//! Filtering of ACKs on the slow direction of an asymmetric path, compared with the arithmetic of RFC 3449.

use crate::text::run;
use lightlag_sim::RunResult;
use lightlag_sim::results::DropCause;
use proptest::prelude::*;

/// Size in bytes of an ACK with timestamps, of a full packet, and of its payload.
const ACK: f64 = 52.0;
const PACKET: f64 = 1500.0;
const PAYLOAD: f64 = 1448.0;

/// Runs a flow with 10 Mbit/s in the forward direction, the slow rate `back` in the other, and a round-trip time of 100
/// ms. The window is twice the bandwidth-delay product, so that nothing is lost.
fn asymmetric(back: &str, queue: &str) -> RunResult {
    run(&format!(
        r#"
        duration = "60 s"
        [defaults.tcp]
        congestion = "cubic"
        receive_buffer = "300 kB"
        [[links]]
        between = ["client", "server"]
        rate = {{ forward = "10 Mbit/s", backward = "{back}" }}
        delay = "50 ms"
        queue = {{ forward = "500 kB", backward = {queue} }}
        [[flows]]
        from = "client"
        to = "server"
        "#
    ))
}

fn goodput(result: &RunResult) -> f64 {
    result.summary.flows[0].goodput_bps
}

/// 50 kbit/s carry 120 ACKs per second. With one ACK for two packets, that is 3.9 times less than 10 Mbit/s of data
/// need (RFC 3449 §2.1: with one ACK per packet the normalised bandwidth ratio is 200 / (1500/52) = 6.9).
#[test]
fn the_filter_lets_a_slow_return_link_feed_a_fast_one() {
    let plain = asymmetric("50 kbit/s", "\"1000 packets\"");
    let filtered = asymmetric("50 kbit/s", "{ discipline = \"ack_filter\" }");
    let full = 10e6 * PAYLOAD / PACKET;
    let by_acks = 50e3 / (8.0 * ACK) * 2.0 * PAYLOAD * 8.0;
    assert!((goodput(&plain) / by_acks - 1.0).abs() < 0.1, "{} of {by_acks}", goodput(&plain));
    assert!(goodput(&filtered) > 0.95 * full, "{} of {full}", goodput(&filtered));
    // The link is busy, and what waits for it is one ACK.
    let back = &filtered.summary.links[1];
    assert!(back.utilisation > 0.9 && back.max_queue_packets <= 2, "{back:?}");
    assert!(plain.summary.links[1].max_queue_packets > 60);
    // Nothing else was lost for it.
    assert_eq!((back.dropped_queue, back.dropped_aqm, back.dropped_error), (0, 0, 0));
    assert!(back.dropped_acks > 10_000, "{back:?}");
    let table = filtered.drops.cause.iter().filter(|cause| **cause == DropCause::AckFilter).count() as u64;
    assert_eq!(table, back.dropped_acks);
    assert!(plain.summary.links[1].dropped_acks == 0);
}

#[test]
fn an_idle_return_link_filters_nothing() {
    let plain = asymmetric("10 Mbit/s", "\"1000 packets\"");
    let filtered = asymmetric("10 Mbit/s", "{ discipline = \"ack_filter\" }");
    assert_eq!(filtered.summary.links[1].dropped_acks, 0);
    assert_eq!(goodput(&plain), goodput(&filtered));
}

#[test]
fn decimation_keeps_one_ack_of_n() {
    for n in [2_u64, 4, 8] {
        let queue = format!("{{ discipline = \"ack_filter\", filter = false, every = {n} }}");
        let result = asymmetric("10 Mbit/s", &queue);
        let back = &result.summary.links[1];
        let kept = back.carried_bytes as f64 / ACK;
        let share = kept / (kept + back.dropped_acks as f64);
        assert!((share * n as f64 - 1.0).abs() < 0.02, "every {n}: {share}");
        assert!(goodput(&result) > 0.9 * 10e6 * PAYLOAD / PACKET, "every {n}: {}", goodput(&result));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The ACK filter never causes a transfer to fail or to lose data, whatever other losses occur and whatever
    /// recovery is used, because duplicate and selective ACKs are never filtered.
    #[test]
    fn transfers_finish_with_every_filter(
        profile in prop::sample::select(vec!["linux", "rfc", "inet", "ns3"]),
        sack in any::<bool>(),
        kbps in 5_u32..200,
        loss in 0_u32..40,
        seed in 1_u64..100_000,
    ) {
        let result = run(&format!(
            r#"
            duration = "3000 s"
            seed = {seed}
            [defaults.tcp]
            profile = "{profile}"
            sack = {sack}
            [[links]]
            between = ["client", "server"]
            rate = {{ forward = "2 Mbit/s", backward = "{kbps} kbit/s" }}
            delay = "30 ms"
            loss = {}
            queue = {{ forward = "40 packets", backward = {{ discipline = "ack_filter" }} }}
            [[flows]]
            from = "client"
            to = "server"
            transfer = "500 kB"
            [[flows]]
            from = "server"
            to = "client"
            transfer = "50 kB"
            "#,
            f64::from(loss) / 1000.0
        ));
        for (flow, bytes) in result.summary.flows.iter().zip([500_000, 50_000]) {
            prop_assert!(flow.finish_s.is_some() && flow.delivered_bytes == bytes, "{flow:#?}");
        }
    }
}
