//! Shared media: the interface between a medium that many nodes share and the rest of a simulator.
//!
//! A medium is sans-IO, like a transport. It takes packets and the time, and returns events and the times of the next
//! calls: one for the medium, and one for each station. `lightlag-wifi` is an implementation.

use crate::queue::DropCause;
use lightlag_core::{Dscp, Instant, Probability};

/// A station of a medium: the attachment of a node to it. Stations are numbered from 0, in the order of the members of
/// the medium.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StationId(pub u32);

impl StationId {
    /// Returns the station with this index in a list of all stations.
    #[inline]
    pub const fn at(index: usize) -> Self {
        Self(index as u32)
    }

    /// Returns the index of the station in a list of all stations.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The addressee of a packet on a medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addressee {
    /// One station, which acknowledges the packet.
    One(StationId),
    /// Every station that receives the packet.
    All,
}

/// Precedence that a packet has at its station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precedence {
    /// The precedence configured for the station.
    Station,
    /// The precedence of this code point.
    Marked(Dscp),
    /// No precedence: a message of routing or of address resolution.
    None,
}

/// A packet for a medium.
#[derive(Clone, Debug)]
pub struct Outgoing<P> {
    /// Addressee on the medium.
    pub to: Addressee,
    /// Size of the packet at the network layer, in bytes.
    pub size: u32,
    /// Precedence at the station.
    pub precedence: Precedence,
    /// Payload of the frame.
    pub payload: P,
}

/// Report on a packet on a medium.
#[derive(Clone, Debug)]
pub enum Event<P> {
    /// The packet arrived at one of its destination stations.
    Received {
        /// Receiving station.
        at: StationId,
        /// Sending station.
        from: StationId,
        /// Addressee of the frame.
        to: Addressee,
        /// Payload of the frame.
        payload: P,
        /// Signal-to-noise ratio without interference, in dB.
        snr_db: f32,
    },
    /// The receiver acknowledged the packet.
    Acknowledged {
        /// Sending station.
        at: StationId,
        /// Receiving station.
        to: StationId,
        /// Payload of the frame.
        payload: P,
    },
    /// The medium dropped the packet.
    Dropped {
        /// Station that dropped the packet.
        at: StationId,
        /// Addressee of the frame.
        to: Addressee,
        /// Payload of the frame.
        payload: P,
        /// Cause of the drop.
        cause: DropCause,
        /// Whether the packet arrived nevertheless, because only acknowledgements were lost.
        arrived: bool,
    },
    /// The medium dropped a frame that carries no packet.
    Unreachable {
        /// Station that dropped the frame.
        at: StationId,
        /// Addressee of the frame.
        to: StationId,
        /// Cause of the drop.
        cause: DropCause,
    },
}

/// Numbers of packets at a station, by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets offered at this station.
    pub offered: u64,
    /// Unicast packets that were acknowledged, and broadcast packets that were sent.
    pub settled: u64,
    /// Packets that the medium dropped.
    pub dropped: u64,
    /// Packets that are still at the station.
    pub waiting: u64,
}

/// A medium that many stations share. `P` is the payload of its frames.
///
/// Time never decreases from call to call. After each call that changes the state, the caller takes all events, and
/// then queries the stations for which the time of the next call has changed.
pub trait Medium<P> {
    /// Adds a packet to the queue of a station.
    fn offer(&mut self, now: Instant, station: StationId, packet: Outgoing<P>);

    /// Returns when the medium must be called next.
    fn next_wake(&self) -> Option<Instant>;

    /// Handles what is due on the medium, such as the end of frames.
    fn handle_wake(&mut self, now: Instant);

    /// Returns when a station must be called next, if nothing happens before. By default stations have no calls.
    fn next_station_wake(&self, _station: StationId) -> Option<Instant> {
        None
    }

    /// Handles what is due at a station, such as the end of a backoff.
    fn handle_station_wake(&mut self, _now: Instant, _station: StationId) {}

    /// Returns the next event.
    fn poll_event(&mut self) -> Option<Event<P>>;

    /// Returns the event that [`Self::poll_event`] will return after `skipped` others.
    fn upcoming(&self, skipped: usize) -> Option<&Event<P>>;

    /// Reports each station for which the time of the next call may have changed since the last call of this function.
    fn rearmed(&mut self, _report: &mut dyn FnMut(StationId, Instant)) {}

    /// Reports the payload of each packet that is still at a station and has not arrived anywhere.
    fn pending(&self, report: &mut dyn FnMut(&P));

    /// Returns the position of a station, in metres to the east, to the north and up; the origin if positions have no
    /// effect.
    fn position(&mut self, _station: StationId, _now: Instant) -> [f64; 3] {
        [0.0; 3]
    }

    /// Reports each station that receives data packets from `station` with a probability above `min_delivery`.
    fn neighbours(
        &mut self,
        station: StationId,
        now: Instant,
        min_delivery: Probability,
        report: &mut dyn FnMut(StationId),
    );

    /// Updates all counters to the end of the run.
    fn settle(&mut self, end: Instant);

    /// Returns the counters of a station after [`Self::settle`].
    fn counters(&self, station: StationId) -> Counters;
}
