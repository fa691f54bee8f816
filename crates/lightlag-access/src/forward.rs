//! The forward carrier: one queue at the gateway, whose packets are sent one after another (TDM).

use lightlag_core::{Bytes, Duration, Instant, Rate, Windows};
use std::collections::VecDeque;

/// The forward carrier.
#[derive(Clone, Debug)]
pub(crate) struct Forward {
    limit: usize,
    free_at: Instant,
    /// Ends of transmission of the packets that are not sent yet.
    ends: VecDeque<Instant>,
}

/// Transmission of a packet on the forward carrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// Time from the arrival of the packet to the start of its transmission.
    pub(crate) waited: Duration,
    /// Duration of its transmission.
    pub(crate) airtime: Duration,
    /// End of its transmission.
    pub(crate) end: Instant,
    /// Number of packets at the gateway, with this one.
    pub(crate) queue: usize,
}

impl Forward {
    /// Returns a carrier whose queue holds up to `limit` packets.
    pub(crate) fn new(limit: u32) -> Self {
        Self { limit: limit as usize, free_at: Instant::ZERO, ends: VecDeque::new() }
    }

    /// Queues a packet that is sent at this rate, in one of the `passes` if there are any; `None` if the queue is full,
    /// or if no later pass can carry the packet.
    pub(crate) fn add(&mut self, now: Instant, size: u32, rate: Rate, passes: Option<&Windows>) -> Option<Slot> {
        while self.ends.front().is_some_and(|end| *end <= now) {
            self.ends.pop_front();
        }
        if self.ends.len() >= self.limit {
            return None;
        }
        let mut start = self.free_at.max(now);
        let airtime = rate.time_to_send(Bytes(u64::from(size)));
        if let Some(passes) = passes {
            start = passes.fit(start, airtime)?;
        }
        self.free_at = start + airtime;
        self.ends.push_back(self.free_at);
        Some(Slot { waited: start.since(now), airtime, end: self.free_at, queue: self.ends.len() })
    }
}
