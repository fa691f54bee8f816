//! Rate control: a token bucket for all segments that leave on a route (SCPS-TP, in place of the ACK clock).
//!
//! Tokens are bytes of IP packets. They arrive at the rate R up to the size B, so that any time t carries at most
//! B + R·t. A packet of L bytes leaves once there are L tokens. All connections of a route take from one bucket; while
//! it is empty, they are served in the order of their requests. The host that has the route owns the bucket and lends
//! it to each connection.

use lightlag_core::{Bytes, Duration, Instant, Rate};
use std::collections::VecDeque;

/// A byte in the units of the credit: bits times the nanoseconds of a second.
const BYTE: u128 = 8_000_000_000;

/// The bucket of a route.
#[derive(Debug)]
pub struct Bucket {
    rate: Rate,
    /// Its size, and its contents at `at`, in parts of a byte.
    size: u128,
    credit: u128,
    at: Instant,
    waiting: VecDeque<Waiting>,
    members: u64,
}

impl Bucket {
    /// A full bucket of this size.
    pub fn new(rate: Rate, size: Bytes) -> Self {
        let size = u128::from(size.0) * BYTE;
        Self { rate, size, credit: size, at: Instant::ZERO, waiting: VecDeque::new(), members: 0 }
    }

    /// Adds a connection, whose packets have an IP header of this many bytes.
    pub fn join(&mut self, network_header: u32) -> Member {
        self.members += 1;
        Member { number: self.members, network_header }
    }

    /// Takes the tokens of a TCP segment of this size, headers included, or returns the time at which they will be
    /// there. A member that has to wait keeps its place.
    pub fn ask(&mut self, now: Instant, member: Member, segment: u32) -> Result<(), Instant> {
        let parts = member.parts(segment).min(self.size);
        self.take(now, member.number, parts)
    }

    /// Corrects the account: tokens for `asked` bytes were taken, and a segment of `left` bytes was sent, or none.
    pub fn settle(&mut self, member: Member, asked: Option<u32>, left: Option<u32>) {
        let of = |segment: Option<u32>| segment.map_or(0, |segment| member.parts(segment));
        let back = self.credit + of(asked).min(self.size);
        self.credit = back.saturating_sub(of(left)).min(self.size);
    }

    /// The member has nothing more to send.
    pub fn leave(&mut self, member: Member) {
        self.waiting.retain(|waiting| waiting.member != member.number);
    }

    fn refill(&mut self, now: Instant) {
        let earned = u128::from(now.since(self.at).as_nanos()) * u128::from(self.rate.as_bps());
        self.credit = (self.credit + earned).min(self.size);
        self.at = now;
    }

    /// Time at which this many parts of a byte will be there.
    fn when(&self, parts: u128) -> Instant {
        let (missing, rate) = (parts.saturating_sub(self.credit), self.rate.as_bps());
        // A 128-bit division costs as much as all the rest.
        let wait = match u64::try_from(missing) {
            Ok(missing) => missing.div_ceil(rate),
            Err(_) => u64::try_from(missing.div_ceil(u128::from(rate))).unwrap_or(u64::MAX >> 1),
        };
        self.at + Duration::from_nanos(wait)
    }

    /// Takes these parts if they are there, or returns the time at which they will be.
    fn take(&mut self, now: Instant, member: u64, parts: u128) -> Result<(), Instant> {
        self.refill(now);
        if self.members > 1 {
            return self.queue(now, member, parts);
        }
        if parts > self.credit {
            return Err(self.when(parts));
        }
        self.credit -= parts;
        Ok(())
    }

    /// The same when other members may wait.
    fn queue(&mut self, now: Instant, member: u64, parts: u128) -> Result<(), Instant> {
        // A member that missed its time has nothing more to send.
        while self.waiting.front().is_some_and(|first| first.ready < now && first.member != member) {
            self.waiting.pop_front();
        }
        let (mut before, mut place) = (0, 0);
        while let Some(other) = self.waiting.get(place).filter(|other| other.member != member) {
            before += other.parts;
            place += 1;
        }
        if before + parts <= self.credit {
            self.waiting.remove(place);
            self.credit -= parts;
            return Ok(());
        }
        let ready = self.when(before + parts);
        match self.waiting.get_mut(place) {
            Some(own) => (own.parts, own.ready) = (parts, ready),
            None => self.waiting.push_back(Waiting { member, parts, ready }),
        }
        Err(ready)
    }
}

/// A connection that waits for tokens.
#[derive(Debug)]
struct Waiting {
    member: u64,
    /// The amount requested, in parts of a byte.
    parts: u128,
    /// The time that it was given.
    ready: Instant,
}

/// A connection that takes from a bucket.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    number: u64,
    /// Bytes of an IP header.
    network_header: u32,
}

impl Member {
    fn parts(self, segment: u32) -> u128 {
        u128::from(self.network_header + segment) * BYTE
    }
}

#[cfg(test)]
mod tests;
