//! Fast retransmit and fast recovery (RFC 5681 §3.2): each episode repairs one loss.

use super::{AckInfo, Recovery, Verdict};
use crate::scoreboard::Scoreboard;
use lightlag_control::congestion::Phase;

pub(super) fn on_ack(recovery: &mut Recovery, board: &mut Scoreboard, news: &AckInfo<'_>) -> Verdict {
    if recovery.phase == Phase::Open {
        return recovery.count_duplicates(board);
    }
    if news.newly_acked > 0 {
        // Step 6: the first new ACK deflates the window.
        recovery.end();
        return Verdict { ended: true, ..Verdict::default() };
    }
    if news.duplicate {
        // Step 4: a segment left the network.
        recovery.inflation += i64::from(board.segment_size());
    }
    Verdict::default()
}
