//! The receiving half: reassembly, acknowledgements, SACK reports, and the advertised window.
//!
//! If the application reads data as it arrives, only data above a hole occupies the buffer. Offsets count payload
//! bytes; a FIN takes the offset after the last byte.

use crate::config::{DelayedAck, WindowRule};
use crate::scoreboard::Range;
use crate::segment::Flags;
use crate::spans::Span;
use lightlag_core::{Duration, Instant};

mod adaptive;
mod reassembly;
mod skipping;
#[cfg(test)]
mod tests;
mod window;

use adaptive::Adaptive;
pub(crate) use adaptive::{MAX_QUICK, PathTimes};
use reassembly::Reassembly;
use window::Store;

/// Maximum number of ranges in a SACK option that is the segment's only option (RFC 2018 §3).
pub const MAX_BLOCKS: usize = 4;

const NO_FIN: u64 = u64::MAX;

/// Maximum wait for the rest of a burst, if ACKs are not delayed: the minimum delay of a delayed ACK in Linux.
const MAX_BURST_WAIT: Duration = Duration::from_millis(40);

/// Lifetime of TS.Recent in an idle connection. With ticks of 1 ms, the comparison of timestamps fails after 24.8 days
/// (RFC 7323 §5.5; TCP_PAWS_24DAYS of Linux).
const TIMESTAMP_LIFE: Duration = Duration::from_secs(24 * 24 * 3_600);

/// Converts a time to units of 2³² ns.
fn coarse(now: Instant) -> u32 {
    (now.as_nanos() >> 32) as u32
}

/// The state of pending ACKs while acknowledgements are suspended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldAck {
    ack_now: bool,
    deadline: Instant,
    is_put_off: bool,
    window: Option<u16>,
}

/// The receiving half of a connection.
#[derive(Debug)]
#[repr(C)]
pub struct Receiver {
    /// Next expected offset. After the FIN is consumed, the offset after the FIN.
    nxt: u64,
    /// Right edge of the window that was last advertised.
    edge: u64,
    /// Offset in the last ACK that was sent (Last.ACK.sent).
    last_ack: u64,
    deadline: Instant,
    buffer: u64,
    fin_at: u64,
    /// Timestamp that will be echoed, TS.Recent (RFC 7323 §4.3).
    ts_recent: u32,
    /// Time when TS.Recent was last updated, in units of 2³² ns (4.3 s).
    ts_noted: u32,
    holes: Option<Box<Reassembly>>,
    /// State of an automatic buffer, or of data that waits to be read; `None` if the buffer has a fixed size and data
    /// is read as it arrives.
    store: Option<Box<Store>>,
    /// Delay of an ACK; with Linux's rules, its minimum delay.
    timeout: Duration,
    /// State of Linux's rules for delayed ACKs; `None` if ACKs are sent per number of segments.
    adaptive: Option<Adaptive>,
    /// Maximum advertised window, which grows with arrivals as Linux's `rcv_ssthresh`. Larger than any possible window
    /// if only the buffer limits the window.
    limit: u32,
    /// Maximum delay of a duplicate ACK in nanoseconds; zero if duplicate ACKs are not delayed.
    compression: u32,
    /// Number of segments that have arrived since the last ACK.
    pending: u16,
    /// Number of segments that one ACK acknowledges.
    every: u16,
    /// Number of further ACKs that are sent immediately.
    quick: u16,
    /// Payload of a full segment, in bytes.
    mss: u16,
    ack_now: bool,
    /// Whether a burst has arrived in part, so that no ACK is sent before its last segment.
    gathers: bool,
    /// Whether [`Self::deadline`] only bounds the wait for the rest of a burst.
    bounds_burst: bool,
    /// Whether the next data starts quick ACKs.
    quick_due: bool,
    /// Whether the exact time of [`Self::deadline`] has passed, and the timer was moved to a tick of the clock.
    is_put_off: bool,
    rule: WindowRule,
    /// Window scale shift of advertised windows; `None` without window scaling.
    scale: Option<u8>,
    /// The last window field, which is reused while nothing arrives; `None` if reading by the application can change
    /// it.
    window: Option<u16>,
    /// Whether duplicates are reported by D-SACK (RFC 2883).
    dsack: bool,
    /// Whether out-of-order data is reported by SACK. If so, such data also increases the window.
    reports: bool,
    /// Number of low-priority segments that still have to be acknowledged.
    copies: u8,
    /// Whether exactly one ACK is sent per [`Self::timeout`], whatever arrives.
    fixed: bool,
}

impl Receiver {
    /// Returns a receiver with a buffer of this size, full segments of `mss` bytes, and this policy of delayed ACKs.
    pub fn new(buffer: u64, mss: u16, delayed: Option<DelayedAck>) -> Self {
        let delayed = delayed.unwrap_or(DelayedAck { segments: 1, timeout: Duration::MAX, quick: 0, adaptive: false });
        Self {
            nxt: 0,
            edge: 0,
            last_ack: 0,
            buffer,
            deadline: Instant::MAX,
            is_put_off: false,
            timeout: delayed.timeout,
            holes: None,
            store: None,
            fin_at: NO_FIN,
            ts_recent: 0,
            ts_noted: 0,
            pending: 0,
            every: delayed.segments,
            quick: if delayed.adaptive { 0 } else { delayed.quick },
            ack_now: false,
            gathers: false,
            bounds_burst: false,
            window: None,
            quick_due: false,
            adaptive: delayed.adaptive.then(|| Adaptive::new(&delayed)),
            compression: 0,
            limit: u32::MAX,
            rule: WindowRule::Stevens,
            mss,
            dsack: false,
            reports: true,
            copies: 0,
            fixed: false,
            scale: None,
        }
    }

    /// Returns the window scale shift for a buffer of this size: the smallest with which the window fits into 16 bits
    /// (RFC 7323 §2.3). Linux uses the memory of the buffer, which is twice the maximum window
    /// (`tcp_select_initial_window`).
    pub fn scale_for(buffer: u64, rule: WindowRule) -> u8 {
        match rule {
            WindowRule::Stevens | WindowRule::Inet => (0..14).find(|shift| buffer >> shift <= 65_535).unwrap_or(14),
            WindowRule::Linux => (2 * buffer).max(1).ilog2().saturating_sub(15).min(14) as u8,
        }
    }

    /// Sends one ACK per `interval`, which starts with the first arrival. An ACK is sent immediately only for a FIN,
    /// for a window that opens again, and for a probe of a closed window (SCPS-TP).
    pub fn set_interval(&mut self, interval: Duration) {
        self.fixed = true;
        self.timeout = interval;
        self.every = u16::MAX;
        self.quick = 0;
        self.adaptive = None;
    }

    /// Starts window scaling with this shift, once it is negotiated.
    pub fn set_scale(&mut self, scale: u8) {
        self.scale = Some(scale);
    }

    /// Starts reporting duplicates (RFC 2883); SACK must be negotiated.
    pub fn report_duplicates(&mut self) {
        self.dsack = true;
    }

    /// Stops SACK reports of out-of-order data. As in Linux, such data then does not increase the window, so that its
    /// ACKs count as duplicates (`tcp_data_queue_ofo`).
    pub fn hide_disorder(&mut self) {
        self.reports = false;
    }

    /// Extends the window to `end`, although this was not advertised.
    #[cold]
    pub fn stretch(&mut self, end: u64) {
        self.edge = self.edge.max(end);
    }

    /// Returns the window scale shift of advertised windows; `None` without window scaling.
    pub fn scale(&self) -> Option<u8> {
        self.scale
    }

    /// Acknowledges the next `segments` immediately. If any ACK is delayed now, it is sent immediately.
    pub fn set_quick(&mut self, segments: u16) {
        self.quick = segments;
        if segments == 0 {
            // Subsequent ACKs wait for data (`tcp_sock_set_quickack`).
            self.converse();
        }
        self.ack_now |= segments > 0 && self.deadline != Instant::MAX;
    }

    /// Stops the timers of a closed connection.
    pub fn stop(&mut self) {
        self.deadline = Instant::MAX;
        self.ack_now = false;
    }

    /// Returns the next expected offset.
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Returns the payload that arrived in order and was passed to the application, in bytes.
    pub fn received(&self) -> u64 {
        self.nxt - u64::from(self.fin_consumed())
    }

    /// Returns true if more data arrived in order than was acknowledged.
    #[inline]
    pub fn acknowledges_more(&self) -> bool {
        self.nxt > self.last_ack
    }

    /// Returns the acknowledged payload, in bytes.
    pub fn confirmed(&self) -> u64 {
        self.last_ack.min(self.fin_at)
    }

    /// Returns true if the FIN and all data before it arrived.
    pub fn fin_consumed(&self) -> bool {
        self.nxt > self.fin_at
    }

    /// Returns true if the FIN arrived, in order or not.
    pub fn knows_end(&self) -> bool {
        self.fin_at != NO_FIN
    }

    /// Returns true if data waits above a hole.
    pub fn has_holes(&self) -> bool {
        self.holes.as_ref().is_some_and(|holes| !holes.ranges.is_empty())
    }

    /// Returns the missing ranges below the highest data, in ascending order.
    pub(crate) fn holes(&self) -> impl Iterator<Item = Range> + '_ {
        let ranges = || self.holes.iter().flat_map(|holes| holes.ranges.iter(self.nxt));
        let starts = std::iter::once(self.nxt).chain(ranges().map(|range| range.end));
        starts.zip(ranges().map(|range| range.start)).map(|(start, end)| Range { start, end })
    }

    /// Returns the offset after the highest data.
    pub(crate) fn highest(&self) -> u64 {
        self.holes.as_ref().and_then(|holes| holes.ranges.last(self.nxt)).map_or(self.nxt, |range| range.end)
    }

    /// Returns true if the next ACK carries a SACK option.
    pub fn has_report(&self) -> bool {
        self.holes.as_ref().is_some_and(|holes| !holes.ranges.is_empty() || !holes.duplicate.is_empty())
    }

    /// Returns the right edge of the window: the first offset that is not accepted.
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// Returns TS.Recent, the timestamp that the next segment echoes.
    pub fn ts_recent(&self) -> u32 {
        self.ts_recent
    }

    /// Stores the TSval of the peer's SYN.
    pub fn set_ts_recent(&mut self, now: Instant, value: u32) {
        self.ts_recent = value;
        self.ts_noted = coarse(now);
    }

    /// Returns true if the timestamp is older than TS.Recent (PAWS, RFC 7323 §5.3).
    pub fn is_old(&self, now: Instant, value: u32) -> bool {
        (value.wrapping_sub(self.ts_recent) as i32) < 0 && !self.is_outdated(now)
    }

    /// Returns true if TS.Recent is too old for a comparison: the peer's clock may have advanced by half of its range
    /// meanwhile (RFC 7323 §5.5).
    #[cold]
    fn is_outdated(&self, now: Instant) -> bool {
        coarse(now).saturating_sub(self.ts_noted) >= coarse(Instant::ZERO + TIMESTAMP_LIFE)
    }

    /// Returns true if the timestamp is newer than TS.Recent.
    pub fn is_newer(&self, value: u32) -> bool {
        value.wrapping_sub(self.ts_recent) as i32 > 0
    }

    /// Stores TSval of an acceptable segment that starts at `start`, if its timestamp is to be echoed because no
    /// earlier segment is unacknowledged (RFC 7323 §4.3).
    pub fn note_timestamp(&mut self, now: Instant, start: u64, value: u32) {
        if start <= self.last_ack && !self.is_old(now, value) {
            self.set_ts_recent(now, value);
        }
    }

    /// Receives `len` bytes of data starting at `start`, and possibly the FIN. Data outside the window is cut off.
    /// Returns the number of duplicate bytes.
    pub fn receive(&mut self, now: Instant, start: u64, len: u64, flags: Flags) -> u64 {
        if flags.has(Flags::MORE) || self.gathers {
            return self.gather(now, start, len, flags);
        }
        self.take(now, start, len, flags)
    }

    /// Receives a segment of a burst of several segments, which is acknowledged with its last segment. If that one does
    /// not arrive, the burst is acknowledged after the delay of a delayed ACK.
    #[cold]
    fn gather(&mut self, now: Instant, start: u64, len: u64, flags: Flags) -> u64 {
        if std::mem::take(&mut self.bounds_burst) {
            self.deadline = Instant::MAX;
        }
        self.gathers = flags.has(Flags::MORE);
        let duplicate = self.take(now, start, len, flags);
        if self.gathers && self.deadline == Instant::MAX {
            self.wait_until(now + self.timeout.min(MAX_BURST_WAIT));
            self.bounds_burst = true;
        }
        duplicate
    }

    #[inline(always)]
    fn take(&mut self, now: Instant, start: u64, len: u64, flags: Flags) -> u64 {
        let end = start + len;
        let fin = flags.has(Flags::FIN);
        if fin && self.fin_at == NO_FIN && end < self.edge.max(self.nxt + 1) {
            self.fin_at = end;
            if let Some(holes) = &mut self.holes {
                // A peer that sent data beyond its FIN contradicts itself: the FIN counts (as in Linux).
                holes.forget_above(self.nxt, end);
            }
        }
        let range = Range { start: start.max(self.nxt), end: end.min(self.edge).min(self.fin_at) };
        let old = end.min(self.nxt).saturating_sub(start);
        let fresh = range.start < range.end;
        if start == self.nxt && !self.has_holes() && (fresh || self.fin_at == self.nxt) {
            self.nxt = range.end.max(self.nxt);
            let fin = self.consume_fin();
            self.count_arrival(now, len, flags, fin);
            return 0;
        }
        let behind = u64::from(fin && len > 0);
        self.note_duplicate(Range { start, end: (end + behind).min(self.nxt) });
        if !fresh {
            self.hurry(MAX_QUICK);
            self.acknowledge_soon(now);
            self.consume_fin();
            return old;
        }
        let (known, first) = self.holes.get_or_insert_default().insert(self.nxt, range);
        if old == 0 {
            self.note_duplicate(first);
        }
        if range.start == self.nxt {
            self.grow_limit(len);
        } else if self.reports {
            self.grow_beyond_hole(len);
        }
        // RFC 5681 §4.2: immediately for data that is out of order, fills a hole or is a duplicate.
        if range.start == self.nxt {
            self.advance();
            self.acknowledge_soon(now);
        } else if known > 0 || !self.gathers && !self.compresses(now) {
            self.acknowledge_soon(now);
        }
        old + known
    }

    /// Returns true if only a part of a burst has arrived.
    pub(crate) fn gathers(&self) -> bool {
        self.gathers
    }

    /// Returns true if header prediction covers `len` bytes at the next expected offset with this timestamp: nothing is
    /// missing, the data is inside the window, the timestamp is not old, and the buffer is not to be tuned now.
    #[inline(always)]
    pub(crate) fn predicts(&self, now: Instant, len: u64, timestamp: u32) -> bool {
        let fits = len > 0 && self.nxt + len <= self.edge && self.fin_at == NO_FIN && !self.has_holes();
        let recent = timestamp.wrapping_sub(self.ts_recent) as i32 >= 0;
        fits && recent && now < self.tune_at()
    }

    /// Receives predicted data, with the same result as [`Self::receive`].
    #[inline(always)]
    pub(crate) fn receive_predicted(&mut self, now: Instant, len: u64, flags: Flags) {
        self.nxt += len;
        self.count_arrival(now, len, flags, false);
    }

    /// Counts the arrival of in-order data, a FIN, or both, and schedules its ACK.
    #[inline(always)]
    fn count_arrival(&mut self, now: Instant, len: u64, flags: Flags, fin: bool) {
        if self.adaptive.is_some() {
            self.count_adaptive(now, len, flags);
        } else {
            self.grow_limit(len);
            self.count(now, fin);
        }
    }

    /// Schedules a separate ACK for a low-priority segment.
    #[cold]
    pub fn owe_copy(&mut self) {
        self.copies = self.copies.saturating_add(1);
    }

    /// Returns true if the ACK of a low-priority segment is due.
    #[inline]
    pub fn owes_copies(&self) -> bool {
        self.copies > 0
    }

    /// Records that the ACK of a low-priority segment is sent.
    pub fn take_copy(&mut self) {
        self.copies -= 1;
    }

    /// Receives a copy of data that was sent to probe the path. Data that had already arrived is not reported as a
    /// duplicate.
    #[cold]
    pub fn receive_copy(&mut self, now: Instant, start: u64, len: u64) {
        let end = start + len;
        let known = |range: Range| range.start <= start.max(self.nxt) && end <= range.end;
        if end <= self.nxt || self.holes.as_ref().is_some_and(|holes| holes.ranges.iter(self.nxt).any(known)) {
            return;
        }
        let reported = self.holes.as_ref().map_or(Span::default(), |holes| holes.duplicate);
        self.receive(now, start, len, Flags::ACK);
        if let Some(holes) = &mut self.holes {
            holes.duplicate = reported;
        }
    }

    /// Makes duplicate data the first block of the next SACK option. If a segment contains several duplicate parts, the
    /// first one is reported; each duplicate is reported once (RFC 2883 §4).
    pub fn note_duplicate(&mut self, range: Range) {
        if self.dsack && range.start < range.end {
            self.holes.get_or_insert_default().duplicate = range.into();
        }
    }

    /// Records that the SYN arrived again, whose sequence number precedes the first byte.
    #[cold]
    pub fn note_duplicate_syn(&mut self) {
        if self.dsack {
            self.holes.get_or_insert_default().duplicate = Range { start: u64::MAX, end: 0 }.into();
        }
    }

    /// Advances the next expected offset to the first hole.
    fn advance(&mut self) {
        if let Some(holes) = &mut self.holes
            && let Some(range) = holes.ranges.first(self.nxt)
            && range.start <= self.nxt
        {
            self.nxt = range.end;
            holes.bytes -= (range.end - range.start) as u32;
            holes.ranges.pop_first();
            holes.forget_below(self.nxt);
        }
        self.consume_fin();
    }

    fn consume_fin(&mut self) -> bool {
        let fin = self.nxt == self.fin_at;
        self.nxt += u64::from(fin);
        if fin && let Some(holes) = &mut self.holes {
            // Nothing can be missing or repeated after the end (`tcp_fin` of Linux).
            holes.duplicate = Span::default();
        }
        self.ack_now |= fin && self.fixed;
        fin
    }

    /// Delays the ACK until `deadline`.
    #[inline(always)]
    fn wait_until(&mut self, deadline: Instant) {
        (self.deadline, self.is_put_off) = (deadline, false);
    }

    /// Counts a segment, and schedules an ACK immediately for every [`Self::every`] segments, otherwise after the
    /// timeout (RFC 9293 §3.8.6.3).
    fn count(&mut self, now: Instant, at_once: bool) {
        self.pending = self.pending.saturating_add(1);
        if at_once || self.quick > 0 || self.pending >= self.every {
            self.quick = self.quick.saturating_sub(1);
            self.ack_now = true;
        } else if self.deadline == Instant::MAX {
            self.wait_until(now + self.timeout);
        }
    }

    /// Schedules an ACK: now, or if ACKs have a fixed interval and the window is open, with the next ACK.
    #[inline]
    pub fn acknowledge_soon(&mut self, now: Instant) {
        if !self.fixed || self.edge <= self.nxt {
            self.ack_now = true;
        } else if self.deadline == Instant::MAX {
            self.wait_until(now + self.timeout);
        }
    }

    /// Schedules an ACK now.
    pub fn acknowledge_now(&mut self) {
        self.ack_now = true;
    }

    /// Returns true if an ACK is due now.
    pub fn ack_due(&self) -> bool {
        self.ack_now && !self.gathers
    }

    /// Returns the deadline of the delayed ACK; [`Instant::MAX`] if no ACK is delayed.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Handles the delayed-ACK timer.
    pub(crate) fn handle_timeout(&mut self, path: PathTimes) {
        if !std::mem::take(&mut self.bounds_burst) {
            self.missed(path);
        }
        self.gathers = false;
        self.ack_now = true;
        self.deadline = Instant::MAX;
    }

    /// Records that a segment with an ACK is sent: returns its window field, and clears the pending ACKs. The window of
    /// a SYN is never scaled (RFC 7323 §2.2).
    #[inline(always)]
    pub fn acknowledged(&mut self, syn: bool) -> u16 {
        match self.window {
            // Nothing arrived since the last one, which is typical for an end that only sends.
            Some(window) if !self.waits() => window,
            _ => self.offer(syn),
        }
    }

    /// Returns true if an ACK is due immediately or after a delay.
    fn waits(&self) -> bool {
        self.ack_now || self.deadline != Instant::MAX
    }

    /// Returns the window field for an ACK of all data received, and clears the pending ACKs.
    fn offer(&mut self, syn: bool) -> u16 {
        if self.adaptive.is_some() && self.waits() {
            self.waits_no_more();
        }
        self.ack_now = false;
        self.pending = 0;
        self.deadline = Instant::MAX;
        let window = self.advertise(if syn { 0 } else { self.scale.unwrap_or(0) });
        self.last_ack = self.nxt;
        self.window = Some(window).filter(|_| !syn && self.is_read_at_once());
        window
    }

    /// Returns the window field for an ACK of data up to `nxt`, which is below the data received. The right edge stays
    /// the same.
    pub fn window_from(&self, nxt: u64) -> u16 {
        ((self.edge - nxt) >> self.scale.unwrap_or(0)).min(65_535) as u16
    }

    /// Suspends acknowledgements: the next segments carry neither an ACK nor a valid window. Call it only while no ACK
    /// is due, or if a segment with an ACK will follow.
    pub(crate) fn hold(&mut self) -> HeldAck {
        let Self { ack_now, deadline, is_put_off, window, .. } = *self;
        (self.ack_now, self.deadline, self.window) = (false, Instant::MAX, Some(0));
        HeldAck { ack_now, deadline, is_put_off, window }
    }

    /// Resumes the suspended acknowledgements.
    pub(crate) fn release(&mut self, held: HeldAck) {
        let HeldAck { ack_now, deadline, is_put_off, window } = held;
        (self.ack_now, self.deadline, self.is_put_off, self.window) = (ack_now, deadline, is_put_off, window);
    }

    /// Writes the ranges of a SACK option: first the duplicate (RFC 2883 §4), then the blocks above the holes, newest
    /// first (RFC 2018 §4). Returns the number of ranges. The duplicate is reported only once.
    pub fn report(&mut self, ranges: &mut [Range; MAX_BLOCKS]) -> usize {
        let Some(holes) = &mut self.holes else { return 0 };
        let duplicates = usize::from(!holes.duplicate.is_empty());
        let len = holes.take_report(self.nxt, ranges);
        for range in &mut ranges[duplicates..len] {
            // The FIN after it also has a number.
            range.end += u64::from(range.end == self.fin_at);
        }
        len
    }
}
