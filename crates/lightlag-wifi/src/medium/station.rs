//! A station: its settings, its parts, and what it counts.

use super::access::{Access, State};
use super::agreement::Agreements;
use super::frame::{Frame, Msdu, Peer};
use super::queue::{Pending, Queue};
use super::reorder::Reorder;
use crate::class::Class;
use crate::config::{MediumConfig, Radio};
use crate::phy::{ErrorCurves, Mode};
use crate::rate::{Controller, RateControl};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_net::StationId;
use lightlag_net::medium::{Addressee, Event};
use lightlag_net::queue::DropCause;
use std::collections::VecDeque;

/// The counters of a station.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct StationCounters {
    /// Packets that were given to this station.
    pub offered: u64,
    /// Those that their receivers acknowledged, and those for all that have left.
    pub settled: u64,
    /// Frames with payload sent, each attempt counted.
    pub sent: u64,
    /// Frames received intact that were for this station, or for all.
    pub received: u64,
    /// Attempts that repeat a frame.
    pub retries: u64,
    /// A-MPDUs sent.
    pub aggregates: u64,
    /// Frames with payload sent in them.
    pub aggregated: u64,
    /// Frames on which the receiver had locked and which it lost while another one was on the air.
    pub collisions: u64,
    /// Frames on which the receiver had locked and which noise alone destroyed.
    pub errors: u64,
    /// Time in which frames with payload for one station were sent.
    pub unicast_airtime: Duration,
    /// Time in which frames for all were sent.
    pub broadcast_airtime: Duration,
    /// Time in which acknowledgements, RTS, CTS and requests for block acknowledgements were sent.
    pub control_airtime: Duration,
    /// Time in which the medium was busy here.
    pub busy: Duration,
    /// Frames dropped because the queue was full, after the last try, and because they had waited too long.
    pub dropped_queue: u64,
    /// After the last try.
    pub dropped_retry: u64,
    /// Because they had waited too long.
    pub dropped_lifetime: u64,
    /// The most frames in its queues together.
    pub max_queue: u64,
}

impl StationCounters {
    /// Packets that the station dropped, whatever the cause.
    pub fn dropped(&self) -> u64 {
        self.dropped_queue + self.dropped_retry + self.dropped_lifetime
    }

    /// Time in which the station sent.
    pub fn airtime(&self) -> Duration {
        self.unicast_airtime + self.broadcast_airtime + self.control_airtime
    }
}

/// The control of a station's rates.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) of: RateControl,
    /// The modes of data, the slowest first.
    pub(super) modes: Vec<Mode>,
    /// The name of its random streams.
    pub(super) name: String,
    pub(super) pairs: Vec<(StationId, Box<dyn Controller>)>,
}

impl Control {
    /// None where the mode is fixed.
    pub(super) fn new(radio: &Radio, medium: &MediumConfig, name: String) -> Option<Self> {
        let modes = radio.rate_control.modes(medium.capabilities());
        let is_fixed = matches!(radio.rate_control, RateControl::Fixed(_));
        (!is_fixed).then(|| Self { of: radio.rate_control, modes, name, pairs: Vec::new() })
    }

    /// The state for a receiver.
    pub(super) fn of(&mut self, to: StationId, curves: &ErrorCurves, seed: u64) -> Option<&mut dyn Controller> {
        let place = match self.pairs.iter().position(|(of, _)| *of == to) {
            Some(place) => place,
            None => {
                let random = RandomStream::new(seed, &format!("{} to {}", self.name, to.0));
                self.pairs.push((to, self.of.start(&self.modes, curves, random)?));
                self.pairs.len() - 1
            }
        };
        Some(self.pairs[place].1.as_mut())
    }
}

/// A station.
#[derive(Debug)]
pub(super) struct StationState<P> {
    /// The fixed mode of data, or the slowest.
    pub(super) data_mode: Mode,
    pub(super) broadcast_mode: Mode,
    /// Where the mode is not fixed: the control, the modes, its state for each receiver.
    pub(super) control: Option<Control>,
    /// The mode of the exchange.
    pub(super) mode: Mode,
    pub(super) is_probe: bool,
    /// Bytes of headers around a packet.
    pub(super) overhead: u32,
    /// The class of its packets.
    pub(super) usual: Class,
    pub(super) tries: u32,
    pub(super) rts_threshold: u32,
    pub(super) is_vht: bool,
    /// The most bytes of an A-MPDU, where block acknowledgements are agreed.
    pub(super) aggregation: Option<f64>,
    pub(super) access: Access,
    /// By class, as far as they were used.
    pub(super) queues: Vec<Queue<P>>,
    /// The class that sends, or sent last, and the end of its burst.
    pub(super) class: usize,
    pub(super) burst_until: Instant,
    /// The packets that are on their way, or that it asks for the medium for, and their bytes if they are an A-MPDU.
    pub(super) sending: Vec<u64>,
    pub(super) together: Option<u32>,
    /// The next sequence number for each receiver under a block acknowledgement.
    pub(super) sequences: Vec<(Peer, u64)>,
    /// Receivers that have to be told of packets that they need not wait for any more, and the one that it is telling.
    pub(super) owed: VecDeque<Peer>,
    pub(super) tells: Option<Peer>,
    /// Agreements about block acknowledgements, where they are negotiated, and whether it sends a management frame.
    pub(super) agreements: Option<Box<Agreements>>,
    pub(super) acts: bool,
    /// The mode of management frames.
    pub(super) management_mode: Mode,
    /// Whether it asks after a missing block acknowledgement, and the packets that it asks for, with their class.
    pub(super) asks_again: bool,
    pub(super) unresolved: Option<(usize, Vec<u64>)>,
    /// The next wake, if there is one.
    pub(super) wake: Option<Instant>,
    /// The last packet of each sender, to recognise repetitions.
    pub(super) heard: Vec<(Peer, u64)>,
    /// Packets of senders under a block acknowledgement, and when the first of them has waited too long.
    pub(super) reordered: Vec<(Peer, Reorder<Event<P>>)>,
    pub(super) release: Option<Instant>,
    /// Frames sent.
    pub(super) sent: u64,
    pub(super) counters: StationCounters,
}

impl<P> Frame<P> {
    /// Whether it is for a station, alone or with all others.
    pub(super) fn concerns(&self, station: StationId) -> bool {
        self.to == Addressee::One(station) || self.to == Addressee::All
    }

    /// Its sender and its class.
    pub(super) fn peer(&self) -> Peer {
        Peer { station: self.from, class: self.class }
    }
}

impl<P> StationState<P> {
    /// The medium is busy from one instant to the other: the end of a backoff between them is none. When it will be is known
    /// at the end of the frame.
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

    /// From now on there are packets of this class, too.
    pub(super) fn open(&mut self, class: usize) {
        self.access.open(class);
        while self.queues.len() <= class {
            self.queues.push(self.queues[0].empty());
        }
    }

    /// Whether it has something of a class to send.
    #[inline]
    pub(super) fn wants(&self, class: usize) -> bool {
        match &self.agreements {
            None => !self.queues[class].is_empty() || self.owed.iter().any(|of| of.class == class),
            Some(agreements) => {
                self.head(class).is_some() || agreements.action(class).is_some() || self.next_owed(class).is_some()
            }
        }
    }

    /// The packet of a class that is sent next: the first one whose receiver is not blocked.
    #[inline]
    pub(super) fn head(&self, class: usize) -> Option<&Pending<P>> {
        match &self.agreements {
            None => self.queues[class].front(),
            Some(agreements) => self.queues[class].first(|station| agreements.is_blocked(Peer { station, class })),
        }
    }

    /// The packet that was sent last, or first of several.
    pub(super) fn current(&mut self) -> Option<&mut Pending<P>> {
        self.queues[self.class].get_mut(*self.sending.first()?)
    }

    /// Takes that packet out.
    pub(super) fn take_current(&mut self, now: Instant) -> Option<Pending<P>> {
        self.queues[self.class].take(now, *self.sending.first()?)
    }

    /// Returns true if it has something else of a class to send than packets.
    pub(super) fn has_more_than_packets(&self, class: usize) -> bool {
        let is_of = |of: &Peer| of.class == class;
        self.owed.iter().any(is_of)
            || self.agreements.as_ref().is_some_and(|agreements| agreements.action(class).is_some())
    }

    /// The receiver that is to be told next of packets of a class that it need not wait for. After a failure that is done only
    /// while packets for it wait.
    pub(super) fn next_owed(&self, class: usize) -> Option<Peer> {
        let is_due = |of: &&Peer| {
            let failed = self.agreements.as_ref().is_some_and(|agreements| agreements.has_failed(**of));
            of.class == class && (!failed || self.queues[class].waiting_for(of.station) > 0)
        };
        self.owed.iter().find(is_due).copied()
    }

    /// The receiver with which an agreement is needed before the next packet leaves, and the first sequence number under it:
    /// one for which two packets wait, or with VHT one (ns-3, `NeedSetupBlockAck`).
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

    /// Returns true if packets for this receiver may leave together.
    pub(super) fn may_aggregate(&self, to: Peer) -> bool {
        self.agreements.as_ref().is_none_or(|agreements| agreements.is_accepted(to))
    }

    /// Returns true if packets of this sender are released in order.
    pub(super) fn reorders(&self, from: Peer) -> bool {
        self.agreements.as_ref().is_none_or(|agreements| agreements.is_confirmed(from))
    }

    /// A packet is dropped. If its receiver may wait for it, the receiver is to be told.
    pub(super) fn give_up(&mut self, at: StationId, class: usize, pending: Pending<P>, cause: DropCause) -> Event<P> {
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
        Event::Dropped { at, to, payload, cause, arrived }
    }

    /// The class that may send next, if the medium stays idle, and when.
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

    /// It has told a receiver, or given that up.
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
        let place = self.sequences.iter().position(|(of, _)| *of == to).unwrap_or_else(|| {
            self.sequences.push((to, 1));
            self.sequences.len() - 1
        });
        let next = &mut self.sequences[place].1;
        *next += 1;
        *next - 1
    }

    /// The packets of a sender, in their order.
    pub(super) fn reordered(&mut self, from: Peer) -> &mut Reorder<Event<P>> {
        let place = self.reordered.iter().position(|(of, _)| *of == from).unwrap_or_else(|| {
            self.reordered.push((from, Reorder::default()));
            self.reordered.len() - 1
        });
        &mut self.reordered[place].1
    }
}
