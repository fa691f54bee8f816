//! The send buffer as Linux accounts for it, and the application that waits for space in it.
//!
//! Written data occupies space until it is acknowledged: its bytes, and the true size of each buffer of the kernel that
//! holds them (`sk_wmem_queued`). Unless a socket option fixes its size, a send buffer grows to twice the window, with
//! the overhead of each segment (`tcp_sndbuf_expand`), but only while the application waits for space and the window is
//! not full (`tcp_should_expand_sndbuf`). A limit of unsent data also bounds writes (TCP_NOTSENT_LOWAT).

use lightlag_core::Bytes;

/// Bounds of an autotuned send buffer, in bytes of payload and overhead (tcp_wmem of Linux).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendBuffer {
    /// Initial size.
    pub initial: Bytes,
    /// Maximum size.
    pub most: Bytes,
}

impl Default for SendBuffer {
    /// Returns the default bounds of Linux.
    fn default() -> Self {
        Self { initial: Bytes(16_384), most: Bytes(4 << 20) }
    }
}

/// True size of an empty buffer of the kernel: head, `struct sk_buff` and `struct skb_shared_info` on a 64-bit machine
/// (SKB_TRUESIZE).
pub(crate) const OVERHEAD: u64 = HEADERS + DESCRIPTION + SHARED;

/// Space for headers (MAX_TCP_HEADER), including the tunnels that distributions enable.
const HEADERS: u64 = 320;
const DESCRIPTION: u64 = 256;
const SHARED: u64 = 320;

/// Size of an expanded buffer in windows, and the minimum window in segments (TCP_INIT_CWND), as in
/// `tcp_sndbuf_expand`.
const WINDOWS: u64 = 2;
const LEAST_SEGMENTS: u64 = 10;

/// The data in the send buffer at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queued {
    /// Unacknowledged bytes.
    pub(crate) bytes: u64,
    /// Number of these bytes that were never sent.
    pub(crate) unsent: u64,
    /// Number of buffers of the kernel that hold these bytes.
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
    /// Maximum true size of the queued data (`sk_sndbuf`).
    limit: u64,
    /// The limit was set by a socket option, and is not autotuned.
    fixed: bool,
    most: u64,
    /// No new buffer starts while this many bytes have never been sent.
    unsent_limit: u64,
    /// The application was notified that the buffer is full (SOCK_NOSPACE).
    awaited: bool,
    /// Number of times that a waiting application was notified of free space.
    released: u64,
}

impl SendSpace {
    /// Creates a send buffer. `fixed` is its true size, if a socket option set it.
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

    /// Expands the limit for a window of this number of segments of this size.
    pub(crate) fn expand(&mut self, segments: u64, size: u64) {
        if !self.fixed {
            let each = (size + HEADERS + SHARED).next_power_of_two() + DESCRIPTION;
            let wanted = WINDOWS * segments.max(LEAST_SEGMENTS) * each;
            self.limit = self.limit.max(wanted.min(self.most));
        }
    }

    /// Returns true if a new buffer of the kernel may start (`sk_stream_memory_free`).
    pub(crate) fn takes(&self, queued: &Queued) -> bool {
        queued.true_size() < self.limit && queued.unsent < self.unsent_limit
    }

    /// Returns true if a waiting application is to be notified of free space: at least a third of the buffer is free,
    /// and less than half of the unsent limit is used (`__sk_stream_is_writeable`).
    pub(crate) fn is_writable(&self, queued: &Queued) -> bool {
        let used = queued.true_size();
        used < self.limit && 2 * (self.limit - used) >= used && 2 * queued.unsent < self.unsent_limit
    }

    /// Records that the application found the buffer full.
    pub(crate) fn wait(&mut self) {
        self.awaited = true;
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.awaited
    }

    /// Notifies the waiting application if enough space was released.
    pub(crate) fn release(&mut self, queued: &Queued) {
        if self.awaited && self.is_writable(queued) {
            self.awaited = false;
            self.released += 1;
        }
    }

    /// Returns the number of times that a waiting application was notified of free space.
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
    fn a_waiter_is_notified_once_at_a_third_and_at_half_the_mark() {
        let mut space = space(Some(30_000));
        space.limit_unsent(4_000);
        let queued = |bytes, unsent| Queued { bytes, unsent, buffers: 1 };
        // 30,000 less 896: 20,000 in use leave 9,104, less than half of them.
        assert!(space.takes(&queued(29_000, 0)) && !space.takes(&queued(29_104, 0)));
        assert!(!space.is_writable(&queued(20_000, 0)) && space.is_writable(&queued(19_104, 0)));
        assert!(space.takes(&queued(5_000, 3_999)) && !space.takes(&queued(5_000, 4_000)));
        assert!(space.is_writable(&queued(5_000, 1_999)) && !space.is_writable(&queued(5_000, 2_000)));
        space.release(&queued(0, 0));
        assert_eq!(space.released(), 0, "no caller waits");
        space.wait();
        space.release(&queued(20_000, 0));
        assert!(space.is_awaited());
        space.release(&queued(10_000, 0));
        space.release(&queued(0, 0));
        assert_eq!((space.is_awaited(), space.released()), (false, 1));
    }
}
