//! Loss by forward acknowledgement, as ns-2's TCP-Linux has it (`LinuxTcpAgent::tcp_fastretrans_alert`): what is found
//! lost begins fast recovery, in a repair after a timeout, too. Either ends when everything that was outstanding at its
//! start is acknowledged, and what was reported until then is forgotten: losses above it are found anew.

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
