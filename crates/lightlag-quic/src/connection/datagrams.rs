//! Unreliable datagrams (RFC 9221): the send queue, the fate of each datagram, and the datagrams that arrived.
//!
//! DATAGRAM frames elicit acknowledgements, count towards the congestion window and are paced like STREAM frames. They
//! are written before STREAM frames, have no flow control, and are never sent twice. The caller identifies each datagram
//! by a tag, which the frame carries to the peer instead of a payload.
//!
//! A full queue drops its oldest datagrams, and datagrams precede streams, as in quinn-proto 0.11.19 (`make_space_for`,
//! `populate_packet`): data of real time loses its value with its age.

use super::Connection;
use crate::config::DatagramQueue;
use crate::contents::TAG;
use crate::frame::Frame;
use crate::varint;
use std::collections::VecDeque;

/// Maximum length of a packet number.
const MAX_NUMBER: u64 = 4;

/// Reason why a datagram is not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DatagramError {
    /// The peer does not accept DATAGRAM frames: its max_datagram_frame_size is 0.
    Unsupported,
    /// The frame does not fit into a packet, or exceeds the peer's max_datagram_frame_size. The value is the maximum
    /// number of bytes of data.
    TooLarge(u16),
    /// The connection has ended.
    Closed,
}

/// Fate of an accepted datagram, as its sender observes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DatagramFate {
    /// Its packet was acknowledged.
    Delivered,
    /// Its packet was declared lost, or was in flight when the connection ended. It may arrive nevertheless.
    Lost,
    /// It left the queue without being sent: newer datagrams needed the space, the peer does not accept it, or the
    /// connection ended.
    Dropped,
}

/// A datagram in a queue, or one that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Tag given by the sender.
    pub tag: u64,
    /// Bytes of data.
    pub len: u16,
}

impl Datagram {
    fn frame(self) -> Frame {
        Frame::Datagram { tag: self.tag, len: self.len, to_end: false }
    }
}

/// Numbers of datagrams of one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DatagramCounts {
    /// Datagrams accepted by [`Connection::send_datagram`].
    pub accepted: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams sent whose packet was acknowledged.
    pub delivered: u64,
    /// Datagrams sent whose packet was declared lost.
    pub lost: u64,
    /// Datagrams that left the queue without being sent.
    pub dropped: u64,
    /// Datagrams received.
    pub received: u64,
}

/// The datagrams of one end.
#[derive(Debug, Default)]
pub(super) struct Datagrams {
    queue: VecDeque<Datagram>,
    /// Bytes of data in the queue.
    bytes: u64,
    fates: VecDeque<(u64, DatagramFate)>,
    arrived: VecDeque<Datagram>,
    counts: DatagramCounts,
}

impl Datagrams {
    fn exceeds(&self, limit: DatagramQueue) -> bool {
        match limit {
            DatagramQueue::Bytes(bytes) => self.bytes > bytes,
            DatagramQueue::Datagrams(count) => self.queue.len() as u64 > count,
        }
    }

    fn pop(&mut self) -> Option<Datagram> {
        let datagram = self.queue.pop_front()?;
        self.bytes -= u64::from(datagram.len);
        Some(datagram)
    }

    /// Drops the oldest datagram.
    fn drop_oldest(&mut self) {
        if let Some(Datagram { tag, .. }) = self.pop() {
            self.counts.dropped += 1;
            self.fates.push_back((tag, DatagramFate::Dropped));
        }
    }

    fn delivered(&mut self, tag: u64) {
        self.counts.delivered += 1;
        self.fates.push_back((tag, DatagramFate::Delivered));
    }

    fn lost(&mut self, tag: u64) {
        self.counts.lost += 1;
        self.fates.push_back((tag, DatagramFate::Lost));
    }
}

impl Connection {
    /// Appends a datagram of `len` bytes to the send queue, whose limit is [`Config::datagram_queue`]. If the queue is
    /// then too long, its oldest datagrams are dropped. Call [`Self::poll_packet`] and [`Self::poll_datagram_fate`]
    /// afterwards. Datagrams wait until the peer's parameters are known; those that it does not accept are then dropped.
    ///
    /// # Errors
    /// If the datagram can never be sent.
    ///
    /// [`Config::datagram_queue`]: crate::Config::datagram_queue
    pub fn send_datagram(&mut self, tag: u64, len: u16) -> Result<(), DatagramError> {
        if !self.state.can_send() {
            return Err(DatagramError::Closed);
        }
        if self.knows_peer && self.peer.max_datagram_frame == 0 {
            return Err(DatagramError::Unsupported);
        }
        let max = self.max_datagram();
        if len > max {
            return Err(DatagramError::TooLarge(max));
        }
        let limit = self.config.datagram_queue;
        let datagrams = self.datagrams.get_or_insert_default();
        datagrams.queue.push_back(Datagram { tag, len });
        datagrams.bytes += u64::from(len);
        datagrams.counts.accepted += 1;
        while datagrams.exceeds(limit) {
            datagrams.drop_oldest();
        }
        self.flight_due();
        self.is_extra_due = true;
        self.judge_supply();
        Ok(())
    }

    /// Returns the maximum number of bytes of data in a datagram that is sent now. It depends on the current packet size
    /// and on the peer's limit, and leaves space for a packet number of 4 bytes. 0 if the peer accepts no datagrams.
    pub fn max_datagram(&self) -> u16 {
        let header = 1 + u64::from(self.peer.id_len) + MAX_NUMBER + TAG;
        let mut frame = u64::from(self.datagram).saturating_sub(header);
        if self.knows_peer {
            frame = frame.min(self.peer.max_datagram_frame.into());
        }
        // A frame has a type, a length of 1 or 2 bytes, and the data.
        let data = frame.saturating_sub(2);
        if varint::size(data) == 1 { data as u16 } else { data.saturating_sub(1).max(63) as u16 }
    }

    /// Returns the next datagram that has arrived.
    pub fn poll_datagram(&mut self) -> Option<Datagram> {
        self.datagrams.as_mut()?.arrived.pop_front()
    }

    /// Returns the tag and the fate of the next datagram whose fate is known. Each tag has one fate.
    pub fn poll_datagram_fate(&mut self) -> Option<(u64, DatagramFate)> {
        self.datagrams.as_mut()?.fates.pop_front()
    }

    /// Returns the numbers of datagrams so far.
    pub fn datagram_counts(&self) -> DatagramCounts {
        self.datagrams.as_ref().map_or(DatagramCounts::default(), |datagrams| datagrams.counts)
    }

    /// Returns the number of datagrams in the send queue.
    pub fn queued_datagrams(&self) -> usize {
        self.datagrams.as_ref().map_or(0, |datagrams| datagrams.queue.len())
    }

    /// Returns the bytes of data in the send queue.
    pub(super) fn datagram_bytes(&self) -> u64 {
        self.datagrams.as_ref().map_or(0, |datagrams| datagrams.bytes)
    }

    /// Returns true if datagrams wait to be sent, and the peer's limit is known.
    #[inline]
    pub(super) fn has_datagrams(&self) -> bool {
        self.datagrams.as_ref().is_some_and(|datagrams| !datagrams.queue.is_empty()) && self.knows_peer
    }

    /// Takes the next datagram whose frame has at most `space` bytes out of the queue. Drops those that no packet can
    /// carry any more, because the path MTU has shrunk or the peer's limit has become known.
    #[cold]
    pub(super) fn next_datagram(&mut self, space: u64) -> Option<Frame> {
        let max = self.max_datagram();
        let accepts = self.knows_peer && self.peer.max_datagram_frame > 0;
        let datagrams = self.datagrams.as_mut()?;
        while let Some(datagram) = datagrams.queue.front().copied() {
            if !accepts || datagram.len > max {
                datagrams.drop_oldest();
                continue;
            }
            let frame = datagram.frame();
            if frame.size() > space {
                return None;
            }
            datagrams.pop();
            datagrams.counts.sent += 1;
            return Some(frame);
        }
        None
    }

    /// Notes a datagram that arrived.
    #[cold]
    pub(super) fn datagram_arrived(&mut self, tag: u64, len: u16) {
        let datagrams = self.datagrams.get_or_insert_default();
        datagrams.counts.received += 1;
        datagrams.arrived.push_back(Datagram { tag, len });
    }

    #[cold]
    pub(super) fn datagram_delivered(&mut self, tag: u64) {
        self.datagrams.get_or_insert_default().delivered(tag);
    }

    #[cold]
    pub(super) fn datagram_lost(&mut self, tag: u64) {
        self.datagrams.get_or_insert_default().lost(tag);
    }

    /// Settles all datagrams, because the connection has ended.
    pub(super) fn end_datagrams(&mut self) {
        let Some(datagrams) = &mut self.datagrams else { return };
        while !datagrams.queue.is_empty() {
            datagrams.drop_oldest();
        }
        self.lists.take_datagrams(|tag| datagrams.lost(tag));
    }
}
