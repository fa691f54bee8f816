//! Proportional rate reduction (RFC 9937): how much data is sent during fast recovery.
//!
//! While more than ssthresh is in flight, ssthresh/RecoverFS bytes (at most 1) are sent for each delivered byte. Below
//! ssthresh, as much is sent as is delivered, plus one segment for an ACK that shows progress without a new loss. At
//! the end the window is ssthresh.
//!
//! Linux reduces in the same way after a congestion mark (`tcp_enter_cwr`), until data sent after it is acknowledged.
//! It counts in full segments, uses the window before the reduction instead of RecoverFS (`tcp_cwnd_reduction`), and
//! leaves the window unchanged at an ACK that delivers nothing.

use crate::scoreboard::Scoreboard;

/// State of one reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    /// The window at the end of the reduction, in bytes.
    ssthresh: u64,
    /// RecoverFS, the amount of data in flight at the start; in Linux the window before the reduction.
    flight: u64,
    /// Whether the reduction counts in full segments, as in Linux.
    whole: bool,
    delivered: u64,
    out: u64,
    /// Current window in bytes.
    pub(super) window: u64,
    /// A reduction after a mark ends when more than this offset is acknowledged. A reduction after a loss ends with its
    /// repair.
    pub(super) until: u64,
}

impl Prr {
    /// Starts a reduction. The ACK that starts it delivered `delivered` bytes, which are part of RecoverFS.
    pub(super) fn new(board: &Scoreboard, delivered: u64, ssthresh: u64) -> Self {
        let flight = (board.flight() - board.sacked_bytes() + delivered).max(1);
        Self { ssthresh, flight, whole: false, delivered: 0, out: 0, window: 0, until: board.nxt() }
    }

    /// Starts a reduction from the window `prior`, as in Linux.
    pub(super) fn in_linux(board: &Scoreboard, prior: u64, ssthresh: u64) -> Self {
        Self { ssthresh, flight: prior.max(1), whole: true, delivered: 0, out: 0, window: 0, until: board.nxt() }
    }

    /// Handles an ACK that delivered `delivered` bytes. `safe` is true if it advanced the cumulative acknowledgement
    /// and showed no new loss. `pipe` is the amount of data in flight.
    pub(super) fn on_ack(&mut self, pipe: u64, delivered: u64, safe: bool, segment: u64) {
        if self.whole && delivered == 0 && self.window > 0 {
            return;
        }
        self.delivered += delivered;
        let mut count = if pipe > self.ssthresh {
            // An algorithm that measures the path may set ssthresh above the window: even then, no more is sent than is
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
            // The first retransmission is sent in any case.
            count = count.max(segment);
        }
        self.window = (pipe + count).max(segment);
    }

    /// Counts bytes sent during the reduction.
    pub(super) fn sent(&mut self, bytes: u64) {
        self.out += bytes;
    }
}
