//! `record.queueing`: the waiting times of data packets at links.

use lightlag_sim::results::{LinkSummary, RunResult};
use lightlag_sim::{Control, Simulation};

/// Runs a bulk flow for a minute over 10 Mbit/s and a round-trip time of 100 ms, with this queue at the bottleneck.
fn run(queue: &str, sets: &[(&str, &str)]) -> RunResult {
    let text = format!(
        r#"
        duration = "60 s"
        record = {{ trace = "off", queue = "off", drops = false }}
        [[links]]
        between = ["client", "router"]
        rate = "1 Gbit/s"
        delay = "1 ms"
        [[links]]
        between = ["router", "server"]
        rate = "10 Mbit/s"
        delay = "49 ms"
        queue = {queue}
        loss = 1e-4
        [[flows]]
        from = "client"
        to = "server"
        congestion = "newreno"
        "#
    );
    let sets: Vec<_> = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = lightlag_scenario::parse_toml(&text, &sets).unwrap();
    Simulation::new(&scenario, None).unwrap().run(&mut |_| Control::Continue)
}

fn link<'a>(result: &'a RunResult, name: &str) -> &'a LinkSummary {
    result.summary.links.iter().find(|link| link.name == name).unwrap()
}

const ASKED: (&str, &str) = ("record.queueing", "true");

#[test]
fn mean_waits_and_mean_queues_obey_littles_law() {
    for queue in [r#""1 bdp""#, r#"{ discipline = "codel" }"#, r#"{ discipline = "fq_codel" }"#] {
        let result = run(queue, &[ASKED]);
        let bottleneck = link(&result, "router->server");
        let waits = bottleneck.queueing.as_deref().copied().unwrap();
        // Only the three segments of the handshake and of the end carry no data; 1.5 % for packets that wait at the
        // end.
        let (arrivals, mean) = (waits.data_packets as f64 / 60.0, waits.mean_wait_s.unwrap());
        let (queue_by_law, queue) = (arrivals * mean, bottleneck.mean_queue_packets);
        assert!((queue_by_law / queue - 1.0).abs() < 0.015, "{queue_by_law} for {queue} packets");
        let [median, p95, p99, max] =
            [waits.median_wait_s, waits.p95_wait_s, waits.p99_wait_s, waits.max_wait_s].map(Option::unwrap);
        assert!(median <= p95 && p95 <= p99 && p99 <= max && mean > 0.0, "{waits:?}");
    }
}

#[test]
fn a_queue_of_one_bdp_delays_by_no_more_than_a_round_trip() {
    let waits = link(&run(r#""1 bdp""#, &[ASKED]), "router->server").queueing.as_deref().copied().unwrap();
    // 100 ms of 10 Mbit/s fill the queue; slow start and every loss by overflow do.
    assert!((0.095..=0.1005).contains(&waits.max_wait_s.unwrap()), "{waits:?}");
}

#[test]
fn acks_do_not_count_as_data() {
    let result = run(r#""1 bdp""#, &[ASKED]);
    let back = link(&result, "server->router").queueing.as_deref().copied().unwrap();
    assert_eq!((back.data_packets, back.mean_wait_s, back.p95_wait_s), (0, None, None));
}

#[test]
fn only_the_hash_of_runs_that_record_queueing_changes() {
    let (plain, off, recorded) =
        (run(r#""1 bdp""#, &[]), run(r#""1 bdp""#, &[("record.queueing", "false")]), run(r#""1 bdp""#, &[ASKED]));
    assert_eq!(plain.summary.result_hash, off.summary.result_hash);
    assert_ne!(plain.summary.result_hash, recorded.summary.result_hash);
    assert!(plain.summary.links.iter().all(|link| link.queueing.is_none()));
    assert_eq!(plain.summary.events, recorded.summary.events);
    assert_eq!(plain.summary.flows[0].delivered_bytes, recorded.summary.flows[0].delivered_bytes);
    assert!(!serde_json::to_string(&plain.summary).unwrap().contains("wait_s"));
    assert!(serde_json::to_string(&recorded.summary).unwrap().contains("\"p95_wait_s\":"));
}
