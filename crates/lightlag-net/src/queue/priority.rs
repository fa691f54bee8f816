//! A queue with two priorities: when it is full, it drops packets of low priority first.
//!
//! TCP Peach requires this of a router (Akyildiz, Morabito, Palazzo, *TCP-Peach: a new congestion control scheme for
//! satellite IP networks*, IEEE/ACM ToN 9(3), 2001): a segment that only probes the path is dropped before any that
//! carries data. The paper leaves the mechanism to the router. There are two mechanisms here, both work-conserving and
//! with a single buffer for all packets:
//!
//! - [`PriorityMode::PushOut`]: first in, first out. A packet of high priority that finds the buffer full replaces the
//!   youngest packet of low priority.
//! - [`PriorityMode::Strict`]: the same, but a packet of low priority leaves only while no packet of high priority
//!   waits.
//!
//! Packets of low priority never take a buffer slot from packets of high priority, but with push-out they may delay
//! them: a packet of high priority waits for earlier ones of low priority. With strict service it waits at most for the
//! packet in transmission.

use super::registry::{Config, DisciplineKind};
use super::{Backlog, Discipline, QueueLimit, QueuedPacket, Verdicts};
use crate::{LinkConfig, Packet};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, RandomStream, Rate};
use std::collections::VecDeque;

/// Scope of the precedence of packets with high priority: the buffer, or the order of service as well.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PriorityMode {
    /// Precedence only in the buffer.
    #[default]
    PushOut,
    /// Precedence in the buffer and in the order of service.
    Strict,
}

impl PriorityMode {
    const ALL: [Self; 2] = [Self::PushOut, Self::Strict];
}

impl Described for PriorityMode {
    const ABOUT: &'static str = "Low-priority packets yield to the others. With push_out, a packet that arrives at a \
                                 full buffer replaces the youngest low-priority packet; with strict, low-priority \
                                 packets are also sent only when no other packet waits. TCP Peach probes with such \
                                 packets (Akyildiz, Morabito, Palazzo 2001).";

    fn settings() -> Vec<Setting<Self>> {
        let words = &["push_out", "strict"];
        vec![
            Setting::word(
                "mode",
                "a mode",
                words,
                |mode: &Self| *mode as usize,
                |mode, index| *mode = Self::ALL[index],
            )
            .about(
                "push_out: a packet that arrives at a full buffer replaces the youngest low-priority packet; strict: \
                 low-priority packets are also sent only when no other packet waits.",
            ),
        ]
    }
}

impl DisciplineKind for PriorityMode {
    type Config = Self;

    fn on_link(self, _: Rate, _: Duration) -> Self {
        self
    }
}

impl Config for PriorityMode {
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, _: RandomStream) -> Box<dyn Discipline<B>> {
        Box::new(Priority::new(self, link.queue))
    }
}

/// Packets of one priority, each with its arrival number.
#[derive(Clone, Debug)]
struct Level<B> {
    packets: VecDeque<(u64, QueuedPacket<B>)>,
    bytes: u64,
}

impl<B> Level<B> {
    fn new() -> Self {
        Self { packets: VecDeque::new(), bytes: 0 }
    }

    fn push(&mut self, number: u64, since: Instant, packet: Packet<B>) {
        self.bytes += u64::from(packet.size);
        self.packets.push_back((number, QueuedPacket { since, packet }));
    }

    fn first(&self) -> Option<u64> {
        self.packets.front().map(|(number, _)| *number)
    }

    fn pop_first(&mut self) -> Option<QueuedPacket<B>> {
        let (_, waiting) = self.packets.pop_front()?;
        self.bytes -= u64::from(waiting.packet.size);
        Some(waiting)
    }

    /// Removes and returns the packets for which `leave` returns true, each with its arrival number.
    fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<(u64, Packet<B>)>
    where
        B: Clone,
    {
        let mut withdrawn = Vec::new();
        self.packets.retain(|(number, QueuedPacket { packet, .. })| {
            let leaves = leave(packet);
            if leaves {
                withdrawn.push((*number, packet.clone()));
            }
            !leaves
        });
        self.bytes -= withdrawn.iter().map(|(_, packet)| u64::from(packet.size)).sum::<u64>();
        withdrawn
    }

    fn pop_last(&mut self) -> Option<QueuedPacket<B>> {
        let (_, waiting) = self.packets.pop_back()?;
        self.bytes -= u64::from(waiting.packet.size);
        Some(waiting)
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }
}

/// A queue with two priorities.
#[derive(Clone, Debug)]
pub struct Priority<B> {
    mode: PriorityMode,
    limit: QueueLimit,
    high: Level<B>,
    low: Level<B>,
    arrivals: u64,
}

impl<B: Clone> Priority<B> {
    /// Returns an empty queue.
    pub fn new(mode: PriorityMode, limit: QueueLimit) -> Self {
        Self { mode, limit, high: Level::new(), low: Level::new(), arrivals: 0 }
    }

    fn waiting(&self) -> Backlog {
        let (high, low) = (self.high.backlog(), self.low.backlog());
        Backlog { packets: high.packets + low.packets, bytes: high.bytes + low.bytes }
    }

    /// Drops packets of low priority, the youngest first, until a packet of `size` bytes fits. Returns true if it fits.
    /// If packets of high priority alone fill the buffer, nothing is dropped.
    fn make_room(&mut self, now: Instant, size: u16, verdicts: &mut Verdicts<B>) -> bool {
        if !self.limit.admits(self.high.backlog(), size) {
            return false;
        }
        while !self.limit.admits(self.waiting(), size)
            && let Some(youngest) = self.low.pop_last()
        {
            verdicts.full(now, youngest.packet);
        }
        true
    }
}

impl<B: Clone + Send> Discipline<B> for Priority<B> {
    fn enqueue(&mut self, now: Instant, packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        let low = packet.flags.is_low_priority();
        let fits = if low {
            self.limit.admits(self.waiting(), packet.size)
        } else {
            self.make_room(now, packet.size, verdicts)
        };
        if !fits {
            return verdicts.full(now, packet);
        }
        self.arrivals += 1;
        let level = if low { &mut self.low } else { &mut self.high };
        level.push(self.arrivals, now, packet);
    }

    fn dequeue(&mut self, _: Instant, _: &mut Verdicts<B>) -> Option<QueuedPacket<B>> {
        let high_first = match (self.mode, self.high.first(), self.low.first()) {
            (PriorityMode::PushOut, Some(high), Some(low)) => high < low,
            (_, high, _) => high.is_some(),
        };
        if high_first { self.high.pop_first() } else { self.low.pop_first() }
    }

    fn backlog(&self) -> Backlog {
        self.waiting()
    }

    fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        let mut withdrawn = self.high.withdraw(leave);
        withdrawn.extend(self.low.withdraw(leave));
        withdrawn.sort_unstable_by_key(|(number, _)| *number);
        withdrawn.into_iter().map(|(_, packet)| packet).collect()
    }
}

#[cfg(test)]
mod tests;
