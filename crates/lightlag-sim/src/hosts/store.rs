//! The memory of a sink that stores messages and forwards them during contacts with the receiver.
//!
//! Messages are written to the connection in the order of their arrival, and only while a contact lasts for longer than
//! a guard time, and while the connection holds less than a maximum number of bytes. Only messages that are not written
//! can be dropped later.

use lightlag_core::{Duration, Instant, Windows};
use lightlag_traffic::{Collect, Overflow};
use std::collections::VecDeque;

/// A message in the memory: its size in bytes and its creation time.
pub(crate) type Stored = (u32, Instant);

/// The memory of a sink.
#[derive(Debug)]
pub(crate) struct Store {
    contacts: Windows,
    guard: Duration,
    overflow: Overflow,
    socket: u64,
    messages: VecDeque<Stored>,
    bytes: u64,
    max_bytes: u64,
    dropped_oldest: u64,
}

impl Store {
    /// Returns the memory of a sink with these settings; `None` if it does not store messages.
    pub(crate) fn new(settings: &Collect) -> Option<Box<Self>> {
        settings.stores().then(|| {
            Box::new(Self {
                contacts: settings.contacts.clone(),
                guard: settings.contact_guard,
                overflow: settings.overflow,
                socket: settings.socket.0,
                messages: VecDeque::new(),
                bytes: 0,
                max_bytes: 0,
                dropped_oldest: 0,
            })
        })
    }

    /// Stores a message, if it fits into `buffer` bytes together with the `written` bytes that the receiver has not
    /// acknowledged. Returns the number of messages that were dropped.
    pub(crate) fn add(&mut self, message: Stored, written: u64, buffer: u64) -> u64 {
        let mut dropped = 0;
        let size = u64::from(message.0);
        while self.overflow == Overflow::Oldest
            && written + size <= buffer
            && written + self.bytes + size > buffer
            && let Some((oldest, _)) = self.messages.pop_front()
        {
            self.bytes -= u64::from(oldest);
            self.dropped_oldest += 1;
            dropped += 1;
        }
        if written + self.bytes + size > buffer {
            return dropped + 1;
        }
        self.messages.push_back(message);
        self.bytes += size;
        self.max_bytes = self.max_bytes.max(written + self.bytes);
        dropped
    }

    /// Removes and returns the next message, if it may be written now to a connection that holds `written` bytes.
    pub(crate) fn take(&mut self, now: Instant, written: u64) -> Option<Stored> {
        let size = u64::from(self.messages.front()?.0);
        if !self.is_in_contact(now) || (written > 0 && written + size > self.socket) {
            return None;
        }
        self.bytes -= size;
        self.messages.pop_front()
    }

    /// Returns the time when writing can continue, if that is the start of a contact.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        if self.messages.is_empty() || self.is_in_contact(now) {
            return None;
        }
        let present = self.contacts.at(now)?;
        if present.start > now { Some(present.start) } else { self.contacts.after(now).map(|next| next.start) }
    }

    fn is_in_contact(&self, now: Instant) -> bool {
        let lasts = |contact: lightlag_core::Window| contact.start <= now && now + self.guard < contact.end;
        self.contacts.is_empty() || self.contacts.at(now).is_some_and(lasts)
    }

    /// Returns the number of stored messages that are not written to the connection.
    pub(crate) fn len(&self) -> u64 {
        self.messages.len() as u64
    }

    /// Returns the maximum number of bytes in the memory so far, including those that the receiver had not
    /// acknowledged.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Returns the number of stored messages that were dropped for newer ones.
    pub(crate) fn dropped_oldest(&self) -> u64 {
        self.dropped_oldest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_core::Bytes;

    fn time(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn store(overflow: Overflow) -> Store {
        let contacts = Windows::periodic(Duration::from_secs(100), Duration::from_secs(10), Duration::from_secs(1000));
        let settings = Collect { overflow, contacts, socket: Bytes(250), ..Collect::default() };
        *Store::new(&settings).expect("a sink with contacts stores messages")
    }

    #[test]
    fn messages_wait_for_a_contact_and_for_the_connection() {
        let mut store = store(Overflow::Newest);
        for second in 1..=3 {
            assert_eq!(store.add((100, time(second)), 0, 1000), 0);
        }
        assert_eq!((store.take(time(99), 0), store.due(time(99))), (None, Some(time(100))));
        assert_eq!(store.take(time(100), 0), Some((100, time(1))));
        assert_eq!(store.take(time(100), 100), Some((100, time(2))));
        // 200 B in the connection and 100 B more exceed 250 B; an ACK makes room.
        assert_eq!((store.take(time(100), 200), store.due(time(100))), (None, None));
        // The guard of 1 s ends the contact at 109 s; the next one starts at 1100 s.
        assert_eq!((store.take(time(109), 0), store.due(time(109))), (None, Some(time(1100))));
        assert_eq!(store.take(time(1100), 0), Some((100, time(3))));
        assert_eq!((store.due(time(1100)), store.max_bytes()), (None, 300));
    }

    #[test]
    fn a_full_memory_drops_the_newest_or_the_oldest() {
        let mut newest = store(Overflow::Newest);
        let mut oldest = store(Overflow::Oldest);
        for second in 1..=4 {
            let dropped = u64::from(second == 4);
            assert_eq!([&mut newest, &mut oldest].map(|store| store.add((100, time(second)), 0, 300)), [dropped; 2]);
        }
        assert_eq!(
            [&mut newest, &mut oldest].map(|store| store.take(time(100), 0)),
            [1, 2].map(|at| Some((100, time(at))))
        );
        assert_eq!((newest.dropped_oldest(), oldest.dropped_oldest()), (0, 1));
        // Bytes in the connection cannot be dropped: a message that does not fit next to them is.
        assert_eq!((oldest.add((200, time(5)), 150, 300), oldest.len()), (1, 2));
    }
}
