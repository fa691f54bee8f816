//! Rate control: a token bucket for all segments sent on a route (SCPS-TP, instead of the ACK clock).
//!
//! A token stands for one byte of an IP packet. Tokens arrive at the rate R, and the bucket holds at most B, so that at
//! most B + R·t bytes are sent in any time t. A packet of L bytes is sent once there are L tokens. All connections on a
//! route share one bucket; while it is empty, they are served in the order of their requests. The host that has the
//! route owns the bucket and lends it to each connection.

use lightlag_core::{Bytes, Duration, Instant, Rate};
use std::collections::VecDeque;

/// One byte in units of the credit, which are billionths of a bit (rate in bit/s times time in ns).
const BYTE: u128 = 8_000_000_000;

/// The bucket of a route.
#[derive(Debug)]
pub struct Bucket {
    rate: Rate,
    /// Size of the bucket, and its contents at the time `at`, in units of [`BYTE`].
    size: u128,
    credit: u128,
    at: Instant,
    waiting: VecDeque<WaitingConnection>,
    members: u64,
}

impl Bucket {
    /// Creates a full bucket of this size.
    pub fn new(rate: Rate, size: Bytes) -> Self {
        let size = u128::from(size.0) * BYTE;
        Self { rate, size, credit: size, at: Instant::ZERO, waiting: VecDeque::new(), members: 0 }
    }

    /// Adds a connection whose packets have an IP header of `network_header` bytes.
    pub fn join(&mut self, network_header: u32) -> BucketUser {
        self.members += 1;
        BucketUser { number: self.members, network_header }
    }

    /// Takes the tokens for a TCP segment of this size, headers included. If there are not enough, returns the time
    /// when there will be, and the member keeps its position in the queue.
    pub fn ask(&mut self, now: Instant, member: BucketUser, segment: u32) -> Result<(), Instant> {
        let parts = member.parts(segment).min(self.size);
        self.take(now, member.number, parts)
    }

    /// Corrects the balance after a transmission: tokens for a segment of `requested` bytes were taken, and a segment
    /// of `left` bytes was sent. `None` means no segment.
    pub fn settle(&mut self, member: BucketUser, requested: Option<u32>, left: Option<u32>) {
        let parts = |segment: Option<u32>| segment.map_or(0, |segment| member.parts(segment));
        let back = self.credit + parts(requested).min(self.size);
        self.credit = back.saturating_sub(parts(left)).min(self.size);
    }

    /// Removes a member that has nothing more to send from the queue of the bucket.
    pub fn leave(&mut self, member: BucketUser) {
        self.waiting.retain(|waiting| waiting.member != member.number);
    }

    fn refill(&mut self, now: Instant) {
        let earned = u128::from(now.since(self.at).as_nanos()) * u128::from(self.rate.as_bps());
        self.credit = (self.credit + earned).min(self.size);
        self.at = now;
    }

    /// Returns the time when the bucket will hold this credit.
    fn when(&self, parts: u128) -> Instant {
        let (missing, rate) = (parts.saturating_sub(self.credit), self.rate.as_bps());
        // A 128-bit division costs as much as all the rest.
        let wait = match u64::try_from(missing) {
            Ok(missing) => missing.div_ceil(rate),
            Err(_) => u64::try_from(missing.div_ceil(u128::from(rate))).unwrap_or(u64::MAX >> 1),
        };
        self.at + Duration::from_nanos(wait)
    }

    /// Takes this credit if the bucket holds it; otherwise returns the time when it will.
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

    /// As [`Self::take`], if other members may be in the queue.
    fn queue(&mut self, now: Instant, member: u64, parts: u128) -> Result<(), Instant> {
        // A member that missed its time has nothing more to send.
        while self.waiting.front().is_some_and(|first| first.ready < now && first.member != member) {
            self.waiting.pop_front();
        }
        let (mut before, mut index) = (0, 0);
        while let Some(other) = self.waiting.get(index).filter(|other| other.member != member) {
            before += other.parts;
            index += 1;
        }
        if before + parts <= self.credit {
            self.waiting.remove(index);
            self.credit -= parts;
            return Ok(());
        }
        let ready = self.when(before + parts);
        match self.waiting.get_mut(index) {
            Some(own) => (own.parts, own.ready) = (parts, ready),
            None => self.waiting.push_back(WaitingConnection { member, parts, ready }),
        }
        Err(ready)
    }
}

/// A connection that waits for tokens.
#[derive(Debug)]
struct WaitingConnection {
    member: u64,
    /// The amount requested, in parts of a byte.
    parts: u128,
    /// Time when the connection has to request its tokens again.
    ready: Instant,
}

/// A connection that takes from a bucket.
#[derive(Clone, Copy, Debug)]
pub struct BucketUser {
    number: u64,
    /// Size of the IP header of the connection's packets, in bytes.
    network_header: u32,
}

impl BucketUser {
    fn parts(self, segment: u32) -> u128 {
        u128::from(self.network_header + segment) * BYTE
    }
}

#[cfg(test)]
mod tests;
