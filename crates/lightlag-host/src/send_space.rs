//! The send buffer as Linux counts it, and the application that waits for room in it.
//!
//! Written data takes room until it is acknowledged: its bytes, and the true size of each of the kernel's buffers that
//! hold them (`sk_wmem_queued`). A buffer that no socket option fixed grows to two windows of segments with their
//! overhead (`tcp_sndbuf_expand`), but only while the application waits for room and the window is not full
//! (`tcp_should_expand_sndbuf`). A limit of unsent data bounds writes, too (TCP_NOTSENT_LOWAT).

use lightlag_core::Bytes;

/// Bounds of an autotuned send buffer, in bytes of payload and overhead (tcp_wmem of Linux).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendBuffer {
    /// The initial size.
    pub initial: Bytes,
    /// The largest size.
    pub most: Bytes,
}

impl Default for SendBuffer {
    /// The bounds of Linux.
    fn default() -> Self {
        Self { initial: Bytes(16_384), most: Bytes(4 << 20) }
    }
}

/// True size of an empty buffer: head, `struct sk_buff` and `struct skb_shared_info` on a 64-bit machine
/// (SKB_TRUESIZE).
pub(crate) const OVERHEAD: u64 = HEADERS + DESCRIPTION + SHARED;

/// Room for headers (MAX_TCP_HEADER), including the tunnels that distributions enable.
const HEADERS: u64 = 320;
const DESCRIPTION: u64 = 256;
const SHARED: u64 = 320;

/// `tcp_sndbuf_expand`: windows that the buffer holds, and the smallest window in segments (TCP_INIT_CWND).
const WINDOWS: u64 = 2;
const LEAST_SEGMENTS: u64 = 10;

/// The queue at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queued {
    /// Unacknowledged bytes.
    pub(crate) bytes: u64,
    /// The part of them that was never sent.
    pub(crate) unsent: u64,
    /// Number of the kernel's buffers that hold them.
    pub(crate) buffers: u64,
}

impl Queued {
    fn true_size(&self) -> u64 {
        self.bytes + self.buffers * OVERHEAD
    }
}

/// The send buffer of one connection.
#[derive(Debug)]
pub(crate) struct SendSpace {
    /// `sk_sndbuf`.
    limit: u64,
    /// A socket option set the limit.
    fixed: bool,
    most: u64,
    /// No new buffer starts while this many bytes wait to leave.
    unsent_limit: u64,
    /// The application was told that there is no room (SOCK_NOSPACE).
    awaited: bool,
    /// Number of times that a waiting application was told of room.
    released: u64,
}

impl SendSpace {
    /// A buffer of this true size, if an option fixed it.
    pub(crate) fn new(fixed: Option<u64>, bounds: SendBuffer, unsent_limit: u64) -> Self {
        Self {
            limit: fixed.unwrap_or(bounds.initial.min(bounds.most).0),
            fixed: fixed.is_some(),
            most: bounds.most.0,
            unsent_limit,
            awaited: false,
            released: 0,
        }
    }

    pub(crate) fn fix(&mut self, limit: u64) {
        (self.limit, self.fixed) = (limit, true);
    }

    pub(crate) fn limit_unsent(&mut self, bytes: u64) {
        self.unsent_limit = bytes;
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// The window is this many segments of this size.
    pub(crate) fn expand(&mut self, segments: u64, size: u64) {
        if !self.fixed {
            let each = (size + HEADERS + SHARED).next_power_of_two() + DESCRIPTION;
            let wanted = WINDOWS * segments.max(LEAST_SEGMENTS) * each;
            self.limit = self.limit.max(wanted.min(self.most));
        }
    }

    /// Whether a new buffer may start (`sk_stream_memory_free`).
    pub(crate) fn takes(&self, queued: &Queued) -> bool {
        queued.true_size() < self.limit && queued.unsent < self.unsent_limit
    }

    /// Whether a waiting application is told of room: a third of the buffer is free, and so is half of the unsent limit
    /// (`__sk_stream_is_writeable`).
    pub(crate) fn is_writable(&self, queued: &Queued) -> bool {
        let used = queued.true_size();
        used < self.limit && 2 * (self.limit - used) >= used && 2 * queued.unsent < self.unsent_limit
    }

    /// The application found no room.
    pub(crate) fn wait(&mut self) {
        self.awaited = true;
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.awaited
    }

    /// Room may have been made: tells the waiting application.
    pub(crate) fn release(&mut self, queued: &Queued) {
        if self.awaited && self.is_writable(queued) {
            self.awaited = false;
            self.released += 1;
        }
    }

    /// Number of times that a waiting application was told of room.
    pub(crate) fn released(&self) -> u64 {
        self.released
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(fixed: Option<u64>) -> SendSpace {
        SendSpace::new(fixed, SendBuffer { initial: Bytes(16_384), most: Bytes(4 << 20) }, u64::MAX)
    }

    #[test]
    fn it_holds_two_windows_of_segments_with_their_overhead() {
        let mut auto = space(None);
        auto.expand(10, 1_460);
        // 1460 + 640 = 2100, so 4096, plus 256; Linux starts with 20 of them.
        assert_eq!(auto.limit(), 87_040);
        auto.expand(4, 1_460);
        assert_eq!(auto.limit(), 87_040, "ten segments at least, and never less than before");
        auto.expand(36, 1_000);
        // 1000 + 640 = 1640, so 2048 + 256 = 2304, times 72.
        assert_eq!(auto.limit(), 165_888);
        auto.expand(1_000_000, 1_000);
        assert_eq!(auto.limit(), 4 << 20);
        let mut fixed = space(Some(20_000));
        fixed.expand(36, 1_000);
        assert_eq!(fixed.limit(), 20_000);
    }

    #[test]
    fn a_sleeper_is_told_once_of_a_third_and_of_half_the_mark() {
        let mut space = space(Some(30_000));
        space.limit_unsent(4_000);
        let queued = |bytes, unsent| Queued { bytes, unsent, buffers: 1 };
        // 30,000 less 896: 20,000 in use leave 9,104, less than half of them.
        assert!(space.takes(&queued(29_000, 0)) && !space.takes(&queued(29_104, 0)));
        assert!(!space.is_writable(&queued(20_000, 0)) && space.is_writable(&queued(19_104, 0)));
        assert!(space.takes(&queued(5_000, 3_999)) && !space.takes(&queued(5_000, 4_000)));
        assert!(space.is_writable(&queued(5_000, 1_999)) && !space.is_writable(&queued(5_000, 2_000)));
        space.release(&queued(0, 0));
        assert_eq!(space.released(), 0, "nobody waits");
        space.wait();
        space.release(&queued(20_000, 0));
        assert!(space.is_awaited());
        space.release(&queued(10_000, 0));
        space.release(&queued(0, 0));
        assert_eq!((space.is_awaited(), space.released()), (false, 1));
    }
}
