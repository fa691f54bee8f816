//! What is lost, and when an episode of repair begins and ends.
//!
//! The congestion control hears of each episode once. Without SACK the window is inflated by one segment for
//! each duplicate ACK and deflated again (RFC 5681 §3.2, RFC 6582); the inflation is kept here, on top of the
//! window of the congestion control. With SACK the pipe does that work (RFC 6675). After a timeout everything
//! not SACKed counts as lost and leaves again under slow start.

mod new_reno;
mod reno;
mod sack;

#[cfg(test)]
mod tests;

use crate::config::Scheme;
use crate::congestion::{Cause, Phase};
use crate::scoreboard::Scoreboard;

/// Duplicate ACKs that mean a loss (RFC 5681 §3.2).
const DUP_THRESHOLD: u32 = 3;

/// No duplicate ACK since the last new one.
const IN_ORDER: u64 = u64::MAX;

/// What an ACK said.
#[derive(Clone, Copy, Debug)]
pub struct News {
    /// Bytes acknowledged cumulatively for the first time.
    pub newly_acked: u64,
    /// Whether it is a duplicate ACK: RFC 5681 §2; with SACK one that reports new data (RFC 6675 §2).
    pub duplicate: bool,
}

/// What follows from an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// An episode ended.
    pub ended: bool,
    /// An episode began, with this FlightSize in bytes.
    pub began: Option<u64>,
    /// The first segment leaves again whatever the window says.
    pub resend_head: bool,
    /// New data was acknowledged, but the retransmission timer goes on (RFC 6582 §3.2, the impatient variant).
    pub keep_timer: bool,
}

/// The state of repair of one sender.
#[derive(Debug)]
pub struct Recovery {
    phase: Phase,
    scheme: Scheme,
    limited_transmit: bool,
    /// A partial ACK came in this episode.
    partial: bool,
    duplicates: u32,
    /// Payload of a full segment in bytes.
    segment_size: u32,
    /// The episode ends when this is acknowledged.
    point: u64,
    /// No new episode begins before this is acknowledged.
    guard: u64,
    /// Bytes by which the window is larger or smaller than the congestion control says.
    inflation: i64,
    /// RFC 6675 RescueRxt: one rescue retransmission once more than this is acknowledged.
    rescue: u64,
    /// The next new offset when duplicate ACKs began: what leaves later is limited transmit's.
    disorder: u64,
    /// The first offset outstanding at the last timeout.
    timed_out: u64,
}

impl Recovery {
    /// For segments with so many bytes of payload.
    pub fn new(scheme: Scheme, limited_transmit: bool, segment_size: u32) -> Self {
        Self {
            phase: Phase::Open,
            scheme,
            limited_transmit,
            partial: false,
            duplicates: 0,
            segment_size,
            point: 0,
            guard: 0,
            inflation: 0,
            rescue: 0,
            disorder: IN_ORDER,
            timed_out: u64::MAX,
        }
    }

    /// What is being repaired.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether SACK steers the repair.
    pub fn uses_sack(&self) -> bool {
        self.scheme == Scheme::Sack
    }

    /// The window of the congestion control with the inflation of fast recovery.
    pub fn window(&self, cwnd: u64) -> u64 {
        cwnd.saturating_add_signed(self.inflation)
    }

    /// Keeps one segment of a window that partial ACKs deflate: when ACKs are lost, one may acknowledge more than
    /// duplicate ACKs have inflated, and RFC 6582 §3.2 still adds a segment back.
    pub fn limit_deflation(&mut self, cwnd: u64) {
        self.inflation = self.inflation.max(i64::from(self.segment_size) - cwnd as i64);
    }

    /// What counts against the window: the pipe, or, where limited transmit is off, everything outstanding as
    /// long as nothing is repaired.
    pub fn outstanding(&self, board: &Scoreboard) -> u64 {
        if self.phase == Phase::Open && !self.limited_transmit { board.flight() } else { board.pipe() }
    }

    /// An ACK arrived and the scoreboard has it.
    pub fn on_ack(&mut self, board: &mut Scoreboard, news: News) -> Verdict {
        if news.newly_acked > 0 {
            self.duplicates = 0;
            self.disorder = IN_ORDER;
        }
        if news.duplicate {
            self.duplicates = self.duplicates.saturating_add(1);
            self.disorder = self.disorder.min(board.nxt());
        }
        match self.scheme {
            Scheme::Sack => sack::on_ack(self, board),
            _ if self.phase == Phase::Loss => Verdict { ended: self.end_if_repaired(board), ..Verdict::default() },
            Scheme::NewReno => new_reno::on_ack(self, board, news),
            Scheme::Reno => reno::on_ack(self, board, news),
        }
    }

    /// The retransmission timer fired. Returns the cause and the FlightSize before; `cwnd` bounds it while an
    /// episode goes on, because FlightSize then still counts what the first reaction took out of the network.
    pub fn on_timeout(&mut self, board: &mut Scoreboard, cwnd: u64) -> (Cause, u64) {
        let flight = match self.phase {
            Phase::Open => self.flight_before_disorder(board),
            Phase::Recovery | Phase::Loss => board.flight().min(cwnd),
        };
        let repeated = self.phase == Phase::Loss && self.timed_out == board.una();
        self.timed_out = board.una();
        self.phase = Phase::Loss;
        self.point = board.nxt();
        self.guard = match self.scheme {
            // RFC 6582 §3.2 step 1: more than `recover` must be acknowledged.
            Scheme::NewReno => self.point + 1,
            _ => self.point,
        };
        self.inflation = 0;
        self.duplicates = 0;
        self.disorder = IN_ORDER;
        board.mark_all_lost();
        (if repeated { Cause::RepeatedTimeout } else { Cause::Timeout }, flight)
    }

    /// Whether new data may not leave although the window allows it: repairs come first.
    pub fn next_lost(&self, board: &mut Scoreboard) -> Option<u64> {
        if self.phase == Phase::Open { None } else { board.next_lost() }
    }

    /// What else may leave when neither lost nor new data can (RFC 6675 §4 NextSeg rules 3 and 4).
    pub fn next_speculative(&mut self, board: &mut Scoreboard) -> Option<u64> {
        if self.phase != Phase::Recovery || !self.uses_sack() { None } else { sack::next_speculative(self, board) }
    }

    fn begin(&mut self, board: &Scoreboard) -> u64 {
        let flight = self.flight_before_disorder(board);
        self.phase = Phase::Recovery;
        self.point = board.nxt();
        self.partial = false;
        flight
    }

    /// RFC 5681 §3.2 step 2: without the segments that limited transmit sent.
    fn flight_before_disorder(&self, board: &Scoreboard) -> u64 {
        board.nxt().min(self.disorder).saturating_sub(board.una())
    }

    fn end_if_repaired(&mut self, board: &Scoreboard) -> bool {
        let ended = self.phase != Phase::Open && board.una() >= self.point;
        if ended {
            self.phase = Phase::Open;
            self.inflation = 0;
        }
        ended
    }

    /// Without SACK: counts duplicate ACKs, and begins an episode with the third.
    fn count_duplicates(&mut self, board: &mut Scoreboard) -> Verdict {
        if self.duplicates < DUP_THRESHOLD || board.una() < self.guard {
            // RFC 3042: two segments beyond the window.
            let extra = if self.limited_transmit { self.duplicates.min(DUP_THRESHOLD - 1) } else { 0 };
            self.inflation = i64::from(extra) * i64::from(self.segment_size);
            return Verdict::default();
        }
        let flight = self.begin(board);
        self.inflation = i64::from(DUP_THRESHOLD) * i64::from(self.segment_size);
        board.mark_head_lost();
        Verdict { began: Some(flight), resend_head: true, ..Verdict::default() }
    }
}
