//! RACK (RFC 8985 §6): a segment is lost when a segment sent later was delivered and the reordering window has passed.
//! Lost retransmissions are detected in the same way.

use super::{AckInfo, DUP_THRESHOLD, Finder, Recovery, Verdict};
use crate::scoreboard::{Delivery, Scoreboard};
use crate::timer::WheelStep;
use lightlag_control::congestion::Phase;
use lightlag_core::{Duration, Instant};

/// Number of recoveries without a D-SACK that reset the reordering window (RFC 8985 §6.2 step 4).
const PERSISTENCE: u8 = 16;

/// State of RACK: the most recently sent segment that was delivered, and the reordering seen.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Rack {
    /// Time when the next segment inside the reordering window counts as lost.
    pub(super) timer: Instant,
    /// Transmission time and end offset of the most recently sent segment that was delivered: RACK.xmit_ts and
    /// RACK.end_seq.
    newest: (Instant, u64),
    /// Round-trip time of that segment: RACK.rtt. With [`Self::by_offset`], it belongs to the delivered segment with
    /// the highest offset.
    rtt: Duration,
    /// Highest delivered offset: RACK.fack.
    highest: u64,
    /// Degree of reordering in bytes: the maximum distance to the highest delivered offset when a segment that was sent
    /// once arrived late; 0 if none did. 32 bits suffice, because the peer's window has at most 30 bits.
    reordered: u32,
    /// Number of ACKs that showed the late arrival of a segment sent once.
    seen: u32,
    /// End of the round trip in which a D-SACK was counted; 0 if none was: RACK.dsack_round.
    counted_until: u64,
    /// The step of Linux's timer wheel that [`Self::timer`] was last moved to.
    pub(super) step: WheelStep,
    /// Multiplier of the reordering window: RACK.reo_wnd_mult.
    multiplier: u8,
    /// Number of recoveries until the multiplier is reset: RACK.reo_wnd_persist.
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
            step: WheelStep::default(),
        }
    }

    /// Returns the time one RACK round trip ago. A segment sent at this time or before can no longer be in transit.
    pub(super) fn horizon(&self, now: Instant) -> Instant {
        Instant::ZERO + now.since(Instant::ZERO + self.rtt)
    }

    /// Performs steps 1 to 3 of RFC 8985 §6.2.
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

    /// Performs steps 1 to 3 of RFC 8985 §6.2, and the part of step 4 that concerns D-SACK. In Linux (`kernel`), a
    /// D-SACK counts only after a segment was late (`tcp_dsack_seen`).
    pub(super) fn observe(&mut self, board: &Scoreboard, news: &AckInfo<'_>, kernel: bool) {
        self.take(news.now, news.delivery);
        if let (Some(twice), true) = (news.dsack, kernel) {
            // Both copies arrived (`tcp_sacktag_one`).
            if twice.end < self.highest && board.has_reported_repair(twice.start) {
                self.note_late(twice.end);
            }
        }
        self.adapt(board, news.dsack.is_some() && (!kernel || self.reordered > 0));
    }

    /// Records that the original of a retransmitted segment, which ends at `end`, arrived late.
    pub(super) fn note_late(&mut self, end: u64) {
        self.reordered = self.reordered.max(self.highest.saturating_sub(end).max(1) as u32);
        self.seen += 1;
    }

    /// Returns the number of ACKs that showed a late segment.
    pub(super) fn seen(&self) -> u32 {
        self.seen
    }

    /// Returns the degree of reordering in bytes: the maximum distance of a late segment to the highest delivered
    /// offset.
    pub(super) fn reordered(&self) -> u32 {
        self.reordered
    }

    /// Handles an ACK that leaves no gap: no segment sent before the most recently sent delivered one is missing.
    #[inline]
    pub(super) fn follow(&mut self, now: Instant, delivery: &Delivery) {
        self.take(now, delivery);
        self.timer = Instant::MAX;
    }

    /// Performs the part of step 4 that concerns D-SACK, at most once per round trip: increases the multiplier.
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

    /// Performs the part of step 4 at the end of an episode: after enough episodes without a D-SACK, resets the
    /// multiplier.
    pub(super) fn end_episode(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.multiplier = 1;
        }
    }

    /// Returns the reordering window (step 4): RACK.reo_wnd.
    fn window(&self, phase: Phase, board: &Scoreboard, news: &AckInfo<'_>) -> Duration {
        if self.reordered == 0 && (phase != Phase::Open || board.sacked() >= DUP_THRESHOLD) {
            return Duration::ZERO;
        }
        (news.min_rtt / 4 * u64::from(self.multiplier)).min(news.srtt)
    }

    /// Performs step 5: marks segments as lost. Returns true if a retransmission was lost again.
    fn mark(&mut self, phase: Phase, board: &mut Scoreboard, news: &AckInfo<'_>) -> bool {
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
    /// Detects losses in the current phase. Returns true if a retransmission was lost again.
    #[inline(always)]
    fn mark_overdue(&mut self, board: &mut Scoreboard, news: &AckInfo<'_>) -> bool {
        let phase = self.phase;
        let Finder::Time(rack) = &mut self.finder else { return false };
        rack.mark(phase, board, news)
    }
}

pub(super) fn on_ack(recovery: &mut Recovery, board: &mut Scoreboard, news: &AckInfo<'_>) -> Verdict {
    // In Linux the episode is over before RACK looks for losses, so that the reordering window applies to data sent
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

/// Handles the expiry of the reordering timer (§6.3).
pub(super) fn on_timer(recovery: &mut Recovery, board: &mut Scoreboard, news: &AckInfo<'_>) -> Verdict {
    let lost_before = board.lost_bytes();
    recovery.mark_overdue(board, news);
    if recovery.is_kernel() && recovery.phase == Phase::Loss && board.lost_bytes() > lost_before {
        return begin(recovery, board);
    }
    begin_if_lost(recovery, board, false)
}

/// Starts an episode if there is a loss. If an episode has just `ended`, losses of data that was sent during it cause a
/// new reduction, even if their retransmissions are already in flight: losses in two windows of data cause two
/// reductions (RFC 5681 §4.3).
fn begin_if_lost(recovery: &mut Recovery, board: &mut Scoreboard, ended: bool) -> Verdict {
    let lost = board.next_lost().is_some() || ended && board.any_lost();
    if recovery.phase != Phase::Open || !lost {
        return Verdict::default();
    }
    begin(recovery, board)
}

/// Starts fast recovery. In Linux, fast recovery also replaces the repair after a timeout if a retransmission is lost
/// again (`tcp_fastretrans_alert`, `tcp_rack_reo_timeout`).
fn begin(recovery: &mut Recovery, board: &mut Scoreboard) -> Verdict {
    let resend_head = board.head_lost() && board.head().is_some_and(|head| !board.was_retransmitted(head));
    Verdict { began: Some(recovery.begin(board)), resend_head, ..Verdict::default() }
}
