//! Loss by forward acknowledgement, as in ns-2's TCP-Linux (`LinuxTcpAgent::tcp_fastretrans_alert`). A loss starts fast
//! recovery, even in a repair after a timeout. Either ends when all data outstanding at its start is acknowledged.
//! Reports until then are forgotten: losses above are found anew.

use super::{Recovery, Verdict};
use crate::scoreboard::Scoreboard;
use lightlag_control::congestion::Phase;

pub(super) fn on_ack(recovery: &mut Recovery, board: &mut Scoreboard) -> Verdict {
    let lost = board.mark_behind();
    if recovery.end_if_repaired(board) {
        board.forget_reports();
        return Verdict { ended: true, ..Verdict::default() };
    }
    if !lost || recovery.phase == Phase::Recovery {
        return Verdict::default();
    }
    Verdict { began: Some(recovery.begin(board)), ..Verdict::default() }
}
