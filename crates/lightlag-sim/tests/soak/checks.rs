//! What must hold.

use lightlag_core::Duration;
use lightlag_scenario::{Flow, Network, Periodic, Poisson, Reader, Scenario, Traffic, Transport};
use lightlag_sim::RunResult;
use lightlag_sim::estimate::{least_memory, results_size};
use lightlag_sim::results::FlowSummary;
use lightlag_tcp::config::FastOpen;

/// No scenario needs so many events.
pub const MOST: u64 = 50_000_000;

/// Seconds that the longest frame takes: 9,000 B at 6 Mbit/s and its preamble.
const LONGEST_FRAME: f64 = 0.0125;

/// Asserts everything. `finite`: every flow has an end.
pub fn all(result: &RunResult, finite: bool) {
    let scenario = &result.summary.scenario;
    let network = scenario.expand().unwrap();
    assert!(!result.interrupted, "{} events and no end", result.summary.events);
    for (flow, asked) in result.summary.flows.iter().zip(&network.flows) {
        arrived(flow, asked);
    }
    if finite {
        // A run ends before its duration when every flow has finished or was given up.
        let (end, duration) = (result.summary.simulated_s, scenario.duration.as_secs_f64());
        let says = |(flow, asked): (&FlowSummary, &Flow)| {
            // Nobody waits for datagrams, nor for a connection that a browser did not need.
            !asked.is_finite() || flow.finish_s.is_some() != flow.failure.is_some()
        };
        let is_finite = network.flows.iter().any(Flow::is_finite);
        let ended = (end < duration || !is_finite) && result.summary.flows.iter().zip(&network.flows).all(says);
        assert!(ended, "neither finished nor given up: {:#?}", result.summary.flows);
    }
    trace(result, &network);
    let (events, expected) = (result.summary.events, expected_events(result));
    assert!(events <= expected, "{events} events where {expected} are explained: {:#?}", result.summary);
}

/// Asserts everything of a swarm. That packets are conserved, also on the air, the run itself asserts at its end.
pub fn swarm(result: &RunResult) {
    let scenario = &result.summary.scenario;
    let network = scenario.expand().unwrap();
    assert!(!result.interrupted, "{} events and no end", result.summary.events);
    for (flow, asked) in result.summary.flows.iter().zip(&network.flows) {
        arrived(flow, asked);
    }
    trace(result, &network);
    about(scenario, &network);
    for radio in &result.summary.interfaces {
        assert!((0.0..=1.0).contains(&radio.busy) && radio.retries <= radio.sent_frames, "{radio:#?}");
        // The last frame counts with all of its airtime.
        let sent = radio.unicast_airtime_s + radio.broadcast_airtime_s + radio.control_airtime_s;
        assert!(sent <= radio.busy * result.summary.simulated_s + LONGEST_FRAME, "{radio:#?}");
    }
    let positions = &result.positions;
    let places = [&positions.x_m, &positions.y_m, &positions.z_m];
    assert!(places.into_iter().flatten().all(|metres| metres.is_finite()), "a node is nowhere");
    let paths = &result.paths;
    for row in 0..paths.time_s.len() {
        let hops = paths.hops[row];
        assert!(hops > 0 && paths.hop[row] <= hops, "row {row}: {} of {hops} hops", paths.hop[row]);
        let flow = &network.flows[paths.flow[row] as usize];
        if paths.hop[row] == 0 {
            assert_eq!(paths.node[row], flow.from.0, "row {row}: a way starts at the sender");
        }
        if paths.hop.get(row + 1).is_none_or(|next| *next == 0) {
            assert_eq!(paths.node[row], flow.to.0, "row {row}: a way ends at the receiver");
        }
    }
}

/// Asserts everything of a constellation. That packets are conserved the run itself asserts at its end.
pub fn sky(result: &RunResult) {
    let scenario = &result.summary.scenario;
    let network = scenario.expand().unwrap();
    assert!(!result.interrupted, "{} events and no end", result.summary.events);
    for (flow, asked) in result.summary.flows.iter().zip(&network.flows) {
        arrived(flow, asked);
    }
    trace(result, &network);
    about(scenario, &network);
    let paths = &result.paths;
    for row in 0..paths.time_s.len() {
        assert!(paths.hop[row] <= paths.hops[row], "row {row}: hop {} of {}", paths.hop[row], paths.hops[row]);
    }
}

/// What is said of a scenario before it runs can be said of any.
fn about(scenario: &Scenario, network: &Network) {
    for warning in scenario.warnings(network) {
        let said = warning.to_string();
        assert!(!said.contains("NaN") && !said.contains("inf "), "{said}");
    }
    let (disk, memory) = (results_size(scenario, network).0, least_memory(scenario).0);
    assert!((1..1 << 50).contains(&disk) && (1..1 << 40).contains(&memory), "{disk} B and {memory} B");
    for way in network.rerouted() {
        assert!(way.nodes.is_none_or(|nodes| nodes.len() > 1));
    }
    // Whether it can be done or not depends on the links.
    drop(scenario.changes_for_rtt(Duration::from_millis(100)));
}

/// Each byte once and in order: what the receiver passes on is counted by its place in the stream.
fn arrived(flow: &FlowSummary, asked: &Flow) {
    if flow.datagrams.is_some() {
        return datagrams(flow, asked);
    }
    if !asked.traffic.is_bulk() {
        assert!(asked.transfer.is_none_or(|all| flow.delivered_bytes <= all.0), "more than was sent: {flow:#?}");
        return;
    }
    let transfer = asked.transfer.map(|bytes| bytes.0);
    let reached = flow.delivered_bytes + flow.holes.as_deref().map_or(0, |holes| holes.bytes);
    match flow.finish_s {
        Some(_) => assert_eq!(Some(reached), transfer, "finished with all its bytes: {flow:#?}"),
        // What was on its way when its sender gave up may arrive nevertheless.
        None => assert!(transfer.is_none_or(|all| reached <= all), "more than was sent: {flow:#?}"),
    }
    assert!(flow.retransmitted_segments <= flow.sent_segments, "{flow:#?}");
}

fn trace(result: &RunResult, network: &Network) {
    let trace = &result.trace;
    for row in 0..trace.time_s.len() {
        let cwnd = trace.cwnd_segments[row];
        assert!(cwnd >= 1.0 - 1e-9, "row {row}: cwnd {cwnd}");
        let ssthresh = trace.ssthresh_segments[row];
        assert!(ssthresh.is_nan() || ssthresh >= 1.0, "row {row}: ssthresh {ssthresh}");
        let [acked, delivered, sent] = [trace.acked_bytes[row], trace.delivered_bytes[row], trace.sent_bytes[row]];
        let flow = trace.flow[row] as usize;
        // The byte that probes a closed window counts as sent once it is acknowledged, and so does data with a SYN.
        let is_seen = network.flows[flow].configs().all(|tcp| tcp.fast_open == FastOpen::Off);
        let unseen = if is_seen { 1 } else { u64::MAX / 2 };
        assert!(
            acked <= sent && delivered <= sent + unseen,
            "row {row}: acked {acked}, delivered {delivered}, sent {sent}"
        );
        if network.flows[flow].reader.is_none() && result.summary.flows[flow].holes.is_none() {
            assert!(acked <= delivered, "row {row}: acked {acked}, delivered {delivered}");
        }
    }
}

/// How many events can be explained by packets, applications and time.
pub fn expected_events(result: &RunResult) -> u64 {
    let scenario = &result.summary.scenario;
    let network = scenario.expand().unwrap();
    let s = &result.summary;
    let copies: u64 = s.links.iter().map(|link| link.duplicated).sum();
    // Of a packet on a link: it leaves the queue, it arrives. Of a packet at an end: a timer that was set for it and
    // one that paces it.
    let repair: u64 = s.links.iter().map(|link| link.repair_packets).sum();
    let packets = 4 * (s.packet_hops + copies + repair);
    let times = |every: Duration| (s.simulated_s / every.as_secs_f64()) as u64 + 1;
    let by_time = |flow: &Flow| {
        let reads = match flow.reader {
            Some(Reader::Bursts { every, .. }) => times(every),
            _ => 0,
        };
        // While data is in flight an end looks again after each idle time, without a probe.
        let idle: u64 = flow.configs().filter_map(|tcp| tcp.keep_alive).map(|keep| 2 * times(keep.idle)).sum();
        reads + idle + writes(&flow.traffic)
    };
    let opening_and_closing = 10;
    let flows: u64 = network.flows.iter().map(|flow| by_time(flow) + opening_and_closing).sum();
    packets + flows + times(scenario.record.interval)
}

/// What was sent was as much as was asked for, and no more arrived or was lost than there were.
fn datagrams(flow: &FlowSummary, asked: &Flow) {
    let found = flow.datagrams.as_deref().unwrap();
    assert!(asked.transport == Transport::Udp && flow.finish_s.is_none() && flow.retransmitted_segments == 0);
    assert_eq!(found.mean_delay_s.is_some(), found.received > 0, "{flow:#?}");
    assert!(flow.delivered_bytes >= found.received, "each has a byte: {flow:#?}");
}

/// How often an application wakes to write.
fn writes(traffic: &Traffic) -> u64 {
    match traffic {
        Traffic::Constant(_) | Traffic::OnOff(_) => 200_000 / 20 + 1,
        Traffic::Periodic(Periodic { count, .. }) | Traffic::Poisson(Poisson { count, .. }) => count.unwrap_or(0) + 1,
        Traffic::Burst(burst) => burst.count.unwrap_or(0) + 1,
        // Thinking, and the time of the server, for each object.
        Traffic::Requests(requests) => 2 * requests.count.unwrap_or(0) + 2,
        Traffic::Web(web) => 2 * web.count.unwrap_or(0) * 21 + 2,
        // A sink writes when a message comes, which is an event of its own.
        Traffic::Bulk | Traffic::Transfers(_) | Traffic::Collect(_) | Traffic::Own(_) => 0,
    }
}
