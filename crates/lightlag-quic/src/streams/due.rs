//! Control frames of streams that wait to be sent: credit, numbers of streams, resets.

use super::{SendStream, Streams};
use crate::frame::{Direction, Frame};
use lightlag_core::{Duration, Instant};

/// Credit frames that wait to be sent.
#[derive(Debug, Default)]
pub struct DueFrames {
    /// MAX_STREAMS: bidirectional, unidirectional.
    pub max_streams: [bool; 2],
    /// MAX_DATA.
    pub max_data: bool,
    /// Streams with a MAX_STREAM_DATA.
    pub max_stream_data: Vec<u64>,
    /// Streams with a STREAM_DATA_BLOCKED.
    pub stream_blocked: Vec<u64>,
    /// DATA_BLOCKED.
    pub blocked: bool,
    /// RESET_STREAM.
    pub resets: Vec<u64>,
    /// STOP_SENDING.
    pub stops: Vec<u64>,
}

impl DueFrames {
    /// Returns true if no frame waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        !self.max_data
            && !self.blocked
            && self.max_streams == [false; 2]
            && self.max_stream_data.is_empty()
            && self.stream_blocked.is_empty()
            && self.resets.is_empty()
            && self.stops.is_empty()
    }
}

impl Streams {
    /// Makes BLOCKED frames due for data that was written beyond a limit, if that is when the profile sends them.
    pub(super) fn note_wants(&mut self) {
        if !self.early_blocked || self.peer.connection == 0 {
            return;
        }
        let written = self.sending.iter().map(|(_, stream)| stream.written().min(stream.limit()));
        let permitted = written.fold(0, u64::saturating_add);
        let wants = self.sending.iter().any(|(_, stream)| stream.written() > 0 && stream.wants_credit());
        let limit = self.peer.connection;
        if permitted > limit || permitted == limit && wants {
            if self.reported_block != Some(limit) {
                (self.reported_block, self.due.blocked) = (Some(limit), true);
            }
            return;
        }
        for (id, stream) in self.sending.iter_mut().filter(|(_, stream)| stream.wants_credit()) {
            if stream.reported_block != Some(stream.limit()) {
                stream.reported_block = Some(stream.limit());
                self.due.stream_blocked.push(id);
            }
        }
    }

    /// Makes a lost control frame due again, with its newest value, if it still has a purpose.
    pub fn frame_lost(&mut self, frame: &Frame) {
        let add = |list: &mut Vec<u64>, id| {
            if !list.contains(&id) {
                list.push(id);
            }
        };
        match *frame {
            Frame::MaxData(_) if self.reviews_later => self.announcement_lost(None),
            Frame::MaxStreamData { stream, .. } if self.reviews_later => self.announcement_lost(Some(stream)),
            Frame::MaxData(_) => self.due.max_data = true,
            Frame::MaxStreamData { stream, .. }
                if self.receiving.get(stream).is_some_and(|stream| stream.final_size().is_none()) =>
            {
                add(&mut self.due.max_stream_data, stream);
            }
            Frame::DataBlocked(limit) => {
                self.due.blocked |= if self.early_blocked {
                    self.reported_block == Some(self.peer.connection)
                } else {
                    limit == self.peer.connection && self.sent >= limit
                };
            }
            Frame::StreamDataBlocked { stream, limit }
                if self.sending.get(stream).is_some_and(|sending| {
                    if self.early_blocked {
                        sending.wants_credit() && sending.reported_block == Some(sending.limit())
                    } else {
                        sending.is_blocked && sending.limit() == limit
                    }
                }) =>
            {
                add(&mut self.due.stream_blocked, stream);
            }
            Frame::ResetStream { stream, .. } => add(&mut self.due.resets, stream),
            Frame::StopSending { stream, .. } => add(&mut self.due.stops, stream),
            _ => {}
        }
    }

    /// Returns the next control frame that fits in `space` bytes.
    pub fn next_frame(&mut self, space: u64) -> Option<Frame> {
        let fits = |frame: &Frame| frame.size() <= space;
        if self.due.max_data {
            if self.early_blocked {
                self.credit.refresh(self.consumed);
            }
            let frame = Some(Frame::MaxData(self.credit.limit())).filter(fits)?;
            self.due.max_data = false;
            return Some(frame);
        }
        if let Some(stream) = self.due.max_stream_data.last().copied() {
            let refreshes = self.early_blocked;
            let limit = self.receiving.get_mut(stream).map_or(0, |stream| stream.newest_limit(refreshes));
            let frame = Some(Frame::MaxStreamData { stream, limit }).filter(fits)?;
            self.due.max_stream_data.pop();
            return Some(frame);
        }
        if self.due.blocked {
            let frame = Some(Frame::DataBlocked(self.peer.connection)).filter(fits)?;
            self.due.blocked = false;
            return Some(frame);
        }
        if let Some(stream) = self.due.stream_blocked.last().copied() {
            let limit = self.sending.get(stream).map_or(0, SendStream::limit);
            let frame = Some(Frame::StreamDataBlocked { stream, limit }).filter(fits)?;
            self.due.stream_blocked.pop();
            return Some(frame);
        }
        if let Some(stream) = self.due.resets.last().copied() {
            let sending = self.sending.get(stream)?;
            let (code, final_size) = (sending.reset.unwrap_or(0), sending.next());
            let frame = Some(Frame::ResetStream { stream, code, final_size }).filter(fits)?;
            self.due.resets.pop();
            return Some(frame);
        }
        let stream = self.due.stops.last().copied()?;
        let frame = Some(Frame::StopSending { stream, code: 0 }).filter(fits)?;
        self.due.stops.pop();
        Some(frame)
    }

    /// Requests that the peer stops sending on a stream.
    pub fn stop(&mut self, id: u64) {
        if self.receiving.get(id).is_some_and(|stream| !stream.is_complete()) && !self.due.stops.contains(&id) {
            self.due.stops.push(id);
        }
    }

    /// Counts a stream of the peer that has finished in both directions. The peer may open another one instead; it is
    /// notified when fewer than half of the initial number are left.
    #[cold]
    pub(super) fn review(&mut self, id: u64) {
        let sends = self
            .sending
            .get(id)
            .is_some_and(|stream| stream.reset.is_none() && !(stream.is_closing() && stream.is_acknowledged()));
        let Some(stream) = self.receiving.get_mut(id) else { return };
        if id & 1 == self.side as u64 || sends || !stream.is_complete() || std::mem::replace(&mut stream.counted, true)
        {
            return;
        }
        self.count_finished(id);
    }

    /// Counts a stream of the peer that has finished in both directions.
    pub(super) fn count_finished(&mut self, id: u64) {
        let index = usize::from(id & 2 != 0);
        self.peer_finished[index] += 1;
        let initial = self.initial_streams[index];
        let limit = if index == 0 { &mut self.flow.bidirectional } else { &mut self.flow.unidirectional };
        if limit.saturating_sub(self.peer_opened[index]) < initial.div_ceil(2) {
            let permitted = initial + self.peer_finished[index];
            self.due.max_streams[index] |= permitted > *limit;
            *limit = permitted.max(*limit);
        }
    }

    /// Permits the peer to open `total` streams of a direction; the number never decreases.
    pub fn permit(&mut self, direction: Direction, total: u64) {
        let slot = match direction {
            Direction::Bidirectional => &mut self.flow.bidirectional,
            Direction::Unidirectional => &mut self.flow.unidirectional,
        };
        *slot = (*slot).max(total);
    }

    /// Makes a MAX_STREAM_DATA frame due, after an update of the stream's credit.
    #[cold]
    pub(super) fn stream_credit_due(&mut self, id: u64) {
        // quiche: the connection window is at least 1.5 stream windows.
        if let crate::credit::Tuning::Quiche(max) = self.flow.connection_tuning
            && let Some(stream) = self.receiving.get(id)
        {
            self.credit.raise_window(stream.window() / 2 * 3, max);
        }
        if !self.due.max_stream_data.contains(&id) {
            self.due.max_stream_data.push(id);
        }
    }

    /// Updates the credit of the connection after data was discarded.
    pub fn update_credit(&mut self, now: Instant, srtt: Duration) {
        self.due.max_data |= self.credit.update(now, self.received, self.consumed, srtt).is_some();
    }

    /// Returns the number of streams that the peer may open.
    pub fn permitted(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Bidirectional => self.flow.bidirectional,
            Direction::Unidirectional => self.flow.unidirectional,
        }
    }
}
