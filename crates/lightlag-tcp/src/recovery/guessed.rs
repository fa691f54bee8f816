//! Repair without SACK, as in Linux: each duplicate ACK counts as a SACK of some segment after the first, so that
//! proportional rate reduction works (RFC 9937) and limited transmit (RFC 3042) needs no rule of its own.
//!
//! Three such segments mark the first one as lost; a partial ACK marks the next (RFC 6582 §3.2). An ACK of n segments
//! covers one that was missing and n - 1 that were counted before (`tcp_remove_reno_sacks`). If more are counted than
//! can have left the network, the network reorders. From then on, a loss takes as many duplicate ACKs as segments were
//! outstanding (`tcp_check_reno_reordering`). An episode, also one after a timeout, lasts until more data is
//! acknowledged than was outstanding at its start: until then, duplicate ACKs may answer its own retransmissions (RFC
//! 6582 §3.2 step 1; `tcp_is_non_sack_preventing_reopen`). What duplicate ACKs of new data have counted after a timeout
//! counts on until then, and may mark the first segment once more (`tcp_process_loss`, `tcp_identify_packet_loss`).

use super::{DUP_THRESHOLD, MOST_REORDERING, News, Recovery, Verdict};
use crate::scoreboard::{Delivery, Scoreboard};
use lightlag_control::congestion::Phase;
use std::num::NonZeroU16;

/// [`DUP_THRESHOLD`], the kernel's initial value.
const AT_FIRST: NonZeroU16 = NonZeroU16::new(DUP_THRESHOLD as u16).unwrap();

/// The reordering shown by duplicate ACKs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guesses {
    /// Number of duplicates that mark the first segment as lost (tcp_reordering of Linux).
    pub(super) threshold: NonZeroU16,
    /// How often there were too many.
    pub(super) seen: u16,
}

impl Guesses {
    pub(super) fn new() -> Self {
        Self { threshold: AT_FIRST, seen: 0 }
    }

    /// Counts this many segments as delivered, at most as many as possible. `outstanding`: segments before.
    fn count(&mut self, board: &mut Scoreboard, segments: u32, outstanding: u32) {
        let most = board.most_guessed();
        if segments > most {
            let outstanding = outstanding.min(MOST_REORDERING) as u16;
            self.threshold = NonZeroU16::new(outstanding).unwrap_or(AT_FIRST);
            self.seen = self.seen.saturating_add(1);
        }
        board.guess(segments.min(most));
    }
}

impl Recovery {
    /// Whether duplicate ACKs count as SACKs.
    pub fn guesses(&self) -> bool {
        self.guesses.is_some()
    }

    /// Handles an ACK that moved the cumulative acknowledgement over `acked` segments, with this many counted as
    /// delivered before.
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
            // Linux, tcp_process_loss: those of new data continue to count once it is.
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
            // Linux, tcp_process_loss: new data was delivered, which F-RTO or the window had released.
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

pub(super) fn on_ack(recovery: &mut Recovery, board: &mut Scoreboard, news: &News<'_>) -> Verdict {
    let advanced = news.newly_acked > 0;
    let ended = recovery.phase != Phase::Open && board.una() > recovery.point;
    let enough = board.sacked() >= recovery.reordering(board);
    if ended {
        recovery.end();
        // What counted after the repair counts in this search once more (Linux, tcp_identify_packet_loss).
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
