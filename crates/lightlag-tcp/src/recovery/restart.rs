//! Repairs that start again from the first segment: after a timeout, on a smaller path, after an outage, and for algorithms
//! that ask for it after a loss.

use super::undo::Episode;
use super::{IN_ORDER, Recovery, Verdict};
use crate::config::{Reductions, Scheme};
use crate::scoreboard::Scoreboard;
use lightlag_control::congestion::{Cause, Phase};
use lightlag_core::{Duration, Instant};

impl Recovery {
    /// The retransmission timer fired. Returns the cause and the FlightSize before; `cwnd` bounds it while an
    /// episode goes on, because FlightSize then still counts what the first reaction took out of the network.
    pub fn on_timeout(&mut self, now: Instant, board: &mut Scoreboard, cwnd: u64, srtt: Duration) -> (Cause, u64) {
        let flight = match self.phase {
            Phase::Open | Phase::Recovery if self.by_duplicates() => self.flight_less_duplicates(board),
            Phase::Open => self.flight_before_disorder(board),
            Phase::Recovery | Phase::Loss => board.flight().min(cwnd),
        };
        // Linux, tcp_enter_loss: what fast recovery has reduced for the same window of data is not reduced again.
        let reduced = self.is_kernel() && self.phase == Phase::Recovery;
        let repeated = reduced
            || self.reductions != Reductions::Each && self.phase == Phase::Loss && self.timed_out == board.una();
        let testable = self.phase == Phase::Open || repeated && self.episode.tests_head();
        self.timed_out = board.una();
        self.phase = Phase::Loss;
        self.point = board.nxt();
        self.guard = match self.scheme {
            // RFC 6582 §3.2 step 1: more than `recover` must be acknowledged.
            Scheme::NewReno if !self.by_duplicates() => self.point + 1,
            _ => self.point,
        };
        self.inflation = 0;
        self.duplicates = 0;
        self.disorder = IN_ORDER;
        self.reduction = None;
        self.rack.timer = Instant::MAX;
        if !repeated {
            self.episode = Episode::begin(board.una());
        }
        // RFC 5682 §2.1: no test where an earlier episode is still being repaired. What left less than a round
        // trip ago proves nothing: its ACK is still on the way.
        self.timed_out_before = Instant::ZERO + now.since(Instant::ZERO + srtt);
        if self.signs.frto && testable {
            self.episode.begin_test();
        }
        board.mark_all_lost(if self.uses_rack() { self.rack.horizon(now) } else { Instant::MAX });
        (if repeated { Cause::RepeatedTimeout } else { Cause::Timeout }, flight)
    }

    /// The segments that the timeout under repair took for lost: the offset after the last, and when it left at
    /// the latest.
    pub fn timed_out_data(&self) -> (u64, Instant) {
        if self.phase == Phase::Loss { (self.point, self.timed_out_before) } else { (0, Instant::ZERO) }
    }

    /// What is outstanding was too large for the path and leaves again in segments of `size` bytes: a repair that
    /// costs no window, and that nothing can undo (Linux, tcp_simple_retransmit).
    pub fn on_smaller_path(&mut self, board: &Scoreboard, size: u32) {
        self.segment_size = size;
        self.phase = Phase::Loss;
        self.point = board.nxt();
        self.guard = self.point;
        self.inflation = 0;
        self.duplicates = 0;
        self.disorder = IN_ORDER;
        self.reduction = None;
        self.rack.timer = Instant::MAX;
        self.timed_out = u64::MAX;
        self.episode = Episode::none();
    }

    /// A link is there again after an outage: what left until `before` leaves again, a repair that costs no window.
    pub fn on_outage_end(&mut self, board: &mut Scoreboard, before: Instant) {
        self.on_smaller_path(board, self.segment_size);
        board.mark_all_lost(before);
    }

    /// Everything outstanding and not SACKed leaves again in the episode that has begun. Without SACK, duplicate ACKs
    /// tell nothing of such copies, and the repair goes on as after a timeout.
    #[cold]
    pub fn repeat_all(&mut self, board: &mut Scoreboard) {
        if !self.uses_sack() {
            self.phase = Phase::Loss;
        }
        self.inflation = 0;
        board.mark_all_lost(Instant::MAX);
    }

    /// A loss is repaired as after a timeout.
    pub fn restart_on_loss(&mut self) {
        self.restart_on_loss = true;
    }

    /// Tahoe: what began as fast recovery is repaired as after a timeout.
    pub(super) fn restart_if_wanted(&mut self, board: &mut Scoreboard, verdict: Verdict) -> Verdict {
        if verdict.began.is_none() || !self.restart_on_loss {
            return verdict;
        }
        self.phase = Phase::Loss;
        self.inflation = 0;
        board.mark_all_lost(Instant::MAX);
        Verdict { resend_head: true, ..verdict }
    }
}
