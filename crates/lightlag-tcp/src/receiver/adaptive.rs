//! When Linux sends ACKs (`net/ipv4/tcp_input.c`, `tcp_output.c`, `tcp_timer.c`; described in our own words).
//!
//! - If more than one full segment is unacknowledged and the window did not shrink, an ACK is sent immediately. The
//!   size of a full segment is learnt from the arrivals.
//! - Quick ACKs acknowledge every segment immediately: the first 16 segments of a connection, and segments after
//!   duplicates, after a pause of the peer longer than a timeout, and whenever the advertised window grew. Slow start
//!   therefore gets about one ACK per segment.
//! - If the application has read everything and the last segment was marked PSH, an ACK is sent immediately.
//! - Otherwise an ACK is sent after the ACK timeout (ATO): 40 ms if segments arrive in quick succession, more if they
//!   arrive at a lower rate. The ATO doubles when it expires.
//! - An end that replies to data with data within the ATO is interactive ("pingpong"): its ACKs are delayed so that its
//!   data can carry them.
//!
//! After a loss, duplicate ACKs are compressed. Starting with the fourth, an ACK is sent only after 1 ms or 5 % of the
//! round trip, whichever is less, or after 44 segments.

use super::Receiver;
use crate::config::{DelayedAck, TimerGranularity};
use crate::segment::Flags;
use crate::timer;
use lightlag_core::{Duration, Instant};

/// Maximum number of consecutive quick ACKs (`TCP_MAX_QUICKACKS`).
pub(crate) const MAX_QUICK: u16 = 16;
/// Maximum delay of an ACK: the minimum retransmission timeout less a clock tick.
const LONGEST: Duration = Duration::from_millis(196);
/// Assumed size of a full segment before the first arrival (`tcp_initialize_rcv_mss`).
const FIRST_ESTIMATE: u16 = 536;
/// Number of duplicate ACKs sent without delay.
const UNCOMPRESSED: u8 = 3;
/// Maximum number of segments for which one compressed ACK is sent (`tcp_comp_sack_nr`).
const COMPRESSED: u8 = 44;
/// Maximum delay of a compressed ACK (`tcp_comp_sack_delay_ns`).
const COMPRESSION: Duration = Duration::from_millis(1);

/// Estimates of the peer's behaviour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adaptive {
    /// Time when data last arrived.
    last_data: Instant,
    /// The ACK timeout (ATO) before its bounds are applied; zero before the first data.
    ato: Duration,
    /// The delay of the next ACK: the ATO with its bounds applied.
    wait: Duration,
    /// Estimated size of the peer's full segments.
    pub(super) segment: u16,
    /// Maximum number of quick ACKs in a row.
    most_quick: u16,
    /// Whether this end replies to data with data ("pingpong"); no quick ACKs are then sent.
    pub(super) converses: bool,
    /// Whether an unacknowledged segment was marked PSH or was smaller than a full segment.
    pushed: bool,
    /// Whether another small segment arrived after such a segment.
    pushed_twice: bool,
}

impl Adaptive {
    pub(super) fn new(policy: &DelayedAck) -> Self {
        Self {
            last_data: Instant::ZERO,
            ato: Duration::ZERO,
            // An ACK of a FIN alone is not delayed.
            wait: Duration::ZERO,
            segment: FIRST_ESTIMATE,
            most_quick: policy.quick,
            converses: false,
            pushed: false,
            pushed_twice: false,
        }
    }

    /// Updates the estimated size of full segments, and notes whether the segment ended a burst
    /// (`tcp_measure_rcv_mss`).
    #[inline(always)]
    fn measure(&mut self, len: u64, push: bool, largest: u16) {
        if len >= u64::from(self.segment) {
            self.segment = len.min(u64::from(largest)) as u16;
            self.pushed |= push;
        } else {
            self.pushed_twice = self.pushed;
            self.pushed = true;
        }
    }

    fn set_ato(&mut self, ato: Duration, srtt: Duration, floor: Duration) {
        self.ato = ato;
        let most = if srtt.is_zero() { LONGEST } else { srtt.max(floor) };
        self.wait = if ato > floor { ato.min(most).min(LONGEST) } else { ato };
    }
}

/// Measurements of the path from the sending half.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathTimes {
    /// SRTT; zero without a sample.
    pub(crate) srtt: Duration,
    /// Retransmission timeout.
    pub(crate) rto: Duration,
}

impl Receiver {
    /// Returns true if the time since the last data changes the delay of ACKs. Call [`Self::adapt`] in this case.
    #[inline(always)]
    pub(crate) fn adapts(&self, now: Instant) -> bool {
        self.adaptive
            .is_some_and(|adaptive| adaptive.ato != self.timeout || now.since(adaptive.last_data) > self.timeout / 2)
    }

    /// Adapts the delay of ACKs to the time since the last data (`tcp_event_data_recv`).
    #[cold]
    pub(crate) fn adapt(&mut self, now: Instant, path: PathTimes) {
        let min_timeout = self.timeout;
        let Some(adaptive) = &mut self.adaptive else { return };
        if adaptive.ato.is_zero() {
            // The window was advertised for segments of this size.
            adaptive.ato = min_timeout;
            adaptive.wait = min_timeout;
            self.quick_due = true;
            return;
        }
        let pause = now.since(adaptive.last_data);
        let half = adaptive.ato / 2;
        if pause <= min_timeout / 2 {
            adaptive.set_ato(half + min_timeout / 2, path.srtt, min_timeout);
        } else if pause < adaptive.ato {
            adaptive.set_ato((half + pause).min(path.rto), path.srtt, min_timeout);
        } else if pause > path.rto {
            // The sender will start slowly.
            self.quick_due = true;
        }
    }

    /// Counts in-order data, a FIN, or both, and schedules its ACK (`__tcp_ack_snd_check`).
    #[inline(always)]
    pub(super) fn count_adaptive(&mut self, now: Instant, len: u64, flags: Flags) {
        let mss = self.mss;
        let Some(adaptive) = &mut self.adaptive else { return };
        if len > 0 {
            adaptive.last_data = now;
            adaptive.measure(len, flags.has(Flags::PSH), mss);
            if self.quick_due {
                self.quick_due = false;
                self.enter_quick(MAX_QUICK);
            }
            self.grow_limit(len);
        }
        if self.fin_consumed() {
            self.converse();
        }
        let enough = self.nxt - self.last_ack > self.at_once();
        if enough && self.is_half_full() {
            self.quick = 0;
        }
        let more = enough && !self.window_shrank();
        if more || self.quick > 0 && !self.converses() || self.read_to_the_end() {
            self.ack_now = true;
        } else {
            self.delay(now);
        }
    }

    /// Returns a threshold in bytes: if more data than this is unacknowledged, it is acknowledged immediately.
    #[inline(always)]
    pub(super) fn at_once(&self) -> u64 {
        self.adaptive.as_ref().map_or(u64::MAX, |adaptive| u64::from(self.every - 1) * u64::from(adaptive.segment))
    }

    #[inline(always)]
    fn converses(&self) -> bool {
        self.adaptive.is_some_and(|adaptive| adaptive.converses)
    }

    /// Returns true if the application has read everything, and data marked PSH is unacknowledged
    /// (`__tcp_cleanup_rbuf`).
    #[inline(always)]
    pub(super) fn read_to_the_end(&self) -> bool {
        self.adaptive.is_some_and(|adaptive| adaptive.pushed_twice || adaptive.pushed && !adaptive.converses)
            && self.unread() == 0
    }

    /// Delays ACKs so that data of the application, or the FIN of an application that will close, can carry them
    /// (`tcp_fin`).
    #[cold]
    pub(super) fn converse(&mut self) {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.converses = true;
        }
    }

    /// Updates the state when a pending ACK is sent (`tcp_dec_quickack_mode`).
    #[inline(always)]
    pub(super) fn waits_no_more(&mut self) {
        let min_timeout = self.timeout;
        let Some(adaptive) = &mut self.adaptive else { return };
        adaptive.pushed = false;
        adaptive.pushed_twice = false;
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                (adaptive.ato, adaptive.wait) = (min_timeout, min_timeout);
            }
        }
    }

    /// Receives the data of a SYN or SYN-ACK. The handshake acknowledges this data, and the estimates ignore it
    /// (`tcp_fastopen_add_skb`).
    #[cold]
    pub(crate) fn receive_early(&mut self, now: Instant, len: u64, flags: Flags) {
        let (adaptive, quick) = (self.adaptive, self.quick);
        self.receive(now, 0, len, flags);
        if adaptive.is_some() {
            (self.adaptive, self.quick) = (adaptive, quick);
            (self.ack_now, self.deadline) = (false, Instant::MAX);
        }
    }

    /// Delays the ACK of the SYN-ACK until the application, which is about to write data, has done so
    /// (`tcp_rcv_synsent_state_process`).
    #[cold]
    pub(crate) fn await_data(&mut self, now: Instant) {
        self.hurry(MAX_QUICK);
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.last_data = now;
        }
        self.wait_until(now + LONGEST);
    }

    /// Starts quick ACKs: one for each segment in half of the window, up to `limit` (`tcp_incr_quickack`).
    fn enter_quick(&mut self, limit: u16) {
        let Some(adaptive) = &self.adaptive else { return };
        let window = self.edge.saturating_sub(self.last_ack);
        let quick = (window / (2 * u64::from(adaptive.segment))).min(u64::from(limit.min(adaptive.most_quick))) as u16;
        self.quick = self.quick.max(if quick == 0 { adaptive.most_quick.min(2) } else { quick });
    }

    /// Starts quick ACKs after duplicates or marks, which the peer must learn of quickly (`tcp_enter_quickack_mode`).
    pub(crate) fn hurry(&mut self, max: u16) {
        self.enter_quick(max);
        let min_timeout = self.timeout;
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.converses = false;
            adaptive.ato = min_timeout;
            adaptive.wait = min_timeout;
        }
    }

    /// Delays the ACK, but not beyond the deadline of an ACK that is already delayed (`tcp_send_delayed_ack`).
    fn delay(&mut self, now: Instant) {
        let Some(adaptive) = &self.adaptive else { return };
        if self.deadline == Instant::MAX {
            self.wait_until(now + adaptive.wait);
        } else if self.deadline <= now + adaptive.wait / 4 {
            self.ack_now = true;
        } else if self.deadline > now + adaptive.wait {
            self.wait_until(now + adaptive.wait);
        }
    }

    /// Records that data was sent. If data arrived shortly before, it counts as a reply (`tcp_event_data_sent`).
    #[inline(always)]
    pub(crate) fn data_left(&mut self, now: Instant) {
        if let Some(adaptive) = &mut self.adaptive
            && now < adaptive.last_data + adaptive.ato
        {
            adaptive.converses = true;
        }
    }

    /// Called when the exact time of the timer has come. Returns true if the timer fires only at a later tick of the
    /// clock. The timer of compressed ACKs is exact.
    pub(crate) fn timer_waits(&mut self, now: Instant, granularity: TimerGranularity) -> bool {
        if granularity != TimerGranularity::Linux || self.has_holes() || self.is_put_off {
            return false;
        }
        let wait = self.adaptive.map_or(self.timeout, |adaptive| adaptive.wait);
        // An end without delayed ACKs: a compressed one, whose hole was filled while it waited for tokens, is due.
        if wait == Duration::MAX {
            return false;
        }
        (self.deadline, self.is_put_off) = (timer::after(self.deadline, wait), true);
        self.deadline > now
    }

    /// Handles the expiry of a delayed ACK that no data carried in time (`tcp_delack_timer_handler`).
    pub(super) fn missed(&mut self, path: PathTimes) {
        let holes = self.has_holes();
        let min_timeout = self.timeout;
        let Some(adaptive) = &mut self.adaptive else { return };
        if holes {
            // A compressed ACK.
        } else if adaptive.converses {
            adaptive.converses = false;
            adaptive.set_ato(min_timeout, path.srtt, min_timeout);
        } else {
            adaptive.set_ato((adaptive.ato * 2).min(path.rto), path.srtt, min_timeout);
        }
    }

    /// Starts compressing duplicate ACKs, for a path with the round-trip time `srtt`. SACK must be negotiated.
    pub(crate) fn compress(&mut self, srtt: Duration) {
        if self.fixed {
            // All ACKs wait for the interval.
            return;
        }
        let share = if srtt.is_zero() { COMPRESSION } else { srtt / 20 };
        self.compression = share.min(COMPRESSION).as_nanos() as u32;
    }

    /// Returns true if the ACK of data above a hole is delayed, so that one ACK can replace several.
    pub(super) fn compresses(&mut self, now: Instant) -> bool {
        if self.compression == 0 || self.quick > 0 && !self.converses() {
            return false;
        }
        let Some(holes) = &mut self.holes else { return false };
        if holes.duplicates_of != self.nxt {
            holes.duplicates_of = self.nxt;
            holes.duplicates = 0;
        }
        if holes.duplicates < UNCOMPRESSED {
            holes.duplicates += 1;
            return false;
        }
        if self.deadline == Instant::MAX {
            holes.compressed = 0;
            (self.deadline, self.is_put_off) = (now + Duration::from_nanos(self.compression.into()), false);
        }
        holes.compressed += 1;
        // More blocks than one or two ACKs repeat must not be lost by compression.
        holes.compressed <= COMPRESSED && holes.reported() <= 2
    }
}
