//! Bursts: the data that a Linux sender hands to the network card at once (TSO autosizing), and its waits for a larger
//! burst (`net/ipv4/tcp_output.c`: `tcp_tso_autosize`, `tcp_tso_should_defer`, described in our own words).
//!
//! A burst carries the data of about 1 ms at the rate of an algorithm that paces, otherwise at 1.2 times cwnd/SRTT
//! (twice in the first half of slow start): at least two segments (BBR: one below 1.2 Mbit/s), at most 64 KiB and half
//! the window; more below a round trip of 16 ms. While less than a whole burst fits, it waits for the next ACK, but
//! only
//!
//! - in undisturbed operation, within 1 ms of the last segment,
//! - if less than a third of the window is free, and
//! - if that ACK, by the oldest segment in flight and SRTT, comes within 1 ms and half a round trip.
//!
//! It is tried again only with the next ACK or write, or when pacing ends, whatever else happens in between
//! (`tcp_data_snd_check`, `tcp_push`, `tcp_tsq_write`). The reordering timer sends only repairs
//! (`tcp_rack_reo_timeout`); new data waits then, too.
//!
//! Its segments leave back to back, the last with PSH. One that the peer's window cuts short fills that window with a
//! small segment, unless another is in flight (`tcp_mss_split_point`). Linux's cuts at the end of a buffer are not modelled.

use super::Sender;
use lightlag_control::congestion::{LEAST_BURST, Phase};
use lightlag_core::{Duration, Instant};

/// The largest burst, in bytes.
const LARGEST: u64 = 65_536;
/// The largest age of the last segment, and the largest distance of the next ACK.
const RECENT: Duration = Duration::from_millis(1);
/// A third of the window is used at once (`tcp_tso_win_divisor`).
const SHARE: u64 = 3;

impl Sender {
    /// Whether the next segment belongs to a burst that has started to leave.
    #[inline(always)]
    pub(super) fn in_burst(&self) -> bool {
        self.in_burst_after(self.board.nxt())
    }

    /// Whether the segment that starts there belongs to a burst, but is not its first.
    #[inline(always)]
    pub(super) fn in_burst_after(&self, start: u64) -> bool {
        self.burst_start < start && start < self.burst_end()
    }

    /// The offset after the burst.
    #[inline(always)]
    pub(super) fn burst_end(&self) -> u64 {
        self.burst_start + u64::from(self.burst_len)
    }

    /// Whether the segment that ends at `end` is the last of a burst of several, or of all written data.
    #[inline(always)]
    pub(crate) fn pushes(&self, start: u64, end: u64) -> bool {
        end == self.written || end == self.burst_end() && self.burst_start < start
    }

    /// Whether new data waits, although this much room is in the window. Starts a burst otherwise.
    pub(super) fn puts_off(&mut self, now: Instant, room: u64) -> bool {
        self.put_off = self.put_off || self.begin_burst(now, room);
        self.put_off
    }

    /// Starts a burst into a window with this much room. Returns whether it has to wait instead.
    pub(super) fn begin_burst(&mut self, now: Instant, room: u64) -> bool {
        if self.needs.bursts {
            // The algorithm makes its own bursts.
            return false;
        }
        let (nxt, size) = (self.board.nxt(), u64::from(self.segment_size));
        let most = self.largest_burst();
        let allowed = room.min(self.peer_edge.saturating_sub(nxt));
        let pending = self.written - nxt;
        if allowed < most && pending > size && self.waits_for_more(now, allowed) {
            return true;
        }
        // Whole segments; without a bound there is nothing to divide.
        let bound = allowed.min(self.cwnd / 2);
        let whole = if bound < most { whole_segments(bound, size) } else { most };
        let of_peer = self.peer_edge.saturating_sub(nxt);
        // A burst that the peer's window cuts short fills that window with a small segment, after at least one full one
        // (`tcp_mss_split_point`).
        let cut = room.min(self.cwnd / 2).min(most);
        let fills = of_peer > size && of_peer < cut && of_peer < whole_segments(cut, size);
        let most = if fills && !(self.nagle && self.holds_small()) { of_peer } else { whole };
        self.burst_start = nxt;
        // Not more than 64 KiB or a few segments.
        self.burst_len = most.min(pending) as u32;
        false
    }

    /// Whether a segment that ends at `end` completes a burst that fills the peer's window.
    #[inline(always)]
    pub(super) fn completes_burst(&self, end: u64) -> bool {
        self.in_burst() && end == self.burst_end()
    }

    /// Whether it is better to wait than to send less than a whole burst.
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

    /// Bytes of a whole burst: full segments.
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

/// The whole segments in so many bytes, at least one.
fn whole_segments(bytes: u64, size: u64) -> u64 {
    (bytes / size * size).max(size)
}
