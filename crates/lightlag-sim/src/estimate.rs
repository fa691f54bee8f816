//! Estimates before a run starts: its minimum memory, and the disk space that it needs if its flows send as much as
//! they can.

use crate::media::AnyMedium;
use lightlag_core::{Bytes, Duration};
use lightlag_net::{LinkId, NodeId};
use lightlag_scenario::{CapturePlace, Flow, Hop, Medium, Network, Scenario, TraceMode, Transport};
use std::collections::BTreeMap;

/// Memory in bytes that each part of a world takes once its flows have started, with nothing recorded and short names,
/// as measured by `tests/estimate.rs`. There are two peaks: when the links exist both in the description of the network
/// and in the world, and later when connections are added to the links.
struct MemoryParts {
    /// Memory of a full-duplex link.
    link: u64,
    /// Memory of a TCP flow that has sent a segment.
    tcp: u64,
    /// Memory of a QUIC flow that has sent a packet.
    quic: u64,
    /// Memory of a UDP flow.
    udp: u64,
}

const WITH_THE_NETWORK: MemoryParts = MemoryParts { link: 440, tcp: 160, quic: 200, udp: 160 };
const WITH_CONNECTIONS: MemoryParts = MemoryParts { link: 257, tcp: 1_740, quic: 9_800, udp: 368 };

/// Compressed bytes per row of the tables in a results directory, measured with the scenarios `geo` and `dumbbell`: 39
/// in `trace`, 6 in `queue`, 26 in `acks` and 22 in `drops`.
const TRACE_ROW: f64 = 40.0;
const QUEUE_ROW: f64 = 6.0;
const ACK_ROW: f64 = 26.0;
const DROP_ROW: f64 = 22.0;
/// Compressed bytes per sampled position of a node.
const POSITION_ROW: f64 = 25.0;
/// Bytes per flow, link direction and radio interface in the summary.
const SUMMARY_ROW: f64 = 300.0;
/// Rows per data packet, if each change of a sender or each drop is a row. In `geo` the window changes with every
/// eighth packet, and no flow has higher loss for long.
const CHANGES: f64 = 0.25;
const DROPS: f64 = 0.1;
/// Number of packets that a TCP flow may send before it detects that other flows fill its links: four rounds of slow
/// start from ten segments are 150, and some are retransmitted.
const FIRST: f64 = 200.0;

/// Size of the pcapng block around a packet, with padding and flags, in bytes; then the size of a comment.
const BLOCK: f64 = 48.0;
const COMMENT: f64 = 160.0;
/// Size of the records of a QUIC packet in the log of an endpoint, with the values of recovery after it, in bytes.
const LOG: f64 = 340.0;
/// Size of the header of a segment with timestamps, in bytes; then of an ACK with a SACK block.
const HEADER: f64 = 32.0;
const ACK_HEADER: f64 = 44.0;

/// Returns the minimum memory of the network and the flows of a scenario, once all of them have started.
pub fn least_memory(scenario: &Scenario) -> Bytes {
    let [tcp, quic, udp] =
        [Transport::Tcp, Transport::Quic, Transport::Udp].map(|transport| scenario.flows_by(transport));
    let stations = scenario.station_counts().into_iter();
    let stations = stations.map(|(medium, count)| AnyMedium::station_memory(&medium.kind).saturating_mul(count));
    let stations = stations.fold(0, u64::saturating_add);
    let sum = |each: MemoryParts| {
        let parts = [(each.link, scenario.link_count()), (each.tcp, tcp), (each.quic, quic), (each.udp, udp)];
        let add = |sum: u64, (bytes, count): (u64, u64)| sum.saturating_add(bytes.saturating_mul(count));
        parts.into_iter().fold(stations, add)
    };
    Bytes(sum(WITH_THE_NETWORK).max(sum(WITH_CONNECTIONS)))
}

/// Returns the maximum disk space of the results of a run. The estimate assumes that every flow is limited only by the
/// slowest link or medium on its path, its window or the load of its application, and that no link carries more than
/// its capacity.
pub fn results_size(scenario: &Scenario, network: &Network) -> Bytes {
    let loads = loads(network, scenario.duration);
    let rows = rows(scenario, network, &loads);
    let radios = network.media.iter().map(|medium| medium.members.len()).sum::<usize>() as f64;
    let (flows, links) = (network.flows.len() as f64, network.links.len() as f64);
    let tables = TRACE_ROW * rows.trace
        + QUEUE_ROW * rows.queue
        + DROP_ROW * rows.drops
        + ACK_ROW * rows.acks
        + POSITION_ROW * rows.positions;
    let summary = SUMMARY_ROW * (flows + links + radios);
    Bytes((summary + tables + captures(network, &loads, scenario.duration)) as u64)
}

/// Number of rows in each of the recorded tables.
struct RowCounts {
    trace: f64,
    queue: f64,
    drops: f64,
    acks: f64,
    positions: f64,
}

/// Returns the number of rows that a run records in each table if its flows send as much as they can.
fn rows(scenario: &Scenario, network: &Network, loads: &[PacketBounds]) -> RowCounts {
    let record = &scenario.record;
    let packets = packets(network, loads, scenario.duration);
    let samples = samples(scenario, scenario.duration);
    let senders = (loads.iter().filter(|load| load.acks.packets > 0.0).count() + network.splits.len()) as f64;
    let trace = match record.trace {
        TraceMode::Off => 0.0,
        TraceMode::Sampled => samples * senders,
        TraceMode::Change => samples * senders + CHANGES * packets,
    };
    let radios = network.media.iter().map(|medium| medium.members.len()).sum::<usize>() as f64;
    let positions = record.positions.map_or(0, |each| scenario.duration.as_nanos() / each.as_nanos().max(1));
    RowCounts {
        trace,
        queue: if record.queue.is_on() { samples * network.links.len() as f64 } else { 0.0 },
        drops: if record.drops { DROPS * packets } else { 0.0 },
        acks: if record.acks { packets } else { 0.0 },
        positions: radios * (positions + 1) as f64,
    }
}

/// Returns the number of samples that a table receives in this time.
fn samples(scenario: &Scenario, time: Duration) -> f64 {
    (time.as_nanos() / scenario.record.interval.as_nanos().max(1)) as f64
}

/// Memory per row of each table during a run in bytes: the total width of its columns. The value for queues assumes
/// that all values differ.
const TRACE_MEMORY: f64 = 101.0;
const INTERNALS_MEMORY: f64 = 49.0;
const QUEUE_MEMORY: f64 = 28.0;
const DROP_MEMORY: f64 = 22.0;
const ACK_MEMORY: f64 = 61.0;
const POSITION_MEMORY: f64 = 36.0;

/// Minimum and maximum memory of the recorded tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableMemory {
    /// Memory of the rows that are certain to be sampled, because a flow sends until the run ends.
    pub least: Bytes,
    /// Memory of all rows if every flow sends as much as it can, and every link of a constellation is used from the
    /// start.
    pub most: Bytes,
}

/// Returns the memory of the recorded tables of a run, in addition to [`least_memory`].
pub fn table_memory(scenario: &Scenario, network: &Network) -> TableMemory {
    let rows = rows(scenario, network, &loads(network, scenario.duration));
    let trace_row = TRACE_MEMORY + if scenario.record.internals { INTERNALS_MEMORY } else { 0.0 };
    let max = trace_row * rows.trace
        + QUEUE_MEMORY * rows.queue
        + DROP_MEMORY * rows.drops
        + ACK_MEMORY * rows.acks
        + POSITION_MEMORY * rows.positions;
    let endless = |flow: &&Flow| flow.transport.has_connections() && flow.traffic.is_bulk() && flow.transfer.is_none();
    let end = lightlag_core::Instant::ZERO + scenario.duration;
    let sampled =
        network.own_flows().iter().filter(endless).map(|flow| samples(scenario, end.since(flow.start))).sum::<f64>();
    let goes_on = network.own_flows().iter().any(|flow| !flow.is_finite());
    let aloft = network.space.as_ref().map_or(0, |space| network.links.len() - space.dishes.0 as usize);
    let trace = if scenario.record.trace == TraceMode::Off { 0.0 } else { sampled };
    let queue = if scenario.record.queue.is_on() && goes_on {
        // A link of a constellation has no rows before its first packet.
        samples(scenario, scenario.duration) * idle_sample((network.links.len() - aloft) as f64)
    } else {
        0.0
    };
    TableMemory { least: Bytes((trace_row * trace + queue) as u64), most: Bytes(max as u64) }
}

/// Returns the size of a sample of idle queues in bytes. Samples are packed: for few links, each has a time and an
/// index; for many links, runs of equal values are stored.
fn idle_sample(links: f64) -> f64 {
    const TIME_AND_NUMBER: f64 = 12.0;
    const RUNS: f64 = 96.0;
    (TIME_AND_NUMBER * links).min(RUNS)
}

/// Number of packets, and their bytes at the network layer.
#[derive(Clone, Copy, Default)]
struct Amount {
    packets: f64,
    bytes: f64,
}

/// Upper bounds for the data packets of a flow, and for the ACKs that return.
struct PacketBounds {
    data: Amount,
    acks: Amount,
}

/// Returns the packet bounds of each flow.
fn loads(network: &Network, duration: Duration) -> Vec<PacketBounds> {
    let header = f64::from(network.ip.header());
    let mut slowest: BTreeMap<(NodeId, NodeId), f64> = BTreeMap::new();
    let load = |flow: &Flow| {
        let rate = *slowest.entry((flow.from, flow.to)).or_insert_with(|| slowest_rate(network, flow));
        let seconds = duration.as_secs_f64() - (flow.start.since(lightlag_core::Instant::ZERO)).as_secs_f64();
        let payload = (rate / 8.0 * seconds.max(0.0)).min(offered(network, flow, seconds.max(0.0)));
        let packets = libm::ceil(payload / segment(flow));
        let acks = if flow.transport.has_connections() { packets } else { 0.0 };
        PacketBounds {
            data: Amount { packets, bytes: payload + packets * (header + HEADER) },
            acks: Amount { packets: acks, bytes: acks * (header + ACK_HEADER) },
        }
    };
    network.flows.iter().map(load).collect()
}

/// Returns the number of data packets of all flows. TCP flows share their links, so the total is limited by what the
/// links carry and drop. In addition, each flow may send the first packets of a connection.
fn packets(network: &Network, loads: &[PacketBounds], duration: Duration) -> f64 {
    let is_tcp = |load: &PacketBounds| load.acks.packets > 0.0;
    let way = |flow: &Flow| {
        let links = |hop| match hop {
            Hop::Link(link) => Some(link.0 as usize),
            Hop::Air(_) | Hop::Sky(_) => None,
        };
        network.way(flow.from, flow.to).unwrap_or_default().into_iter().filter_map(links)
    };
    let mut offered = vec![0.0; network.links.len()];
    for (flow, load) in network.flows.iter().zip(loads).filter(|(_, load)| is_tcp(load)) {
        way(flow).for_each(|link| offered[link] += load.data.bytes);
    }
    let share = |link: usize| {
        let carried = network.links[link].rate.as_bps() as f64 / 8.0 * duration.as_secs_f64();
        (1.0 + DROPS) * carried / offered[link]
    };
    let sent = |(flow, load): (&Flow, &PacketBounds)| {
        let all = load.data.packets;
        if !is_tcp(load) {
            return all;
        }
        let least = way(flow).map(share).fold(1.0, f64::min);
        (least * all).max(FIRST.min(all))
    };
    network.flows.iter().zip(loads).map(sent).sum()
}

/// Returns the rate in bit/s of the slowest link or medium on the path of a flow.
fn slowest_rate(network: &Network, flow: &Flow) -> f64 {
    let rate = |hop| match hop {
        Hop::Link(link) => Some(network.links[link.0 as usize].rate),
        Hop::Air(crossing) => network.rate_on_air(crossing),
        Hop::Sky([from, _]) => network.space.as_ref().map(|space| network.links[space.dishes.0 as usize + from].rate),
    };
    let way = network.way(flow.from, flow.to).unwrap_or_default();
    way.into_iter().filter_map(rate).map(|rate| rate.as_bps() as f64).fold(f64::INFINITY, f64::min)
}

/// Returns the payload of a full packet of a flow in bytes.
fn segment(flow: &Flow) -> f64 {
    let message = flow.traffic.stream().map_or(u64::MAX, |stream| stream.size.0);
    let full = flow.quic.as_ref().map_or(flow.tcp.mss, |ends| ends.sender.datagram);
    message.clamp(1, full.into()) as f64
}

/// Returns the payload in bytes that the application of a flow offers in `seconds`, or that its window allows.
fn offered(network: &Network, flow: &Flow, seconds: f64) -> f64 {
    let rate = flow.traffic.stream().map_or(f64::INFINITY, |stream| stream.rate.as_bps() as f64 / 8.0);
    let delay = |from, to| {
        let way = network.way(from, to).unwrap_or_default();
        let delay = |hop| match hop {
            Hop::Link(link) => network.links[link.0 as usize].delay.as_secs_f64(),
            Hop::Air(_) | Hop::Sky(_) => 0.0,
        };
        way.into_iter().map(delay).sum::<f64>()
    };
    let window = match flow.transport {
        // A proxy acknowledges earlier.
        Transport::Tcp if network.splits.is_empty() => {
            let round_trip = delay(flow.from, flow.to) + delay(flow.to, flow.from);
            if round_trip > 0.0 {
                flow.receiver_tcp.receive_buffer.0 as f64 * (1.0 + seconds / round_trip)
            } else {
                f64::INFINITY
            }
        }
        _ => f64::INFINITY,
    };
    let transfer = flow.transfer.map_or(f64::INFINITY, |bytes| bytes.0 as f64);
    (rate * seconds).min(window).min(transfer)
}

/// Estimates the size of the captures in bytes: at each capture point, the packets that its flows may send through it,
/// limited by the capacity of its links.
fn captures(network: &Network, loads: &[PacketBounds], duration: Duration) -> f64 {
    let Some(plan) = &network.captures else { return 0.0 };
    let mut seen = vec![Amount::default(); plan.places.len()];
    let mut logged = vec![0.0; plan.places.len()];
    for ((flow, load), _) in network.flows.iter().zip(loads).zip(&plan.flows).filter(|(_, is_captured)| **is_captured) {
        for ([from, to], amount) in [([flow.from, flow.to], load.data), ([flow.to, flow.from], load.acks)] {
            let way = network.routes.at_start().path(from, to).unwrap_or_default();
            let crosses_sky = network.way(from, to).unwrap_or_default().iter().any(|hop| matches!(hop, Hop::Sky(_)));
            for ((place, sum), logged) in plan.places.iter().zip(&mut seen).zip(&mut logged) {
                let is_end = [flow.from, flow.to].map(CapturePlace::Node).contains(place);
                if plan.comments && is_end && flow.transport == Transport::Quic {
                    *logged += amount.packets;
                }
                if passes(network, *place, from, &way) || crosses_sky && is_aloft(network, *place) {
                    sum.packets += amount.packets;
                    sum.bytes += amount.bytes;
                }
            }
        }
    }
    let each = BLOCK + if plan.comments { COMMENT } else { 0.0 };
    let file = |((place, seen), logged): ((&CapturePlace, Amount), f64)| {
        let most = most(network, *place) * duration.as_secs_f64();
        let share = if seen.bytes > most { most / seen.bytes } else { 1.0 };
        share * (seen.bytes + each * seen.packets + LOG * logged)
    };
    plan.places.iter().zip(seen).zip(logged).map(file).sum()
}

/// Returns true if packets that take the path `way` from the node `from` pass a capture point.
fn passes(network: &Network, capture_place: CapturePlace, from: NodeId, way: &[LinkId]) -> bool {
    match capture_place {
        CapturePlace::Link(link) => way.contains(&link),
        CapturePlace::Node(node) => {
            node == from
                || way.iter().any(|link| network.links.get(link.0 as usize).is_some_and(|link| link.to == node))
        }
        // None of these paths crosses a medium.
        CapturePlace::Interface(_) => false,
    }
}

/// Returns true if a capture point is in a constellation. Any packet that crosses the constellation may pass it.
fn is_aloft(network: &Network, capture_place: CapturePlace) -> bool {
    network.space.as_ref().is_some_and(|space| match capture_place {
        CapturePlace::Link(link) => link >= space.dishes,
        CapturePlace::Node(node) => node >= space.first || space.stations.contains(&node),
        CapturePlace::Interface(_) => false,
    })
}

/// Returns the capacity of the links at a capture point in bytes per second.
fn most(network: &Network, capture_place: CapturePlace) -> f64 {
    let bits = match capture_place {
        CapturePlace::Link(link) => network.links[link.0 as usize].rate.as_bps() as f64,
        CapturePlace::Node(node) => {
            let attached = network.links.iter().filter(|link| link.from == node || link.to == node);
            let has_node = |medium: &&Medium| medium.members.iter().any(|member| member.node == node);
            let on_air = network.media.iter().filter(has_node).map(|medium| medium.plan.busiest_rate());
            attached.map(|link| link.rate).chain(on_air).map(|rate| rate.as_bps() as f64).sum()
        }
        CapturePlace::Interface(interface) => {
            let mut media = network.media.iter().flat_map(|medium| medium.members.iter().map(move |_| medium));
            media.nth(interface.index()).map_or(0.0, |medium| medium.plan.busiest_rate().as_bps() as f64)
        }
    };
    bits / 8.0
}
