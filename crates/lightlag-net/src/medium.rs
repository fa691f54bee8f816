//! Shared media: what a medium that many nodes share is to the rest of a simulator.
//!
//! A medium is sans-IO, like a transport. It takes packets and the time, and returns events and the instants at which it is to
//! be called again: one for the medium, and one for each station. `lightlag-wifi` is an implementation.

use crate::queue::DropCause;
use lightlag_core::{Dscp, Instant, Probability};

/// A station of a medium: a node's end of it, numbered from 0 in the order of the members of the medium.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StationId(pub u32);

impl StationId {
    /// The station at an index of a list of all stations.
    #[inline]
    pub const fn at(index: usize) -> Self {
        Self(index as u32)
    }

    /// Its index in such a list.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The addressee of a packet on a medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addressee {
    /// One station, which acknowledges it.
    One(StationId),
    /// Every station that receives it.
    All,
}

/// The precedence of a packet at its station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precedence {
    /// That of the packets of the station.
    Station,
    /// That of a packet with this code point.
    Marked(Dscp),
    /// None: a message of routing or of address resolution.
    None,
}

/// A packet for a medium.
#[derive(Clone, Debug)]
pub struct Outgoing<P> {
    /// Its addressee.
    pub to: Addressee,
    /// Bytes of the packet at the network layer.
    pub size: u32,
    /// Its precedence.
    pub precedence: Precedence,
    /// The packet.
    pub payload: P,
}

/// Something that happened to a packet on a medium.
#[derive(Clone, Debug)]
pub enum Event<P> {
    /// It arrived at a station for which it is.
    Received {
        /// This station.
        at: StationId,
        /// The station that sent it.
        from: StationId,
        /// Its addressee.
        to: Addressee,
        /// The packet.
        payload: P,
        /// Ratio of signal to noise, without interference, in dB.
        snr_db: f32,
    },
    /// Its receiver acknowledged it.
    Acknowledged {
        /// The station that sent it.
        at: StationId,
        /// The station that received it.
        to: StationId,
        /// The packet.
        payload: P,
    },
    /// The medium dropped it.
    Dropped {
        /// The station that was to send it.
        at: StationId,
        /// Its addressee.
        to: Addressee,
        /// The packet.
        payload: P,
        /// The reason.
        cause: DropCause,
        /// Whether it had arrived all the same: only acknowledgements were lost.
        arrived: bool,
    },
    /// The medium dropped a frame of its own, which holds no packet.
    Unreachable {
        /// The station that was to send it.
        at: StationId,
        /// Its addressee.
        to: StationId,
        /// The reason.
        cause: DropCause,
    },
}

/// The packets of a station, by what became of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets that were offered at this station.
    pub offered: u64,
    /// Those that their receivers acknowledged, and those for all that have left.
    pub settled: u64,
    /// Those that the medium dropped.
    pub dropped: u64,
    /// Those that are still at the station.
    pub waiting: u64,
}

/// A medium that many stations share; `P` is what its frames carry.
///
/// Time never decreases from call to call. After each call that changes something the caller takes all events, and then asks
/// which stations are to be called at another time.
pub trait Medium<P> {
    /// Gives a packet to a station.
    fn offer(&mut self, now: Instant, at: StationId, packet: Outgoing<P>);

    /// Returns when the medium is to be called next.
    fn next_wake(&self) -> Option<Instant>;

    /// Does what is due on the medium: frames end.
    fn handle_wake(&mut self, now: Instant);

    /// Returns when a station is to be called next, if nothing happens before.
    fn next_station_wake(&self, station: StationId) -> Option<Instant>;

    /// Does what is due at a station: a backoff or a wait ends.
    fn handle_station_wake(&mut self, now: Instant, station: StationId);

    /// Returns the next event.
    fn poll_event(&mut self) -> Option<Event<P>>;

    /// Returns the event that [`Self::poll_event`] will return after `skipped` others.
    fn upcoming(&self, skipped: usize) -> Option<&Event<P>>;

    /// Reports each station that may have to be called at another time than after the last call of this function.
    fn rearmed(&mut self, report: &mut dyn FnMut(StationId, Instant));

    /// Reports each packet that is at a station and has not arrived anywhere.
    fn pending(&self, report: &mut dyn FnMut(&P));

    /// Returns where a station is: metres to the east, to the north and up.
    fn position(&mut self, station: StationId, now: Instant) -> [f64; 3];

    /// Reports each station to which packets of data from this one arrive with a probability above `min_delivery`.
    fn neighbours(
        &mut self,
        station: StationId,
        now: Instant,
        min_delivery: Probability,
        report: &mut dyn FnMut(StationId),
    );

    /// Brings all counters up to the end of the run.
    fn settle(&mut self, end: Instant);

    /// Returns the counters of a station after [`Self::settle`].
    fn counters(&self, station: StationId) -> Counters;
}
