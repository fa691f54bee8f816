//! Streams of an endpoint that sends flights: a packet has one frame of each stream, lost data and the new data after
//! it are one range, and credit is reviewed when packets are built.

use super::{Chunk, SendStream, Streams};
use crate::ranges::Range;

impl SendStream {
    /// Returns the first bytes that wait, lost ones and new ones after them in one range; the end of all if none wait.
    fn waiting(&self) -> Range {
        let new = Range { start: self.next, end: self.written };
        match self.missing.first() {
            Some(first) if first.end == new.start => Range { start: first.start, end: new.end },
            Some(first) => first,
            None => new,
        }
    }

    /// Takes up to `max` of the bytes of [`Self::waiting`], all below `limit`.
    fn take_waiting(&mut self, id: u64, max: u64, limit: u64) -> Option<Chunk> {
        let Range { start, end } = self.waiting();
        let is_only_fin = start == end && (self.has_only_fin() || self.fin_missing);
        let end = end.min(start + max).min(limit.max(start));
        if start >= end && !is_only_fin {
            return None;
        }
        let fin = self.closing && end == self.written;
        self.missing.remove(start, end);
        self.next = self.next.max(end);
        self.fin_sent |= fin;
        self.fin_missing &= !fin;
        Some(Chunk { stream: id, offset: start, len: (end - start) as u16, fin, to_end: false })
    }
}

impl Streams {
    /// Makes limits rise when packets are built.
    pub(crate) fn review_later(&mut self) {
        self.reviews_later = true;
        self.credit.review_later();
        self.receiving.iter_mut().for_each(|(_, stream)| stream.credit_mut().review_later());
    }

    /// Returns the offset of the first byte of a stream that waits, if the stream sends.
    pub(crate) fn waiting(&self, id: u64) -> Option<u64> {
        let stream = self.sending.get(id).filter(|stream| stream.reset.is_none())?;
        Some(stream.waiting().start)
    }

    /// Takes up to `max` bytes of a stream, as far as credit permits.
    pub(crate) fn take_waiting(&mut self, id: u64, max: u64) -> Option<Chunk> {
        let budget = self.budget();
        let stream = self.sending.get_mut(id)?;
        let before = stream.next;
        let limit = before.saturating_add(budget).min(stream.limit);
        let chunk = stream.take_waiting(id, max, limit)?;
        let new = stream.next - before;
        if !stream.has_new() {
            self.schedule.remove(id, stream);
        }
        if !stream.has_repairs() {
            self.schedule.remove_repair(id, stream);
        }
        self.sent += new;
        self.unacknowledged += new;
        Some(chunk)
    }

    /// Returns the limit of the connection if a frame has to announce it.
    pub(crate) fn review_credit(&mut self) -> Option<u64> {
        self.credit.review(self.received)
    }

    /// Notes that a frame announces the limit of the connection.
    pub(crate) fn announce_credit(&mut self) {
        self.credit.announce();
    }

    /// Returns the limit of a stream if a frame has to announce it.
    pub(crate) fn review_stream(&mut self, id: u64) -> Option<u64> {
        let stream = self.receiving.get_mut(id)?;
        let highest = stream.highest();
        stream.credit_mut().review(highest)
    }

    /// Notes that a frame announces the limit of a stream.
    pub(crate) fn announce_stream(&mut self, id: u64) {
        if let Some(stream) = self.receiving.get_mut(id) {
            stream.credit_mut().announce();
        }
    }

    /// Notes that a frame with the limit of the connection, or of a stream, was lost.
    pub(super) fn announcement_lost(&mut self, stream: Option<u64>) {
        match stream {
            None => self.credit.forget_announcement(),
            Some(id) => {
                if let Some(stream) = self.receiving.get_mut(id) {
                    stream.credit_mut().forget_announcement();
                }
            }
        }
    }

    /// Returns true if a stream has ended in both directions.
    pub(crate) fn is_finished(&self, id: u64) -> bool {
        let received = self.receiving.get(id).is_none_or(super::ReceiveStream::is_complete);
        let sent = self.sending.get(id).is_none_or(|stream| stream.is_closing() && stream.is_acknowledged());
        received && sent
    }

    /// Returns the number of streams that either side has opened.
    pub(crate) fn opened_streams(&self) -> u64 {
        self.opened.iter().chain(&self.peer_opened).sum()
    }

    /// Returns the IDs of all streams.
    pub(crate) fn ids(&self) -> Vec<u64> {
        let sending = self.sending.iter().map(|(id, _)| id);
        let mut ids: Vec<u64> = sending.chain(self.receiving.iter().map(|(id, _)| id)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}
