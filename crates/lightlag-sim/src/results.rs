//! What a run leaves: a summary, columns, and a hash over every recorded number.

mod holes;
mod legs;
mod messages;
mod proxies;
mod signals;
mod traffic;

use crate::hosts::Outcome;
use crate::tap::Tap;
pub use crate::tap::record::{Acks, Drops, QueueSamples, Trace};
use crate::world::World;
pub use holes::HoleSummary;
pub use legs::LegSummary;
use legs::{LegIdentity, leg_summaries};
use lightlag_core::{Duration, Instant};
pub use lightlag_net::queue::DropCause;
use lightlag_net::{NodeId, Waits};
use lightlag_scenario::{Network, Scenario, Traffic, Transport};
use lightlag_tcp::Limited;
pub use messages::MessageSummary;
pub use proxies::ProxySummary;
use proxies::{ProxyIdentity, proxy_summaries};
use serde::Serialize;
pub use signals::SignalSummary;
pub use traffic::{DatagramSummary, PageSummary, Responses};
use traffic::{datagrams_of, page_summary};
use xxhash_rust::xxh3::Xxh3;

/// The outcome of one run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Totals of the run, its flows and its links.
    pub summary: Summary,
    /// The state of senders over time.
    pub trace: Trace,
    /// What waited at links over time.
    pub queue: QueueSamples,
    /// Every dropped packet.
    pub drops: Drops,
    /// Each ACK that a sender took, if the scenario asks for them.
    pub acks: Acks,
    /// What clients asked for and got, if any does.
    pub responses: Responses,
    /// Names of the captures that were written.
    pub captures: Vec<String>,
    /// The capture that could not be written to its end, and why. The others end there too.
    pub capture_failure: Option<String>,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
}

/// The object that `lightlag run --json` prints, without the wall-clock time.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The scenario as run.
    pub scenario: serde_json::Value,
    /// The seed of the run.
    pub seed: u64,
    /// The version of lightlag.
    pub version: &'static str,
    /// Simulated seconds until the run ended.
    pub simulated_s: f64,
    /// Events handled.
    pub events: u64,
    /// Packets through links, dropped ones included.
    pub packet_hops: u64,
    /// Packets that a node dropped because their TTL had run out; left out while there is none.
    #[serde(skip_serializing_if = "is_zero")]
    pub expired_packets: u64,
    /// Hash of every recorded number: equal for the same scenario, seed and version, on any machine.
    pub result_hash: String,
    /// One object a flow.
    pub flows: Vec<FlowSummary>,
    /// One object a link direction.
    pub links: Vec<LinkSummary>,
    /// One object for each flow at each proxy; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxies: Vec<ProxySummary>,
    /// One object for each connection on the way of each flow through proxies; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub legs: Vec<LegSummary>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The result of one flow. Where proxies split it, the counters of segments and round trips, the window and the limits are
/// those of its first sender; [`LegSummary`] has those of each.
#[derive(Clone, Debug, Serialize)]
pub struct FlowSummary {
    /// Name of the flow.
    pub name: String,
    /// Node that sends.
    pub from: String,
    /// Node that receives.
    pub to: String,
    /// Congestion-control algorithm; `udp` where there is none.
    pub congestion: String,
    /// Name of the slowest link direction on its way, by the rates at the start; null for datagrams.
    pub bottleneck: Option<String>,
    /// When the connection was opened, in seconds.
    pub start_s: f64,
    /// When the last byte had arrived, in seconds; null if that did not happen.
    pub finish_s: Option<f64>,
    /// Why the connection was given up before that; left out if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<&'static str>,
    /// Payload in order at the receiving application, holes not counted.
    pub delivered_bytes: u64,
    /// Delivered payload in bits over the time from start to finish, or to the end of the run.
    pub goodput_bps: f64,
    /// Segments with payload sent, retransmissions included; datagrams sent.
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
    /// Congestion window in segments, averaged from when the connection was established to the finish.
    pub mean_cwnd_segments: f64,
    /// Seconds in which the sender was held back, by what.
    pub limited_s: LimitedSeconds,
    /// What became of datagrams; left out of flows of TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<DatagramSummary>,
    /// The responses to requests; only of flows with requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responses: Option<PageSummary>,
    /// The pages of a browser; only of flows with pages, in the row of the first connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageSummary>,
    /// What became of messages; only of flows that collect them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageSummary>,
    /// What became of the messages of stations; only of flows of TCP where there are stations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signals: Option<SignalSummary>,
    /// What the receiver had to do without; only of flows whose ends agreed on partial reliability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holes: Option<HoleSummary>,
}

/// Seconds of a sender by what held it back. The parts add up to the time from its start to its finish, its failure or the
/// end of the run.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct LimitedSeconds {
    /// By the congestion window.
    pub cwnd: f64,
    /// By the receiver's window.
    pub rwnd: f64,
    /// By the application, which had nothing to send, and by opening and closing.
    pub application: f64,
    /// By pacing.
    pub pacing: f64,
    /// Repairing losses in fast recovery.
    pub recovery: f64,
    /// Waiting for a timeout, and repairing after one.
    pub timeout: f64,
}

impl LimitedSeconds {
    fn parts(&self) -> [f64; 6] {
        [self.cwnd, self.rwnd, self.application, self.pacing, self.recovery, self.timeout]
    }
}

impl From<Limited> for LimitedSeconds {
    fn from(limited: Limited) -> Self {
        let Limited { cwnd, rwnd, application, pacing, recovery, timeout } = limited;
        let [cwnd, rwnd, application, pacing, recovery, timeout] =
            [cwnd, rwnd, application, pacing, recovery, timeout].map(Duration::as_secs_f64);
        Self { cwnd, rwnd, application, pacing, recovery, timeout }
    }
}

/// What a link direction carried.
#[derive(Clone, Debug, Serialize)]
pub struct LinkSummary {
    /// Name of the direction: `from->to`.
    pub name: String,
    /// Node where it begins.
    pub from: String,
    /// Node where it ends.
    pub to: String,
    /// Bits a second at which they leave; null where that changes during a run.
    pub rate_bps: Option<f64>,
    /// Bytes transmitted, link-layer headers included.
    pub carried_bytes: u64,
    /// Share of the time in which it transmitted.
    pub utilisation: f64,
    /// Packets dropped by the full queue.
    pub dropped_queue: u64,
    /// Packets that the queue discipline dropped, although there was room.
    pub dropped_aqm: u64,
    /// Packets dropped because they were corrupted.
    pub dropped_error: u64,
    /// ACKs that the queue thinned out.
    pub dropped_acks: u64,
    /// Packets that the queue discipline marked (ECN).
    pub marked: u64,
    /// Copies that the link made of packets.
    pub duplicated: u64,
    /// Packets that the link held back, so that later ones could pass.
    pub reordered: u64,
    /// Packets that waited, averaged over time, without the one in transmission.
    pub mean_queue_packets: f64,
    /// The most packets that waited at once.
    pub max_queue_packets: u64,
    /// How long data packets waited, if the scenario asks for it.
    #[serde(flatten)]
    pub queueing: Option<Queueing>,
}

/// How long the packets with payload waited at a link direction for their transmission to begin, without those that its
/// queue dropped. Times are null without a packet; quantiles are at most 1.6 % off ([`Waits`]).
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Queueing {
    /// Packets with payload whose wait is known.
    pub data_packets: u64,
    /// Mean in seconds.
    pub mean_wait_s: Option<f64>,
    /// Median in seconds.
    pub median_wait_s: Option<f64>,
    /// 95th percentile in seconds.
    pub p95_wait_s: Option<f64>,
    /// 99th percentile in seconds.
    pub p99_wait_s: Option<f64>,
    /// The longest in seconds.
    pub max_wait_s: Option<f64>,
}

impl Queueing {
    fn new(waits: &Waits) -> Self {
        let seconds = |wait: Option<Duration>| wait.map(Duration::as_secs_f64);
        Self {
            data_packets: waits.count(),
            mean_wait_s: seconds(waits.mean()),
            median_wait_s: seconds(waits.quantile(0.5)),
            p95_wait_s: seconds(waits.quantile(0.95)),
            p99_wait_s: seconds(waits.quantile(0.99)),
            max_wait_s: seconds(waits.longest()),
        }
    }
}

/// What a result says about its origin.
pub(crate) struct Provenance {
    scenario: serde_json::Value,
    seed: u64,
    flows: Vec<FlowIdentity>,
    links: Vec<LinkIdentity>,
    proxies: Vec<ProxyIdentity>,
    legs: Vec<LegIdentity>,
}

struct LinkIdentity {
    name: String,
    from: String,
    to: String,
    rate_bps: Option<f64>,
}

struct FlowIdentity {
    name: String,
    from: String,
    to: String,
    congestion: String,
    bottleneck: Option<String>,
    start: Instant,
    is_web: bool,
}

impl Provenance {
    pub(crate) fn flow_names(&self) -> Vec<&str> {
        self.flows.iter().map(|flow| flow.name.as_str()).collect()
    }

    pub(crate) fn link_names(&self) -> Vec<&str> {
        self.links.iter().map(|link| link.name.as_str()).collect()
    }

    pub(crate) fn new(scenario: &Scenario, network: &Network, seed: u64) -> Self {
        let node = |id: NodeId| network.nodes[id.0 as usize].clone();
        let mut slowest = network.slowest_links();
        let flows = network.flows.iter().map(|flow| FlowIdentity {
            name: flow.name.clone(),
            from: node(flow.from),
            to: node(flow.to),
            congestion: match flow.transport {
                Transport::Tcp => flow.tcp.congestion.name().to_owned(),
                Transport::Udp => "udp".to_owned(),
            },
            bottleneck: match flow.transport {
                Transport::Tcp => slowest(flow).map(|link| network.links[link.0 as usize].name.clone()),
                Transport::Udp => None,
            },
            start: flow.start,
            is_web: matches!(*flow.traffic, Traffic::Web(_)),
        });
        let links = network.links.iter().map(|link| LinkIdentity {
            name: link.name.clone(),
            from: node(link.from),
            to: node(link.to),
            rate_bps: link.is_steady(Instant::ZERO + scenario.duration).then_some(link.rate.as_bps() as f64),
        });
        Self {
            scenario: scenario.to_json(),
            seed,
            flows: flows.collect(),
            links: links.collect(),
            proxies: ProxyIdentity::all(network),
            legs: LegIdentity::all(network),
        }
    }
}

impl RunResult {
    /// The tables move out of the world; its captures stay there.
    pub(crate) fn new(
        world: &mut World<impl Tap>,
        provenance: Provenance,
        end: Instant,
        events: u64,
        interrupted: bool,
    ) -> Self {
        let flows: Vec<FlowSummary> = provenance
            .flows
            .into_iter()
            .enumerate()
            .map(|(flow, identity)| flow_summary(world, flow, identity, end))
            .collect();
        let links: Vec<LinkSummary> = provenance
            .links
            .into_iter()
            .zip(&world.fabric.hops)
            .map(|(LinkIdentity { name, from, to, rate_bps }, hop)| {
                let (totals, counters) = (hop.link.totals(end), hop.link.counters());
                let elapsed = end.as_nanos().max(1) as f64;
                LinkSummary {
                    name,
                    from,
                    to,
                    rate_bps,
                    carried_bytes: totals.carried_bytes,
                    utilisation: totals.busy as f64 / elapsed,
                    dropped_queue: counters.dropped_queue,
                    dropped_aqm: counters.dropped_aqm,
                    dropped_error: counters.dropped_error,
                    dropped_acks: counters.dropped_acks,
                    marked: counters.marked,
                    duplicated: counters.duplicated,
                    reordered: counters.reordered,
                    mean_queue_packets: totals.queued as f64 / elapsed,
                    max_queue_packets: counters.max_queue,
                    queueing: hop.link.waits().map(Queueing::new),
                }
            })
            .collect();
        let proxies = proxy_summaries(world, provenance.proxies, end);
        let legs = leg_summaries(world, provenance.legs, end);
        let mut responses = Responses::default();
        world.hosts.dialogues.iter().for_each(|dialogue| responses.add(dialogue));
        let packet_hops = world.fabric.hops.iter().map(|hop| hop.link.counters().offered).sum();
        let recorder = &mut world.recorder;
        let mut result = Self {
            summary: Summary {
                scenario: provenance.scenario,
                seed: provenance.seed,
                version: env!("CARGO_PKG_VERSION"),
                simulated_s: end.as_secs_f64(),
                events,
                packet_hops,
                expired_packets: world.expired,
                result_hash: String::new(),
                flows,
                links,
                proxies,
                legs,
            },
            trace: std::mem::take(&mut recorder.trace),
            queue: std::mem::take(&mut recorder.queue),
            drops: std::mem::take(&mut recorder.drops),
            acks: std::mem::take(&mut recorder.acks),
            responses,
            captures: Vec::new(),
            capture_failure: None,
            interrupted,
        };
        result.summary.result_hash = result.hash();
        result
    }

    /// XXH3-128 over the summary's numbers and every column, in a fixed order and little-endian.
    fn hash(&self) -> String {
        let mut hash = ColumnHash::default();
        let s = &self.summary;
        hash.text(s.version);
        hash.numbers([s.seed, s.events, s.packet_hops, s.simulated_s.to_bits()]);
        if s.expired_packets > 0 {
            hash.numbers([s.expired_packets]);
        }
        for flow in &s.flows {
            hash.text(&flow.name);
            hash.numbers([flow.start_s.to_bits(), optional(flow.finish_s), flow.delivered_bytes, flow.sent_segments]);
            hash.numbers([flow.retransmitted_segments, flow.timeouts, flow.recoveries, optional(flow.min_rtt_s)]);
            hash.numbers([optional(flow.mean_rtt_s), flow.mean_cwnd_segments.to_bits(), flow.goodput_bps.to_bits()]);
            hash.numbers(flow.limited_s.parts().map(f64::to_bits));
            if let Some(d) = flow.datagrams {
                hash.numbers([d.received, d.lost, optional(d.mean_delay_s), optional(d.p95_delay_s)]);
            }
            if let Some(messages) = flow.messages {
                messages.hash(&mut hash);
            }
            if let Some(signals) = flow.signals {
                signals.hash(&mut hash);
            }
            if let Some(holes) = flow.holes {
                holes.hash(&mut hash);
            }
            if let Some(p) = flow.responses.or(flow.pages) {
                hash.numbers([p.count, p.request_bytes, optional(p.mean_s), optional(p.p95_s)]);
            }
        }
        for link in &s.links {
            hash.text(&link.name);
            hash.numbers([link.carried_bytes, link.dropped_queue, link.dropped_error, link.max_queue_packets]);
            hash.numbers([link.utilisation.to_bits(), link.mean_queue_packets.to_bits()]);
            // Only of links that can have them: what a plain link gives keeps its hash.
            let of_disciplines = [link.dropped_aqm, link.marked, link.duplicated, link.reordered];
            if of_disciplines != [0; 4] {
                hash.numbers(of_disciplines);
            }
            if let Some(q) = &link.queueing {
                hash.numbers([q.data_packets, optional(q.mean_wait_s), optional(q.median_wait_s)]);
                hash.numbers([q.p95_wait_s, q.p99_wait_s, q.max_wait_s].map(optional));
            }
            if link.dropped_acks > 0 {
                hash.numbers([link.dropped_acks]);
            }
        }
        for proxy in &s.proxies {
            proxy.hash(&mut hash);
        }
        for leg in &s.legs {
            leg.hash(&mut hash);
        }
        let t = &self.trace;
        for column in [&t.time_s, &t.cwnd_segments] {
            hash.numbers(column.iter().map(|x| x.to_bits()));
        }
        for column in [&t.ssthresh_segments, &t.w_max_segments, &t.k_s, &t.srtt_s, &t.rtt_s] {
            hash.numbers(column.iter().map(|x| optional((!x.is_nan()).then_some(*x))));
        }
        for column in [&t.inflight_bytes, &t.sent_bytes, &t.acked_bytes, &t.delivered_bytes, &t.arrived_bytes] {
            hash.numbers(column.iter().copied());
        }
        hash.numbers(t.flow.iter().map(|x| u64::from(*x)));
        hash.numbers(t.phase.iter().chain(&t.leg).map(|x| u64::from(*x)));
        let q = &self.queue;
        hash.numbers(q.time_s.iter().map(|x| x.to_bits()));
        hash.numbers(q.link.iter().map(|x| u64::from(*x)));
        hash.numbers(q.packets.iter().chain(&q.bytes).copied());
        let d = &self.drops;
        hash.numbers(d.time_s.iter().map(|x| x.to_bits()));
        hash.numbers(d.link.iter().chain(&d.flow).chain(&d.bytes).map(|x| u64::from(*x)));
        hash.numbers(d.backward.iter().map(|x| u64::from(*x)));
        hash.numbers(d.cause.iter().map(|x| *x as u64));
        // Only of runs that recorded them: the others keep their hash.
        let a = &self.acks;
        if !a.time_s.is_empty() {
            hash.numbers(a.time_s.iter().map(|x| x.to_bits()));
            for column in [&a.snd_una, &a.snd_nxt, &a.cwnd_bytes, &a.inflight_bytes] {
                hash.numbers(column.iter().copied());
            }
            for column in [&a.ssthresh_bytes, &a.srtt_s] {
                hash.numbers(column.iter().map(|x| optional((!x.is_nan()).then_some(*x))));
            }
            hash.numbers(a.flow.iter().map(|x| u64::from(*x)).chain(a.state.iter().map(|x| u64::from(*x))));
        }
        let r = &self.responses;
        if !r.time_s.is_empty() {
            hash.numbers(r.time_s.iter().chain(&r.duration_s).map(|x| x.to_bits()));
            hash.numbers(r.flow.iter().map(|x| u64::from(*x)).chain(r.bytes.iter().copied()));
        }
        hash.finish()
    }
}

fn flow_summary(world: &World<impl Tap>, flow: usize, identity: FlowIdentity, end: Instant) -> FlowSummary {
    let identity = match datagrams_of(world, flow, identity, end) {
        Ok(summary) => return summary,
        Err(identity) => *identity,
    };
    let [sender, receiver] = [world.hosts.numbers.sender(flow), world.hosts.numbers.receiver(flow)]
        .map(|end| &world.hosts.endpoints[end].connection);
    let finish = match world.hosts.outcomes[flow] {
        Outcome::Finished(at) => Some(at),
        Outcome::Unfinished | Outcome::Failed(_) => None,
    };
    let statistics = sender.statistics();
    let failure = match world.hosts.outcomes[flow] {
        Outcome::Failed(failure) => Some(failure.reason()),
        Outcome::Unfinished | Outcome::Finished(_) => None,
    };
    let dialogue = world.hosts.dialogues.binary_search_by_key(&flow, |dialogue| dialogue.flow());
    let pages = dialogue.ok().map(|at| page_summary(&world.hosts.dialogues[at]));
    let elapsed = finish.unwrap_or(end).since(identity.start).as_secs_f64();
    let delivered = receiver.delivered();
    let seconds = Duration::as_secs_f64;
    let account = world.hosts.account(world.hosts.numbers.sender(flow), end);
    FlowSummary {
        name: identity.name,
        from: identity.from,
        to: identity.to,
        congestion: identity.congestion,
        bottleneck: identity.bottleneck,
        start_s: identity.start.as_secs_f64(),
        finish_s: finish.map(Instant::as_secs_f64),
        failure,
        delivered_bytes: delivered,
        goodput_bps: if elapsed > 0.0 { delivered as f64 * 8.0 / elapsed } else { 0.0 },
        sent_segments: statistics.sent_segments,
        retransmitted_segments: statistics.retransmitted_segments,
        timeouts: statistics.timeouts,
        recoveries: statistics.recoveries,
        min_rtt_s: sender.min_rtt().map(seconds),
        mean_rtt_s: statistics.mean_rtt().map(seconds),
        mean_cwnd_segments: account.mean_cwnd_segments,
        limited_s: account.limited.into(),
        datagrams: None,
        responses: pages.filter(|_| !identity.is_web),
        pages: pages.filter(|_| identity.is_web),
        messages: MessageSummary::of(world, flow),
        signals: SignalSummary::of(world, flow),
        holes: HoleSummary::of(sender, receiver),
    }
}

/// A missing number, as bits that no number of ours has.
fn optional(value: Option<f64>) -> u64 {
    value.map_or(u64::MAX, f64::to_bits)
}

#[derive(Default)]
struct ColumnHash {
    state: Xxh3,
    block: Vec<u8>,
}

impl ColumnHash {
    fn text(&mut self, text: &str) {
        self.state.update(text.as_bytes());
        self.state.update(&[0]);
    }

    /// Adds numbers in blocks: the hash has a cost a call.
    fn numbers(&mut self, numbers: impl IntoIterator<Item = u64>) {
        self.block.clear();
        for number in numbers {
            self.block.extend_from_slice(&number.to_le_bytes());
            if self.block.len() >= 1 << 14 {
                self.state.update(&self.block);
                self.block.clear();
            }
        }
        self.state.update(&self.block);
    }

    fn finish(self) -> String {
        format!("{:032x}", self.state.digest128())
    }
}
