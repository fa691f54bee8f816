//! A station: its settings, its components and its counters.

use super::access::{Access, State};
use super::agreement::Agreements;
use super::frame::{Frame, Msdu, Peer};
use super::queue::{Pending, Queue};
use super::reorder::Reorder;
use crate::class::Class;
use crate::config::{MediumConfig, Radio};
use crate::phy::{ErrorCurves, PhyMode};
use crate::rate::{Controller, RateControl};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_net::StationId;
use lightlag_net::medium::{Addressee, Event};
use lightlag_net::queue::DropCause;
use std::collections::VecDeque;

/// The counters of a station.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct StationCounters {
    /// Packets that were handed to this station for sending.
    pub offered: u64,
    /// Frames that their receivers acknowledged, plus broadcast frames that were sent.
    pub settled: u64,
    /// Frames with payload that were sent; each attempt counts.
    pub sent: u64,
    /// Frames that were received intact and were for this station or a broadcast.
    pub received: u64,
    /// Retransmissions of frames.
    pub retries: u64,
    /// A-MPDUs sent.
    pub aggregates: u64,
    /// Frames with payload that were sent in A-MPDUs.
    pub aggregated: u64,
    /// Frames that the receiver had locked on and lost while another frame was on the air.
    pub collisions: u64,
    /// Frames that the receiver had locked on and lost to noise alone.
    pub errors: u64,
    /// Time during which frames with payload for a single station were sent.
    pub unicast_airtime: Duration,
    /// Time during which broadcast frames were sent.
    pub broadcast_airtime: Duration,
    /// Time during which acknowledgements, RTS, CTS and block acknowledgement requests were sent.
    pub control_airtime: Duration,
    /// Time during which the medium was busy at this station.
    pub busy: Duration,
    /// Frames dropped because the queue was full.
    pub dropped_queue: u64,
    /// Frames dropped after the last attempt.
    pub dropped_retry: u64,
    /// Frames dropped because they had waited too long.
    pub dropped_lifetime: u64,
    /// Maximum total number of frames in its queues.
    pub max_queue: u64,
}

impl StationCounters {
    /// Returns the number of packets that the station dropped, for any cause.
    pub fn dropped(&self) -> u64 {
        self.dropped_queue + self.dropped_retry + self.dropped_lifetime
    }

    /// Returns the total time during which the station sent.
    pub fn airtime(&self) -> Duration {
        self.unicast_airtime + self.broadcast_airtime + self.control_airtime
    }
}

/// Rate control of a station.
#[derive(Debug)]
pub(super) struct RateState {
    pub(super) of: RateControl,
    /// Data modes, slowest first.
    pub(super) modes: Vec<PhyMode>,
    /// Prefix of the names of its random streams.
    pub(super) name: String,
    pub(super) pairs: Vec<(StationId, Box<dyn Controller>)>,
}

impl RateState {
    /// Returns `None` if the rate is fixed.
    pub(super) fn new(radio: &Radio, medium: &MediumConfig, name: String) -> Option<Self> {
        let modes = radio.rate_control.modes(medium.capabilities());
        let is_fixed = matches!(radio.rate_control, RateControl::Fixed(_));
        (!is_fixed).then(|| Self { of: radio.rate_control, modes, name, pairs: Vec::new() })
    }

    /// Returns the controller for a receiver, created if there is none yet.
    pub(super) fn of(&mut self, to: StationId, curves: &ErrorCurves, seed: u64) -> Option<&mut dyn Controller> {
        let index = match self.pairs.iter().position(|(of, _)| *of == to) {
            Some(place) => place,
            None => {
                let random = RandomStream::new(seed, &format!("{} to {}", self.name, to.0));
                self.pairs.push((to, self.of.start(&self.modes, curves, random)?));
                self.pairs.len() - 1
            }
        };
        Some(self.pairs[index].1.as_mut())
    }
}

/// A station.
#[derive(Debug)]
pub(super) struct StationState<P> {
    /// The data mode if the rate is fixed, otherwise the slowest one.
    pub(super) data_mode: PhyMode,
    pub(super) broadcast_mode: PhyMode,
    /// Rate control with its state for each receiver; `None` if the rate is fixed.
    pub(super) control: Option<RateState>,
    /// The mode of the current exchange.
    pub(super) mode: PhyMode,
    pub(super) is_probe: bool,
    /// Bytes of the headers around a packet.
    pub(super) overhead: u32,
    /// Access class of packets without a code point.
    pub(super) usual: Class,
    pub(super) tries: u32,
    pub(super) rts_threshold: u32,
    pub(super) is_vht: bool,
    /// Maximum number of bytes of an A-MPDU, if block acknowledgements are used.
    pub(super) aggregation: Option<f64>,
    pub(super) access: Access,
    /// Queues by class, up to the highest class used so far.
    pub(super) queues: Vec<Queue<P>>,
    /// `class` is the class that is sending or sent last, `burst_until` the end of its burst.
    pub(super) class: usize,
    pub(super) burst_until: Instant,
    /// `sending` has the indices of the packets that are in transit or about to be sent, `together` their total bytes
    /// if they form an A-MPDU.
    pub(super) sending: Vec<u64>,
    pub(super) together: Option<u32>,
    /// The next sequence number for each receiver, if block acknowledgements are used.
    pub(super) sequences: Vec<(Peer, u64)>,
    /// `owed` has the receivers that must be notified of packets for which they need not wait any more, `tells` the
    /// receiver being notified.
    pub(super) owed: VecDeque<Peer>,
    pub(super) tells: Option<Peer>,
    /// `agreements` has the block acknowledgement agreements, if they are negotiated; `acts` is whether the station is
    /// sending a management frame.
    pub(super) agreements: Option<Box<Agreements>>,
    pub(super) acts: bool,
    /// The mode of management frames.
    pub(super) management_mode: PhyMode,
    /// `asks_again` is whether the station requests a missing block acknowledgement, `unresolved` the packets that the
    /// request is about, with their class.
    pub(super) asks_again: bool,
    pub(super) unresolved: Option<(usize, Vec<u64>)>,
    /// Time of the station's next event, if there is one.
    pub(super) wake: Option<Instant>,
    /// The last packet from each sender, to recognise retransmissions.
    pub(super) heard: Vec<(Peer, u64)>,
    /// `reordered` has the reordering buffer for each sender, if block acknowledgements are used; `release` is when a
    /// packet in them will have waited too long.
    pub(super) reordered: Vec<(Peer, Reorder<Event<P>>)>,
    pub(super) release: Option<Instant>,
    /// Number of frames sent.
    pub(super) sent: u64,
    pub(super) counters: StationCounters,
}

impl<P> Frame<P> {
    /// Returns true if the frame is for this station or a broadcast.
    pub(super) fn concerns(&self, station: StationId) -> bool {
        self.to == Addressee::One(station) || self.to == Addressee::All
    }

    /// Returns the sender and the class of the frame.
    pub(super) fn peer(&self) -> Peer {
        Peer { station: self.from, class: self.class }
    }
}

impl<P> StationState<P> {
    /// Postpones an event that ends a backoff while the medium is busy, `from` to `until`. The exact time is computed
    /// when the frame ends.
    #[inline]
    pub(super) fn put_off(&mut self, from: Instant, until: Instant) {
        if self.access.state == State::Idle && self.wake.is_some_and(|wake| wake > from && wake < until) {
            if self.queues.len() == 1 {
                self.wake = if self.wants(0) { Some(self.access.at_most(0, until)) } else { self.wake };
                return;
            }
            let classes = (0..self.queues.len()).filter(|class| self.wants(*class));
            self.wake = classes.map(|class| self.access.at_most(class, until)).min().or(self.wake);
        }
    }

    #[inline]
    pub(super) fn next_wake(&self) -> Option<Instant> {
        let wake = match (self.wake, self.release) {
            (Some(wake), Some(release)) => Some(wake.min(release)),
            (wake, release) => wake.or(release),
        };
        match self.agreements.as_ref().and_then(|agreements| agreements.deadline()) {
            Some(deadline) => Some(wake.map_or(deadline, |wake| wake.min(deadline))),
            None => wake,
        }
    }

    /// Makes sure that the queues of this class and of all classes before it exist.
    pub(super) fn open(&mut self, class: usize) {
        self.access.open(class);
        while self.queues.len() <= class {
            self.queues.push(self.queues[0].empty());
        }
    }

    /// Returns true if the station has a frame of a class to send.
    #[inline]
    pub(super) fn wants(&self, class: usize) -> bool {
        match &self.agreements {
            None => !self.queues[class].is_empty() || self.owed.iter().any(|of| of.class == class),
            Some(agreements) => {
                self.head(class).is_some() || agreements.action(class).is_some() || self.next_owed(class).is_some()
            }
        }
    }

    /// Returns the next packet of a class to be sent: the first one whose receiver is not blocked.
    #[inline]
    pub(super) fn head(&self, class: usize) -> Option<&Pending<P>> {
        match &self.agreements {
            None => self.queues[class].front(),
            Some(agreements) => self.queues[class].first(|station| agreements.is_blocked(Peer { station, class })),
        }
    }

    /// Returns the packet that is being sent or was sent last; of several, the first.
    pub(super) fn current(&mut self) -> Option<&mut Pending<P>> {
        self.queues[self.class].get_mut(*self.sending.first()?)
    }

    /// Removes and returns the packet that is being sent or was sent last; of several, the first.
    pub(super) fn take_current(&mut self, now: Instant) -> Option<Pending<P>> {
        self.queues[self.class].take(now, *self.sending.first()?)
    }

    /// Returns true if the station has frames of a class to send that are not data.
    pub(super) fn has_more_than_packets(&self, class: usize) -> bool {
        let is_of = |of: &Peer| of.class == class;
        self.owed.iter().any(is_of)
            || self.agreements.as_ref().is_some_and(|agreements| agreements.action(class).is_some())
    }

    /// Returns the next receiver in `owed` for a class. If the last notification failed, the receiver is included only
    /// while packets for it are waiting.
    pub(super) fn next_owed(&self, class: usize) -> Option<Peer> {
        let is_due = |of: &&Peer| {
            let failed = self.agreements.as_ref().is_some_and(|agreements| agreements.has_failed(**of));
            of.class == class && (!failed || self.queues[class].waiting_for(of.station) > 0)
        };
        self.owed.iter().find(is_due).copied()
    }

    /// Returns the receiver with which an agreement has to be negotiated before the next packet is sent, and the first
    /// sequence number under it. At least two packets for the receiver must be waiting, or one with VHT (ns-3,
    /// `NeedSetupBlockAck`).
    pub(super) fn wanted_agreement(&self, class: usize, now: Instant) -> Option<(Peer, u64)> {
        let agreements = self.agreements.as_ref()?;
        let head = self.head(class)?;
        let Addressee::One(station) = head.msdu.to else { return None };
        let peer = Peer { station, class };
        let least = if self.is_vht { 1 } else { 2 };
        let is_wanted = agreements.may_request(peer, now) && self.queues[class].waiting_for(station) >= least;
        let first = if head.sequence > 0 { head.sequence } else { self.next_sequence(peer) };
        is_wanted.then_some((peer, first))
    }

    /// Returns true if packets for this receiver may be sent in one A-MPDU.
    pub(super) fn may_aggregate(&self, to: Peer) -> bool {
        self.agreements.as_ref().is_none_or(|agreements| agreements.is_accepted(to))
    }

    /// Returns true if packets from this sender are delivered in order.
    pub(super) fn reorders(&self, from: Peer) -> bool {
        self.agreements.as_ref().is_none_or(|agreements| agreements.is_confirmed(from))
    }

    /// Drops a packet, and returns the event that reports it. If its receiver may be waiting for it, the receiver will
    /// be notified.
    pub(super) fn give_up(
        &mut self,
        station_id: StationId,
        class: usize,
        pending: Pending<P>,
        cause: DropCause,
    ) -> Event<P> {
        let Pending { msdu: Msdu { to, payload, .. }, sequence, arrived, .. } = pending;
        if let (Addressee::One(station), 1..) = (to, sequence) {
            let peer = Peer { station, class };
            if self.may_aggregate(peer) {
                if let Some(agreements) = &mut self.agreements {
                    agreements.request_renewed(peer);
                }
                if !self.owed.contains(&peer) {
                    self.owed.push_back(peer);
                }
            }
        }
        Event::Dropped { at: station_id, to, payload, cause, arrived }
    }

    /// Returns when the station may send next, if the medium stays idle, and the class that does.
    #[inline]
    pub(super) fn next_access(&self, now: Instant) -> Option<(Instant, usize)> {
        if self.queues.len() == 1 {
            return self.wants(0).then(|| (self.access.access(0, now), 0));
        }
        self.next_of_several(now)
    }

    fn next_of_several(&self, now: Instant) -> Option<(Instant, usize)> {
        let classes = (0..self.queues.len()).filter(|class| self.wants(*class));
        let access = classes.map(|class| (self.access.access(class, now), class));
        access.min_by_key(|(at, class)| (*at, std::cmp::Reverse(Class::ALL[*class].rank())))
    }

    /// Records that a receiver was notified, or that the notification was abandoned.
    pub(super) fn tell_done(&mut self, receiver: Peer) {
        self.owed.retain(|of| *of != receiver);
        if let Some(agreements) = &mut self.agreements {
            agreements.request_renewed(receiver);
        }
    }

    pub(super) fn next_sequence(&self, to: Peer) -> u64 {
        self.sequences.iter().find(|(of, _)| *of == to).map_or(1, |(_, next)| *next)
    }

    pub(super) fn number(&mut self, to: Peer) -> u64 {
        let index = self.sequences.iter().position(|(of, _)| *of == to).unwrap_or_else(|| {
            self.sequences.push((to, 1));
            self.sequences.len() - 1
        });
        let next = &mut self.sequences[index].1;
        *next += 1;
        *next - 1
    }

    /// Returns the reordering buffer for a sender.
    pub(super) fn reordered(&mut self, from: Peer) -> &mut Reorder<Event<P>> {
        let index = self.reordered.iter().position(|(of, _)| *of == from).unwrap_or_else(|| {
            self.reordered.push((from, Reorder::default()));
            self.reordered.len() - 1
        });
        &mut self.reordered[index].1
    }
}
