//! Tests of the logs of QUIC connections.

use crate::memory::Shared;
use lightlag_scenario::parse_toml;
use lightlag_sim::{Control, RunResult, Simulation};
use lightlag_wire::capture::{Direction, Reader};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// A transfer with losses at the queue of the second link.
const PATH: &str = concat!(
    "name = \"path\"\n",
    two_links!(),
    r#"[[flows]]
name = "one"
from = "a"
to = "b"
transport = "quic"
transfer = "500 kB"
"#
);
const RECORD: &str = "[record]\npcap = { comments = true }\n";

/// The first record of each log and the others, by the number of the log.
type Logs = BTreeMap<u64, (Value, Vec<Value>)>;

struct Run {
    result: RunResult,
    files: BTreeMap<String, Vec<u8>>,
}

fn run(text: &str) -> Run {
    let scenario = parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut files = BTreeMap::new();
    let mut open = |name: &str| {
        let file = Shared::default();
        files.insert(name.to_owned(), file.clone());
        Ok(Box::new(file) as lightlag_sim::Output)
    };
    let simulation = Simulation::new(&scenario, None).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let simulation = simulation.capture_to(&mut open).and_then(|captured| captured.log_to(&mut open)).unwrap();
    let result = simulation.run(&mut |_| Control::Continue);
    assert_eq!(result.capture_failure, None);
    let files = files.into_iter().map(|(name, Shared(bytes))| (name, bytes.lock().unwrap().clone())).collect();
    Run { result, files }
}

impl Run {
    fn logs(&self) -> Logs {
        let mut logs = Logs::new();
        let text = std::str::from_utf8(&self.files["quic.logs"]).unwrap();
        for line in text.lines() {
            let (number, record) = line.split_once('\x1e').expect("a number and a record");
            let record: Value = serde_json::from_str(record).unwrap();
            let number = number.parse().unwrap();
            match logs.get_mut(&number) {
                None => drop(logs.insert(number, (record, Vec::new()))),
                Some((_, events)) => events.push(record),
            }
        }
        logs
    }

    /// Returns the numbers of UDP datagrams that a node has sent and received.
    fn datagrams(&self, node: &str) -> [usize; 2] {
        let mut reader = Reader::open(&self.files[&format!("{node}.pcapng")][..]).unwrap();
        let mut counts = [0; 2];
        while let Some(packet) = reader.next_packet().unwrap() {
            // The protocol field of an IPv4 header (RFC 791 §3.1); 17 is UDP.
            if packet.ip.unwrap()[9] == 17 {
                counts[usize::from(packet.direction == Direction::Inbound)] += 1;
            }
        }
        counts
    }
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["name"] == name).collect()
}

/// Returns the type and the number in the header of a packet.
fn packet(event: &Value) -> (String, u64) {
    let header = &event["data"]["header"];
    (header["packet_type"].as_str().unwrap().to_owned(), header["packet_number"].as_u64().unwrap())
}

#[test]
fn both_endpoints_have_a_log_in_the_order_of_time() {
    let run = run(&format!("{PATH}{RECORD}"));
    assert_eq!(run.result.captures, ["a.pcapng", "b.pcapng", "quic.logs"]);
    let logs = run.logs();
    assert_eq!(logs.keys().copied().collect::<Vec<_>>(), [0, 1]);
    for (number, node, side) in [(0, "a", "client"), (1, "b", "server")] {
        let (header, events) = &logs[&number];
        assert_eq!((&header["qlog_version"], &header["qlog_format"]), (&json!("0.3"), &json!("JSON-SEQ")));
        assert_eq!(header["title"], "path: one");
        assert!(header["description"].as_str().unwrap().starts_with("made by lightlag"));
        assert_eq!(header["trace"]["vantage_point"], json!({ "name": node, "type": side }));
        assert!(events.is_sorted_by_key(|event| event["time"].as_f64().unwrap()), "times ascend");
        let states = named(events, "connectivity:connection_state_updated");
        let states: Vec<_> = states.iter().map(|event| event["data"]["new"].as_str().unwrap()).collect();
        assert_eq!(states[..3], ["attempted", "handshake_complete", "handshake_confirmed"], "{node}");
        let owners = named(events, "transport:parameters_set");
        let owners: Vec<_> = owners.iter().map(|event| event["data"]["owner"].as_str().unwrap()).collect();
        assert_eq!(owners, ["local", "remote"], "{node}");
    }
}

/// A datagram of the handshake has several packets, and every other one has one. The times of a datagram's packets are
/// equal, and its packets have different types.
#[test]
fn packets_are_those_of_the_captures() {
    let run = run(&format!("{PATH}{RECORD}"));
    let logs = run.logs();
    for (number, node) in [(0, "a"), (1, "b")] {
        let events = &logs[&number].1;
        let [sent, received] = ["transport:packet_sent", "transport:packet_received"].map(|name| named(events, name));
        let datagrams = run.datagrams(node);
        for (packets, datagrams) in [(&sent, datagrams[0]), (&received, datagrams[1])] {
            let extra = packets.windows(2).filter(|pair| {
                let [first, second] = [pair[0], pair[1]];
                first["time"] == second["time"] && packet(first).0 != packet(second).0
            });
            assert_eq!(packets.len() - extra.count(), datagrams, "{node}");
        }
        let numbers: BTreeSet<_> = sent.iter().map(|event| packet(event)).collect();
        assert_eq!(numbers.len(), sent.len(), "{node}: packet numbers are not reused");
    }
    let [a, b] = [0, 1].map(|number| &logs[&number].1);
    for [here, there] in [[a, b], [b, a]] {
        let sent: BTreeSet<_> = named(here, "transport:packet_sent").into_iter().map(packet).collect();
        let received: Vec<_> = named(there, "transport:packet_received").into_iter().map(packet).collect();
        assert!(received.iter().all(|packet| sent.contains(packet)));
    }
}

/// Every packet that a queue dropped is declared lost, and no other one is.
#[test]
fn losses_are_those_that_the_queue_dropped() {
    let run = run(&format!("{PATH}{RECORD}"));
    let logs = run.logs();
    let [a, b] = [0, 1].map(|number| &logs[&number].1);
    let received: BTreeSet<_> = named(b, "transport:packet_received").into_iter().map(packet).collect();
    let lost: BTreeSet<_> = named(a, "recovery:packet_lost").into_iter().map(packet).collect();
    let dropped: BTreeSet<_> = named(a, "transport:packet_sent").into_iter().map(packet).collect();
    let dropped: BTreeSet<_> = dropped.difference(&received).cloned().collect();
    let at_queue: u64 = run.result.summary.links.iter().map(|link| link.dropped_queue).sum();
    assert!(at_queue > 5);
    assert_eq!(dropped.len() as u64, at_queue);
    assert_eq!(lost, dropped);
    let triggers = named(a, "recovery:packet_lost");
    let rules = ["reordering_threshold", "time_threshold", "pto_expired"];
    assert!(triggers.iter().all(|event| rules.contains(&event["data"]["trigger"].as_str().unwrap())));
    assert!(named(b, "recovery:packet_lost").is_empty());
}

/// The first sample is the handshake over 2 · 25 ms of delay, and bytes in flight are the sizes of what was sent and
/// neither acknowledged nor lost.
#[test]
fn metrics_agree_with_the_packets() {
    let run = run(&format!("{PATH}{RECORD}"));
    let events = &run.logs()[&0].1;
    let (mut sizes, mut in_flight) = (BTreeMap::new(), 0);
    let (mut metrics, mut checked, mut is_confirmed) = (serde_json::Map::new(), 0, false);
    for event in events {
        let data = &event["data"];
        match event["name"].as_str().unwrap() {
            "transport:packet_sent" => {
                let frames = data["frames"].as_array().unwrap();
                let counts =
                    frames.iter().any(|frame| !["ack", "connection_close"].iter().any(|of| frame["frame_type"] == *of));
                let size = if counts { data["raw"]["length"].as_u64().unwrap() } else { 0 };
                in_flight += size;
                sizes.insert(packet(event), size);
            }
            "transport:packet_received" => {
                let kind = packet(event).0;
                for frame in data["frames"].as_array().unwrap().iter().filter(|frame| frame["frame_type"] == "ack") {
                    for range in frame["acked_ranges"].as_array().unwrap() {
                        let range = range.as_array().unwrap();
                        let [first, last] = [range.first(), range.last()].map(|end| end.unwrap().as_u64().unwrap());
                        for number in first..=last {
                            in_flight -= sizes.remove(&(kind.clone(), number)).unwrap_or(0);
                        }
                    }
                }
            }
            "recovery:packet_lost" => in_flight -= sizes.remove(&packet(event)).expect("lost once"),
            "recovery:metrics_updated" => {
                metrics.extend(data.as_object().unwrap().clone());
                if is_confirmed {
                    assert_eq!(metrics["bytes_in_flight"], in_flight, "{event}");
                    checked += 1;
                }
            }
            // RFC 9002 §6.4: packets of discarded keys leave without an acknowledgement.
            "connectivity:connection_state_updated" if data["new"] == "handshake_confirmed" => {
                sizes.retain(|(kind, _), _| kind == "1RTT");
                in_flight = sizes.values().sum();
                is_confirmed = true;
            }
            _ => {}
        }
    }
    assert!(checked > 100);
    let min_rtt = metrics["min_rtt"].as_f64().unwrap();
    assert!((50.0..60.0).contains(&min_rtt), "{min_rtt} ms");
    assert!(metrics["smoothed_rtt"].as_f64().unwrap() >= min_rtt);
    assert!(metrics["congestion_window"].as_u64().unwrap() > 0 && metrics["ssthresh"].as_u64().unwrap() > 0);
}

#[test]
fn logs_change_no_result_and_repeat() {
    let text = format!("{PATH}{RECORD}");
    let [first, second] = [run(&text), run(&text)];
    assert_eq!(first.files, second.files);
    let plain = parse_toml(PATH, &[]).unwrap();
    let plain = Simulation::new(&plain, None).unwrap().run(&mut |_| Control::Continue);
    assert_eq!(plain.summary.result_hash, first.result.summary.result_hash);
}

/// TCP and UDP flows have no logs here, and captures without comments or at other places neither.
#[test]
fn only_captured_quic_flows_have_logs() {
    let tcp = "[[flows]]\nname = \"two\"\nfrom = \"b\"\nto = \"a\"\ntransfer = \"50 kB\"\n";
    let flow = |name: &str| PATH[PATH.find("[[flows]]").unwrap()..].replace("one", name).replace("500 kB", "20 kB");
    let mixed = run(&format!("{PATH}{tcp}{}{RECORD}", flow("three")));
    assert_eq!(mixed.logs().keys().copied().collect::<Vec<_>>(), [0, 1, 4, 5]);
    assert_eq!(mixed.logs()[&4].0["title"], "path: three");
    let selected = run(&format!("{PATH}{}[record]\npcap = {{ comments = true, flows = [\"three\"] }}", flow("three")));
    assert_eq!(selected.logs().keys().copied().collect::<Vec<_>>(), [2, 3]);
    for record in ["pcap = {}", "pcap = { comments = true, at = [\"a\"] }"] {
        let none = run(&format!("{PATH}[record]\n{record}"));
        assert!(!none.files.contains_key("quic.logs"), "{record}");
    }
    assert!(
        !run(&format!("{}{tcp}{RECORD}", &PATH[..PATH.find("[[flows]]").unwrap()])).files.contains_key("quic.logs")
    );
}

/// A packet that arrives twice is received once.
#[test]
fn duplicates_are_not_received_again() {
    let text = PATH.replace("queue = \"12 packets\"", "queue = \"100 packets\"\nduplicate = 0.05");
    let run = run(&format!("{text}{RECORD}"));
    let logs = run.logs();
    for (number, node) in [(0, "a"), (1, "b")] {
        let received = named(&logs[&number].1, "transport:packet_received");
        let numbers: BTreeSet<_> = received.iter().map(|event| packet(event)).collect();
        assert_eq!(numbers.len(), received.len(), "{node}");
        assert!(run.datagrams(node)[1] > received.len(), "{node} receives duplicates");
    }
}

#[test]
fn a_log_that_cannot_be_written_ends_the_captures() {
    let scenario = parse_toml(&format!("{PATH}{RECORD}"), &[]).unwrap();
    let simulation = Simulation::new(&scenario, None).unwrap();
    let simulation = simulation.capture_to(&mut |_| Ok(Box::new(io::sink()))).unwrap();
    let nothing: fn() -> &'static mut [u8] = || &mut [];
    let full = simulation.log_to(&mut |_| Ok(Box::new(nothing()))).unwrap();
    let result = full.run(&mut |_| Control::Continue);
    assert!(result.capture_failure.is_some_and(|failure| failure.starts_with("quic.logs: ")));
    let simulation = Simulation::new(&scenario, None).unwrap();
    let simulation = simulation.capture_to(&mut |_| Ok(Box::new(io::sink()))).unwrap();
    assert!(simulation.log_to(&mut |_| Err(io::Error::other("no such directory"))).is_err());
}

#[test]
fn the_search_for_the_mtu_is_in_the_log_in_both_forms() {
    let path = PATH.replace("transfer = ", "quic = { mtu = \"1452 B\" }\ntransfer = ");
    let events = |record: &str| run(&format!("{path}{record}")).logs()[&0].clone();
    let (header, old) = events(RECORD);
    let sizes = |events: &[Value], name: &str| {
        let updates = named(events, name).into_iter().map(|event| event["data"]["new"].as_u64().unwrap());
        updates.collect::<Vec<_>>()
    };
    // Half of the interval from 1,200 B to 1,452 B until it is below 20 B; then its end.
    let found = [1_326, 1_389, 1_420, 1_452];
    assert_eq!(sizes(&old, "connectivity:mtu_updated"), found);
    assert!(header["qlog_version"] == "0.3" && header["file_schema"].is_null());
    let (header, new) = events("[record]\npcap = { comments = true, qlog_schema = \"main-14\" }\n");
    assert_eq!(header["file_schema"], "urn:ietf:params:qlog:file:sequential");
    assert_eq!(sizes(&new, "quic:mtu_updated"), found);
    assert!(old.len() == new.len() && new.iter().all(|event| event["name"].as_str().unwrap().starts_with("quic:")));
}
