//! First in, first out, with fewer ACKs: for the slow direction of an asymmetric path (RFC 3449 §5.2).
//!
//! The transport marks packets that carry only a cumulative acknowledgement, and more than the packet before
//! ([`PacketFlags::supersedes`](crate::PacketFlags::supersedes)); no other packet is ever touched. Two remedies apply,
//! alone or together:
//!
//! - Filtering (§5.2.1): such a packet replaces the waiting one of its flow, if that is such a packet, too, and the
//!   last of its flow in the queue. It takes the place in the queue: an ACK that went to the tail each time could be
//!   delayed for ever. After a duplicate ACK, a selective one or data nothing is replaced, as in CAKE, because their
//!   number and order carry information.
//! - Decimation (§5.2.2): only every `every`-th such packet of a flow joins the queue.

use super::registry::{Config, Kind};
use super::{Backlog, Discipline, QueueLimit, Verdicts, Waiting, bytes, withdraw};
use crate::{EndpointId, LinkConfig, Packet};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, RandomStream, Rate};
use std::collections::{BTreeMap, VecDeque};

/// The largest decimation.
const MOST_THINNED: u32 = 1_000;

/// The treatment of ACKs that report only a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckFilterConfig {
    /// Whether a later one replaces one that waits.
    pub filter: bool,
    /// One in this many joins the queue; 1 keeps all.
    pub every: u32,
}

impl Default for AckFilterConfig {
    fn default() -> Self {
        Self { filter: true, every: 1 }
    }
}

impl Described for AckFilterConfig {
    const ABOUT: &'static str = "Drop-tail with fewer ACKs, for the slow direction of an asymmetric path. A cumulative ACK takes the place \
         of the one of its flow that waits, unless filter is false; of every so many such ACKs only one joins the \
         queue. Duplicate and selective ACKs stay (RFC 3449 §5.2).";

    fn settings() -> Vec<Setting<Self>> {
        let keeps_all = |config: &Self| {
            let message = "false keeps every ACK; write every = 4 with it, or use drop_tail";
            (!config.filter && config.every == 1).then_some(message)
        };
        vec![
            Setting::count(
                "every",
                |config: &mut Self| &mut config.every,
                MOST_THINNED,
                "a number of ACKs",
                ", of which one is kept",
            )
            .about("One in this many joins the queue; 1 keeps all."),
            Setting::flag("filter", |config: &mut Self| &mut config.filter)
                .about("Whether a later one replaces one that waits.")
                .checked(keeps_all),
        ]
    }
}

impl Kind for AckFilterConfig {
    type Config = Self;

    fn on_link(self, _: Rate, _: Duration) -> Self {
        self
    }
}

impl Config for AckFilterConfig {
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, _: RandomStream) -> Box<dyn Discipline<B>> {
        Box::new(AckFilter::new(self, link.queue))
    }
}

/// A drop-tail queue that filters ACKs.
#[derive(Clone, Debug)]
pub struct AckFilter<B> {
    config: AckFilterConfig,
    limit: QueueLimit,
    packets: VecDeque<Waiting<B>>,
    bytes: u64,
    /// Number of packets that have left, which is the number of the first one that waits.
    left: u64,
    /// The number of the last packet of each flow, which waits if it has not left.
    last: BTreeMap<EndpointId, u64>,
    /// Number of packets of each flow dropped since the last one kept.
    skipped: BTreeMap<EndpointId, u32>,
}

impl<B: Clone> AckFilter<B> {
    /// An empty queue.
    pub fn new(config: AckFilterConfig, limit: QueueLimit) -> Self {
        Self {
            config,
            limit,
            packets: VecDeque::new(),
            bytes: 0,
            left: 0,
            last: BTreeMap::new(),
            skipped: BTreeMap::new(),
        }
    }

    /// Whether this packet is dropped.
    fn skips(&mut self, to: EndpointId) -> bool {
        let skipped = self.skipped.entry(to).or_default();
        *skipped = (*skipped + 1) % self.config.every;
        *skipped != 0
    }

    /// The waiting packet that this one may replace.
    fn superseded(&mut self, packet: &Packet<B>) -> Option<&mut Packet<B>> {
        let at = self.last.get(&packet.to)?.checked_sub(self.left)?;
        let waiting = &mut self.packets.get_mut(at as usize)?.packet;
        waiting.flags.supersedes().then_some(waiting)
    }
}

impl<B: Clone + Send> Discipline<B> for AckFilter<B> {
    fn enqueue(&mut self, now: Instant, packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        if packet.flags.supersedes() {
            if self.config.every > 1 && self.skips(packet.to) {
                return verdicts.thin(now, packet);
            }
            if self.config.filter
                && let Some(waiting) = self.superseded(&packet)
            {
                let size = packet.size;
                let older = std::mem::replace(waiting, packet);
                self.bytes = self.bytes + u64::from(size) - u64::from(older.size);
                return verdicts.thin(now, older);
            }
        }
        if !self.limit.admits(self.backlog(), packet.size) {
            return verdicts.full(now, packet);
        }
        if self.config.filter {
            self.last.insert(packet.to, self.left + self.packets.len() as u64);
        }
        self.bytes += u64::from(packet.size);
        self.packets.push_back(Waiting { since: now, packet });
    }

    fn dequeue(&mut self, _: Instant, _: &mut Verdicts<B>) -> Option<Waiting<B>> {
        let first = self.packets.pop_front()?;
        self.left += 1;
        self.bytes -= u64::from(first.packet.size);
        Some(first)
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }

    fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        let withdrawn = withdraw(&mut self.packets, leave);
        self.bytes -= bytes(&withdrawn);
        // Those that stay have other numbers now.
        let flows = self.packets.iter().map(|waiting| waiting.packet.to);
        self.last = if self.config.filter { flows.zip(self.left..).collect() } else { BTreeMap::new() };
        withdrawn
    }
}

#[cfg(test)]
mod tests;
