//! Tests of captures, which are read back packet by packet.

use crate::memory::Shared;
use lightlag_scenario::parse_toml;
use lightlag_sim::{Control, RunResult, Simulation};
use lightlag_tcp::segment::Flags;
use lightlag_wire::capture::{Direction, Reader};
use lightlag_wire::{Addresses, Checksum, IpFields, decode};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A packet that was read from a capture, with its own copy of the payload.
#[derive(Clone, Debug)]
struct Seen {
    nanos: u64,
    direction: Direction,
    addresses: Addresses,
    ip: IpFields,
    segment: lightlag_tcp::Segment,
    payload: Vec<u8>,
    wire_len: u32,
    comment: String,
}

const PATH: &str = concat!(
    two_links!(),
    r#"[[flows]]
name = "one"
from = "a"
to = "b"
transfer = "300 kB"
"#
);

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

fn packets(file: &[u8]) -> Vec<Seen> {
    let mut reader = Reader::open(file).unwrap();
    let mut packets = Vec::new();
    while let Some(packet) = reader.next_packet().unwrap() {
        let tcp = decode(packet.ip.unwrap()).unwrap();
        assert_eq!((tcp.checksum, tcp.malformed_options, tcp.unknown_options), (Checksum::Valid, 0, 0));
        packets.push(Seen {
            nanos: packet.at.as_nanos(),
            direction: packet.direction,
            addresses: tcp.addresses,
            ip: tcp.ip,
            segment: tcp.segment,
            payload: tcp.payload.to_vec(),
            wire_len: tcp.wire_len,
            comment: packet.comment.unwrap_or_default().into_owned(),
        });
    }
    assert_eq!(reader.cut(), None);
    assert!(packets.is_sorted_by_key(|packet| packet.nanos), "packets are in order of time");
    packets
}

#[test]
fn both_endpoints_of_a_flow_capture_what_they_send_and_receive() {
    let (result, files) = captured(&format!("{PATH}\n[record]\npcap = {{}}"));
    assert_eq!(files.keys().collect::<Vec<_>>(), ["a.pcapng", "b.pcapng"]);
    assert_eq!(result.captures, ["a.pcapng", "b.pcapng"]);
    assert_eq!(result.capture_failure, None);
    let [a, b] = ["a.pcapng", "b.pcapng"].map(|name| packets(&files[name]));
    let flow = &result.summary.flows[0];
    let data = |packets: &[Seen], direction| {
        packets.iter().filter(|packet| packet.direction == direction && packet.segment.len > 0).count() as u64
    };
    let dropped: u64 = result.summary.links.iter().map(|link| link.dropped_queue).sum();
    assert!(dropped > 0);
    assert_eq!(data(&a, Direction::Outbound), flow.sent_segments);
    assert_eq!(data(&b, Direction::Inbound), flow.sent_segments - dropped);
    // The SYN is sent with a TTL of 64 and arrives after one router, 5 and 20 ms and its transmissions later.
    assert!(a[0].segment.flags == Flags::SYN && b[0].segment.flags == Flags::SYN);
    assert_eq!((a[0].ip.ttl, b[0].ip.ttl), (64, 63));
    // 60 bytes at 100 and at 5 Mbit/s: 4.8 µs and 96 µs.
    assert_eq!((a[0].nanos, b[0].nanos), (0, 25_000_000 + 4_800 + 96_000));
    assert_eq!(a[0].addresses.source.to_string(), "10.0.0.1:49152");
    assert_eq!(b[1].addresses, a[0].addresses.reversed());
    assert!(a.iter().chain(&b).all(|packet| packet.comment.is_empty()));
}

/// The run ends with the last byte of the transfer, but a capture must also contain the last ACK and both acknowledged
/// FINs.
#[test]
fn a_capture_ends_with_the_connection() {
    let (result, files) = captured(&format!("{PATH}\n[record]\npcap = {{}}"));
    let [a, b] = ["a.pcapng", "b.pcapng"].map(|name| packets(&files[name]));
    let last_byte = (result.summary.simulated_s * 1e9).round() as u64;
    assert_eq!(result.summary.flows[0].finish_s, Some(result.summary.simulated_s));
    let fins = |packets: &[Seen], direction| {
        let own = packets.iter().filter(|packet| packet.direction == direction);
        own.filter(|packet| packet.segment.flags.has(Flags::FIN)).count()
    };
    for place in [&a, &b] {
        assert!(fins(place, Direction::Outbound) >= 1 && fins(place, Direction::Inbound) >= 1);
    }
    // The FIN of b is acknowledged after the last byte, and the ACK arrives.
    let [sent, arrived] = [a.last().unwrap(), b.last().unwrap()];
    assert_eq!((sent.direction, arrived.direction), (Direction::Outbound, Direction::Inbound));
    assert_eq!(sent.segment, arrived.segment);
    assert!(sent.nanos > last_byte && arrived.nanos > sent.nanos);
    let fin = b.iter().rfind(|packet| packet.segment.flags.has(Flags::FIN) && packet.direction == Direction::Outbound);
    assert_eq!(arrived.segment.ack, fin.unwrap().segment.seq.plus(1));
}

/// A capture ends at the configured duration at the latest, even if the last bytes have not been acknowledged.
#[test]
fn a_capture_ends_with_the_duration_at_the_latest() {
    let text = format!("{PATH}\n[record]\npcap = {{}}");
    let finish = captured(&text).0.summary.flows[0].finish_s.unwrap();
    // 10 ms after the last byte: its ACK needs 25.
    let end = (finish * 1e3) as u64 + 10;
    let (result, files) = captured(&text.replace("60 s", &format!("{end} ms")));
    assert_eq!(result.summary.flows[0].finish_s, Some(finish));
    assert!(packets(&files["a.pcapng"]).last().unwrap().nanos <= end * 1_000_000);
}

#[test]
fn addresses_have_the_names_of_their_nodes() {
    let (_, files) = captured(&format!("{PATH}\n[record]\npcap = {{}}"));
    let file = &files["a.pcapng"];
    let record = |address: &[u8], name: &str| [address, name.as_bytes(), &[0]].concat();
    for record in [record(&[10, 0, 0, 1], "a"), record(&[10, 0, 0, 3], "b")] {
        assert!(file.windows(record.len()).any(|bytes| bytes == record));
    }
}

#[test]
fn a_retransmission_has_the_same_bytes() {
    let (_, files) = captured(&format!("{PATH}\n[record]\npcap = {{ at = [\"a\"] }}"));
    let mut stream: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    let mut again = 0;
    for packet in packets(&files["a.pcapng"]).iter().filter(|packet| packet.segment.len > 0) {
        let first = stream.entry(packet.segment.seq.0).or_insert_with(|| packet.payload.clone());
        again += usize::from(*first == packet.payload);
        assert_eq!(*first, packet.payload);
        assert!(packet.payload.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1)));
    }
    assert!(again > stream.len(), "a segment was retransmitted");
}

#[test]
fn a_router_captures_each_packet_once_and_a_link_its_direction() {
    let (result, files) = captured(&format!("{PATH}\n[record]\npcap = {{ at = [\"r\", \"r->b\", \"b->r\"] }}"));
    assert_eq!(files.keys().collect::<Vec<_>>(), ["b-to-r.pcapng", "r-to-b.pcapng", "r.pcapng"]);
    let [back, forth, router] = ["b-to-r.pcapng", "r-to-b.pcapng", "r.pcapng"].map(|name| packets(&files[name]));
    let data = forth.iter().filter(|packet| packet.segment.len > 0).count();
    assert_eq!(data as u64, result.summary.flows[0].sent_segments);
    assert!(forth.iter().all(|packet| packet.direction == Direction::Outbound && packet.ip.ttl == 63));
    assert!(back.iter().all(|packet| packet.ip.ttl == 64 && packet.addresses.source.port() == 9));
    assert_eq!(forth.len() + back.len(), router.len(), "packets in transit at the last byte also arrive");
    assert!(router.iter().all(|packet| packet.direction == Direction::Inbound && packet.ip.ttl == 64));
}

#[test]
fn comments_have_the_state_of_the_sender_and_the_cause_of_a_drop() {
    let pcap = "pcap = { at = [\"a\", \"r\", \"r->b\"], comments = true }";
    let (result, files) =
        captured(&format!("{PATH}loss = \"none\"\n[record]\n{pcap}").replace("loss = \"none\"\n", ""));
    let sender = packets(&files["a.pcapng"]);
    assert!(sender[0].comment.starts_with("cwnd "), "{}", sender[0].comment);
    assert!(sender.iter().any(|packet| packet.comment.contains("recovery")));
    let dropped = result.drops.cause.len();
    for name in ["r.pcapng", "r-to-b.pcapng"] {
        let count = packets(&files[name])
            .iter()
            .filter(|packet| packet.comment == "dropped on r->b: the queue was full")
            .count();
        assert_eq!(count, dropped, "{name}");
    }
    assert!(dropped > 0);
    let (_, plain) = captured(&format!("{PATH}\n[record]\n{}", pcap.replace("true", "false")));
    for (name, file) in &files {
        let strip = |file: &[u8]| -> Vec<_> { packets(file).iter().map(|seen| (seen.nanos, seen.segment)).collect() };
        assert_eq!(strip(file), strip(&plain[name]), "comments change no order");
    }
}

#[test]
fn every_cause_of_a_drop_is_reported() {
    let text = PATH
        .replace("queue = \"12 packets\"", "queue = { discipline = \"codel\", limit = \"60 packets\" }\nloss = 0.005");
    // Without HyStart slow start overshoots.
    let text = text.replace("\"300 kB\"", "\"3 MB\"\ntcp = { congestion = \"newreno\" }")
        + "\n[record]\npcap = { at = [\"r\"], comments = true }";
    let (result, files) = captured(&text);
    let router = packets(&files["r.pcapng"]);
    let reported = |why: &str| router.iter().filter(|packet| packet.comment.ends_with(why)).count() as u64;
    let link = |of: fn(&lightlag_sim::results::LinkSummary) -> u64| result.summary.links.iter().map(of).sum::<u64>();
    let damaged_acks = result.drops.backward.iter().filter(|backward| **backward).count() as u64;
    assert!(reported("by the queue discipline") > 0);
    assert_eq!(reported("by the queue discipline"), link(|link| link.dropped_aqm));
    // A damaged ACK was sent by b, which is not captured.
    assert_eq!(reported("corrupted"), link(|link| link.dropped_error) - damaged_acks);
}

#[test]
fn only_the_flows_that_were_named() {
    let text = PATH.to_owned()
        + "[[flows]]\nname = \"two\"\nfrom = \"b\"\nto = \"a\"\ntransfer = \"50 kB\"\n[record]\npcap = { flows = [\"two\"] }";
    let (_, files) = captured(&text);
    let a = packets(&files["a.pcapng"]);
    assert!(
        !a.is_empty()
            && a.iter().all(|packet| [packet.addresses.source, packet.addresses.destination]
                .iter()
                .any(|end| end.port() == 49_153))
    );
}

#[test]
fn ipv6_makes_packets_longer() {
    let (v4, _) = captured(PATH);
    let (v6, files) = captured(&format!("ip = \"v6\"\n{PATH}\n[record]\npcap = {{}}"));
    let a = packets(&files["a.pcapng"]);
    assert_eq!(a[0].addresses.source.to_string(), "[fd00::1]:49152");
    assert_eq!(a[0].wire_len, 40 + 40);
    let largest = a.iter().map(|packet| packet.wire_len).max();
    assert_eq!(largest, Some(1_460 + 20 + 40));
    assert!(v6.summary.flows[0].goodput_bps < v4.summary.flows[0].goodput_bps);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_captures_change_no_result() {
    let text = format!("{PATH}\n[record]\npcap = {{ comments = true }}");
    let ((first, files), (second, again)) = (captured(&text), captured(&text));
    assert_eq!(files, again);
    assert_eq!(first.summary.result_hash, second.summary.result_hash);
    assert_eq!(first.summary.result_hash, captured(PATH).0.summary.result_hash);
}

#[test]
fn a_run_without_a_destination_for_captures_writes_none() {
    let scenario = parse_toml(&format!("{PATH}\n[record]\npcap = {{}}"), &[]).unwrap();
    let simulation = Simulation::new(&scenario, None).unwrap();
    assert!(simulation.is_captured());
    let result = simulation.run(&mut |_| Control::Continue);
    assert!(result.captures.is_empty() && result.capture_failure.is_none());
}

#[test]
fn a_full_disk_ends_the_captures_and_not_the_run() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::Error::other("no space left"))?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let scenario = parse_toml(&format!("{PATH}\n[record]\npcap = {{}}"), &[]).unwrap();
    let mut simulation = Simulation::new(&scenario, None).unwrap();
    simulation = simulation.capture_to(&mut |_| Ok(Box::new(Full(10_000)))).unwrap();
    let result = simulation.run(&mut |_| Control::Continue);
    assert_eq!(result.capture_failure.as_deref(), Some("a.pcapng: no space left"));
    assert_eq!(result.summary.flows[0].delivered_bytes, 300_000);
    let simulation = Simulation::new(&scenario, None).unwrap();
    assert!(simulation.capture_to(&mut |_| Err(io::Error::other("no such directory"))).is_err());
}

#[test]
fn unknown_names_are_rejected() {
    for (pcap, path, message) in [
        ("{ at = [\"x\"] }", "record.pcap.at[0]", "\"x\" is not a node of the network"),
        ("{ at = [\"a\", \"a->b\"] }", "record.pcap.at[1]", "\"a->b\" is not a link"),
        ("{ flows = [\"two\"] }", "record.pcap.flows[0]", "\"two\" is not a flow"),
        ("{ at = \"a\" }", "record.pcap.at", "\"a\" is not a list of names"),
        ("{ at = [1] }", "record.pcap.at[0]", "1 is not a text"),
        ("{ node = 1 }", "record.pcap.node", "is not a key here"),
        ("true", "record.pcap", "true is not a table such as"),
    ] {
        let errors = parse_toml(&format!("{PATH}\n[record]\npcap = {pcap}"), &[]).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].path, path);
        assert!(errors[0].message.contains(message), "{}", errors[0].message);
    }
}

#[test]
fn too_many_capture_points_are_rejected() {
    let text = "duration = \"1 s\"\n[topology]\nkind = \"dumbbell\"\npairs = 251\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
                [record]\npcap = {}";
    let errors = parse_toml(text, &[]).unwrap_err();
    assert!(errors[0].message.starts_with("502 capture points are more than 500"), "{errors:?}");
}

#[test]
fn datagrams_are_captured_with_segments() {
    let udp = "[[flows]]\nname = \"two\"\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\n\
               traffic = { kind = \"constant\", rate = \"4 Mbit/s\", size = \"700 B\" }\n";
    let (result, files) = captured(&format!("{PATH}{udp}\n[record]\npcap = {{ comments = true }}"));
    let datagrams = |name: &str| {
        let mut reader = Reader::open(&*files[name]).unwrap();
        let mut packets = Vec::new();
        while let Some(packet) = reader.next_packet().unwrap() {
            let ip = packet.ip.unwrap();
            if ip[9] == 17 {
                // Ports of the second flow; the length is of header and payload.
                assert_eq!((ip.len(), &ip[20..26]), (728, &[0xc0, 0x01, 0, 9, 2, 0xc4][..]));
                let comment = packet.comment.unwrap_or_default().into_owned();
                packets.push((ip[28], comment.contains("dropped on r->b: the queue was full")));
            }
        }
        packets
    };
    let [sent, arrived] = ["a.pcapng", "b.pcapng"].map(datagrams);
    let flow = &result.summary.flows[1];
    let summary = flow.datagrams.as_deref().unwrap();
    let lost = summary.lost;
    assert_eq!((sent.len() as u64, arrived.len() as u64), (flow.sent_segments, summary.received));
    assert!(lost > 0, "the queue is short");
    // Payloads start with the index of their datagram.
    assert!(sent.iter().enumerate().all(|(number, (first, _))| number as u8 == *first));
    // A comment at the sender covers only its own link, which drops nothing.
    assert!(sent.iter().all(|(_, dropped)| !dropped));
}

#[test]
fn packets_of_a_flow_carry_its_code_point() {
    for version in ["v4", "v6"] {
        let other = "[[flows]]\nfrom = \"a\"\nto = \"b\"\ntransfer = \"10 kB\"";
        let text = format!("ip = {version:?}\n{PATH}dscp = \"EF\"\n{other}\n[record]\npcap = {{}}");
        let (_, files) = captured(&text);
        for packet in packets(&files["b.pcapng"]) {
            let ports = [packet.addresses.source.port(), packet.addresses.destination.port()];
            let expected = if ports.contains(&49_152) { 46 } else { 0 };
            assert_eq!(packet.ip.dscp.number(), expected, "IP{version}: {packet:?}");
        }
    }
}

/// Returns a scenario with Hypatia's Kuiper shell. Until 18 s the path from Manila to Dalian has three satellites.
fn over_the_sky(more: &str, flow: &str) -> String {
    format!(
        r#"
        duration = "40 s"
        [constellation]
        start = "2000-01-01T00:00:00Z"
        shells = [{{ name = "k", height = "630 km", revolutions = 14.80, inclination = "51.9 deg", planes = 34, slots = 34, phasing = "alternating" }}]
        elevation = "30 deg"
        visibility = "slant"
        isl = {{ rate = "10 Mbit/s", queue = "100 packets" }}
        uplink = {{ rate = "10 Mbit/s", queue = "100 packets" }}
        downlink = {{ rate = "8 Mbit/s", queue = "100 packets" }}
        [[stations]]
        name = "Manila"
        latitude = "14.6042 deg"
        longitude = "120.9822 deg"
        [[stations]]
        name = "Dalian"
        latitude = "38.913811 deg"
        longitude = "121.602322 deg"
        [[flows]]
        from = "Manila"
        to = "Dalian"
        {flow}
        [record]
        pcap = {{ {more} }}
        "#
    )
}

#[test]
fn links_of_a_constellation_are_captured_one_after_the_other() {
    let at = "at = [\"Manila->sky\", \"k-6-15->k-6-14\", \"k-6-14\", \"k-7-14->ground\", \"k-1-1->ground\"]";
    let (result, files) = captured(&over_the_sky(at, "transfer = \"300 kB\""));
    let names = ["Manila-to-sky", "k-1-1-to-ground", "k-6-14", "k-6-15-to-k-6-14", "k-7-14-to-ground"];
    assert_eq!(files.keys().collect::<Vec<_>>(), names.map(|name| format!("{name}.pcapng")).iter().collect::<Vec<_>>());
    let [up, idle, satellite, across, down] = names.map(|name| packets(&files[&format!("{name}.pcapng")]));
    assert!(idle.is_empty());
    let flow = &result.summary.flows[0];
    assert_eq!(flow.delivered_bytes, 300_000);
    for capture in [&up, &across, &down] {
        assert_eq!(capture.iter().filter(|packet| packet.segment.len > 0).count() as u64, flow.sent_segments);
        assert!(capture.iter().all(|packet| packet.direction == Direction::Outbound));
    }
    // The satellite captures both directions.
    assert!(satellite.iter().any(|packet| packet.addresses == up[0].addresses.reversed()));
    assert_eq!([up[0].ip.ttl, across[0].ip.ttl, down[0].ip.ttl], [64, 63, 61]);
    // The SYN goes up some 700 to 1,260 km.
    let climb = (across[0].nanos - up[0].nanos) as f64 / 1e6;
    assert!((2.3..4.3).contains(&climb) && down[0].nanos > across[0].nanos, "{climb} ms");
}

#[test]
fn a_capture_shows_the_packets_sent_by_a_transmitter_at_a_handover() {
    let points = "at = [\"Manila->sky\", \"k-7-14->ground\"], comments = true";
    let flow = "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"9.9 Mbit/s\" }";
    let (result, files) = captured(&over_the_sky(points, flow));
    let mut reader = Reader::open(&files["k-7-14-to-ground.pcapng"][..]).unwrap();
    let (mut left, mut last) = (0, 0);
    while let Some(packet) = reader.next_packet().unwrap() {
        left += u64::from(packet.comment.is_some_and(|text| text == "rerouted away from k-7-14->ground"));
        assert!(packet.at.as_nanos() >= last);
        last = packet.at.as_nanos();
    }
    let link = result.summary.links.iter().find(|link| link.name == "k-7-14->ground").unwrap();
    assert_eq!(left, link.withdrawn);
    assert!(left > 10, "{left}");
}
