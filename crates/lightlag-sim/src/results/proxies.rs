//! Results of each flow at each proxy.

use crate::table::rows;
use crate::tap::Tap;
use crate::world::World;
use lightlag_core::{Duration, Instant};
use lightlag_scenario::Network;
use lightlag_transport::Failure;

rows! {
    /// A flow at a proxy. Numbers of segments are of the connection from the proxy toward the receiver.
    pub struct ProxySummary, hashed by
        node, flow, confirmed_bytes, acknowledged_bytes, lost_bytes, max_buffer_bytes, sent_segments,
        retransmitted_segments, timeouts, recoveries, mean_buffer_bytes
    {
        /// Node of the proxy.
        node: String [""],
        /// Name of the flow.
        flow: String [""],
        /// Congestion control of its sending end.
        congestion: String ["", label],
        /// Payload that it acknowledged to the side of the sender, in bytes.
        confirmed_bytes: u64 ["B"],
        /// Payload that the next hop acknowledged, in bytes.
        acknowledged_bytes: u64 ["B"],
        /// Payload that it had acknowledged when it crashed and that the next hop never got, in bytes.
        lost_bytes: u64 ["B"],
        /// The most bytes in its buffer: read, and not acknowledged by the next hop.
        max_buffer_bytes: u64 ["B"],
        /// Bytes in its buffer, averaged over the time since it opened the connection.
        mean_buffer_bytes: f64 ["B"],
        /// Segments with payload sent, retransmissions included.
        sent_segments: u64 ["segments"],
        /// Segments with payload sent again.
        retransmitted_segments: u64 ["segments"],
        /// Expirations of the retransmission timer.
        timeouts: u64 [""],
        /// Fast recoveries begun.
        recoveries: u64 [""],
        /// Smallest round-trip sample; null without a sample.
        min_rtt_s: Option<f64> ["s"],
        /// Reason for an early end of the connection from the sender's side; left out without one.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_failure: Option<&'static str> ["", label],
        /// Reason for an early end of the connection toward the receiver; left out without one.
        #[serde(skip_serializing_if = "Option::is_none")]
        server_failure: Option<&'static str> ["", label],
    }
}

/// Facts of a result about a proxy beside numbers.
pub(super) struct ProxyIdentity {
    node: String,
    flow: String,
    congestion: String,
}

impl ProxyIdentity {
    pub(super) fn all(network: &Network) -> Vec<Self> {
        let identity = |split: &lightlag_scenario::Split| {
            let proxy = &network.proxies[split.proxy as usize];
            Self {
                node: network.nodes[proxy.node.0 as usize].clone(),
                flow: network.flows[split.flow as usize].name.clone(),
                congestion: proxy.server.congestion.name().to_owned(),
            }
        };
        network.splits.iter().map(identity).collect()
    }
}

/// One for each flow at each proxy.
pub(super) fn proxy_summaries(
    world: &World<impl Tap>,
    identities: Vec<ProxyIdentity>,
    end: Instant,
) -> Vec<ProxySummary> {
    let summary = |(ProxyIdentity { node, flow, congestion }, relay): (ProxyIdentity, &crate::hosts::relay::Relay)| {
        let [entry, exit] = [relay.entry, relay.exit].map(|end| world.hosts.socket(end));
        let arrived = world.hosts.socket(exit.port().peer).stream().received();
        let statistics = exit.inspect().statistics();
        ProxySummary {
            node,
            flow,
            congestion,
            confirmed_bytes: entry.stream().confirmed(),
            acknowledged_bytes: exit.stream().acknowledged(),
            lost_bytes: relay.lost(arrived),
            max_buffer_bytes: relay.most(),
            mean_buffer_bytes: relay.mean(end),
            sent_segments: statistics.sent_segments,
            retransmitted_segments: statistics.retransmitted_segments,
            timeouts: statistics.timeouts,
            recoveries: statistics.recoveries,
            min_rtt_s: exit.inspect().min_rtt().map(Duration::as_secs_f64),
            client_failure: entry.inspect().failure().map(Failure::reason),
            server_failure: statistics.failure.map(Failure::reason),
        }
    };
    identities.into_iter().zip(&world.hosts.relays).map(summary).collect()
}
