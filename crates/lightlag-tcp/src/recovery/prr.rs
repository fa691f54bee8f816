//! Proportional rate reduction (RFC 9937): the data that leaves during fast recovery.
//!
//! Above ssthresh, data leaves in the proportion ssthresh/RecoverFS, at most 1, to the delivered data. Below it, as
//! much leaves as is delivered, plus one segment for an ACK that shows progress without a new loss. The window ends at
//! ssthresh.
//!
//! Linux reduces in the same way after a congestion mark (`tcp_enter_cwr`), until data that left after it is
//! acknowledged. It counts in whole segments, in proportion to the window before (`tcp_cwnd_reduction`), and an ACK
//! that delivers nothing leaves the window unchanged.

use crate::scoreboard::Scoreboard;

/// One episode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    /// The final window.
    ssthresh: u64,
    /// RecoverFS: the flight at the start; in Linux the window before.
    flight: u64,
    /// Linux's arithmetic.
    whole: bool,
    delivered: u64,
    out: u64,
    /// The current window.
    pub(super) window: u64,
    /// A reduction for a mark ends when more than this is acknowledged; one for a loss, with its repair.
    pub(super) until: u64,
}

impl Prr {
    /// Starts an episode. `delivered`: bytes delivered by the ACK that started it, which are part of RecoverFS and of
    /// the count.
    pub(super) fn new(board: &Scoreboard, delivered: u64, ssthresh: u64) -> Self {
        let flight = (board.flight() - board.sacked_bytes() + delivered).max(1);
        Self { ssthresh, flight, whole: false, delivered: 0, out: 0, window: 0, until: board.nxt() }
    }

    /// The same in Linux, with the window `prior` before.
    pub(super) fn in_linux(board: &Scoreboard, prior: u64, ssthresh: u64) -> Self {
        Self { ssthresh, flight: prior.max(1), whole: true, delivered: 0, out: 0, window: 0, until: board.nxt() }
    }

    /// Handles an ACK that delivered this many bytes. `safe`: it moved the cumulative acknowledgement and showed no new
    /// loss.
    pub(super) fn on_ack(&mut self, pipe: u64, delivered: u64, safe: bool, segment: u64) {
        if self.whole && delivered == 0 && self.window > 0 {
            return;
        }
        self.delivered += delivered;
        let mut count = if pipe > self.ssthresh {
            // An algorithm that knows the path may set ssthresh above the window: even then, no more leaves than is
            // delivered.
            let share = self.ssthresh.min(self.flight);
            let due = (u128::from(self.delivered) * u128::from(share)).div_ceil(u128::from(self.flight));
            let due = if self.whole { (due as u64).div_ceil(segment) * segment } else { due as u64 };
            due.saturating_sub(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(delivered);
            (bound + if safe { segment } else { 0 }).min(self.ssthresh - pipe)
        };
        if self.out == 0 {
            // The first retransmission leaves in any case.
            count = count.max(segment);
        }
        self.window = (pipe + count).max(segment);
    }

    /// Data left.
    pub(super) fn sent(&mut self, bytes: u64) {
        self.out += bytes;
    }
}
