//! Queue disciplines: which packet leaves next, and which is dropped or marked instead.
//!
//! A [`Discipline`] is asked when a packet comes and when the transmitter is free, in the order of time. One file each:
//!
//! - [`drop_tail`]: first in, first out, up to a limit.
//! - [`red`]: by the average length of the queue, at random.
//! - [`codel`]: by the time that packets wait, at the head.
//! - [`fq_codel`]: a queue for each flow, with CoDel on each.
//! - [`pie`]: by the time that packets would wait, at random.
//! - [`dualpi2`]: a second queue for senders that answer each mark, coupled to the first.
//! - [`step`]: marks beyond a threshold.
//! - [`priority`]: packets of low priority make room for the others.
//! - [`ack_filter`]: fewer ACKs.
//! - [`own`]: as a user says.
//!
//! A file declares what can be set, too ([`Kind`]); a line below makes it known by its name.

pub mod ack_filter;
pub mod codel;
pub mod drop_tail;
pub mod dualpi2;
pub mod fq_codel;
pub mod own;
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
pub use pie::{Pie, PieConfig};
pub use priority::{Priority, PriorityMode};
pub use red::{Red, RedConfig};
pub use registry::Kind;
pub use step::{Step, StepConfig};

use crate::{LinkConfig, Packet};
use lightlag_core::params::Limit;
use lightlag_core::{Codepoint, Duration, Instant, RandomStream, Rate};
use std::collections::VecDeque;

/// A queue discipline. Calls come in the order of time.
pub trait Discipline<B>: Send {
    /// Takes a packet that comes now. A packet that is not kept, this one or another, goes to `verdicts`.
    fn enqueue(&mut self, now: Instant, packet: Packet<B>, verdicts: &mut Verdicts<B>);

    /// The packet to transmit now, and since when it waited; `None` leaves the link idle until the next packet comes.
    fn dequeue(&mut self, now: Instant, verdicts: &mut Verdicts<B>) -> Option<Waiting<B>>;

    /// Packets that wait.
    fn backlog(&self) -> Backlog;

    /// Takes out the packets that wait and `leave`, in the order in which they came within each queue, without a verdict.
    fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>>;

    /// The link sends at another rate from `at` on.
    fn rate_changes(&mut self, _at: Instant, _rate: Rate) {}

    /// Its failure. Only disciplines from outside can [fail](own).
    fn fault(&self) -> Option<&own::Fault> {
        None
    }
}

// One line a discipline: its variant, its name in a scenario, its parameters as asked for and on a link.
registry::disciplines! {
    Red, "red", RedConfig<Limit> => RedConfig;
    CoDel, "codel", CoDelConfig => CoDelConfig;
    FqCoDel, "fq_codel", FqCoDelConfig => FqCoDelConfig;
    Pie, "pie", PieConfig => PieConfig;
    DualPi2, "dualpi2", DualPi2Config => DualPi2Config;
    Step, "step", StepConfig<Limit> => StepConfig;
    Priority, "priority", PriorityMode => PriorityMode;
    AckFilter, "ack_filter", AckFilterConfig => AckFilterConfig;
}

/// Why a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropCause {
    /// The queue was full.
    Queue,
    /// It was corrupted on the link, or lost before the queue.
    Error,
    /// The queue discipline dropped it, although there was room.
    Aqm,
    /// It was an ACK, and the queue thins them out.
    AckFilter,
    /// It came to a node with a TTL of 1, and not to its destination.
    Ttl,
    /// The MAC of a radio gave up after the last retry.
    Retry,
    /// It waited too long at a radio.
    Lifetime,
    /// No route to its destination was found, or none in time.
    NoRoute,
    /// An outage of the link cut it or discarded it.
    Outage,
}

impl DropCause {
    /// All of them, in the order in which results number them.
    pub const ALL: [Self; 9] = [
        Self::Queue,
        Self::Error,
        Self::Aqm,
        Self::AckFilter,
        Self::Ttl,
        Self::Retry,
        Self::Lifetime,
        Self::NoRoute,
        Self::Outage,
    ];

    /// The name in result files.
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
        }
    }
}

/// A packet that a queue has dropped.
#[derive(Clone, Copy, Debug)]
pub struct Dropped<B> {
    /// When.
    pub at: Instant,
    /// What.
    pub packet: Packet<B>,
    /// Why.
    pub cause: DropCause,
}

/// Decisions of a discipline about packets.
#[derive(Clone, Debug)]
pub struct Verdicts<B> {
    /// Dropped and not yet fetched, in the order of time.
    pub(crate) dropped: Vec<Dropped<B>>,
    /// Packets dropped for want of room so far.
    pub(crate) full: u64,
    /// Packets dropped by the discipline so far.
    pub(crate) early: u64,
    /// ACKs thinned out so far.
    pub(crate) thinned: u64,
    /// Packets marked so far.
    pub(crate) marked: u64,
    /// Packets so far that had nowhere to go.
    pub(crate) astray: u64,
}

impl<B> Default for Verdicts<B> {
    fn default() -> Self {
        Self { dropped: Vec::new(), full: 0, early: 0, thinned: 0, marked: 0, astray: 0 }
    }
}

impl<B: Clone> Verdicts<B> {
    /// Drops a packet for want of room.
    pub fn full(&mut self, at: Instant, packet: Packet<B>) {
        self.full += 1;
        self.dropped.push(Dropped { at, packet, cause: DropCause::Queue });
    }

    /// Drops a packet that would have had room.
    pub fn drop_early(&mut self, at: Instant, packet: Packet<B>) {
        self.early += 1;
        self.dropped.push(Dropped { at, packet, cause: DropCause::Aqm });
    }

    /// Drops an ACK that a later one makes superfluous.
    pub fn thin(&mut self, at: Instant, packet: Packet<B>) {
        self.thinned += 1;
        self.dropped.push(Dropped { at, packet, cause: DropCause::AckFilter });
    }

    /// Drops a packet for which there is no far end.
    pub fn go_astray(&mut self, at: Instant, packet: Packet<B>) {
        self.astray += 1;
        self.dropped.push(Dropped { at, packet, cause: DropCause::NoRoute });
    }

    /// Notes a packet that was lost before it could join the queue.
    pub fn lost(&mut self, at: Instant, packet: Packet<B>) {
        self.dropped.push(Dropped { at, packet, cause: DropCause::Error });
    }

    /// Marks a packet whose transport understands marks.
    pub fn mark(&mut self, packet: &mut Packet<B>) {
        debug_assert!(packet.ecn().is_capable(), "only ECT can become CE (RFC 3168 §5)");
        self.marked += u64::from(packet.ecn() != Codepoint::Ce);
        packet.mark();
    }
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<B> {
    /// Since when.
    pub since: Instant,
    /// What.
    pub packet: Packet<B>,
}

/// Packets in the order in which they came.
#[derive(Clone, Debug)]
pub struct Fifo<B> {
    packets: VecDeque<Waiting<B>>,
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
        self.packets.push_back(Waiting { since: now, packet });
    }

    /// Takes the packet that has waited longest.
    pub fn pop(&mut self) -> Option<Waiting<B>> {
        let first = self.packets.pop_front()?;
        self.bytes -= u64::from(first.packet.size);
        Some(first)
    }

    /// Takes out the packets that `leave`.
    pub fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        let withdrawn = withdraw(&mut self.packets, leave);
        self.bytes -= bytes(&withdrawn);
        withdrawn
    }

    /// The packet that has waited longest.
    pub fn first(&self) -> Option<&Waiting<B>> {
        self.packets.front()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Packets that wait.
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }
}

/// Takes the packets that `leave` out of a queue.
fn withdraw<B: Clone>(waiting: &mut VecDeque<Waiting<B>>, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
    let mut withdrawn = Vec::new();
    waiting.retain(|Waiting { packet, .. }| {
        let leaves = leave(packet);
        if leaves {
            withdrawn.push(packet.clone());
        }
        !leaves
    });
    withdrawn
}

/// Bytes of these packets.
fn bytes<B>(packets: &[Packet<B>]) -> u64 {
    packets.iter().map(|packet| u64::from(packet.size)).sum()
}

#[cfg(test)]
mod tests;
