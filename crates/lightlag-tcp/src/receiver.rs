//! The receiving half: reassembly, acknowledgements, reports, and the advertised window.
//!
//! If the application reads at once, only data above a hole occupies the buffer. Offsets are of payload; a FIN takes
//! the offset after the last byte.

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

/// Ranges that a SACK option can report beside nothing else (RFC 2018 §3).
pub const MAX_BLOCKS: usize = 4;

const NO_FIN: u64 = u64::MAX;

/// The life of TS.Recent in an idle connection: a clock with ticks of 1 ms changes its sign after 24.8 days (RFC 7323
/// §5.5; TCP_PAWS_24DAYS of Linux).
const TIMESTAMP_LIFE: Duration = Duration::from_secs(24 * 24 * 3_600);

/// In units of 2³² ns.
fn coarse(now: Instant) -> u32 {
    (now.as_nanos() >> 32) as u32
}

/// The pending ACK while none may leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    ack_now: bool,
    deadline: Instant,
    is_put_off: bool,
    window: Option<u16>,
}

/// The receiving half of a connection.
#[derive(Debug)]
#[repr(C)]
pub struct Receiver {
    /// Next offset expected; past the FIN once that is consumed.
    nxt: u64,
    /// The advertised right edge.
    edge: u64,
    /// The last offset acknowledged (Last.ACK.sent).
    last_ack: u64,
    deadline: Instant,
    buffer: u64,
    fin_at: u64,
    /// TS.Recent (RFC 7323 §4.3).
    ts_recent: u32,
    /// Time at which it was noted, in units of 2³² ns (4.3 s).
    ts_noted: u32,
    holes: Option<Box<Reassembly>>,
    /// `None` for a buffer of fixed size whose contents are read at once.
    store: Option<Box<Store>>,
    /// The delay of an ACK; the shortest one by Linux's rules.
    timeout: Duration,
    /// Linux's rules; `None` if ACKs are counted.
    adaptive: Option<Adaptive>,
    /// The largest offered window, which grows with arrivals, as Linux's `rcv_ssthresh`. Larger than any window if only
    /// the buffer counts.
    limit: u32,
    /// The longest delay of a duplicate ACK, in nanoseconds; zero if none is delayed.
    compression: u32,
    /// Segments not acknowledged yet.
    pending: u16,
    /// Segments to be acknowledged together.
    every: u16,
    /// Segments still acknowledged at once.
    quick: u16,
    /// Bytes of a full segment.
    mss: u16,
    ack_now: bool,
    /// The next data causes quick ACKs.
    quick_due: bool,
    /// [`Self::deadline`] has come before, and was put off to a tick of the clock.
    is_put_off: bool,
    rule: WindowRule,
    /// Shift of advertised windows; `None` without window scaling.
    scale: Option<u8>,
    /// The window field sent last, while only an arrival can change it.
    window: Option<u16>,
    /// Whether duplicates are reported (RFC 2883).
    dsack: bool,
    /// Reordered data is reported to the peer: it opens the window, too.
    reports: bool,
    /// Segments of low priority that have not been acknowledged.
    copies: u8,
    /// An ACK leaves once in [`Self::timeout`], whatever arrives.
    fixed: bool,
}

impl Receiver {
    /// A receiver with this buffer, full segments of this many bytes, and this policy.
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

    /// The shift for a buffer of this size: the smallest that fits it into 16 bits (RFC 7323 §2.3). Linux uses the
    /// buffer's memory, twice the largest window (`tcp_select_initial_window`).
    pub fn scale_for(buffer: u64, rule: WindowRule) -> u8 {
        match rule {
            WindowRule::Stevens | WindowRule::Inet => (0..14).find(|shift| buffer >> shift <= 65_535).unwrap_or(14),
            WindowRule::Linux => (2 * buffer).max(1).ilog2().saturating_sub(15).min(14) as u8,
        }
    }

    /// Sends one ACK in this interval, started by the first arrival. ACKs leave at once only for a FIN, for a window
    /// that opens again and for a probe of a closed one (SCPS-TP).
    pub fn set_interval(&mut self, interval: Duration) {
        self.fixed = true;
        self.timeout = interval;
        self.every = u16::MAX;
        self.quick = 0;
        self.adaptive = None;
    }

    /// Starts window scaling, as agreed.
    pub fn set_scale(&mut self, scale: u8) {
        self.scale = Some(scale);
    }

    /// Reports duplicates from now on (RFC 2883); the peer agreed to SACK.
    pub fn report_duplicates(&mut self) {
        self.dsack = true;
    }

    /// Stops reports of reordered data. In Linux such data does not open the window then, so its ACKs are duplicates
    /// (`tcp_data_queue_ofo`).
    pub fn hide_disorder(&mut self) {
        self.reports = false;
    }

    /// Accepts data up to `end`, although it was not offered.
    #[cold]
    pub fn stretch(&mut self, end: u64) {
        self.edge = self.edge.max(end);
    }

    /// Shift of advertised windows, with window scaling.
    pub fn scale(&self) -> Option<u8> {
        self.scale
    }

    /// Acknowledges the next `segments` at once, and now all data that waits for the timer.
    pub fn set_quick(&mut self, segments: u16) {
        self.quick = segments;
        if segments == 0 {
            // ACKs wait for data from now on (`tcp_sock_set_quickack`).
            self.converse();
        }
        self.ack_now |= segments > 0 && self.deadline != Instant::MAX;
    }

    /// The connection is over.
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

    /// Whether more arrived in order than was acknowledged.
    #[inline]
    pub fn acknowledges_more(&self) -> bool {
        self.nxt > self.last_ack
    }

    /// Payload that was acknowledged, in bytes.
    pub fn confirmed(&self) -> u64 {
        self.last_ack.min(self.fin_at)
    }

    /// Whether the FIN and all data before it arrived.
    pub fn fin_consumed(&self) -> bool {
        self.nxt > self.fin_at
    }

    /// Whether the FIN arrived, in order or not.
    pub fn knows_end(&self) -> bool {
        self.fin_at != NO_FIN
    }

    /// Whether data waits above a hole.
    pub fn has_holes(&self) -> bool {
        self.holes.as_ref().is_some_and(|holes| !holes.ranges.is_empty())
    }

    /// The missing ranges below the highest data, in ascending order.
    pub(crate) fn holes(&self) -> impl Iterator<Item = Range> + '_ {
        let ranges = || self.holes.iter().flat_map(|holes| holes.ranges.iter(self.nxt));
        let starts = std::iter::once(self.nxt).chain(ranges().map(|range| range.end));
        starts.zip(ranges().map(|range| range.start)).map(|(start, end)| Range { start, end })
    }

    /// The offset after the highest data.
    pub(crate) fn highest(&self) -> u64 {
        self.holes.as_ref().and_then(|holes| holes.ranges.last(self.nxt)).map_or(self.nxt, |range| range.end)
    }

    /// Whether the next ACK has a report for a SACK option.
    pub fn has_report(&self) -> bool {
        self.holes.as_ref().is_some_and(|holes| !holes.ranges.is_empty() || !holes.duplicate.is_empty())
    }

    /// The right edge: data from here on is not accepted.
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// TS.Recent: the timestamp that the next segment echoes.
    pub fn ts_recent(&self) -> u32 {
        self.ts_recent
    }

    /// Takes TSval of the peer's SYN.
    pub fn set_ts_recent(&mut self, now: Instant, value: u32) {
        self.ts_recent = value;
        self.ts_noted = coarse(now);
    }

    /// Whether the timestamp is older than one seen (PAWS, RFC 7323 §5.3).
    pub fn is_old(&self, now: Instant, value: u32) -> bool {
        (value.wrapping_sub(self.ts_recent) as i32) < 0 && !self.is_outdated(now)
    }

    /// Whether TS.Recent is too old for the comparison: the peer's clock may have turned by half meanwhile (RFC 7323
    /// §5.5).
    #[cold]
    fn is_outdated(&self, now: Instant) -> bool {
        coarse(now).saturating_sub(self.ts_noted) >= coarse(Instant::ZERO + TIMESTAMP_LIFE)
    }

    /// Whether the timestamp is younger than all seen.
    pub fn is_newer(&self, value: u32) -> bool {
        value.wrapping_sub(self.ts_recent) as i32 > 0
    }

    /// Notes TSval of an acceptable segment that starts at `start`, if it is the one to echo: the earliest
    /// unacknowledged one (RFC 7323 §4.3).
    pub fn note_timestamp(&mut self, now: Instant, start: u64, value: u32) {
        if start <= self.last_ack && !self.is_old(now, value) {
            self.set_ts_recent(now, value);
        }
    }

    /// Takes in `len` bytes of data from `start` on, and perhaps the FIN. Data outside the window is cut off. Returns
    /// the number of bytes that were present before.
    pub fn receive(&mut self, now: Instant, start: u64, len: u64, flags: Flags) -> u64 {
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
        // RFC 5681 §4.2: at once for data that is out of order, fills a hole or is a duplicate.
        if range.start == self.nxt {
            self.advance();
            self.acknowledge_soon(now);
        } else if known > 0 || !self.compresses(now) {
            self.acknowledge_soon(now);
        }
        old + known
    }

    /// Whether data of this length with this timestamp, at the next offset, is predicted: in order and in time, into a
    /// window with room for it.
    #[inline(always)]
    pub(crate) fn predicts(&self, now: Instant, len: u64, timestamp: u32) -> bool {
        let fits = len > 0 && self.nxt + len <= self.edge && self.fin_at == NO_FIN && !self.has_holes();
        let recent = timestamp.wrapping_sub(self.ts_recent) as i32 >= 0;
        fits && recent && now < self.tune_at()
    }

    /// As [`Self::receive`], for predicted data.
    #[inline(always)]
    pub(crate) fn receive_predicted(&mut self, now: Instant, len: u64, flags: Flags) {
        self.nxt += len;
        self.count_arrival(now, len, flags, false);
    }

    /// Data in order arrived, or the FIN, or both.
    #[inline(always)]
    fn count_arrival(&mut self, now: Instant, len: u64, flags: Flags, fin: bool) {
        if self.adaptive.is_some() {
            self.count_adaptive(now, len, flags);
        } else {
            self.grow_limit(len);
            self.count(now, fin);
        }
    }

    /// An ACK of its own is due for a segment of low priority.
    #[cold]
    pub fn owe_copy(&mut self) {
        self.copies = self.copies.saturating_add(1);
    }

    /// Whether such an ACK is due.
    #[inline]
    pub fn owes_copies(&self) -> bool {
        self.copies > 0
    }

    /// Notes that such an ACK leaves.
    pub fn take_copy(&mut self) {
        self.copies -= 1;
    }

    /// Takes in data sent again to probe the path. Data that was present before is not reported.
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

    /// Makes repeated data the first block of the next SACK option. RFC 2883 §4: of several parts of one segment the
    /// first counts, and each is reported once.
    pub fn note_duplicate(&mut self, range: Range) {
        if self.dsack && range.start < range.end {
            self.holes.get_or_insert_default().duplicate = range.into();
        }
    }

    /// Notes that the number of the SYN, before that of the first byte, arrived again.
    #[cold]
    pub fn note_duplicate_syn(&mut self) {
        if self.dsack {
            self.holes.get_or_insert_default().duplicate = Range { start: u64::MAX, end: 0 }.into();
        }
    }

    /// Advances to the first hole.
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

    /// Lets an ACK wait until then at the latest.
    #[inline(always)]
    fn wait_until(&mut self, deadline: Instant) {
        (self.deadline, self.is_put_off) = (deadline, false);
    }

    /// RFC 9293 §3.8.6.3: an ACK for at least every second segment, and at the latest after the timeout.
    fn count(&mut self, now: Instant, at_once: bool) {
        self.pending = self.pending.saturating_add(1);
        if at_once || self.quick > 0 || self.pending >= self.every {
            self.quick = self.quick.saturating_sub(1);
            self.ack_now = true;
        } else if self.deadline == Instant::MAX {
            self.wait_until(now + self.timeout);
        }
    }

    /// An ACK must leave: now, or with the next one if ACKs have a fixed frequency and the window is open.
    #[inline]
    pub fn acknowledge_soon(&mut self, now: Instant) {
        if !self.fixed || self.edge <= self.nxt {
            self.ack_now = true;
        } else if self.deadline == Instant::MAX {
            self.wait_until(now + self.timeout);
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

    /// Time at which the delayed ACK must leave; [`Instant::MAX`] if none waits.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The delayed-ACK timer fired.
    pub(crate) fn handle_timeout(&mut self, path: PathTimes) {
        self.missed(path);
        self.ack_now = true;
        self.deadline = Instant::MAX;
    }

    /// A segment with an ACK leaves: returns its window field, and clears pending ACKs. The window of a SYN is never
    /// scaled (RFC 7323 §2.2).
    #[inline(always)]
    pub fn acknowledged(&mut self, syn: bool) -> u16 {
        match self.window {
            // Nothing arrived since the last one, as is usual for an end that only sends.
            Some(window) if !self.waits() => window,
            _ => self.offer(syn),
        }
    }

    /// Whether an ACK is due, now or later.
    fn waits(&self) -> bool {
        self.ack_now || self.deadline != Instant::MAX
    }

    /// The current window, with an ACK of everything received.
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

    /// The window field of an ACK below the received data, up to the right edge.
    pub fn window_from(&self, nxt: u64) -> u16 {
        ((self.edge - nxt) >> self.scale.unwrap_or(0)).min(65_535) as u16
    }

    /// Holds back acknowledgements: segments from now on carry none, and no valid window. Only while no ACK is due, or
    /// for a segment that will not be the last.
    pub(crate) fn hold(&mut self) -> Held {
        let Self { ack_now, deadline, is_put_off, window, .. } = *self;
        (self.ack_now, self.deadline, self.window) = (false, Instant::MAX, Some(0));
        Held { ack_now, deadline, is_put_off, window }
    }

    /// Restores the pending ACKs.
    pub(crate) fn release(&mut self, held: Held) {
        let Held { ack_now, deadline, is_put_off, window } = held;
        (self.ack_now, self.deadline, self.is_put_off, self.window) = (ack_now, deadline, is_put_off, window);
    }

    /// The ranges of a SACK option: the duplicate (RFC 2883 §4), then the blocks above the holes, the newest first (RFC
    /// 2018 §4). The duplicate is reported only once, by this call. Returns the number of ranges.
    pub fn report(&mut self, ranges: &mut [Range; MAX_BLOCKS]) -> usize {
        let Some(holes) = &mut self.holes else { return 0 };
        let duplicates = usize::from(!holes.duplicate.is_empty());
        let len = holes.take_report(self.nxt, ranges);
        for range in &mut ranges[duplicates..len] {
            // The FIN after it has a number, too.
            range.end += u64::from(range.end == self.fin_at);
        }
        len
    }
}
