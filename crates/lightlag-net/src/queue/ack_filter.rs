//! A first-in, first-out queue that reduces the number of ACKs, for the slow direction of an asymmetric path (RFC 3449
//! §5.2).
//!
//! The transport marks packets whose only content is a cumulative ACK, which acknowledges more than the previous packet
//! ([`PacketFlags::supersedes`](crate::PacketFlags::supersedes)). No other packet is ever affected. Two mechanisms
//! apply, separately or combined:
//!
//! - Filtering (§5.2.1): such a packet replaces the last packet of its flow in the queue, if that is also such a
//!   packet. It takes the same queue slot: an ACK that moved to the tail each time could be delayed forever. Duplicate
//!   ACKs, selective ACKs and data are never replaced, as in CAKE, because their number and order carry information.
//! - Decimation (§5.2.2): only every `every`-th such packet of a flow joins the queue.

use super::registry::{Config, DisciplineKind};
use super::{Backlog, Discipline, QueueLimit, QueuedPacket, Verdicts, bytes, withdraw};
use crate::{EndpointId, LinkConfig, Packet};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, RandomStream, Rate};
use std::collections::{BTreeMap, VecDeque};

/// Maximum value of `every`.
const MOST_THINNED: u32 = 1_000;

/// Parameters of the ACK filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckFilterConfig {
    /// Whether a later ACK replaces a queued one.
    pub filter: bool,
    /// Decimation: one of this number of ACKs joins the queue; 1 accepts all.
    pub every: u32,
}

impl Default for AckFilterConfig {
    fn default() -> Self {
        Self { filter: true, every: 1 }
    }
}

impl Described for AckFilterConfig {
    const ABOUT: &'static str = "Drop-tail with fewer ACKs, for the slow direction of an asymmetric path. A cumulative \
                                 ACK replaces the queued one of its flow, unless filter is false; only one in `every` \
                                 such ACKs joins the queue. Duplicate and selective ACKs stay (RFC 3449 §5.2).";

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
                ", one of which joins the queue",
            )
            .about("Only one in this number of ACKs joins the queue; 1 accepts all."),
            Setting::flag("filter", |config: &mut Self| &mut config.filter)
                .about("Whether a later ACK replaces a queued one.")
                .checked(keeps_all),
        ]
    }
}

impl DisciplineKind for AckFilterConfig {
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
    packets: VecDeque<QueuedPacket<B>>,
    bytes: u64,
    /// Number of packets that have left, which is also the index of the first waiting packet.
    left: u64,
    /// Index of the last packet of each flow. The packet waits if its index is at least `left`.
    last: BTreeMap<EndpointId, u64>,
    /// Number of packets of each flow that were dropped since the last one that was queued.
    skipped: BTreeMap<EndpointId, u32>,
}

impl<B: Clone> AckFilter<B> {
    /// Returns an empty queue.
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

    /// Returns true if decimation drops this packet.
    fn skips(&mut self, to: EndpointId) -> bool {
        let skipped = self.skipped.entry(to).or_default();
        *skipped = (*skipped + 1) % self.config.every;
        *skipped != 0
    }

    /// Returns the waiting packet that `packet` may replace, if there is one.
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
        self.packets.push_back(QueuedPacket { since: now, packet });
    }

    fn dequeue(&mut self, _: Instant, _: &mut Verdicts<B>) -> Option<QueuedPacket<B>> {
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
