//! Repairs that start again at the first outstanding segment: after a timeout, when the path MTU proves smaller, after
//! an outage, and after a loss with algorithms that request it.

use super::undo::Episode;
use super::{IN_ORDER, Recovery, Verdict};
use crate::config::{Reductions, Scheme};
use crate::scoreboard::Scoreboard;
use lightlag_control::congestion::{Cause, Phase};
use lightlag_core::{Duration, Instant};

impl Recovery {
    /// Handles a retransmission timeout. Returns the cause and the FlightSize before the timeout. During an episode,
    /// `cwnd` limits that FlightSize, which still includes data that the first reduction already removed from the
    /// network.
    pub fn on_timeout(&mut self, now: Instant, board: &mut Scoreboard, cwnd: u64, srtt: Duration) -> (Cause, u64) {
        let flight = match self.phase {
            Phase::Open | Phase::Recovery if self.by_duplicates() => self.flight_less_duplicates(board),
            Phase::Open => self.flight_before_disorder(board),
            Phase::Recovery | Phase::Loss => board.flight().min(cwnd),
        };
        // Linux, tcp_enter_loss: a window of data that fast recovery has reduced is not reduced again.
        let reduced = self.is_kernel() && self.phase == Phase::Recovery;
        let repeated = reduced
            || self.reductions != Reductions::Each && self.phase == Phase::Loss && self.timed_out == board.una();
        let testable = self.phase == Phase::Open || repeated && self.episode.tests_head();
        self.timed_out = board.una();
        self.phase = Phase::Loss;
        self.point = board.nxt();
        // RFC 6582 §3.2 step 1: more than `recover` must be acknowledged.
        let more = self.scheme == Scheme::NewReno && !self.by_duplicates();
        self.set_guard(self.point + u64::from(more));
        self.inflation = 0;
        self.duplicates = 0;
        self.disorder = IN_ORDER;
        self.reduction = None;
        self.stop();
        if !repeated {
            self.episode = Episode::begin(board.una());
        }
        // RFC 5682 §2.1: no test while an earlier episode is still being repaired. Segments sent less than a round trip
        // ago prove nothing, because their ACKs are still in transit.
        self.timed_out_before = Instant::ZERO + now.since(Instant::ZERO + srtt);
        if self.signs.frto && testable {
            self.episode.begin_test();
        }
        board.mark_all_lost(self.rack().map_or(Instant::MAX, |rack| rack.horizon(now)));
        (if repeated { Cause::RepeatedTimeout } else { Cause::Timeout }, flight)
    }

    /// Returns the bounds of the segments that the last timeout marked as lost: the offset after the last one, and the
    /// latest transmission time. `(0, Instant::ZERO)` if no timeout is being repaired.
    pub fn timed_out_data(&self) -> (u64, Instant) {
        if self.phase == Phase::Loss { (self.point, self.timed_out_before) } else { (0, Instant::ZERO) }
    }

    /// Starts to retransmit outstanding data, which was too large for the path, in smaller segments. This neither
    /// reduces the window nor can be undone (Linux, tcp_simple_retransmit).
    pub fn on_smaller_path(&mut self, board: &Scoreboard) {
        self.phase = Phase::Loss;
        self.point = board.nxt();
        self.set_guard(self.point);
        self.inflation = 0;
        self.duplicates = 0;
        self.disorder = IN_ORDER;
        self.reduction = None;
        self.stop();
        self.timed_out = u64::MAX;
        self.episode = Episode::none();
    }

    /// Starts to retransmit the data that was sent up to `before`, after an outage. This does not reduce the window.
    pub fn on_outage_end(&mut self, board: &mut Scoreboard, before: Instant) {
        self.on_smaller_path(board);
        board.mark_all_lost(before);
    }

    /// Retransmits all outstanding data that is not SACKed, within the current episode. Without SACK, duplicate ACKs do
    /// not identify copies, so the repair continues as after a timeout.
    #[cold]
    pub fn repeat_all(&mut self, board: &mut Scoreboard) {
        if !self.uses_sack() {
            self.phase = Phase::Loss;
        }
        self.inflation = 0;
        board.mark_all_lost(Instant::MAX);
    }

    /// Makes every loss start a repair from the first segment, as after a timeout.
    pub fn restart_on_loss(&mut self) {
        self.restart_on_loss = true;
    }

    /// If requested (Tahoe), turns an episode of fast recovery into a repair from the first segment, as after a
    /// timeout.
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
