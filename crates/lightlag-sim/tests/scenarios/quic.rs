//! Flows over QUIC: handshake, credit, other transports on the same path, and what proxies do with them.

use crate::text::run;
use lightlag_sim::results::FlowSummary;

/// A path of 20 Mbit/s and 300 ms each way, with these flows.
fn geo(link: &str, flows: &str) -> String {
    format!(
        "duration = \"600 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
         [[links]]\nbetween = [\"client\", \"server\"]\nrate = \"20 Mbit/s\"\ndelay = \"300 ms\"\n\
         queue = \"1 bdp\"\n{link}\n{flows}"
    )
}

fn upload(keys: &str) -> String {
    format!("[[flows]]\nfrom = \"client\"\nto = \"server\"\ntransport = \"quic\"\n{keys}\n")
}

fn finish(flow: &FlowSummary) -> f64 {
    flow.finish_s.unwrap_or_else(|| panic!("unfinished: {flow:?}"))
}

#[test]
fn a_transfer_takes_the_handshake_and_its_rounds() {
    // One round trip for the handshake, then 12,000 B per round trip, doubled each time: 100 kB need 4 rounds.
    let result = run(&geo("", &upload("transfer = \"100 kB\"\nquic = { pacing = false }")));
    let expected = 0.6 + 3.0 * 0.6 + 0.3;
    let time = finish(&result.summary.flows[0]);
    assert!((time - expected).abs() < 0.05, "{time} instead of {expected}");
    let flow = &result.summary.flows[0];
    assert_eq!((flow.delivered_bytes, flow.retransmitted_segments, flow.timeouts), (100_000, 0, 0));
    assert!((flow.min_rtt_s.unwrap() - 0.6).abs() < 0.01);
}

#[test]
fn data_in_the_first_flight_saves_a_round_trip() {
    let time = |keys: &str| finish(&run(&geo("", &upload(keys))).summary.flows[0]);
    let (full, early) = (time("transfer = \"5 kB\""), time("transfer = \"5 kB\"\nquic = { zero_rtt = true }"));
    assert!((full - early - 0.6).abs() < 0.02, "{full} {early}");
    let rejected = time("transfer = \"5 kB\"\nquic = { zero_rtt = true, server = { accept_zero_rtt = false } }");
    assert!((rejected - full).abs() < 0.02, "{rejected} {full}");
    let retried = time("transfer = \"5 kB\"\nquic = { server = { retry = true } }");
    assert!((retried - full - 0.6).abs() < 0.02, "{retried} {full}");
}

#[test]
fn fixed_credit_limits_the_rate() {
    // quinn permits 1.25 MB in each round trip of 600 ms: 16.7 Mbit/s.
    let flow = |credit: &str| {
        let keys = format!("transfer = \"40 MB\"\nquic = {{ profile = \"quinn\"{credit} }}");
        run(&geo("", &upload(&keys))).summary.flows[0].clone()
    };
    let (limited, free) = (flow(""), flow(", stream_credit = \"30 MB\""));
    assert!(limited.goodput_bps < 16.7e6 && limited.limited_s.rwnd > 1.0, "{limited:?}");
    assert!(free.limited_s.rwnd < limited.limited_s.rwnd && free.goodput_bps > limited.goodput_bps, "{free:?}");
}

#[test]
fn quic_and_tcp_with_equal_constants_are_equally_fast() {
    // Both use CUBIC with an initial window of ten packets, without pacing, and no limit of flow control.
    let tcp = "[[flows]]\nfrom = \"client\"\nto = \"server\"\ncongestion = \"cubic\"\ntransfer = \"20 MB\"\n\
               tcp = { profile = \"rfc\", initial_window = 10, receive_buffer = \"16 MB\" }\n";
    let quic = upload("congestion = \"cubic\"\ntransfer = \"20 MB\"\nquic = { pacing = false, datagram = \"1472 B\" }");
    let time = |flow: &str| finish(&run(&geo("", flow)).summary.flows[0]);
    let (tcp, quic) = (time(tcp), time(&quic));
    assert!((quic / tcp - 1.0).abs() < 0.05, "{quic} {tcp}");
}

#[test]
fn bbr_grows_while_packets_are_lost() {
    // One packet in 64 is lost: BBR keeps its window in an episode that further losses extend, as over TCP.
    let link = "loss = { forward = 0.0156, backward = 0 }";
    let time = |keys: &str| {
        finish(
            &run(&geo(link, &upload(&format!("transfer = \"20 MB\"\ncongestion = \"bbr\"\n{keys}")))).summary.flows[0],
        )
    };
    let quic = time("");
    let tcp = "[[flows]]\nfrom = \"client\"\nto = \"server\"\ncongestion = \"bbr\"\ntransfer = \"20 MB\"\n\
               tcp = { receive_buffer = \"16 MB\" }\n";
    let tcp = finish(&run(&geo(link, tcp)).summary.flows[0]);
    assert!((0.5..2.0).contains(&(quic / tcp)), "{quic} {tcp}");
}

#[test]
fn all_transports_share_a_link_that_loses_duplicates_and_reorders() {
    let flows = upload("transfer = \"2 MB\"\ncongestion = \"cubic\"")
        + "[[flows]]\nfrom = \"client\"\nto = \"server\"\ntransfer = \"1 MB\"\n"
        + "[[flows]]\nfrom = \"server\"\nto = \"client\"\ntransport = \"quic\"\n\
           traffic = { kind = \"requests\", response = \"100 kB\", count = 5 }\n"
        + "[[flows]]\nfrom = \"client\"\nto = \"server\"\ntransport = \"udp\"\n\
           traffic = { kind = \"constant\", rate = \"100 kbit/s\" }\n";
    let link = "loss = 0.01\nduplicate = 0.02\nreorder = { probability = 0.01, delay = \"5 ms\" }";
    let result = run(&geo(link, &flows));
    let [quic, tcp, requests, _] = &result.summary.flows.iter().collect::<Vec<_>>()[..] else { panic!("four flows") };
    assert_eq!((quic.delivered_bytes, tcp.delivered_bytes), (2_000_000, 1_000_000));
    assert_eq!(requests.responses.as_ref().unwrap().count, 5);
    assert!(quic.retransmitted_segments > 0 && quic.recoveries > 0);
}

#[test]
fn a_proxy_splits_tcp_and_passes_quic() {
    let text = |transport: &str| {
        format!(
            "duration = \"100 s\"\n[[links]]\nbetween = [\"server\", \"gateway\"]\nrate = \"100 Mbit/s\"\n\
             delay = \"10 ms\"\n[[links]]\nbetween = [\"gateway\", \"client\"]\nrate = \"20 Mbit/s\"\n\
             delay = \"280 ms\"\nqueue = \"1 bdp\"\n[[proxies]]\nnode = \"gateway\"\nbuffer = \"2 MB\"\n\
             [[flows]]\nfrom = \"server\"\nto = \"client\"\ntransport = \"{transport}\"\ntransfer = \"3 MB\"\n"
        )
    };
    let (split, passed) = (run(&text("tcp")), run(&text("quic")));
    assert_eq!((split.summary.proxies.len(), passed.summary.proxies.len()), (1, 0));
    let scenario = lightlag_scenario::parse_toml(&text("quic"), &[]).unwrap();
    let warnings = scenario.warnings(&scenario.expand().unwrap());
    let warning = warnings.iter().find(|warning| warning.kind.name() == "quic-at-proxy").expect("a warning");
    assert_eq!(warning.path, "proxies[0].node");
    assert!(warning.message.contains("does not split \"server->client\""), "{}", warning.message);
}

/// A server, a gateway 10 ms away, and a client over a satellite link that loses packets. `proxy` has the keys of a proxy at
/// the gateway.
fn satellite(proxy: &str, flow: &str) -> String {
    format!(
        "duration = \"300 s\"\n[[links]]\nbetween = [\"server\", \"gateway\"]\nrate = \"100 Mbit/s\"\n\
         delay = \"10 ms\"\n[[links]]\nbetween = [\"gateway\", \"client\"]\nrate = \"20 Mbit/s\"\n\
         delay = \"280 ms\"\nqueue = \"1 bdp\"\nloss = 0.001\n{proxy}\n\
         [[flows]]\nfrom = \"server\"\nto = \"client\"\ntransport = \"quic\"\ncongestion = \"cubic\"\n{flow}\n"
    )
}

#[test]
fn a_proxy_of_quic_is_two_connections_in_tandem() {
    let proxy = "[[proxies]]\nnode = \"gateway\"\nkind = \"quic\"\nbuffer = \"4 MB\"\n\
                 quic = { initial_window = 100, congestion = \"bbr\" }";
    let (through, plain) = (run(&satellite(proxy, "transfer = \"5 MB\"")), run(&satellite("", "transfer = \"5 MB\"")));
    let flow = &through.summary.flows[0];
    assert_eq!(flow.delivered_bytes, 5_000_000);
    assert_eq!((through.summary.proxies.len(), through.summary.legs.len()), (1, 2));
    let [first, second] = &through.summary.legs[..] else { panic!("two legs") };
    assert_eq!((first.congestion.as_str(), second.congestion.as_str()), ("cubic", "bbr"));
    assert!(first.min_rtt_s.unwrap() < 0.025 && second.min_rtt_s.unwrap() > 0.55);
    assert!(finish(flow) < 0.6 * finish(&plain.summary.flows[0]), "{flow:?} {:?}", plain.summary.flows[0]);
    let asks = "traffic = { kind = \"requests\", response = \"50 kB\", count = 4 }";
    assert_eq!(run(&satellite(proxy, asks)).summary.flows[0].responses.as_ref().unwrap().count, 4);
}

#[test]
fn a_flow_fails_when_its_proxy_of_quic_crashes() {
    let proxy = "[[proxies]]\nnode = \"gateway\"\nkind = \"quic\"\nbuffer = \"1 MB\"\ncrash = { at = \"1.5 s\" }";
    let result = run(&satellite(proxy, "transfer = \"5 MB\""));
    assert_eq!(result.summary.flows[0].failure, Some("a host crashed"));
}

#[test]
fn the_path_decides_whether_settings_are_warned_of() {
    let kinds = |keys: &str| {
        let text = geo("", &upload(&format!("transfer = \"1 MB\"\nquic = {{ {keys} }}")));
        let scenario = lightlag_scenario::parse_toml(&text, &[]).unwrap();
        let warnings = scenario.warnings(&scenario.expand().unwrap());
        warnings.into_iter().map(|warning| warning.kind.name()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(""), Vec::<&str>::new());
    assert_eq!(kinds("idle_timeout = \"1 s\""), ["quic-idle-timeout"]);
    assert_eq!(kinds("initial_rtt = \"50 ms\""), ["quic-initial-rtt"]);
    assert_eq!(kinds("profile = \"quinn\""), ["quic-credit"]);
}

#[test]
fn bad_values_name_the_key() {
    let error = |text: &str| {
        let errors = match lightlag_scenario::parse_toml(text, &[]) {
            Ok(scenario) => scenario.expand().unwrap_err(),
            Err(errors) => errors,
        };
        errors.iter().map(|error| format!("{}: {}", error.path, error.message)).collect::<Vec<_>>().join("; ")
    };
    for (keys, expected) in [
        ("quic = { datagram = \"1000 B\" }", "flows[0].quic.datagram: 1000 B is below 1200 B"),
        ("quic = { profile = \"quic-go\" }", "flows[0].quic.profile"),
        ("quic = { credit = \"1 MB\" }", "flows[0].quic.credit"),
        ("quic = { server = { zero_rtt = true } }", "flows[0].quic.server.zero_rtt: is a decision of the client"),
        ("quic = { ack = { delay = \"20 s\" } }", "flows[0].quic.ack.delay: 20 s is not below"),
    ] {
        let message = error(&geo("", &upload(keys)));
        assert!(message.starts_with(expected), "{message}");
    }
    for (keys, expected) in [
        ("kind = \"quic\"\nclient = { sack = false }", "proxies[0].client: has TCP options"),
        ("quic = { pacing = false }", "proxies[0].quic: needs kind = \"quic\""),
        ("kind = \"masque\"", "proxies[0].kind: \"masque\" is not a kind of proxy"),
        ("kind = \"quic\"\nquic = { id_length = 30 }", "proxies[0].quic.id_length: 30 bytes is above 20 bytes"),
    ] {
        let proxy = format!("[[proxies]]\nnode = \"gateway\"\nbuffer = \"1 MB\"\n{keys}");
        let message = error(&satellite(&proxy, "transfer = \"1 MB\""));
        assert!(message.starts_with(expected), "{message}");
    }
}
