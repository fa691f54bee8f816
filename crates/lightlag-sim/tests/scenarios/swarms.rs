//! Swarms in extreme cases: no radio range, no distance, a single node, no traffic.

use crate::text::run;
use lightlag_core::params::Registered;
use lightlag_mobility::Mobility;
use lightlag_routing::Protocol;
use lightlag_sim::RunResult;

/// Returns a scenario with a swarm. `medium` has keys of its medium, `rest` further keys of the topology.
fn swarm(nodes: u32, duration: &str, medium: &str, rest: &str) -> String {
    format!(
        "duration = \"{duration}\"\n[topology]\nkind = \"swarm\"\nnodes = {nodes}\narea = [\"100 m\", \"100 m\", \"30 m\"]\n\
         medium = {{ {medium} }}\n{rest}"
    )
}

fn delivered(result: &RunResult) -> u64 {
    result.summary.flows.iter().map(|flow| flow.delivered_bytes).sum()
}

#[test]
fn without_range_nothing_arrives() {
    for protocol in Protocol::NAMES {
        let medium = format!("power = \"-150 dBm\", routing = {protocol:?}");
        let result = run(&swarm(12, "30 s", &medium, "flows = 6\n"));
        assert_eq!(delivered(&result), 0, "{protocol}");
        assert!(result.summary.interfaces.iter().all(|radio| radio.received_frames == 0), "{protocol}");
        assert!(result.summary.flows.iter().all(|flow| flow.finish_s.is_none()), "{protocol}");
    }
}

#[test]
fn nodes_at_one_point_all_reach_each_other() {
    for protocol in Protocol::NAMES {
        let rest = "placement = { kind = \"line\", spacing = \"0 m\", height = \"10 m\" }\nflows = 6\n\
                    flow = { transfer = \"20 kB\" }\n";
        let result = run(&swarm(12, "60 s", &format!("routing = {protocol:?}"), rest));
        for flow in &result.summary.flows {
            assert_eq!(flow.delivered_bytes, 20_000, "{protocol}: {flow:#?}");
        }
        let paths = &result.paths;
        assert!(paths.hops.iter().all(|hops| *hops == 1), "{protocol}: {paths:#?}");
    }
}

#[test]
fn every_model_of_mobility_flies_alone() {
    for model in Mobility::NAMES.iter().filter(|name| !matches!(**name, "trace" | "group")) {
        let path = if *model == "waypoints" { ", places = [[10, 10, 20, 10], [90, 90, 20, 10]]" } else { "" };
        let rest = format!(
            "flows = 0\nmobility = {{ model = {model:?}{path} }}\n[[links]]\nbetween = [\"uav1\", \"ground\"]\n\
             rate = \"1 Mbit/s\"\ndelay = \"10 ms\"\n[[flows]]\nfrom = \"uav1\"\nto = \"ground\"\ntransfer = \"50 kB\"\n"
        );
        let result = run(&swarm(1, "10 s", "routing = \"olsr\"", &rest));
        assert_eq!(delivered(&result), 50_000, "{model}");
        assert!(result.paths.time_s.is_empty(), "{model}: nothing is on the air");
    }
}

#[test]
fn five_hundred_silent_nodes_change_nothing() {
    let rest = "area = [\"1000 m\", \"1000 m\", \"30 m\"]\nflows = 1\nflow = { transfer = \"100 kB\" }\n\
                placement = { kind = \"grid\", spacing = \"40 m\", height = \"10 m\" }\n";
    for protocol in ["oracle", "static", "aodv"] {
        let text = swarm(500, "30 s", &format!("routing = {protocol:?}"), rest);
        let text = text.replacen("area = [\"100 m\", \"100 m\", \"30 m\"]\n", "", 1);
        let result = run(&text);
        assert_eq!(result.summary.interfaces.len(), 500);
        if protocol != "aodv" {
            assert_eq!(delivered(&result), 100_000, "{protocol}");
            let silent = result.summary.interfaces.iter().filter(|radio| radio.sent_frames == 0).count();
            assert!(silent > 400, "{protocol}: {silent} of 500 send nothing");
        }
    }
}

#[test]
fn a_medium_without_nodes_is_silent() {
    let medium = "\n[[media]]\nname = \"spare\"\n";
    let result = run(&swarm(4, "5 s", "power = \"40 dBm\"", &format!("flows = 2\n{medium}")));
    assert_eq!(result.summary.interfaces.len(), 4);
    assert!(delivered(&result) > 0);
}

/// Runs a flow along a row of four nodes, of which each reaches only its neighbours.
fn row(medium: &str, flow: &str) -> RunResult {
    let nodes: String = (0..4)
        .map(|at| format!("[[nodes]]\nname = \"n{at}\"\nat = [\"{} m\", \"0 m\", \"10 m\"]\n", 40 * at))
        .collect();
    let rates = "rate = \"24 Mbit/s\"\nbroadcast_rate = \"24 Mbit/s\"\ndetection = \"-101 dBm\"";
    run(&format!(
        "duration = \"30 s\"\n[[media]]\n{rates}\n{medium}\n{nodes}[[flows]]\nfrom = \"n0\"\nto = \"n3\"\n{flow}\n"
    ))
}

#[test]
fn a_route_is_found_after_two_rings() {
    let medium = "routing = { protocol = \"aodv\", hello = \"off\" }";
    let result = row(medium, "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"80 kbit/s\" }");
    // The ring of one hop takes 240 ms; then each of two relays waits for up to 10 ms (docs/models/routing.md).
    let first = result.paths.time_s[0];
    assert!((0.240..0.275).contains(&first), "{first} s");
    assert_eq!(result.paths.hops[0], 3);
}

#[test]
fn relays_resolve_addresses_simultaneously() {
    for protocol in ["static", "oracle", "aodv"] {
        let result = row(&format!("arp = \"ns3\"\nrouting = {protocol:?}"), "transfer = \"100 kB\"");
        let finish = result.summary.flows[0].finish_s;
        assert!(finish.is_some_and(|finish| finish < 3.0), "{protocol}: {finish:?}");
    }
}

/// Returns the goodput in Mbit/s of a transfer for 5 s between two nodes 10 m apart, with these settings of the medium.
fn one_hop(medium: &str) -> f64 {
    let rest = "placement = { kind = \"line\", spacing = \"10 m\", height = \"10 m\" }\nflows = 1\n";
    let result = run(&swarm(2, "5 s", &format!("routing = \"oracle\", {medium}"), rest));
    let radio = &result.summary.interfaces[0];
    assert_eq!(radio.dropped_retry, 0, "{medium}: {radio:?}");
    delivered(&result) as f64 * 8.0 / 5e6
}

#[test]
fn tcp_gains_from_aggregation_classes_and_control_of_rates() {
    let single = one_hop("rate = \"mcs7\", aggregation = 0");
    let together = one_hop("rate = \"mcs7\"");
    // A packet of 1500 B and its ACK take 650 µs one by one; 28 packets in an A-MPDU share all but 190 µs of each.
    assert!((15.0..30.0).contains(&single), "{single} Mbit/s");
    assert!(together > 1.6 * single, "{together} beside {single} Mbit/s");
    for control in ["arf", "ideal", "minstrel-ht"] {
        let controlled = one_hop(&format!("rate_control = {control:?}"));
        assert!(controlled > 0.8 * together, "{control}: {controlled} beside {together} Mbit/s");
    }
    let voice = one_hop("rate = \"mcs7\", aggregation = 0, access_class = \"voice\"");
    assert!(voice > 1.2 * single, "{voice} beside {single} Mbit/s");
}

/// Returns the delivered bytes of two UDP flows from two nodes to a third one. Each flow offers more than the channel
/// can carry. `medium` and `flows` are further keys.
fn rivals(medium: &str, flows: [&str; 2]) -> [f64; 2] {
    let nodes: String =
        (0..3).map(|at| format!("[[nodes]]\nname = \"n{at}\"\nat = [\"{} m\", \"0 m\", \"10 m\"]\n", 5 * at)).collect();
    let flow = |from: usize, keys: &str| {
        format!(
            "[[flows]]\nfrom = \"n{from}\"\nto = \"n1\"\ntransport = \"udp\"\n\
             traffic = {{ kind = \"constant\", rate = \"30 Mbit/s\" }}\n{keys}\n"
        )
    };
    let [first, second] = [flow(0, flows[0]), flow(2, flows[1])];
    let result = run(&format!(
        "duration = \"5 s\"\n[[media]]\nrouting = \"oracle\"\naggregation = 0\n{medium}\n{nodes}{first}{second}"
    ));
    [0, 1].map(|flow| result.summary.flows[flow].delivered_bytes as f64)
}

#[test]
fn the_code_point_of_a_flow_chooses_its_access_class() {
    let plain = rivals("", ["", ""]);
    assert!((0.9..1.1).contains(&(plain[0] / plain[1])), "{plain:?}");
    // The last slot of a voice backoff, 2 + 3, is before the first of background, 7.
    for (voice, background) in [("dscp = \"EF\"", "dscp = \"CS1\""), ("dscp = 44", "dscp = 1")] {
        let goodputs = rivals("", [voice, background]);
        assert!(goodputs[0] > 20.0 * goodputs[1], "{voice} beside {background}: {goodputs:?}");
        let goodputs = rivals("", [background, voice]);
        assert!(goodputs[1] > 20.0 * goodputs[0], "{background} beside {voice}: {goodputs:?}");
    }
    // A flow without a code point has the class of the radio; a flow with one does not, even if that is 0.
    let goodputs = rivals("access_class = \"voice\"", ["", "dscp = \"CS0\""]);
    assert!(goodputs[0] > 3.0 * goodputs[1], "{goodputs:?}");
    let goodputs = rivals("access_class = \"background\"", ["dscp = \"AF41\"", ""]);
    assert!(goodputs[0] > 10.0 * goodputs[1], "{goodputs:?}");
    // The parameters of a class can be changed: here voice parameters for background, and no burst.
    let swapped = "edca = { background = { aifsn = 2, cw_min = 3, cw_max = 7 }, voice = { txop = \"0 s\" } }";
    let goodputs = rivals(swapped, ["dscp = \"EF\"", "dscp = \"CS1\""]);
    assert!((0.9..1.1).contains(&(goodputs[0] / goodputs[1])), "{goodputs:?}");
    // DCF has no classes.
    let goodputs = rivals("standard = \"802.11a\"", ["dscp = \"EF\"", "dscp = \"CS1\""]);
    assert!((0.9..1.1).contains(&(goodputs[0] / goodputs[1])), "{goodputs:?}");
}

#[test]
fn radios_report_their_queues_classes_and_aggregates() {
    // One flow of 1 packet per ms, each sent before the next one arrives: by Little's law the mean is the time of each
    // over 1 ms.
    let paced = "traffic = { kind = \"constant\", rate = \"8 Mbit/s\", size = \"1000 B\" }";
    let idle = "traffic = { kind = \"constant\", rate = \"8 kbit/s\", size = \"1000 B\" }";
    let text = |medium: &str, first: &str, second: &str| {
        let nodes: String = (0..2)
            .map(|at| format!("[[nodes]]\nname = \"n{at}\"\nat = [\"{} m\", \"0 m\", \"10 m\"]\n", 5 * at))
            .collect();
        let flow = |keys: &str| format!("[[flows]]\nfrom = \"n0\"\nto = \"n1\"\ntransport = \"udp\"\n{keys}\n");
        let flows = [first, second].map(flow).concat();
        format!("duration = \"5 s\"\n[[media]]\nrouting = \"oracle\"\n{medium}\n{nodes}{flows}")
    };
    let quiet = run(&text("standard = \"802.11a\"", paced, idle));
    let radio = &quiet.summary.interfaces[0];
    // 1066 B of IP, LLC and MAC at 24 Mbit/s take 380 µs, SIFS and ACK 44 µs; a frame on an idle medium is sent
    // immediately.
    let expected = 1001.0 / 1000.0 * 0.424;
    assert!((radio.mean_queue_packets / expected - 1.0).abs() < 0.02, "{} beside {expected}", radio.mean_queue_packets);
    assert_eq!((radio.aggregates, radio.mpdus_per_aggregate), (0, None));
    assert!(radio.best_effort.is_none() && radio.voice.as_deref().is_none());
    let receiver = &quiet.summary.interfaces[1];
    assert_eq!((receiver.mean_queue_packets, receiver.max_queue_packets), (0.0, 0));

    // Two flows that fill a queue of 500 each: 40 full frames of 802.11n in 65,535 B.
    let [first, second] = ["EF", "CS1"].map(|dscp| {
        format!("traffic = {{ kind = \"constant\", rate = \"100 Mbit/s\", size = \"1472 B\" }}\ndscp = {dscp:?}")
    });
    let full = run(&text("rate = \"HtMcs7\"\nlifetime = \"10 s\"", &first, &second));
    let radio = &full.summary.interfaces[0];
    let [voice, background] = [radio.voice.as_deref().unwrap(), radio.background.as_deref().unwrap()];
    assert!(radio.best_effort.is_none() && radio.video.is_none());
    assert_eq!(voice.sent_frames + background.sent_frames, radio.sent_frames);
    assert!(voice.sent_frames > 10 * background.sent_frames, "{voice:?} beside {background:?}");
    for class in [voice, background] {
        assert_eq!(class.max_queue_packets, 500);
        assert!((450.0..=500.0).contains(&class.mean_queue_packets), "{class:?}");
    }
    let both = voice.mean_queue_packets + background.mean_queue_packets;
    assert!((radio.mean_queue_packets - both).abs() < 1e-9 && radio.max_queue_packets == 1000, "{radio:?}");
    // A burst of voice is 2.08 ms: 11 frames with their answer fit.
    let together = radio.mpdus_per_aggregate.unwrap();
    assert!((8.0..12.0).contains(&together) && radio.aggregates > 1000, "{radio:?}");
}

#[test]
fn a_swarm_without_flows_runs_to_its_end() {
    for protocol in Protocol::NAMES {
        for nodes in [1, 30] {
            let text = swarm(nodes, "20 s", &format!("routing = {protocol:?}"), "flows = 0\n");
            let result = run(&text);
            assert_eq!(
                (result.summary.flows.len(), result.summary.interfaces.len()),
                (0, nodes as usize),
                "{protocol}"
            );
            assert!((result.summary.simulated_s - 20.0).abs() < 1e-9, "{protocol}: {} s", result.summary.simulated_s);
            let sent: u64 = result.summary.interfaces.iter().map(|radio| radio.sent_frames).sum();
            // Protocols with HELLOs or adverts send them even without neighbours; the others have no messages.
            let talks = !matches!(*protocol, "oracle" | "static");
            assert_eq!(sent > 0, talks, "{protocol}, {nodes} nodes: {sent} frames");
            assert!(result.paths.time_s.is_empty());
        }
    }
}

#[test]
fn five_hundred_nodes_without_flows_are_silent() {
    let rest = "area = [\"1000 m\", \"1000 m\", \"30 m\"]\nflows = 0\nmobility = \"gauss-markov\"\n";
    let text = swarm(500, "60 s", "routing = \"oracle\"", rest);
    let result = run(&text.replacen("area = [\"100 m\", \"100 m\", \"30 m\"]\n", "", 1));
    assert_eq!(result.summary.interfaces.len(), 500);
    assert!(result.summary.interfaces.iter().all(|radio| radio.sent_frames == 0 && radio.busy == 0.0));
}

/// Time when the third node of [`broken_chain`] is in reach again, in seconds.
const BACK: f64 = 15.07;

/// Runs a chain of four nodes over AODV. The third node is out of reach from 10.07 s to 15.07 s.
fn broken_chain(seed: u64, medium: &str, from: &str) -> RunResult {
    let path = "[[0, 80, 0, 10], [10, 80, 0, 10], [10.5, 80, 160, 10], [14.64, 80, 160, 10], [15.14, 80, 0, 10]]";
    let node = |at: usize| match at {
        2 => format!("mobility = {{ model = \"waypoints\", times = {path} }}"),
        _ => format!("at = [\"{} m\", \"0 m\", \"10 m\"]", 40 * at),
    };
    let nodes: String = (0..4).map(|at| format!("[[nodes]]\nname = \"n{at}\"\n{}\n", node(at))).collect();
    // A search takes up to 1.2 s, so that packets do not wait for a long one.
    let routing = "{ protocol = \"aodv\", hello = \"off\", net_diameter = 5, ttl_threshold = 3 }";
    run(&format!(
        "duration = \"25 s\"\nseed = {seed}\n[record]\ninterval = \"10 ms\"\n[[media]]\nrate = \"24 Mbit/s\"\n\
         broadcast_rate = \"24 Mbit/s\"\ndetection = \"-101 dBm\"\nrouting = {routing}\n{medium}\n{nodes}\
         [[links]]\nbetween = [\"server\", \"n0\"]\nrate = \"100 Mbit/s\"\ndelay = \"20 ms\"\n\
         [[flows]]\nfrom = {from:?}\nto = \"n3\"\ntcp = {{ receive_buffer = \"24 kB\" }}\n"
    ))
}

/// Measurements of a sender that resumes after the break.
struct Resumption {
    /// Seconds from the end of the break until the next arrival of data.
    after_s: f64,
    /// Window before the break, and window at the next arrival of data.
    windows: [f64; 2],
    /// Whether a timer expired before the next arrival of data.
    timed_out: bool,
}

fn resumption(result: &RunResult) -> Resumption {
    let trace = &result.trace;
    let row_at = |time: f64| trace.time_s.partition_point(|at| *at < time);
    let (before, back) = (row_at(10.0), row_at(BACK));
    let row = (back..trace.time_s.len()).find(|row| trace.delivered_bytes[*row] > trace.delivered_bytes[back]);
    let row = row.expect("data arrive again");
    Resumption {
        after_s: trace.time_s[row] - BACK,
        windows: [before, row].map(|row| trace.cwnd_segments[row]),
        timed_out: trace.phase[before..back].contains(&2),
    }
}

#[test]
fn senders_that_are_notified_of_their_route_resume_with_a_probe() {
    let (mut notified, mut alone, mut frozen) = (0.0, 0.0, 0);
    for (seed, from) in (1..=8).flat_map(|seed| ["n0", "server"].map(|from| (seed, from))) {
        let result = broken_chain(seed, "elfn = true", from);
        let with = resumption(&result);
        let case = format!("seed {seed}, from {from}");
        // A probe every 2 s, and a search of up to 1.2 s.
        assert!(with.after_s < 2.0 + 1.2, "{case}: {} s", with.after_s);
        // ACKs may lose their route before data do, and the sender receives no notification of that.
        if !with.timed_out {
            assert!((with.windows[0] - with.windows[1]).abs() < 1e-9, "{case}: {:?}", with.windows);
            frozen += 1;
        }
        let signals = result.summary.flows[0].signals.as_deref().expect("there are sources");
        let heeded = if from == "n0" { signals.local } else { signals.received };
        assert!(heeded >= 2 && signals.local + signals.received == heeded, "{case}: a break and its end, {signals:?}");
        assert_eq!((signals.sent, signals.ignored, signals.lost), (signals.received, 0, 0), "{case}");

        let result = broken_chain(seed, "", from);
        let without = resumption(&result);
        assert!(without.timed_out && result.summary.flows[0].signals.is_none(), "{case}");
        notified += with.after_s;
        alone += without.after_s;
    }
    println!("{frozen} of 16 keep their windows; after {:.2} s with, {:.2} s without", notified / 16.0, alone / 16.0);
    assert!(frozen > 8, "{frozen} of 16 keep their windows");
    assert!(alone > 1.5 * notified, "{alone} s without notification, {notified} s with it");
}

#[test]
fn a_proxy_at_a_gateway_splits_connections_over_the_air() {
    let rest = "placement = { kind = \"line\", spacing = \"20 m\", height = \"10 m\" }\nflows = 0\n\
                [[links]]\nbetween = [\"uav1\", \"server\"]\nrate = \"5 Mbit/s\"\ndelay = \"300 ms\"\n\
                [[proxies]]\nnode = \"uav1\"\nkind = \"split\"\nbuffer = \"1 MB\"\n\
                [[flows]]\nfrom = \"uav3\"\nto = \"server\"\ntransfer = \"200 kB\"\n\
                [[flows]]\nfrom = \"server\"\nto = \"uav2\"\ntransfer = \"200 kB\"\n";
    let result = run(&swarm(3, "60 s", "routing = \"aodv\"", rest));
    assert!(result.summary.flows.iter().all(|flow| flow.delivered_bytes == 200_000));
    let round_trips: Vec<f64> = result.summary.legs.iter().filter_map(|leg| leg.min_rtt_s).collect();
    let (air, space) = (0.0..0.02, 0.6..0.62);
    let [a, b, c, d] = round_trips[..] else { panic!("{round_trips:?}") };
    assert!(air.contains(&a) && space.contains(&b) && space.contains(&c) && air.contains(&d), "{round_trips:?}");
}
