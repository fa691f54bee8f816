//! What became of each flow at each proxy.

use super::{ColumnHash, optional};
use crate::tap::Tap;
use crate::world::World;
use lightlag_core::{Duration, Instant};
use lightlag_scenario::Network;
use lightlag_tcp::Failure;
use serde::Serialize;

/// A flow at a proxy. Numbers of segments are of the connection from the proxy toward the receiver.
#[derive(Clone, Debug, Serialize)]
pub struct ProxySummary {
    /// Node of the proxy.
    pub node: String,
    /// Name of the flow.
    pub flow: String,
    /// Congestion control of its sending end.
    pub congestion: String,
    /// Payload that it acknowledged to the side of the sender, in bytes.
    pub confirmed_bytes: u64,
    /// Payload that the next hop acknowledged, in bytes.
    pub acknowledged_bytes: u64,
    /// Payload that it had acknowledged when it crashed and that the next hop never got, in bytes.
    pub lost_bytes: u64,
    /// The most bytes in its buffer: read, and not acknowledged by the next hop.
    pub max_buffer_bytes: u64,
    /// Bytes in its buffer, averaged over the time since it opened the connection.
    pub mean_buffer_bytes: f64,
    /// Segments with payload sent, retransmissions included.
    pub sent_segments: u64,
    /// Segments with payload sent again.
    pub retransmitted_segments: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// Fast recoveries begun.
    pub recoveries: u64,
    /// Smallest round-trip sample in seconds; null without a sample.
    pub min_rtt_s: Option<f64>,
    /// Why the connection from the sender's side ended before its time; left out if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_failure: Option<&'static str>,
    /// Why the connection toward the receiver ended before its time; left out if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_failure: Option<&'static str>,
}

/// What a result says of a proxy beside numbers.
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
        let [entry, exit] = [relay.entry, relay.exit].map(|end| &world.hosts.endpoints[end as usize]);
        let arrived = world.hosts.endpoints[exit.peer as usize].connection.received();
        let [entry, exit] = [entry, exit].map(|end| &end.connection);
        let statistics = exit.statistics();
        ProxySummary {
            node,
            flow,
            congestion,
            confirmed_bytes: entry.confirmed(),
            acknowledged_bytes: exit.acknowledged(),
            lost_bytes: relay.lost(arrived),
            max_buffer_bytes: relay.most(),
            mean_buffer_bytes: relay.mean(end),
            sent_segments: statistics.sent_segments,
            retransmitted_segments: statistics.retransmitted_segments,
            timeouts: statistics.timeouts,
            recoveries: statistics.recoveries,
            min_rtt_s: exit.min_rtt().map(Duration::as_secs_f64),
            client_failure: entry.statistics().failure.map(Failure::reason),
            server_failure: statistics.failure.map(Failure::reason),
        }
    };
    identities.into_iter().zip(&world.hosts.relays).map(summary).collect()
}

impl ProxySummary {
    /// Adds its numbers.
    pub(super) fn hash(&self, hash: &mut ColumnHash) {
        hash.text(&self.node);
        hash.text(&self.flow);
        hash.numbers([self.confirmed_bytes, self.acknowledged_bytes, self.lost_bytes, self.max_buffer_bytes]);
        hash.numbers([self.sent_segments, self.retransmitted_segments, self.timeouts, self.recoveries]);
        hash.numbers([self.mean_buffer_bytes.to_bits(), optional(self.min_rtt_s)]);
    }
}
