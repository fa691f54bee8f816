//! NewReno (RFC 6582): an episode repairs all losses of one window, one per round trip. The retransmission timer
//! restarts only with the first partial ACK ("Impatient") or with each ("Slow-but-Steady", §4).

use super::{AckInfo, Recovery, Verdict};
use crate::scoreboard::Scoreboard;
use lightlag_control::congestion::Phase;

pub(super) fn on_ack(recovery: &mut Recovery, board: &mut Scoreboard, news: &AckInfo<'_>) -> Verdict {
    let segment = i64::from(board.segment_size());
    if recovery.phase == Phase::Open {
        let verdict = recovery.count_duplicates(board);
        if verdict.began.is_some() {
            // §3.2 step 1: the next episode needs an ACK of more than `recover`.
            recovery.set_guard(recovery.point + u64::from(!recovery.by_duplicates()));
        }
        return verdict;
    }
    if news.duplicate {
        recovery.inflation += segment;
    }
    if news.newly_acked == 0 {
        return Verdict::default();
    }
    if recovery.end_if_repaired(board) {
        // Step 3, full ACK, option 2: the window is ssthresh.
        return Verdict { ended: true, ..Verdict::default() };
    }
    // Step 3, partial ACK: the next hole is retransmitted, and the window shrinks by the data that left the network.
    recovery.inflation -= news.newly_acked as i64;
    if news.newly_acked as i64 >= segment {
        recovery.inflation += segment;
    }
    if recovery.by_duplicates() {
        // ns-3 subtracts only the duplicate ACKs, never more: the window stays at ssthresh.
        recovery.inflation = recovery.inflation.max(0);
    }
    let first = !recovery.partial;
    recovery.partial = true;
    board.mark_head_lost();
    let keep_timer = recovery.impatient && !first;
    Verdict { resend_head: true, keep_timer, ..Verdict::default() }
}
