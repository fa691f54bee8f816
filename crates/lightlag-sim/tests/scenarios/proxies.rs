//! Proxies that split connections: agreement with theory, no silent losses, and no flows that hang.

use crate::memory::Shared;
use crate::text::run;
use lightlag_scenario::parse_toml;
use lightlag_sim::results::{FlowSummary, ProxySummary};
use lightlag_sim::{Control, RunResult, Simulation};
use lightlag_tcp::segment::Flags;
use lightlag_wire::capture::Reader;
use lightlag_wire::{Addresses, decode};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A short path to a gateway, then a satellite link, then a short path to the server.
const PATH: &str = r#"
duration = "120 s"
[[links]]
between = ["client", "near"]
rate = "100 Mbit/s"
delay = "10 ms"
[[links]]
between = ["near", "far"]
rate = "10 Mbit/s"
delay = "290 ms"
[[links]]
between = ["far", "server"]
rate = "100 Mbit/s"
delay = "5 ms"
"#;

const FLOW: &str = "[[flows]]\nname = \"f\"\nfrom = \"client\"\nto = \"server\"\n";

/// A flow that never finishes in time, so that a run lasts for its entire duration.
const OTHER: &str = "[[flows]]\nname = \"other\"\nfrom = \"near\"\nto = \"far\"\ntransfer = \"1 TB\"\n";

fn only_flow(result: &RunResult) -> &FlowSummary {
    &result.summary.flows[0]
}

fn delivered_in_full(result: &RunResult, transfer: u64) {
    let flow = only_flow(result);
    assert_eq!((flow.delivered_bytes, flow.failure), (transfer, None));
    assert!(flow.finish_s.is_some(), "{flow:#?}");
    for proxy in &result.summary.proxies {
        assert_eq!((proxy.lost_bytes, proxy.client_failure, proxy.server_failure), (0, None, None));
    }
}

/// Returns the goodput of a flow in bit/s.
fn goodput(proxies: &str, tcp: &str) -> f64 {
    let result = run(&format!("{PATH}{FLOW}tcp = {tcp}\n{proxies}"));
    only_flow(&result).goodput_bps
}

#[test]
fn each_leg_has_its_own_round_trip() {
    let result = run(&format!("{PATH}{FLOW}transfer = \"1 MB\"\n[[proxies]]\nnode = \"near\"\nbuffer = \"2 MB\""));
    delivered_in_full(&result, 1_000_000);
    let (flow, [proxy]) = (only_flow(&result), result.summary.proxies.as_slice()) else { panic!("one proxy") };
    // Propagation, and a millisecond for transmission and for the timestamp clock.
    assert!((0.020..0.022).contains(&flow.min_rtt_s.unwrap()), "{:?}", flow.min_rtt_s);
    assert!((0.590..0.594).contains(&proxy.min_rtt_s.unwrap()), "{:?}", proxy.min_rtt_s);
    assert_eq!((proxy.node.as_str(), proxy.flow.as_str()), ("near", "f"));
    assert_eq!((proxy.confirmed_bytes, proxy.acknowledged_bytes <= 1_000_000), (1_000_000, true));
}

/// Mathis et al.: a Reno flow with random losses reaches MSS/RTT · √(3/(2p)). Over the complete path that is 0.73
/// Mbit/s, although the satellite link has 10 Mbit/s. The terrestrial leg alone would reach 22 Mbit/s, and nothing is
/// lost on the satellite link. With a proxy the satellite link is therefore the bottleneck.
#[test]
fn losses_on_the_ground_cost_a_short_round_trip() {
    let lossy = PATH.replacen("delay = \"10 ms\"", "delay = \"10 ms\"\nloss = { forward = 1e-3, backward = 0 }", 1);
    let flow = format!("{FLOW}tcp = {{ congestion = \"reno\", receive_buffer = \"16 MB\" }}\n");
    let direct = run(&format!("{lossy}{flow}"));
    let split = run(&format!("{lossy}{flow}[[proxies]]\nnode = \"near\"\nbuffer = \"1.2 MB\""));
    assert!(only_flow(&direct).goodput_bps < 1.5e6, "{}", only_flow(&direct).goodput_bps);
    assert!(only_flow(&split).goodput_bps > 8e6, "{}", only_flow(&split).goodput_bps);
    assert_eq!(split.summary.proxies[0].retransmitted_segments, 0);
    assert!(only_flow(&split).retransmitted_segments > 0);
}

/// A proxy buffers data until the next hop has acknowledged it, so its maximum rate is buffer/RTT.
#[test]
fn the_buffer_over_the_round_trip_bounds_the_rate() {
    for kilobytes in [60_u64, 120, 240] {
        let got = goodput(&format!("[[proxies]]\nnode = \"near\"\nbuffer = \"{kilobytes} kB\""), "{}");
        let expected = kilobytes as f64 * 8_000.0 / 0.591;
        assert!((0.93..1.01).contains(&(got / expected)), "{kilobytes} kB: {got} of {expected} bit/s");
    }
}

/// The proxy receives faster than it can send. Its buffer fills, and the sender waits for an open window.
#[test]
fn a_full_buffer_closes_the_window() {
    let result = run(&format!("{PATH}{FLOW}transfer = \"20 MB\"\n[[proxies]]\nnode = \"near\"\nbuffer = \"1 MB\""));
    delivered_in_full(&result, 20_000_000);
    let (flow, proxy) = (only_flow(&result), &result.summary.proxies[0]);
    assert_eq!(proxy.max_buffer_bytes, 1_000_000);
    assert!(proxy.mean_buffer_bytes > 800_000.0, "{}", proxy.mean_buffer_bytes);
    assert!(flow.limited_s.rwnd > 0.8 * flow.finish_s.unwrap(), "{:?}", flow.limited_s);
    assert_eq!(flow.retransmitted_segments + proxy.retransmitted_segments, 0, "nothing overflows");
}

#[test]
fn a_slow_reader_is_felt_through_two_proxies() {
    let text = format!(
        "{PATH}{FLOW}transfer = \"3 MB\"\nreader = {{ rate = \"100 kB/s\" }}\ntcp = {{ receive_buffer = \"100 kB\" }}\n\
         [[proxies]]\nnode = \"far\"\nbuffer = \"200 kB\"\n[[proxies]]\nnode = \"near\"\nbuffer = \"300 kB\""
    );
    let result = run(&text);
    delivered_in_full(&result, 3_000_000);
    let [near, far] = result.summary.proxies.as_slice() else { panic!("two proxies") };
    // In the order of the hops.
    assert_eq!((near.node.as_str(), far.node.as_str()), ("near", "far"));
    assert_eq!((near.max_buffer_bytes, far.max_buffer_bytes), (300_000, 200_000));
    assert!((0.580..0.584).contains(&near.min_rtt_s.unwrap()), "{near:?}");
    assert!((0.010..0.012).contains(&far.min_rtt_s.unwrap()), "{far:?}");
    let all = 100_000 + 2 * 200_000 + 2 * 300_000;
    assert!(near.confirmed_bytes == 3_000_000 && only_flow(&result).finish_s.unwrap() > (3_000_000 - all) as f64 / 1e5);
}

#[test]
fn each_leg_has_its_own_tcp() {
    let text = format!(
        "{PATH}{FLOW}transfer = \"4 MB\"\ntcp = {{ congestion = \"reno\", mss = \"1460 B\", receive_buffer = \"64 MB\" }}\n[[proxies]]\nnode = \"near\"\n\
         kind = \"split\"\nbuffer = \"2 MB\"\nflows = [\"f\"]\nclient = {{ sack = false }}\n\
         server = {{ congestion = \"hybla\", mss = \"1000 B\", timestamps = false }}"
    );
    let result = run(&text);
    delivered_in_full(&result, 4_000_000);
    let (flow, proxy) = (only_flow(&result), &result.summary.proxies[0]);
    assert_eq!((flow.congestion.as_str(), proxy.congestion.as_str()), ("reno", "hybla"));
    // Without SACK the first leg repairs a segment per round trip (RFC 6582), and each repair immediately causes a
    // segment that is not full.
    let (sent, repairs) = (proxy.sent_segments - proxy.retransmitted_segments, flow.retransmitted_segments);
    assert!((4_000..=4_000 + repairs).contains(&sent), "{sent} with {repairs} repairs");
    // A burst that the proxy's buffer cuts short ends with a small segment.
    let full = 4_000_000_u64.div_ceil(1448);
    assert!((full..=full + 1).contains(&(flow.sent_segments - flow.retransmitted_segments)), "{flow:?}");
}

/// A leg at a fixed rate: a token bucket of 5 Mbit/s without congestion control. 10 MB in segments of 1448 B with
/// headers of 52 B take 16.6 s, and handshakes and the last round trip less than 2 s.
#[test]
fn a_leg_sends_at_a_fixed_rate() {
    let lossy = PATH.replacen("delay = \"290 ms\"", "delay = \"290 ms\"\nloss = { forward = 1e-3, backward = 0 }", 1);
    let proxy = "[[proxies]]\nnode = \"near\"\nbuffer = \"4 MB\"\n\
                 server = { congestion = \"none\", rate_control = { rate = \"5 Mbit/s\" } }\n";
    let tcp = "tcp = { receive_buffer = \"4 MB\" }\n";
    let result = run(&format!("{lossy}{FLOW}transfer = \"10 MB\"\n{tcp}{proxy}"));
    let finish = only_flow(&result).finish_s.unwrap();
    assert!(result.summary.proxies[0].retransmitted_segments > 0);
    assert!((16.6..18.6).contains(&finish), "{finish}");
}

#[test]
fn flows_that_are_not_named_or_do_not_cross_are_left_alone() {
    let text = format!(
        "{PATH}{FLOW}transfer = \"100 kB\"\n[[flows]]\nname = \"g\"\nfrom = \"client\"\nto = \"server\"\ntransfer = \"100 kB\"\n\
         [[flows]]\nname = \"h\"\nfrom = \"client\"\nto = \"near\"\ntransfer = \"100 kB\"\n\
         [[proxies]]\nnode = \"near\"\nbuffer = \"64 kB\"\nflows = [\"g\"]\n[[proxies]]\nnode = \"far\"\nbuffer = \"64 kB\""
    );
    let result = run(&text);
    let at = |proxy: &ProxySummary| (proxy.node.clone(), proxy.flow.clone());
    let found: Vec<_> = result.summary.proxies.iter().map(at).collect();
    assert_eq!(found, [("far", "f"), ("near", "g"), ("far", "g")].map(|(node, flow)| (node.into(), flow.into())));
    assert!(result.summary.flows.iter().all(|flow| flow.delivered_bytes == 100_000));
}

/// A proxy that crashes has acknowledged data that never arrives. The lost bytes are counted, and the flow has failed.
#[test]
fn losses_in_a_crash_are_reported() {
    let text = format!(
        "{PATH}{FLOW}transfer = \"20 MB\"\n[[proxies]]\nnode = \"near\"\nbuffer = \"1 MB\"\ncrash = {{ at = \"8 s\" }}\n\
         {OTHER}[record]\npcap = {{ at = [\"client\", \"server\"] }}"
    );
    let (result, files) = captured(&text);
    let (flow, proxy) = (only_flow(&result), &result.summary.proxies[0]);
    assert_eq!((flow.failure, flow.finish_s), (Some("a host crashed"), None));
    assert_eq!((proxy.client_failure, proxy.server_failure), (Some("a host crashed"), Some("a host crashed")));
    assert!(proxy.lost_bytes > 500_000, "{}", proxy.lost_bytes);
    assert_eq!(flow.delivered_bytes + proxy.lost_bytes, proxy.confirmed_bytes);
    // Resets reply to a segment or a probe of the sender, and to ACKs of the receiver.
    let (client, server) = (resets(&files["client.pcapng"]), resets(&files["server.pcapng"]));
    assert!((8.0..8.5).contains(&client[0]), "{client:?}");
    assert!((8.5..10.0).contains(&server[0]), "{server:?}");
}

#[test]
fn a_crash_before_or_after_a_flow_costs_nothing() {
    for time in ["1 s", "100 s"] {
        let text = format!(
            "{PATH}{FLOW}transfer = \"1 MB\"\nstart = \"2 s\"\n{OTHER}\
             [[proxies]]\nnode = \"near\"\nbuffer = \"1 MB\"\ncrash = {{ at = \"{time}\" }}"
        );
        let result = run(&text);
        let proxy = &result.summary.proxies[0];
        assert_eq!((only_flow(&result).delivered_bytes, proxy.lost_bytes), (1_000_000, 0), "crash at {time}");
        assert_eq!(only_flow(&result).failure, None, "crash at {time}");
    }
}

#[test]
fn the_failure_of_one_leg_resets_the_other() {
    let down = PATH.replacen("delay = \"5 ms\"", "delay = \"5 ms\"\nchanges = [{ at = \"3 s\", down = true }]", 1);
    let text = format!(
        "{down}{FLOW}transfer = \"20 MB\"\n[[proxies]]\nnode = \"near\"\nbuffer = \"500 kB\"\nserver = {{ retries = 3 }}\n\
         {OTHER}[record]\npcap = {{ at = [\"client\"], flows = [\"f\"] }}"
    );
    let (result, files) = captured(&text);
    let (flow, proxy) = (only_flow(&result), &result.summary.proxies[0]);
    assert_eq!(flow.failure, Some("data was not acknowledged"));
    assert_eq!(proxy.server_failure, Some("data was not acknowledged"));
    assert_eq!(proxy.client_failure, Some("the application aborted the connection"));
    assert_eq!(resets(&files["client.pcapng"]).len(), 1);
}

/// Captures on both sides of a proxy each show a complete connection, with the same two addresses.
#[test]
fn captures_show_two_connections_under_the_same_addresses() {
    let text = format!(
        "{PATH}{FLOW}transfer = \"300 kB\"\n[[proxies]]\nnode = \"near\"\nbuffer = \"1 MB\"\nflows = [\"f\"]\n{OTHER}\
         [record]\npcap = {{ flows = [\"f\"], at = [\"client->near\", \"near->client\", \"near->far\", \"far->near\"] }}"
    );
    let (result, files) = captured(&text);
    delivered_in_full(&result, 300_000);
    let [up, down] = [["client-to-near", "near-to-client"], ["near-to-far", "far-to-near"]]
        .map(|names| names.map(|name| summary_of(&files[&format!("{name}.pcapng")])));
    for [there, back] in [&up, &down] {
        assert_eq!((there.payload, back.payload), (300_000, 0));
        assert_eq!((there.syns, back.syns, there.fins, back.fins), (1, 1, 1, 1));
        assert_eq!(there.addresses, back.addresses.reversed());
    }
    assert_eq!(up[0].addresses, down[0].addresses, "the proxy sends as the client");
    assert!(up[0].first_number != down[0].first_number, "and counts by itself");
    assert!(up[1].first_at < 0.022 && down[1].first_at > 0.3, "it answers the SYN itself");
}

/// Summary of the only connection in a capture of one direction.
struct Half {
    addresses: Addresses,
    first_number: u32,
    first_at: f64,
    syns: usize,
    fins: usize,
    payload: usize,
}

fn summary_of(file: &[u8]) -> Half {
    let mut reader = Reader::open(file).unwrap();
    let mut half: Option<Half> = None;
    while let Some(packet) = reader.next_packet().unwrap() {
        let tcp = decode(packet.ip.unwrap()).unwrap();
        let half = half.get_or_insert(Half {
            addresses: tcp.addresses,
            first_number: tcp.segment.seq.0,
            first_at: packet.at.as_nanos() as f64 / 1e9,
            syns: 0,
            fins: 0,
            payload: 0,
        });
        assert_eq!(half.addresses, tcp.addresses);
        half.syns += usize::from(tcp.segment.flags.has(Flags::SYN));
        half.fins += usize::from(tcp.segment.flags.has(Flags::FIN));
        half.payload += tcp.payload.len();
    }
    half.expect("packets")
}

/// Returns the times of the resets in a capture, in seconds.
fn resets(file: &[u8]) -> Vec<f64> {
    let mut reader = Reader::open(file).unwrap();
    let mut times = Vec::new();
    while let Some(packet) = reader.next_packet().unwrap() {
        if decode(packet.ip.unwrap()).unwrap().segment.flags.has(Flags::RST) {
            times.push(packet.at.as_nanos() as f64 / 1e9);
        }
    }
    times
}

fn captured(text: &str) -> (RunResult, BTreeMap<String, Vec<u8>>) {
    let scenario = parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut simulation = Simulation::new(&scenario, None).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut files = BTreeMap::new();
    simulation = simulation
        .capture_to(&mut |name| {
            let file = Shared::default();
            files.insert(name.to_owned(), file.clone());
            Ok(Box::new(file))
        })
        .unwrap();
    let result = simulation.run(&mut |_| Control::Continue);
    let files = files.into_iter().map(|(name, Shared(bytes))| (name, bytes.lock().unwrap().clone()));
    (result, files.collect())
}

/// Generates a chain of three to five nodes, with proxies at some of the inner nodes. Also returns the size of the
/// transfer.
fn chains() -> impl Strategy<Value = (String, u64)> {
    let outage = (0_u32..5_000, 1_u32..10_000).prop_map(|(start, length)| {
        format!(
            "changes = [{{ at = \"{start} ms\", down = true }}, {{ at = \"{} ms\", down = false }}]\noutage = \"lose\"",
            start + length
        )
    });
    let link = (100_u32..20_000, 0_u32..300, 0_u32..80, 3_u32..60, prop_oneof![3 => Just(String::new()), 1 => outage]);
    let profile = prop::sample::select(vec!["linux", "rfc", "inet", "ns3", "ns2-linux"]);
    let proxy = (any::<bool>(), prop_oneof![64_u64..3_000, 3_000_u64..300_000], profile.clone(), profile.clone());
    let reader = prop_oneof![
        2 => Just(String::new()),
        1 => (20_u32..500).prop_map(|rate| format!("reader = {{ rate = \"{rate} kB/s\" }}")),
        1 => (1_u32..40, 10_u32..800).prop_map(|(kb, ms)| format!("reader = {{ burst = \"{kb} kB\", every = \"{ms} ms\" }}")),
    ];
    let hops = prop::collection::vec((link, proxy), 2..5);
    (hops, 1_u64..300, reader, profile, 1_u64..1_000_000).prop_map(|(hops, buffers, reader, profile, seed)| {
        let mut text = format!("duration = \"20000 s\"\nseed = {seed}\n[defaults.tcp]\nretries = 40\nsyn_retries = 40\n");
        let mut smallest = 300_000;
        for (index, ((rate, delay, loss, queue, outage), _)) in hops.iter().enumerate() {
            text += &format!(
                "[[links]]\nbetween = [\"n{index}\", \"n{}\"]\nrate = \"{rate} kbit/s\"\ndelay = \"{delay} ms\"\n\
                 queue = \"{queue} packets\"\nloss = {}\n{outage}\n",
                index + 1,
                f64::from(*loss) / 1000.0
            );
        }
        for (index, (_, (_, buffer, client, server))) in hops.iter().enumerate().skip(1).filter(|(_, (_, proxy))| proxy.0) {
            smallest = smallest.min(*buffer);
            text += &format!(
                "[[proxies]]\nnode = \"n{index}\"\nbuffer = \"{buffer} B\"\nclient = {{ profile = \"{client}\" }}\n\
                 server = {{ profile = \"{server}\" }}\n"
            );
        }
        let transfer = (buffers * smallest).min(300_000);
        text += &format!(
            "[[flows]]\nfrom = \"n0\"\nto = \"n{}\"\ntransfer = \"{transfer} B\"\ntcp = {{ profile = \"{profile}\" }}\n{reader}\n",
            hops.len()
        );
        (text, transfer)
    })
}

/// Returns the buffer size of each proxy of a scenario, in the order of the file.
fn buffers(text: &str) -> Vec<u64> {
    parse_toml(text, &[]).unwrap().proxies.iter().map(|proxy| proxy.buffer.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the links lose and however small the buffers of the proxies are, the buffers never overflow, every byte
    /// arrives once and in order (the receiver counts no others), packets are conserved (the run itself checks that),
    /// and nothing hangs.
    #[test]
    fn every_byte_arrives_through_every_chain((text, transfer) in chains()) {
        let result = run(&text);
        let flow = only_flow(&result);
        for (proxy, buffer) in result.summary.proxies.iter().zip(buffers(&text)) {
            prop_assert!(proxy.max_buffer_bytes <= buffer && proxy.mean_buffer_bytes <= buffer as f64);
            prop_assert!(proxy.acknowledged_bytes <= proxy.confirmed_bytes.max(transfer) && proxy.confirmed_bytes <= transfer);
        }
        prop_assert!(flow.delivered_bytes <= transfer);
        prop_assert!(flow.finish_s.is_some() || flow.failure.is_some(), "the flow hangs: {:#?}", result.summary);
        prop_assert!(flow.failure.is_some() || flow.delivered_bytes == transfer);
        prop_assert!(flow.failure.is_none(), "outages are short and losses few: {:#?}", result.summary);
    }
}
