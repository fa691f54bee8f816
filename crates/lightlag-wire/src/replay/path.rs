//! The path between the endpoints of a connection: delay, rate and queue of one bottleneck.

use super::Vantage;
use crate::analysis::{ConnectionReport, DirectionReport, Side};
use lightlag_core::Instant;
use serde::Serialize;

/// Length of the TCP header without options, in bytes.
const TCP_HEADER: u32 = 20;
const TIMESTAMPS: u32 = 12;
/// Length of the options in a SYN with MSS, SACK, timestamps and window scale, in bytes.
const SYN_OPTIONS: u32 = 20;
/// MSS if the SYN has no MSS option (RFC 9293 §3.7.1).
const DEFAULT_MSS: u16 = 536;
/// Number of full segments in a train, whose duration gives a sample of the rate.
const TRAIN: u64 = 10;

/// A path with one bottleneck.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Path {
    /// Minimum round-trip time in seconds.
    pub base_rtt_s: f64,
    /// Round-trip time when the queue was longest, in seconds.
    pub max_rtt_s: f64,
    /// Rate of the bottleneck in bit/s, for IP packets; null if there are too few segments to measure it.
    pub rate_bps: Option<f64>,
    /// Maximum queue length in full packets. Null if the rate is unknown, or if the round-trip time with the longest
    /// queue is unknown, which is the case in a capture at the receiver without timestamps and losses.
    pub queue_packets: Option<u64>,
    /// Propagation delay in both directions in seconds, without transmission times. It is the round-trip time of the
    /// handshake, or the minimum of data if that is less by more than the time of a full packet.
    pub propagation_s: f64,
    /// Size of a full packet in bytes.
    pub full_packet: u32,
}

/// Measurements of a path, from the packets of a connection.
pub(super) struct Times<'a> {
    /// Total bytes that had arrived by each time.
    pub delivered: &'a [(Instant, u64)],
    /// Times from a hole to its repair in seconds, which are round-trip times.
    pub repairs: &'a mut [f64],
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Returns the payload of a full segment in bytes: the smaller MSS, less the options that every segment has (RFC 6691).
pub(super) fn full_segment(connection: &ConnectionReport) -> u32 {
    let mss =
        |direction: &DirectionReport| direction.handshake.and_then(|handshake| handshake.mss).unwrap_or(DEFAULT_MSS);
    let mss = u32::from(mss(&connection.forward).min(mss(&connection.backward)));
    mss.saturating_sub(if has_timestamps(connection) { TIMESTAMPS } else { 0 }).max(1)
}

fn has_timestamps(connection: &ConnectionReport) -> bool {
    [&connection.forward, &connection.backward]
        .iter()
        .all(|direction| direction.handshake.is_some_and(|handshake| handshake.timestamps))
}

impl Path {
    pub(super) fn infer(
        connection: &ConnectionReport,
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
        let max_observed_s = match vantage {
            Vantage::Receiver if has_timestamps(connection) => {
                other.rtt.map(|rtt| rtt.max_s + own.rtt.map_or(0.0, |rtt| rtt.min_s))
            }
            Vantage::Receiver => median(times.repairs),
            _ => own.rtt.map(|rtt| rtt.max_s + other.rtt.map_or(0.0, |rtt| rtt.min_s)),
        };
        let max_rtt_s = max_observed_s.unwrap_or(base_rtt_s).max(base_rtt_s);
        let sending = |bytes: u32| rate_bps.map_or(0.0, |rate| 8.0 * f64::from(bytes) / rate);
        let of_data = own.rtt.map(|rtt| rtt.min_s + other.rtt.map_or(0.0, |rtt| rtt.min_s));
        let syn = ip_header + TCP_HEADER + SYN_OPTIONS;
        // At a receiver that sends no data, the only round trip is the SYN-ACK's.
        let of_syn_ack = vantage == Vantage::Receiver && other.counts.data_segments == 0;
        let of_data = of_data.map(|rtt| rtt - sending(header + if of_syn_ack { syn } else { full_packet }));
        let of_handshake = connection.initial_rtt_s.map(|rtt| rtt - sending(2 * syn));
        // The shortest round trip of data may belong to a last segment, which is not full.
        let in_doubt = sending(full_packet);
        let of_handshake = of_handshake.filter(|found| of_data.is_none_or(|data| found - data < in_doubt));
        let propagation_s = of_handshake.or(of_data).unwrap_or(base_rtt_s).min(base_rtt_s);
        let queue = rate_bps
            .filter(|_| max_observed_s.is_some())
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

/// Returns the rate of the bottleneck in bytes of payload per second, from trains of ten segments. The rates of a busy
/// bottleneck lie close together, and only compressed ACKs make one appear higher. The result is the median of the
/// rates around the 97th percentile, because even a sender that rarely fills the bottleneck sends some trains without
/// gaps.
fn payload_rate(delivered: &[(Instant, u64)], full_segment: u64) -> Option<f64> {
    let mut rates = Vec::new();
    let mut behind = 0;
    for (index, (time, bytes)) in delivered.iter().enumerate() {
        // The latest start of a train that is long enough.
        while behind + 1 < index && bytes - delivered[behind + 1].1 >= TRAIN * full_segment {
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
