//! The sending part of a stream (RFC 9000 §3.1). Its missing ranges are the only state of repair.

use crate::frame::stream_header;
use crate::ranges::RangeSet;
use crate::varint;

/// A part of a stream in a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Chunk {
    /// Stream ID.
    pub stream: u64,
    /// Offset of the first byte.
    pub offset: u64,
    /// Bytes.
    pub len: u16,
    /// Whether the stream ends with this chunk.
    pub fin: bool,
    /// Whether the chunk extends to the end of its packet, without a length field.
    pub to_end: bool,
}

impl Chunk {
    /// Returns true if the stream ID has at most 16 bits and the offset at most 48.
    #[inline(always)]
    pub(crate) fn is_short(&self) -> bool {
        self.stream >> 16 == 0 && self.offset >> 48 == 0
    }
}

/// Reason why no new data can be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Blocked {
    /// The credit of the stream is used up.
    Credit,
    /// The packet has no space for a frame.
    Space,
}

/// The sending part of a stream.
#[derive(Debug)]
pub struct SendStream {
    pub(super) written: u64,
    pub(super) next: u64,
    pub(super) limit: u64,
    acked: RangeSet,
    pub(super) missing: RangeSet,
    pub(super) closing: bool,
    pub(super) fin_sent: bool,
    fin_acked: bool,
    pub(super) fin_missing: bool,
    /// Priority; higher ones are sent first.
    pub priority: i32,
    /// Whether the stream takes turns with others of its priority; `None` leaves it to the connection.
    pub incremental: Option<bool>,
    /// Error code after a reset.
    pub reset: Option<u64>,
    /// Whether the stream is in the queue for new data, and in that for repairs.
    pub(super) is_queued: bool,
    pub(super) is_repairing: bool,
    /// Whether only credit of the stream holds back its data.
    pub(super) is_blocked: bool,
    /// Limit in the last BLOCKED frame.
    pub(super) reported_block: Option<u64>,
}

impl SendStream {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            written: 0,
            next: 0,
            limit,
            acked: RangeSet::default(),
            missing: RangeSet::default(),
            closing: false,
            fin_sent: false,
            fin_acked: false,
            fin_missing: false,
            priority: 0,
            incremental: None,
            reset: None,
            is_queued: false,
            is_repairing: false,
            is_blocked: false,
            reported_block: None,
        }
    }

    pub(super) fn write(&mut self, bytes: u64) {
        if !self.closing && self.reset.is_none() {
            self.written = self.written.saturating_add(bytes);
        }
    }

    pub(super) fn finish(&mut self) {
        self.closing |= self.reset.is_none();
    }

    /// Returns the offset of the next byte to send for the first time.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns the bytes that the application has written.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Returns the bytes that wait to be sent for the first time.
    pub fn unsent(&self) -> u64 {
        self.written - self.next
    }

    /// Returns the first offset that may not be sent.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the number of bytes acknowledged in order.
    pub fn acknowledged_in_order(&self) -> u64 {
        self.acked.first().filter(|first| first.start == 0).map_or(0, |first| first.end)
    }

    /// Returns the number of bytes written that are not acknowledged in order.
    pub(crate) fn kept(&self) -> u64 {
        self.written - self.acknowledged_in_order()
    }

    /// Returns true if the application has finished the stream and all of it was sent at least once.
    pub fn has_sent_everything(&self) -> bool {
        self.fin_sent
    }

    /// Returns true if the application has finished the stream.
    pub fn is_closing(&self) -> bool {
        self.closing
    }

    /// Returns true if everything written, and a FIN if there is one, is acknowledged.
    pub fn is_acknowledged(&self) -> bool {
        self.acknowledged_in_order() == self.written && (!self.closing || self.fin_acked)
    }

    /// Returns true if new data or a FIN waits to be sent.
    #[inline(always)]
    pub fn has_new(&self) -> bool {
        self.reset.is_none() && (self.next < self.written || self.has_only_fin())
    }

    /// Returns true if a FIN without data waits to be sent.
    #[inline(always)]
    pub fn has_only_fin(&self) -> bool {
        self.closing && !self.fin_sent && self.next == self.written
    }

    /// Returns true if lost data or a lost FIN waits to be retransmitted.
    pub fn has_repairs(&self) -> bool {
        self.reset.is_none() && (!self.missing.is_empty() || self.fin_missing)
    }

    /// Returns true if more is written than the limit permits to send.
    pub(super) fn wants_credit(&self) -> bool {
        self.reset.is_none() && self.written > self.limit
    }

    /// Returns true if only credit holds back its data.
    pub(super) fn is_at_limit(&self) -> bool {
        self.next >= self.limit && self.next < self.written
    }

    /// Raises the limit. Returns true if it was lower.
    pub(super) fn raise_limit(&mut self, limit: u64) -> bool {
        let is_higher = limit > self.limit;
        self.limit = self.limit.max(limit);
        is_higher
    }

    /// Returns the bytes of new data with which the stream fills `room` bytes of a packet, without a length field;
    /// `None` if it may not send as many.
    #[inline(always)]
    pub(super) fn fills(&self, id: u64, room: u64, budget: u64) -> Option<u64> {
        let allowed = (self.written - self.next).min(self.limit.saturating_sub(self.next)).min(budget);
        let len = room.checked_sub(stream_header(id, self.next))?;
        (len > 0 && allowed >= len && id >> 16 == 0 && self.next >> 48 == 0).then_some(len)
    }

    /// Takes the data that [`Self::fills`] has found.
    #[inline(always)]
    pub(super) fn take_full(&mut self, id: u64, len: u64) -> Chunk {
        let fin = self.closing && self.next + len == self.written;
        let chunk = Chunk { stream: id, offset: self.next, len: len as u16, fin, to_end: true };
        self.next += len;
        self.fin_sent |= fin;
        chunk
    }

    /// Takes new data for a frame with `space` bytes; `budget` is the credit of the connection.
    #[inline]
    pub(super) fn take_new(&mut self, id: u64, space: u64, budget: u64, roomy: bool) -> Result<Chunk, Blocked> {
        let pending = self.written - self.next;
        let allowed = pending.min(self.limit.saturating_sub(self.next)).min(budget);
        if allowed == 0 && pending > 0 {
            return Err(Blocked::Credit);
        }
        let ends = |len: u64| self.closing && self.next + len == self.written;
        let (len, to_end) = fit(id, self.next, allowed, space, roomy).ok_or(Blocked::Space)?;
        let chunk = Chunk { stream: id, offset: self.next, len: len as u16, fin: ends(len), to_end };
        self.next += len;
        self.fin_sent |= chunk.fin;
        Ok(chunk)
    }

    /// Takes missing data for a frame with `space` bytes.
    pub(super) fn take_repair(&mut self, id: u64, space: u64, roomy: bool) -> Option<Chunk> {
        let (offset, pending) = match self.missing.first() {
            Some(range) => (range.start, range.len()),
            None => (self.written, 0),
        };
        let (len, to_end) = fit(id, offset, pending, space, roomy)?;
        let fin = self.fin_sent && offset + len == self.written;
        self.missing.remove(offset, offset + len);
        self.fin_missing &= !fin;
        Some(Chunk { stream: id, offset, len: len as u16, fin, to_end })
    }

    /// Notes that the bytes from `start` up to `end`, and a FIN, are acknowledged. Returns the number of bytes
    /// acknowledged for the first time.
    #[inline]
    pub(super) fn acknowledged(&mut self, start: u64, end: u64, fin: bool) -> u64 {
        if fin {
            (self.fin_acked, self.fin_missing) = (true, false);
        }
        if !self.missing.is_empty() {
            self.missing.remove(start, end);
        }
        let new = self.acked.insert(start, end);
        if self.reset.is_some() { 0 } else { new }
    }

    /// Notes a lost chunk. Returns true if data or the FIN has to be retransmitted.
    pub(super) fn lost(&mut self, chunk: &Chunk) -> bool {
        if self.reset.is_some() {
            return false;
        }
        let end = chunk.offset + u64::from(chunk.len);
        let missing = &mut self.missing;
        self.acked.for_each_missing(chunk.offset, end, |start, end| _ = missing.insert(start, end));
        self.fin_missing |= chunk.fin && !self.fin_acked;
        self.has_repairs()
    }

    /// Abandons the stream. Returns the number of sent bytes that were not acknowledged.
    pub(super) fn abandon(&mut self, code: u64) -> u64 {
        let unacknowledged = self.next - self.acked.count();
        self.reset = Some(code);
        self.missing.clear();
        self.fin_missing = false;
        unacknowledged
    }
}

/// Returns the bytes of data, up to `pending`, that a STREAM frame in `space` bytes can carry, and whether the frame
/// needs no length field because it ends the packet. `roomy` reserves the maximum length of the field.
/// `None` if not even a byte fits.
#[inline(always)]
fn fit(id: u64, offset: u64, pending: u64, space: u64, roomy: bool) -> Option<(u64, bool)> {
    let header = stream_header(id, offset);
    let room = space.checked_sub(header)?;
    if pending >= room && room > 0 {
        return Some((room, true));
    }
    if roomy {
        // Eight bytes are reserved for the length.
        return room.checked_sub(8).map(|room| (pending.min(room), false)).filter(|(len, _)| *len > 0 || pending == 0);
    }
    // With a length field, whose own size may cost a byte of data.
    let with_length = room.checked_sub(varint::size(pending))?;
    Some((pending.min(with_length), false)).filter(|(len, _)| *len > 0 || pending == 0)
}
