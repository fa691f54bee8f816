//! Frames that are waiting at a station, in order of arrival.

use super::aggregate::{AggregateLength, WINDOW};
use super::frame::Msdu;
use lightlag_core::{Duration, Instant};
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use std::collections::VecDeque;

/// Counters of one class at a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassCounters {
    /// Frames with payload that were sent; each attempt counts.
    pub sent: u64,
    /// Sum of the times that packets spent in the queue. Divided by the duration of the run, it is the mean queue
    /// length.
    pub waited: Duration,
    /// Maximum number of packets in the queue.
    pub max_queue: u64,
}

/// A packet that is waiting or being sent.
#[derive(Debug)]
pub(super) struct Pending<P> {
    pub(super) msdu: Msdu<P>,
    /// Time when the packet was queued.
    came: Instant,
    /// Index of the packet at its station.
    pub(super) number: u64,
    /// Sequence number for its receiver if block acknowledgements are used and the packet has been sent; otherwise 0.
    pub(super) sequence: u64,
    /// Number of failed attempts.
    pub(super) tries: u32,
    /// Whether the packet has arrived at its receiver, known or not to the sender.
    pub(super) arrived: bool,
}

impl<P> Pending<P> {
    /// Returns true if the packet is for a single station for which `stations` returns true.
    fn is_for(&self, stations: impl Fn(StationId) -> bool) -> bool {
        matches!(self.msdu.to, Addressee::One(station) if stations(station))
    }
}

/// The queue of one class at a station.
#[derive(Debug)]
pub(super) struct Queue<P> {
    packets: VecDeque<Pending<P>>,
    most: usize,
    lifetime: Duration,
    next: u64,
    /// Total time that packets which have left the queue spent in it.
    waited: Duration,
    longest: u64,
    /// Frames sent; each attempt counts.
    pub(super) sent: u64,
}

impl<P> Queue<P> {
    pub(super) fn new(max: u32, lifetime: Duration) -> Self {
        let most = max as usize;
        Self { packets: VecDeque::new(), most, lifetime, next: 0, waited: Duration::ZERO, longest: 0, sent: 0 }
    }

    /// Creates an empty queue with the same limits.
    pub(super) fn empty(&self) -> Self {
        Self::new(self.most as u32, self.lifetime)
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Adds a packet. If the queue is full, returns the packet as an error.
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

    /// Returns the first packet: the one being sent, or the next.
    pub(super) fn front(&self) -> Option<&Pending<P>> {
        self.packets.front()
    }

    /// Returns the first packet whose receiver is not blocked.
    pub(super) fn first(&self, is_blocked: impl Fn(StationId) -> bool) -> Option<&Pending<P>> {
        self.packets.iter().find(|pending| !pending.is_for(&is_blocked))
    }

    /// Returns the number of packets for a station.
    pub(super) fn waiting_for(&self, station: StationId) -> usize {
        self.packets.iter().filter(|pending| pending.is_for(|of| of == station)).count()
    }

    /// Returns true if the packet with this index is in the queue and has not expired.
    pub(super) fn is_alive(&self, number: u64, now: Instant) -> bool {
        self.place(number).is_some_and(|place| self.packets[place].came + self.lifetime >= now)
    }

    fn place(&self, number: u64) -> Option<usize> {
        self.packets.binary_search_by_key(&number, |pending| pending.number).ok()
    }

    /// Returns the packet with this index.
    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Pending<P>> {
        let index = match self.front()?.number {
            first if first == number => 0,
            _ => self.place(number)?,
        };
        self.packets.get_mut(index)
    }

    /// Removes the packet with this index and returns it.
    pub(super) fn take(&mut self, now: Instant, number: u64) -> Option<Pending<P>> {
        let pending = self.packets.remove(self.place(number)?)?;
        self.waited += now.since(pending.came);
        Some(pending)
    }

    /// Chooses the packets of the next PPDU: the first one whose receiver is not blocked, and others for the same
    /// receiver, up to a maximum size with `overhead` bytes around each. `next` returns the next sequence number for a
    /// receiver. If there are several, returns the bytes of the A-MPDU.
    pub(super) fn choose(
        &self,
        is_blocked: impl Fn(StationId) -> bool,
        max_bytes: impl Fn(StationId) -> Option<u32>,
        overhead: u32,
        next: impl Fn(StationId) -> u64,
        chosen: &mut Vec<u64>,
    ) -> Option<u32> {
        chosen.clear();
        let index = self.packets.iter().position(|pending| !pending.is_for(&is_blocked))?;
        let first = &self.packets[index];
        chosen.push(first.number);
        let Addressee::One(to) = first.msdu.to else { return None };
        let max = max_bytes(to)?;
        let mut fresh = next(to);
        let end = WINDOW + if first.sequence == 0 { fresh } else { first.sequence };
        fresh += u64::from(first.sequence == 0);
        let mut length = AggregateLength::default().with(first.msdu.size + overhead);
        for pending in self.packets.iter().skip(index + 1).filter(|pending| pending.msdu.to == first.msdu.to) {
            let longer = length.with(pending.msdu.size + overhead);
            let is_fresh = pending.sequence == 0;
            if longer.bytes() > max || (is_fresh && fresh >= end) {
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

    /// Removes and returns the first packet if it has waited too long.
    pub(super) fn pop_expired(&mut self, now: Instant) -> Option<Pending<P>> {
        if self.front().is_some_and(|pending| pending.came + self.lifetime < now) { self.pop(now) } else { None }
    }

    /// Returns the counters up to `now`; `None` if the queue never had a packet.
    pub(super) fn counters(&self, now: Instant) -> Option<ClassCounters> {
        let waited = self.packets.iter().fold(self.waited, |waited, pending| waited + now.since(pending.came));
        let Self { sent, longest, .. } = *self;
        (self.next > 0).then_some(ClassCounters { sent, waited, max_queue: longest })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Pending<P>> {
        self.packets.iter()
    }
}
