//! The window for the peer: the buffer, its contents, and the data that the application has read.
//!
//! Stevens' rule (TCP/IP Illustrated vol. 2 §26.7, in FreeBSD's order): a small window is closed, then the promise is
//! kept, then the window must fit 16 bits. A window update leaves when the edge can move by two segments or half the
//! buffer.
//!
//! INET's rule as its authors describe it closes every window below a segment, while Stevens' does so only below a quarter
//! of the buffer. A buffer below a segment is offered when it is empty: it would otherwise stay closed.
//!
//! Linux's rule differs (`__tcp_select_window`, `tcp_grow_window`, `__tcp_cleanup_rbuf`). The first window has whole
//! segments; an automatic buffer counts as if half of its memory were payload. Then the window grows by two segments
//! for each arrival, up to the buffer. A window below a segment or a sixteenth of the buffer is closed once half the
//! buffer is used. An update leaves when the window can double.
//!
//! By Linux's rule the size of an automatic buffer is what it offers while the last segment is unread. Data out of order
//! joins the queue only after the window has grown, so from the first such segment on the buffer offers a segment more.
//!
//! An automatic buffer grows like Linux's (dynamic right-sizing, `tcp_rcv_space_adjust`): once per round-trip time, if
//! the application read more than in the best round so far, to twice that and 16 segments, and by twice the growth rate
//! on top. A sender in slow start, which doubles every round, is therefore never held back.

use super::Receiver;
use crate::config::WindowRule;
use lightlag_core::{Duration, Instant};

/// A buffer that grows, or whose contents wait for the application.
#[derive(Debug)]
pub(super) struct Store {
    /// Payload that the application has read; the largest number if it reads everything at once.
    pub(super) consumed: u64,
    /// Time of the next check of the buffer's size; never for a fixed one.
    tune_at: Instant,
    tuning: Option<Tuning>,
}

impl Default for Store {
    fn default() -> Self {
        Self { consumed: u64::MAX, tune_at: Instant::MAX, tuning: None }
    }
}

/// An automatic receive buffer.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    /// The largest buffer.
    most: u64,
    /// The data read in the best round, at least the peer's initial window.
    space: u64,
    /// The total data read at the start of the current measurement.
    read: u64,
    /// Data has arrived out of order.
    disordered: bool,
}

/// Segments that a peer sends in its first round (RFC 6928).
const FIRST_ROUND: u64 = 10;

/// Room for the data in flight at the end of a measurement, in segments.
const SLACK: u64 = 16;

impl Receiver {
    /// The application reads by [`Self::read`] instead of at once.
    pub fn read_later(&mut self) {
        self.store.get_or_insert_default().consumed = 0;
        self.window = None;
    }

    /// Payload that the application has read; the largest number if it reads everything at once.
    #[inline(always)]
    pub(super) fn consumed(&self) -> u64 {
        self.store.as_ref().map_or(u64::MAX, |store| store.consumed)
    }

    #[inline(always)]
    pub(super) fn is_read_at_once(&self) -> bool {
        self.consumed() == u64::MAX
    }

    /// Bytes that arrived in order and have not been read.
    pub fn unread(&self) -> u64 {
        self.received().saturating_sub(self.consumed()) - self.bytes_ahead()
    }

    /// The application reads up to `bytes`. Returns the number read. A window update leaves if it is worth one.
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

    /// Whether an ACK of more than a segment waits for any reading, because the window got narrower.
    fn held_back(&self) -> bool {
        self.deadline != Instant::MAX && !self.has_holes() && self.nxt - self.last_ack > self.at_once()
    }

    fn marked_and_read(&self) -> bool {
        self.deadline != Instant::MAX && !self.has_holes() && self.read_to_the_end()
    }

    /// The offset up to which the application has read, including the holes that it has passed.
    pub(crate) fn read_so_far(&self) -> u64 {
        self.received().min(self.consumed())
    }

    /// Number of bytes to read until a window update leaves; `None` if no update follows before more data arrives.
    pub fn until_update(&self) -> Option<u64> {
        // An ACK that waits for tokens reports all data read until it leaves.
        if self.ack_now || self.leaves_updates_to_acks() {
            return None;
        }
        if self.unread() > 0 && self.held_back() {
            return Some(1);
        }
        // A wider window alone sends nothing: the window of a grown buffer waits for the next ACK.
        self.missing().filter(|missing| self.unread() > 0 && *missing <= self.unread())
    }

    /// Bytes by which the window is narrower than one worth an update; `None` if there is no wider one.
    fn missing(&self) -> Option<u64> {
        if self.fin_consumed() {
            return None;
        }
        if self.rule == WindowRule::Linux {
            return self.missing_to_double();
        }
        // Stevens: two segments or half the buffer (RFC 9293 §3.8.6.2.2).
        let worth = (2 * u64::from(self.mss)).min(self.buffer / 2).max(self.min_window());
        // Sixteen bits may limit the window further.
        let most = 65_535 << self.scale.unwrap_or(0);
        (self.edge < self.nxt + most).then(|| (self.edge + worth + self.held()).saturating_sub(self.nxt + self.buffer))
    }

    /// As [`Self::missing`], by Linux's rule: the window doubles.
    fn missing_to_double(&self) -> Option<u64> {
        let window = self.edge.saturating_sub(self.nxt);
        let wanted = (2 * window).max(self.smallest_window());
        (2 * window <= self.buffer && wanted <= self.limit()).then(|| wanted.saturating_sub(self.free()))
    }

    /// The smallest window that is offered by Stevens' and INET's rule, at least 1 byte.
    #[inline]
    fn min_window(&self) -> u64 {
        let whole = if self.rule == WindowRule::Inet { self.buffer } else { self.buffer / 4 };
        whole.min(self.mss.into()).max(1)
    }

    /// The smallest window that Linux offers once half the buffer is used.
    fn smallest_window(&self) -> u64 {
        (self.buffer / 16).max(u64::from(self.segment_seen())).min(self.buffer).min(self.limit())
    }

    fn segment_seen(&self) -> u16 {
        self.adaptive.as_ref().map_or(self.mss, |adaptive| adaptive.segment)
    }

    /// Uses this rule for offered windows.
    pub fn set_rule(&mut self, rule: WindowRule) {
        self.rule = rule;
        if rule == WindowRule::Linux {
            self.set_first_window(self.buffer, u64::from(self.mss));
        }
    }

    /// Sets the first window: whole segments of this size in `most` bytes (`tcp_select_initial_window`).
    pub(crate) fn set_first_window(&mut self, most: u64, segment: u64) {
        if self.rule == WindowRule::Linux {
            let window = if most > segment { most / segment * segment } else { most };
            // No window is larger than 2^30 bytes.
            self.limit = u32::try_from(window).unwrap_or(u32::MAX);
        }
    }

    /// Bounds the offered window by its field, now that the scale is known (`window_clamp` of Linux). The first one
    /// counts as offered completely, although a SYN has no scale: only the next ACK reports the rest (`rsk_rcv_wnd`).
    pub(crate) fn bound_by_scale(&mut self) {
        if self.rule == WindowRule::Linux {
            self.limit = self.limit.min(65_535 << self.scale.unwrap_or(0));
            self.edge = self.edge.max(self.nxt + self.limit());
        }
    }

    /// Lets the window grow after an arrival (`tcp_grow_window`), and reports a growth at once.
    #[inline(always)]
    pub(super) fn grow_limit(&mut self, len: u64) {
        if self.limit() < self.buffer {
            self.widen(len, self.free());
        }
    }

    /// Lets the window grow after the arrival of `len` bytes beyond a hole (`tcp_data_queue_ofo`).
    pub(super) fn grow_beyond_hole(&mut self, len: u64) {
        let tuning = self.store.as_mut().and_then(|store| store.tuning.as_mut()).filter(|tuning| !tuning.disordered);
        if let (Some(tuning), WindowRule::Linux) = (tuning, self.rule) {
            tuning.disordered = true;
            self.buffer += len;
        }
        if self.limit() < self.buffer {
            self.widen(len, self.free() + len);
        }
    }

    fn widen(&mut self, len: u64, free: u64) {
        // Small segments use more memory than their payload.
        if len < 128 {
            return;
        }
        // The largest window that the field can hold.
        let most = 65_535 << self.scale.unwrap_or(0);
        let room = free.min(self.buffer).min(most).saturating_sub(self.limit());
        if room > 0 {
            self.limit += room.min(2 * len.max(u64::from(self.segment_seen()))) as u32;
            self.quick |= u16::from(!self.fixed);
        }
    }

    /// Whether what waits to be read takes half the buffer: then no ACK is hurried (`__tcp_select_window`).
    #[inline(always)]
    pub(super) fn is_half_full(&self) -> bool {
        !self.is_read_at_once() && self.free() < self.buffer / 2
    }

    /// Whether the window would be narrower than the last one (`__tcp_ack_snd_check`).
    #[inline(always)]
    pub(super) fn window_shrank(&self) -> bool {
        !self.is_read_at_once() && self.free().min(self.limit()) < self.edge.saturating_sub(self.last_ack)
    }

    /// The data that narrows the window. If holes are skipped, data above them does not: it lies inside the window, and
    /// several holes at a time, each with its patience, would block the right edge permanently.
    fn held(&self) -> u64 {
        self.unread()
            + self.holes.as_ref().map_or(0, |holes| if holes.skipping.is_some() { 0 } else { holes.bytes.into() })
    }

    #[inline(always)]
    fn limit(&self) -> u64 {
        self.limit.into()
    }

    /// Bytes that wait above a hole.
    pub fn above_holes(&self) -> u64 {
        self.holes.as_ref().map_or(0, |holes| holes.bytes.into())
    }

    /// The current buffer.
    pub fn buffer(&self) -> u64 {
        self.buffer
    }

    /// Fixes the buffer at this size, which ends autotuning. Promised room stays promised.
    pub fn set_buffer(&mut self, bytes: u64) {
        self.buffer = bytes;
        self.window = None;
        if let Some(store) = &mut self.store {
            (store.tuning, store.tune_at) = (None, Instant::MAX);
        }
    }

    /// Room in the buffer.
    fn free(&self) -> u64 {
        self.buffer.saturating_sub(self.held())
    }

    /// Whether data of this length fits, in order or not. A window is rounded up to its unit, so its promise fits.
    pub fn has_room(&self, len: u64) -> bool {
        len < self.free() + (1 << self.scale.unwrap_or(0))
    }

    /// The window field (Stevens), rounded so that the right edge never moves back (RFC 9293 §3.8.6.2.2).
    #[inline]
    pub(super) fn advertise(&mut self, scale: u8) -> u16 {
        let mut free = self.free();
        if self.rule == WindowRule::Linux {
            return self.advertise_gradually(free, scale);
        }
        if free < self.min_window() {
            // Silly windows are closed.
            free = 0;
        }
        let promised = self.edge.saturating_sub(self.nxt).div_ceil(1 << scale);
        // A buffer below the unit of the window must not close it for ever: it is rounded up, as in Linux.
        let least = u64::from(free > 0 && self.buffer >> scale == 0);
        let window = (free >> scale).max(least).max(promised).min(65_535);
        self.edge = self.edge.max(self.nxt + (window << scale));
        window as u16
    }

    /// The window field by Linux's rule.
    #[inline(always)]
    fn advertise_gradually(&mut self, free: u64, scale: u8) -> u16 {
        let mut free = free.min(self.limit());
        if free < self.limit() && self.free() < self.buffer / 2 {
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
        // The part that the shift would cut off is offered, too.
        let window = ((free.max(promised) + (1 << scale) - 1) >> scale).min(65_535);
        self.edge = self.edge.max(self.nxt + (window << scale));
        window as u16
    }

    /// Without scaling windows are whole segments, and a window within a segment of the room stays. If not even one
    /// segment fits, a window within half of the limit stays.
    #[cold]
    fn whole_segments(&self, free: u64) -> u64 {
        // The whole limit counts as one segment: such a window would otherwise never open again.
        let segment = u64::from(self.segment_seen()).min(self.limit()).max(1);
        let last = self.edge - self.last_ack;
        if last > free || last + segment <= free {
            free / segment * segment
        } else if segment == self.limit() && free > last + self.limit() / 2 {
            free
        } else {
            last
        }
    }

    /// Lets the buffer grow to `most` from now on. The first measurement ends after `rtt`.
    pub fn start_tuning(&mut self, now: Instant, most: u64, rtt: Duration) {
        let space = FIRST_ROUND * u64::from(self.mss);
        let store = self.store.get_or_insert_default();
        (store.tuning, store.tune_at) = (Some(Tuning { most, space, read: 0, disordered: false }), now + rtt);
    }

    /// Time at which the current measurement ends; [`Instant::MAX`] for a fixed buffer.
    #[inline(always)]
    pub fn tune_at(&self) -> Instant {
        self.store.as_ref().map_or(Instant::MAX, |store| store.tune_at)
    }

    /// Adapts the buffer to the data read in a round-trip time. `rtt` is the next round's.
    pub fn tune(&mut self, now: Instant, rtt: Duration) {
        let total = self.received() - self.unread();
        let Some(store) = &mut self.store else { return };
        let Some(tuning) = &mut store.tuning else { return };
        let copied = total - tuning.read;
        tuning.read = total;
        if copied > tuning.space {
            let target = 2 * copied + SLACK * u64::from(self.mss);
            let growth = (u128::from(target) * u128::from(copied - tuning.space) / u128::from(tuning.space)) as u64;
            tuning.space = copied;
            self.buffer = self.buffer.max(tuning.most.min(target + 2 * growth));
            if self.buffer >= tuning.most {
                store.tune_at = Instant::MAX;
                return;
            }
        }
        store.tune_at = now + rtt.max(Duration::from_millis(1));
    }
}
