//! One direction of a link: queue, serialisation, errors, propagation.
//!
//! There are two kinds behind one interface. [`ComputedLink`] has a drop-tail queue and nothing overtakes on it: a
//! packet's departure is known when it arrives. [`QueuedLink`] asks a [`Discipline`](crate::queue::Discipline) each
//! time its transmitter is free, and may hold packets back, deliver them twice, or change by a [`Timetable`].
//!
//! Both cost one event a packet, its arrival at the far end. Whoever drives links sends and receives on each kind by
//! itself, so that the kind is looked at once a packet.

mod beam;
mod computed;
mod cut;
mod demand;
mod disturbance;
mod fec;
mod jitter;
mod queued;
mod timetable;
mod waits;

pub use beam::{Beam, FarEnd, Flight, NO_EXIT, RatesByElevation, Unrest};
pub use computed::{ComputedLink, LinkConstants, PacketSpares};
pub use demand::Demand;
pub use disturbance::{Disturbance, Reordering};
pub use fec::BlockCode;
pub use jitter::{Distribution, Jitter, Normal, Uniform};
pub use queued::QueuedLink;
pub use timetable::{Deliveries, Outage, Phase, Timetable};
pub use waits::Waits;

use crate::NodeId;
pub use crate::config::LinkConfig;
use crate::limit::Backlog;
use lightlag_core::Instant;
use lightlag_core::own::Fault;

/// A packet was refused because the queue is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueFull;

/// What a link direction has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkCounters {
    /// Packets that came to the queue.
    pub offered: u64,
    /// Packets dropped because the queue was full.
    pub dropped_queue: u64,
    /// Packets that the queue discipline dropped, although they would have fitted.
    pub dropped_aqm: u64,
    /// ACKs that the queue thinned out.
    pub dropped_acks: u64,
    /// Packets that the queue discipline marked.
    pub marked: u64,
    /// Packets that arrived corrupted.
    pub dropped_error: u64,
    /// Packets that an outage cut or discarded.
    pub dropped_outage: u64,
    /// Packets for which a beam had no far end, or no longer had one while they waited.
    pub dropped_route: u64,
    /// Packets that waited and were taken back, to go another way.
    pub withdrawn: u64,
    /// Packets handed over intact at the far end.
    pub delivered: u64,
    /// Copies that the link made.
    pub duplicated: u64,
    /// Packets held back, so that later ones could pass.
    pub reordered: u64,
    /// Repair packets that the code sent.
    pub repair_packets: u64,
    /// Lost packets that the code gave back.
    pub repaired: u64,
    /// The most packets that ever waited at once.
    pub max_queue: u64,
}

/// What a link direction did up to the end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkTotals {
    /// Bytes whose transmission had begun, headers included.
    pub carried_bytes: u64,
    /// Nanoseconds of transmission. With opportunities instead of a rate, the fraction of their bytes that was carried, of the
    /// time up to `end`.
    pub busy: u128,
    /// Nanoseconds that packets waited, all together: divided by the run's length, the mean queue (Little's law).
    pub queued: u128,
}

/// One direction of a link.
pub enum Link<B> {
    /// Drop-tail and in order: nearly every link, by value in the list of links.
    Computed(ComputedLink<B>),
    /// With a queue discipline, and perhaps out of order.
    Queued(Box<QueuedLink<B>>),
}

impl<B: Clone + Default> Link<B> {
    /// The node to which it leads.
    #[inline]
    pub fn to(&self) -> NodeId {
        match self {
            Self::Computed(link) => link.to(),
            Self::Queued(link) => link.to(),
        }
    }

    /// The constants of the link.
    pub fn config(&self) -> LinkConfig {
        match self {
            Self::Computed(link) => link.config(),
            Self::Queued(link) => *link.config(),
        }
    }

    /// What has been counted so far.
    pub fn counters(&self) -> LinkCounters {
        match self {
            Self::Computed(link) => link.counters(),
            Self::Queued(link) => link.counters(),
        }
    }

    /// Packets between the queue and the far end.
    pub fn in_flight(&self) -> usize {
        match self {
            Self::Computed(link) => link.in_flight(),
            Self::Queued(link) => link.in_flight(),
        }
    }

    /// Whether a code protects its packets.
    pub fn is_coded(&self) -> bool {
        match self {
            Self::Computed(_) => false,
            Self::Queued(link) => link.is_coded(),
        }
    }

    /// The failure of its queue discipline, if that comes from outside and has failed.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Computed(_) => None,
            Self::Queued(link) => link.fault(),
        }
    }

    /// Keeps from now on how long data packets wait.
    pub fn measure_waits(&mut self) {
        match self {
            Self::Computed(link) => link.measure_waits(),
            Self::Queued(link) => link.measure_waits(),
        }
    }

    /// How long data packets have waited, if that is measured.
    pub fn waits(&self) -> Option<&Waits> {
        match self {
            Self::Computed(link) => link.waits(),
            Self::Queued(link) => link.waits(),
        }
    }

    /// What waits now.
    pub fn backlog(&mut self, now: Instant) -> Backlog {
        match self {
            Self::Computed(link) => link.backlog(now),
            Self::Queued(link) => link.backlog(now),
        }
    }

    /// The totals of a run that ended at `end`.
    pub fn totals(&self, end: Instant) -> LinkTotals {
        match self {
            Self::Computed(link) => link.totals(end),
            Self::Queued(link) => link.totals(end),
        }
    }
}
