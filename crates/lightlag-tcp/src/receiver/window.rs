//! How much the peer may send: the buffer, what occupies it, and what the application has read.
//!
//! Stevens' rule (TCP/IP Illustrated vol. 2 §26.7, in FreeBSD's order): a small window is closed, then the promise is
//! kept, then 16 bits must hold it. A window update leaves when the edge can move by two segments or half the buffer.
//!
//! Linux's rule differs (`__tcp_select_window`, `tcp_grow_window`, `__tcp_cleanup_rbuf`): the first window has whole segments,
//! and of a buffer that tunes itself those that it holds if half of its memory is payload; then it grows by two segments for
//! each that arrives, up to the buffer; a window below a segment or a sixteenth of the buffer is closed once half the buffer
//! is taken; an update leaves when the window can double.
//!
//! An automatic buffer grows as Linux's does (dynamic right-sizing, `tcp_rcv_space_adjust`): once a round-trip time, if
//! the application read more than in the best round so far, to twice that and 16 segments, and by twice the growth
//! rate on top, so that a sender in slow start, which doubles every round, is never held back.

use super::Receiver;
use crate::config::WindowRule;
use lightlag_core::{Duration, Instant};

/// An automatic receive buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// The buffer at most.
    most: u64,
    /// What the application read in the best round, at least the peer's initial window.
    space: u64,
    /// What it had read in all when the current measurement began.
    read: u64,
}

/// What a peer sends in its first round (RFC 6928), in segments.
const FIRST_ROUND: u64 = 10;

/// Room for what is under way when a measurement ends, in segments.
const SLACK: u64 = 16;

impl Receiver {
    /// The application reads when it likes, with [`Self::read`], instead of at once.
    pub fn read_later(&mut self) {
        self.consumed = 0;
        self.window = None;
    }

    /// Bytes that arrived in order and were not read yet.
    pub fn unread(&self) -> u64 {
        let ahead = self.holes.as_ref().map_or(0, |holes| holes.ahead);
        self.received().saturating_sub(self.consumed) - ahead
    }

    /// The application reads up to `bytes`; returns how many there were. A window update leaves where that is worth
    /// one.
    pub fn read(&mut self, bytes: u64) -> u64 {
        let bytes = bytes.min(self.unread());
        self.move_reader(bytes);
        if bytes > 0
            && !self.leaves_updates_to_acks()
            && (self.missing() == Some(0) || self.held_back() || self.marked_and_read())
        {
            self.ack_now = true;
        }
        bytes
    }

    /// Whether a wider window waits for the next ACK: ACKs have a fixed frequency, and a whole segment still fits.
    fn leaves_updates_to_acks(&self) -> bool {
        self.fixed && self.edge >= self.nxt + u64::from(self.mss)
    }

    /// Whether an ACK waits that any reading sends: of more than a segment, while the window got narrower.
    fn held_back(&self) -> bool {
        let at_once = self.adaptive.as_ref().map_or(u64::MAX, |adaptive| u64::from(adaptive.at_once));
        self.deadline != Instant::MAX && !self.has_holes() && self.nxt - self.last_ack > at_once
    }

    fn marked_and_read(&self) -> bool {
        self.deadline != Instant::MAX && !self.has_holes() && self.read_to_the_end()
    }

    /// How far the application has read: an offset, with the holes that it has passed.
    pub(crate) fn read_so_far(&self) -> u64 {
        self.received().min(self.consumed)
    }

    /// How many bytes must be read until a window update leaves; `None` if none follows before more arrives.
    pub fn until_update(&self) -> Option<u64> {
        // An ACK that waits for tokens tells of all that is read until it leaves.
        if self.ack_now || self.leaves_updates_to_acks() {
            return None;
        }
        if self.unread() > 0 && self.held_back() {
            return Some(1);
        }
        // A wider window alone sends nothing: that of a buffer that has grown waits for the next ACK.
        self.missing().filter(|missing| self.unread() > 0 && *missing <= self.unread())
    }

    /// How much narrower the window is than one that is worth an update; `None` where there is no wider one.
    fn missing(&self) -> Option<u64> {
        if self.fin_consumed() {
            return None;
        }
        if self.rule == WindowRule::Linux {
            return self.missing_to_double();
        }
        // Stevens: two segments or half the buffer (RFC 9293 §3.8.6.2.2).
        let worth = (2 * u64::from(self.mss)).min(self.buffer / 2).max(1);
        // Sixteen bits may hold no more.
        let most = 65_535 << self.scale.unwrap_or(0);
        (self.edge < self.nxt + most).then(|| (self.edge + worth + self.held()).saturating_sub(self.nxt + self.buffer))
    }

    /// As [`Self::missing`], with Linux's rule: the window doubles.
    fn missing_to_double(&self) -> Option<u64> {
        let window = self.edge.saturating_sub(self.nxt);
        let wanted = (2 * window).max(self.smallest_window());
        (2 * window <= self.buffer && wanted <= self.limit).then(|| wanted.saturating_sub(self.free()))
    }

    /// Linux offers no less once half the buffer is taken.
    fn smallest_window(&self) -> u64 {
        (self.buffer / 16).max(u64::from(self.segment_seen())).min(self.buffer).min(self.limit)
    }

    fn segment_seen(&self) -> u16 {
        self.adaptive.as_ref().map_or(self.mss, |adaptive| adaptive.segment)
    }

    /// Uses this rule for the windows that it offers.
    pub fn set_rule(&mut self, rule: WindowRule) {
        self.rule = rule;
        if rule == WindowRule::Linux {
            self.set_first_window(self.buffer, u64::from(self.mss));
        }
    }

    /// Whole segments of this size in `most` bytes: what the first window may be (`tcp_select_initial_window`).
    pub(crate) fn set_first_window(&mut self, most: u64, segment: u64) {
        if self.rule == WindowRule::Linux {
            self.limit = if most > segment { most / segment * segment } else { most };
        }
    }

    /// No window is offered that the field cannot hold, now that its scale is known (`window_clamp` of Linux). The first one
    /// counts as offered whole, although a SYN has no scale: nothing but the next ACK tells the rest (`rsk_rcv_wnd`).
    pub(crate) fn bound_by_scale(&mut self) {
        if self.rule == WindowRule::Linux {
            self.limit = self.limit.min(65_535 << self.scale.unwrap_or(0));
            self.edge = self.edge.max(self.nxt + self.limit);
        }
    }

    /// Data arrived: the window may grow (`tcp_grow_window`), and where it does, the peer hears of it at once.
    #[inline(always)]
    pub(super) fn grow_limit(&mut self, len: u64) {
        if self.limit < self.buffer {
            self.widen(len);
        }
    }

    fn widen(&mut self, len: u64) {
        // Small segments cost more memory than their payload shows.
        if len < 128 {
            return;
        }
        // What the window field can hold.
        let most = 65_535 << self.scale.unwrap_or(0);
        let room = self.free().min(most).saturating_sub(self.limit);
        if room > 0 {
            self.limit += room.min(2 * len.max(u64::from(self.segment_seen())));
            self.quick |= u16::from(!self.fixed);
        }
    }

    /// Whether the window would be narrower than the last one (`__tcp_ack_snd_check`).
    #[inline(always)]
    pub(super) fn window_shrank(&self) -> bool {
        self.consumed != u64::MAX && self.free().min(self.limit) < self.edge.saturating_sub(self.last_ack)
    }

    /// What narrows the window. Where holes are skipped, data above them does not: it lies inside the window, and several
    /// holes at a time, each with its patience, would hold the right edge for good.
    fn held(&self) -> u64 {
        self.unread() + self.holes.as_ref().map_or(0, |holes| if holes.skipping.is_some() { 0 } else { holes.bytes })
    }

    /// Bytes that wait above a hole.
    pub fn above_holes(&self) -> u64 {
        self.holes.as_ref().map_or(0, |holes| holes.bytes)
    }

    /// The buffer as it is now.
    pub fn buffer(&self) -> u64 {
        self.buffer
    }

    /// A buffer of this size, which no longer tunes itself. What was promised stays promised.
    pub fn set_buffer(&mut self, bytes: u64) {
        self.buffer = bytes;
        self.window = None;
        self.tuning = None;
        self.tune_at = Instant::MAX;
    }

    /// Room in the buffer.
    fn free(&self) -> u64 {
        self.buffer.saturating_sub(self.held())
    }

    /// Whether data of this length fits, out of order or not. A window is rounded up to its unit: what it promises fits.
    pub fn has_room(&self, len: u64) -> bool {
        len < self.free() + (1 << self.scale.unwrap_or(0))
    }

    /// The window field (Stevens). Rounded so that the right edge never moves back (RFC 9293 §3.8.6.2.2).
    #[inline]
    pub(super) fn advertise(&mut self, scale: u8) -> u16 {
        let mut free = self.free();
        if self.rule == WindowRule::Linux {
            return self.advertise_gradually(free, scale);
        }
        if free < self.buffer / 4 && free < u64::from(self.mss) {
            // Silly windows are closed.
            free = 0;
        }
        let promised = self.edge.saturating_sub(self.nxt).div_ceil(1 << scale);
        // A buffer below the unit of the window must not close it for ever: rounded up, as Linux.
        let least = u64::from(free > 0 && self.buffer >> scale == 0);
        let window = (free >> scale).max(least).max(promised).min(65_535);
        self.edge = self.edge.max(self.nxt + (window << scale));
        window as u16
    }

    /// The window field by Linux's rule.
    #[inline(always)]
    fn advertise_gradually(&mut self, free: u64, scale: u8) -> u16 {
        let mut free = free.min(self.limit);
        if free < self.limit && self.free() < self.buffer / 2 {
            self.quick = 0;
            free = free >> scale << scale;
            if free < self.smallest_window() {
                free = 0;
            }
        }
        let promised = self.edge.saturating_sub(self.nxt);
        if scale == 0 && self.edge > 0 {
            free = self.whole_segments(free);
        }
        // What the shift would cut off is offered, too.
        let window = ((free.max(promised) + (1 << scale) - 1) >> scale).min(65_535);
        self.edge = self.edge.max(self.nxt + (window << scale));
        window as u16
    }

    /// Without scaling windows have whole segments, and one that is within a segment of it stays; where not even one segment
    /// fits, one that is within half of all there is.
    #[cold]
    fn whole_segments(&self, free: u64) -> u64 {
        // All there is counts as one: such a window would otherwise never open again.
        let segment = u64::from(self.segment_seen()).min(self.limit).max(1);
        let last = self.edge - self.last_ack;
        if last > free || last + segment <= free {
            free / segment * segment
        } else if segment == self.limit && free > last + self.limit / 2 {
            free
        } else {
            last
        }
    }

    /// The buffer may grow to `most` from now on. The first measurement ends after `rtt`.
    pub fn start_tuning(&mut self, now: Instant, most: u64, rtt: Duration) {
        let space = FIRST_ROUND * u64::from(self.mss);
        self.tuning = Some(Box::new(Tuning { most, space, read: 0 }));
        self.tune_at = now + rtt;
    }

    /// When the current measurement ends; [`Instant::MAX`] where the buffer is fixed.
    pub fn tune_at(&self) -> Instant {
        self.tune_at
    }

    /// A round-trip time passed: the buffer follows what was read. `rtt` is the next round's.
    pub fn tune(&mut self, now: Instant, rtt: Duration) {
        let total = self.received() - self.unread();
        let Some(tuning) = &mut self.tuning else { return };
        let copied = total - tuning.read;
        tuning.read = total;
        if copied > tuning.space {
            let target = 2 * copied + SLACK * u64::from(self.mss);
            let growth = (u128::from(target) * u128::from(copied - tuning.space) / u128::from(tuning.space)) as u64;
            tuning.space = copied;
            self.buffer = self.buffer.max(tuning.most.min(target + 2 * growth));
            if self.buffer == tuning.most {
                self.tune_at = Instant::MAX;
                return;
            }
        }
        self.tune_at = now + rtt.max(Duration::from_millis(1));
    }
}
