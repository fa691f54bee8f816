//! Compressed headers of SCPS-TP in complete runs: packet sizes on links, connection IDs, proxies, captures and their
//! analysis.

use crate::memory::Shared;
use crate::text;
use lightlag_scenario::parse_toml;
use lightlag_sim::{Control, RunResult, Simulation};
use lightlag_wire::PacketError;
use lightlag_wire::analysis::{Analysis, CaptureReport, Limits};
use lightlag_wire::capture::Reader;
use lightlag_wire::compressed::Decoder;
use proptest::prelude::*;

/// Returns a scenario with a transfer of 500 kB over a round-trip time of 250 ms. `back` is the rate of the return
/// path.
fn scenario(tcp: &str, back: &str, more: &str) -> String {
    format!(
        r#"
        duration = "600 s"
        [defaults.tcp]
        profile = "scps"
        congestion = "none"
        rate_control = {{ rate = "950 kbit/s" }}
        {tcp}
        [[links]]
        between = ["ground", "sat"]
        rate = {{ forward = "1 Mbit/s", backward = "{back}" }}
        delay = "125 ms"
        queue = "100 packets"
        {more}
        [[flows]]
        from = "ground"
        to = "sat"
        transfer = "500 kB"
        "#
    )
}

fn captured(text: &str) -> (RunResult, CaptureReport) {
    let scenario = parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut simulation = Simulation::new(&scenario, None).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let file = Shared::default();
    simulation = simulation.capture_to(&mut |_| Ok(Box::new(file.clone()))).unwrap();
    let result = simulation.run(&mut |_| Control::Continue);
    let bytes = file.0.lock().unwrap().clone();
    let mut reader = Reader::open(&bytes[..]).unwrap();
    let mut analysis = Analysis::new(Limits::default());
    while let Some(packet) = reader.next_packet().unwrap() {
        analysis.packet(packet.at, packet.ip);
    }
    (result, analysis.finish())
}

#[test]
fn goodput_grows_by_what_headers_save() {
    // Rate control fills 950 kbit/s with full packets; a start-up of 1.1 s is the same for both.
    for (mss, timestamps) in [(64, false), (128, true), (256, false), (512, true), (1_024, false)] {
        let rate = |compression: bool| {
            let tcp = format!("mss = \"{mss} B\"\ntimestamps = {timestamps}\nscps = {{ compression = {compression} }}");
            let two = |size: &str| {
                let text = scenario(&tcp, "100 kbit/s", "").replace("500 kB", size);
                text::run(&text).summary.flows[0].finish_s.unwrap()
            };
            // Between the ends of two transfers nothing starts up.
            2e6 * 8.0 / (two("3 MB") - two("1 MB"))
        };
        let (packet, plain, short) =
            (f64::from(mss) + 40.0, if timestamps { 52.0 } else { 40.0 }, if timestamps { 36.0 } else { 28.0 });
        let gain = rate(true) / rate(false);
        let expected = (packet - short) / (packet - plain);
        assert!((gain / expected - 1.0).abs() < 0.01, "MSS {mss}, timestamps {timestamps}: {gain}, {expected}");
        let closed = 950e3 * (packet - short) / packet;
        assert!((rate(true) / closed - 1.0).abs() < 0.01, "{} and {closed}", rate(true));
    }
}

#[test]
fn links_carry_the_bytes_of_the_reference() {
    let result = text::run(&scenario("scps = { compression = true }", "100 kbit/s", ""));
    let flow = &result.summary.flows[0];
    let links: Vec<_> = result.summary.links.iter().collect();
    let [there, back] = links[..] else { panic!("two directions") };
    // SYN and SYN-ACK have 52 bytes; data packets 524 bytes and 28 of headers; the last one has a FIN, which adds two.
    let segments = 500_000_u64.div_ceil(524);
    assert_eq!((flow.sent_segments, flow.retransmitted_segments), (segments, 0));
    // And an ACK of the SYN-ACK; the run ends with the last byte.
    let data = 500_000 + segments * 28 + 2;
    assert_eq!(there.carried_bytes, 52 + 30 + data);
    let acks = back.carried_bytes - 52;
    assert!(acks % 30 == 0 && acks / 30 > 30, "{acks}");
}

#[test]
fn without_ids_connections_stay_plain() {
    // 300 flows between the same nodes: 255 have an id. A flow to another node has one again.
    let flow = "[[flows]]\nfrom = \"ground\"\nto = \"sat\"\ntransfer = \"2 kB\"\n";
    let text = scenario("scps = { compression = true }", "1 Mbit/s", "")
        + &flow.repeat(299)
        + "[[links]]\nbetween = [\"ground\", \"probe\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n"
        + "[[flows]]\nfrom = \"ground\"\nto = \"probe\"\ntransfer = \"2 kB\"\n[record]\npcap = { at = [\"ground\"] }";
    let (result, report) = captured(&text);
    assert!(result.summary.flows.iter().all(|flow| flow.finish_s.is_some()));
    assert_eq!((report.connections.len(), report.others.len()), (301, 0));
    let ids: Vec<u8> =
        report.connections.iter().map(|each| each.forward.handshake.unwrap().scps.unwrap().connection_id).collect();
    assert_eq!(ids.iter().filter(|id| **id == 0).count(), 45);
    for (connection, id) in report.connections.iter().zip(ids) {
        let counts = &connection.forward.counts;
        // All but the SYNs.
        let compressed = if id == 0 { 0 } else { counts.packets - 1 - counts.retransmitted_controls };
        assert_eq!(counts.compressed_headers, compressed, "{id}: {counts:?}");
    }
}

#[test]
fn a_capture_of_compressed_headers_matches_the_run() {
    let tcp = "scps = { compression = true, record_size = \"5 kB\" }\nloss_assumption = \"corruption\"";
    for timestamps in [false, true] {
        let text = scenario(&format!("{tcp}\ntimestamps = {timestamps}"), "100 kbit/s", "loss = 0.03")
            + "[record]\npcap = { at = [\"ground\"] }";
        let (result, report) = captured(&text);
        let flow = &result.summary.flows[0];
        let [connection] = &report.connections[..] else { panic!("one connection") };
        assert_eq!((report.others.len(), report.tcp_packets), (0, report.packets));
        let [forward, backward] = [&connection.forward.counts, &connection.backward.counts];
        assert_eq!(forward.data_segments, flow.sent_segments);
        assert_eq!(forward.retransmitted_segments - forward.retransmitted_controls, flow.retransmitted_segments);
        assert!(flow.retransmitted_segments > 10);
        assert_eq!(forward.unique_bytes, 500_000);
        assert!(forward.record_boundaries >= 100 && backward.snack_options > 10);
        assert_eq!((forward.zero_windows, backward.zero_windows), (0, 0));
        for (half, counts) in [(&connection.forward, forward), (&connection.backward, backward)] {
            let offer = half.handshake.unwrap().scps.unwrap();
            assert_eq!((offer.compression, offer.connection_id), (true, 1));
            assert_eq!((counts.malformed_options, counts.checksum_errors), (0, 0));
            assert!(counts.compressed_headers >= counts.packets - 2);
        }
        let rtt = connection.forward.rtt.unwrap();
        assert!((0.25..0.5).contains(&rtt.min_s), "{rtt:?}");
    }
}

#[test]
fn a_capture_without_the_syns_counts_undecodable_packets() {
    let text = scenario("scps = { compression = true }", "100 kbit/s", "") + "[record]\npcap = { at = [\"ground\"] }";
    let scenario = parse_toml(&text, &[]).unwrap();
    let mut simulation = Simulation::new(&scenario, None).unwrap();
    let file = Shared::default();
    simulation = simulation.capture_to(&mut |_| Ok(Box::new(file.clone()))).unwrap();
    simulation.run(&mut |_| Control::Continue);
    let bytes = file.0.lock().unwrap().clone();
    let mut reader = Reader::open(&bytes[..]).unwrap();
    let (mut analysis, mut decoder) = (Analysis::new(Limits::default()), Decoder::new(8));
    let mut count = 0;
    while let Some(packet) = reader.next_packet().unwrap() {
        count += 1;
        if count > 2 {
            assert_eq!(decoder.captured(packet.ip.unwrap()), Err(PacketError::UnknownConnection(1)));
            assert_eq!(analysis.packet(packet.at, packet.ip), None);
        }
    }
    let report = analysis.finish();
    assert_eq!(report.others.get("compressed TCP of an unknown connection"), Some(&(count - 2)));
    assert_eq!(report.connections.len(), 0);
}

#[test]
fn a_proxy_compresses_on_the_configured_side() {
    let text = |client: bool, server: bool, node: &str| {
        format!(
            r#"
            duration = "120 s"
            [defaults.tcp]
            profile = "scps"
            congestion = "none"
            scps = {{ compression = {client} }}
            [[links]]
            between = ["a", "proxy"]
            rate = "1 Mbit/s"
            delay = "10 ms"
            [[links]]
            between = ["proxy", "b"]
            rate = "1 Mbit/s"
            delay = "250 ms"
            loss = 0.02
            [[proxies]]
            node = "proxy"
            buffer = "1 MB"
            [proxies.client]
            scps = {{ compression = {client} }}
            [proxies.server]
            scps = {{ compression = {server} }}
            [[flows]]
            from = "a"
            to = "b"
            transfer = "200 kB"
            tcp = {{ scps = {{ compression = {server} }} }}
            [record]
            pcap = {{ at = ["{node}"] }}
            "#
        )
    };
    for (client, server) in [(true, true), (false, true), (true, false), (false, false)] {
        // Hosts use the setting of `server`, the proxy uses the settings of both its sides.
        for (node, expected) in [("a", client && server), ("b", server)] {
            let (result, report) = captured(&text(client, server, node));
            assert!(result.summary.flows[0].finish_s.is_some(), "{client} {server}");
            let compressed = report.connections[0].forward.counts.compressed_headers > 10;
            assert_eq!((report.connections.len(), compressed), (1, expected), "{client} {server} at {node}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// All data arrives whatever the links do, and the analysis of a capture reports the same number of bytes.
    #[test]
    fn everything_arrives_over_random_links(
        seed in 0_u64..1_000_000, loss in 0.0..0.15, back_loss in 0.0..0.15, reorder in 0.0..0.1, duplicate in 0.0..0.1,
        kbps in 2_u64..500, mss in 64_u16..1_400, snack in prop::sample::select(vec!["off", "short", "long"]),
        timestamps in any::<bool>(), record in prop::option::of(1_u64..5_000), vegas in any::<bool>(),
    ) {
        let record = record.map_or(String::new(), |size| format!(", record_size = \"{size} B\""));
        let congestion = if vegas { "vegas" } else { "newreno" };
        let text = format!(
            r#"
            duration = "100000 s"
            seed = {seed}
            [defaults.tcp]
            profile = "scps"
            congestion = "{congestion}"
            mss = "{mss} B"
            timestamps = {timestamps}
            retries = 200
            scps = {{ compression = true, snack = "{snack}"{record} }}
            rate_control = {{ rate = "{kbps} kbit/s" }}
            [[links]]
            between = ["a", "b"]
            rate = "1 Mbit/s"
            delay = "30 ms"
            loss = {{ forward = {loss}, backward = {back_loss} }}
            reorder = {{ probability = {reorder}, delay = "40 ms" }}
            duplicate = {duplicate}
            [[flows]]
            from = "a"
            to = "b"
            transfer = "20 kB"
            [record]
            pcap = {{ at = ["b"] }}
            "#
        );
        let (result, report) = captured(&text);
        prop_assert!(result.summary.flows[0].finish_s.is_some(), "{}", text);
        prop_assert_eq!(report.connections[0].forward.counts.unique_bytes, 20_000);
        prop_assert_eq!(report.others.len(), 0);
        prop_assert!(report.connections[0].forward.counts.malformed_options == 0);
    }
}
