//! The window during its reduction: at once, in proportion to the delivered data, or by a segment for every two ACKs.

use super::halving::Halving;
use super::prr::Prr;
use super::{News, Recovery, Rules, by_sack};
use crate::config::Reductions;
use crate::scoreboard::Scoreboard;
use lightlag_control::congestion::Phase;

/// The most segments that may leave at once after fast recovery with rate halving (`tcp_max_burst`).
const MOST_BURST: u64 = 3;

/// The form of the reduction in fast recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// At once.
    AtOnce,
    /// In proportion to the delivered data.
    Proportional,
    /// By a segment for every two ACKs.
    Halving,
}

impl Way {
    pub(super) fn of(rules: &Rules) -> Self {
        match by_sack(rules.scheme) || rules.guesses {
            true if rules.rate_halving => Self::Halving,
            true if rules.prr => Self::Proportional,
            _ => Self::AtOnce,
        }
    }
}

/// The state that replaces the window during its reduction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reduction {
    Proportional(Prr),
    Halving(Halving),
}

impl Recovery {
    /// The window of the congestion control, with the inflation of fast recovery, or the window of the current
    /// reduction.
    pub fn window(&self, cwnd: u64) -> u64 {
        match self.reduction.as_deref() {
            Some(Reduction::Proportional(prr)) => prr.window,
            Some(Reduction::Halving(halving)) => halving.window(),
            None if self.inflation == 0 => cwnd,
            None => cwnd.saturating_add_signed(self.inflation),
        }
    }

    /// Starts a reduction from this congestion window.
    pub fn begin_reduction(&mut self, board: &Scoreboard, window: u64) {
        self.prior_window = (window / u64::from(board.segment_size())).min(u64::from(u32::MAX)) as u32;
        self.reduction = None;
    }

    /// The value that a reaction to congestion reduces: the congestion window, or by the RFCs the flight.
    pub fn reduced_from(&self, window: u64, flight: u64) -> u64 {
        match self.reduction.as_deref() {
            Some(Reduction::Halving(halving)) if self.reductions == Reductions::Each => halving.floor().min(window),
            _ if matches!(self.reductions, Reductions::Linux | Reductions::Each) => window,
            _ => flight,
        }
    }

    /// Starts a reduction after a mark: the window goes down to the threshold in proportion to the delivered data.
    #[cold]
    pub fn reduce_for_mark(&mut self, board: &Scoreboard, delivered: u64, target: u64) {
        if self.phase == Phase::Open && self.way == Way::Proportional {
            let prr = self.proportional(board, delivered, target);
            self.reduction = Some(Box::new(Reduction::Proportional(prr)));
        }
    }

    /// Whether that continues: until data that left after the reaction is acknowledged.
    pub fn reduces_for_mark(&self, board: &Scoreboard) -> bool {
        self.phase == Phase::Open
            && matches!(self.reduction.as_deref(), Some(Reduction::Proportional(prr)) if board.una() <= prr.until)
    }

    /// Whether nothing is repaired or reduced, and a loss would be found by the time of later segments.
    pub fn is_undisturbed(&self) -> bool {
        self.phase == Phase::Open && self.uses_rack() && self.reduction.is_none()
    }

    /// Whether [`Self::reduce`] applies.
    pub fn reduces(&self) -> bool {
        self.phase == Phase::Recovery || self.reduction.is_some()
    }

    /// Releases segments for an ACK in fast recovery, or after a mark, with this slow-start threshold and least window.
    /// `lost`: it showed a new loss.
    pub fn reduce(&mut self, board: &Scoreboard, news: &News<'_>, ssthresh: u64, floor: u64, lost: bool) {
        let has_say = self.phase == Phase::Recovery || self.reduces_for_mark(board);
        if !has_say || self.way == Way::AtOnce {
            self.reduction = None;
            return;
        }
        let (delivered, segment) = (news.delivery.bytes, u64::from(board.segment_size()));
        if self.reduction.is_none() {
            self.reduction = Some(Box::new(if self.way == Way::Halving {
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

    /// The largest flight after fast recovery with rate halving: three segments more than now (`tcp_moderate_cwnd`).
    /// Call it when the recovery ends.
    pub fn moderated(&self, board: &Scoreboard) -> Option<u64> {
        (self.way == Way::Halving).then(|| board.pipe() + MOST_BURST * u64::from(board.segment_size()))
    }

    /// Ends the reduction: the window of the congestion control applies again.
    pub fn end_reduction(&mut self) {
        self.reduction = None;
    }

    /// Lets the algorithm's window apply in fast recovery, too.
    pub fn leave_window_alone(&mut self) {
        self.way = Way::AtOnce;
    }

    /// Keeps at least one segment of a window that partial ACKs deflate: if ACKs are lost, one may acknowledge more
    /// than duplicate ACKs have inflated, and RFC 6582 §3.2 still adds a segment back.
    pub fn limit_deflation(&mut self, board: &Scoreboard, cwnd: u64) {
        self.inflation = self.inflation.max(i64::from(board.segment_size()) - cwnd as i64);
    }

    /// Proportional rate reduction down to `target`.
    fn proportional(&self, board: &Scoreboard, delivered: u64, target: u64) -> Prr {
        if self.is_kernel() {
            Prr::in_linux(board, self.prior(board), target)
        } else {
            Prr::new(board, delivered, target)
        }
    }

    /// The window before the last reduction, in bytes.
    fn prior(&self, board: &Scoreboard) -> u64 {
        u64::from(self.prior_window) * u64::from(board.segment_size())
    }
}
