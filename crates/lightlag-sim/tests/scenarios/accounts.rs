//! Tests that the account of a sender's time covers the duration of its flow and nothing after, and that every leg of a
//! flow has an account.

use crate::text::run;
use lightlag_sim::RunResult;
use lightlag_sim::results::LimitedSeconds;

/// Two links without common nodes.
const LINKS: &str = r#"
duration = "60 s"
[[links]]
between = ["a1", "b1"]
rate = "10 Mbit/s"
delay = "50 ms"
loss = 1e-3
[[links]]
between = ["a2", "b2"]
rate = "10 Mbit/s"
delay = "50 ms"
"#;
const SHORT: &str = "[[flows]]\nname = \"short\"\nfrom = \"a1\"\nto = \"b1\"\ntransfer = \"1 MB\"\n";
const LONG: &str = "[[flows]]\nname = \"long\"\nfrom = \"a2\"\nto = \"b2\"\n";

fn total(limits: &LimitedSeconds) -> f64 {
    let LimitedSeconds { cwnd, rwnd, application, pacing, recovery, timeout } = limits;
    cwnd + rwnd + application + pacing + recovery + timeout
}

/// Runs two flows, of which the second is a transfer that lasts until the end of the run.
fn beside_a_long_one() -> RunResult {
    run(&format!("{LINKS}{SHORT}{LONG}transfer = \"1 TB\"\n"))
}

#[test]
fn an_account_ends_with_its_flow() {
    let (alone, beside) = (run(&format!("{LINKS}{SHORT}")), beside_a_long_one());
    let [alone, short] = [&alone, &beside].map(|result| &result.summary.flows[0]);
    assert_eq!((beside.summary.simulated_s, short.finish_s), (60.0, alone.finish_s));
    let took = short.finish_s.unwrap() - short.start_s;
    assert!((total(&short.limited_s) - took).abs() < 1e-6, "{:?} in {took} s", short.limited_s);
    // What the run does afterwards changes nothing of it.
    assert_eq!(short.limited_s, alone.limited_s);
    assert_eq!(short.mean_cwnd_segments, alone.mean_cwnd_segments);
    assert!(short.limited_s.application < 0.4 * took, "the handshake, and data in transit at the end: {short:?}");
    let long = &beside.summary.flows[1];
    assert!((total(&long.limited_s) - 60.0).abs() < 1e-6);
}

#[test]
fn an_account_ends_when_its_flow_fails() {
    let cut = "[[links]]\nbetween = [\"a3\", \"b3\"]\nrate = \"10 Mbit/s\"\ndelay = \"50 ms\"\n\
               changes = [{ at = \"1 s\", down = true }]\noutage = \"lose\"\n\
               [[flows]]\nname = \"cut\"\nfrom = \"a3\"\nto = \"b3\"\ntransfer = \"10 MB\"\ntcp = { retries = 3 }\n";
    let result = run(&format!("{LINKS}{cut}{LONG}transfer = \"1 TB\"\n"));
    let flow = &result.summary.flows[0];
    assert_eq!(flow.failure, Some("data was not acknowledged"));
    let took = total(&flow.limited_s);
    assert!((1.0..30.0).contains(&took), "{:?}", flow.limited_s);
}

/// A short path to a gateway, followed by a satellite link.
const PROXIED: &str = r#"
duration = "60 s"
[[links]]
between = ["client", "near"]
rate = "100 Mbit/s"
delay = "10 ms"
queue = "4000 packets"
[[links]]
between = ["near", "far"]
rate = "10 Mbit/s"
delay = "290 ms"
loss = { forward = 1e-3, backward = 0 }
[[links]]
between = ["far", "server"]
rate = "100 Mbit/s"
delay = "5 ms"
[[flows]]
name = "f"
from = "client"
to = "server"
transfer = "3 MB"
tcp = { congestion = "reno" }
[[proxies]]
node = "near"
buffer = "4 MB"
server = { congestion = "hybla" }
[[proxies]]
node = "far"
buffer = "4 MB"
"#;

#[test]
fn every_leg_has_its_own_row() {
    let result = run(PROXIED);
    let (flow, legs) = (&result.summary.flows[0], &result.summary.legs);
    let ways: Vec<_> = legs.iter().map(|leg| (leg.leg, leg.from.as_str(), leg.to.as_str())).collect();
    assert_eq!(ways, [(1, "client", "near"), (2, "near", "far"), (3, "far", "server")]);
    let algorithms: Vec<_> = legs.iter().map(|leg| leg.congestion.as_str()).collect();
    assert_eq!(algorithms, ["reno", "hybla", "cubic"]);
    assert!(legs.iter().all(|leg| leg.flow == "f" && leg.delivered_bytes == 3_000_000));
    // The losses occur on the satellite link.
    let resent: Vec<_> = legs.iter().map(|leg| leg.retransmitted_segments > 0).collect();
    assert_eq!(resent, [false, true, false]);
    assert_eq!(flow.retransmitted_segments, 0);
    for (leg, rtt) in legs.iter().zip([0.020, 0.580, 0.010]) {
        assert!((rtt..rtt + 0.004).contains(&leg.min_rtt_s.unwrap()), "{leg:#?}");
        let took = leg.finish_s.unwrap() - leg.start_s.unwrap();
        assert!((total(&leg.limited_s) - took).abs() < 1e-6, "{leg:#?}");
    }
    // The gateway has everything long before the satellite has brought it over.
    let finishes: Vec<f64> = legs.iter().map(|leg| leg.finish_s.unwrap()).collect();
    assert!(finishes[0] < 2.0 && finishes[1] > 3.0, "{finishes:?}");
    assert_eq!(Some(finishes[2]), flow.finish_s);
    let proxy = &result.summary.proxies[0];
    assert_eq!((proxy.sent_segments, proxy.timeouts), (legs[1].sent_segments, legs[1].timeouts));
}

#[test]
fn a_trace_has_the_window_of_every_leg() {
    let result = run(&format!("{PROXIED}[record]\ntrace = \"change\"\n"));
    let trace = &result.trace;
    assert_eq!((trace.leg.len(), trace.flow.iter().max()), (trace.time_s.len(), Some(&0)));
    let largest = |leg: u8| {
        let rows = trace.leg.iter().zip(&trace.cwnd_segments).filter(|(of, _)| **of == leg);
        rows.map(|(_, window)| *window).fold(0.0, f64::max)
    };
    // The satellite holds 10 Mbit/s · 580 ms = 725 kB, 500 segments.
    assert!(largest(2) > 300.0 && largest(1) > 0.0 && largest(3) > 0.0, "{} {}", largest(2), largest(3));
    assert!(run(&format!("{LINKS}{SHORT}")).trace.leg.is_empty());
}

/// Delivery in order is bursty after a hole is repaired, but the arrived bytes never exceed the capacity of the link.
#[test]
fn arrival_is_bounded_by_the_link() {
    let lossy = LINKS.replacen("loss = 1e-3", "loss = { packets = [200], direction = \"forward\" }", 1);
    let result = run(&format!("{lossy}{SHORT}[record]\ntrace = \"sampled\"\ninterval = \"10 ms\"\n"));
    let trace = &result.trace;
    let both = trace.arrived_bytes.iter().zip(&trace.delivered_bytes);
    assert!(both.clone().all(|(arrived, delivered)| arrived >= delivered));
    assert!(both.clone().any(|(arrived, delivered)| arrived > delivered), "nothing was lost");
    // 10 Mbit/s · 10 ms, and the rest of one packet.
    let max_step = trace.arrived_bytes.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    assert!(max_step <= 12_500 + 1448, "{max_step}");
    let burst = trace.delivered_bytes.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    assert!(burst > max_step, "{burst}");
}

#[test]
fn a_flow_names_its_bottleneck_and_a_link_its_rate() {
    let result = run(PROXIED);
    let flow = &result.summary.flows[0];
    assert_eq!(flow.bottleneck.as_deref(), Some("near->far"));
    let rate = |name: &str| result.summary.links.iter().find(|link| link.name == name).unwrap().rate_bps;
    assert_eq!((rate("near->far"), rate("client->near")), (Some(1e7), Some(1e8)));
    let changing = LINKS.replacen("loss = 1e-3", "changes = [{ at = \"1 s\", rate = \"5 Mbit/s\" }]", 1);
    let result = run(&format!("{changing}{SHORT}"));
    assert_eq!((result.summary.links[0].rate_bps, result.summary.links[2].rate_bps), (None, Some(1e7)));
}
