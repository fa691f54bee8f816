//! The receiving part of a stream (RFC 9000 §3.2).

use super::send::Chunk;
use crate::credit::Credit;
use crate::ranges::RangeSet;
use lightlag_core::{Duration, Instant};

/// Violation of the rules of streams, with the error code of RFC 9000 §20.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamError {
    /// The peer sent more than its credit.
    FlowControl = 3,
    /// The peer opened too many streams.
    Limit = 4,
    /// A frame does not fit the state of its stream.
    State = 5,
    /// The final size of a stream changed, or data lies beyond it.
    FinalSize = 6,
}

/// Effect of a STREAM frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Arrival {
    /// Bytes by which the highest offset grew.
    pub(super) higher: u64,
    /// Bytes by which the data in order grew.
    pub(super) in_order: u64,
}

/// The receiving part of a stream.
#[derive(Debug)]
pub struct ReceiveStream {
    received: RangeSet,
    highest: u64,
    read: u64,
    final_size: Option<u64>,
    is_reset: bool,
    credit: Credit,
    /// Whether the stream was counted as finished.
    pub(super) counted: bool,
    /// Bytes that arrived again.
    pub(crate) duplicate: u64,
}

impl ReceiveStream {
    pub(super) fn new(credit: Credit) -> Self {
        Self {
            received: RangeSet::default(),
            highest: 0,
            read: 0,
            final_size: None,
            is_reset: false,
            credit,
            counted: false,
            duplicate: 0,
        }
    }

    /// Returns the number of bytes received in order.
    #[inline(always)]
    pub fn in_order(&self) -> u64 {
        self.received.first().filter(|first| first.start == 0).map_or(0, |first| first.end)
    }

    /// Returns the number of bytes received, in order or not.
    pub fn held(&self) -> u64 {
        self.received.count()
    }

    /// Returns the number of bytes in order that the application has not read.
    pub fn unread(&self) -> u64 {
        self.in_order() - self.read.min(self.in_order())
    }

    /// Returns the final size, if it is known.
    pub fn final_size(&self) -> Option<u64> {
        self.final_size
    }

    /// Returns true if the entire stream has arrived.
    pub fn is_complete(&self) -> bool {
        self.is_reset || self.final_size.is_some_and(|size| self.in_order() == size)
    }

    /// Returns the first offset that the peer may not send.
    pub fn limit(&self) -> u64 {
        self.credit.limit()
    }

    /// Returns the limit for a frame that is sent now; `refresh` raises it to the window above what was read.
    pub(super) fn newest_limit(&mut self, refresh: bool) -> u64 {
        if refresh {
            self.credit.refresh(self.read);
        }
        self.credit.limit()
    }

    /// Returns the highest offset received.
    pub(super) fn highest(&self) -> u64 {
        self.highest
    }

    pub(super) fn credit_mut(&mut self) -> &mut Credit {
        &mut self.credit
    }

    pub(super) fn window(&self) -> u64 {
        self.credit.window()
    }

    /// Appends the chunk if it continues the data in order, nothing beyond it has arrived, and it is within the credit.
    /// Returns false, without an effect, for any other chunk.
    #[inline(always)]
    pub(super) fn extend(&mut self, chunk: &Chunk) -> bool {
        let end = chunk.offset + u64::from(chunk.len);
        let is_plain = !chunk.fin && self.final_size.is_none() && end <= self.credit.limit();
        if is_plain && self.highest == chunk.offset && self.received.append(chunk.offset, end) {
            self.highest = end;
            return true;
        }
        false
    }

    /// Reads all data, which [`Self::extend`] has added to. Returns the number of bytes, and whether a MAX_STREAM_DATA
    /// frame is due.
    #[inline(always)]
    pub(super) fn read_all(&mut self, now: Instant, srtt: Duration) -> (u64, bool) {
        let read = self.highest - self.read;
        self.read = self.highest;
        (read, self.credit.update(now, self.highest, self.read, srtt).is_some())
    }

    #[inline]
    pub(super) fn arrived(&mut self, chunk: &Chunk) -> Result<Arrival, StreamError> {
        let end = chunk.offset + u64::from(chunk.len);
        if end > self.credit.limit() {
            return Err(StreamError::FlowControl);
        }
        let is_final = |size: u64| end > size || chunk.fin && end != size;
        if self.final_size.is_some_and(is_final) || chunk.fin && end < self.highest {
            return Err(StreamError::FinalSize);
        }
        if chunk.fin {
            self.final_size = Some(end);
        }
        if self.is_reset {
            return Ok(Arrival { higher: 0, in_order: 0 });
        }
        let (before, higher) = (self.in_order(), end.saturating_sub(self.highest));
        self.highest += higher;
        self.duplicate += u64::from(chunk.len) - self.received.insert(chunk.offset, end);
        Ok(Arrival { higher, in_order: self.in_order() - before })
    }

    /// Handles a reset. Returns the bytes by which the highest offset grew, and those that will never be read.
    pub(super) fn was_reset(&mut self, final_size: u64) -> Result<(u64, u64), StreamError> {
        if final_size < self.highest || self.final_size.is_some_and(|size| size != final_size) {
            return Err(StreamError::FinalSize);
        }
        if std::mem::replace(&mut self.is_reset, true) {
            return Ok((0, 0));
        }
        let higher = final_size - self.highest;
        (self.highest, self.final_size) = (final_size, Some(final_size));
        Ok((higher, final_size - self.read))
    }

    pub(super) fn read(&mut self, bytes: u64) -> u64 {
        let read = if self.is_reset { 0 } else { bytes.min(self.unread()) };
        self.read += read;
        read
    }

    /// Returns true if a MAX_STREAM_DATA frame is due.
    #[inline]
    pub(super) fn update(&mut self, now: Instant, srtt: Duration) -> bool {
        self.final_size.is_none() && self.credit.update(now, self.highest, self.read, srtt).is_some()
    }
}
