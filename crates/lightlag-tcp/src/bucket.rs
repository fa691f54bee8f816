//! Rate control: a token bucket for all that leaves on a route (SCPS-TP, in the place of the clock of ACKs).
//!
//! Tokens are bytes of IP packets. They flow in at the rate R and fill at most B, so that any time t carries at most
//! B + R t. A packet of L bytes leaves once there are L. All connections of a route take from one bucket, and where it is
//! empty, in the order in which they came.

use lightlag_core::{Bytes, Duration, Instant, Rate};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A byte in the units of the credit: bits times the nanoseconds of a second.
const BYTE: u128 = 8_000_000_000;

/// The state of a bucket.
#[derive(Debug)]
struct Bucket {
    rate: Rate,
    /// What it holds, and what is in it at `at`, in parts of a byte.
    size: u128,
    credit: u128,
    at: Instant,
    waiting: VecDeque<Waiting>,
    members: u64,
}

impl Bucket {
    fn refill(&mut self, now: Instant) {
        let earned = u128::from(now.since(self.at).as_nanos()) * u128::from(self.rate.as_bps());
        self.credit = (self.credit + earned).min(self.size);
        self.at = now;
    }

    /// When so many bytes will be there.
    fn when(&self, bytes: u64) -> Instant {
        let missing = (u128::from(bytes) * BYTE).saturating_sub(self.credit);
        let wait = missing.div_ceil(u128::from(self.rate.as_bps()));
        self.at + Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX >> 1))
    }

    fn ask(&mut self, now: Instant, member: u64, bytes: u64) -> Instant {
        self.refill(now);
        // Who did not come at its time has nothing to send any more.
        while self.waiting.front().is_some_and(|first| first.ready < now && first.member != member) {
            self.waiting.pop_front();
        }
        let place = self.waiting.iter().position(|other| other.member == member).unwrap_or(self.waiting.len());
        let before: u64 = self.waiting.iter().take(place).map(|other| other.bytes).sum();
        let ready = self.when(before + bytes);
        if ready <= now {
            self.waiting.remove(place);
        } else if let Some(own) = self.waiting.get_mut(place) {
            (own.bytes, own.ready) = (bytes, ready);
        } else {
            self.waiting.push_back(Waiting { member, bytes, ready });
        }
        ready
    }
}

/// A connection that waits for tokens.
#[derive(Debug)]
struct Waiting {
    member: u64,
    bytes: u64,
    /// When it was told to come.
    ready: Instant,
}

/// A bucket that several connections share.
#[derive(Clone, Debug)]
pub struct Route(Arc<Mutex<Bucket>>);

impl Route {
    /// A full bucket of so many bytes.
    pub fn new(rate: Rate, size: Bytes) -> Self {
        let size = u128::from(size.0) * BYTE;
        let bucket = Bucket { rate, size, credit: size, at: Instant::ZERO, waiting: VecDeque::new(), members: 0 };
        Self(Arc::new(Mutex::new(bucket)))
    }

    fn bucket(&self) -> MutexGuard<'_, Bucket> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection's way to its route.
#[derive(Debug)]
pub(crate) struct Limiter {
    route: Route,
    member: u64,
    /// Bytes of an IP header.
    network_header: u32,
}

impl Limiter {
    pub(crate) fn new(route: Route, network_header: u32) -> Self {
        let member = {
            let mut bucket = route.bucket();
            bucket.members += 1;
            bucket.members
        };
        Self { route, member, network_header }
    }

    /// When a TCP segment of so many bytes, headers included, may leave: now, or later. Who has to wait keeps its place.
    pub(crate) fn ask(&self, now: Instant, segment: u32) -> Instant {
        let mut bucket = self.route.bucket();
        let most = (bucket.size / BYTE) as u64;
        bucket.ask(now, self.member, u64::from(self.network_header + segment).min(most))
    }

    /// A TCP segment of so many bytes left.
    pub(crate) fn take(&self, now: Instant, segment: u32) {
        let mut bucket = self.route.bucket();
        bucket.refill(now);
        bucket.credit = bucket.credit.saturating_sub(u128::from(self.network_header + segment) * BYTE);
    }

    /// It has nothing to send any more.
    pub(crate) fn leave(&self) {
        let member = self.member;
        self.route.bucket().waiting.retain(|waiting| waiting.member != member);
    }
}

#[cfg(test)]
mod tests;
