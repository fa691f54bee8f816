//! RACK (RFC 8985 §6): a segment is lost when one that left later was delivered and the reordering window has passed.
//! Lost retransmissions are found in the same way.

use super::{DUP_THRESHOLD, Finder, News, Recovery, Verdict};
use crate::scoreboard::{Delivery, Scoreboard};
use crate::timer::Step;
use lightlag_control::congestion::Phase;
use lightlag_core::{Duration, Instant};

/// Recoveries without a D-SACK after which the reordering window is small again (RFC 8985 §6.2 step 4).
const PERSISTENCE: u8 = 16;

/// The state of the newest delivered segment and of reordering.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Rack {
    /// Time at which a segment inside the reordering window counts as lost.
    pub(super) timer: Instant,
    /// Time at which it left, and the offset after it: RACK.xmit_ts and RACK.end_seq.
    newest: (Instant, u64),
    /// Its round trip: RACK.rtt. By offset: that of the segment delivered last in that order.
    rtt: Duration,
    /// The highest offset delivered: RACK.fack.
    highest: u64,
    /// The largest distance below the highest offset at which a segment sent once arrived; 0 if none did. The peer's
    /// window, of 30 bits, is larger.
    reordered: u32,
    /// Number of late arrivals of segments sent once.
    seen: u32,
    /// The end of the round in which a D-SACK was counted, 0 if none was: RACK.dsack_round.
    counted_until: u64,
    /// The step of the clock at which [`Self::timer`] really fires, once it has come.
    pub(super) step: Step,
    /// RACK.reo_wnd_mult.
    multiplier: u8,
    /// RACK.reo_wnd_persist.
    persistence: u8,
    by_offset: bool,
}

impl Rack {
    pub(super) fn new(by_offset: bool) -> Self {
        Self {
            newest: (Instant::ZERO, 0),
            rtt: Duration::ZERO,
            by_offset,
            highest: 0,
            reordered: 0,
            multiplier: 1,
            persistence: 0,
            counted_until: 0,
            seen: 0,
            timer: Instant::MAX,
            step: Step::default(),
        }
    }

    /// The time before which no segment that left can still be in flight, judged by the newest delivered one.
    pub(super) fn horizon(&self, now: Instant) -> Instant {
        Instant::ZERO + now.since(Instant::ZERO + self.rtt)
    }

    /// Steps 1 to 3.
    #[inline(always)]
    fn take(&mut self, now: Instant, delivery: &Delivery) {
        if delivery.newest > self.newest {
            self.newest = delivery.newest;
            self.rtt = now.since(delivery.newest.0);
        }
        if self.by_offset
            && let Some(sent) = delivery.last
        {
            self.rtt = now.since(sent);
        }
        let late = self.highest.saturating_sub(delivery.ends.0) as u32;
        self.reordered = self.reordered.max(late);
        self.seen += u32::from(late > 0);
        self.highest = self.highest.max(delivery.ends.1);
    }

    /// Steps 1 to 3, and the part of step 4 about D-SACK. In Linux (`kernel`) a D-SACK counts only once a segment was late
    /// (`tcp_dsack_seen`).
    pub(super) fn observe(&mut self, board: &Scoreboard, news: &News<'_>, kernel: bool) {
        self.take(news.now, news.delivery);
        if let (Some(twice), true) = (news.dsack, kernel) {
            // Both copies arrived (`tcp_sacktag_one`).
            if twice.end < self.highest && board.has_reported_repair(twice.start) {
                self.note_late(twice.end);
            }
        }
        self.adapt(board, news.dsack.is_some() && (!kernel || self.reordered > 0));
    }

    /// Notes that the segment that ends at `end` was late, although it was sent again.
    pub(super) fn note_late(&mut self, end: u64) {
        self.reordered = self.reordered.max(self.highest.saturating_sub(end).max(1) as u32);
        self.seen += 1;
    }

    /// Number of ACKs that showed a late segment.
    pub(super) fn seen(&self) -> u32 {
        self.seen
    }

    /// The distance of the highest data above a late segment, in bytes.
    pub(super) fn reordered(&self) -> u32 {
        self.reordered
    }

    /// Handles an ACK after which everything up to the newest delivered segment has arrived.
    #[inline]
    pub(super) fn follow(&mut self, now: Instant, delivery: &Delivery) {
        self.take(now, delivery);
        self.timer = Instant::MAX;
    }

    /// Step 4, the part about D-SACK: once a round trip.
    fn adapt(&mut self, board: &Scoreboard, dsack: bool) {
        if board.una() >= self.counted_until {
            self.counted_until = 0;
        }
        if dsack && self.counted_until == 0 {
            self.counted_until = board.nxt();
            self.multiplier = self.multiplier.saturating_add(1);
            self.persistence = PERSISTENCE;
        }
    }

    /// Step 4: an episode ended without a D-SACK.
    pub(super) fn end_episode(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.multiplier = 1;
        }
    }

    /// Step 4: RACK.reo_wnd.
    fn window(&self, phase: Phase, board: &Scoreboard, news: &News<'_>) -> Duration {
        if self.reordered == 0 && (phase != Phase::Open || board.sacked() >= DUP_THRESHOLD) {
            return Duration::ZERO;
        }
        (news.min_rtt / 4 * u64::from(self.multiplier)).min(news.srtt)
    }

    /// Step 5. Returns whether a retransmission was lost again.
    fn mark(&mut self, phase: Phase, board: &mut Scoreboard, news: &News<'_>) -> bool {
        self.timer = Instant::MAX;
        if !board.may_be_overdue() {
            return false;
        }
        let allowance = self.rtt + self.window(phase, board, news);
        let (timer, lost_again) = board.mark_overdue(news.now, self.newest, allowance);
        self.timer = timer;
        lost_again
    }
}

impl Recovery {
    /// Looks for losses in the present phase. Returns whether a retransmission was lost again.
    #[inline(always)]
    fn mark_overdue(&mut self, board: &mut Scoreboard, news: &News<'_>) -> bool {
        let phase = self.phase;
        let Finder::Time(rack) = &mut self.finder else { return false };
        rack.mark(phase, board, news)
    }
}

pub(super) fn on_ack(recovery: &mut Recovery, board: &mut Scoreboard, news: &News<'_>) -> Verdict {
    // In Linux the episode is over before RACK looks for losses, so that the reordering window applies to data that left
    // during it (`tcp_try_undo_recovery` before `tcp_identify_packet_loss`).
    let kernel = recovery.is_kernel();
    let ended_before = kernel && recovery.end_if_repaired(board);
    let lost_again = recovery.mark_overdue(board, news);
    let ended = if kernel { ended_before } else { recovery.end_if_repaired(board) };
    let verdict = if kernel && lost_again && recovery.phase == Phase::Loss {
        begin(recovery, board)
    } else {
        begin_if_lost(recovery, board, ended)
    };
    Verdict { ended, ..verdict }
}

/// The reordering timer fired (§6.3).
pub(super) fn on_timer(recovery: &mut Recovery, board: &mut Scoreboard, news: &News<'_>) -> Verdict {
    let lost_before = board.lost_bytes();
    recovery.mark_overdue(board, news);
    if recovery.is_kernel() && recovery.phase == Phase::Loss && board.lost_bytes() > lost_before {
        return begin(recovery, board);
    }
    begin_if_lost(recovery, board, false)
}

/// Starts an episode if there is a loss. If one has just `ended`, losses of data sent during it get a new reaction,
/// even if their repairs are already in flight: losses in two windows of data cost two reductions (RFC 5681 §4.3).
fn begin_if_lost(recovery: &mut Recovery, board: &mut Scoreboard, ended: bool) -> Verdict {
    let lost = board.next_lost().is_some() || ended && board.any_lost();
    if recovery.phase != Phase::Open || !lost {
        return Verdict::default();
    }
    begin(recovery, board)
}

/// Starts fast recovery. In Linux it also replaces a repair after a timeout in which a retransmission is lost again
/// (`tcp_fastretrans_alert`, `tcp_rack_reo_timeout`).
fn begin(recovery: &mut Recovery, board: &mut Scoreboard) -> Verdict {
    let resend_head = board.head_lost() && board.head().is_some_and(|head| !board.was_retransmitted(head));
    Verdict { began: Some(recovery.begin(board)), resend_head, ..Verdict::default() }
}
