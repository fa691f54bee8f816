//! The window advertised to the peer: the buffer, its contents, and the data that the application has read.
//!
//! Stevens' rule (TCP/IP Illustrated vol. 2 §26.7) is applied in FreeBSD's order: a small window is closed, the right
//! edge is never moved back, and the window must fit 16 bits. A window update is sent when the edge can move by two
//! segments or half the buffer.
//!
//! INET's rule, as its authors describe it, closes every window smaller than a segment; Stevens' rule closes such a
//! window only if it is also smaller than a quarter of the buffer. A buffer smaller than a segment is advertised when
//! it is empty, because its window would otherwise stay closed.
//!
//! Linux's rule differs (`__tcp_select_window`, `tcp_grow_window`, `__tcp_cleanup_rbuf`). The first window is a
//! multiple of the segment size; for an automatic buffer it assumes that half of the memory is payload. Then the window
//! grows by two segments for each arrival, up to the size of the buffer. A window smaller than a segment or a sixteenth
//! of the buffer is closed once half the buffer is used. A window update is sent when the window can double.
//!
//! With Linux's rule, the size of an automatic buffer is the window that it advertises while the last segment is
//! unread. Linux queues out-of-order data only after the window has grown, so starting with the first such segment, the
//! buffer advertises one segment more.
//!
//! An automatic buffer grows as in Linux (dynamic right-sizing, `tcp_rcv_space_adjust`). If the application read more
//! in a round-trip time than in the best one before, the buffer grows to twice that amount plus 16 segments, and
//! further in proportion to twice the relative growth. A sender in slow start, which doubles its window every round
//! trip, is therefore never limited by the buffer.

use super::Receiver;
use crate::config::WindowRule;
use lightlag_core::{Duration, Instant};

/// State of a buffer whose size grows, or whose contents wait for the application.
#[derive(Debug)]
pub(super) struct Store {
    /// Amount of payload that the application has read; `u64::MAX` if it reads data as it arrives.
    pub(super) consumed: u64,
    /// Time when the buffer's size is adapted next; [`Instant::MAX`] for a fixed buffer.
    tune_at: Instant,
    tuning: Option<Tuning>,
}

impl Default for Store {
    fn default() -> Self {
        Self { consumed: u64::MAX, tune_at: Instant::MAX, tuning: None }
    }
}

/// State of an automatic receive buffer.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    /// Maximum size of the buffer.
    most: u64,
    /// Maximum amount of data read in one round trip so far; initially the peer's initial window.
    space: u64,
    /// Total amount of data read when the current measurement started.
    read: u64,
    /// Whether data has arrived out of order.
    disordered: bool,
}

/// Number of segments that a peer is assumed to send in its first round trip (RFC 6928).
const FIRST_ROUND: u64 = 10;

/// Additional buffer for data in flight at the end of a measurement, in segments.
const SLACK: u64 = 16;

impl Receiver {
    /// Makes the application read only through [`Self::read`], instead of as data arrives.
    pub fn read_later(&mut self) {
        self.store.get_or_insert_default().consumed = 0;
        self.window = None;
    }

    /// Returns the amount of payload that the application has read; `u64::MAX` if it reads data as it arrives.
    #[inline(always)]
    pub(super) fn consumed(&self) -> u64 {
        self.store.as_ref().map_or(u64::MAX, |store| store.consumed)
    }

    #[inline(always)]
    pub(super) fn is_read_at_once(&self) -> bool {
        self.consumed() == u64::MAX
    }

    /// Returns the number of bytes that arrived in order and have not been read.
    pub fn unread(&self) -> u64 {
        self.received().saturating_sub(self.consumed()) - self.bytes_ahead()
    }

    /// Reads up to `bytes` for the application, and returns the number of bytes read. Schedules a window update if the
    /// window grew enough.
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

    /// Returns true if a larger window is advertised only with the next regular ACK: ACKs have a fixed interval, and
    /// the window still has space for a full segment.
    fn leaves_updates_to_acks(&self) -> bool {
        self.fixed && self.edge >= self.nxt + u64::from(self.mss)
    }

    /// Returns true if the ACK of more than one segment is delayed only because the window shrank. It is sent once the
    /// application reads any data.
    fn held_back(&self) -> bool {
        self.deadline != Instant::MAX && !self.has_holes() && self.nxt - self.last_ack > self.at_once()
    }

    fn marked_and_read(&self) -> bool {
        self.deadline != Instant::MAX && !self.has_holes() && self.read_to_the_end()
    }

    /// Returns the offset of the next byte that the application reads, including the holes that it has passed.
    pub(crate) fn read_so_far(&self) -> u64 {
        self.received().min(self.consumed())
    }

    /// Returns the number of bytes that the application must read before a window update is sent; `None` if reading
    /// alone, without the arrival of more data, causes no update.
    pub fn until_update(&self) -> Option<u64> {
        // An ACK that waits for tokens reports all data read before it is sent.
        if self.ack_now || self.leaves_updates_to_acks() {
            return None;
        }
        if self.unread() > 0 && self.held_back() {
            return Some(1);
        }
        // A wider window alone causes no ACK: the window of a grown buffer waits for the next one.
        self.missing().filter(|missing| self.unread() > 0 && *missing <= self.unread())
    }

    /// Returns how many more bytes must be free in the buffer before a window update is sent; `None` if the window
    /// cannot grow.
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

    /// Returns [`Self::missing`] for Linux's rule, which sends an update when the window can double.
    fn missing_to_double(&self) -> Option<u64> {
        let window = self.edge.saturating_sub(self.nxt);
        let wanted = (2 * window).max(self.smallest_window());
        (2 * window <= self.buffer && wanted <= self.limit()).then(|| wanted.saturating_sub(self.free()))
    }

    /// Returns the smallest non-zero window that Stevens' and INET's rules advertise, at least 1 byte.
    #[inline]
    fn min_window(&self) -> u64 {
        let whole = if self.rule == WindowRule::Inet { self.buffer } else { self.buffer / 4 };
        whole.min(self.mss.into()).max(1)
    }

    /// Returns the smallest non-zero window that Linux advertises once half the buffer is used.
    fn smallest_window(&self) -> u64 {
        (self.buffer / 16).max(u64::from(self.segment_seen())).min(self.buffer).min(self.limit())
    }

    fn segment_seen(&self) -> u16 {
        self.adaptive.as_ref().map_or(self.mss, |adaptive| adaptive.segment)
    }

    /// Sets the rule for advertised windows.
    pub fn set_rule(&mut self, rule: WindowRule) {
        self.rule = rule;
        if rule == WindowRule::Linux {
            self.set_first_window(self.buffer, u64::from(self.mss));
        }
    }

    /// Sets the initial window to the largest multiple of `segment` up to `max` bytes (`tcp_select_initial_window`).
    pub(crate) fn set_first_window(&mut self, max: u64, segment: u64) {
        if self.rule == WindowRule::Linux {
            let window = if max > segment { max / segment * segment } else { max };
            // No window is larger than 2^30 bytes.
            self.limit = u32::try_from(window).unwrap_or(u32::MAX);
        }
    }

    /// Limits the window to what its field can hold, now that the scale is known (`window_clamp` of Linux). The first
    /// window counts as completely advertised, although the window of a SYN is not scaled and only the next ACK reports
    /// the rest (`rsk_rcv_wnd`).
    pub(crate) fn bound_by_scale(&mut self) {
        if self.rule == WindowRule::Linux {
            self.limit = self.limit.min(65_535 << self.scale.unwrap_or(0));
            self.edge = self.edge.max(self.nxt + self.limit());
        }
    }

    /// Increases the window after an arrival of `len` bytes in order (`tcp_grow_window`). If it grew, an ACK reports
    /// that immediately.
    #[inline(always)]
    pub(super) fn grow_limit(&mut self, len: u64) {
        if self.limit() < self.buffer {
            self.widen(len, self.free());
        }
    }

    /// Increases the window after an arrival of `len` bytes above a hole (`tcp_data_queue_ofo`).
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
        // Maximum window that the field can hold.
        let most = 65_535 << self.scale.unwrap_or(0);
        let room = free.min(self.buffer).min(most).saturating_sub(self.limit());
        if room > 0 {
            self.limit += room.min(2 * len.max(u64::from(self.segment_seen()))) as u32;
            self.quick |= u16::from(!self.fixed);
        }
    }

    /// Returns true if unread data occupies at least half of the buffer, so that no ACK is sent early
    /// (`__tcp_select_window`).
    #[inline(always)]
    pub(super) fn is_half_full(&self) -> bool {
        !self.is_read_at_once() && self.free() < self.buffer / 2
    }

    /// Returns true if the window would now be smaller than the last advertised one (`__tcp_ack_snd_check`).
    #[inline(always)]
    pub(super) fn window_shrank(&self) -> bool {
        !self.is_read_at_once() && self.free().min(self.limit()) < self.edge.saturating_sub(self.last_ack)
    }

    /// Returns the number of buffered bytes by which the window is reduced. If holes are skipped, data above a hole
    /// does not count: it lies inside the window, and several holes, each with its own timeout, would keep the right
    /// edge from advancing.
    fn held(&self) -> u64 {
        self.unread()
            + self.holes.as_ref().map_or(0, |holes| if holes.skipping.is_some() { 0 } else { holes.bytes.into() })
    }

    #[inline(always)]
    fn limit(&self) -> u64 {
        self.limit.into()
    }

    /// Returns the number of data bytes above a hole.
    pub fn above_holes(&self) -> u64 {
        self.holes.as_ref().map_or(0, |holes| holes.bytes.into())
    }

    /// Returns the current buffer size in bytes.
    pub fn buffer(&self) -> u64 {
        self.buffer
    }

    /// Fixes the size of the buffer, which stops autotuning. The right edge does not move back.
    pub fn set_buffer(&mut self, bytes: u64) {
        self.buffer = bytes;
        self.window = None;
        if let Some(store) = &mut self.store {
            (store.tuning, store.tune_at) = (None, Instant::MAX);
        }
    }

    /// Returns the number of free bytes in the buffer.
    #[inline]
    fn free(&self) -> u64 {
        self.buffer.saturating_sub(self.held())
    }

    /// Returns true if data of this length fits into the buffer, in order or not. Because the window is rounded up to
    /// its unit, all advertised data fits.
    pub fn has_room(&self, len: u64) -> bool {
        len < self.free() + (1 << self.scale.unwrap_or(0))
    }

    /// Returns the window field by the configured rule. It is rounded so that the right edge never moves back (RFC 9293
    /// §3.8.6.2.2).
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

    /// Returns the window field by Linux's rule.
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
        // The part that the shift would cut off is also advertised.
        let window = ((free.max(promised) + (1 << scale) - 1) >> scale).min(65_535);
        self.edge = self.edge.max(self.nxt + (window << scale));
        window as u16
    }

    /// Rounds a window without scaling to full segments. The window stays unchanged while it is within a segment of the
    /// free space, or, if not even one segment fits, within half of the limit.
    #[cold]
    fn whole_segments(&self, free: u64) -> u64 {
        // The complete limit counts as one segment: such a window would otherwise never open again.
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

    /// Starts to tune the size of the buffer, which may grow to `max` bytes. The first measurement ends after `rtt`.
    pub fn start_tuning(&mut self, now: Instant, max: u64, rtt: Duration) {
        let space = FIRST_ROUND * u64::from(self.mss);
        let store = self.store.get_or_insert_default();
        (store.tuning, store.tune_at) = (Some(Tuning { most: max, space, read: 0, disordered: false }), now + rtt);
    }

    /// Returns the end of the current measurement; [`Instant::MAX`] for a fixed buffer.
    #[inline(always)]
    pub fn tune_at(&self) -> Instant {
        self.store.as_ref().map_or(Instant::MAX, |store| store.tune_at)
    }

    /// Adapts the size of the buffer to the amount of data read during the measurement that ends now. The next
    /// measurement lasts `rtt`.
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
