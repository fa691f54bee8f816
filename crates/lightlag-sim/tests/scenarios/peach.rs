//! TCP Peach and Peach+ over satellites and with cross traffic: the benefit and the cost of their low-priority
//! segments.

use crate::text::run;
use lightlag_sim::{RunResult, results::FlowSummary};

const PUSH_OUT: &str = r#"{ discipline = "priority", limit = "125 packets" }"#;
const STRICT: &str = r#"{ discipline = "priority", mode = "strict", limit = "125 packets" }"#;
const DROP_TAIL: &str = r#"{ discipline = "drop_tail", limit = "125 packets" }"#;

/// Runs flows with segments of 1000 B, each acknowledged, over one link of 10 Mbit/s. `rest` has further keys of the
/// link, and the tables of the flows.
fn scenario(duration: &str, buffer: &str, rest: &str) -> RunResult {
    run(&format!(
        r#"
        name = "peach"
        duration = "{duration}"
        record = {{ interval = "10 ms" }}

        [defaults.tcp]
        profile = "rfc"
        mss = "1012 B"
        initial_window = 1
        delayed_ack = false
        recovery = "sack"
        receive_buffer = "{buffer}"

        [[links]]
        between = ["a", "b"]
        rate = "10 Mbit/s"
        {rest}
        "#
    ))
}

fn flow(congestion: &str, start_ms: u32) -> String {
    format!(
        r#"
        [[flows]]
        from = "a"
        to = "b"
        start = "{start_ms} ms"
        tcp.congestion = "{congestion}"
        "#
    )
}

/// Runs one flow over a geostationary satellite link with random losses.
fn satellite(congestion: &str, loss: &str, duration: &str, buffer: &str) -> RunResult {
    let link = format!(
        "delay = \"275 ms\"\nqueue = {{ discipline = \"priority\", limit = \"200 packets\" }}\nloss = {{ rate = {loss}, direction = \
         \"forward\" }}\n"
    );
    scenario(duration, buffer, &(link + &flow(congestion, 0)))
}

fn first(result: &RunResult) -> &FlowSummary {
    &result.summary.flows[0]
}

#[test]
fn sudden_start_has_the_full_window_after_two_round_trips() {
    // Data is sent after one round trip of 0.55 s, the last of 299 probes just before the second has passed; its ACK
    // arrives one round trip later. NewReno's window is 4 segments then. A SYN-ACK can offer 65 segments: if the sender
    // does not receive the window in advance, the rest takes another round trip.
    let known = |name| format!("{{ algorithm = \"{name}\", sudden_window = 300 }}");
    for (congestion, rounds, min, max) in [
        (known("peach"), 2.0, 299.0, 303.0),
        (known("peach+"), 2.0, 299.0, 303.0),
        ("\"newreno\"".to_owned(), 2.0, 3.0, 5.0),
        ("\"peach\"".to_owned(), 2.0, 65.0, 80.0),
        ("\"peach\"".to_owned(), 3.0, 299.0, 310.0),
    ] {
        let link = "delay = \"275 ms\"\nqueue = { discipline = \"priority\" }\n".to_owned();
        let flow = flow("newreno", 0).replace("\"newreno\"", &congestion);
        let result = scenario("20 s", "300 kB", &(link + &flow));
        let trace = &result.trace;
        let row = trace.time_s.iter().position(|time| *time > 0.55 * (1.0 + rounds) + 0.015).unwrap();
        let window = trace.cwnd_segments[row];
        assert!((min..=max).contains(&window), "{congestion}: {window} at {} s", trace.time_s[row]);
        // Before the second data segment arrives, only one has, whatever the probes copy.
        let row = trace.time_s.iter().position(|time| *time > 0.55 * 2.5 - 0.02).unwrap();
        assert_eq!(trace.delivered_bytes[row], 1_000, "{congestion}");
    }
}

#[test]
fn probes_are_neither_data_nor_repairs() {
    for congestion in ["peach", "peach+"] {
        let link = "delay = \"275 ms\"\nqueue = { discipline = \"priority\" }\n".to_owned();
        let result = scenario("20 s", "300 kB", &(link + &flow(congestion, 0) + "transfer = \"1 MB\"\n"));
        let (flow, link) = (first(&result), &result.summary.links[0]);
        let repairs = (flow.retransmitted_segments, flow.recoveries, flow.timeouts);
        assert_eq!((flow.sent_segments, repairs), (1_000, (0, 0, 0)), "{congestion}");
        // SYN, the ACK of the SYN-ACK, a separate FIN, data, and 299 probes of the same size.
        assert_eq!(link.carried_bytes, 60 + 52 + 52 + 1_052 * (1_000 + 299), "{congestion}");
    }
}

#[test]
fn random_losses_over_a_satellite_cost_less_than_newreno_pays() {
    for (loss, factor) in [("1e-3", 3.0), ("1e-2", 5.0)] {
        let goodput = |congestion| first(&satellite(congestion, loss, "200 s", "600 kB")).goodput_bps;
        let newreno = goodput("newreno");
        for congestion in ["peach", "peach+"] {
            let peach = goodput(congestion);
            assert!(peach > factor * newreno, "{congestion}, loss {loss}: {peach} against {newreno}");
        }
    }
}

/// Returns the goodput in Mbit/s of a NewReno flow that another flow joins, as a mean over ten start times of that
/// flow.
fn beside(congestion: &str, queue: &str) -> f64 {
    let one = |n| {
        let link = format!("delay = \"50 ms\"\nqueue = {queue}\n");
        let flows = flow("newreno", 0) + &flow(congestion, 10_000 + 371 * n);
        first(&scenario("300 s", "1 MB", &(link + &flows))).goodput_bps / 1e6
    };
    (0_u32..10).map(one).sum::<f64>() / 10.0
}

#[test]
fn what_a_flow_loses_to_probes_depends_on_the_queue() {
    let fair = beside("newreno", PUSH_OUT);
    for congestion in ["peach", "peach+"] {
        let [strict, push_out, drop_tail] = [STRICT, PUSH_OUT, DROP_TAIL].map(|queue| beside(congestion, queue) / fair);
        // After all data, probes cost nothing. Among data they cost time, and in a drop-tail queue also slots.
        assert!(strict > 0.98, "{congestion}, strict: {strict}");
        assert!(push_out > 0.9, "{congestion}, push-out: {push_out}");
        assert!(drop_tail < push_out, "{congestion}: drop-tail {drop_tail}, push-out {push_out}");
    }
}

#[test]
fn probes_that_the_queue_drops_leave_half_a_window() {
    // With strict priority and a flow that fills the link, no probe passes, so a loss costs Peach as much as NewReno.
    let link = format!("delay = \"50 ms\"\nqueue = {STRICT}\n");
    let both =
        |congestion| scenario("300 s", "1 MB", &(link.clone() + &flow("newreno", 0) + &flow(congestion, 10_000)));
    let shares = ["newreno", "peach"].map(|congestion| both(congestion).summary.flows[1].goodput_bps);
    assert!((shares[1] / shares[0] - 1.0).abs() < 0.2, "{shares:?}");
}
