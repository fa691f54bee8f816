//! Known path parameters (`route`): connections over delays of seconds and minutes open and close without a timeout.

use crate::text;
use lightlag_scenario::parse_toml;
use lightlag_sim::RunResult;
use lightlag_sim::results::FlowSummary;

/// Runs a transfer of `bytes` over 1 Mbit/s with a one-way delay of `one_way_s` seconds and without errors. `tcp` has
/// further TCP keys.
fn far(one_way_s: f64, bytes: u64, tcp: &str) -> RunResult {
    let unless = |key: &str, line: &'static str| if tcp.contains(key) { "" } else { line };
    let profile = unless("profile", "profile = \"scps\"");
    let buffer = unless("receive_buffer", "receive_buffer = \"64 MB\"");
    text::run(&format!(
        r#"
        name = "far"
        duration = "100 h"

        [defaults.tcp]
        {profile}
        {buffer}
        {tcp}

        [[links]]
        between = ["ground", "ship"]
        rate = "1 Mbit/s"
        delay = "{one_way_s} s"
        queue = "100 MB"

        [[flows]]
        from = "ground"
        to = "ship"
        transfer = "{bytes} B"
        "#
    ))
}

fn first(result: &RunResult) -> &FlowSummary {
    &result.summary.flows[0]
}

/// One-way propagation delays in seconds: to the Moon, to Mars when it is nearest, and to Mars when it is farthest.
const WAYS: [f64; 3] = [1.3, 240.0, 1_200.0];
const BYTES: u64 = 500_000;

#[test]
fn parameters_of_the_path_let_a_connection_start_without_a_timeout() {
    for way in WAYS {
        for congestion in ["vegas", "newreno", "none", "hybla"] {
            let result = far(way, BYTES, &format!("route = \"path\"\ncongestion = \"{congestion}\""));
            let flow = first(&result);
            assert_eq!((flow.timeouts, flow.retransmitted_segments), (0, 0), "{congestion} over {way} s");
            assert!(flow.finish_s.is_some(), "{congestion} over {way} s");
        }
    }
}

#[test]
fn without_it_the_handshake_repeats_for_nothing() {
    for (way, repeats) in [(1.3, 1), (240.0, 8)] {
        let result = far(way, BYTES, "");
        assert!(first(&result).timeouts >= repeats, "{way} s: {}", first(&result).timeouts);
    }
}

#[test]
fn every_profile_starts_with_the_parameters_of_its_path() {
    for profile in ["linux", "rfc", "inet", "ns3", "ns2-linux", "scps"] {
        for way in WAYS {
            let result = far(way, 100_000, &format!("route = \"path\"\nprofile = \"{profile}\""));
            assert_eq!(
                (first(&result).timeouts, first(&result).finish_s.is_some()),
                (0, true),
                "{profile} over {way} s"
            );
        }
    }
}

#[test]
fn rate_control_alone_takes_a_handshake_the_data_and_the_propagation_delay() {
    // 977 packets of 552 bytes, the last of 328: 512 · 976 + 288. The window of a SYN is not scaled: after 64 KiB the
    // sender waits for the first ACK, which arrives a round trip and an interval after the first data.
    for way in WAYS {
        let result = far(way, BYTES, "route = \"path\"\ncongestion = \"none\"");
        let wire = |bytes: u64| (bytes + bytes.div_ceil(512) * 40) as f64 * 8.0 / 1e6;
        let stood = 2.0 * way + 0.1 + wire(512);
        let expected = 2.0 * way + stood + wire(BYTES - 65_535 / 512 * 512) + way;
        let finish = first(&result).finish_s.unwrap();
        assert!((expected - 0.05..expected + 0.15).contains(&finish), "{finish} over {way} s, {expected} expected");
    }
}

#[test]
fn slow_start_doubles_up_to_what_the_route_holds() {
    // 0.5 MB at 1 Mbit/s over 2.6 s: the route holds 0.3 MB. NewReno starts with one segment and doubles each round of
    // 2.7 s: 1 + 2 + … + 2ⁿ⁻¹ segments in n rounds, up to the 588 of the route; an ACK in 0.1 s acknowledges the data
    // that arrived.
    let result = far(1.3, 20_000_000, "route = \"path\"\ncongestion = \"newreno\"");
    let flow = first(&result);
    assert_eq!((flow.timeouts, flow.retransmitted_segments), (0, 0));
    let full = 20e6 * 552.0 / 512.0 * 8.0 / 1e6;
    let rounds = libm::log2(588.0).ceil() + 2.0;
    let finish = flow.finish_s.unwrap();
    assert!((full..full + rounds * 2.8).contains(&finish), "{finish}, {full} at the rate");
}

#[test]
fn a_configured_capacity_ends_slow_start_before_the_queue_grows() {
    // 2.6 s at 1 Mbit/s hold 0.3 MB. Slow start without this limit fills the receive buffer, less the data in transit.
    let queue = |congestion: &str, bdp: &str| {
        let tcp =
            format!("receive_buffer = \"2 MB\"\ncongestion = \"{congestion}\"\nroute = {{ rtt = \"2.61 s\"{bdp} }}");
        let result = far(1.3, 4_000_000, &tcp);
        assert_eq!(first(&result).timeouts, 0, "{congestion}");
        result.summary.links[0].max_queue_packets
    };
    for congestion in ["newreno", "westwood", "veno"] {
        let (with, without) = (queue(congestion, ", bdp = \"300 kB\""), queue(congestion, ""));
        assert!(without > 2_500 && with < without / 2, "{congestion}: {with} with, {without} without");
    }
}

#[test]
fn each_flow_has_its_own_parameters() {
    let scenario = parse_toml(
        r#"
        duration = "10 s"
        defaults.tcp = { profile = "scps", route = "path" }
        links = [
            { between = ["a", "b"], rate = "10 Mbit/s", delay = "100 ms" },
            { between = ["b", "c"], rate = { forward = "1 Mbit/s", backward = "8 kbit/s" }, delay = "1 s" },
        ]
        flows = [
            { from = "a", to = "b" },
            { from = "a", to = "c" },
            { from = "c", to = "a" },
            { from = "a", to = "c", tcp = { route = { rate = "500 kbit/s" }, rto = { syn = "9 s" } } },
            { from = "a", to = "c", traffic = { kind = "web", html = "10 kB", objects = 2, object = "5 kB" } },
        ]
        "#,
        &[],
    );
    let network = scenario.unwrap().expand().unwrap();
    let route = |flow: usize| network.flows[flow].tcp.route.unwrap();
    let rates = |flow: usize| {
        let control = network.flows[flow].tcp.rate_control.unwrap();
        (control.rate.as_bps(), control.ack_rate.map(|rate| rate.as_bps()))
    };
    // 0.2 s, 552 and 40 bytes at 10 Mbit/s.
    assert_eq!(route(0).rtt.unwrap().as_nanos(), 200_000_000 + 592 * 800);
    assert_eq!((rates(0), rates(1)), ((10_000_000, Some(10_000_000)), (1_000_000, Some(8_000))));
    assert_eq!(rates(2), (8_000, Some(1_000_000)));
    // The client, at c, sends on the return path; the server has the data.
    assert_eq!((rates(4), route(4).bdp, route(1).bdp), ((8_000, Some(1_000_000)), route(1).bdp, route(4).bdp));
    // 2.2 s; 552 bytes on both links, 40 at 8 kbit/s and 10 Mbit/s.
    let whole = 2_200_000_000 + 552 * 800 + 552 * 8_000 + 40 * 1_000_000 + 40 * 800;
    assert_eq!(route(1).rtt.unwrap().as_nanos(), whole);
    assert_eq!((rates(3), network.flows[3].tcp.rto.syn.as_nanos()), ((500_000, None), 9_000_000_000));
    assert_eq!(network.flows[3].tcp.rto.initial.as_nanos(), 3 * whole);
}

#[test]
fn a_proxy_gets_the_paths_of_its_own_connections() {
    let scenario = parse_toml(
        r#"
        duration = "10 s"
        defaults.tcp = { profile = "scps", route = "path" }
        links = [
            { between = ["a", "gate"], rate = "10 Mbit/s", delay = "10 ms" },
            { between = ["gate", "moon"], rate = "1 Mbit/s", delay = "1.3 s", header = "14 B" },
        ]
        flows = [{ from = "a", to = "moon" }]
        proxies = [{ node = "gate", kind = "split", buffer = "1 MB" }]
        "#,
        &[],
    );
    let network = scenario.unwrap_or_else(|errors| panic!("{errors:#?}")).expand().unwrap();
    let rtt = |config: &lightlag_tcp::Config| config.route.unwrap().rtt.unwrap().as_nanos() / 1_000_000;
    let proxy = &network.proxies[0];
    assert_eq!((rtt(&proxy.client), rtt(&proxy.server)), (20, 2_604));
    // Both endpoints of the flow have one TCP: the longer path, and the lower rate, of which 14 of 566 bytes are the
    // link's.
    assert_eq!(rtt(&network.flows[0].tcp), 2_604);
    assert_eq!(network.flows[0].tcp.rate_control.unwrap().rate.as_bps(), 1_000_000 * 552 / 566);
}

/// Runs a scenario of `scenarios/` with these changes. Returns the result and the warnings.
fn shown(name: &str, sets: &[(&str, &str)]) -> (RunResult, Vec<String>) {
    let file = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let sets: Vec<(String, String)> =
        sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = parse_toml(&std::fs::read_to_string(file).unwrap(), &sets).unwrap();
    let warnings = scenario.warnings(&scenario.expand().unwrap());
    let simulation = lightlag_sim::Simulation::new(&scenario, None).unwrap();
    let result = simulation.run(&mut |_| lightlag_sim::Control::Continue);
    (result, warnings.iter().map(ToString::to_string).collect())
}

#[test]
fn moon_and_mars_take_their_rate_and_a_few_round_trips() {
    for (name, light, rate, bytes) in [("scps-moon", 1.2822, 1e7, 20e6_f64), ("scps-mars", 249.502, 1e6, 5e6)] {
        let (result, warnings) = shown(name, &[("links.1.loss", "0")]);
        let flow = first(&result);
        assert_eq!((flow.timeouts, flow.retransmitted_segments, warnings), (0, 0, vec![]), "{name}");
        // Handshake, 64 KiB and the wait for their first ACK, the rest at the rate, the propagation delay.
        let way = light + 0.001;
        let expected = 5.0 * way + 0.1 + (bytes - 65_024.0) / 512.0 * 552.0 * 8.0 / rate;
        let finish = flow.finish_s.unwrap();
        assert!((expected - 0.01..expected * 1.001 + 0.02).contains(&finish), "{name}: {finish}, {expected} expected");
    }
}

#[test]
fn losses_are_repaired_without_a_timeout_where_anything_follows_them() {
    for name in ["scps-moon", "scps-mars"] {
        // A hundredth of the data, but not its end: only a timeout can detect the loss of the last segments.
        let loss = "{ packets = [20, 21, 22, 500, 700, 2000, 2002, 2004, 3000, 3001], direction = \"forward\" }";
        let (result, _) = shown(name, &[("links.1.loss", loss)]);
        let flow = first(&result);
        assert_eq!((flow.timeouts, flow.retransmitted_segments), (0, 10), "{name}");
        assert!(flow.finish_s.is_some(), "{name}");
    }
}

#[test]
fn the_presets_of_plain_tcp_also_carry_scps_with_vegas() {
    for name in ["moon", "mars"] {
        let sets = [("defaults.tcp.profile", "scps"), ("defaults.tcp.route", "path"), ("links.1.loss", "0")];
        let (result, _) = shown(name, &sets);
        let flow = first(&result);
        assert_eq!((flow.timeouts, flow.retransmitted_segments), (0, 0), "{name}");
        assert!(flow.finish_s.is_some(), "{name}");
    }
}

#[test]
fn a_window_that_is_closed_for_hours_is_probed_no_faster_than_replies_arrive() {
    let result = text::run(
        r#"
        duration = "100 h"
        defaults.tcp = { profile = "scps", route = "path", receive_buffer = "64 kB", congestion = "none" }
        links = [{ between = ["a", "b"], rate = "1 Mbit/s", delay = "1200 s" }]
        flows = [
            { from = "a", to = "b", transfer = "100 kB", reader = { burst = "50 kB", every = "20 h" } },
        ]
        "#,
    );
    let flow = first(&result);
    assert_eq!((flow.failure, flow.timeouts, flow.delivered_bytes), (None, 0, 100_000));
}
