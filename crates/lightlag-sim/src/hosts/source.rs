//! The messages that an application offers to its transport over time.

use lightlag_core::custom::Fault;
use lightlag_core::{Instant, RandomStream};
use lightlag_scenario::{Flow, LARGEST_MESSAGE, Transport};
use lightlag_traffic::{Memory, Progress, Traffic};
use std::sync::Arc;

/// The source of the data that an application offers to its transport over time.
// State that applications of many flows have in common is shared: a sender that rarely writes has nothing in cache.
#[derive(Debug)]
pub(crate) struct TrafficSource {
    random: RandomStream,
    traffic: Arc<Traffic>,
    /// Time of the next message; [`Instant::MAX`] if there is none.
    next: Instant,
    /// Further state. `None` for unlimited datagrams without memory, as sent by sensors, which need only the fields
    /// above.
    more: Option<Box<More>>,
}

/// State that most sources of datagrams do not need.
#[derive(Debug)]
struct More {
    memory: Memory,
    start: Instant,
    /// Number of messages so far, and their total size in bytes.
    messages: u64,
    taken: u64,
    /// Number of bytes that are left of the transfer.
    bytes: u64,
    transport: Transport,
    /// Whether the source has been marked as finished.
    done: bool,
}

impl TrafficSource {
    /// Returns the source of a flow; `None` unless its application writes messages over time.
    pub(crate) fn new(flow: &Flow, seed: u64) -> Option<Self> {
        let (traffic, transport, start) = (flow.traffic.clone(), flow.transport, flow.start);
        let mut memory = traffic.memory()?;
        let mut random = RandomStream::new(seed, &format!("flow {} traffic", flow.name));
        let largest = (transport == Transport::Udp).then_some(LARGEST_MESSAGE);
        let first = traffic.first(&mut memory, start, largest, &mut random);
        let is_sensor = traffic.is_memoryless() && flow.transfer.is_none() && transport == Transport::Udp;
        let bytes = flow.transfer.map_or(u64::MAX, |bytes| bytes.0);
        let more = More { memory, start, messages: 0, taken: 0, bytes, transport, done: false };
        let more = (!is_sensor).then(|| Box::new(more));
        Some(Self { random, traffic, next: first.unwrap_or(Instant::MAX), more })
    }

    /// Returns the total size of all messages in bytes; `None` if the last message is not offered by `end`.
    pub(crate) fn total(mut self, end: Instant) -> Option<u64> {
        while let Some(next) = self.next() {
            if next > end {
                return None;
            }
            self.take();
        }
        Some(self.taken())
    }

    /// Returns the time of the next message; `None` if there are no more.
    pub(crate) fn next(&self) -> Option<Instant> {
        (self.next != Instant::MAX).then_some(self.next)
    }

    /// Takes the message that is due. Returns its size in bytes.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn take(&mut self) -> u64 {
        let now = self.next().expect("there is a message");
        let Self { random, traffic, more, .. } = self;
        let Some(more) = more else {
            let (size, next) = traffic.message(now, random);
            self.next = next.unwrap_or(Instant::MAX);
            return size.0.min(LARGEST_MESSAGE.0);
        };
        // Longer messages are cut.
        let most = if more.transport == Transport::Udp { LARGEST_MESSAGE.0 } else { u64::MAX };
        let size = traffic.size(&more.memory, random).0.min(more.bytes).min(most);
        more.taken += size;
        more.messages += 1;
        if more.bytes != u64::MAX {
            more.bytes -= size;
        }
        let progress = Progress { start: more.start, now, messages: more.messages, bytes: more.taken };
        let next = if more.bytes == 0 { None } else { traffic.next(&mut more.memory, &progress, random) };
        self.next = next.unwrap_or(Instant::MAX);
        size
    }

    /// Returns the total size of the messages so far in bytes; 0 for sources without further state.
    pub(crate) fn taken(&self) -> u64 {
        self.more.as_ref().map_or(0, |more| more.taken)
    }

    /// Returns true if [`Self::finish`] was called.
    pub(crate) fn is_done(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.done)
    }

    /// Returns the failure of the application, if it is custom and has failed.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.more.as_ref()?.memory.fault()
    }

    /// Marks the source as finished.
    pub(crate) fn finish(&mut self) {
        if let Some(more) = &mut self.more {
            more.done = true;
        }
    }
}

#[cfg(test)]
mod tests;
