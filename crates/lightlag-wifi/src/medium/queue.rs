//! Frames that wait at a station, in the order in which they came.

use super::aggregate::{Length, WINDOW};
use super::frame::Msdu;
use lightlag_core::{Duration, Instant};
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use std::collections::VecDeque;

/// The counters of a class at a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassCounters {
    /// Frames with payload sent, each attempt counted.
    pub sent: u64,
    /// The sum of the times for which packets were in the queue; over the time of the run it is the mean number in it.
    pub waited: Duration,
    /// The most packets in the queue.
    pub max_queue: u64,
}

/// A packet that waits or is being sent.
#[derive(Debug)]
pub(super) struct Pending<P> {
    pub(super) msdu: Msdu<P>,
    /// When it came.
    came: Instant,
    /// Its number among the packets of its station.
    pub(super) number: u64,
    /// Its number among the packets for its receiver under a block acknowledgement, once it was sent; 0 otherwise.
    pub(super) sequence: u64,
    /// Tries that failed.
    pub(super) tries: u32,
    /// Whether it has arrived at its receiver.
    pub(super) arrived: bool,
}

impl<P> Pending<P> {
    /// Returns true if it is for one of these stations alone.
    fn is_for(&self, stations: impl Fn(StationId) -> bool) -> bool {
        matches!(self.msdu.to, Addressee::One(station) if stations(station))
    }
}

/// The queue of a station.
#[derive(Debug)]
pub(super) struct Queue<P> {
    packets: VecDeque<Pending<P>>,
    most: usize,
    lifetime: Duration,
    next: u64,
    /// The time for which those waited that have left.
    waited: Duration,
    longest: u64,
    /// Frames sent, each attempt counted.
    pub(super) sent: u64,
}

impl<P> Queue<P> {
    pub(super) fn new(most: u32, lifetime: Duration) -> Self {
        let most = most as usize;
        Self { packets: VecDeque::new(), most, lifetime, next: 0, waited: Duration::ZERO, longest: 0, sent: 0 }
    }

    /// An empty one with the same limits.
    pub(super) fn empty(&self) -> Self {
        Self::new(self.most as u32, self.lifetime)
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Adds a packet, unless the queue is full.
    pub(super) fn push(&mut self, now: Instant, msdu: Msdu<P>) -> Result<(), Msdu<P>> {
        if self.packets.len() >= self.most {
            return Err(msdu);
        }
        self.next += 1;
        let number = self.next;
        self.packets.push_back(Pending { msdu, came: now, number, sequence: 0, tries: 0, arrived: false });
        self.longest = self.longest.max(self.packets.len() as u64);
        Ok(())
    }

    /// The packet that is sent, or next.
    pub(super) fn front(&self) -> Option<&Pending<P>> {
        self.packets.front()
    }

    /// The first packet for a station that is not blocked.
    pub(super) fn first(&self, is_blocked: impl Fn(StationId) -> bool) -> Option<&Pending<P>> {
        self.packets.iter().find(|pending| !pending.is_for(&is_blocked))
    }

    /// Number of packets for a station.
    pub(super) fn waiting_for(&self, station: StationId) -> usize {
        self.packets.iter().filter(|pending| pending.is_for(|of| of == station)).count()
    }

    /// Returns true if the packet of this number is here and has not expired.
    pub(super) fn is_alive(&self, number: u64, now: Instant) -> bool {
        self.place(number).is_some_and(|place| self.packets[place].came + self.lifetime >= now)
    }

    fn place(&self, number: u64) -> Option<usize> {
        self.packets.binary_search_by_key(&number, |pending| pending.number).ok()
    }

    /// The packet of this number.
    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Pending<P>> {
        let place = match self.front()?.number {
            first if first == number => 0,
            _ => self.place(number)?,
        };
        self.packets.get_mut(place)
    }

    /// Takes the packet of this number out.
    pub(super) fn take(&mut self, now: Instant, number: u64) -> Option<Pending<P>> {
        let pending = self.packets.remove(self.place(number)?)?;
        self.waited += now.since(pending.came);
        Some(pending)
    }

    /// Chooses the packets that leave together: the first one for a receiver that is not blocked, and others for the same
    /// receiver, up to so many bytes with `overhead` bytes around each; `next` tells the next sequence number for a receiver.
    /// Returns the bytes of the A-MPDU if there are several.
    pub(super) fn choose(
        &self,
        is_blocked: impl Fn(StationId) -> bool,
        most: impl Fn(StationId) -> Option<u32>,
        overhead: u32,
        next: impl Fn(StationId) -> u64,
        chosen: &mut Vec<u64>,
    ) -> Option<u32> {
        chosen.clear();
        let place = self.packets.iter().position(|pending| !pending.is_for(&is_blocked))?;
        let first = &self.packets[place];
        chosen.push(first.number);
        let Addressee::One(to) = first.msdu.to else { return None };
        let most = most(to)?;
        let mut fresh = next(to);
        let end = WINDOW + if first.sequence == 0 { fresh } else { first.sequence };
        fresh += u64::from(first.sequence == 0);
        let mut length = Length::default().with(first.msdu.size + overhead);
        for pending in self.packets.iter().skip(place + 1).filter(|pending| pending.msdu.to == first.msdu.to) {
            let longer = length.with(pending.msdu.size + overhead);
            let is_fresh = pending.sequence == 0;
            if longer.bytes() > most || (is_fresh && fresh >= end) {
                break;
            }
            fresh += u64::from(is_fresh);
            chosen.push(pending.number);
            length = longer;
        }
        (chosen.len() > 1).then_some(length.bytes())
    }

    pub(super) fn pop(&mut self, now: Instant) -> Option<Pending<P>> {
        let pending = self.packets.pop_front()?;
        self.waited += now.since(pending.came);
        Some(pending)
    }

    /// The first packet, if it has waited for too long.
    pub(super) fn pop_expired(&mut self, now: Instant) -> Option<Pending<P>> {
        if self.front().is_some_and(|pending| pending.came + self.lifetime < now) { self.pop(now) } else { None }
    }

    /// Its counters until now; none if no packet ever came.
    pub(super) fn counters(&self, now: Instant) -> Option<ClassCounters> {
        let waited = self.packets.iter().fold(self.waited, |waited, pending| waited + now.since(pending.came));
        let Self { sent, longest, .. } = *self;
        (self.next > 0).then_some(ClassCounters { sent, waited, max_queue: longest })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Pending<P>> {
        self.packets.iter()
    }
}
