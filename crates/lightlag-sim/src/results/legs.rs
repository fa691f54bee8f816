//! The legs of flows that pass through proxies: each has a sender of its own.

use super::{ColumnHash, LimitedSeconds, optional};
use crate::hosts::ends::Numbers;
use crate::tap::Tap;
use crate::world::World;
use lightlag_core::{Duration, Instant};
use lightlag_net::NodeId;
use lightlag_scenario::Network;
use serde::Serialize;

/// One connection on the way of a flow through proxies.
#[derive(Clone, Debug, Serialize)]
pub struct LegSummary {
    /// Name of the flow.
    pub flow: String,
    /// Number on the way from the sender, from 1 on.
    pub leg: u64,
    /// Node that sends.
    pub from: String,
    /// Node where the leg ends: the next proxy, or the receiver.
    pub to: String,
    /// Congestion control of its sender.
    pub congestion: String,
    /// When its connection was opened, in seconds; null if it was not.
    pub start_s: Option<f64>,
    /// When its last byte had arrived at its end, in seconds; null if that did not happen.
    pub finish_s: Option<f64>,
    /// Payload in order at its end.
    pub delivered_bytes: u64,
    /// Delivered payload in bits over the time from start to finish, or to the end of the run.
    pub goodput_bps: f64,
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
    /// Mean of the round-trip samples in seconds; null without a sample.
    pub mean_rtt_s: Option<f64>,
    /// Congestion window in segments, averaged from when the connection was established to the finish of the leg.
    pub mean_cwnd_segments: f64,
    /// Seconds in which its sender was held back, by what.
    pub limited_s: LimitedSeconds,
}

/// The name of a leg, and where its sender is.
pub(super) struct LegIdentity {
    flow: String,
    leg: u64,
    from: String,
    to: String,
    congestion: String,
    sender: usize,
    /// The relay whose far end the sender is; `None` for the first leg, which starts with its flow.
    relay: Option<usize>,
    start: Instant,
}

impl LegIdentity {
    /// The legs of every flow that passes a proxy, in the order of the flows and of the hops.
    pub(super) fn all(network: &Network) -> Vec<Self> {
        let node = |id: NodeId| network.nodes[id.0 as usize].clone();
        let proxy = |split: usize| &network.proxies[network.splits[split].proxy as usize];
        let numbers = Numbers::new(network);
        let mut legs = Vec::new();
        let mut at = 0;
        while let Some(split) = network.splits.get(at) {
            let (index, flow) = (split.flow as usize, &network.flows[split.flow as usize]);
            let count = network.splits[at..].iter().take_while(|other| other.flow == split.flow).count();
            for leg in 0..=count {
                let relay = leg.checked_sub(1).map(|before| at + before);
                legs.push(Self {
                    flow: flow.name.clone(),
                    leg: leg as u64 + 1,
                    from: node(relay.map_or(flow.from, |relay| proxy(relay).node)),
                    to: node(if leg < count { proxy(at + leg).node } else { flow.to }),
                    congestion: relay.map_or(&flow.tcp, |relay| &proxy(relay).server).congestion.name().to_owned(),
                    sender: relay.map_or_else(|| numbers.sender(index), |relay| numbers.exit(relay)),
                    relay,
                    start: flow.start,
                });
            }
            at += count;
        }
        legs
    }
}

/// One for each leg.
pub(super) fn leg_summaries(world: &World<impl Tap>, identities: Vec<LegIdentity>, end: Instant) -> Vec<LegSummary> {
    identities.into_iter().map(|identity| leg_summary(world, identity, end)).collect()
}

fn leg_summary(world: &World<impl Tap>, identity: LegIdentity, end: Instant) -> LegSummary {
    let LegIdentity { flow, leg, from, to, congestion, sender, relay, start } = identity;
    let connection = &world.hosts.endpoints[sender].connection;
    let peer = &world.hosts.endpoints[world.hosts.endpoints[sender].peer as usize].connection;
    let start = match relay {
        Some(relay) => world.hosts.relays[relay].opened(),
        None => Some(start).filter(|start| *start <= end),
    };
    let (account, finish) = (world.hosts.account(sender, end), world.hosts.arrived_at(sender));
    let statistics = connection.statistics();
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
        min_rtt_s: connection.min_rtt().map(Duration::as_secs_f64),
        mean_rtt_s: statistics.mean_rtt().map(Duration::as_secs_f64),
        mean_cwnd_segments: account.mean_cwnd_segments,
        limited_s: account.limited.into(),
    }
}

impl LegSummary {
    /// Adds its numbers.
    pub(super) fn hash(&self, hash: &mut ColumnHash) {
        hash.text(&self.flow);
        hash.numbers([self.leg, optional(self.start_s), optional(self.finish_s), self.delivered_bytes]);
        hash.numbers([self.sent_segments, self.retransmitted_segments, self.timeouts, self.recoveries]);
        hash.numbers([self.min_rtt_s, self.mean_rtt_s].map(optional));
        hash.numbers([self.mean_cwnd_segments.to_bits(), self.goodput_bps.to_bits()]);
        hash.numbers(self.limited_s.parts().map(f64::to_bits));
    }
}
