//! Loss recovery based on SACK (RFC 6675).

use super::{DUP_THRESHOLD, Finder, Recovery, Verdict};
use crate::scoreboard::Scoreboard;
use lightlag_control::congestion::Phase;

pub(super) fn on_ack(recovery: &mut Recovery, board: &mut Scoreboard) -> Verdict {
    if board.any_sacked() {
        board.mark_lost();
    }
    let ended = recovery.end_if_repaired(board);
    // §5: the third duplicate ACK, or the first segment lost by the data SACKed above it.
    let third = recovery.duplicates >= DUP_THRESHOLD && board.head().is_some();
    let lost = board.any_sacked() && (third || board.head_lost());
    if recovery.phase != Phase::Open || !lost || board.una() < recovery.guard() {
        return Verdict { ended, ..Verdict::default() };
    }
    let flight = recovery.begin(board);
    board.mark_head_lost();
    recovery.set_guard(recovery.point);
    // §5 step 4.3: HighRxt and RescueRxt are the first retransmission's end.
    recovery.set_rescue(board.head_end());
    // Lost data from the end of the last episode may be in flight again already.
    let resend_head = board.head().is_some_and(|head| !board.was_retransmitted(head));
    Verdict { ended, began: Some(flight), resend_head, ..Verdict::default() }
}

/// Returns the next retransmission by rules 3 and 4 of NextSeg (RFC 6675 §4): data below the highest SACKed segment
/// that does not count as lost yet, or, once per episode, the end of the outstanding data as a rescue (true).
pub(super) fn next_speculative(recovery: &Recovery, board: &mut Scoreboard) -> Option<(u64, bool)> {
    if let Some(hole) = board.next_hole() {
        return Some((hole, false));
    }
    let Finder::Count(count) = &recovery.finder else { return None };
    if board.una() <= count.rescue {
        return None;
    }
    board.last_unsacked().map(|last| (last, true))
}
