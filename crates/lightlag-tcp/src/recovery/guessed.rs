//! Repair without SACK, as in Linux: each duplicate ACK counts as a SACK of an unknown segment after the first one.
//! Proportional rate reduction (RFC 9937) therefore works, and limited transmit (RFC 3042) needs no rule of its own.
//!
//! When three such segments are counted, the first outstanding segment counts as lost; a partial ACK marks the next one
//! (RFC 6582 §3.2). An ACK of n segments covers one that was missing and n - 1 that were counted before
//! (`tcp_remove_reno_sacks`). If more segments are counted than can have left the network, the network has reordered
//! packets. Thereafter a loss is assumed only after as many duplicate ACKs as segments were outstanding at that time
//! (`tcp_check_reno_reordering`). A recovery episode, even after a timeout, lasts until more data is acknowledged than
//! was outstanding at its start: before that, its own retransmissions may have caused duplicate ACKs (RFC 6582 §3.2
//! step 1; `tcp_is_non_sack_preventing_reopen`). Until then, duplicate ACKs of new data sent after a timeout continue
//! to count, and may mark the first segment as lost once more (`tcp_process_loss`, `tcp_identify_packet_loss`).

use super::{AckInfo, DUP_THRESHOLD, MOST_REORDERING, Recovery, Verdict};
use crate::scoreboard::{Delivery, Scoreboard};
use lightlag_control::congestion::Phase;
use std::num::NonZeroU16;

/// Initial value of the threshold in Linux, [`DUP_THRESHOLD`].
const AT_FIRST: NonZeroU16 = NonZeroU16::new(DUP_THRESHOLD as u16).unwrap();

/// Degree of reordering that duplicate ACKs have shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guesses {
    /// Number of duplicate ACKs that mark the first segment as lost (tcp_reordering of Linux).
    pub(super) threshold: NonZeroU16,
    /// Number of times that more duplicate ACKs arrived than segments can have been delivered.
    pub(super) seen: u16,
}

impl Guesses {
    pub(super) fn new() -> Self {
        Self { threshold: AT_FIRST, seen: 0 }
    }

    /// Counts `segments` as delivered, or as many of them as possible. `outstanding` is the number of segments before.
    fn count(&mut self, board: &mut Scoreboard, segments: u32, outstanding: u32) {
        let max = board.most_guessed();
        if segments > max {
            let outstanding = outstanding.min(MOST_REORDERING) as u16;
            self.threshold = NonZeroU16::new(outstanding).unwrap_or(AT_FIRST);
            self.seen = self.seen.saturating_add(1);
        }
        board.guess(segments.min(max));
    }
}

impl Recovery {
    /// Returns true if duplicate ACKs count as SACKs of unknown segments.
    pub fn guesses(&self) -> bool {
        self.guesses.is_some()
    }

    /// Handles an ACK that advanced the cumulative acknowledgement by `acked` segments; `guessed` segments had been
    /// counted as delivered before.
    #[cold]
    pub fn confirm(&mut self, board: &mut Scoreboard, guessed: u32, acked: u32, delivery: &mut Delivery) {
        let Some(guesses) = &mut self.guesses else { return };
        let known = guessed.min(acked.saturating_sub(1));
        let bytes = board.full_segments(known);
        delivery.bytes = delivery.bytes.saturating_sub(bytes).max(u64::from(acked > 0));
        board.note_known(bytes);
        guesses.count(board, guessed - known, board.segments() + acked);
        let repaired = board.una() >= self.point;
        let counts = match self.phase {
            Phase::Open => false,
            // Linux, tcp_fastretrans_alert: the others continue to count while the episode is not repaired.
            Phase::Recovery => !repaired,
            // Linux, tcp_process_loss: duplicate ACKs of new data continue to count once it is repaired.
            Phase::Loss => repaired,
        };
        if !counts {
            board.forget_guesses();
        }
    }

    /// Handles a duplicate ACK.
    #[cold]
    pub fn guess(&mut self, board: &mut Scoreboard, delivery: &mut Delivery) {
        let Some(guesses) = &mut self.guesses else { return };
        let counts = match self.phase {
            Phase::Open => true,
            Phase::Recovery => board.una() < self.point,
            // Linux, tcp_process_loss: new data was delivered, released by F-RTO or the window.
            Phase::Loss => board.una() < self.point && board.nxt() > self.point,
        };
        if !counts || board.is_empty() {
            return;
        }
        let before = board.forget_guesses();
        guesses.count(board, before + 1, board.segments());
        let more = board.sacked().saturating_sub(before);
        delivery.bytes += board.full_segments(more);
        board.note_guess(more);
    }
}

pub(super) fn on_ack(recovery: &mut Recovery, board: &mut Scoreboard, news: &AckInfo<'_>) -> Verdict {
    let advanced = news.newly_acked > 0;
    let ended = recovery.phase != Phase::Open && board.una() > recovery.point;
    let enough = board.sacked() >= recovery.reordering(board);
    if ended {
        recovery.end();
        // Segments counted after the repair count in this search once more (Linux, tcp_identify_packet_loss).
        board.forget_guesses();
    }
    match recovery.phase {
        Phase::Open if enough => {
            let began = Some(recovery.begin(board));
            board.mark_head_lost();
            Verdict { ended, began, resend_head: true, ..Verdict::default() }
        }
        Phase::Recovery if advanced && board.una() < recovery.point => {
            board.mark_head_lost();
            Verdict::default()
        }
        _ => Verdict { ended, ..Verdict::default() },
    }
}
