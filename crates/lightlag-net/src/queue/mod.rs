//! Queue disciplines, which select the next packet to send, and drop or mark packets.
//!
//! A [`Discipline`] is called when a packet arrives and when the transmitter is free, in the order of time. Each
//! discipline has its own file:
//!
//! - [`drop_tail`]: first in, first out, up to a limit.
//! - [`head_drop`]: drops the oldest packet when it is full.
//! - [`netem`]: first in, first out, with a limit of everything that the link holds.
//! - [`red`]: drops at random, depending on the average length of the queue.
//! - [`codel`]: drops at the head, depending on the time that packets have waited.
//! - [`fq_codel`]: a queue for each flow, with CoDel in each queue.
//! - [`pie`]: drops at random, depending on the time that arriving packets will wait.
//! - [`dualpi2`]: a second queue for senders that respond to each mark, coupled to the first.
//! - [`step`]: marks packets above a threshold.
//! - [`priority`]: drops packets of low priority first.
//! - [`ack_filter`]: reduces the number of ACKs.
//! - [`custom`]: custom disciplines.
//!
//! The file also declares the settings of the discipline ([`DisciplineKind`]). A line below registers its name.

pub mod ack_filter;
pub mod codel;
pub mod custom;
pub mod drop_tail;
pub mod dualpi2;
pub mod fq_codel;
pub mod head_drop;
pub mod netem;
pub mod per_flow;
pub mod pie;
pub mod priority;
pub mod red;
mod registry;
pub mod step;

pub use crate::limit::{Backlog, QueueLimit};
pub use ack_filter::{AckFilter, AckFilterConfig};
pub use codel::{CoDel, CoDelConfig};
pub use drop_tail::DropTail;
pub use dualpi2::{DualPi2, DualPi2Config};
pub use fq_codel::{FqCoDel, FqCoDelConfig};
pub use head_drop::{HeadDrop, HeadDropConfig};
pub use netem::{Netem, NetemCount};
pub use per_flow::{DropEnd, PerFlow, PerFlowConfig};
pub use pie::{Pie, PieConfig};
pub use priority::{Priority, PriorityMode};
pub use red::{Red, RedConfig};
pub use registry::DisciplineKind;
pub use step::{StepConfig, StepMarking};

use crate::{LinkConfig, Packet};
use lightlag_core::params::Limit;
use lightlag_core::{Codepoint, Duration, Instant, RandomStream, Rate};
use std::collections::VecDeque;

/// A queue discipline. It is called in the order of time.
pub trait Discipline<B>: Send {
    /// Adds a packet that arrives now to the queue. A packet that is dropped, this one or another, is passed to
    /// `verdicts`.
    fn enqueue(&mut self, now: Instant, packet: Packet<B>, verdicts: &mut Verdicts<B>);

    /// Returns the packet to transmit now and its arrival time. After `None`, the link is idle until the next packet
    /// arrives.
    fn dequeue(&mut self, now: Instant, verdicts: &mut Verdicts<B>) -> Option<QueuedPacket<B>>;

    /// Returns the backlog.
    fn backlog(&self) -> Backlog;

    /// Removes and returns the waiting packets for which `leave` returns true, in the order of arrival within each
    /// queue, without a verdict.
    fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>>;

    /// Called when the rate of the link changes at `_at`.
    fn rate_changes(&mut self, _at: Instant, _rate: Rate) {}

    /// Returns the limit of everything that the link direction holds, which the link then enforces; `None` if only
    /// waiting packets are limited.
    fn held(&self) -> Option<netem::Held> {
        None
    }

    /// Returns the failure of the discipline, if it has failed. Only [custom] disciplines can fail.
    fn fault(&self) -> Option<&custom::Fault> {
        None
    }
}

// One line per discipline: its variant, its name in a scenario, and its parameters as configured and on a link.
registry::disciplines! {
    Red, "red", RedConfig<Limit> => RedConfig;
    CoDel, "codel", CoDelConfig => CoDelConfig;
    FqCoDel, "fq_codel", FqCoDelConfig => FqCoDelConfig;
    Pie, "pie", PieConfig => PieConfig;
    DualPi2, "dualpi2", DualPi2Config => DualPi2Config;
    Step, "step", StepConfig<Limit> => StepConfig;
    Priority, "priority", PriorityMode => PriorityMode;
    AckFilter, "ack_filter", AckFilterConfig => AckFilterConfig;
    PerFlow, "per_flow", PerFlowConfig => PerFlowConfig;
    HeadDrop, "head_drop", HeadDropConfig => HeadDropConfig;
    Netem, "netem", NetemCount => NetemCount;
}

/// Cause of a drop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropCause {
    /// The queue was full.
    Queue,
    /// The packet was damaged on the link, or lost before the queue.
    Error,
    /// The queue discipline dropped the packet although the queue was not full.
    Aqm,
    /// The packet was an ACK, which the queue filtered out.
    AckFilter,
    /// The packet arrived with a TTL of 1 at a node that is not its destination.
    Ttl,
    /// The MAC of a radio dropped the packet after the last retry.
    Retry,
    /// The packet waited too long at a radio.
    Lifetime,
    /// No route to the packet's destination was found in time.
    NoRoute,
    /// An outage of the link cut off or discarded the packet.
    Outage,
    /// The policer had too few tokens for the packet.
    Policer,
    /// Bursts of other stations destroyed the packet, and nothing retransmits it.
    Collision,
    /// The packet was larger than the MTU of the link.
    TooLarge,
}

impl DropCause {
    /// All causes, in the order of their indices in results.
    pub const ALL: [Self; 12] = [
        Self::Queue,
        Self::Error,
        Self::Aqm,
        Self::AckFilter,
        Self::Ttl,
        Self::Retry,
        Self::Lifetime,
        Self::NoRoute,
        Self::Outage,
        Self::Policer,
        Self::Collision,
        Self::TooLarge,
    ];

    /// Returns the name of the cause in result files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Error => "error",
            Self::Aqm => "aqm",
            Self::AckFilter => "ack_filter",
            Self::Ttl => "ttl",
            Self::Retry => "retry",
            Self::Lifetime => "lifetime",
            Self::NoRoute => "no_route",
            Self::Outage => "outage",
            Self::Policer => "policer",
            Self::Collision => "collision",
            Self::TooLarge => "too_large",
        }
    }
}

/// A packet that a queue has dropped.
#[derive(Clone, Copy, Debug)]
pub struct Dropped<B> {
    /// Time of the drop.
    pub at: Instant,
    /// The dropped packet.
    pub packet: Packet<B>,
    /// Cause of the drop.
    pub cause: DropCause,
}

/// Decisions of a discipline about packets, with their counts.
#[derive(Clone, Debug)]
pub struct Verdicts<B> {
    /// Dropped packets that the caller has not taken yet, in the order of time.
    pub(crate) dropped: Vec<Dropped<B>>,
    /// Number of packets dropped because the buffer was full.
    pub(crate) full: u64,
    /// Number of packets dropped by the discipline.
    pub(crate) early: u64,
    /// Number of ACKs filtered out.
    pub(crate) thinned: u64,
    /// Number of packets marked.
    pub(crate) marked: u64,
    /// Number of packets dropped because the beam has no far end for them.
    pub(crate) astray: u64,
}

impl<B> Default for Verdicts<B> {
    fn default() -> Self {
        Self { dropped: Vec::new(), full: 0, early: 0, thinned: 0, marked: 0, astray: 0 }
    }
}

impl<B: Clone> Verdicts<B> {
    /// Drops a packet because the queue is full.
    pub fn full(&mut self, time: Instant, packet: Packet<B>) {
        self.full += 1;
        self.dropped.push(Dropped { at: time, packet, cause: DropCause::Queue });
    }

    /// Drops a packet although the queue is not full.
    pub fn drop_early(&mut self, time: Instant, packet: Packet<B>) {
        self.early += 1;
        self.dropped.push(Dropped { at: time, packet, cause: DropCause::Aqm });
    }

    /// Drops an ACK that a later one makes superfluous.
    pub fn thin(&mut self, time: Instant, packet: Packet<B>) {
        self.thinned += 1;
        self.dropped.push(Dropped { at: time, packet, cause: DropCause::AckFilter });
    }

    /// Drops a packet because the beam has no far end for it.
    pub fn go_astray(&mut self, time: Instant, packet: Packet<B>) {
        self.astray += 1;
        self.dropped.push(Dropped { at: time, packet, cause: DropCause::NoRoute });
    }

    /// Records a packet that was lost before it could join the queue.
    pub fn lost(&mut self, time: Instant, packet: Packet<B>) {
        self.dropped.push(Dropped { at: time, packet, cause: DropCause::Error });
    }

    /// Records a packet that the policer dropped.
    pub fn police(&mut self, time: Instant, packet: Packet<B>) {
        self.dropped.push(Dropped { at: time, packet, cause: DropCause::Policer });
    }

    /// Records a packet above the MTU of the link.
    pub fn too_large(&mut self, time: Instant, packet: Packet<B>) {
        self.dropped.push(Dropped { at: time, packet, cause: DropCause::TooLarge });
    }

    /// Marks a packet, which must support ECN.
    pub fn mark(&mut self, packet: &mut Packet<B>) {
        debug_assert!(packet.ecn().is_capable(), "only ECT can become CE (RFC 3168 §5)");
        self.marked += u64::from(packet.ecn() != Codepoint::Ce);
        packet.mark();
    }
}

/// A packet that waits in a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueuedPacket<B> {
    /// Arrival time.
    pub since: Instant,
    /// The waiting packet.
    pub packet: Packet<B>,
}

/// A queue of packets in the order of their arrival.
#[derive(Clone, Debug)]
pub struct Fifo<B> {
    packets: VecDeque<QueuedPacket<B>>,
    bytes: u64,
}

impl<B> Default for Fifo<B> {
    fn default() -> Self {
        Self { packets: VecDeque::new(), bytes: 0 }
    }
}

impl<B: Clone> Fifo<B> {
    /// Appends a packet.
    pub fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.bytes += u64::from(packet.size);
        self.packets.push_back(QueuedPacket { since: now, packet });
    }

    /// Removes the packet that has waited longest.
    pub fn pop(&mut self) -> Option<QueuedPacket<B>> {
        let first = self.packets.pop_front()?;
        self.bytes -= u64::from(first.packet.size);
        Some(first)
    }

    /// Removes the packets for which `leave` returns true.
    pub fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        let withdrawn = withdraw(&mut self.packets, leave);
        self.bytes -= bytes(&withdrawn);
        withdrawn
    }

    /// Returns the packet that has waited longest.
    pub fn first(&self) -> Option<&QueuedPacket<B>> {
        self.packets.front()
    }

    /// Returns true if no packet waits.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns the backlog.
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }
}

/// Removes the packets for which `leave` returns true from a queue.
fn withdraw<B: Clone>(
    waiting: &mut VecDeque<QueuedPacket<B>>,
    leave: &mut dyn FnMut(&Packet<B>) -> bool,
) -> Vec<Packet<B>> {
    let mut withdrawn = Vec::new();
    waiting.retain(|QueuedPacket { packet, .. }| {
        let leaves = leave(packet);
        if leaves {
            withdrawn.push(packet.clone());
        }
        !leaves
    });
    withdrawn
}

/// Returns the total size of the packets in bytes.
fn bytes<B>(packets: &[Packet<B>]) -> u64 {
    packets.iter().map(|packet| u64::from(packet.size)).sum()
}

#[cfg(test)]
mod tests;
