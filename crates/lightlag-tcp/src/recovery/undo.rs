//! Detection of spurious recovery episodes, whose window reductions are undone.
//!
//! There are three signs: the ACK echoes a timestamp older than the first retransmission (Eifel, RFC 3522); every
//! retransmission of the episode was reported as a duplicate (RFC 2883, RFC 3708); or, after a timeout, data is
//! delivered that was never retransmitted (F-RTO, RFC 5682).

use super::{AckInfo, Finder, Recovery};
use crate::scoreboard::Scoreboard;
use lightlag_control::congestion::Phase;
use lightlag_core::Instant;

/// Progress of the F-RTO test (RFC 5682 §2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrtoState {
    /// No test is running, or it failed.
    Off,
    /// Step 1: the first segment was retransmitted.
    Head,
    /// Step 2: new data is sent instead of more retransmissions.
    New,
    /// New data was sent, and its ACK still decides the test, but retransmissions continue meanwhile.
    Beside,
}

/// State of an episode that may be undone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Episode {
    test: FrtoState,
    /// Time of the first retransmission of the episode; [`Instant::MAX`] before it.
    first_resent: Instant,
    /// Number of retransmissions that were not yet reported as duplicates.
    unreported: u32,
    /// First outstanding offset at the start of the episode.
    marker: u64,
    /// Whether the segment at [`Self::marker`] had been retransmitted before the episode. An old timestamp then belongs
    /// to an earlier copy, and proves nothing.
    resent_before: bool,
    active: bool,
}

impl Episode {
    pub(super) fn none() -> Self {
        Self {
            test: FrtoState::Off,
            first_resent: Instant::MAX,
            unreported: 0,
            marker: 0,
            resent_before: false,
            active: false,
        }
    }

    pub(super) fn begin(marker: u64) -> Self {
        Self { marker, active: true, ..Self::none() }
    }

    /// Starts an episode while `on_the_way` retransmissions of earlier losses are still in flight, possibly including
    /// one of the first segment. Each of them may still be reported as a duplicate.
    pub(super) fn begin_after(marker: u64, resent_before: bool, on_the_way: u32) -> Self {
        Self { resent_before, unreported: on_the_way, ..Self::begin(marker) }
    }

    /// Starts the F-RTO test after a timeout.
    pub(super) fn begin_test(&mut self) {
        self.test = FrtoState::Head;
    }

    /// Returns true if no ACK has arrived since the test started.
    pub(super) fn tests_head(&self) -> bool {
        self.test == FrtoState::Head
    }

    /// Returns true if F-RTO now sends new data instead of retransmissions.
    pub(super) fn wants_new_data(&self) -> bool {
        self.test == FrtoState::New
    }

    /// Lets retransmissions continue. If new data was sent (`left`), the test continues at the same time; otherwise it
    /// ends.
    pub(super) fn repair_in_test(&mut self, left: bool) {
        self.test = if left { FrtoState::Beside } else { FrtoState::Off };
    }

    /// Ends the test because there is no new data to send; retransmissions continue (RFC 5682 §2.1 step 2).
    pub(super) fn give_up_test(&mut self) {
        self.test = FrtoState::Off;
    }

    pub(super) fn resent(&mut self, now: Instant) {
        self.first_resent = self.first_resent.min(now);
        self.unreported += 1;
    }
}

/// Evidence that an ACK gives about the current episode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Evidence {
    /// No evidence: the episode may be justified.
    None,
    /// A segment was late rather than lost, but retransmissions of others are still in flight. No further data counts
    /// as lost (Linux, `tcp_try_undo_partial`).
    Late,
    /// The episode was spurious.
    Spurious,
}

/// Returns the evidence that an ACK gives about the current episode. If the original of a retransmitted segment
/// arrived, RACK's degree of reordering increases, as in Linux (`tcp_try_undo_partial`, `tcp_check_sack_reordering`).
pub(super) fn evidence(recovery: &mut Recovery, board: &Scoreboard, news: &AckInfo<'_>) -> Evidence {
    let signs = recovery.signs;
    let loss = recovery.phase == Phase::Loss;
    let sack = recovery.uses_sack();
    let point = recovery.point;
    let patient = sack || recovery.is_kernel();
    let episode = &mut recovery.episode;
    if !episode.active {
        return Evidence::None;
    }
    // RFC 3708: reports may arrive after the end of the repair.
    if signs.dsack && episode.unreported > 0 && news.dsack.is_some_and(|twice| twice.end > episode.marker) {
        episode.unreported -= 1;
        if episode.unreported == 0 {
            return Evidence::Spurious;
        }
    }
    if recovery.phase == Phase::Open {
        return Evidence::None;
    }
    if signs.eifel && episode.echoes_original(board, news) {
        return recovery.note_original(board, news);
    }
    if loss && signs.frto && episode.passes_test(board, news, sack, patient, point) {
        return Evidence::Spurious;
    }
    Evidence::None
}

impl Recovery {
    /// Handles the arrival of the original of a segment that had been retransmitted.
    fn note_original(&mut self, board: &Scoreboard, news: &AckInfo<'_>) -> Evidence {
        let partial = self.is_kernel() && self.phase == Phase::Recovery && board.una() < self.point;
        let Finder::Time(rack) = &mut self.finder else { return Evidence::Spurious };
        if !partial {
            return Evidence::Spurious;
        }
        rack.note_late(board.una() - news.newly_acked + u64::from(board.segment_size()));
        if board.repairs_on_the_way() > 0 { Evidence::Late } else { Evidence::Spurious }
    }
}

impl Episode {
    /// Returns true if an ACK of new data echoes a timestamp older than the first retransmission (RFC 3522 §3.2).
    fn echoes_original(&self, board: &Scoreboard, news: &AckInfo<'_>) -> bool {
        !self.resent_before
            && news.newly_acked > 0
            && board.una() > self.marker
            && self.first_resent != Instant::MAX
            && news.echoed.is_some_and(|until| until <= self.first_resent)
    }

    /// Advances the F-RTO test with an ACK, and returns true if the timeout proved spurious (RFC 5682 §2.1, with SACK
    /// §3.1). If `patient` is true, ACKs that acknowledge nothing new may precede the first one that does (as with
    /// SACK, and in Linux also without it: `tcp_process_loss`).
    fn passes_test(&mut self, board: &Scoreboard, news: &AckInfo<'_>, sack: bool, patient: bool, point: u64) -> bool {
        let advanced = news.newly_acked > 0;
        let step = self.test;
        if step == FrtoState::Off {
            return false;
        }
        if sack && news.delivery.original {
            return true;
        }
        self.test = match step {
            FrtoState::Head if advanced && board.una() < point => FrtoState::New,
            FrtoState::Head if !advanced && patient => FrtoState::Head,
            FrtoState::New if !advanced && !news.duplicate => FrtoState::New,
            FrtoState::Beside if !news.duplicate => FrtoState::Beside,
            _ => FrtoState::Off,
        };
        let proves = step == FrtoState::New || step == FrtoState::Beside && !news.delivery.retransmitted;
        proves && advanced && !sack
    }
}
