//! Partial reliability (BETS): a segment that was sent the allowed number of times is abandoned instead of
//! retransmitted. It no longer counts as in flight, as if it were acknowledged, and the data after it is sent.
//!
//! The peer acknowledges nothing beyond the abandoned segment before its own receive timeout expires. Until then the
//! cumulative acknowledgement and the peer's window do not advance, and the sender does not time out. If data at the
//! end of the stream is abandoned, no later data makes the peer detect the hole: the last byte is then sent as a probe,
//! once per timeout, until the peer skips the hole. A FIN, which is sent in a segment of its own, is never abandoned.

use super::{Sender, Timer};
use crate::config::{Bets, Config};
use crate::holes::{HoleLog, HoleTotals};
use crate::scoreboard::Range;
use lightlag_control::congestion::Phase;
use lightlag_core::{Duration, Instant};

/// Limits on retransmissions, and the data that was abandoned.
#[derive(Debug)]
pub(crate) struct BestEffort {
    max_transmissions: u8,
    /// Receive timeout that the peer is assumed to have, equal to the local one.
    receive_timeout: Duration,
    given_up: HoleLog,
}

impl Sender {
    /// Starts partial reliability, once it is negotiated.
    pub(crate) fn set_best_effort(&mut self, bets: Bets) {
        let Bets { max_transmissions, receive_timeout, .. } = bets;
        let best_effort = BestEffort { max_transmissions, receive_timeout, given_up: HoleLog::default() };
        self.special.extra_mut().best_effort = Some(Box::new(best_effort));
    }

    pub(crate) fn best_effort(&self) -> Option<&BestEffort> {
        self.special.extra()?.best_effort.as_deref()
    }

    /// Returns the number and size of the abandoned ranges.
    pub(crate) fn given_up(&self) -> HoleTotals {
        self.best_effort().map_or(HoleTotals::default(), |best_effort| best_effort.given_up.totals())
    }

    /// Returns the last abandoned ranges, oldest first.
    pub(crate) fn given_up_ranges(&self) -> impl Iterator<Item = Range> + '_ {
        self.best_effort().into_iter().flat_map(|best_effort| best_effort.given_up.recent())
    }

    /// Returns true if the FIN is sent in a segment of its own, as with partial reliability.
    #[cold]
    pub(super) fn parts_with_data(&self) -> bool {
        self.best_effort().is_some()
    }

    /// Returns true if the record may be retransmitted.
    #[cold]
    pub(super) fn may_leave_again(&self, number: u64) -> bool {
        self.best_effort().is_none_or(|best_effort| !self.board.has_left(number, best_effort.max_transmissions))
    }

    /// Returns the record to retransmit after a timeout if the first outstanding data was abandoned: the first record
    /// after it, if that is lost.
    #[cold]
    pub(super) fn head_behind_given_up(&self) -> Option<u64> {
        let wanted = self.recovery.phase() == Phase::Loss && self.board.head_given_up();
        wanted.then(|| self.board.lost_behind_given_up()).flatten()
    }

    /// Returns the next lost record to retransmit. Records before it that were sent the allowed number of times are
    /// abandoned.
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

    /// Abandons a record that is due for retransmission, if it was sent the allowed number of times. Returns true if it
    /// was abandoned.
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

    /// Handles a timeout while the peer may still wait for abandoned data. Returns true if the timer was moved to the
    /// time by which the peer must have acknowledged the data after the hole.
    #[cold]
    pub(super) fn waits_for_patience(&mut self, now: Instant, config: &Config) -> bool {
        let (Some(sent), Some(best_effort)) = (self.board.unsettled_sent(), self.best_effort()) else { return false };
        let due = sent + self.rtt.rto(&config.rto) + best_effort.receive_timeout;
        if due > now {
            self.deadline = due;
        }
        due > now
    }

    /// Returns true if an acknowledgement may cover data that arrived long before, as from a peer that waited before it
    /// skipped a hole. Such an acknowledgement is not valid as a round-trip sample.
    #[cold]
    pub(super) fn may_come_late(&self) -> bool {
        self.recovery.phase() != Phase::Open && self.best_effort().is_some()
    }

    /// Returns true if the next probe must be the last byte sent, because the end of the data was abandoned and the
    /// peer cannot know of it.
    pub(crate) fn tells_of_tail(&self) -> bool {
        self.board.head_given_up() && self.board.unsettled_sent().is_none() && !self.in_outage()
    }

    /// Records that the probe with the last byte is sent.
    pub(super) fn tail_told(&mut self, now: Instant, config: &Config) {
        let receive_timeout = self.best_effort().map_or(Duration::ZERO, |best_effort| best_effort.receive_timeout);
        self.deadline = now + self.rtt.rto(&config.rto) + receive_timeout;
    }
}
