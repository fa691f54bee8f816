//! Loss detection by forward acknowledgement, as in ns-2's TCP-Linux (`LinuxTcpAgent::tcp_fastretrans_alert`). A loss
//! starts fast recovery, even during the repair after a timeout. Fast recovery, or the repair after a timeout, ends
//! when all data outstanding at its start is acknowledged. SACK information is then discarded, so losses of later data
//! are detected again.

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
