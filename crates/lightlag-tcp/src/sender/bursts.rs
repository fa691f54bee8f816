//! Bursts: the data that a Linux sender passes to the network card in one call (TSO autosizing), and when it waits so
//! that the burst becomes larger (`net/ipv4/tcp_output.c`: `tcp_tso_autosize`, `tcp_tso_should_defer`, described in our
//! own words).
//!
//! A burst contains the data that is sent in about 1 ms at the pacing rate, or, if the algorithm does not pace, at 1.2
//! × cwnd/SRTT (2 × cwnd/SRTT in the first half of slow start). It has at least two segments (BBR: one below 1.2
//! Mbit/s), at most 64 KiB and at most half the window. If the round trip is shorter than 16 ms, the burst is larger.
//! While the window has space for less than a full burst, the sender waits for the next ACK, but only
//!
//! - outside loss recovery and within 1 ms of the last segment,
//! - if less than a third of the window is free, and
//! - if that ACK, estimated from the oldest segment in flight and SRTT, will arrive within 1 ms and half a round trip.
//!
//! It tries again only at the next ACK or write, or when a pacing delay ends, whatever else happens in between
//! (`tcp_data_snd_check`, `tcp_push`, `tcp_tsq_write`). When the reordering timer expires, only retransmissions are
//! sent (`tcp_rack_reo_timeout`), and new data continues to wait.
//!
//! Retransmissions at one instant are one burst again, if their data was sent in one burst and they are in order.
//!
//! The segments of a burst are sent back to back, the last one with PSH. If the peer's window limits a burst, a small
//! segment fills the rest of that window, unless another small segment is in flight (`tcp_mss_split_point`). Linux also
//! ends bursts at the end of a buffer, which is not modelled.

use super::Sender;
use crate::scoreboard::{Chunk, Neighbours};
use lightlag_control::congestion::{LEAST_BURST, Phase};
use lightlag_core::{Duration, Instant};

/// Maximum size of a burst, in bytes.
const LARGEST: u64 = 65_536;
/// The sender waits only if the last segment was sent at most this long ago and the next ACK will arrive within this
/// time.
const RECENT: Duration = Duration::from_millis(1);
/// If at least this fraction of the window is free, one third, the sender does not wait (`tcp_tso_win_divisor`).
const SHARE: u64 = 3;

impl Sender {
    /// Returns true if the last segment with data was handed over in one burst with the segment before it.
    #[inline(always)]
    pub(crate) fn continues_burst(&self) -> bool {
        self.board.neighbours.continues()
    }

    /// Records whether the retransmission of the record with this number, which was just sent, continues a burst: at the
    /// same instant, after the retransmission of the previous record of the same burst (`tcp_xmit_retransmit_queue`
    /// passes on each buffer as far as the window permits). `bytes` is its length.
    pub(super) fn note_repair_in_burst(&mut self, now: Instant, number: u64, bytes: u32) {
        let before = self.board.repaired_with(number, now);
        let continues = before > 0 && before + u64::from(bytes) <= self.largest_repair();
        self.board.neighbours = Neighbours::new(continues, false);
        if before > 0 && !continues {
            self.board.cut_burst(number);
        }
    }

    /// Returns true if the last segment with data is immediately followed by another one of the same burst. Only with
    /// `receive_offload`.
    #[inline(always)]
    pub(crate) fn burst_goes_on(&self) -> bool {
        self.board.neighbours.goes_on()
    }

    /// Records whether more new data follows this chunk in the same burst.
    #[cold]
    pub(super) fn note_more_new(&mut self, chunk: Chunk) {
        let end = chunk.start + u64::from(chunk.len);
        let is_cut = self.needs.bursts || self.burst_left == 0;
        let goes_on = !is_cut && self.burst_start <= chunk.start && end < self.burst_end();
        self.board.neighbours = Neighbours::new(self.board.neighbours.continues(), goes_on);
    }

    /// Records whether the record after this one, which was just retransmitted, is retransmitted now in the same burst.
    #[cold]
    pub(super) fn note_more_repairs(&mut self, now: Instant, number: u64, bytes: u32) {
        let size = u64::from(self.segment_size);
        let burst = self.board.repaired_with(number, now) + u64::from(bytes) + size;
        let has_room = self.window() >= self.recovery.outstanding(&self.board) + size;
        let is_held = self.burst_left == 0 || self.special.pacer().holds(now);
        let goes_on = self.board.joins(number + 1) && burst <= self.largest_repair() && has_room && !is_held;
        self.board.neighbours = Neighbours::new(self.board.neighbours.continues(), goes_on);
    }

    /// Returns true if the next new segment belongs to a burst whose first segment was already sent.
    #[inline(always)]
    pub(super) fn in_burst(&self) -> bool {
        self.in_burst_after(self.board.nxt())
    }

    /// Returns true if the segment that starts at `start` belongs to the current burst, but is not its first.
    #[inline(always)]
    pub(super) fn in_burst_after(&self, start: u64) -> bool {
        self.burst_start < start && start < self.burst_end()
    }

    /// Returns the offset after the current burst.
    #[inline(always)]
    pub(super) fn burst_end(&self) -> u64 {
        self.burst_start + u64::from(self.burst_len)
    }

    /// Returns true if the segment from `start` to `end` is the last one of a burst of several segments, or of all
    /// written data.
    #[inline(always)]
    pub(crate) fn pushes(&self, start: u64, end: u64) -> bool {
        end == self.written || end == self.burst_end() && self.burst_start < start
    }

    /// Returns true if new data is deferred, although the window has space for `room` bytes. Otherwise starts a burst.
    pub(super) fn puts_off(&mut self, now: Instant, room: u64) -> bool {
        self.put_off = self.put_off || self.begin_burst(now, room);
        self.put_off
    }

    /// Starts a burst, if the window has space for `room` bytes. Returns true, without starting one, if the sender
    /// should wait.
    pub(super) fn begin_burst(&mut self, now: Instant, room: u64) -> bool {
        if self.needs.bursts {
            // The algorithm sends its own bursts.
            return false;
        }
        let (nxt, size) = (self.board.nxt(), u64::from(self.segment_size));
        let max_burst = self.largest_burst();
        let allowed = room.min(self.peer_edge.saturating_sub(nxt));
        let pending = self.written - nxt;
        if allowed < max_burst && pending > size && self.waits_for_more(now, allowed) {
            return true;
        }
        // Full segments; without a bound no division is needed.
        let bound = allowed.min(self.cwnd / 2);
        let whole = if bound < max_burst { whole_segments(bound, size) } else { max_burst };
        let of_peer = self.peer_edge.saturating_sub(nxt);
        // A burst that the peer's window cuts short fills that window with a small segment, after at least one full one
        // (`tcp_mss_split_point`).
        let cut = room.min(self.cwnd / 2).min(max_burst);
        let fills = of_peer > size && of_peer < cut && of_peer < whole_segments(cut, size);
        let burst_limit = if fills && !(self.nagle && self.holds_small()) { of_peer } else { whole };
        self.burst_start = nxt;
        // Not more than 64 KiB or a few segments.
        self.burst_len = burst_limit.min(pending) as u32;
        false
    }

    /// Returns true if a segment that ends at `end` completes the current burst, whose end may be the end of the peer's
    /// window.
    #[inline(always)]
    pub(super) fn completes_burst(&self, end: u64) -> bool {
        self.in_burst() && end == self.burst_end()
    }

    /// Returns true if the sender should wait instead of sending less than a full burst.
    fn waits_for_more(&self, now: Instant, allowed: u64) -> bool {
        let window = self.cwnd.min(self.max_window.into());
        if allowed >= window / SHARE
            || now.since(self.last_sent) > RECENT
            || self.recovery.phase() != Phase::Open
            || self.closing && self.written - self.board.nxt() <= allowed
        {
            return false;
        }
        let srtt = self.rtt.srtt();
        let threshold = RECENT.min(srtt / 2);
        self.board.head_sent().is_some_and(|sent| sent + srtt <= now + threshold)
    }

    /// Returns the size of a full burst in bytes, for retransmissions.
    #[cold]
    fn largest_repair(&self) -> u64 {
        self.largest_burst()
    }

    /// Returns the size of a full burst in bytes, a multiple of the segment size.
    #[inline(always)]
    fn largest_burst(&self) -> u64 {
        let size = u64::from(self.segment_size);
        let srtt = self.rtt.srtt();
        let departures = self.congestion.as_ref().and_then(|algorithm| algorithm.departures());
        let smallest = departures.map_or(LEAST_BURST, |departures| departures.least_burst());
        let own_rate = departures.and_then(|departures| departures.pacing_rate());
        let paced = if let Some(rate) = own_rate {
            rate.as_bps() / 8 / 1024
        } else if srtt.is_zero() {
            return smallest * size;
        } else {
            let threshold = self.congestion.as_ref().map_or(u64::MAX, |algorithm| algorithm.ssthresh());
            // 2.0 and 1.2, as nanoseconds in a 1024th of a second.
            let factor = if self.cwnd < threshold / 2 { 1_953_125 } else { 1_171_875 };
            let window = self.cwnd.max(self.board.pipe());
            window.min(1 << 40) * factor / srtt.as_nanos()
        };
        let shift = self.rtt.min().as_nanos() / 512_000;
        let near = if shift < 32 { LARGEST >> shift } else { 0 };
        let bytes = (paced + near).min(LARGEST);
        if bytes < (smallest + 1) * size { smallest * size } else { bytes / size * size }
    }
}

/// Rounds `bytes` down to a multiple of `size`, but to at least `size`.
fn whole_segments(bytes: u64, size: u64) -> u64 {
    (bytes / size * size).max(size)
}
