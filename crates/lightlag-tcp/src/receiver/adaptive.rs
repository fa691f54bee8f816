//! The times of ACKs in Linux (`net/ipv4/tcp_input.c`, `tcp_output.c`, `tcp_timer.c`; described in our own words).
//!
//! - More than one full segment waits: at once, if the window did not get narrower. The size of a full segment is
//!   learnt.
//! - A quick ACK for every segment: for the first 16 of a connection, after duplicates, after a pause of the peer
//!   longer than a timeout, and whenever the offered window grew. Slow start therefore sees about one ACK per segment.
//! - The application has read everything and the last segment was marked PSH: at once.
//! - Otherwise after the ATO: 40 ms if segments follow each other, more if they come at a slower pace. It doubles when
//!   it expires.
//! - An end that answers data within the ATO converses ("pingpong"): its ACKs wait for its data.
//!
//! After a loss, duplicate ACKs are compressed: from the fourth on one leaves per 1 ms or 5 % of the round trip,
//! whichever is less, or for 44 segments.

use super::Receiver;
use crate::config::{DelayedAck, TimerGranularity};
use crate::segment::Flags;
use crate::timer;
use lightlag_core::{Duration, Instant};

/// The most quick ACKs (`TCP_MAX_QUICKACKS`).
pub(crate) const MAX_QUICK: u16 = 16;
/// The longest delay of an ACK: the minimum timeout less a tick.
const LONGEST: Duration = Duration::from_millis(196);
/// The assumed size of a segment before the first arrival (`tcp_initialize_rcv_mss`).
const FIRST_ESTIMATE: u16 = 536;
/// Duplicate ACKs that leave at once.
const UNCOMPRESSED: u8 = 3;
/// The most segments per compressed ACK (`tcp_comp_sack_nr`).
const COMPRESSED: u8 = 44;
/// The longest delay of a compressed ACK (`tcp_comp_sack_delay_ns`).
const COMPRESSION: Duration = Duration::from_millis(1);

/// The receiver's knowledge of the peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adaptive {
    /// Time at which data last arrived.
    last_data: Instant,
    /// The delay of the next ACK, before its bounds (ATO); zero before the first data.
    ato: Duration,
    /// The delay with its bounds.
    wait: Duration,
    /// Size of the peer's full segments.
    pub(super) segment: u16,
    /// Quick ACKs at the start.
    most_quick: u16,
    /// Data is answered with data: no quick ACKs.
    pub(super) converses: bool,
    /// A segment marked PSH waits to be acknowledged.
    pushed: bool,
    /// A small segment waits, too, after another marked one.
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

    /// Updates the peer's segment size, and whether the segment ended a burst of the peer (`tcp_measure_rcv_mss`).
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

    fn set_ato(&mut self, ato: Duration, srtt: Duration, least: Duration) {
        self.ato = ato;
        let most = if srtt.is_zero() { LONGEST } else { srtt.max(least) };
        self.wait = if ato > least { ato.min(most).min(LONGEST) } else { ato };
    }
}

/// The path as the sending half sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathTimes {
    /// SRTT; zero without a sample.
    pub(crate) srtt: Duration,
    /// The retransmission timeout.
    pub(crate) rto: Duration,
}

impl Receiver {
    /// Whether this much time since the last data changes the delay of ACKs; [`Self::adapt`] then applies it.
    #[inline(always)]
    pub(crate) fn adapts(&self, now: Instant) -> bool {
        self.adaptive
            .is_some_and(|adaptive| adaptive.ato != self.timeout || now.since(adaptive.last_data) > self.timeout / 2)
    }

    /// Adapts to data that arrives after a pause (`tcp_event_data_recv`).
    #[cold]
    pub(crate) fn adapt(&mut self, now: Instant, path: PathTimes) {
        let least = self.timeout;
        let Some(adaptive) = &mut self.adaptive else { return };
        if adaptive.ato.is_zero() {
            // The window was offered for segments of this size.
            adaptive.ato = least;
            adaptive.wait = least;
            self.quick_due = true;
            return;
        }
        let pause = now.since(adaptive.last_data);
        let half = adaptive.ato / 2;
        if pause <= least / 2 {
            adaptive.set_ato(half + least / 2, path.srtt, least);
        } else if pause < adaptive.ato {
            adaptive.set_ato((half + pause).min(path.rto), path.srtt, least);
        } else if pause > path.rto {
            // The sender will start slowly.
            self.quick_due = true;
        }
    }

    /// Counts data in order, the FIN, or both (`__tcp_ack_snd_check`).
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

    /// More than this many bytes are acknowledged at once.
    #[inline(always)]
    pub(super) fn at_once(&self) -> u64 {
        self.adaptive.as_ref().map_or(u64::MAX, |adaptive| u64::from(self.every - 1) * u64::from(adaptive.segment))
    }

    #[inline(always)]
    fn converses(&self) -> bool {
        self.adaptive.is_some_and(|adaptive| adaptive.converses)
    }

    /// Whether the application has read all, and a marked segment waits for its ACK (`__tcp_cleanup_rbuf`).
    #[inline(always)]
    pub(super) fn read_to_the_end(&self) -> bool {
        self.adaptive.is_some_and(|adaptive| adaptive.pushed_twice || adaptive.pushed && !adaptive.converses)
            && self.unread() == 0
    }

    /// Lets ACKs wait for data of the application, or for the FIN of one that will close (`tcp_fin`).
    #[cold]
    pub(super) fn converse(&mut self) {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.converses = true;
        }
    }

    /// Notes that a pending ACK leaves (`tcp_dec_quickack_mode`).
    #[inline(always)]
    pub(super) fn waits_no_more(&mut self) {
        let least = self.timeout;
        let Some(adaptive) = &mut self.adaptive else { return };
        adaptive.pushed = false;
        adaptive.pushed_twice = false;
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                (adaptive.ato, adaptive.wait) = (least, least);
            }
        }
    }

    /// Takes in data of a SYN or SYN-ACK, which the handshake acknowledges, and which does not enter the estimates
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

    /// Lets the ACK of the SYN-ACK wait for the data that the application is about to write
    /// (`tcp_rcv_synsent_state_process`).
    #[cold]
    pub(crate) fn await_data(&mut self, now: Instant) {
        self.hurry(MAX_QUICK);
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.last_data = now;
        }
        self.wait_until(now + LONGEST);
    }

    /// Sends as many quick ACKs as half a window has segments, at most `most` (`tcp_incr_quickack`).
    fn enter_quick(&mut self, most: u16) {
        let Some(adaptive) = &self.adaptive else { return };
        let window = self.edge.saturating_sub(self.last_ack);
        let quick = (window / (2 * u64::from(adaptive.segment))).min(u64::from(most.min(adaptive.most_quick))) as u16;
        self.quick = self.quick.max(if quick == 0 { adaptive.most_quick.min(2) } else { quick });
    }

    /// Sends quick ACKs after duplicates or marks, which the peer must learn of quickly (`tcp_enter_quickack_mode`).
    pub(crate) fn hurry(&mut self, most: u16) {
        self.enter_quick(most);
        let least = self.timeout;
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.converses = false;
            adaptive.ato = least;
            adaptive.wait = least;
        }
    }

    /// Delays the ACK, but not longer than one that waits already (`tcp_send_delayed_ack`).
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

    /// Notes that data left. Soon after an arrival it is an answer (`tcp_event_data_sent`).
    #[inline(always)]
    pub(crate) fn data_left(&mut self, now: Instant) {
        if let Some(adaptive) = &mut self.adaptive
            && now < adaptive.last_data + adaptive.ato
        {
            adaptive.converses = true;
        }
    }

    /// Whether the timer, whose time has come, fires only with a later tick. The timer of compressed ACKs is exact.
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

    /// The delayed ACK was not carried by data in time (`tcp_delack_timer_handler`).
    pub(super) fn missed(&mut self, path: PathTimes) {
        let holes = self.has_holes();
        let least = self.timeout;
        let Some(adaptive) = &mut self.adaptive else { return };
        if holes {
            // A compressed ACK.
        } else if adaptive.converses {
            adaptive.converses = false;
            adaptive.set_ato(least, path.srtt, least);
        } else {
            adaptive.set_ato((adaptive.ato * 2).min(path.rto), path.srtt, least);
        }
    }

    /// Compresses duplicate ACKs from now on, for a path with this round-trip time; the peer agreed to SACK.
    pub(crate) fn compress(&mut self, srtt: Duration) {
        if self.fixed {
            // All ACKs wait for the interval.
            return;
        }
        let share = if srtt.is_zero() { COMPRESSION } else { srtt / 20 };
        self.compression = share.min(COMPRESSION).as_nanos() as u32;
    }

    /// Whether the ACK of data above a hole waits for others.
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
        // There are more blocks than an ACK or two repeat, and compression must not lose any.
        holes.compressed <= COMPRESSED && holes.reported() <= 2
    }
}
