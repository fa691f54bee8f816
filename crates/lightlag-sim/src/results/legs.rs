//! The legs of flows that proxies split. Each leg is a connection with its own sender.

use super::{LimitedSeconds, QuicLimitedSeconds};
use crate::hosts::endpoints::EndpointIds;
use crate::ids::FlowIndex;
use crate::table::rows;
use crate::tap::Tap;
use crate::world::World;
use lightlag_core::{Duration, Instant};
use lightlag_net::{EndpointId, NodeId};
use lightlag_scenario::Network;

rows! {
    /// One leg of a flow that proxies split.
    pub struct LegSummary, hashed by
        flow, leg, start_s, finish_s, delivered_bytes, sent_segments, retransmitted_segments, timeouts, recoveries,
        min_rtt_s, mean_rtt_s, mean_cwnd_segments
    {
        /// Name of the flow.
        flow: String [""],
        /// Index of the leg on the path from the sender, starting at 1.
        leg: u64 [""],
        /// Node that sends on the leg.
        from: String ["", label],
        /// Node where the leg ends: the next proxy, or the receiver.
        to: String ["", label],
        /// Congestion control of the leg's sender.
        congestion: String ["", label],
        /// Time when the leg's connection was opened; null if it was not.
        start_s: Option<f64> ["s"],
        /// Arrival time of the last byte at the end of the leg; null if it did not arrive. For requests and pages, time
        /// of their end.
        finish_s: Option<f64> ["s"],
        /// Payload delivered in order at the end of the leg.
        delivered_bytes: u64 ["B"],
        /// Delivered payload in bits, divided by the time from start to finish, or to the end of the run.
        goodput_bps: f64 ["bit/s"],
        /// Segments sent with payload, including retransmissions.
        sent_segments: u64 ["segments"],
        /// Retransmitted segments with payload.
        retransmitted_segments: u64 ["segments"],
        /// Expirations of the retransmission timer.
        timeouts: u64 [""],
        /// Number of times that fast recovery was entered.
        recoveries: u64 [""],
        /// ACKs that the leg's sender received while data was outstanding, including duplicates.
        acks_received: u64 ["ACKs", unhashed],
        /// Smallest round-trip sample; null without a sample.
        min_rtt_s: Option<f64> ["s"],
        /// Mean of the round-trip samples; null without a sample.
        mean_rtt_s: Option<f64> ["s"],
        /// Mean congestion window in segments, from the establishment of the connection to the finish of the leg.
        mean_cwnd_segments: f64 ["segments"],
        /// Time of the leg's sender by limiting factor.
        limited_s: LimitedSeconds ["limited_*_s"],
        /// Parts of these times; only for QUIC flows.
        #[serde(skip_serializing_if = "Option::is_none")]
        quic_limited_s: Option<Box<QuicLimitedSeconds>> ["quic_limited_*_s"],
    }
}

/// Name of a leg, and where its sender is.
pub(super) struct LegIdentity {
    flow: String,
    leg: u64,
    from: String,
    to: String,
    congestion: String,
    sender: EndpointId,
    opens: Opening,
}

/// The end that opens the connection of a leg.
enum Opening {
    /// The sender of the flow, at the start of the flow.
    Sender { start: Instant },
    /// The relay with this index.
    Relay(usize),
    /// The client of a dialogue.
    Client { flow: FlowIndex },
}

impl LegIdentity {
    /// Returns the legs of every flow that passes a proxy, ordered by flow and then from sender to receiver.
    pub(super) fn all(network: &Network) -> Vec<Self> {
        let node = |id: NodeId| network.nodes[id.0 as usize].clone();
        let proxy = |split: usize| &network.proxies[network.splits[split].proxy as usize];
        let numbers = EndpointIds::new(network);
        let mut legs = Vec::new();
        let mut first = 0;
        while let Some(split) = network.splits.get(first) {
            let (index, flow) = (FlowIndex(split.flow), &network.flows[split.flow as usize]);
            let is_dialogue = flow.traffic.is_dialogue();
            let count = network.splits[first..].iter().take_while(|other| other.flow == split.flow).count();
            for leg in 0..=count {
                let relay = leg.checked_sub(1).map(|before| first + before);
                legs.push(Self {
                    flow: flow.name.clone(),
                    leg: leg as u64 + 1,
                    from: node(relay.map_or(flow.from, |relay| proxy(relay).node)),
                    to: node(if leg < count { proxy(first + leg).node } else { flow.to }),
                    congestion: match relay {
                        Some(relay) => proxy(relay).congestion().name().to_owned(),
                        None => flow.congestion().map_or_else(String::new, |choice| choice.name().to_owned()),
                    },
                    sender: relay.map_or_else(|| numbers.sender(index), |relay| numbers.exit(relay)),
                    opens: match relay {
                        _ if is_dialogue && leg < count => Opening::Relay(first + leg),
                        _ if is_dialogue => Opening::Client { flow: index },
                        Some(relay) => Opening::Relay(relay),
                        None => Opening::Sender { start: flow.start },
                    },
                });
            }
            first += count;
        }
        legs
    }
}

/// Returns the summary of each leg.
pub(super) fn leg_summaries(world: &World<impl Tap>, identities: Vec<LegIdentity>, end: Instant) -> Vec<LegSummary> {
    identities.into_iter().map(|identity| leg_summary(world, identity, end)).collect()
}

fn leg_summary(world: &World<impl Tap>, identity: LegIdentity, end: Instant) -> LegSummary {
    let LegIdentity { flow, leg, from, to, congestion, sender, opens } = identity;
    let socket = world.hosts.socket(sender);
    let peer = world.hosts.socket(socket.port().peer).stream();
    let start = match opens {
        Opening::Sender { start } => Some(start).filter(|start| *start <= end),
        Opening::Relay(relay) => world.hosts.relays[relay].opened(),
        Opening::Client { flow } => world.hosts.opened_by_client(flow),
    };
    let (account, finish) = (world.hosts.account(sender, end), world.hosts.arrived_at(sender));
    let statistics = socket.inspect().statistics();
    let elapsed = start.map_or(0.0, |start| finish.unwrap_or(end).since(start).as_secs_f64());
    let delivered = peer.delivered();
    LegSummary {
        flow,
        leg,
        from,
        to,
        congestion,
        start_s: start.map(Instant::as_secs_f64),
        finish_s: finish.map(Instant::as_secs_f64),
        delivered_bytes: delivered,
        goodput_bps: if elapsed > 0.0 { delivered as f64 * 8.0 / elapsed } else { 0.0 },
        sent_segments: statistics.sent_segments,
        retransmitted_segments: statistics.retransmitted_segments,
        timeouts: statistics.timeouts,
        recoveries: statistics.recoveries,
        acks_received: statistics.acks_received,
        min_rtt_s: socket.inspect().min_rtt().map(Duration::as_secs_f64),
        mean_rtt_s: statistics.mean_rtt().map(Duration::as_secs_f64),
        mean_cwnd_segments: account.mean_cwnd_segments,
        limited_s: account.limited.into(),
        quic_limited_s: account.quic_limited.map(|limited| Box::new((*limited).into())),
    }
}
