//! Frames that wait at a station, in the order in which they came.

use super::frame::Msdu;
use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

/// A packet that waits or is being sent.
#[derive(Debug)]
pub(super) struct Pending<P> {
    pub(super) msdu: Msdu<P>,
    /// When it has waited for too long.
    expires: Instant,
    /// Its number among the packets of its station.
    pub(super) number: u64,
    /// Whether it has arrived at its receiver.
    pub(super) arrived: bool,
}

/// The queue of a station.
#[derive(Debug)]
pub(super) struct Queue<P> {
    packets: VecDeque<Pending<P>>,
    most: usize,
    lifetime: Duration,
    next: u64,
}

impl<P> Queue<P> {
    pub(super) fn new(most: u32, lifetime: Duration) -> Self {
        Self { packets: VecDeque::new(), most: most as usize, lifetime, next: 0 }
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
        self.packets.push_back(Pending { msdu, expires: now + self.lifetime, number: self.next, arrived: false });
        Ok(())
    }

    /// The packet that is sent, or next.
    pub(super) fn front(&self) -> Option<&Pending<P>> {
        self.packets.front()
    }

    pub(super) fn front_mut(&mut self) -> Option<&mut Pending<P>> {
        self.packets.front_mut()
    }

    pub(super) fn pop(&mut self) -> Option<Pending<P>> {
        self.packets.pop_front()
    }

    /// The first packet, if it has waited for too long.
    pub(super) fn pop_expired(&mut self, now: Instant) -> Option<Pending<P>> {
        if self.front().is_some_and(|pending| pending.expires < now) { self.pop() } else { None }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Pending<P>> {
        self.packets.iter()
    }
}
