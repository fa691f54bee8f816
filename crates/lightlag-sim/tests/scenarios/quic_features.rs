//! Keys of `quic` beyond the rules of every connection: Careful Resume, the search for the path MTU, keep-alive, and the
//! frequency of acknowledgements.

use crate::text::run;
use lightlag_sim::results::FlowSummary;

/// Round-trip time of the path in seconds.
const RTT: f64 = 0.6;

/// Returns an upload over 20 Mbit/s and 300 ms each way. `link` has keys of the link.
fn upload(link: &str, keys: &str) -> String {
    format!(
        "duration = \"600 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
         [[links]]\nbetween = [\"client\", \"server\"]\nrate = \"20 Mbit/s\"\ndelay = \"300 ms\"\n\
         queue = \"1 bdp\"\n{link}\n\
         [[flows]]\nfrom = \"client\"\nto = \"server\"\ntransport = \"quic\"\n{keys}\n"
    )
}

fn finish(flow: &FlowSummary) -> f64 {
    flow.finish_s.unwrap_or_else(|| panic!("unfinished: {flow:?}"))
}

/// Returns the errors of a scenario with their paths.
fn errors(text: &str) -> String {
    let errors = match lightlag_scenario::parse_toml(text, &[]) {
        Ok(scenario) => scenario.expand().expect_err(text),
        Err(errors) => errors,
    };
    errors.iter().map(|error| format!("{}: {}", error.path, error.message)).collect::<Vec<_>>().join("; ")
}

/// Checks that a table `quic` with these keys has one error, which starts with the text.
fn refuses(keys: &str, expected: &str) {
    let message = errors(&upload("", &format!("transfer = \"1 MB\"\nquic = {{ {keys} }}")));
    assert!(message.starts_with(expected) && !message.contains("; flows"), "{message}");
}

#[test]
fn careful_resume_replaces_the_doublings_of_the_window() {
    let time = |resume: &str| {
        let keys = format!("transfer = \"2 MB\"\ncongestion = \"cubic\"\nquic = {{ pacing = false, {resume} }}");
        finish(&run(&upload("", &keys)).summary.flows[0])
    };
    // 1,200 B with 1,168 B of data take 0.491 ms.
    let rest = |datagrams: f64| datagrams * 1_228.0 * 8.0 / 20e6;
    // The handshake; 10 (2⁷ - 1) = 1,270 datagrams in seven rounds; half a round for the others.
    let plain = (1.0 + 7.0 + 0.5) * RTT + rest(2e6 / 1_168.0 - 1_270.0);
    assert!((time("") - plain).abs() < 0.2 * RTT, "{} of {plain}", time(""));
    // The handshake and the round of the initial window; half of the saved window then fills the link.
    let resumed = (1.0 + 1.0 + 0.5) * RTT + rest(2e6 / 1_168.0 - 10.0);
    let saved = time("careful_resume = { saved_cwnd = \"3 MB\", saved_rtt = \"600 ms\" }");
    assert!((saved - resumed).abs() < 0.2 * RTT, "{saved} of {resumed}");
    let other = time("careful_resume = { saved_cwnd = \"3 MB\", saved_rtt = \"1300 ms\" }");
    assert!((other - time("")).abs() < 0.1 * RTT, "{other} of {}", time(""));
}

#[test]
fn careful_resume_needs_values_and_a_window_that_can_jump() {
    for (keys, expected) in [
        ("saved_cwnd = \"0 B\", saved_rtt = \"1 s\"", "flows[0].quic.careful_resume.saved_cwnd: 0 B is not between"),
        ("saved_cwnd = \"1 MB\", saved_rtt = \"0 s\"", "flows[0].quic.careful_resume.saved_rtt: 0 s is not above"),
        ("saved_cwnd = \"1 MB\"", "flows[0].quic.careful_resume"),
    ] {
        refuses(&format!("careful_resume = {{ {keys} }}"), expected);
    }
    let saved = "careful_resume = { saved_cwnd = \"1 MB\", saved_rtt = \"1 s\" }";
    refuses(&format!("congestion = \"bbr\", {saved}"), "flows[0].quic.careful_resume: bbr has no window");
}

/// Limits the data in flight to less than the path and its queue hold.
const NO_LOSS: &str = "send_buffer = \"1.6 MB\"";

/// Data of a 1-RTT packet in a datagram of this size: without the header of 9 bytes and a number of 2, the frame's
/// header of 6, and the tag of 16.
fn payload(datagram: f64) -> f64 {
    datagram - 33.0
}

#[test]
fn the_search_for_the_mtu_finds_what_the_link_carries() {
    let flow = |link: &str, mtu: &str| {
        run(&upload(link, &format!("transfer = \"20 MB\"\nquic = {{ mtu = {mtu}, {NO_LOSS} }}"))).summary
    };
    // 1,326 B pass with 28 B of headers, 1,389 and 1,357 do not, and are repeated three times; then the rest is small.
    let (narrow, wide) = (flow("mtu = \"1380 B\"", "\"1452 B\""), flow("", "\"1452 B\""));
    let off = flow("mtu = \"1380 B\"", "false");
    assert_eq!((narrow.links[0].dropped_mtu, wide.links[0].dropped_mtu, off.links[0].dropped_mtu), (6, 0, 0));
    for (summary, datagram) in [(&off, 1_200.0), (&narrow, 1_326.0), (&wide, 1_452.0)] {
        let flow = &summary.flows[0];
        assert_eq!((flow.delivered_bytes, flow.failure), (20_000_000, None));
        let sent = flow.sent_segments as f64;
        assert!((sent * payload(datagram) / 20e6 - 1.0).abs() < 0.03, "{sent} packets of {datagram} B");
    }
    // Lost probes do not count as congestion.
    assert_eq!(narrow.flows[0].recoveries, off.flows[0].recoveries);
}

#[test]
fn full_packets_above_the_mtu_of_a_link_never_arrive() {
    let keys = "transfer = \"1 MB\"\nquic = { datagram = \"1400 B\", idle_timeout = \"20 s\" }";
    let text = upload("mtu = \"1400 B\"", keys);
    let result = run(&text);
    // The full packets of the server's handshake are the first that are lost.
    let dropped: u64 = result.summary.links.iter().map(|link| link.dropped_mtu).sum();
    assert!(result.summary.flows[0].finish_s.is_none() && dropped > 10, "{dropped}");
    let warnings = |text: &str| {
        let scenario = lightlag_scenario::parse_toml(text, &[]).unwrap();
        let warnings = scenario.warnings(&scenario.expand().unwrap());
        warnings.into_iter().map(|warning| (warning.kind.name(), warning.path)).collect::<Vec<_>>()
    };
    let place = |key: &str| vec![("packet-above-mtu", format!("flows[0].{key}"))];
    assert_eq!(warnings(&text), place("quic.datagram"));
    let tcp = upload("mtu = \"1400 B\"", "transfer = \"1 MB\"").replace("\"quic\"", "\"tcp\"");
    assert_eq!(warnings(&tcp), place("tcp.mss"));
    // 1,360 B and 40 B of headers fit.
    let small = upload("mtu = \"1400 B\"", "transfer = \"1 MB\"\ntcp = { mss = \"1360 B\" }");
    assert_eq!(warnings(&small.replace("\"quic\"", "\"tcp\"")), []);
}

#[test]
fn pings_keep_an_idle_connection_open() {
    let flow = |keys: &str| {
        let traffic = "traffic = { kind = \"requests\", response = \"10 kB\", think = \"20 s\", count = 3 }";
        let text = upload("", &format!("{traffic}\nquic = {{ idle_timeout = \"6 s\"{keys} }}"));
        run(&text).summary.flows[0].clone()
    };
    let (idle, kept) = (flow(""), flow(", keep_alive = \"5 s\""));
    assert!(idle.failure.is_some() && idle.responses.unwrap().count == 1, "{:?}", idle.failure);
    assert_eq!((kept.failure, kept.responses.unwrap().count), (None, 3));
    // "0 s" is none.
    assert_eq!(flow(", keep_alive = \"0 s\"").failure, idle.failure);
}

#[test]
fn a_sender_requests_fewer_acknowledgements() {
    let keys = |keys: &str| format!("transfer = \"20 MB\"\nquic = {{ {NO_LOSS}, {keys} }}");
    let flow = |more: &str| run(&upload("", &keys(more))).summary;
    let (usual, fewer) = (flow(""), flow("ack_frequency = { packets = 10 }"));
    // One acknowledgement for ten packets instead of two.
    let ratio = fewer.links[1].carried_bytes as f64 / usual.links[1].carried_bytes as f64;
    assert!((0.18..0.25).contains(&ratio), "{ratio} of the bytes on the return path");
    let slower = finish(&fewer.flows[0]) / finish(&usual.flows[0]);
    assert!((0.9..1.1).contains(&slower), "{slower} of the time");
    // Only the end that sends data has to request.
    let client = flow("client = { ack_frequency = { packets = 10 } }");
    // The server's own request has some bytes.
    assert!(client.links[1].carried_bytes.abs_diff(fewer.links[1].carried_bytes) < 100);
}

#[test]
fn the_values_of_extensions_have_ranges() {
    for (keys, expected) in [
        ("mtu = \"1100 B\"", "flows[0].quic.mtu: 1100 B is not between 1200 and 65507 B"),
        ("datagram = \"1400 B\", mtu = \"1300 B\"", "flows[0].quic.mtu: 1300 B is not between 1400 and"),
        ("mtu = 1400", "flows[0].quic.mtu"),
        ("keep_alive = \"1 us\"", "flows[0].quic.keep_alive: 1 us is below 1 ms"),
        ("keep_alive = \"30 s\"", "flows[0].quic.keep_alive: 30 s is not below idle_timeout, 30 s"),
        (
            "keep_alive = \"10 s\", server = { idle_timeout = \"9 s\" }",
            "flows[0].quic.server.keep_alive: 10 s is not below idle_timeout, 9 s",
        ),
        (
            "client = { keep_alive = \"10 s\" }, server = { idle_timeout = \"9 s\" }",
            "flows[0].quic.keep_alive: 10 s is not below the idle_timeout of the other end, 9 s",
        ),
        ("ack_frequency = { packets = 0 }", "flows[0].quic.ack_frequency.packets: 0 packets is not between 1 and"),
        ("ack_frequency = { delay = \"0 s\" }", "flows[0].quic.ack_frequency.delay: 0 s is not between 1 ms and"),
        ("ack_frequency = { reordering = 1001 }", "flows[0].quic.ack_frequency.reordering: 1001 packets is not"),
        ("ack_frequency = { ranges = 2 }", "flows[0].quic.ack_frequency.ranges"),
    ] {
        refuses(keys, expected);
    }
    let message = errors(&upload("mtu = \"60 B\"", "transfer = \"1 MB\""));
    assert!(message.starts_with("links[0].mtu: \"60 B\" is not between 68 B and"), "{message}");
}

/// Returns the window in datagrams and the smoothed round-trip time of the only flow at these times.
fn trace_at(text: &str, times: &[f64]) -> Vec<(f64, f64)> {
    let result = run(&text.replace("trace = \"off\"", "trace = \"change\""));
    assert_eq!(result.summary.flows[0].failure, None);
    let trace = &result.trace;
    let row = |time: f64| trace.time_s.partition_point(|other| *other <= time) - 1;
    times.iter().map(|time| (trace.cwnd_segments[row(*time)], trace.srtt_s[row(*time)])).collect()
}

#[test]
fn a_migration_starts_the_window_again_and_another_port_keeps_it() {
    let flow = |keys: &str| upload("", &format!("transfer = \"30 MB\"\nquic = {{ {NO_LOSS}, {keys} }}"));
    let times = [9.9, 10.1, 14.0];
    let (port, address) =
        (trace_at(&flow("rebind = [\"10 s\"]"), &times), trace_at(&flow("migrate = [\"10 s\"]"), &times));
    let plain = trace_at(&flow(""), &times);
    // The validation of the path sends some bytes.
    let is_kept = |(one, other): (&(f64, f64), &(f64, f64))| one.0 == other.0 && (one.1 - other.1).abs() < 0.002;
    assert!(port.iter().zip(&plain).all(is_kept), "{port:?} {plain:?}");
    // RFC 9000 §9.4: the initial window of ten datagrams, and no sample of the round-trip time.
    assert!(address[0] == plain[0] && address[1].0 == 10.0 && address[1].1.is_nan(), "{address:?}");
    assert!(address[2].0 > 100.0 && (address[2].1 - RTT).abs() < 0.05, "{address:?}");
    let time = |keys: &str| finish(&run(&flow(keys)).summary.flows[0]);
    let (plain, moved) = (time(""), time("client = { migrate = [\"10 s\"] }"));
    // Ten datagrams grow to the path of 1,220 in seven round trips.
    assert!((moved - plain) > 3.0 * RTT && (moved - plain) < 9.0 * RTT, "{moved} and {plain}");
}

#[test]
fn a_server_follows_its_client() {
    let flow = |keys: &str| {
        let traffic = "traffic = { kind = \"requests\", response = \"30 MB\", count = 1 }";
        upload("", &format!("{traffic}\nquic = {{ {NO_LOSS}, {keys} }}"))
    };
    // The client is at the other end of the link: its packets arrive 300 ms after the migration.
    let times = [10.25, 10.35, 14.0];
    let (plain, moved) = (trace_at(&flow(""), &times), trace_at(&flow("migrate = [\"10 s\"]"), &times));
    assert!(moved[0] == plain[0] && moved[1].0 == 10.0 && moved[1].1.is_nan() && moved[2].0 > 100.0, "{moved:?}");
    let windows = |values: &[(f64, f64)]| values.iter().map(|(window, _)| *window).collect::<Vec<_>>();
    // The server validates the path in one round trip, until 10.9 s.
    let times = [10.25, 10.35, 11.3];
    let [kept, plain] = ["rebind = [\"10 s\"]", ""].map(|keys| windows(&trace_at(&flow(keys), &times)));
    assert_eq!(kept, plain);
}

#[test]
fn versions_and_key_updates_change_no_time() {
    let flow = |keys: &str| {
        let summary = run(&upload("loss = 0.001", &format!("transfer = \"10 MB\"\nquic = {{ {keys} }}"))).summary;
        (finish(&summary.flows[0]), summary.flows[0].sent_segments, summary.links[1].carried_bytes)
    };
    let plain = flow("");
    assert_eq!(flow("version = 2"), plain);
    assert_eq!(flow("key_update = 1000"), plain);
}

#[test]
fn events_of_a_client_and_versions_are_checked() {
    let eight = ["\"1 s\""; 8].join(", ");
    for (keys, expected) in [
        (&format!("migrate = [{eight}]")[..], "flows[0].quic.migrate: 8 times are more than 7, the maximum"),
        ("rebind = [\"soon\"]", "flows[0].quic.rebind"),
        ("server = { migrate = [\"1 s\"] }", "flows[0].quic.server.migrate: changes the address of the client"),
        ("version = 3", "flows[0].quic.version: 3 is not 1 or 2"),
        ("client = { version = 2 }", "flows[0].quic.client.version: is the same at both ends"),
        ("server = { key_update = 9 }", "flows[0].quic.server.key_update: is the same at both ends"),
    ] {
        refuses(keys, expected);
    }
}
