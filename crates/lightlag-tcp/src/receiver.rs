//! The receiving half: reassembly, when to acknowledge, what to report, which window to advertise.
//!
//! The application reads at once, so only data above a hole occupies the buffer. Offsets are of payload; a FIN
//! takes the offset after the last byte.

use crate::config::DelayedAck;
use crate::scoreboard::Range;
use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

#[cfg(test)]
mod tests;

/// Ranges that a SACK option can report beside nothing else (RFC 2018 §3).
pub const MAX_BLOCKS: usize = 4;

const NO_FIN: u64 = u64::MAX;

/// Data above a hole.
#[derive(Debug, Default)]
struct Reassembly {
    /// Disjoint, sorted, never touching.
    ranges: VecDeque<Range>,
    /// Their bytes.
    bytes: u64,
    /// What was reported, the newest first (RFC 2018 §4).
    recent: [Range; MAX_BLOCKS],
    recent_len: usize,
}

/// The receiving half of a connection.
#[derive(Debug)]
pub struct Receiver {
    /// Next offset expected; past the FIN once that is consumed.
    nxt: u64,
    /// The right edge that was advertised.
    edge: u64,
    /// The last offset acknowledged (Last.ACK.sent).
    last_ack: u64,
    buffer: u64,
    deadline: Instant,
    timeout: Duration,
    holes: Option<Box<Reassembly>>,
    fin_at: u64,
    /// TS.Recent (RFC 7323 §4.3).
    ts_recent: u32,
    /// Segments not acknowledged yet.
    pending: u16,
    /// Segments to be acknowledged together.
    every: u16,
    /// Segments still acknowledged at once.
    quick: u16,
    ack_now: bool,
    /// Shift of the windows advertised; `None` where window scaling was not agreed on.
    scale: Option<u8>,
}

impl Receiver {
    /// With this buffer in bytes and this policy.
    pub fn new(buffer: u64, delayed: Option<DelayedAck>) -> Self {
        let delayed = delayed.unwrap_or(DelayedAck { segments: 1, timeout: Duration::MAX, quick: 0 });
        Self {
            nxt: 0,
            edge: 0,
            last_ack: 0,
            buffer,
            deadline: Instant::MAX,
            timeout: delayed.timeout,
            holes: None,
            fin_at: NO_FIN,
            ts_recent: 0,
            pending: 0,
            every: delayed.segments,
            quick: delayed.quick,
            ack_now: false,
            scale: None,
        }
    }

    /// The shift that a buffer of this size needs: the smallest that brings it into 16 bits (RFC 7323 §2.3).
    pub fn scale_for(buffer: u64) -> u8 {
        (0..14).find(|shift| buffer >> shift <= 65_535).unwrap_or(14)
    }

    /// Window scaling was agreed on.
    pub fn set_scale(&mut self, scale: u8) {
        self.scale = Some(scale);
    }

    /// Shift of the windows advertised, if window scaling was agreed on.
    pub fn scale(&self) -> Option<u8> {
        self.scale
    }

    /// The connection is no more.
    pub fn stop(&mut self) {
        self.deadline = Instant::MAX;
        self.ack_now = false;
    }

    /// The next offset expected.
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Payload handed to the application, in bytes.
    pub fn received(&self) -> u64 {
        self.nxt - u64::from(self.fin_consumed())
    }

    /// Whether the FIN and all data before it arrived.
    pub fn fin_consumed(&self) -> bool {
        self.nxt > self.fin_at
    }

    /// Whether data waits above a hole.
    pub fn has_holes(&self) -> bool {
        self.holes.as_ref().is_some_and(|holes| !holes.ranges.is_empty())
    }

    /// The right edge: data from here on is not accepted.
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// TS.Recent: what the next segment echoes.
    pub fn ts_recent(&self) -> u32 {
        self.ts_recent
    }

    /// Takes TSval of the peer's SYN.
    pub fn set_ts_recent(&mut self, value: u32) {
        self.ts_recent = value;
    }

    /// Whether the timestamp is older than one seen (PAWS, RFC 7323 §5.3).
    pub fn is_old(&self, value: u32) -> bool {
        (value.wrapping_sub(self.ts_recent) as i32) < 0
    }

    /// Takes TSval of an acceptable segment that begins at `start`, if it is the one to echo: the earliest that
    /// is not acknowledged yet (RFC 7323 §4.3).
    pub fn note_timestamp(&mut self, start: u64, value: u32) {
        if start <= self.last_ack && !self.is_old(value) {
            self.ts_recent = value;
        }
    }

    /// Data from `start` on, `len` bytes, and perhaps the FIN. What lies outside the window is cut off. Returns
    /// how many bytes were there before.
    pub fn receive(&mut self, now: Instant, start: u64, len: u64, fin: bool) -> u64 {
        let end = start + len;
        if fin && self.fin_at == NO_FIN && end < self.edge.max(self.nxt + 1) {
            self.fin_at = end;
        }
        let range = Range { start: start.max(self.nxt), end: end.min(self.edge).min(self.fin_at) };
        let old = end.min(self.nxt).saturating_sub(start);
        let fresh = range.start < range.end;
        if start <= self.nxt && !self.has_holes() && (fresh || self.fin_at == self.nxt) {
            self.nxt = range.end.max(self.nxt);
            let fin = self.consume_fin();
            self.count(now, fin);
            return old;
        }
        // RFC 5681 §4.2: at once for what is out of order, fills a hole or is a duplicate.
        self.ack_now = true;
        if !fresh {
            self.consume_fin();
            return old;
        }
        let known = self.holes.get_or_insert_default().insert(range);
        if range.start == self.nxt {
            self.advance();
        }
        old + known
    }

    /// Everything up to the first hole is in order now.
    fn advance(&mut self) {
        if let Some(holes) = &mut self.holes
            && let Some(range) = holes.ranges.front()
            && range.start <= self.nxt
        {
            self.nxt = range.end;
            holes.bytes -= range.end - range.start;
            holes.ranges.pop_front();
            holes.forget_below(self.nxt);
        }
        self.consume_fin();
    }

    fn consume_fin(&mut self) -> bool {
        let fin = self.nxt == self.fin_at;
        self.nxt += u64::from(fin);
        fin
    }

    /// RFC 9293 §3.8.6.3: at least every second segment, at the latest after the timeout.
    fn count(&mut self, now: Instant, at_once: bool) {
        self.pending = self.pending.saturating_add(1);
        if at_once || self.quick > 0 || self.pending >= self.every {
            self.quick = self.quick.saturating_sub(1);
            self.ack_now = true;
        } else if self.deadline == Instant::MAX {
            self.deadline = now + self.timeout;
        }
    }

    /// An ACK must leave now.
    pub fn acknowledge_now(&mut self) {
        self.ack_now = true;
    }

    /// Whether an ACK must leave now.
    pub fn ack_due(&self) -> bool {
        self.ack_now
    }

    /// When the delayed ACK must leave at the latest; [`Instant::MAX`] if none waits.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The delayed-ACK timer fired.
    pub fn handle_timeout(&mut self) {
        self.ack_now = true;
        self.deadline = Instant::MAX;
    }

    /// A segment with an ACK leaves: gives its window field, and nothing waits any more. The window of a SYN is
    /// never scaled (RFC 7323 §2.2).
    pub fn acknowledged(&mut self, syn: bool) -> u16 {
        self.ack_now = false;
        self.pending = 0;
        self.deadline = Instant::MAX;
        self.last_ack = self.nxt;
        self.advertise(if syn { 0 } else { self.scale.unwrap_or(0) })
    }

    /// The window field, rounded so that the right edge never moves back (RFC 9293 §3.8.6.2.2).
    fn advertise(&mut self, scale: u8) -> u16 {
        let occupied = self.holes.as_ref().map_or(0, |holes| holes.bytes);
        let free = self.buffer.saturating_sub(occupied) >> scale;
        let promised = self.edge.saturating_sub(self.nxt).div_ceil(1 << scale);
        let window = free.max(promised).min(65_535);
        self.edge = self.edge.max(self.nxt + (window << scale));
        window as u16
    }

    /// What a SACK option reports, the newest first.
    pub fn sack_ranges(&self) -> &[Range] {
        self.holes.as_ref().map_or(&[], |holes| &holes.recent[..holes.recent_len])
    }
}

impl Reassembly {
    /// Adds a range; returns how many of its bytes were there before.
    fn insert(&mut self, range: Range) -> u64 {
        let (from, to) = self.touching(range);
        let mut merged = range;
        let mut before = 0;
        let mut known = 0;
        for old in self.ranges.range(from..to) {
            known += old.end.min(range.end).saturating_sub(old.start.max(range.start));
            before += old.end - old.start;
            merged = Range { start: merged.start.min(old.start), end: merged.end.max(old.end) };
        }
        if from == to {
            self.ranges.insert(from, merged);
        } else {
            self.ranges[from] = merged;
            if to - from > 1 {
                self.ranges.drain(from + 1..to);
            }
        }
        self.bytes += merged.end - merged.start - before;
        self.report(merged);
        known
    }

    /// Indices of the ranges that overlap or touch this one. Most data is new, so the end comes first.
    fn touching(&self, range: Range) -> (usize, usize) {
        let n = self.ranges.len();
        let from = match self.ranges.back() {
            None => 0,
            Some(last) if last.end < range.start => n,
            Some(_) if n == 1 || self.ranges[n - 2].end < range.start => n - 1,
            Some(_) => self.ranges.partition_point(|old| old.end < range.start),
        };
        let mut to = from;
        while to < n && self.ranges[to].start <= range.end {
            to += 1;
        }
        (from, to)
    }

    /// Puts `merged` first and drops what it swallowed (RFC 2018 §4).
    fn report(&mut self, merged: Range) {
        let mut recent = [merged; MAX_BLOCKS];
        let mut len = 1;
        for old in &self.recent[..self.recent_len] {
            let swallowed = merged.start <= old.start && old.end <= merged.end;
            if !swallowed && len < MAX_BLOCKS {
                recent[len] = *old;
                len += 1;
            }
        }
        (self.recent, self.recent_len) = (recent, len);
    }

    /// Everything below `nxt` is acknowledged.
    fn forget_below(&mut self, nxt: u64) {
        let mut len = 0;
        for at in 0..self.recent_len {
            if self.recent[at].end > nxt {
                self.recent[len] = self.recent[at];
                len += 1;
            }
        }
        self.recent_len = len;
    }
}
