//! The path between the two ends of a connection: delay, rate and queue of one bottleneck.

use super::Vantage;
use crate::analysis::{Connection, Direction, Side};
use lightlag_core::Instant;
use serde::Serialize;

/// Bytes of the TCP header without options.
const TCP_HEADER: u32 = 20;
const TIMESTAMPS: u32 = 12;
/// Bytes of the options of a SYN with MSS, SACK, timestamps and window scale.
const SYN_OPTIONS: u32 = 20;
/// The MSS of a SYN without the option (RFC 9293 §3.7.1).
const DEFAULT_MSS: u16 = 536;
/// The least number of full segments over which a rate is measured.
const TRAIN: u64 = 10;

/// A path with one bottleneck.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Path {
    /// The shortest round trip, in seconds.
    pub base_rtt_s: f64,
    /// The round trip when the queue was longest, in seconds.
    pub max_rtt_s: f64,
    /// The rate at which IP packets came through; null if fewer than ten segments show it.
    pub rate_bps: Option<f64>,
    /// Full packets in the queue when it was longest; null without a rate, or if nothing shows the round trip at that
    /// time: at a receiver without timestamps and losses.
    pub queue_packets: Option<u64>,
    /// Propagation both ways in seconds, without the transmission of packets: the round trip of the handshake, or the
    /// shortest of data if that is less by more than a full packet.
    pub propagation_s: f64,
    /// Bytes of a full packet.
    pub full_packet: u32,
}

/// Properties of a path, as found in one walk through the packets of a connection.
pub(super) struct Times<'a> {
    /// Bytes that have arrived by a time.
    pub delivered: &'a [(Instant, u64)],
    /// Round trips from a hole to its repair, in seconds.
    pub repairs: &'a mut [f64],
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Payload of a full segment: the smaller MSS without the options of every segment (RFC 6691).
pub(super) fn full_segment(connection: &Connection) -> u32 {
    let mss = |direction: &Direction| direction.handshake.and_then(|handshake| handshake.mss).unwrap_or(DEFAULT_MSS);
    let mss = u32::from(mss(&connection.forward).min(mss(&connection.backward)));
    mss.saturating_sub(if has_timestamps(connection) { TIMESTAMPS } else { 0 }).max(1)
}

fn has_timestamps(connection: &Connection) -> bool {
    [&connection.forward, &connection.backward]
        .iter()
        .all(|direction| direction.handshake.is_some_and(|handshake| handshake.timestamps))
}

impl Path {
    pub(super) fn infer(
        connection: &Connection,
        sender: Side,
        vantage: Vantage,
        base_rtt_s: f64,
        full_segment: u32,
        times: Times<'_>,
    ) -> Self {
        let (own, other) = match sender {
            Side::Client => (&connection.forward, &connection.backward),
            Side::Server => (&connection.backward, &connection.forward),
        };
        let ip_header = if connection.client.is_ipv6() { 40 } else { 20 };
        let header = ip_header + TCP_HEADER + if has_timestamps(connection) { TIMESTAMPS } else { 0 };
        let full_packet = full_segment + header;
        let rate = payload_rate(times.delivered, u64::from(full_segment));
        let rate_bps = rate.map(|bytes| bytes * 8.0 * f64::from(full_packet) / f64::from(full_segment));
        // The delay that inflates the round trip lies beyond a capture at the sender, and before one at the receiver.
        let most = match vantage {
            Vantage::Receiver if has_timestamps(connection) => {
                other.rtt.map(|rtt| rtt.max_s + own.rtt.map_or(0.0, |rtt| rtt.min_s))
            }
            Vantage::Receiver => median(times.repairs),
            _ => own.rtt.map(|rtt| rtt.max_s + other.rtt.map_or(0.0, |rtt| rtt.min_s)),
        };
        let max_rtt_s = most.unwrap_or(base_rtt_s).max(base_rtt_s);
        let sending = |bytes: u32| rate_bps.map_or(0.0, |rate| 8.0 * f64::from(bytes) / rate);
        let of_data = own.rtt.map(|rtt| rtt.min_s + other.rtt.map_or(0.0, |rtt| rtt.min_s));
        let syn = ip_header + TCP_HEADER + SYN_OPTIONS;
        // At a receiver that sends no data, the only round trip is that of its SYN-ACK.
        let of_syn_ack = vantage == Vantage::Receiver && other.counts.data_segments == 0;
        let of_data = of_data.map(|rtt| rtt - sending(header + if of_syn_ack { syn } else { full_packet }));
        let of_handshake = connection.initial_rtt_s.map(|rtt| rtt - sending(2 * syn));
        // The shortest round trip of data may belong to a last segment, which is not full.
        let in_doubt = sending(full_packet);
        let of_handshake = of_handshake.filter(|found| of_data.is_none_or(|data| found - data < in_doubt));
        let propagation_s = of_handshake.or(of_data).unwrap_or(base_rtt_s).min(base_rtt_s);
        let queue = rate_bps
            .filter(|_| most.is_some())
            .map(|rate| (max_rtt_s - base_rtt_s) * rate / 8.0 / f64::from(full_packet));
        Self {
            base_rtt_s,
            max_rtt_s,
            rate_bps,
            queue_packets: queue.map(|packets| libm::ceil(packets) as u64),
            propagation_s: propagation_s.max(0.0),
            full_packet,
        }
    }
}

/// The rate in bytes a second at which a bottleneck let data through. Over trains of ten segments the rates of a busy
/// bottleneck lie close together, and only compressed ACKs make one faster. The result is the median of the rates
/// around the 97th percentile: even a sender that seldom fills the bottleneck sends some trains without gaps.
fn payload_rate(delivered: &[(Instant, u64)], full_segment: u64) -> Option<f64> {
    let mut rates = Vec::new();
    let mut behind = 0;
    for (at, (time, bytes)) in delivered.iter().enumerate() {
        // The latest start of a train that is long enough.
        while behind + 1 < at && bytes - delivered[behind + 1].1 >= TRAIN * full_segment {
            behind += 1;
        }
        let (from, before) = delivered[behind];
        let seconds = time.since(from).as_secs_f64();
        if bytes - before >= TRAIN * full_segment && seconds > 0.0 {
            rates.push((bytes - before) as f64 / seconds);
        }
    }
    if rates.is_empty() {
        // A short transfer counts as a whole, if it has more than one step.
        let (first, last) = (delivered.first()?, delivered.last()?);
        let seconds = last.0.since(first.0).as_secs_f64();
        return (delivered.len() > 3 && seconds > 0.0).then(|| (last.1 - first.1) as f64 / seconds);
    }
    rates.sort_by(f64::total_cmp);
    let high = rates[rates.len() * 97 / 100];
    let near: Vec<f64> = rates.into_iter().filter(|rate| (0.85 * high..=1.1 * high).contains(rate)).collect();
    near.get(near.len() / 2).copied()
}
