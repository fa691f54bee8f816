//! Partial reliability (BETS): a segment that was sent the allowed number of times is given up instead of sent again.
//! It leaves the flight as if it were acknowledged, and the following data continues.
//!
//! The peer acknowledges nothing beyond it before its own patience ends, so the cumulative acknowledgement and the
//! peer's window lag behind, and no timeout is due before. If data at the end is given up, nothing after it would show
//! that to the peer: its last byte then leaves as a probe, once per timeout, until the peer continues. A FIN, which
//! leaves by itself, is never given up.

use super::{Sender, Timer};
use crate::config::{Bets, Config};
use crate::holes::{HoleLog, HoleTotals};
use crate::scoreboard::Range;
use lightlag_control::congestion::Phase;
use lightlag_core::{Duration, Instant};

/// The limits of giving up, and the data given up.
#[derive(Debug)]
pub(crate) struct BestEffort {
    transmissions: u8,
    /// The peer's assumed patience with a hole, equal to the local one.
    patience: Duration,
    given_up: HoleLog,
}

impl Sender {
    /// Starts partial reliability, as agreed.
    pub(crate) fn set_best_effort(&mut self, bets: Bets) {
        let Bets { transmissions, patience, .. } = bets;
        let best_effort = BestEffort { transmissions, patience, given_up: HoleLog::default() };
        self.special.extra_mut().best_effort = Some(Box::new(best_effort));
    }

    pub(crate) fn best_effort(&self) -> Option<&BestEffort> {
        self.special.extra()?.best_effort.as_deref()
    }

    /// The data given up so far.
    pub(crate) fn given_up(&self) -> HoleTotals {
        self.best_effort().map_or(HoleTotals::default(), |best_effort| best_effort.given_up.totals())
    }

    /// The last ranges of it, in the order of time.
    pub(crate) fn given_up_ranges(&self) -> impl Iterator<Item = Range> + '_ {
        self.best_effort().into_iter().flat_map(|best_effort| best_effort.given_up.recent())
    }

    /// Whether the FIN leaves by itself.
    #[cold]
    pub(super) fn parts_with_data(&self) -> bool {
        self.best_effort().is_some()
    }

    /// Whether the record may be sent again.
    #[cold]
    pub(super) fn may_leave_again(&self, number: u64) -> bool {
        self.best_effort().is_none_or(|best_effort| !self.board.has_left(number, best_effort.transmissions))
    }

    /// After a timeout: the record to send again instead of a head that was given up.
    #[cold]
    pub(super) fn head_behind_given_up(&self) -> Option<u64> {
        let wanted = self.recovery.phase() == Phase::Loss && self.board.head_given_up();
        wanted.then(|| self.board.lost_behind_given_up()).flatten()
    }

    /// The next lost record to send again. Records sent the allowed number of times are given up on the way.
    #[inline]
    pub(super) fn next_repair(&mut self, now: Instant, config: &Config) -> Option<u64> {
        let number = self.recovery.next_lost(&mut self.board)?;
        if self.special.extra().is_none() { Some(number) } else { self.next_worthwhile(now, number, config) }
    }

    #[cold]
    fn next_worthwhile(&mut self, now: Instant, mut number: u64, config: &Config) -> Option<u64> {
        while self.gives_up(now, number, config) {
            number = self.recovery.next_lost(&mut self.board)?;
        }
        Some(number)
    }

    /// Whether the record, which is due to be sent again, is given up instead.
    #[cold]
    pub(super) fn gives_up(&mut self, now: Instant, number: u64, config: &Config) -> bool {
        if self.may_leave_again(number) || self.in_outage() {
            return false;
        }
        let range = self.board.give_up(number);
        if let Some(best_effort) = self.special.used_extra().and_then(|extra| extra.best_effort.as_mut()) {
            best_effort.given_up.add(range);
        }
        if self.deadline == Instant::MAX {
            self.timer = Timer::Retransmission;
            self.deadline = now + self.rtt.rto(&config.rto);
        }
        true
    }

    /// Handles a timeout while the peer may still wait for data that was given up. Returns whether the timer continues:
    /// until the peer must have acknowledged the data after it.
    #[cold]
    pub(super) fn waits_for_patience(&mut self, now: Instant, config: &Config) -> bool {
        let (Some(sent), Some(best_effort)) = (self.board.unsettled_sent(), self.best_effort()) else { return false };
        let due = sent + self.rtt.rto(&config.rto) + best_effort.patience;
        if due > now {
            self.deadline = due;
        }
        due > now
    }

    /// Whether an acknowledgement may cover data long after it arrived, as a peer that skips holes does while data is
    /// missing: then it tells nothing about the path's time.
    #[cold]
    pub(super) fn may_come_late(&self) -> bool {
        self.recovery.phase() != Phase::Open && self.best_effort().is_some()
    }

    /// Whether a probe is the last byte sent: the peer lacks the end of the data and cannot know.
    pub(crate) fn tells_of_tail(&self) -> bool {
        self.board.head_given_up() && self.board.unsettled_sent().is_none() && !self.in_outage()
    }

    /// Notes that it leaves.
    pub(super) fn tail_told(&mut self, now: Instant, config: &Config) {
        let patience = self.best_effort().map_or(Duration::ZERO, |best_effort| best_effort.patience);
        self.deadline = now + self.rtt.rto(&config.rto) + patience;
    }
}
