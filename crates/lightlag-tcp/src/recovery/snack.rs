//! Repair by negative acknowledgements (SCPS-TP): data that the peer reports as missing is retransmitted immediately,
//! without duplicate ACKs and independently of the congestion window, because it replaces data that left the network.
//!
//! ACKs arrive more often than once per round trip, and each reports a hole until its retransmission has arrived.
//! Therefore a segment is retransmitted again only after a round trip. The third duplicate ACK indicates that the first
//! outstanding segment is missing, as in Reno.

use super::{AckInfo, DUP_THRESHOLD, Recovery, Verdict};
use crate::scoreboard::{Range, Scoreboard};
use lightlag_control::congestion::Phase;
use lightlag_core::{Duration, Instant};

pub(super) fn on_ack(recovery: &mut Recovery, board: &mut Scoreboard, news: &AckInfo<'_>) -> Verdict {
    let guard = news.snack.map_or(news.srtt, |report| report.guard);
    let lost = find_losses(recovery, board, news, guard);
    let ended = recovery.end_if_repaired(board);
    if recovery.phase != Phase::Open || !lost {
        return Verdict { ended, ..Verdict::default() };
    }
    Verdict { ended, began: Some(recovery.begin(board)), ..Verdict::default() }
}

fn find_losses(recovery: &Recovery, board: &mut Scoreboard, news: &AckInfo<'_>, guard: Duration) -> bool {
    let Some(before) = news.now.as_nanos().checked_sub(guard.as_nanos()).map(Instant::from_nanos) else {
        return false;
    };
    let mut lost = false;
    for hole in news.snack.map_or(&[][..], |report| &report.missing) {
        lost |= board.report_missing(*hole, before);
    }
    if recovery.duplicates >= DUP_THRESHOLD && board.head().is_some() {
        let (start, end) = (board.una(), board.head_end());
        lost |= board.report_missing(Range { start, end }, before);
    }
    lost
}
