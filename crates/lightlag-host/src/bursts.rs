//! Cuts a stream into packets as Linux does. The only effect that a peer can see is which packets have the PSH flag.
//!
//! The kernel stores written data in buffers and passes parts of a buffer to a network card, each as a burst. PSH is
//! set on the last segment of a burst of two or more, and on the last segment of a buffer that contains the end of a
//! write (`tcp_sendmsg_locked`, `tcp_push`, `__tcp_transmit_skb`). A buffer holds whole segments, at most half the
//! maximum window advertised by the peer. A burst is the data of one millisecond (`tcp_tso_autosize`): at least two
//! segments, at most half the congestion window (`tcp_cwnd_test`). A retransmission uses the burst boundaries of the
//! first transmission.

use crate::send_space::Queued;
use lightlag_core::Duration;
use std::collections::VecDeque;

/// Maximum number of bytes in a burst (GSO_LEGACY_MAX_SIZE less MAX_TCP_HEADER).
const LARGEST: u64 = 65_536 - 1 - 320;

/// A burst to a near peer is up to 64 KiB larger. This extra is halved for each 512 µs of the minimum round-trip time
/// (`tcp_tso_rtt_log`).
const NEAR: u64 = 512;

/// The state of a connection that determines how its data is cut into packets, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// Offset of the first byte that was never sent, and end of the data that may be sent now.
    pub(crate) sent: u64,
    pub(crate) allowed: u64,
    /// Payload of a full segment.
    pub(crate) segment: u64,
    /// Maximum window advertised by the peer.
    pub(crate) peer_window: u64,
    /// Size of a burst in bytes, from [`burst`].
    pub(crate) burst: u64,
}

/// Returns the size of a burst in bytes. `window` and `threshold` come from the congestion control, `floor` is
/// `tcp_min_tso_segs`.
pub(crate) fn burst(window: u64, threshold: u64, segment: u64, srtt: Duration, min_rtt: Duration, floor: u64) -> u64 {
    let micros = |time: Duration| time.as_nanos() / 1_000;
    // tcp_update_pacing_rate: twice the window per round trip in slow start, otherwise 1.2 times.
    let factor = if window < threshold / 2 { 200 } else { 120 };
    let rate = u128::from(window) * factor / 100 * 1_000_000 / u128::from(micros(srtt).max(1));
    let near = (micros(min_rtt) / NEAR).min(63);
    let bytes = ((rate / 1024) as u64).saturating_add(65_536 >> near).min(LARGEST);
    let segments = (bytes / segment).max(floor).min((LARGEST / segment).max(1));
    // At least two bursts fit in the window.
    segments.min((window / segment / 2).max(1)) * segment
}

/// A buffer of the kernel. It starts where the previous buffer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Buffer {
    end: u64,
    /// The last segment of the buffer has the PSH flag.
    push: bool,
    /// No data may be appended to the buffer (MSG_EOR).
    closed: bool,
}

/// One write of an application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ApplicationWrite {
    /// Offset of the first byte, and the offset after the last byte.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The last segment needs no PSH flag, because more data follows (MSG_MORE).
    pub(crate) more: bool,
    /// Later data starts a new segment (MSG_EOR).
    pub(crate) ends_record: bool,
}

/// The buffers and bursts of one stream, given by their offsets.
#[derive(Debug, Default)]
pub(crate) struct Bursts {
    buffers: VecDeque<Buffer>,
    /// Ends of the bursts that are not fully acknowledged.
    bursts: VecDeque<u64>,
    /// Offset of the data that was last marked to be pushed (`pushed_seq`).
    pushed: u64,
}

impl Bursts {
    /// Appends written data. Everything below `una` is acknowledged. Returns the end of the accepted data. A new buffer
    /// starts only if `takes` returns true (`sk_stream_memory_free`).
    pub(crate) fn write(
        &mut self,
        data: &ApplicationWrite,
        view: &View,
        una: u64,
        takes: impl Fn(&Queued) -> bool,
    ) -> u64 {
        let ApplicationWrite { start, end, more, ends_record } = *data;
        let half = view.peer_window / 2;
        let full = (half.min(LARGEST) / view.segment).max(1) * view.segment;
        let (mut written, mut sent, mut left) = (start, view.sent, self.bursts.len() as u64);
        while written < end {
            let mut from = self.tail_start(sent);
            let tail = self.buffers.back().filter(|tail| tail.end > sent && !tail.closed);
            if tail.is_none() || written - from >= full {
                let buffers = left + self.unsent_buffers(sent);
                if !takes(&Queued { bytes: written - una, unsent: written - sent, buffers }) {
                    break;
                }
                self.buffers.push_back(Buffer { end: written, push: false, closed: false });
                from = written;
            }
            written += (full - (written - from)).min(end - written);
            let asks = written > self.pushed + half;
            let Some(tail) = self.buffers.back_mut() else { break };
            tail.end = written;
            if written - from < full {
                break;
            }
            let before = sent;
            if asks {
                tail.push = true;
                self.pushed = written;
                sent = view.allowed.clamp(sent, written);
            } else if from == sent {
                sent = (sent + view.burst).min(view.allowed).clamp(sent, written);
            }
            left += (sent - before).div_ceil(view.burst.max(1));
        }
        if written > start
            && (!more || written > self.pushed + half)
            && let Some(tail) = self.buffers.back_mut()
        {
            tail.push = true;
            self.pushed = written;
        }
        if written == end
            && ends_record
            && let Some(tail) = self.buffers.back_mut()
        {
            tail.closed = true;
        }
        written
    }

    /// Returns the number of buffers with unacknowledged data. Data below `sent` has been sent.
    pub(crate) fn buffers(&self, sent: u64) -> u64 {
        self.bursts.len() as u64 + self.unsent_buffers(sent)
    }

    fn unsent_buffers(&self, sent: u64) -> u64 {
        (self.buffers.len() - self.buffers.partition_point(|buffer| buffer.end <= sent)) as u64
    }

    /// Returns the start of the unsent part of the last buffer.
    fn tail_start(&self, sent: u64) -> u64 {
        let before = self.buffers.len().checked_sub(2).and_then(|at| self.buffers.get(at));
        before.map_or(sent, |buffer| buffer.end.max(sent))
    }

    /// Releases retained data: the segment that ends at `offset` gets the PSH flag.
    pub(crate) fn push_at(&mut self, offset: u64) {
        if let Some(tail) = self.buffers.back_mut().filter(|tail| tail.end == offset) {
            tail.push = true;
        }
    }

    /// Removes the buffers and bursts that end at or below `una`, as they are acknowledged.
    pub(crate) fn acknowledge(&mut self, una: u64) {
        while self.buffers.front().is_some_and(|buffer| buffer.end <= una) {
            self.buffers.pop_front();
        }
        while self.bursts.front().is_some_and(|end| *end <= una) {
            self.bursts.pop_front();
        }
    }

    /// Returns true if a segment that ends at `end` is the last of a buffer whose last segment has the PSH flag.
    pub(crate) fn asks(&self, end: u64) -> bool {
        self.at(end).is_some_and(|buffer| buffer.push)
    }

    /// Returns true if a buffer ends here.
    fn ends(&self, end: u64) -> bool {
        self.at(end).is_some()
    }

    fn at(&self, end: u64) -> Option<&Buffer> {
        let at = self.buffers.partition_point(|buffer| buffer.end < end);
        self.buffers.get(at).filter(|buffer| buffer.end == end)
    }

    /// Returns true if the data after `end` may belong to the same burst, which started at `start` and has up to `max`
    /// bytes. `again`: the data is a retransmission.
    pub(crate) fn goes_on(&self, start: u64, end: u64, again: bool, max: u64) -> bool {
        let whole = end - start < max && !self.ends(end);
        if !again {
            return whole;
        }
        let at = self.bursts.partition_point(|burst| *burst < end);
        whole && self.bursts.get(at).is_some_and(|burst| *burst != end)
    }

    /// Records that a burst of new data ends at this offset.
    pub(crate) fn left(&mut self, end: u64) {
        self.bursts.push_back(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Duration = Duration::from_millis(100);

    #[test]
    fn a_burst_is_a_millisecond_of_the_path_limited_to_half_the_window() {
        // 10 segments in 100 ms, twice as fast: 200 bytes a millisecond; at least two segments.
        assert_eq!(burst(10_000, u64::MAX, 1_000, FAR, FAR, 2), 2_000);
        assert_eq!(burst(10_000, u64::MAX, 1_000, FAR, FAR, 10), 5_000, "half the window");
        assert_eq!(burst(3_000, 7_000, 1_000, FAR, FAR, 2), 1_000);
        // 100 segments in 10 ms at 1.2 times the window: 11.7 kB.
        let near = Duration::from_millis(10);
        assert_eq!(burst(100_000, 100_000, 1_000, near, near, 2), 11_000);
        let next_door = Duration::from_nanos(1_000);
        assert_eq!(burst(1_000_000, u64::MAX, 1_000, next_door, next_door, 2), 65_000);
    }

    fn data(start: u64, end: u64, more: bool) -> ApplicationWrite {
        ApplicationWrite { start, end, more, ends_record: false }
    }

    fn anything(_: &Queued) -> bool {
        true
    }

    fn view(sent: u64, allowed: u64) -> View {
        View { sent, allowed, segment: 1_000, peer_window: 32_896, burst: 2_000 }
    }

    #[test]
    fn a_write_requests_a_push_at_its_end() {
        let mut bursts = Bursts::default();
        bursts.write(&data(0, 2_500, false), &view(0, 10_000), 0, anything);
        assert!(bursts.asks(2_500) && !bursts.asks(2_000));
        // The next write joins the same buffer as long as that has not left, and its push moves along.
        bursts.write(&data(2_500, 3_000, true), &view(0, 10_000), 0, anything);
        assert!(bursts.asks(3_000) && !bursts.asks(2_500));
        bursts.write(&data(3_000, 3_200, true), &view(3_000, 10_000), 0, anything);
        assert!(!bursts.asks(3_200), "MSG_MORE");
        bursts.acknowledge(3_100);
        assert!(!bursts.asks(3_000));
    }

    #[test]
    fn half_the_window_requests_a_push_that_moves_to_appended_data() {
        let mut bursts = Bursts::default();
        // Buffers of 16 segments. Each step of a window of two sends one segment.
        let narrow = View { burst: 1_000, ..view(0, 2_000) };
        bursts.write(&data(0, 200_000, false), &narrow, 0, anything);
        // 16 full; one sent, one appended: 17 > 16.448 pushes; the second sent, one appended: the push is at 18.
        assert!(bursts.asks(18_000) && !bursts.asks(17_000) && !bursts.asks(16_000));
        assert!(bursts.asks(200_000));
    }

    #[test]
    fn a_full_buffer_may_exceed_the_limit_but_no_new_one_starts() {
        let mut bursts = Bursts::default();
        let wide = View { burst: 5_000, peer_window: 50_000, ..view(0, 10_000) };
        // Buffers of 25 segments; ten segments are sent in between, so the first ends at 35.
        let takes = |queued: &Queued| queued.bytes < 42_000;
        assert_eq!(bursts.write(&data(0, 61_000, false), &wide, 0, takes), 60_000);
        let rest = data(60_000, 61_000, false);
        let later = View { sent: 20_000, allowed: 30_000, ..wide };
        assert_eq!(bursts.write(&rest, &later, 10_000, takes), 60_000);
        assert_eq!(bursts.write(&rest, &View { sent: 60_000, allowed: 60_000, ..wide }, 36_000, takes), 61_000);
    }

    #[test]
    fn buffers_are_counted_and_nothing_is_appended_to_the_end_of_a_record() {
        let mut bursts = Bursts::default();
        let record = ApplicationWrite { ends_record: true, ..data(0, 2_500, false) };
        bursts.write(&record, &view(0, 0), 0, anything);
        bursts.write(&data(2_500, 3_000, false), &view(0, 0), 0, anything);
        bursts.write(&data(3_000, 3_500, false), &view(0, 0), 0, anything);
        assert_eq!((bursts.buffers(0), bursts.buffers(2_500)), (2, 1));
        assert!(bursts.asks(2_500) && bursts.asks(3_500) && !bursts.asks(3_000));
        bursts.left(2_000);
        bursts.left(2_500);
        assert_eq!(bursts.buffers(2_500), 3, "two bursts in transit, one buffer waiting");
    }

    #[test]
    fn bursts_end_with_their_size_and_with_a_buffer_and_repairs_keep_to_them() {
        let mut bursts = Bursts::default();
        bursts.write(&data(0, 5_000, false), &view(0, 10_000), 0, anything);
        assert!(bursts.goes_on(0, 1_000, false, 2_000));
        assert!(!bursts.goes_on(0, 2_000, false, 2_000));
        assert!(!bursts.goes_on(4_000, 5_000, false, 2_000));
        for end in [2_000, 4_000, 5_000] {
            bursts.left(end);
        }
        assert!(bursts.goes_on(2_000, 3_000, true, 2_000));
        assert!(!bursts.goes_on(3_000, 4_000, true, 2_000), "another burst starts there");
    }
}
