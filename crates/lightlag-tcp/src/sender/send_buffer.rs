//! The send buffer: data that the application has written and the peer has not acknowledged (SO_SNDBUF).
//!
//! An application that writes more than fits into the buffer waits. Free space is filled in units of full segments,
//! except at the end of the data. Otherwise each ACK would lead to a small segment; a kernel avoids this too, because
//! it notifies the application only when a larger part of the buffer is free.

use super::Sender;

/// State of an application that writes to a bounded send buffer.
#[derive(Debug, Default)]
pub(super) struct SendBuffer {
    /// Size in bytes.
    size: u64,
    /// Number of bytes that the application will write once the buffer has space.
    waiting: u64,
    /// Whether the application closes after the waiting bytes.
    closes: bool,
}

impl Sender {
    /// Writes `bytes` to a buffer of `size` bytes; what does not fit waits.
    pub(super) fn write_to_buffer(&mut self, bytes: u64, size: u64) {
        let buffer = &mut self.special.extra_mut().send_buffer;
        buffer.size = size;
        buffer.waiting = buffer.waiting.saturating_add(bytes);
        self.fill_buffer();
    }

    /// Moves waiting data to the buffer, as far as it fits. Returns true if any was moved.
    pub(super) fn fill_buffer(&mut self) -> bool {
        let unacknowledged = self.written.saturating_sub(self.board.una());
        let segment = u64::from(self.segment_size);
        let Some(extra) = self.special.used_extra() else { return false };
        let buffer = &mut extra.send_buffer;
        let room = buffer.size.saturating_sub(unacknowledged);
        // A compressed header leaves more bytes for payload than the MSS, which is the minimum buffer.
        let unit = segment.min(buffer.size);
        let bytes = if buffer.waiting <= room { buffer.waiting } else { room / unit * unit };
        buffer.waiting -= bytes;
        let closes = buffer.closes && buffer.waiting == 0;
        self.accept(bytes);
        self.closing |= closes;
        bytes > 0
    }

    /// Returns true if the application can close only after the waiting data is written. It is then closed at that
    /// time.
    pub(super) fn closes_later(&mut self) -> bool {
        let Some(extra) = self.special.used_extra() else { return false };
        extra.send_buffer.closes = extra.send_buffer.waiting > 0;
        extra.send_buffer.closes
    }

    /// Returns the number of bytes that wait for space in the buffer.
    pub(super) fn waiting(&self) -> u64 {
        self.special.extra().map_or(0, |extra| extra.send_buffer.waiting)
    }
}
