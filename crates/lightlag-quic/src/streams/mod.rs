//! The streams of a connection and their credit (RFC 9000 §2 to §4).

mod due;
mod flight;
mod map;
mod receive;
mod schedule;
mod send;
mod several;

pub use due::DueFrames;
pub use receive::{ReceiveStream, StreamError};
pub use send::{Chunk, SendStream};

use crate::config::{Config, FlowRules};
use crate::credit::Credit;
use crate::frame::Direction;
use lightlag_core::{Duration, Instant};
use lightlag_transport::Limit;
use map::StreamMap;
use schedule::Schedule;
use several::Several;

/// Credit that a peer gives at the start of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeerLimits {
    /// Bytes of all streams.
    pub connection: u64,
    /// Bytes of each stream.
    pub stream: u64,
    /// Number of bidirectional streams.
    pub bidirectional: u64,
    /// Number of unidirectional streams.
    pub unidirectional: u64,
}

impl PeerLimits {
    /// No credit: before the peer's parameters are known.
    pub const NONE: Self = Self { connection: 0, stream: 0, bidirectional: 0, unidirectional: 0 };

    /// Returns the limits that a peer with these rules announces.
    pub fn of(flow: &FlowRules) -> Self {
        Self {
            connection: flow.connection,
            stream: flow.stream,
            bidirectional: flow.bidirectional,
            unidirectional: flow.unidirectional,
        }
    }
}

/// The initiator of a stream, in bit 0 of its ID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Side {
    /// The client.
    Client,
    /// The server.
    Server,
}

impl Side {
    /// Returns the other side.
    pub fn peer(self) -> Self {
        if self == Self::Client { Self::Server } else { Self::Client }
    }
}

/// All streams of a connection.
#[derive(Debug)]
pub struct Streams {
    side: Side,
    pub(crate) sending: StreamMap<SendStream>,
    pub(crate) receiving: StreamMap<ReceiveStream>,
    schedule: Schedule,
    /// Peer's credit of the connection, and bytes sent for the first time on all streams.
    peer: PeerLimits,
    pub(crate) sent: u64,
    /// Sent bytes that are not acknowledged.
    pub(crate) unacknowledged: u64,
    send_buffer: u64,
    /// Own credit; sums of the highest received offsets and of the consumed bytes of all streams.
    pub(crate) credit: Credit,
    pub(crate) received: u64,
    pub(crate) consumed: u64,
    /// Number of streams opened by this side: bidirectional, unidirectional.
    opened: [u64; 2],
    /// Numbers of streams that the peer has opened, and of those that have finished.
    peer_opened: [u64; 2],
    peer_finished: [u64; 2],
    /// Numbers of streams that the peer might open at the start.
    initial_streams: [u64; 2],
    flow: FlowRules,
    /// Credit frames that are due.
    pub(crate) due: DueFrames,
    roomy: bool,
    early_blocked: bool,
    /// Whether credit is reviewed when packets are built.
    reviews_later: bool,
    /// Limit of the connection in the last BLOCKED frame.
    reported_block: Option<u64>,
    /// State of an application with several streams.
    several: Option<Box<Several>>,
}

impl Streams {
    /// Creates the streams of a connection without credit from the peer.
    pub fn new(side: Side, config: &Config) -> Self {
        Self {
            side,
            sending: StreamMap::new(),
            receiving: StreamMap::new(),
            schedule: Schedule::new(config.fairness),
            peer: PeerLimits::NONE,
            sent: 0,
            unacknowledged: 0,
            send_buffer: config.flow.send_buffer.unwrap_or(u64::MAX),
            credit: Credit::new(config.flow.connection, config.flow.connection_tuning),
            received: 0,
            consumed: 0,
            opened: [0; 2],
            peer_opened: [0; 2],
            peer_finished: [0; 2],
            initial_streams: [config.flow.bidirectional, config.flow.unidirectional],
            flow: config.flow,
            due: DueFrames::default(),
            roomy: config.details.roomy_frames,
            early_blocked: config.details.early_blocked,
            reviews_later: false,
            reported_block: None,
            several: None,
        }
    }

    /// Applies the peer's initial limits, or those remembered for 0-RTT. Limits never decrease.
    pub fn set_peer_limits(&mut self, limits: PeerLimits) {
        self.peer.connection = self.peer.connection.max(limits.connection);
        self.peer.stream = self.peer.stream.max(limits.stream);
        self.peer.bidirectional = self.peer.bidirectional.max(limits.bidirectional);
        self.peer.unidirectional = self.peer.unidirectional.max(limits.unidirectional);
        let ids: Vec<u64> = self.sending.iter().map(|(id, _)| id).collect();
        for id in ids {
            self.raise_stream_limit(id, limits.stream);
        }
    }

    /// Returns true if this side may send on the stream.
    fn may_send(&self, id: u64) -> bool {
        id & 2 == 0 || id & 1 == self.side as u64
    }

    fn index(direction: Direction) -> usize {
        usize::from(direction == Direction::Unidirectional)
    }

    /// Opens the next stream of a direction, and returns its ID; `None` if the peer permits no more streams.
    pub fn open(&mut self, direction: Direction) -> Option<u64> {
        let index = Self::index(direction);
        let limit = if index == 0 { self.peer.bidirectional } else { self.peer.unidirectional };
        if self.opened[index] >= limit {
            return None;
        }
        let id = self.opened[index] << 2 | (index as u64) << 1 | self.side as u64;
        self.opened[index] += 1;
        self.create(id);
        Some(id)
    }

    /// Opens the stream `id`, before the peer's limits are known.
    pub fn open_early(&mut self, id: u64) {
        let index = usize::from(id & 2 != 0);
        self.opened[index] = self.opened[index].max((id >> 2) + 1);
        self.create(id);
    }

    fn create(&mut self, id: u64) {
        if self.may_send(id) {
            let limit = self.peer.stream;
            self.sending.add(id, || SendStream::new(limit));
        }
        if id & 2 == 0 || id & 1 != self.side as u64 {
            let mut credit = Credit::new(self.flow.stream, self.flow.stream_tuning);
            if self.reviews_later {
                credit.review_later();
            }
            self.receiving.add(id, || ReceiveStream::new(credit));
        }
    }

    /// Creates a stream that the peer opened by using it.
    ///
    /// # Errors
    /// If it exceeds the limit, or if it is a stream that only this side can open.
    fn accept(&mut self, id: u64) -> Result<(), StreamError> {
        if self.receiving.contains(id) || self.sending.contains(id) {
            return Ok(());
        }
        if id & 1 == self.side as u64 {
            return Err(StreamError::State);
        }
        let limit = if id & 2 == 0 { self.flow.bidirectional } else { self.flow.unidirectional };
        if id >> 2 >= limit {
            return Err(StreamError::Limit);
        }
        self.create_lower(id);
        let opened = &mut self.peer_opened[usize::from(id & 2 != 0)];
        *opened = (*opened).max((id >> 2) + 1);
        self.create(id);
        Ok(())
    }

    /// Appends `bytes` to a stream; [`u64::MAX`] means endless data.
    pub fn write(&mut self, id: u64, bytes: u64) {
        if let Some(stream) = self.sending.get_mut(id) {
            stream.write(bytes);
            self.enqueue(id);
        }
        self.note_wants();
    }

    /// Finishes a stream after the bytes written so far.
    pub fn finish(&mut self, id: u64) {
        if let Some(stream) = self.sending.get_mut(id) {
            stream.finish();
            self.enqueue(id);
        }
    }

    /// Sets the priority of a stream; higher ones are sent first. `incremental` shares the path with streams of the
    /// same priority, packet by packet.
    pub fn set_priority(&mut self, id: u64, priority: i32, incremental: bool) {
        if let Some(stream) = self.sending.get_mut(id) {
            (stream.priority, stream.incremental) = (priority, Some(incremental));
            self.schedule.remove(id, stream);
            self.enqueue(id);
        }
    }

    fn enqueue(&mut self, id: u64) {
        if let Some(stream) = self.sending.get_mut(id).filter(|stream| stream.has_new()) {
            if self.early_blocked && stream.is_at_limit() {
                self.schedule.block(id, stream);
            } else {
                self.schedule.add(id, stream);
            }
        }
    }

    /// Returns true if a stream has data or a FIN that may be sent now.
    #[inline(always)]
    pub fn can_send(&self) -> bool {
        self.schedule.has_repairs() || self.schedule.has_new() && (self.budget() > 0 || self.has_only_fin())
    }

    #[cold]
    fn has_only_fin(&self) -> bool {
        self.schedule.front_new().and_then(|id| self.sending.get(id)).is_some_and(SendStream::has_only_fin)
    }

    /// Returns true if no stream has data to send, with or without credit.
    #[inline(always)]
    pub(crate) fn is_silent(&self) -> bool {
        self.schedule.is_empty()
    }

    /// Returns true if lost data waits to be retransmitted.
    pub fn has_repairs(&self) -> bool {
        self.schedule.has_repairs()
    }

    /// Returns true if credit or the send buffer holds back new data.
    #[inline(always)]
    pub fn is_blocked(&self) -> bool {
        !self.schedule.has_repairs() && (self.schedule.has_new() && !self.can_send() || self.schedule.blocked > 0)
    }

    /// Returns the limit that holds back new data, if [`Self::is_blocked`].
    pub(crate) fn block(&self) -> Limit {
        if !self.schedule.has_new() {
            Limit::StreamCredit
        } else if self.sent >= self.peer.connection {
            Limit::ConnectionCredit
        } else {
            Limit::SendBuffer
        }
    }

    /// Returns the bytes that credit, the send buffer and the application permit to send, or `enough` if that is less.
    pub fn sendable(&self, enough: u64) -> u64 {
        if self.schedule.has_repairs() {
            return enough;
        }
        let budget = self.budget().min(enough);
        let permitted = |stream: &SendStream| stream.unsent().min(stream.limit().saturating_sub(stream.next()));
        if self.schedule.front_new().and_then(|id| self.sending.get(id)).is_some_and(|one| permitted(one) >= budget) {
            return budget;
        }
        let mut sum = 0;
        for stream in self.schedule.queued().filter_map(|id| self.sending.get(id)) {
            sum += permitted(stream);
            if sum >= budget {
                return budget;
            }
        }
        sum
    }

    /// Returns the bytes that may be sent for the first time: credit of the connection, and space in the send buffer.
    #[inline(always)]
    fn budget(&self) -> u64 {
        self.peer.connection.saturating_sub(self.sent).min(self.send_buffer.saturating_sub(self.unacknowledged))
    }

    /// Returns the next chunk for a packet with `space` bytes for STREAM frames: missing data first, then new data.
    pub fn next_chunk(&mut self, space: u64) -> Option<Chunk> {
        if let Some(id) = self.schedule.front_repair() {
            let stream = self.sending.get_mut(id)?;
            let chunk = stream.take_repair(id, space, self.roomy);
            if !stream.has_repairs() {
                self.schedule.remove_repair(id, stream);
            }
            return chunk;
        }
        loop {
            let id = self.schedule.front_new()?;
            let budget = self.budget();
            let stream = self.sending.get_mut(id)?;
            if budget == 0 && !stream.has_only_fin() {
                self.note_blocked();
                return None;
            }
            match stream.take_new(id, space, budget, self.roomy) {
                Ok(chunk) => {
                    self.sent += u64::from(chunk.len);
                    self.unacknowledged += u64::from(chunk.len);
                    let goes_on = stream.has_new();
                    self.schedule.sent(id, stream, goes_on);
                    if self.early_blocked && goes_on && stream.is_at_limit() {
                        self.schedule.block(id, stream);
                    }
                    return Some(chunk);
                }
                Err(send::Blocked::Credit) => {
                    if stream.reported_block != Some(stream.limit()) {
                        stream.reported_block = Some(stream.limit());
                        self.due.stream_blocked.push(id);
                    }
                    self.schedule.block(id, stream);
                }
                Err(send::Blocked::Space) => return None,
            }
        }
    }

    /// Returns the bytes of new data with which the next stream fills `room` bytes of a packet; `None` if it does not
    /// have as many.
    #[inline(always)]
    pub(crate) fn fills(&mut self, room: u64) -> Option<u64> {
        let budget = self.budget();
        let id = self.schedule.front_new()?;
        self.sending.get_mut(id)?.fills(id, room, budget)
    }

    /// Takes the data that [`Self::fills`] has found.
    #[inline(always)]
    pub(crate) fn take_full(&mut self, len: u64) -> Chunk {
        let (id, stream) = self.sending.recent_mut().expect("a stream with data");
        let chunk = stream.take_full(id, len);
        self.sent += u64::from(chunk.len);
        self.unacknowledged += u64::from(chunk.len);
        let goes_on = stream.has_new();
        self.schedule.sent(id, stream, goes_on);
        chunk
    }

    /// Notes that the peer's connection credit is used up: a BLOCKED frame is due once per limit.
    fn note_blocked(&mut self) {
        let limit = self.peer.connection;
        if self.sent >= limit && self.reported_block != Some(limit) {
            self.reported_block = Some(limit);
            self.due.blocked = true;
        }
    }

    /// Makes BLOCKED frames due again: a blocked sender with nothing in flight repeats them (RFC 9000 §4.1).
    pub fn repeat_blocked(&mut self) {
        if self.schedule.has_new() && self.sent >= self.peer.connection {
            self.due.blocked = true;
        }
        for (id, stream) in self.sending.iter() {
            if stream.is_blocked && !self.due.stream_blocked.contains(&id) {
                self.due.stream_blocked.push(id);
            }
        }
    }

    /// Returns the bytes sent for the first time on all streams.
    pub fn sent_bytes(&self) -> u64 {
        self.sent
    }

    /// Returns the receiving part of a stream.
    pub fn receiving(&self, id: u64) -> Option<&ReceiveStream> {
        self.receiving.get(id)
    }

    /// Returns the sending part of a stream.
    pub fn sending(&self, id: u64) -> Option<&SendStream> {
        self.sending.get(id)
    }

    /// Returns the peer's limit of the connection.
    pub fn peer_limit(&self) -> u64 {
        self.peer.connection
    }

    /// Handles MAX_DATA.
    pub fn raise_limit(&mut self, limit: u64) {
        let old = self.peer.connection;
        self.peer.connection = old.max(limit);
        if self.peer.connection > if self.early_blocked { old } else { self.sent } {
            self.due.blocked = false;
        }
        self.note_wants();
    }

    /// Handles MAX_STREAM_DATA.
    pub fn raise_stream_limit(&mut self, id: u64, limit: u64) {
        if let Some(stream) = self.sending.get_mut(id)
            && stream.raise_limit(limit)
        {
            self.schedule.unblock(stream);
            self.due.stream_blocked.retain(|blocked| *blocked != id);
            self.enqueue(id);
            self.note_wants();
        }
    }

    /// Handles MAX_STREAMS.
    pub fn raise_streams(&mut self, direction: Direction, limit: u64) {
        let slot = match direction {
            Direction::Bidirectional => &mut self.peer.bidirectional,
            Direction::Unidirectional => &mut self.peer.unidirectional,
        };
        *slot = (*slot).max(limit);
    }

    /// Handles the acknowledgement of a chunk.
    #[inline]
    pub fn acknowledged(&mut self, chunk: &Chunk) {
        self.acknowledged_range(chunk.stream, chunk.offset, chunk.offset + u64::from(chunk.len), chunk.fin);
    }

    /// Handles the acknowledgement of the bytes from `start` up to `end`, and of a FIN.
    #[inline]
    pub(crate) fn acknowledged_range(&mut self, id: u64, start: u64, end: u64, fin: bool) {
        let Some(stream) = self.sending.get_mut(id) else { return };
        self.unacknowledged -= stream.acknowledged(start, end, fin);
        let ended = stream.is_closing() && stream.is_acknowledged();
        if stream.is_repairing && !stream.has_repairs() {
            self.schedule.remove_repair(id, stream);
        }
        if ended {
            self.review(id);
            self.forget_sent(id);
        }
    }

    /// Handles the loss of a chunk, or queues it again for a probe.
    pub fn lost(&mut self, chunk: &Chunk) {
        let Some(stream) = self.sending.get_mut(chunk.stream) else { return };
        if stream.lost(chunk) {
            self.schedule.add_repair(chunk.stream, stream);
        }
    }

    /// Resets a stream: nothing of it is sent any more.
    pub fn reset(&mut self, id: u64, code: u64) {
        let Some(stream) = self.sending.get_mut(id).filter(|stream| stream.reset.is_none()) else { return };
        self.unacknowledged -= stream.abandon(code);
        self.schedule.remove(id, stream);
        self.schedule.remove_repair(id, stream);
        self.schedule.unblock(stream);
        self.due.resets.push(id);
    }

    /// Handles a STREAM frame. Returns the number of bytes by which the stream's data in order has grown.
    ///
    /// # Errors
    /// If the peer exceeds credit, or violates the state or the final size of the stream.
    #[inline]
    pub fn arrived(
        &mut self,
        now: Instant,
        chunk: &Chunk,
        srtt: Duration,
        keeps_reading: bool,
    ) -> Result<u64, StreamError> {
        let len = u64::from(chunk.len);
        if keeps_reading
            && let Some(stream) = self.receiving.get_mut(chunk.stream)
            && self.received + len <= self.credit.limit()
            && stream.extend(chunk)
        {
            self.received += len;
            let (read, due) = stream.read_all(now, srtt);
            self.consumed += read;
            if due {
                self.stream_credit_due(chunk.stream);
            }
            if self.credit.update(now, self.received, self.consumed, srtt).is_some() {
                self.due.max_data = true;
            }
            if self.several.is_some() {
                self.note_arrival(chunk.stream);
            }
            return Ok(len);
        }
        self.arrived_anywhere(now, chunk, srtt, keeps_reading)
    }

    fn arrived_anywhere(
        &mut self,
        now: Instant,
        chunk: &Chunk,
        srtt: Duration,
        keeps_reading: bool,
    ) -> Result<u64, StreamError> {
        if !self.receiving.contains(chunk.stream) {
            if self.has_ended(chunk.stream) {
                self.note_duplicate(chunk.len.into());
                return Ok(0);
            }
            self.accept(chunk.stream)?;
        }
        let stream = self.receiving.get_mut(chunk.stream).ok_or(StreamError::State)?;
        let arrival = stream.arrived(chunk)?;
        if chunk.fin {
            // RFC 9000 §13.3: credit has no purpose when the final size is known.
            self.due.max_stream_data.retain(|id| *id != chunk.stream);
        }
        self.received += arrival.higher;
        if self.received > self.credit.limit() {
            return Err(StreamError::FlowControl);
        }
        if keeps_reading && arrival.in_order > 0 {
            self.read(now, chunk.stream, u64::MAX, srtt);
        }
        self.review(chunk.stream);
        if arrival.in_order > 0 || chunk.fin {
            self.note_arrival(chunk.stream);
        }
        Ok(arrival.in_order)
    }

    /// Handles RESET_STREAM.
    ///
    /// # Errors
    /// If the final size contradicts earlier data, or exceeds credit.
    pub fn was_reset(&mut self, id: u64, final_size: u64) -> Result<(), StreamError> {
        if self.has_ended(id) {
            return Ok(());
        }
        self.accept(id)?;
        let stream = self.receiving.get_mut(id).ok_or(StreamError::State)?;
        let (higher, unread) = stream.was_reset(final_size)?;
        self.received += higher;
        self.consumed += unread;
        self.review(id);
        if self.received > self.credit.limit() { Err(StreamError::FlowControl) } else { Ok(()) }
    }

    /// Lets the application read up to `bytes` of a stream. Returns the number of bytes read.
    pub fn read(&mut self, now: Instant, id: u64, bytes: u64, srtt: Duration) -> u64 {
        let Some(stream) = self.receiving.get_mut(id) else { return 0 };
        let read = stream.read(bytes);
        self.consumed += read;
        if !stream.is_complete() && stream.update(now, srtt) {
            self.stream_credit_due(id);
        }
        if self.credit.update(now, self.received, self.consumed, srtt).is_some() {
            self.due.max_data = true;
        }
        read
    }

    /// Returns the bytes written and not sent yet.
    pub fn unsent(&self) -> u64 {
        self.sending.iter().map(|(_, stream)| stream.unsent()).fold(0, u64::saturating_add)
    }
}
