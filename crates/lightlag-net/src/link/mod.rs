//! One direction of a link: queue, serialisation, errors, propagation.
//!
//! [`ComputedLink`] has a drop-tail queue without overtaking: the departure of a packet is known when the packet
//! arrives. All other kinds implement [`LinkModel`]. [`QueuedLink`] queries a [`Discipline`](crate::queue::Discipline)
//! each time its transmitter is free, and may delay packets or deliver them twice. Its rate and delay may change
//! according to a [`Timetable`].
//!
//! Both cost one event per packet, its arrival at the far end. The caller sends and receives on computed links and on
//! models separately, so that it checks the kind once per packet.

mod aggregate;
mod baseband;
mod beam;
mod computed;
mod cut;
mod demand;
mod disturbance;
mod fec;
mod jitter;
mod modulation;
mod police;
mod queued;
mod ramp;
mod slots;
mod state_channel;
mod timetable;
mod waits;

pub use aggregate::Aggregate;
pub use baseband::{BasebandFrames, FrameTotals};
pub use beam::{Beam, FarEnd, Flight, NO_EXIT, RatesByElevation, Unrest};
pub use computed::{ComputedLink, LinkConstants, PacketSpares};
pub use demand::Demand;
pub use disturbance::{Disturbance, Reordering};
pub use fec::BlockCode;
pub use jitter::{Distribution, Jitter, Normal, Uniform};
pub use modulation::{Span, modulate, modulate_loss};
pub use police::Policer;
pub use queued::QueuedLink;
pub use ramp::Ramp;
pub use slots::Slots;
pub use state_channel::{RadioState, StateChannel};
pub use timetable::{Deliveries, Outage, Phase, Timetable};
pub use waits::Waits;

pub use crate::config::LinkConfig;
use crate::limit::Backlog;
use crate::queue::Dropped;
use crate::{NodeId, Packet};
use lightlag_core::custom::Fault;
use lightlag_core::{Duration, Instant};
use std::vec::Drain;

/// Error for a packet dropped because the queue is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueFull;

/// Counters of a link direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkCounters {
    /// Packets offered to the queue.
    pub offered: u64,
    /// Packets dropped because the queue was full.
    pub dropped_queue: u64,
    /// Packets that the queue discipline dropped although the queue was not full.
    pub dropped_aqm: u64,
    /// ACKs that the queue filtered out.
    pub dropped_acks: u64,
    /// Packets that the queue discipline marked.
    pub marked: u64,
    /// Packets above the rate of the policer.
    pub dropped_police: u64,
    /// Packets above the MTU.
    pub dropped_mtu: u64,
    /// Packets that arrived corrupted.
    pub dropped_error: u64,
    /// Packets that an outage cut off or discarded.
    pub dropped_outage: u64,
    /// Packets for which a beam had no far end, either on arrival or later while they waited.
    pub dropped_route: u64,
    /// Waiting packets that were removed to be rerouted.
    pub withdrawn: u64,
    /// Packets handed over intact at the far end.
    pub delivered: u64,
    /// Copies of packets that the link made.
    pub duplicated: u64,
    /// Packets that were delayed so that later ones could overtake.
    pub reordered: u64,
    /// Repair packets sent by the block code.
    pub repair_packets: u64,
    /// Lost packets recovered by the block code.
    pub repaired: u64,
    /// Maximum number of packets that waited simultaneously.
    pub max_queue: u64,
}

/// Totals of a link direction up to the end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkTotals {
    /// Bytes whose transmission had started, headers included.
    pub carried_bytes: u64,
    /// Transmission time in nanoseconds. With opportunities instead of a rate: the time up to `end`, times the fraction
    /// of the bytes of all opportunities that was used.
    pub busy: u128,
    /// Total waiting time of packets in nanoseconds. Divided by the duration of the run it is the mean queue length in
    /// packets (Little's law).
    pub queued: u128,
    /// Totals of baseband frames, if packets are sent in them.
    pub frames: Option<FrameTotals>,
}

/// One direction of a link whose departures are not known when packets arrive.
///
/// The caller offers packets with [`send`](Self::send), calls [`receive_at`](Self::receive_at) at the time that
/// [`next_wake`](Self::next_wake) returns, and takes the [`dropped`](Self::dropped) packets after both. At the end of a
/// run each offered packet must be in one of the counters or [`in_flight`](Self::in_flight).
pub trait LinkModel<B> {
    /// Returns the node at the far end.
    fn to(&self) -> NodeId;

    /// Returns the configuration of the link.
    fn config(&self) -> &LinkConfig;

    /// Returns the counters so far.
    fn counters(&self) -> LinkCounters;

    /// Returns the number of packets that wait, are in transmission or are in propagation.
    fn in_flight(&self) -> usize;

    /// Returns the totals of a run that ended at `end`.
    fn totals(&self, end: Instant) -> LinkTotals;

    /// Returns the backlog at `now`.
    fn backlog(&mut self, now: Instant) -> Backlog;

    /// Starts recording the waiting times of data packets.
    fn measure_waits(&mut self);

    /// Returns the waiting times of data packets, if they are recorded.
    fn waits(&self) -> Option<&Waits>;

    /// Returns true if a block code protects the packets.
    fn is_coded(&self) -> bool {
        false
    }

    /// Returns the failure of the link's custom algorithm; `None` if it has none or none has failed.
    fn fault(&self) -> Option<&Fault> {
        None
    }

    /// Returns the minimum time from [`send`](Self::send) to the arrival of a packet. `None` if the link cannot be cut
    /// between two partitions, because packets may overtake, or a block code delivers them later than they arrive. Only
    /// a [`QueuedLink`] can be cut.
    fn least_crossing(&self) -> Option<Duration> {
        None
    }

    /// Adds a packet to the queue, unless it is dropped. Packets that are dropped, this one or others, are returned by
    /// [`dropped`](Self::dropped).
    fn send(&mut self, now: Instant, packet: Packet<B>);

    /// Removes the packet that arrives at the far end at `now`, if there is one. The node is returned as well if the
    /// link has several far ends.
    fn receive_at(&mut self, now: Instant) -> Option<(Packet<B>, Option<NodeId>)>;

    /// Returns when to call [`receive_at`](Self::receive_at) next: the time of the first known arrival, or a lower
    /// bound of the first arrival that is not known yet.
    fn next_wake(&mut self) -> Option<Instant>;

    /// Makes every decision that is due by `now`.
    fn catch_up(&mut self, now: Instant);

    /// Removes the packets dropped since the last call, in the order of time.
    fn dropped(&mut self) -> Drain<'_, Dropped<B>>;

    /// Returns the link if it is a [`QueuedLink`]. Only such a link can be cut, or connect satellites.
    fn queued(&self) -> Option<&QueuedLink<B>> {
        None
    }

    /// Returns the link if it is a [`QueuedLink`].
    fn queued_mut(&mut self) -> Option<&mut QueuedLink<B>> {
        None
    }
}

/// One direction of a link.
pub enum Link<B> {
    /// A drop-tail link without reordering. Nearly all links are of this kind, so it is stored by value.
    Computed(ComputedLink<B>),
    /// A link of any other kind.
    Modelled(Box<dyn LinkModel<B> + Send>),
}

impl<B: Clone + Default> Link<B> {
    /// Returns the node at the far end.
    #[inline]
    pub fn to(&self) -> NodeId {
        match self {
            Self::Computed(link) => link.to(),
            Self::Modelled(link) => link.to(),
        }
    }

    /// Returns the configuration of the link.
    pub fn config(&self) -> LinkConfig {
        match self {
            Self::Computed(link) => link.config(),
            Self::Modelled(link) => *link.config(),
        }
    }

    /// Returns the counters so far.
    pub fn counters(&self) -> LinkCounters {
        match self {
            Self::Computed(link) => link.counters(),
            Self::Modelled(link) => link.counters(),
        }
    }

    /// Returns the number of packets that wait, are in transmission or are in propagation.
    pub fn in_flight(&self) -> usize {
        match self {
            Self::Computed(link) => link.in_flight(),
            Self::Modelled(link) => link.in_flight(),
        }
    }

    /// Returns true if a block code protects the packets.
    pub fn is_coded(&self) -> bool {
        self.model().is_some_and(LinkModel::is_coded)
    }

    /// Returns the failure of the link's queue discipline; `None` unless it is a custom one that has failed.
    pub fn fault(&self) -> Option<&Fault> {
        self.model()?.fault()
    }

    /// Starts recording the waiting times of data packets.
    pub fn measure_waits(&mut self) {
        match self {
            Self::Computed(link) => link.measure_waits(),
            Self::Modelled(link) => link.measure_waits(),
        }
    }

    /// Returns the waiting times of data packets, if they are recorded.
    pub fn waits(&self) -> Option<&Waits> {
        match self {
            Self::Computed(link) => link.waits(),
            Self::Modelled(link) => link.waits(),
        }
    }

    /// Returns the backlog at `now`.
    pub fn backlog(&mut self, now: Instant) -> Backlog {
        match self {
            Self::Computed(link) => link.backlog(now),
            Self::Modelled(link) => link.backlog(now),
        }
    }

    /// Returns the totals of a run that ended at `end`.
    pub fn totals(&self, end: Instant) -> LinkTotals {
        match self {
            Self::Computed(link) => link.totals(end),
            Self::Modelled(link) => link.totals(end),
        }
    }

    /// Returns the minimum time from `send` to the arrival of a packet; `None` if the link cannot be cut.
    pub fn least_crossing(&self) -> Option<Duration> {
        match self {
            Self::Computed(link) => Some(link.config().delay),
            Self::Modelled(link) => link.least_crossing(),
        }
    }

    /// Returns the link as a [`LinkModel`]; `None` if it is computed.
    pub fn model(&self) -> Option<&dyn LinkModel<B>> {
        match self {
            Self::Computed(_) => None,
            Self::Modelled(link) => Some(&**link),
        }
    }

    /// Returns the link as a mutable [`LinkModel`]; `None` if it is computed.
    pub fn model_mut(&mut self) -> Option<&mut (dyn LinkModel<B> + Send + 'static)> {
        match self {
            Self::Computed(_) => None,
            Self::Modelled(link) => Some(&mut **link),
        }
    }

    /// Returns the link if it is a [`QueuedLink`].
    pub fn queued(&self) -> Option<&QueuedLink<B>> {
        self.model()?.queued()
    }

    /// Returns the link if it is a [`QueuedLink`].
    pub fn queued_mut(&mut self) -> Option<&mut QueuedLink<B>> {
        self.model_mut()?.queued_mut()
    }
}
