//! Estimates before a run starts: of the memory that it takes at least, and of the disk space if its flows send all
//! they can.

use lightlag_core::{Bytes, Duration};
use lightlag_net::{LinkId, NodeId};
use lightlag_scenario::{CapturePlace, Flow, Hop, Network, Scenario, TraceMode, Traffic, Transport};
use std::collections::BTreeMap;

/// Bytes of memory of the parts of a world once its flows have started, with nothing recorded and short names.
/// `tests/estimate.rs` measures them. The most is taken when links stand both as the network describes them and in the world,
/// or later, when connections stand beside the links of the world.
struct Parts {
    /// A full-duplex link.
    link: u64,
    /// A node on a medium.
    radio: u64,
    /// A flow of TCP that has sent a segment.
    tcp: u64,
    /// A flow of UDP.
    udp: u64,
}

const WITH_THE_NETWORK: Parts = Parts { link: 440, radio: 5_265, tcp: 160, udp: 160 };
const WITH_CONNECTIONS: Parts = Parts { link: 257, radio: 5_265, tcp: 1_740, udp: 368 };

/// Bytes of a row in the tables of a results folder, compressed: `geo` and `dumbbell` have 39 in `trace`, 6 in `queue`, 26
/// in `acks` and 22 in `drops`.
const TRACE_ROW: f64 = 40.0;
const QUEUE_ROW: f64 = 6.0;
const ACK_ROW: f64 = 26.0;
const DROP_ROW: f64 = 22.0;
/// The same of a place of a node.
const POSITION_ROW: f64 = 25.0;
/// The same of a flow, of a link direction and of a radio in the summary.
const SUMMARY_ROW: f64 = 300.0;
/// Rows for each data packet, where a row is written at each change or drop: `geo` changes its window with every eighth
/// packet, and no flow loses more for long.
const CHANGES: f64 = 0.25;
const DROPS: f64 = 0.1;
/// Packets that a flow of TCP may send before it hears that others fill its links: four rounds of slow start from ten segments are
/// 150, and some are sent again.
const FIRST: f64 = 200.0;

/// Bytes of a block of pcapng around a packet, with its padding and its flags; and bytes of a comment.
const BLOCK: f64 = 48.0;
const COMMENT: f64 = 160.0;
/// Bytes of the header of a segment with timestamps, and of an ACK with a SACK block.
const HEADER: f64 = 32.0;
const ACK_HEADER: f64 = 44.0;

/// The memory that the network and the flows of a scenario take at least, once all of them have started.
pub fn least_memory(scenario: &Scenario) -> Bytes {
    let [tcp, udp] = [Transport::Tcp, Transport::Udp].map(|transport| scenario.flows_by(transport));
    let radios = scenario.radio_count();
    let sum = |each: Parts| {
        let parts = [(each.link, scenario.link_count()), (each.radio, radios), (each.tcp, tcp), (each.udp, udp)];
        let add = |sum: u64, (bytes, count): (u64, u64)| sum.saturating_add(bytes.saturating_mul(count));
        parts.into_iter().fold(0, add)
    };
    Bytes(sum(WITH_THE_NETWORK).max(sum(WITH_CONNECTIONS)))
}

/// The room that the results of a run may take on the disk. Every flow is taken to fill the slowest link or medium on its way,
/// its window, or the offer of its application, and no link to carry more than it can.
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

/// Rows of the recorded tables.
struct Rows {
    trace: f64,
    queue: f64,
    drops: f64,
    acks: f64,
    positions: f64,
}

/// Rows that a run may record if its flows send all they can.
fn rows(scenario: &Scenario, network: &Network, loads: &[Load]) -> Rows {
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
    Rows {
        trace,
        queue: if record.queue.is_on() { samples * network.links.len() as f64 } else { 0.0 },
        drops: if record.drops { DROPS * packets } else { 0.0 },
        acks: if record.acks { packets } else { 0.0 },
        positions: radios * (positions + 1) as f64,
    }
}

/// The number of samples of a table in a time.
fn samples(scenario: &Scenario, time: Duration) -> f64 {
    (time.as_nanos() / scenario.record.interval.as_nanos().max(1)) as f64
}

/// Bytes of memory of a row of each table while a run goes on: the widths of its columns, of queues if all of them differ.
const TRACE_MEMORY: f64 = 101.0;
const INTERNALS_MEMORY: f64 = 49.0;
const QUEUE_MEMORY: f64 = 28.0;
const DROP_MEMORY: f64 = 22.0;
const ACK_MEMORY: f64 = 61.0;
const POSITION_MEMORY: f64 = 36.0;

/// The memory of recorded tables: what they take in any case, and what they may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableMemory {
    /// Rows of samples that nothing prevents, if a flow sends until the run ends.
    pub least: Bytes,
    /// All rows if every flow sends all it can, and every link of a constellation is used from the start.
    pub most: Bytes,
}

/// The memory that the recorded tables of a run take, beside that of [`least_memory`].
pub fn table_memory(scenario: &Scenario, network: &Network) -> TableMemory {
    let rows = rows(scenario, network, &loads(network, scenario.duration));
    let trace_row = TRACE_MEMORY + if scenario.record.internals { INTERNALS_MEMORY } else { 0.0 };
    let most = trace_row * rows.trace
        + QUEUE_MEMORY * rows.queue
        + DROP_MEMORY * rows.drops
        + ACK_MEMORY * rows.acks
        + POSITION_MEMORY * rows.positions;
    let endless = |flow: &&Flow| flow.transport.has_connections() && flow.traffic.is_bulk() && flow.transfer.is_none();
    let end = lightlag_core::Instant::ZERO + scenario.duration;
    let sampled =
        network.flows.iter().filter(endless).map(|flow| samples(scenario, end.since(flow.start))).sum::<f64>();
    let goes_on = network.flows.iter().any(|flow| !flow.is_finite());
    let aloft = network.space.as_ref().map_or(0, |space| network.links.len() - space.dishes.0 as usize);
    let trace = if scenario.record.trace == TraceMode::Off { 0.0 } else { sampled };
    let queue = if scenario.record.queue.is_on() && goes_on {
        // A link of a constellation has no rows before its first packet.
        samples(scenario, scenario.duration) * idle_sample((network.links.len() - aloft) as f64)
    } else {
        0.0
    };
    TableMemory { least: Bytes((trace_row * trace + queue) as u64), most: Bytes(most as u64) }
}

/// Bytes of a sample of idle queues, which are packed: of few links the time and the number, and of many a few runs.
fn idle_sample(links: f64) -> f64 {
    const TIME_AND_NUMBER: f64 = 12.0;
    const RUNS: f64 = 96.0;
    (TIME_AND_NUMBER * links).min(RUNS)
}

/// Packets and their bytes at the network layer.
#[derive(Clone, Copy, Default)]
struct Amount {
    packets: f64,
    bytes: f64,
}

/// The packets that a flow may send, and those that may come back.
struct Load {
    data: Amount,
    acks: Amount,
}

/// The load of each flow.
fn loads(network: &Network, duration: Duration) -> Vec<Load> {
    let header = f64::from(network.ip.header());
    let mut slowest: BTreeMap<(NodeId, NodeId), f64> = BTreeMap::new();
    let load = |flow: &Flow| {
        let rate = *slowest.entry((flow.from, flow.to)).or_insert_with(|| slowest_rate(network, flow));
        let seconds = duration.as_secs_f64() - (flow.start.since(lightlag_core::Instant::ZERO)).as_secs_f64();
        let payload = (rate / 8.0 * seconds.max(0.0)).min(offered(network, flow, seconds.max(0.0)));
        let packets = libm::ceil(payload / segment(flow));
        let acks = if flow.transport.has_connections() { packets } else { 0.0 };
        Load {
            data: Amount { packets, bytes: payload + packets * (header + HEADER) },
            acks: Amount { packets: acks, bytes: acks * (header + ACK_HEADER) },
        }
    };
    network.flows.iter().map(load).collect()
}

/// Data packets that all flows send together. Flows of TCP share their links: beside what these carry and drop, each sends the
/// first packets of a connection at most.
fn packets(network: &Network, loads: &[Load], duration: Duration) -> f64 {
    let is_tcp = |load: &Load| load.acks.packets > 0.0;
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
    let sent = |(flow, load): (&Flow, &Load)| {
        let all = load.data.packets;
        if !is_tcp(load) {
            return all;
        }
        let least = way(flow).map(share).fold(1.0, f64::min);
        (least * all).max(FIRST.min(all))
    };
    network.flows.iter().zip(loads).map(sent).sum()
}

/// The rate in bit/s of the slowest link or medium on the way of a flow.
fn slowest_rate(network: &Network, flow: &Flow) -> f64 {
    let rate = |hop| match hop {
        Hop::Link(link) => Some(network.links[link.0 as usize].rate),
        Hop::Air(crossing) => network.rate_on_air(crossing),
        Hop::Sky([from, _]) => network.space.as_ref().map(|space| network.links[space.dishes.0 as usize + from].rate),
    };
    let way = network.way(flow.from, flow.to).unwrap_or_default();
    way.into_iter().filter_map(rate).map(|rate| rate.as_bps() as f64).fold(f64::INFINITY, f64::min)
}

/// Bytes of payload in a packet.
fn segment(flow: &Flow) -> f64 {
    let message = match &*flow.traffic {
        Traffic::Constant(constant) => constant.size.0,
        Traffic::OnOff(traffic) => traffic.size.0,
        _ => u64::MAX,
    };
    message.clamp(1, u64::from(flow.tcp.mss)) as f64
}

/// Bytes of payload that the application of a flow offers, or that its window lets out, in so many seconds.
fn offered(network: &Network, flow: &Flow, seconds: f64) -> f64 {
    let rate = match &*flow.traffic {
        Traffic::Constant(constant) => constant.rate.as_bps() as f64 / 8.0,
        Traffic::OnOff(traffic) => traffic.rate.as_bps() as f64 / 8.0,
        _ => f64::INFINITY,
    };
    let delay = |from, to| {
        let way = network.way(from, to).unwrap_or_default();
        let delay = |hop| match hop {
            Hop::Link(link) => network.links[link.0 as usize].delay.as_secs_f64(),
            Hop::Air(_) | Hop::Sky(_) => 0.0,
        };
        way.into_iter().map(delay).sum::<f64>()
    };
    let window = match flow.transport {
        // A proxy answers earlier.
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

/// Bytes of the captures: at each place what its flows may send there, and no more than its links can carry.
fn captures(network: &Network, loads: &[Load], duration: Duration) -> f64 {
    let Some(plan) = &network.captures else { return 0.0 };
    let mut seen = vec![Amount::default(); plan.places.len()];
    for ((flow, load), _) in network.flows.iter().zip(loads).zip(&plan.flows).filter(|(_, is_captured)| **is_captured) {
        for ([from, to], amount) in [([flow.from, flow.to], load.data), ([flow.to, flow.from], load.acks)] {
            let way = network.routes.at_start().path(from, to).unwrap_or_default();
            let crosses_sky = network.way(from, to).unwrap_or_default().iter().any(|hop| matches!(hop, Hop::Sky(_)));
            for (place, sum) in plan.places.iter().zip(&mut seen) {
                if passes(network, *place, from, &way) || crosses_sky && is_aloft(network, *place) {
                    sum.packets += amount.packets;
                    sum.bytes += amount.bytes;
                }
            }
        }
    }
    let each = BLOCK + if plan.comments { COMMENT } else { 0.0 };
    let file = |(place, seen): (&CapturePlace, Amount)| {
        let most = most(network, *place) * duration.as_secs_f64();
        let share = if seen.bytes > most { most / seen.bytes } else { 1.0 };
        share * (seen.bytes + each * seen.packets)
    };
    plan.places.iter().zip(seen).map(file).sum()
}

/// Whether packets on a way come to a place.
fn passes(network: &Network, place: CapturePlace, from: NodeId, way: &[LinkId]) -> bool {
    match place {
        CapturePlace::Link(link) => way.contains(&link),
        CapturePlace::Node(node) => {
            node == from
                || way.iter().any(|link| network.links.get(link.0 as usize).is_some_and(|link| link.to == node))
        }
        // No such way crosses a medium.
        CapturePlace::Interface(_) => false,
    }
}

/// Whether a place is in the sky: any packet that crosses it may come there.
fn is_aloft(network: &Network, place: CapturePlace) -> bool {
    network.space.as_ref().is_some_and(|space| match place {
        CapturePlace::Link(link) => link >= space.dishes,
        CapturePlace::Node(node) => node >= space.first || space.stations.contains(&node),
        CapturePlace::Interface(_) => false,
    })
}

/// Bits a second that packets on a medium hardly exceed.
const MOST_ON_AIR: f64 = 1e8;

/// Bytes a second that the links of a place carry at most.
fn most(network: &Network, place: CapturePlace) -> f64 {
    let bits = match place {
        CapturePlace::Link(link) => network.links[link.0 as usize].rate.as_bps() as f64,
        CapturePlace::Node(node) => {
            let at = network.links.iter().filter(|link| link.from == node || link.to == node);
            let on_air = network.media.iter().flat_map(|medium| &medium.members).filter(|member| member.node == node);
            at.map(|link| link.rate.as_bps() as f64).chain(on_air.map(|_| MOST_ON_AIR)).sum()
        }
        CapturePlace::Interface(_) => MOST_ON_AIR,
    };
    bits / 8.0
}
