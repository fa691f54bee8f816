//! The send buffer: data that the application has written and the peer has not acknowledged (SO_SNDBUF).
//!
//! An application that writes more than the buffer has room for waits. Room is filled with whole segments, except for
//! the last data, as a kernel wakes its application when a part of the buffer is free; otherwise each ACK would lead to a
//! small segment.

use super::Sender;

/// The state of an application that writes to a bounded send buffer.
#[derive(Debug, Default)]
pub(super) struct SendBuffer {
    /// Size in bytes.
    size: u64,
    /// Bytes that the application writes once there is room.
    waiting: u64,
    /// The application closes after them.
    closes: bool,
}

impl Sender {
    /// Writes `bytes` through a buffer of `size` bytes.
    pub(super) fn write_to_buffer(&mut self, bytes: u64, size: u64) {
        let buffer = &mut self.special.extra_mut().send_buffer;
        buffer.size = size;
        buffer.waiting = buffer.waiting.saturating_add(bytes);
        self.fill_buffer();
    }

    /// Writes waiting data as far as the buffer has room. Returns true if it wrote any.
    pub(super) fn fill_buffer(&mut self) -> bool {
        let unacknowledged = self.written.saturating_sub(self.board.una());
        let segment = u64::from(self.segment_size);
        let Some(extra) = self.special.used_extra() else { return false };
        let buffer = &mut extra.send_buffer;
        let room = buffer.size.saturating_sub(unacknowledged);
        // A compressed header leaves a segment more room than the MSS, which is the least buffer.
        let unit = segment.min(buffer.size);
        let bytes = if buffer.waiting <= room { buffer.waiting } else { room / unit * unit };
        buffer.waiting -= bytes;
        let closes = buffer.closes && buffer.waiting == 0;
        self.accept(bytes);
        self.closing |= closes;
        bytes > 0
    }

    /// Returns true if the application closes only when the data that waits for room is written.
    pub(super) fn closes_later(&mut self) -> bool {
        let Some(extra) = self.special.used_extra() else { return false };
        extra.send_buffer.closes = extra.send_buffer.waiting > 0;
        extra.send_buffer.closes
    }

    /// Bytes that wait for room.
    pub(super) fn waiting(&self) -> u64 {
        self.special.extra().map_or(0, |extra| extra.send_buffer.waiting)
    }
}
