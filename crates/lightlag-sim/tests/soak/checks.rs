//! Invariants that every run must satisfy.

use lightlag_core::Duration;
use lightlag_scenario::{Flow, Network, Reader, Scenario, Transport};
use lightlag_sim::RunResult;
use lightlag_sim::estimate::{least_memory, results_size};
use lightlag_sim::results::FlowSummary;
use lightlag_tcp::config::FastOpenUse;
use lightlag_traffic::{Periodic, Poisson, Traffic};

/// Maximum number of events in a run.
pub const MOST: u64 = 50_000_000;

/// Maximum transmission time of a frame in seconds: 9,000 B at 6 Mbit/s with a preamble.
const LONGEST_FRAME: f64 = 0.0125;

/// Asserts all invariants of a run. `finite`: every flow ends by itself.
pub fn all(result: &RunResult, finite: bool) {
    let scenario = &result.summary.scenario;
    let network = scenario.expand().unwrap();
    assert!(!result.interrupted, "{} events and no end", result.summary.events);
    for (flow, configured) in result.summary.flows.iter().zip(&network.flows) {
        arrived(flow, configured);
    }
    if finite {
        // A run ends before its duration when every flow has finished or was aborted.
        let (end, duration) = (result.summary.simulated_s, scenario.duration.as_secs_f64());
        let says = |(flow, configured): (&FlowSummary, &Flow)| {
            // A run does not wait for datagrams, nor for a connection that a browser did not need.
            !configured.is_finite() || flow.finish_s.is_some() != flow.failure.is_some()
        };
        let is_finite = network.flows.iter().any(Flow::is_finite);
        let ended = (end < duration || !is_finite) && result.summary.flows.iter().zip(&network.flows).all(says);
        assert!(ended, "neither finished nor aborted: {:#?}", result.summary.flows);
    }
    trace(result, &network);
    let (events, expected) = (result.summary.events, expected_events(result));
    assert!(events <= expected, "{events} events where {expected} are explained: {:#?}", result.summary);
}

/// Asserts all invariants of a swarm. The run itself asserts at its end that packets are conserved, including those on
/// the air.
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
        // The last frame counts with its entire airtime.
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
            assert_eq!(paths.node[row], flow.from.0, "row {row}: a path starts at the sender");
        }
        if paths.hop.get(row + 1).is_none_or(|next| *next == 0) {
            assert_eq!(paths.node[row], flow.to.0, "row {row}: a path ends at the receiver");
        }
    }
}

/// Asserts all invariants of a constellation. The run itself asserts at its end that packets are conserved.
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

/// Asserts that warnings and estimates can be computed for a scenario, and are plausible.
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
    // Whether it is possible depends on the links.
    drop(scenario.changes_for_rtt(Duration::from_millis(100)));
}

/// Asserts that each byte arrives once and in order. The delivered bytes are counted by their offset in the stream.
fn arrived(flow: &FlowSummary, configured: &Flow) {
    if flow.datagrams.is_some() {
        return datagrams(flow, configured);
    }
    if !configured.traffic.is_bulk() {
        assert!(configured.transfer.is_none_or(|all| flow.delivered_bytes <= all.0), "more than was sent: {flow:#?}");
        return;
    }
    let transfer = configured.transfer.map(|bytes| bytes.0);
    let reached = flow.delivered_bytes + flow.holes.as_deref().map_or(0, |holes| holes.bytes);
    match flow.finish_s {
        Some(_) => assert_eq!(Some(reached), transfer, "finished with all its bytes: {flow:#?}"),
        // Data in transit when its sender aborted may still arrive.
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
        let is_seen = network.flows[flow].configs().all(|tcp| tcp.fast_open == FastOpenUse::Off);
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

/// Returns the maximum number of events that packets, applications and time can explain.
pub fn expected_events(result: &RunResult) -> u64 {
    let scenario = &result.summary.scenario;
    let network = scenario.expand().unwrap();
    let s = &result.summary;
    let copies: u64 = s.links.iter().map(|link| link.duplicated).sum();
    // Events per packet on a link: departure from the queue, and arrival. Events per packet at an endpoint: a timer set
    // for it, and one that paces it.
    let repair: u64 = s.links.iter().map(|link| link.repair_packets).sum();
    let packets = 4 * (s.packet_hops + copies + repair);
    let times = |every: Duration| (s.simulated_s / every.as_secs_f64()) as u64 + 1;
    let by_time = |flow: &Flow| {
        let reads = match flow.reader {
            Some(Reader::Bursts { every, .. }) => times(every),
            _ => 0,
        };
        // While data is in flight an endpoint checks after each idle time, without a probe.
        let idle: u64 = flow.configs().filter_map(|tcp| tcp.keep_alive).map(|keep| 2 * times(keep.idle)).sum();
        reads + idle + writes(&flow.traffic)
    };
    let opening_and_closing = 10;
    let flows: u64 = network.flows.iter().map(|flow| by_time(flow) + opening_and_closing).sum();
    packets + flows + times(scenario.record.interval)
}

/// Asserts that the results of a UDP flow are consistent.
fn datagrams(flow: &FlowSummary, configured: &Flow) {
    let datagrams = flow.datagrams.as_deref().unwrap();
    assert!(configured.transport == Transport::Udp && flow.finish_s.is_none() && flow.retransmitted_segments == 0);
    assert_eq!(datagrams.mean_delay_s.is_some(), datagrams.received > 0, "{flow:#?}");
    assert!(flow.delivered_bytes >= datagrams.received, "each has a byte: {flow:#?}");
}

/// Returns the maximum number of timer events of an application that writes.
fn writes(traffic: &Traffic) -> u64 {
    match traffic {
        Traffic::Constant(_) | Traffic::OnOff(_) => 200_000 / 20 + 1,
        Traffic::Periodic(Periodic { count, .. }) | Traffic::Poisson(Poisson { count, .. }) => count.unwrap_or(0) + 1,
        Traffic::Burst(burst) => burst.count.unwrap_or(0) + 1,
        // The think time, and the time of the server, for each object.
        Traffic::Requests(requests) => 2 * requests.count.unwrap_or(0) + 2,
        Traffic::Web(web) => 2 * web.count.unwrap_or(0) * 21 + 2,
        // A sink writes when a message arrives, which is a separate event.
        Traffic::Bulk(_) | Traffic::Transfers(_) | Traffic::Collect(_) => 0,
        other => panic!("no generated scenario has {other:?}"),
    }
}
