//! Detection of spurious episodes, whose reactions are undone.
//!
//! Three signs: the ACK echoes a timestamp older than the first retransmission (Eifel, RFC 3522); every
//! retransmission of the episode was reported as a duplicate (RFC 2883, RFC 3708); after a timeout data is
//! delivered that was never sent again (F-RTO, RFC 5682).

use super::{Finder, News, Recovery};
use crate::scoreboard::Scoreboard;
use lightlag_control::congestion::Phase;
use lightlag_core::Instant;

/// The progress of F-RTO (RFC 5682 §2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    /// No test, or it failed.
    Off,
    /// Step 1: the head was sent again.
    Head,
    /// Step 2: new data leaves instead of more retransmissions.
    New,
    /// New data left, and repairs follow: only data sent once proves anything (Linux, FLAG_ORIG_SACK_ACKED).
    Beside,
}

/// The facts about an episode that may have to be undone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Episode {
    test: Test,
    /// Time of the first retransmission; [`Instant::MAX`] before it.
    first_resent: Instant,
    /// Retransmissions not yet reported as duplicates.
    unreported: u32,
    /// The first offset outstanding at the start.
    marker: u64,
    /// Whether the segment there had been sent again before: an old timestamp then belongs to its earlier copy.
    resent_before: bool,
    active: bool,
}

impl Episode {
    pub(super) fn none() -> Self {
        Self {
            test: Test::Off,
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

    /// Starts an episode while repairs of earlier losses are still in flight: this many of them, and perhaps that of
    /// its first segment. Each of them may still be reported as a duplicate.
    pub(super) fn begin_after(marker: u64, resent_before: bool, on_the_way: u32) -> Self {
        Self { resent_before, unreported: on_the_way, ..Self::begin(marker) }
    }

    /// Starts the test of F-RTO after a timeout.
    pub(super) fn begin_test(&mut self) {
        self.test = Test::Head;
    }

    /// Whether there has been no news since the test started.
    pub(super) fn tests_head(&self) -> bool {
        self.test == Test::Head
    }

    /// Whether F-RTO wants new data instead of retransmissions now.
    pub(super) fn wants_new_data(&self) -> bool {
        self.test == Test::New
    }

    /// Repairs continue; so does the test, if new data left.
    pub(super) fn repair_in_test(&mut self, left: bool) {
        self.test = if left { Test::Beside } else { Test::Off };
    }

    /// There is no new data to send: the repair continues (RFC 5682 §2.1 step 2).
    pub(super) fn give_up_test(&mut self) {
        self.test = Test::Off;
    }

    pub(super) fn resent(&mut self, now: Instant) {
        self.first_resent = self.first_resent.min(now);
        self.unreported += 1;
    }
}

/// The evidence of an ACK against the current episode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Evidence {
    /// None.
    None,
    /// A segment was late and not lost, but repairs of others are still in flight. Nothing more is taken as lost (Linux,
    /// `tcp_try_undo_partial`).
    Late,
    /// The episode was spurious.
    Spurious,
}

/// Returns the evidence of an ACK about the current episode. A segment whose original arrived teaches RACK that data is late on
/// this path, as in Linux (`tcp_try_undo_partial`, `tcp_check_sack_reordering`).
pub(super) fn evidence(recovery: &mut Recovery, board: &Scoreboard, news: &News<'_>) -> Evidence {
    let signs = recovery.signs;
    let loss = recovery.phase == Phase::Loss;
    let sack = recovery.uses_sack();
    let point = recovery.point;
    let patient = sack || recovery.is_kernel();
    let episode = &mut recovery.episode;
    if !episode.active {
        return Evidence::None;
    }
    // RFC 3708: reports may come after the end of the repair.
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
    /// Handles the arrival of an original whose copy had left.
    fn note_original(&mut self, board: &Scoreboard, news: &News<'_>) -> Evidence {
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
    /// Whether an ACK of new data echoes a timestamp older than the first retransmission (RFC 3522 §3.2).
    fn echoes_original(&self, board: &Scoreboard, news: &News<'_>) -> bool {
        !self.resent_before
            && news.newly_acked > 0
            && board.una() > self.marker
            && self.first_resent != Instant::MAX
            && news.echoed.is_some_and(|until| until <= self.first_resent)
    }

    /// RFC 5682 §2.1, with SACK §3.1. `patient`: ACKs that do not advance may come before the first that does (as with
    /// SACK, and in Linux without it: `tcp_process_loss`).
    fn passes_test(&mut self, board: &Scoreboard, news: &News<'_>, sack: bool, patient: bool, point: u64) -> bool {
        let advanced = news.newly_acked > 0;
        let step = self.test;
        if step == Test::Off {
            return false;
        }
        if sack && news.delivery.original {
            return true;
        }
        self.test = match step {
            Test::Head if advanced && board.una() < point => Test::New,
            Test::Head if !advanced && patient => Test::Head,
            Test::New if !advanced && !news.duplicate => Test::New,
            Test::Beside if !news.duplicate => Test::Beside,
            _ => Test::Off,
        };
        let proves = step == Test::New || step == Test::Beside && !news.delivery.retransmitted;
        proves && advanced && !sack
    }
}
