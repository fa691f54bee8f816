//! One connection with its bytes: what was written and is not acknowledged, what was received and is not read.

use crate::ring::ByteRing;
use crate::stack::SendBuffer;
use lightlag_core::{Duration, Instant};
use lightlag_tcp::congestion::Phase;
use lightlag_tcp::ecn::Codepoint;
use lightlag_tcp::{Connection, Segment, State};

/// How long data may be corked (tcp(7): "a 200 millisecond ceiling").
const CORK: Duration = Duration::from_millis(200);

/// What went through a stream, in segments and bytes of payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Segments that arrived.
    pub segments_in: u64,
    /// Of these with payload.
    pub data_segments_in: u64,
    /// Segments that left.
    pub segments_out: u64,
    /// Of these with payload.
    pub data_segments_out: u64,
    /// Payload that left, retransmissions included.
    pub bytes_sent: u64,
    /// Payload that left again.
    pub bytes_retransmitted: u64,
    /// The longest payload that arrived in one segment.
    pub largest_in: u16,
}

/// A connection with its bytes.
pub(crate) struct Stream {
    pub(crate) connection: Connection,
    pub(crate) traffic: Traffic,
    /// Starts at what is acknowledged.
    outgoing: ByteRing,
    /// End of what the application wrote, and of what the connection knows of.
    written: u64,
    offered: u64,
    /// Starts at what the application has read.
    incoming: ByteRing,
    /// When corked data leaves at the latest; [`Instant::MAX`] where nothing is held back.
    cork_until: Instant,
    corked: bool,
    /// The largest congestion window so far, in bytes: what the send buffer follows.
    largest_window: u64,
}

impl Stream {
    pub(crate) fn new(mut connection: Connection, corked: bool) -> Self {
        connection.read_later();
        Self {
            connection,
            traffic: Traffic::default(),
            outgoing: ByteRing::default(),
            written: 0,
            offered: 0,
            incoming: ByteRing::default(),
            cork_until: Instant::MAX,
            corked,
            largest_window: 0,
        }
    }

    /// A segment arrived.
    pub(crate) fn take(&mut self, now: Instant, segment: &Segment, codepoint: Codepoint, payload: &[u8]) {
        self.traffic.segments_in += 1;
        self.traffic.data_segments_in += u64::from(!payload.is_empty());
        self.traffic.largest_in = self.traffic.largest_in.max(segment.len);
        let connection = &mut self.connection;
        let offset = connection.receive_offset(segment.seq);
        let (nxt, edge, held) = (connection.received(), connection.receive_edge(), connection.held());
        connection.handle_packet(now, segment, codepoint);
        if connection.held() > held
            && let Some(offset) = offset
        {
            // It was taken, from what was expected up to the edge of the window.
            let from = offset.max(nxt);
            let until = (offset + payload.len() as u64).min(edge);
            if let Some(taken) = payload.get((from - offset) as usize..(until - offset) as usize) {
                self.incoming.put(from, taken);
            }
        }
        self.outgoing.advance(self.connection.acknowledged());
    }

    /// The next segment and its payload, which replaces what is in `payload`.
    pub(crate) fn poll(&mut self, now: Instant, payload: &mut Vec<u8>) -> Option<Segment> {
        payload.clear();
        let sent = self.connection.sent();
        let segment = self.connection.poll_segment(now)?;
        let traffic = &mut self.traffic;
        traffic.segments_out += 1;
        if segment.len > 0 {
            let offset = self.connection.send_offset(segment.seq);
            self.outgoing.append_to(offset, usize::from(segment.len), payload);
            traffic.data_segments_out += 1;
            traffic.bytes_sent += u64::from(segment.len);
            let again = sent.saturating_sub(offset).min(u64::from(segment.len));
            traffic.bytes_retransmitted += again;
        }
        Some(segment)
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let next = self.connection.poll_timeout().unwrap_or(Instant::MAX).min(self.cork_until);
        (next != Instant::MAX).then_some(next)
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.cork_until <= now {
            self.offer_all();
        }
        if self.connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
            self.connection.handle_timeout(now);
        }
    }

    /// Whether the application may write.
    pub(crate) fn may_write(&self) -> bool {
        matches!(self.connection.state(), State::Established | State::CloseWait)
    }

    /// Room in a send buffer of `limit` bytes, or in one that follows the congestion window: twice that, so that the
    /// next round's data is there when the ACKs come (`tcp_sndbuf_expand` of Linux), within `bounds`.
    pub(crate) fn room(&mut self, limit: Option<u64>, bounds: SendBuffer) -> u64 {
        let limit = limit.unwrap_or_else(|| {
            let snapshot = self.connection.snapshot();
            if snapshot.phase == Phase::Open {
                self.largest_window = self.largest_window.max(snapshot.cwnd);
            }
            (2 * self.largest_window).clamp(bounds.initial.min(bounds.most), bounds.most)
        });
        limit.saturating_sub(self.written - self.outgoing.start())
    }

    /// The application writes; `data` fits into the buffer.
    pub(crate) fn write(&mut self, now: Instant, data: &[u8], more: bool) {
        self.outgoing.put(self.written, data);
        self.written += data.len() as u64;
        if more { self.offer_whole(now) } else { self.offer(now) }
    }

    /// Tells the connection of what may leave.
    pub(crate) fn offer(&mut self, now: Instant) {
        if self.corked { self.offer_whole(now) } else { self.offer_all() }
    }

    /// Only full segments may leave; the rest waits.
    fn offer_whole(&mut self, now: Instant) {
        let (sent, size) = (self.connection.sent(), u64::from(self.connection.segment_size()));
        let whole = sent + (self.written - sent) / size * size;
        if whole > self.offered {
            self.connection.write(whole - self.offered);
            self.offered = whole;
        }
        if self.offered < self.written && self.cork_until == Instant::MAX {
            self.cork_until = now + CORK;
        }
    }

    fn offer_all(&mut self) {
        self.cork_until = Instant::MAX;
        if self.offered < self.written {
            self.connection.write(self.written - self.offered);
            self.offered = self.written;
        }
    }

    pub(crate) fn set_cork(&mut self, now: Instant, on: bool) {
        self.corked = on;
        self.offer(now);
    }

    /// The application writes nothing more.
    pub(crate) fn finish(&mut self) {
        self.offer_all();
        self.connection.close();
    }

    /// Bytes to read.
    pub(crate) fn unread(&self) -> u64 {
        self.connection.unread()
    }

    /// The application reads; returns how many bytes there were.
    pub(crate) fn read(&mut self, data: &mut [u8]) -> usize {
        let len = self.peek(data);
        let len = self.connection.read(len as u64) as usize;
        self.incoming.advance(self.incoming.start() + len as u64);
        len
    }

    /// As [`Self::read`], but the bytes stay.
    pub(crate) fn peek(&self, data: &mut [u8]) -> usize {
        let len = (data.len() as u64).min(self.unread()) as usize;
        if len > 0 {
            self.incoming.get(self.incoming.start(), &mut data[..len]);
        }
        len
    }

    /// Whether the peer has sent everything, and all of it was read.
    pub(crate) fn at_end(&self) -> bool {
        self.connection.peer_closed() && self.unread() == 0
    }

    /// Bytes that the application wrote and the peer did not acknowledge.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.written - self.connection.acknowledged()
    }

    /// Bytes that the application wrote and that never left.
    pub(crate) fn unsent(&self) -> u64 {
        self.written - self.connection.sent()
    }
}
