//! The window while it is being reduced: immediately, in proportion to the delivered data, or by one segment for every
//! two ACKs.

use super::halving::Halving;
use super::prr::Prr;
use super::{AckInfo, Recovery, RepairRules, by_sack};
use crate::config::Reductions;
use crate::scoreboard::Scoreboard;
use lightlag_control::congestion::Phase;

/// Maximum by which the window may exceed the data in flight after fast recovery with rate halving, in segments
/// (`tcp_max_burst`).
const MOST_BURST: u64 = 3;

/// Form of the window reduction in fast recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReductionForm {
    /// The window is reduced immediately.
    AtOnce,
    /// The window is reduced in proportion to the delivered data (PRR).
    Proportional,
    /// The window is reduced by one segment for every two ACKs (rate halving).
    Halving,
}

impl ReductionForm {
    pub(super) fn of(rules: &RepairRules) -> Self {
        match by_sack(rules.scheme) || rules.guesses {
            true if rules.rate_halving => Self::Halving,
            true if rules.prr => Self::Proportional,
            _ => Self::AtOnce,
        }
    }
}

/// State of a gradual reduction. Its window replaces the window of the congestion control.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reduction {
    Proportional(Prr),
    Halving(Halving),
}

impl Recovery {
    /// Returns the current window: the window of a gradual reduction, or `cwnd` with the inflation of fast recovery.
    pub fn window(&self, cwnd: u64) -> u64 {
        match self.reduction.as_deref() {
            Some(Reduction::Proportional(prr)) => prr.window,
            Some(Reduction::Halving(halving)) => halving.window(),
            None if self.inflation == 0 => cwnd,
            None => cwnd.saturating_add_signed(self.inflation),
        }
    }

    /// Stores `window` as the congestion window before a reduction, and ends any earlier reduction.
    pub fn begin_reduction(&mut self, board: &Scoreboard, window: u64) {
        self.prior_window = (window / u64::from(board.segment_size())).min(u64::from(u32::MAX)) as u32;
        self.reduction = None;
    }

    /// Returns the amount that a reduction starts from: the congestion window in Linux and ns-2, FlightSize in the
    /// RFCs.
    pub fn reduced_from(&self, window: u64, flight: u64) -> u64 {
        match self.reduction.as_deref() {
            Some(Reduction::Halving(halving)) if self.reductions == Reductions::Each => halving.floor().min(window),
            _ if matches!(self.reductions, Reductions::Linux | Reductions::Each) => window,
            _ => flight,
        }
    }

    /// Starts a gradual reduction after a mark: the window falls to `target` in proportion to the delivered data.
    #[cold]
    pub fn reduce_for_mark(&mut self, board: &Scoreboard, delivered: u64, target: u64) {
        if self.phase == Phase::Open && self.way == ReductionForm::Proportional {
            let prr = self.proportional(board, delivered, target);
            self.reduction = Some(Box::new(Reduction::Proportional(prr)));
        }
    }

    /// Returns true during a reduction after a mark, which lasts until data sent after its start is acknowledged.
    pub fn reduces_for_mark(&self, board: &Scoreboard) -> bool {
        self.phase == Phase::Open
            && matches!(self.reduction.as_deref(), Some(Reduction::Proportional(prr)) if board.una() <= prr.until)
    }

    /// Returns true if nothing is being repaired or reduced, and losses are detected by time (RACK).
    pub fn is_undisturbed(&self) -> bool {
        self.phase == Phase::Open && self.uses_rack() && self.reduction.is_none()
    }

    /// Returns true if [`Self::reduce`] has to be called for each ACK.
    pub fn reduces(&self) -> bool {
        self.phase == Phase::Recovery || self.reduction.is_some()
    }

    /// Computes the reduced window at an ACK in fast recovery, or after a mark. `ssthresh` is the target, `floor` the
    /// minimum for rate halving, and `lost` is true if the ACK showed a new loss.
    pub fn reduce(&mut self, board: &Scoreboard, news: &AckInfo<'_>, ssthresh: u64, floor: u64, lost: bool) {
        let has_say = self.phase == Phase::Recovery || self.reduces_for_mark(board);
        if !has_say || self.way == ReductionForm::AtOnce {
            self.reduction = None;
            return;
        }
        let (delivered, segment) = (news.delivery.bytes, u64::from(board.segment_size()));
        if self.reduction.is_none() {
            self.reduction = Some(Box::new(if self.way == ReductionForm::Halving {
                Reduction::Halving(Halving::new(self.prior(board), floor, segment))
            } else {
                Reduction::Proportional(self.proportional(board, delivered, ssthresh))
            }));
        }
        match self.reduction.as_deref_mut() {
            Some(Reduction::Proportional(prr)) => {
                prr.on_ack(board.pipe(), delivered, news.newly_acked > 0 && !lost, segment);
            }
            Some(Reduction::Halving(halving)) => halving.on_ack(board.pipe()),
            None => {}
        }
    }

    /// Returns the maximum window after fast recovery with rate halving: the data in flight plus three segments
    /// (`tcp_moderate_cwnd`). Call it when the recovery ends. `None` without rate halving.
    pub fn moderated(&self, board: &Scoreboard) -> Option<u64> {
        (self.way == ReductionForm::Halving).then(|| board.pipe() + MOST_BURST * u64::from(board.segment_size()))
    }

    /// Ends the reduction: the window of the congestion control applies again.
    pub fn end_reduction(&mut self) {
        self.reduction = None;
    }

    /// Uses the window of the congestion control in fast recovery as well, without a gradual reduction.
    pub fn leave_window_alone(&mut self) {
        self.way = ReductionForm::AtOnce;
    }

    /// Limits the deflation by partial ACKs so that the window keeps at least one segment. If ACKs are lost, a partial
    /// ACK may acknowledge more than duplicate ACKs have inflated, and RFC 6582 §3.2 still adds a segment back.
    pub fn limit_deflation(&mut self, board: &Scoreboard, cwnd: u64) {
        self.inflation = self.inflation.max(i64::from(board.segment_size()) - cwnd as i64);
    }

    /// Returns a proportional rate reduction to `target`.
    fn proportional(&self, board: &Scoreboard, delivered: u64, target: u64) -> Prr {
        if self.is_kernel() {
            Prr::in_linux(board, self.prior(board), target)
        } else {
            Prr::new(board, delivered, target)
        }
    }

    /// Returns the window before the last reduction, in bytes.
    fn prior(&self, board: &Scoreboard) -> u64 {
        u64::from(self.prior_window) * u64::from(board.segment_size())
    }
}
