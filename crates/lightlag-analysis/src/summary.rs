//! The parts of a summary that analyses use. `docs/results.md` explains the keys.

use crate::limits::{Limited, Limits, QuicLimited};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Value of `congestion` for UDP flows.
pub const UDP: &str = "udp";

/// A flow, or one leg of a flow that proxies split.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Flow {
    /// Name of the flow; empty for a leg.
    #[serde(default)]
    pub name: String,
    /// Name of the flow that contains this leg; `None` for a flow.
    pub flow: Option<String>,
    /// Index of the leg, starting at 1.
    pub leg: Option<u32>,
    /// Name of the node that sends.
    pub from: String,
    /// Name of the node that receives.
    pub to: String,
    /// Congestion control at the sender.
    pub congestion: String,
    /// Name of the slowest link direction on its path, if it stays the same.
    pub bottleneck: Option<String>,
    /// Start in seconds; `None` for a leg that did not start.
    pub start_s: Option<f64>,
    /// Reason why the flow was aborted, if it was.
    pub(crate) failure: Option<String>,
    /// Mean goodput in bit/s.
    pub goodput_bps: f64,
    /// Finish in seconds; `None` if it did not finish.
    pub finish_s: Option<f64>,
    /// Payload that arrived, in bytes.
    #[serde(default)]
    pub delivered_bytes: u64,
    /// Number of segments or datagrams with payload that were sent, retransmissions and duplicates included.
    #[serde(default)]
    pub sent_segments: u64,
    /// Number of retransmitted segments with payload.
    #[serde(default)]
    pub retransmitted_segments: u64,
    /// Number of retransmission timeouts.
    #[serde(default)]
    pub timeouts: u64,
    /// Number of fast recoveries.
    #[serde(default)]
    pub recoveries: u64,
    /// Minimum round-trip sample in seconds.
    pub min_rtt_s: Option<f64>,
    /// Mean round-trip sample in seconds.
    pub mean_rtt_s: Option<f64>,
    /// Mean congestion window over time, in segments.
    #[serde(default)]
    pub mean_cwnd_segments: f64,
    /// Time during which each cause limited the sender, in seconds.
    #[serde(default)]
    pub limited_s: Limited,
    /// Parts of these times, if it is a QUIC flow.
    pub quic_limited_s: Option<QuicLimited>,
    /// Losses and delays of its datagrams, if it sends any.
    pub datagrams: Option<Datagrams>,
    /// Losses and delays of the messages of a sink, if it is one.
    pub messages: Option<Messages>,
    /// Completion times of the responses to its requests, if it has any.
    pub responses: Option<Pages>,
    /// Completion times of its pages, if it has any.
    pub pages: Option<Pages>,
    /// Notifications sent to its endpoints, if there are any.
    pub signals: Option<Signals>,
}

impl Flow {
    /// Returns true if it is a UDP flow.
    pub fn is_datagrams(&self) -> bool {
        self.datagrams.is_some()
    }

    /// Returns the time during which each cause limited the sender.
    pub fn limits(&self) -> Limits {
        Limits::new(&self.limited_s, self.quic_limited_s.as_ref())
    }

    /// Returns the start in seconds; 0 for a leg that did not start.
    pub fn start(&self) -> f64 {
        self.start_s.unwrap_or(0.0)
    }

    /// Returns the reason for aborting it, if it was aborted.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref().filter(|failure| !failure.is_empty())
    }

    /// Returns the minimum round-trip sample in seconds, if there are samples.
    pub fn min_rtt(&self) -> Option<f64> {
        self.min_rtt_s.filter(|rtt| *rtt != 0.0)
    }

    /// Returns the time in seconds from the start to the last byte; `None` if the flow did not finish.
    pub fn completion_s(&self) -> Option<f64> {
        self.finish_s.map(|finish_s| finish_s - self.start())
    }

    /// Returns the names of the sending and the receiving node as `from->to`.
    pub fn ends(&self) -> String {
        format!("{}->{}", self.from, self.to)
    }
}

/// Returns the legs of each flow that proxies split, by the name of the flow and in path order.
pub fn legs_of(legs: &[Flow]) -> BTreeMap<&str, Vec<&Flow>> {
    let mut found: BTreeMap<&str, Vec<&Flow>> = BTreeMap::new();
    for leg in legs {
        found.entry(leg.flow.as_deref().unwrap_or("")).or_default().push(leg);
    }
    found
}

/// Returns the leg with the largest round-trip time, or the first of several equal ones. With a proxy next to a
/// satellite link, it is the leg over the satellite.
pub fn longest_leg<'a>(legs: &[&'a Flow]) -> Option<&'a Flow> {
    let rtt = |leg: &Flow| leg.min_rtt_s.unwrap_or(0.0);
    legs.iter().copied().reduce(|longest, leg| if rtt(leg) > rtt(longest) { leg } else { longest })
}

/// Returns the retransmitted fraction of all segments with payload, over all `senders`; `None` if they sent none.
pub fn retransmitted_share<'a>(senders: impl IntoIterator<Item = &'a Flow>) -> Option<f64> {
    let add = |(again, sent), sender: &Flow| (again + sender.retransmitted_segments, sent + sender.sent_segments);
    let (again, sent) = senders.into_iter().fold((0, 0), add);
    retransmitted_share_of(again, sent)
}

/// Returns the retransmitted fraction of `sent` segments; `None` if none were sent.
pub fn retransmitted_share_of(again: u64, sent: u64) -> Option<f64> {
    (sent > 0).then(|| again as f64 / sent as f64)
}

/// Losses and delays of a flow's datagrams.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Datagrams {
    /// Number of datagrams that did not arrive.
    pub lost: u64,
    /// Mean delay in seconds of the datagrams that arrived.
    pub mean_delay_s: Option<f64>,
    /// 95th percentile of the delay in seconds of the datagrams that arrived.
    pub p95_delay_s: Option<f64>,
}

/// Losses and delays of the messages of a sink.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Messages {
    /// Number of messages that were sent.
    pub sent: u64,
    /// Number of messages that the network lost.
    pub lost: u64,
    /// Number of messages that a full buffer dropped.
    pub dropped: u64,
    /// Mean delay in seconds of the messages that arrived.
    pub mean_delay_s: Option<f64>,
    /// 95th percentile of the delay in seconds of the messages that arrived.
    pub p95_delay_s: Option<f64>,
}

/// Completion times of responses or pages.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Pages {
    /// Number of responses or pages that are complete.
    pub count: u64,
    /// Mean completion time in seconds.
    pub mean_s: Option<f64>,
    /// 95th percentile of the completion time in seconds.
    pub p95_s: Option<f64>,
}

/// Notifications to the endpoints of a flow.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Signals {
    /// Notifications sent through the network.
    pub sent: u64,
    /// Notifications that arrived through the network and were acted on.
    pub received: u64,
    /// Notifications that an endpoint's own node gave to it directly, without a packet.
    pub local: u64,
}

/// A direction of a link.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Link {
    /// Name of the link direction.
    pub name: String,
    /// Rate in bit/s, if it is constant.
    pub rate_bps: Option<f64>,
    /// Bytes that it transmitted.
    pub carried_bytes: u64,
    /// Fraction of the run in which it transmitted.
    pub utilisation: f64,
    /// Packets dropped because its queue was full.
    pub dropped_queue: u64,
    /// Packets lost or damaged by link errors.
    pub dropped_error: u64,
    /// Packets that its queue discipline dropped early.
    #[serde(default)]
    pub dropped_aqm: u64,
    /// Packets that its policer dropped.
    #[serde(default)]
    pub dropped_police: u64,
    /// Packets above its MTU.
    #[serde(default)]
    pub dropped_mtu: u64,
    /// Packets lost in an outage.
    #[serde(default)]
    pub dropped_outage: u64,
    /// ACKs that the queue filtered out.
    #[serde(default)]
    pub dropped_acks: u64,
    /// Packets dropped because they had no route.
    #[serde(default)]
    pub dropped_route: u64,
    /// Packets that were rerouted.
    #[serde(default)]
    pub withdrawn: u64,
    /// Packets that were marked with CE.
    #[serde(default)]
    pub marked: u64,
    /// Packets that the link duplicated.
    #[serde(default)]
    pub duplicated: u64,
    /// Packets that were delayed so that later ones overtook them.
    #[serde(default)]
    pub reordered: u64,
    /// Packets with forward error correction that were sent.
    #[serde(default)]
    pub repair_packets: u64,
    /// Packets that forward error correction restored.
    #[serde(default)]
    pub repaired: u64,
    /// Baseband frames with packets.
    #[serde(default)]
    pub baseband_frames: u64,
    /// Dummy baseband frames.
    #[serde(default)]
    pub dummy_frames: u64,
    /// Unused bytes of baseband frames with packets.
    #[serde(default)]
    pub padding_bytes: u64,
    /// Mean queue length over time, in packets.
    pub mean_queue_packets: f64,
    /// Maximum queue length in packets.
    pub max_queue_packets: u64,
    /// Number of data packets whose waits were recorded.
    #[serde(default)]
    pub data_packets: u64,
    /// Mean wait of data packets in the queue, until their transmission started, in seconds.
    pub mean_wait_s: Option<f64>,
    /// 95th percentile of this wait, in seconds.
    pub p95_wait_s: Option<f64>,
}

impl Link {
    /// Returns the number of packets that the link direction dropped, for any cause.
    pub fn dropped(&self) -> u64 {
        self.dropped_queue
            + self.dropped_aqm
            + self.dropped_police
            + self.dropped_mtu
            + self.dropped_error
            + self.dropped_outage
            + self.dropped_acks
            + self.dropped_route
    }
}

/// A flow at a proxy.
#[derive(Clone, Debug, Deserialize)]
pub struct Proxy {
    /// Node of the proxy.
    pub node: String,
    /// Name of the flow.
    pub flow: String,
    /// Congestion control of the connection after the proxy.
    pub congestion: String,
    /// Payload acknowledged on the connection after the proxy.
    pub acknowledged_bytes: u64,
    /// Payload that was lost when the proxy lost its memory.
    pub lost_bytes: u64,
    /// Segments with payload that the proxy sent.
    pub sent_segments: u64,
    /// Segments with payload that were retransmissions.
    pub retransmitted_segments: u64,
    /// Number of retransmission timeouts.
    pub timeouts: u64,
    /// Minimum round-trip sample in seconds.
    pub min_rtt_s: Option<f64>,
    /// Mean buffer occupancy in bytes.
    pub mean_buffer_bytes: f64,
    /// Maximum buffer occupancy in bytes.
    pub max_buffer_bytes: u64,
    /// Objects that the proxy requested before the client, if it prefetches.
    #[serde(default)]
    pub prefetched: Option<Prefetched>,
}

/// The objects that a proxy requested before the client.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Prefetched {
    /// Number of objects.
    pub objects: u64,
    /// Number of their bytes that the proxy has read.
    pub bytes: u64,
}

/// One direction of a tunnel.
#[derive(Clone, Debug, Deserialize)]
pub struct Tunnel {
    /// Node where packets enter.
    pub from: String,
    /// Node at the other end.
    pub to: String,
    /// Congestion control of the tunnel's connection.
    pub congestion: String,
    /// Packets that entered the tunnel.
    pub entered_packets: u64,
    /// Packets that newer ones displaced from the queue.
    pub dropped_queue: u64,
    /// Packets that did not fit into a datagram.
    pub dropped_size: u64,
    /// Packets dropped because the connection had ended.
    pub dropped_closed: u64,
    /// Packets lost with their datagrams.
    pub lost_packets: u64,
    /// Probe timeouts of the connection.
    pub timeouts: u64,
    /// Minimum round-trip sample in seconds.
    pub min_rtt_s: Option<f64>,
}

/// A radio interface of a node.
#[derive(Clone, Debug, Deserialize)]
pub struct Radio {
    /// Name of the interface.
    pub name: String,
    /// Name of its medium.
    pub medium: String,
    /// Fraction of the run during which it transmitted.
    pub utilisation: f64,
    /// Fraction of the run during which it found the medium busy.
    pub busy: f64,
    /// Frames that it sent.
    pub sent_frames: u64,
    /// A-MPDUs that it sent.
    pub aggregates: u64,
    /// Mean number of frames per A-MPDU.
    pub mpdus_per_aggregate: Option<f64>,
    /// Mean queue length over time, in packets.
    pub mean_queue_packets: f64,
    /// Frames that it retransmitted.
    pub retries: u64,
    /// Frames that collided.
    pub collisions: u64,
    /// Packets dropped because its queue was full.
    pub dropped_queue: u64,
    /// Packets dropped after the maximum number of attempts.
    pub dropped_retry: u64,
    /// Packets dropped because they waited too long.
    pub dropped_lifetime: u64,
    /// Packets dropped because they had no route.
    pub dropped_no_route: u64,
    /// Bytes of routing messages that it sent.
    pub routing_bytes: u64,
    /// Links to neighbours that it found broken.
    pub broken_links: u64,
    /// Number of changes of its routing table.
    pub route_changes: u64,
}

impl Radio {
    /// Returns the number of packets that the radio dropped, for any cause.
    pub fn dropped(&self) -> u64 {
        self.dropped_queue + self.dropped_retry + self.dropped_lifetime + self.dropped_no_route
    }
}

/// The path of a flow over a constellation, over time.
#[derive(Clone, Debug, Deserialize)]
pub struct SatellitePath {
    /// Name of the flow.
    pub flow: String,
    /// Minimum round-trip sample in seconds.
    pub least_rtt_s: Option<f64>,
    /// Maximum recorded round-trip sample in seconds.
    pub greatest_rtt_s: Option<f64>,
    /// Start of each path in seconds; the first one is the start of the flow.
    pub times_s: Vec<f64>,
    /// Number of links of the path that starts at each of these times; 0 if there is no path.
    pub links: Vec<u64>,
    /// End of the run in seconds.
    pub end_s: f64,
}
