//! Results of each flow at each proxy.

use crate::hosts::relay::Relay;
use crate::hosts::session::Prefetched;
use crate::table::rows;
use crate::tap::Tap;
use crate::world::World;
use lightlag_core::{Duration, Instant};
use lightlag_scenario::Network;
use lightlag_transport::Failure;

rows! {
    /// Objects that a proxy requested before the client, over its connection of a flow towards the server.
    pub struct PrefetchSummary {
        /// Number of objects that the proxy requested before the client.
        objects: u64 [""],
        /// Bytes of these objects that the proxy has read.
        bytes: u64 ["B"],
        /// Bytes of these objects that the client has not requested.
        unused_bytes: u64 ["B"],
        /// Maximum number of bytes of these objects that the next proxy stored.
        max_stored_bytes: u64 ["B"],
    }
}

rows! {
    /// The results of a flow at a proxy. Segment counts describe the connection from the proxy towards the receiver.
    pub struct ProxySummary, hashed by
        node, flow, confirmed_bytes, acknowledged_bytes, lost_bytes, max_buffer_bytes, sent_segments,
        retransmitted_segments, timeouts, recoveries, mean_buffer_bytes
    {
        /// Node of the proxy.
        node: String [""],
        /// Name of the flow.
        flow: String [""],
        /// Congestion control of the proxy's connection towards the receiver.
        congestion: String ["", label],
        /// Payload that the proxy acknowledged towards the sender, excluding requests.
        confirmed_bytes: u64 ["B"],
        /// Payload acknowledged by the next hop.
        acknowledged_bytes: u64 ["B"],
        /// Payload that the proxy acknowledged before it crashed, but that never reached the next hop.
        lost_bytes: u64 ["B"],
        /// Maximum number of bytes in the proxy's buffer: read, but not yet acknowledged by the next hop.
        max_buffer_bytes: u64 ["B"],
        /// Mean number of bytes in the proxy's buffer since the connection towards the receiver was opened.
        mean_buffer_bytes: f64 ["B"],
        /// Payload from the receiver to the sender that the proxy forwarded, such as requests, including those for objects
        /// that it prefetched.
        request_bytes: u64 ["B", unhashed],
        /// Maximum number of bytes in the buffer of that direction.
        max_request_buffer_bytes: u64 ["B", unhashed],
        /// Segments sent with payload, including retransmissions.
        sent_segments: u64 ["segments"],
        /// Retransmitted segments with payload.
        retransmitted_segments: u64 ["segments"],
        /// Expirations of the retransmission timer.
        timeouts: u64 [""],
        /// Number of times that fast recovery was entered.
        recoveries: u64 [""],
        /// Smallest round-trip sample; null without a sample.
        min_rtt_s: Option<f64> ["s"],
        /// Reason why the connection with the sender's side was aborted; omitted otherwise.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_failure: Option<&'static str> ["", label],
        /// Reason why the connection towards the receiver was aborted; omitted otherwise.
        #[serde(skip_serializing_if = "Option::is_none")]
        server_failure: Option<&'static str> ["", label],
        /// Prefetched objects; omitted for proxies that do not prefetch.
        #[serde(skip_serializing_if = "Option::is_none")]
        prefetched: Option<Box<PrefetchSummary>> ["prefetched_*"],
    }
}

/// Names of a proxy and a flow, as needed for results.
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
                congestion: proxy.congestion().name().to_owned(),
            }
        };
        network.splits.iter().map(identity).collect()
    }
}

/// Returns the summary of each flow at each proxy.
pub(super) fn proxy_summaries(
    world: &World<impl Tap>,
    identities: Vec<ProxyIdentity>,
    end: Instant,
) -> Vec<ProxySummary> {
    let summary = |(index, (ProxyIdentity { node, flow, congestion }, relay)): (usize, (ProxyIdentity, &Relay))| {
        let [entry, exit] = [relay.entry, relay.exit].map(|end| world.hosts.socket(end));
        let arrived = world.hosts.socket(exit.port().peer).stream().received();
        let statistics = exit.inspect().statistics();
        let headers = relay.data_headers();
        ProxySummary {
            node,
            flow,
            congestion,
            confirmed_bytes: entry.stream().confirmed().saturating_sub(headers[0]),
            acknowledged_bytes: exit.stream().acknowledged().saturating_sub(headers[1]),
            lost_bytes: match relay.reader {
                None => relay.lost(arrived),
                Some(_) => lost_objects(world, index),
            },
            max_buffer_bytes: relay.most(),
            mean_buffer_bytes: relay.mean(end),
            request_bytes: relay.requests().0,
            max_request_buffer_bytes: relay.requests().1,
            sent_segments: statistics.sent_segments,
            retransmitted_segments: statistics.retransmitted_segments,
            timeouts: statistics.timeouts,
            recoveries: statistics.recoveries,
            min_rtt_s: exit.inspect().min_rtt().map(Duration::as_secs_f64),
            client_failure: entry.inspect().failure().map(Failure::reason),
            server_failure: statistics.failure.map(Failure::reason),
            prefetched: relay
                .reader
                .and_then(|dialogue| world.hosts.dialogues[dialogue as usize].prefetched(index))
                .map(|prefetched| Box::new(prefetched.into())),
        }
    };
    identities.into_iter().zip(&world.hosts.relays).enumerate().map(summary).collect()
}

/// Returns the number of bytes that a proxy of a pair that prefetches had acknowledged when it crashed, but that never
/// reached the next hop: of all connections of a dialogue, which share those to the next hop, at the first one, and zero at
/// the others.
fn lost_objects(world: &World<impl Tap>, index: usize) -> u64 {
    let relays = &world.hosts.relays;
    let Relay { proxy, reader, .. } = relays[index];
    let is_of_dialogue = |relay: &&Relay| (relay.proxy, relay.reader) == (proxy, reader);
    if relays[..index].iter().any(|relay| is_of_dialogue(&relay)) {
        return 0;
    }
    let of_dialogue = relays[index..].iter().filter(is_of_dialogue);
    let confirmed: u64 = of_dialogue.clone().filter_map(Relay::confirmed_at_crash).sum();
    let arrived = of_dialogue.map(|relay| world.hosts.socket(world.hosts.port(relay.exit).peer).stream().received());
    confirmed.saturating_sub(arrived.sum())
}

impl From<Prefetched> for PrefetchSummary {
    fn from(prefetched: Prefetched) -> Self {
        let Prefetched { objects, bytes, unused, max_stored, .. } = prefetched;
        Self { objects, bytes, unused_bytes: unused, max_stored_bytes: max_stored }
    }
}
