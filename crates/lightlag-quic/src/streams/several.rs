//! Streams of an application that uses many: reports of what has arrived, and the end of finished streams.

use super::Streams;
use lightlag_transport::StreamArrival;
use std::collections::VecDeque;

/// State of an application with several streams. Finished streams are forgotten, except for these totals.
#[derive(Debug, Default)]
pub(super) struct Several {
    /// Arrivals that the application has not received.
    arrivals: VecDeque<StreamArrival>,
    /// Bytes acknowledged, received and received again on streams that are forgotten.
    acknowledged: u64,
    held: u64,
    duplicate: u64,
}

impl Streams {
    /// Prepares for an application that uses several streams.
    pub(crate) fn serve_several(&mut self) {
        self.several = Some(Box::default());
    }

    /// Returns true if the application uses several streams.
    pub(crate) fn are_several(&self) -> bool {
        self.several.is_some()
    }

    /// Returns the number of bidirectional streams that the peer permits this end to open.
    pub(crate) fn peer_permits(&self) -> u64 {
        self.peer.bidirectional
    }

    /// Returns the next arrival that the application has not received.
    pub(crate) fn next_arrival(&mut self) -> Option<StreamArrival> {
        self.several.as_mut()?.arrivals.pop_front()
    }

    /// Returns the bytes acknowledged in order, received in any order, and received again, on all streams.
    pub(crate) fn totals(&self) -> [u64; 3] {
        let several = self.several.as_deref();
        let past = several.map_or([0; 3], |several| [several.acknowledged, several.held, several.duplicate]);
        let acknowledged: u64 = self.sending.iter().map(|(_, stream)| stream.acknowledged_in_order()).sum();
        let held: u64 = self.receiving.iter().map(|(_, stream)| stream.held()).sum();
        let duplicate: u64 = self.receiving.iter().map(|(_, stream)| stream.duplicate).sum();
        [past[0] + acknowledged, past[1] + held, past[2] + duplicate]
    }

    /// Opens a stream of this end unless it was opened before, and those before it of the same type (RFC 9000 §3.2): a
    /// proxy may receive requests in another order.
    pub(crate) fn open_at(&mut self, id: u64) {
        if id & 1 == self.side as u64 {
            let lower = self.opened[usize::from(id & 2 != 0)]..=id >> 2;
            lower.for_each(|number| self.open_early(number << 2 | id & 3));
        }
    }

    /// Returns true if a stream existed, and its receiving part is forgotten.
    pub(crate) fn has_ended(&self, id: u64) -> bool {
        let is_own = id & 1 == self.side as u64;
        let existed = if is_own { &self.opened } else { &self.peer_opened };
        self.several.is_some() && id >> 2 < existed[usize::from(id & 2 != 0)] && !self.receiving.contains(id)
    }

    /// Creates the streams of the peer before `id` of the same type, which are open as soon as `id` is (RFC 9000 §3.2).
    pub(super) fn create_lower(&mut self, id: u64) {
        if self.several.is_some() {
            let lower = self.peer_opened[usize::from(id & 2 != 0)]..id >> 2;
            lower.for_each(|number| self.create(number << 2 | id & 3));
        }
    }

    /// Counts data of a stream that has ended.
    pub(super) fn note_duplicate(&mut self, bytes: u64) {
        if let Some(several) = &mut self.several {
            several.duplicate += bytes;
        }
    }

    /// Notes data that has arrived in order, or the end of a stream, and forgets a stream that was read to its end.
    #[cold]
    pub(super) fn note_arrival(&mut self, id: u64) {
        let (Some(several), Some(stream)) = (&mut self.several, self.receiving.get(id)) else { return };
        let arrival = StreamArrival { stream: id, received: stream.in_order() };
        match several.arrivals.back_mut() {
            Some(last) if last.stream == id => *last = arrival,
            _ => several.arrivals.push_back(arrival),
        }
        self.forget_read(id);
    }

    /// Forgets the receiving part of a stream that was read to its end.
    pub(crate) fn forget_read(&mut self, id: u64) {
        let Some(several) = &mut self.several else { return };
        let is_read = self.receiving.get(id).is_some_and(|stream| stream.is_complete() && stream.unread() == 0);
        if is_read && let Some(stream) = self.receiving.remove(id) {
            several.held += stream.held();
            several.duplicate += stream.duplicate;
            self.due.max_stream_data.retain(|due| *due != id);
            self.forgotten(id);
        }
    }

    /// Forgets the sending part of a stream that is acknowledged to its end.
    #[cold]
    pub(super) fn forget_sent(&mut self, id: u64) {
        if let Some(several) = &mut self.several
            && let Some(stream) = self.sending.remove(id)
        {
            several.acknowledged += stream.acknowledged_in_order();
            self.forgotten(id);
        }
    }

    /// Counts a stream of the peer as finished if both parts of it are forgotten.
    fn forgotten(&mut self, id: u64) {
        let is_peers = id & 1 != self.side as u64 && id & 2 == 0;
        if is_peers && !self.sending.contains(id) && !self.receiving.contains(id) {
            self.count_finished(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::frame::Direction;
    use crate::streams::{Chunk, PeerLimits, Side, StreamError};
    use lightlag_core::{Duration, Instant};

    #[test]
    fn streams_may_be_written_in_any_order() {
        let config = Config::default();
        let mut streams = Streams::new(Side::Client, &config);
        streams.serve_several();
        streams.set_peer_limits(PeerLimits::of(&config.flow));
        for id in [8, 0, 4] {
            streams.open_at(id);
            streams.write(id, 5);
            streams.finish(id);
        }
        let sent: Vec<_> =
            (0..3).filter_map(|_| streams.next_chunk(100)).map(|chunk| (chunk.stream, chunk.len)).collect();
        assert_eq!(sent, [(8, 5), (0, 5), (4, 5)]);
    }

    #[test]
    fn a_stream_is_forgotten_when_both_parts_have_ended() {
        let mut config = Config::default();
        config.flow.bidirectional = 2;
        let mut streams = Streams::new(Side::Server, &config);
        streams.serve_several();
        streams.set_peer_limits(PeerLimits::of(&config.flow));
        let request = |stream| Chunk { stream, offset: 0, len: 10, fin: true, to_end: false };
        let arrive =
            |streams: &mut Streams, stream| streams.arrived(Instant::ZERO, &request(stream), Duration::ZERO, true);
        // Stream 4 also opens stream 0.
        assert_eq!(arrive(&mut streams, 4), Ok(10));
        assert!(streams.receiving.contains(0) && !streams.receiving.contains(4));
        assert_eq!(streams.next_arrival(), Some(StreamArrival { stream: 4, received: 10 }));
        assert_eq!(streams.next_arrival(), None);
        // A late copy is counted, and a third stream exceeds the limit.
        assert_eq!((arrive(&mut streams, 4), streams.totals()), (Ok(0), [0, 10, 10]));
        assert_eq!(arrive(&mut streams, 8), Err(StreamError::Limit));
        streams.write(4, 5);
        streams.finish(4);
        let response = streams.next_chunk(100).expect("a response");
        assert_eq!((response.stream, response.len, response.fin), (4, 5, true));
        streams.acknowledged(&response);
        assert!(!streams.sending.contains(4));
        assert_eq!((streams.totals(), streams.unacknowledged), ([5, 10, 10], 0));
        // The peer may open another one instead.
        assert_eq!((streams.due.max_streams, streams.permitted(Direction::Bidirectional)), ([true, false], 3));
        assert_eq!(arrive(&mut streams, 8), Ok(10));
    }
}
