//! The streams of one direction through a proxy, which have the same IDs on both connections.
//!
//! A stream waits neither for data of another one nor for space that another one fills: it is read while the proxy
//! stores less of it than the free space of the buffer. A single stream thus fills half of the buffer, and n streams with
//! a backlog fill n/(n + 1) of it in equal parts (the dynamic threshold of Choudhury and Hahne, IEEE/ACM Transactions on
//! Networking 6(2), 1998, with α = 1; from memory). Data is stored until the next hop has acknowledged it in order.

use lightlag_core::Instant;
use lightlag_transport::{Multiplexed, Priority};
use std::collections::{BTreeMap, BTreeSet};

/// Bit of the ID of a unidirectional stream, and number of bits below the index of a stream (RFC 9000 §2.1).
const UNIDIRECTIONAL: u64 = 2;
const TYPE_BITS: u32 = 2;

/// The streams of one direction.
#[derive(Debug)]
pub(super) struct StreamPassage {
    /// Whether the proxy opens bidirectional streams on the next connection: for requests, whose responses use them.
    opens: bool,
    /// Streams that may have data or an end to be read.
    waiting: BTreeSet<u64>,
    /// Streams that were opened on the next connection, and have not ended.
    open: BTreeSet<u64>,
    /// Number of stored bytes of each stream that has any.
    stored: BTreeMap<u64, u64>,
    /// Priorities of streams that have no data on the next connection yet.
    priorities: BTreeMap<u64, Priority>,
}

impl StreamPassage {
    pub(super) fn of_requests() -> Self {
        Self { opens: true, ..Self::of_responses() }
    }

    pub(super) fn of_responses() -> Self {
        Self {
            opens: false,
            waiting: BTreeSet::new(),
            open: BTreeSet::new(),
            stored: BTreeMap::new(),
            priorities: BTreeMap::new(),
        }
    }

    /// Sets the priority of a stream that has no data on the next connection yet.
    pub(super) fn prioritise(&mut self, stream: u64, priority: Priority) {
        self.priorities.insert(stream, priority);
    }

    /// Reads what fits into a buffer of `limit` bytes, and writes it to the next connection. Returns the numbers of bytes
    /// stored and written.
    pub(super) fn pass_on(
        &mut self,
        now: Instant,
        limit: u64,
        from: &mut dyn Multiplexed,
        to: &mut dyn Multiplexed,
    ) -> (u64, u64) {
        while let Some(arrival) = from.next_arrival() {
            self.waiting.insert(arrival.stream);
        }
        self.stored.retain(|stream, stored| {
            *stored = to.kept_on(*stream);
            *stored > 0
        });
        let mut total: u64 = self.stored.values().sum();
        let mut written = 0;
        for stream in self.waiting.iter().copied().collect::<Vec<u64>>() {
            if !self.may_pass(stream, to) {
                continue;
            }
            let stored = self.stored.get(&stream).copied().unwrap_or_default();
            let room = (limit - total).saturating_sub(stored) / 2;
            let (bytes, has_ended) = from.read_on(now, stream, room);
            if bytes > 0 || has_ended {
                to.write_on(stream, bytes, has_ended);
                self.open.insert(stream);
                if let Some(priority) = self.priorities.remove(&stream) {
                    to.prioritise(stream, priority);
                }
            }
            if bytes > 0 {
                self.stored.insert(stream, stored + bytes);
                (total, written) = (total + bytes, written + bytes);
            }
            if has_ended || bytes < room {
                // More data or the end of the stream is another arrival.
                self.waiting.remove(&stream);
            }
            if has_ended {
                self.open.remove(&stream);
            }
        }
        debug_assert!(total <= limit, "a buffer has a bound");
        (total, written)
    }

    /// Returns true if a stream is open on the next connection, or may be opened.
    fn may_pass(&self, stream: u64, to: &dyn Multiplexed) -> bool {
        let is_bidirectional = stream & UNIDIRECTIONAL == 0;
        !(self.opens && is_bidirectional) || self.open.contains(&stream) || stream >> TYPE_BITS < to.permitted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_transport::StreamArrival;

    /// A connection that holds unread bytes of streams and stores what is written.
    #[derive(Default)]
    struct Fake {
        permitted: u64,
        unread: BTreeMap<u64, (u64, bool)>,
        arrivals: Vec<u64>,
        kept: BTreeMap<u64, u64>,
        ended: Vec<u64>,
        levels: BTreeMap<u64, i32>,
    }

    impl Fake {
        fn arrive(&mut self, stream: u64, bytes: u64, is_last: bool) {
            let unread = self.unread.entry(stream).or_default();
            *unread = (unread.0 + bytes, unread.1 || is_last);
            self.arrivals.push(stream);
        }
    }

    impl Multiplexed for Fake {
        fn permitted(&self) -> u64 {
            self.permitted
        }

        fn write_on(&mut self, stream: u64, bytes: u64, is_last: bool) {
            *self.kept.entry(stream).or_default() += bytes;
            self.ended.extend(is_last.then_some(stream));
        }

        fn prioritise(&mut self, stream: u64, priority: Priority) {
            self.levels.insert(stream, priority.level);
        }

        fn next_arrival(&mut self) -> Option<StreamArrival> {
            self.arrivals.pop().map(|stream| StreamArrival { stream, received: 0 })
        }

        fn read_on(&mut self, _: Instant, stream: u64, bytes: u64) -> (u64, bool) {
            let (unread, is_last) = self.unread.get_mut(&stream).expect("a stream that has arrived");
            let read = bytes.min(*unread);
            *unread -= read;
            (read, *is_last && *unread == 0)
        }

        fn kept_on(&self, stream: u64) -> u64 {
            self.kept.get(&stream).copied().unwrap_or_default()
        }

        fn peer_waits(&mut self, _: Instant, _: bool) {}
    }

    const NOW: Instant = Instant::ZERO;

    #[test]
    fn a_backlog_leaves_space_for_other_streams() {
        let (mut from, mut to, mut passage) = (Fake::default(), Fake::default(), StreamPassage::of_responses());
        from.arrive(0, 10_000, false);
        assert_eq!(passage.pass_on(NOW, 1_000, &mut from, &mut to), (500, 500));
        // The second one stores as much as it leaves free; then the first has more than its part.
        from.arrive(4, 10_000, false);
        assert_eq!(passage.pass_on(NOW, 1_000, &mut from, &mut to), (750, 250));
        // The next hop acknowledges the first: a third of the buffer for each.
        to.kept.insert(0, 0);
        for _ in 0..20 {
            passage.pass_on(NOW, 1_000, &mut from, &mut to);
        }
        assert!((to.kept[&0].abs_diff(333) < 90) && to.kept[&4] >= 250, "{:?}", to.kept);
        assert!(to.kept.values().sum::<u64>() < 1_000);
    }

    #[test]
    fn the_end_and_the_priority_of_a_stream_pass() {
        let (mut from, mut to, mut passage) = (Fake::default(), Fake::default(), StreamPassage::of_responses());
        passage.prioritise(0, Priority { level: -2, is_incremental: false });
        from.arrive(0, 100, false);
        assert_eq!(passage.pass_on(NOW, 1_000, &mut from, &mut to), (100, 100));
        assert_eq!((to.levels[&0], to.ended.len()), (-2, 0));
        from.arrive(0, 0, true);
        assert_eq!(passage.pass_on(NOW, 1_000, &mut from, &mut to), (100, 0));
        assert_eq!(to.ended, [0]);
        to.kept.clear();
        assert_eq!(passage.pass_on(NOW, 1_000, &mut from, &mut to), (0, 0));
        assert!(passage.waiting.is_empty() && passage.open.is_empty() && passage.stored.is_empty());
    }

    #[test]
    fn a_request_waits_for_permission_to_open_its_stream() {
        let (mut from, mut to, mut passage) = (Fake::default(), Fake::default(), StreamPassage::of_requests());
        to.permitted = 1;
        from.arrive(0, 50, true);
        from.arrive(4, 50, true);
        // Control streams are unidirectional.
        from.arrive(2, 10, false);
        assert_eq!(passage.pass_on(NOW, 1_000, &mut from, &mut to), (60, 60));
        assert_eq!(to.ended, [0]);
        to.permitted = 2;
        assert_eq!(passage.pass_on(NOW, 1_000, &mut from, &mut to), (110, 50));
        assert_eq!(to.ended, [0, 4]);
    }
}
