//! The limits that a QUIC flow reports: one scenario for each cause, in which it is the longest.

use crate::pages;
use crate::text::run;
use lightlag_sim::RunResult;
use lightlag_sim::results::{FlowSummary, LimitedSeconds, QuicLimitedSeconds};

/// A path of 20 Mbit/s and 300 ms each way, with a QUIC flow.
fn geo(flow: &str) -> String {
    format!(
        "duration = \"100 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
         [[links]]\nbetween = [\"client\", \"server\"]\nrate = \"20 Mbit/s\"\ndelay = \"300 ms\"\n\
         queue = \"1 bdp\"\n[[flows]]\ntransport = \"quic\"\n{flow}\n"
    )
}

/// A transfer by the client, which opens the connection.
fn upload(keys: &str) -> FlowSummary {
    let result = run(&geo(&format!("from = \"client\"\nto = \"server\"\n{keys}")));
    checked(&result, 0.0)
}

/// Responses of a server, whose account starts with the first packet of the client that it processes: 300 ms after the
/// start, and a round trip later after a Retry packet.
fn responses(traffic: &str, keys: &str) -> FlowSummary {
    let flow = format!("from = \"server\"\nto = \"client\"\ntraffic = {{ {traffic} }}\n{keys}");
    checked(&run(&geo(&flow)), if keys.contains("retry") { 0.9 } else { 0.3 })
}

/// Returns the flow of a run, after a check that its times add up to its duration without the first `before` seconds.
fn checked(result: &RunResult, before: f64) -> FlowSummary {
    let flow = result.summary.flows[0].clone();
    let duration = flow.finish_s.unwrap_or(result.summary.simulated_s) - flow.start_s - before;
    let total: f64 = parts(&flow).iter().map(|(_, seconds)| seconds).sum();
    // Each packet of 1228 B takes half a millisecond at 20 Mbit/s.
    assert!((total - duration).abs() < 0.002, "{total} {duration} {flow:?}");
    if before == 0.0 {
        assert!((total - duration).abs() < 1e-6, "{total} {duration}");
    }
    assert!(parts(&flow).iter().all(|(_, seconds)| *seconds > -1e-9), "{flow:?}");
    flow
}

/// Returns the limits of a QUIC flow with their times.
fn parts(flow: &FlowSummary) -> [(&'static str, f64); 12] {
    let LimitedSeconds { cwnd, rwnd, application, pacing, recovery, timeout } = flow.limited_s;
    let QuicLimitedSeconds {
        handshake,
        amplification,
        stream_limit,
        connection_credit,
        stream_credit,
        send_buffer,
        idle,
    } = **flow.quic_limited_s.as_ref().expect("a QUIC flow");
    assert!((rwnd - connection_credit - stream_credit).abs() < 1e-9, "{flow:?}");
    [
        ("cwnd", cwnd),
        ("pacing", pacing),
        ("recovery", recovery),
        ("timeout", timeout),
        ("application", application - handshake - amplification - stream_limit - send_buffer - idle),
        ("handshake", handshake),
        ("amplification", amplification),
        ("stream limit", stream_limit),
        ("connection credit", connection_credit),
        ("stream credit", stream_credit),
        ("send buffer", send_buffer),
        ("idle", idle),
    ]
}

fn time(flow: &FlowSummary, limit: &str) -> f64 {
    parts(flow).into_iter().find(|(name, _)| *name == limit).expect("a limit").1
}

/// Asserts that `limit` applied for more than half of the time.
fn assert_mostly(flow: &FlowSummary, limit: &str) {
    let total: f64 = parts(flow).iter().map(|(_, seconds)| seconds).sum();
    assert!(time(flow, limit) > 0.5 * total, "{limit}: {:?}", parts(flow));
}

#[test]
fn a_short_transfer_waits_for_its_handshake() {
    let flow = upload("transfer = \"5 kB\"");
    // A round trip for the keys, then the data takes half of one.
    assert_mostly(&flow, "handshake");
    assert!((time(&flow, "handshake") - 0.6).abs() < 0.01, "{flow:?}");
    let early = upload("transfer = \"5 kB\"\nquic = { zero_rtt = true }");
    assert!(time(&early, "handshake") < 0.01, "{early:?}");
}

#[test]
fn a_long_certificate_meets_the_anti_amplification_limit() {
    let asks = "kind = \"requests\", response = \"1 kB\", count = 1";
    // 9 kB are more than three times the 1200 B of the client's Initial packet: the rest waits a round trip for the
    // client's first Handshake packet.
    let flow = responses(asks, "quic = { server = { certificate = \"9 kB\" } }");
    assert!((time(&flow, "amplification") - 0.6).abs() < 0.01, "{:?}", parts(&flow));
    let short = responses(asks, "quic = { server = { certificate = \"2 kB\" } }");
    assert!(time(&short, "amplification") < 1e-9, "{:?}", parts(&short));
    assert!((flow.finish_s.unwrap() - short.finish_s.unwrap() - 0.6).abs() < 0.02);
    let retried = responses(asks, "quic = { server = { certificate = \"9 kB\", retry = true } }");
    assert!(time(&retried, "amplification") < 1e-9, "a token validates the address: {:?}", parts(&retried));
    // With 0-RTT, the response itself meets the limit, and nothing else waits.
    let early = responses(&asks.replace("1 kB", "5 kB"), "quic = { zero_rtt = true }");
    assert_mostly(&early, "amplification");
}

#[test]
fn credit_limits_a_connection_or_a_stream() {
    // 150 kB in a round trip are 2 Mbit/s of 20 Mbit/s.
    for (keys, limit) in [
        ("connection_credit = \"150 kB\", stream_credit = \"30 MB\"", "connection credit"),
        ("connection_credit = \"30 MB\", stream_credit = \"150 kB\"", "stream credit"),
    ] {
        let flow = upload(&format!("transfer = \"5 MB\"\nquic = {{ {keys} }}"));
        assert_mostly(&flow, limit);
        assert!(flow.goodput_bps < 2.1e6, "{flow:?}");
    }
}

#[test]
fn a_send_buffer_limits_a_transfer() {
    let flow = upload("transfer = \"5 MB\"\nquic = { send_buffer = \"150 kB\" }");
    assert_mostly(&flow, "send buffer");
    assert!(flow.limited_s.rwnd < 1e-9, "it is not the peer's: {flow:?}");
}

#[test]
fn the_stream_limit_holds_back_requests() {
    let images: String =
        (1..=20).map(|n| format!(", {{\"id\": \"o{n}\", \"size\": 1000, \"type\": \"image\"}}")).collect();
    let page = format!("{{\"objects\": [{{\"id\": \"index\", \"size\": 1000, \"type\": \"document\"}}{images}]}}");
    let load = |streams: u32| {
        let flow = format!(
            "from = \"server\"\nto = \"client\"\ntraffic = {{ kind = \"page\", file = \"page.json\", count = 1 }}\n\
             quic = {{ streams = {streams}, ack = {{ packets = 1 }} }}"
        );
        checked(&pages::run(&geo(&flow), &page), 0.3)
    };
    let (alone, all) = (load(1), load(100));
    assert_mostly(&alone, "stream limit");
    assert!(time(&all, "stream limit") < 1e-9, "{:?}", parts(&all));
}

#[test]
fn the_window_and_pacing_limit_bulk_transfers() {
    let window = upload("transfer = \"1 MB\"\ncongestion = \"newreno\"\nquic = { pacing = false }");
    assert_mostly(&window, "cwnd");
    let paced = upload("transfer = \"50 MB\"\ncongestion = \"bbr\"");
    assert_mostly(&paced, "pacing");
}

#[test]
fn an_application_with_little_data_is_told_from_an_idle_one() {
    // 50 kbit/s are a message of 500 B every 80 ms, and its acknowledgement takes 600 ms.
    let slow = upload("traffic = { kind = \"constant\", rate = \"50 kbit/s\", size = \"500 B\" }");
    assert_mostly(&slow, "application");
    let asks = responses("kind = \"requests\", response = \"1 kB\", think = \"5 s\", count = 4", "");
    assert_mostly(&asks, "idle");
}

#[test]
fn repairs_and_timeouts_are_parts_of_the_sum() {
    let text =
        geo("from = \"client\"\nto = \"server\"\ntransfer = \"5 MB\"").replace("1 bdp\"", "1 bdp\"\nloss = 0.01");
    let flow = checked(&run(&text), 0.0);
    assert!(time(&flow, "recovery") > 1.0, "{:?}", parts(&flow));
    // An outage after the handshake ends with a probe timeout.
    let outage =
        "1 bdp\"\noutage = \"lose\"\nchanges = [{ at = \"2 s\", down = true }, { at = \"20 s\", down = false }]";
    let text = geo("from = \"client\"\nto = \"server\"\ntransfer = \"300 kB\"").replace("1 bdp\"", outage);
    assert_mostly(&checked(&run(&text), 0.0), "timeout");
}
