//! Results of each direction of a tunnel.

use super::{LimitedSeconds, QuicLimitedSeconds};
use crate::hosts::tunnels::TunnelCounts;
use crate::table::rows;
use crate::tap::Tap;
use crate::world::World;
use lightlag_core::{Duration, Instant};
use lightlag_net::TunnelEndId;
use lightlag_scenario::Network;
use lightlag_transport::Failure;

rows! {
    /// The results of one direction of a tunnel: the packets that entered at its start, and the sender of the tunnel's
    /// connection there.
    pub struct TunnelSummary, hashed by
        tunnel, entered_packets, entered_bytes, delivered_packets, delivered_bytes, dropped_queue, dropped_size,
        dropped_closed, lost_packets, sent_segments, lost_segments, timeouts, recoveries, min_rtt_s, mean_rtt_s,
        mean_cwnd_segments
    {
        /// Name of the tunnel's connection, `tunnel CLIENT-SERVER`, in tables of flows over time.
        tunnel: String [""],
        /// Node where packets enter.
        from: String ["", label],
        /// Node at the other end, from where they continue.
        to: String ["", label],
        /// Congestion control of the tunnel's connection at its sender.
        congestion: String ["", label],
        /// Packets that entered the tunnel, including those that it dropped.
        entered_packets: u64 ["packets"],
        /// Bytes of these packets at the network layer.
        entered_bytes: u64 ["B"],
        /// Packets delivered at the other end.
        delivered_packets: u64 ["packets"],
        /// Bytes of these packets at the network layer.
        delivered_bytes: u64 ["B"],
        /// Packets that the queue of datagrams dropped because newer ones filled it.
        dropped_queue: u64 ["packets"],
        /// Packets dropped because they did not fit into a datagram of the tunnel.
        dropped_size: u64 ["packets"],
        /// Packets dropped because the tunnel's connection had ended.
        dropped_closed: u64 ["packets"],
        /// Packets whose datagrams the connection lost and does not repeat.
        lost_packets: u64 ["packets"],
        /// Packets of the connection sent with datagrams.
        sent_segments: u64 ["segments"],
        /// Packets of the connection declared lost.
        lost_segments: u64 ["segments"],
        /// Probe timeouts of the connection.
        timeouts: u64 [""],
        /// Number of congestion episodes.
        recoveries: u64 [""],
        /// Smallest round-trip sample; null without a sample.
        min_rtt_s: Option<f64> ["s"],
        /// Mean of the round-trip samples; null without a sample.
        mean_rtt_s: Option<f64> ["s"],
        /// Mean congestion window in packets, from the establishment of the connection.
        mean_cwnd_segments: f64 ["segments"],
        /// Time of the sender by limiting factor.
        limited_s: LimitedSeconds ["limited_*_s"],
        /// Parts of these times.
        #[serde(skip_serializing_if = "Option::is_none")]
        quic_limited_s: Option<Box<QuicLimitedSeconds>> ["quic_limited_*_s"],
        /// Reason why the connection ended; omitted otherwise.
        #[serde(skip_serializing_if = "Option::is_none")]
        failure: Option<&'static str> ["", label],
    }
}

/// Names of a direction of a tunnel, as needed for results.
pub(super) struct TunnelIdentity {
    tunnel: String,
    from: String,
    to: String,
}

impl TunnelIdentity {
    /// Returns both directions of each tunnel, the one from the client first.
    pub(super) fn all(network: &Network) -> Vec<Self> {
        let name = |node: lightlag_net::NodeId| network.nodes[node.0 as usize].clone();
        let both = |tunnel: &lightlag_scenario::Tunnel| {
            let [client, server] = tunnel.ends;
            let identity = |[from, to]: [lightlag_net::NodeId; 2]| Self {
                tunnel: network.flows[tunnel.flow as usize].name.clone(),
                from: name(from),
                to: name(to),
            };
            [[client, server], [server, client]].map(identity)
        };
        network.tunnels.iter().flat_map(both).collect()
    }
}

/// Returns the summary of each direction of each tunnel.
pub(super) fn tunnel_summaries(
    world: &World<impl Tap>,
    identities: Vec<TunnelIdentity>,
    end: Instant,
) -> Vec<TunnelSummary> {
    let Some(tunnels) = world.hosts.tunnels.as_deref() else { return Vec::new() };
    let summary = |(TunnelIdentity { tunnel, from, to }, id): (TunnelIdentity, TunnelEndId)| {
        let way = tunnels.end(id);
        let TunnelCounts {
            entered,
            entered_bytes,
            delivered,
            delivered_bytes,
            dropped_queue,
            dropped_size,
            dropped_closed,
            lost,
        } = way.counts;
        let sender = world.hosts.socket(way.endpoint).inspect();
        let (statistics, account) = (sender.statistics(), world.hosts.account(way.endpoint, end));
        TunnelSummary {
            tunnel,
            from,
            to,
            congestion: sender.congestion().to_owned(),
            entered_packets: entered,
            entered_bytes,
            delivered_packets: delivered,
            delivered_bytes,
            dropped_queue,
            dropped_size,
            dropped_closed,
            lost_packets: lost,
            sent_segments: statistics.sent_segments,
            lost_segments: world.hosts.quic[way.endpoint].connection.counters().lost,
            timeouts: statistics.timeouts,
            recoveries: statistics.recoveries,
            min_rtt_s: sender.min_rtt().map(Duration::as_secs_f64),
            mean_rtt_s: statistics.mean_rtt().map(Duration::as_secs_f64),
            mean_cwnd_segments: account.mean_cwnd_segments,
            limited_s: account.limited.into(),
            quic_limited_s: account.quic_limited.map(|limited| Box::new((*limited).into())),
            failure: statistics.failure.map(Failure::reason),
        }
    };
    identities.into_iter().zip(tunnels.ids()).map(summary).collect()
}
