//! Tunnels of DATAGRAM frames: exact overhead, nested congestion control, end-to-end repair, and packets that are
//! conserved and counted.

use crate::memory::Shared;
use crate::text::run;
use lightlag_core::RandomStream;
use lightlag_scenario::parse_toml;
use lightlag_sim::partition::{NotPartitioned, Parallel};
use lightlag_sim::results::TunnelSummary;
use lightlag_sim::{Control, RunResult, Simulation};

/// A terminal, a gateway over a link of 10 Mbit/s and 20 ms with these keys, and a server 5 ms behind the gateway.
fn path(link: &str, rest: &str) -> String {
    format!(
        "duration = \"60 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
         [[links]]\nbetween = [\"terminal\", \"gateway\"]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n{link}\n\
         [[links]]\nbetween = [\"gateway\", \"server\"]\nrate = \"100 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"100 MB\"\n\
         {rest}"
    )
}

/// A tunnel between the terminal and the gateway with these keys.
fn tunnel(keys: &str) -> String {
    format!("[[tunnels]]\nbetween = [\"terminal\", \"gateway\"]\n{keys}\n")
}

/// A flow of UDP datagrams with this payload from the terminal to the server.
fn datagrams(size: u64, rate: &str) -> String {
    format!(
        "[[flows]]\nfrom = \"terminal\"\nto = \"server\"\ntransport = \"udp\"\n\
         traffic = {{ kind = \"constant\", size = \"{size} B\", rate = \"{rate}\" }}\n"
    )
}

/// A transfer from the server to the terminal.
fn transfer(transport: &str, size: &str, keys: &str) -> String {
    format!(
        "[[flows]]\nfrom = \"server\"\nto = \"terminal\"\ntransport = \"{transport}\"\ntransfer = \"{size}\"\n{keys}\n"
    )
}

/// The two directions of the only tunnel.
fn ways(result: &RunResult) -> [&TunnelSummary; 2] {
    let [up, down] = &result.summary.tunnels[..] else { panic!("one tunnel: {:?}", result.summary.tunnels) };
    [up, down]
}

fn dropped(way: &TunnelSummary) -> u64 {
    way.dropped_queue + way.dropped_size + way.dropped_closed + way.lost_packets
}

#[test]
fn goodput_is_the_share_of_the_payload_in_the_packets_of_the_tunnel() {
    // A payload of 1000 B is an IP packet of 1028 B. The tunnel adds: quarter stream ID and context ID 2, frame type and
    // length 3, header 1 + 8 + 2, tag 16, UDP and IP 28: 1088 B on the link. Tolerance: 1 %, for the start of the window.
    let text = path("queue = \"200 MB\"", &(tunnel("") + &datagrams(1_000, "12 Mbit/s")));
    let result = run(&text);
    let expected = 10e6 * 1_000.0 / 1_088.0;
    let goodput = result.summary.flows[0].goodput_bps;
    assert!((goodput / expected - 1.0).abs() < 0.01, "{goodput} instead of {expected}");
    // With payload = "udp", the inner headers of IP and UDP are not carried: 1060 B.
    let result = run(&path("queue = \"200 MB\"", &(tunnel("payload = \"udp\"") + &datagrams(1_000, "12 Mbit/s"))));
    let expected = 10e6 * 1_000.0 / 1_060.0;
    let goodput = result.summary.flows[0].goodput_bps;
    assert!((goodput / expected - 1.0).abs() < 0.01, "{goodput} instead of {expected}");
}

#[test]
fn every_packet_of_the_tunnel_has_its_exact_size() {
    // Few datagrams, so that the connection has no other packets meanwhile: 101 of 1028 B in 1 s, one QUIC packet each.
    let flow = datagrams(1_000, "800 kbit/s").replace("traffic = {", "start = \"2 s\"\ntraffic = { stop = \"3 s\",");
    let with = run(&path("", &(tunnel("") + &flow)));
    let [up, down] = ways(&with);
    let count = up.entered_packets;
    assert!((99..=101).contains(&count), "{count}");
    assert_eq!((up.delivered_packets, up.delivered_bytes, dropped(up)), (count, count * 1_028, 0));
    assert_eq!((up.sent_segments, down.entered_packets), (count, 0));
    let none = run(&path(
        "",
        &(tunnel("") + &datagrams(1_000, "800 kbit/s").replace("traffic =", "start = \"61 s\"\ntraffic =")),
    ));
    let bytes = |result: &RunResult| result.summary.links[0].carried_bytes;
    // The packet number has 1 or 2 bytes; the handshake and keep-alives are the same but for one packet per 10 s.
    let each = (bytes(&with) - bytes(&none)) as f64 / count as f64;
    assert!((1_085.0..1_090.0).contains(&each), "{each}");
}

#[test]
fn packets_wait_for_the_handshake_of_the_tunnel() {
    // One datagram is sent at 0 s. Without a tunnel it arrives after the delays, 25 ms, and 0.9 ms of transmission; in
    // the tunnel after one more round trip of 40 ms, and the transmission of the handshake: 1.2 kB and about 3 kB.
    let delay = |tunnel: &str| {
        let result = run(&path("", &(tunnel.to_owned() + &datagrams(1_000, "100 kbit/s"))).replace("60 s", "0.075 s"));
        result.summary.flows[0].datagrams.as_ref().unwrap().mean_delay_s.expect("a datagram arrives")
    };
    let (plain, inside) = (delay(""), delay(&tunnel("")));
    assert!((plain - 0.0259).abs() < 0.0002, "{plain}");
    assert!((0.0405..0.045).contains(&(inside - plain)), "{inside} {plain}");
    // The client opens the connection 5 ms later.
    assert!((delay(&tunnel("start = \"5 ms\"")) - inside - 0.005).abs() < 0.0002);
}

#[test]
fn a_loss_in_the_tunnel_is_repaired_end_to_end() {
    let lossy = "queue = \"1 bdp\"\nloss = { forward = 0.0, backward = 0.01 }";
    let inner = transfer("quic", "3 MB", "quic = { datagram = \"1200 B\" }");
    let tunnelled = run(&path(lossy, &(tunnel("") + &inner)));
    let split =
        run(&path(lossy, &format!("[[proxies]]\nnode = \"gateway\"\nkind = \"quic\"\nbuffer = \"4 MB\"\n{inner}")));
    for result in [&tunnelled, &split] {
        assert_eq!(result.summary.flows[0].delivered_bytes, 3_000_000);
        assert!(result.summary.flows[0].finish_s.is_some());
    }
    let [_, down] = ways(&tunnelled);
    assert!(down.lost_packets > 0 && down.lost_segments >= down.lost_packets, "{down:?}");
    // The server's connection repairs what the tunnel loses; a proxy repairs its own leg.
    assert!(tunnelled.summary.flows[0].retransmitted_segments >= down.lost_packets);
    assert_eq!(split.summary.flows[0].retransmitted_segments, 0);
}

#[test]
fn the_window_of_the_tunnel_limits_its_packets() {
    // Mathis et al.: a Reno window with random losses carries MSS/RTT · √(3/(2p)) packets. 1088 B per 51 ms and
    // p = 0.01: 2.1 Mbit/s on the link, with a payload of 1000 B in each 1088 B. Tolerance: 25 %, as for Mathis
    // elsewhere, since acknowledgements of every second packet halve the growth (√(3/(4p)): 1.5 Mbit/s).
    let lossy = "queue = \"1 bdp\"\nloss = { forward = 0.01, backward = 0 }";
    let flow = datagrams(1_000, "8 Mbit/s");
    let plain = run(&path(lossy, &flow));
    let nested = run(&path(lossy, &(tunnel("quic = { congestion = \"reno\" }\nqueue = \"50 packets\"") + &flow)));
    let (plain, goodput) = (plain.summary.flows[0].goodput_bps, nested.summary.flows[0].goodput_bps);
    assert!((plain / (8e6 * 0.99) - 1.0).abs() < 0.01, "{plain}");
    let mathis = 1_000.0 * 8.0 / 0.041 * (1.5_f64 / 0.01).sqrt();
    assert!(goodput < mathis * 1.25 && goodput > mathis * 0.5, "{goodput} and {mathis}");
    let [up, _] = ways(&nested);
    assert!(up.dropped_queue > up.entered_packets / 2, "{up:?}");
    assert!(up.limited_s.cwnd + up.limited_s.recovery + up.limited_s.pacing > 50.0, "{:?}", up.limited_s);
}

#[test]
fn tcp_passes_a_tunnel_in_both_directions() {
    let flows = transfer("tcp", "4 MB", "tcp = { mss = \"1300 B\", receive_buffer = \"4 MB\" }")
        + "[[flows]]\nfrom = \"terminal\"\nto = \"gateway\"\ntransfer = \"2 MB\"\ntcp = { mss = \"1300 B\" }\n";
    let result = run(&path("queue = \"1 bdp\"", &(tunnel("") + &flows)));
    for (flow, bytes) in result.summary.flows.iter().zip([4_000_000, 2_000_000]) {
        assert_eq!((flow.delivered_bytes, flow.failure), (bytes, None), "{flow:?}");
        assert!(flow.finish_s.is_some(), "{flow:?}");
    }
    // The connection of the tunnel has no row among the flows.
    assert_eq!(result.summary.flows.len(), 2);
    assert_eq!(result.flow_names().last(), Some(&"tunnel terminal-gateway"));
    let [up, down] = ways(&result);
    assert!(up.delivered_bytes > 2_000_000 && down.delivered_bytes > 4_000_000, "{up:?} {down:?}");
    assert_eq!((up.dropped_size, down.dropped_size), (0, 0));
}

#[test]
fn packets_that_do_not_fit_are_dropped_and_announced() {
    let text = path("", &(tunnel("") + &transfer("tcp", "1 MB", "tcp = { mss = \"1460 B\" }")));
    let scenario = parse_toml(&text, &[]).unwrap();
    let warnings = scenario.warnings(&scenario.expand().unwrap());
    let warning = warnings.iter().find(|warning| warning.kind.name() == "packet-above-tunnel").expect("a warning");
    // 1472 B less 29 B of header and tag, 3 B of frame and 2 B of HTTP: 1438 B.
    assert_eq!(warning.path, "flows[0].tcp.mss");
    assert!(warning.message.contains("drops those above 1.438 kB"), "{}", warning.message);
    assert!(warning.message.contains("write at most 1.398 kB"), "{}", warning.message);
    assert!(warning.message.contains("tunnels[0].quic.datagram to 1.534 kB"), "{}", warning.message);
    let result = run(&text);
    let [_, down] = ways(&result);
    assert!(down.dropped_size > 0 && result.summary.flows[0].finish_s.is_none());
    for (fix, with) in [("1460 B", "1398 B"), ("[[tunnels]]", "[[tunnels]]\nquic = { datagram = \"1534 B\" }")] {
        let fixed = text.replace(fix, with);
        let scenario = parse_toml(&fixed, &[]).unwrap();
        let warnings = scenario.warnings(&scenario.expand().unwrap());
        assert!(warnings.iter().all(|warning| warning.kind.name() != "packet-above-tunnel"), "{with}");
        let result = run(&fixed);
        assert_eq!(ways(&result)[1].dropped_size, 0, "{with}");
        assert!(result.summary.flows[0].finish_s.is_some(), "{with}");
    }
}

#[test]
fn a_tunnel_of_udp_leaves_tcp_outside_and_hides_ecn() {
    let ecn = "ecn = \"ect0\", datagram = \"1200 B\"";
    let flows = transfer("quic", "2 MB", &format!("quic = {{ {ecn} }}")) + &transfer("tcp", "1 MB", "");
    let link = "queue = { limit = \"1 bdp\", discipline = \"codel\", ecn = true }";
    let udp = run(&path(link, &(tunnel("payload = \"udp\"") + &flows)));
    let ip = run(&path(
        link,
        &(tunnel("") + &flows.replace("transfer = \"1 MB\"", "transfer = \"1 MB\"\ntcp = { mss = \"1300 B\" }")),
    ));
    for result in [&udp, &ip] {
        assert!(result.summary.flows.iter().all(|flow| flow.finish_s.is_some()), "{:?}", result.summary.flows);
    }
    // Two thirds of the data, and nothing of TCP.
    let [_, down] = ways(&udp);
    assert!(down.delivered_bytes < 2_300_000, "{down:?}");
    assert!(ways(&ip)[1].delivered_bytes > 3_000_000);
}

#[test]
fn flows_that_a_tunnel_does_not_list_pass_beside_it() {
    let flows = transfer("quic", "1 MB", "name = \"inside\"") + &transfer("quic", "1 MB", "name = \"beside\"");
    let result = run(&path("queue = \"1 bdp\"", &(tunnel("flows = [\"inside\"]") + &flows)));
    assert!(result.summary.flows.iter().all(|flow| flow.delivered_bytes == 1_000_000));
    let [_, down] = ways(&result);
    assert!((1_000_000..1_200_000).contains(&down.delivered_bytes), "{down:?}");
}

#[test]
fn a_tunnel_crosses_another_one() {
    let chain = "duration = \"60 s\"\n".to_owned()
        + &["a", "b", "c", "d", "e"]
            .windows(2)
            .map(|pair| {
                format!(
                    "[[links]]\nbetween = [\"{}\", \"{}\"]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n",
                    pair[0], pair[1]
                )
            })
            .collect::<String>();
    let tunnels = "[[tunnels]]\nbetween = [\"a\", \"d\"]\n[[tunnels]]\nbetween = [\"b\", \"c\"]\nquic = { datagram = \"1600 B\" }\n";
    let flow = "[[flows]]\nfrom = \"e\"\nto = \"a\"\ntransfer = \"1 MB\"\ntcp = { mss = \"1200 B\" }\n";
    let result = run(&format!("{chain}{tunnels}{flow}"));
    assert!(result.summary.flows[0].finish_s.is_some());
    let [_, down, _, inner] = &result.summary.tunnels[..] else { panic!("two tunnels") };
    assert!(inner.delivered_packets >= down.delivered_packets, "{inner:?} {down:?}");
    assert_eq!((inner.dropped_size, down.dropped_size), (0, 0));
}

#[test]
fn a_tunnel_whose_connection_fails_drops_its_packets() {
    // Nothing reaches the gateway, so the client aborts its connection.
    let text = path(
        "loss = { forward = 1.0, backward = 0 }",
        &(tunnel("queue = \"5 packets\"") + &datagrams(500, "40 kbit/s")),
    );
    let result = run(&text.replace("duration = \"60 s\"", "duration = \"200 s\""));
    let [up, _] = ways(&result);
    assert!(up.failure.is_some() && up.dropped_closed > 0 && up.dropped_queue > 0, "{up:?}");
    assert_eq!(up.entered_packets, dropped(up));
    assert_eq!(result.summary.flows[0].datagrams.as_ref().unwrap().lost, up.entered_packets);
}

/// The end of a run checks that packets are conserved, and that all packets in a tunnel are counted.
#[test]
fn packets_are_conserved_with_tunnels_on_random_paths() {
    for seed in 0..40 {
        let mut random = RandomStream::new(seed, "tunnels");
        let mut pick = |from: &[&str]| from[(random.bits() % from.len() as u64) as usize].to_owned();
        let link = format!(
            "queue = \"{}\"\nloss = {}\nduplicate = {}\nreorder = {{ probability = {}, delay = \"30 ms\" }}",
            pick(&["5 packets", "1 bdp", "1 MB"]),
            pick(&["0", "0.001", "0.05"]),
            pick(&["0", "0.02"]),
            pick(&["0", "0.05"])
        );
        let keys = format!(
            "queue = \"{}\"\npayload = \"{}\"\nquic = {{ profile = \"{}\", congestion = \"{}\" }}",
            pick(&["3 packets", "20 kB", "1 MB"]),
            pick(&["ip", "udp"]),
            pick(&["rfc9002", "quinn", "quiche", "aioquic", "msquic", "picoquic"]),
            pick(&["reno", "cubic", "bbr"])
        );
        let flows = datagrams(700, "1 Mbit/s")
            + &transfer("quic", "600 kB", "")
            + &transfer("tcp", "600 kB", "tcp = { mss = \"1200 B\" }")
            + "[[flows]]\nfrom = \"server\"\nto = \"terminal\"\ntransport = \"quic\"\n\
               traffic = { kind = \"requests\", response = \"50 kB\", count = 5 }\n";
        let text = path(&link, &(tunnel(&keys) + &flows));
        let text = text.replace("duration = \"60 s\"", &format!("duration = \"20 s\"\nseed = {}", seed + 1));
        let result = run(&text);
        let sent = result.summary.flows[0].sent_segments;
        let datagrams = result.summary.flows[0].datagrams.as_ref().unwrap();
        assert!(datagrams.received <= sent + sent / 10, "seed {seed}");
        for way in ways(&result) {
            assert!(way.delivered_packets + dropped(way) <= way.entered_packets, "seed {seed}: {way:?}");
        }
    }
}

#[test]
fn a_run_with_a_tunnel_is_the_same_again_and_is_not_partitioned() {
    let flows = transfer("quic", "1 MB", "") + &datagrams(700, "1 Mbit/s");
    let text = path("queue = \"1 bdp\"\nloss = 0.01", &(tunnel("") + &flows));
    let hash = |result: RunResult| result.summary.result_hash;
    let first = hash(run(&text));
    assert_eq!(first, hash(run(&text)));
    let scenario = parse_toml(&text, &[]).unwrap();
    let parallel = Simulation::parallel(&scenario, None, Parallel { lanes: 2, threads: 2, always: true }).unwrap();
    assert_eq!(parallel.cut().err(), Some(NotPartitioned::Tunnels));
    assert_eq!(first, hash(parallel.run(&mut |_| Control::Continue)));
    assert_ne!(first, hash(run(&text.replace("[[tunnels]]", "[[tunnels]]\nqueue = \"4 packets\""))));
}

#[test]
fn a_log_shows_the_datagrams_of_the_tunnel() {
    let record =
        "[record]\ntrace = \"off\"\nqueue = \"off\"\npcap = { comments = true, at = [\"terminal\", \"gateway\"] }\n";
    let text = path("", &(tunnel("") + &transfer("quic", "50 kB", "")));
    let text = text.replace("record = { trace = \"off\", queue = \"off\" }\n", "") + record;
    let scenario = parse_toml(&text, &[]).unwrap();
    let mut files = std::collections::BTreeMap::new();
    let mut open = |name: &str| {
        let file = Shared::default();
        files.insert(name.to_owned(), file.clone());
        Ok(Box::new(file) as lightlag_sim::Output)
    };
    let simulation = Simulation::new(&scenario, None).unwrap();
    let simulation = simulation.capture_to(&mut open).and_then(|captured| captured.log_to(&mut open)).unwrap();
    let result = simulation.run(&mut |_| Control::Continue);
    assert_eq!(result.capture_failure, None);
    let Shared(bytes) = &files["quic.logs"];
    let log = String::from_utf8(bytes.lock().unwrap().clone()).unwrap();
    // Flow 1 is the connection of the tunnel; its client has the log 2, and its server the log 3.
    let of = |number: u8| {
        let start = format!("{number}\u{1e}");
        log.lines().filter(move |line| line.starts_with(&start) && line.contains("\"datagram\"")).count() as u64
    };
    let [up, down] = ways(&result);
    assert!(of(2) >= up.delivered_packets && of(3) >= down.delivered_packets, "{} {}", of(2), of(3));
    assert_eq!(of(0) + of(1), 0);
}
