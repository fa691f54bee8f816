//! Loss detection, and the start and end of each recovery episode.
//!
//! The congestion control is notified of each episode once. Without SACK, the window is inflated by one segment for
//! each duplicate ACK and deflated later (RFC 5681 §3.2, RFC 6582). This inflation is stored here and added to the
//! window of the congestion control. With SACK, the estimate of the data in flight (pipe) has the same effect (RFC
//! 6675). After a timeout, all data that is not SACKed counts as lost and is retransmitted in slow start.

mod fack;
mod guessed;
mod halving;
mod new_reno;
mod news;
mod prr;
mod rack;
mod reduction;
mod reno;
mod restart;
mod sack;
mod snack;
mod undo;

#[cfg(test)]
mod tests;

pub use news::{AckInfo, RepairRules, Signs, SnackReport, Verdict};

use crate::config::{Reductions, Scheme};
use crate::scoreboard::{Delivery, Scoreboard};
use crate::timer;
use guessed::Guesses;
use lightlag_control::congestion::Phase;
use lightlag_core::Instant;
use rack::Rack;
use reduction::{Reduction, ReductionForm};
use undo::{Episode, Evidence};

/// Number of duplicate ACKs that indicate a loss (RFC 5681 §3.2).
const DUP_THRESHOLD: u32 = 3;

/// Maximum reported degree of reordering (tcp_max_reordering of Linux).
const MOST_REORDERING: u32 = 300;

/// Value of `disorder` if no duplicate ACK arrived since the last new one.
const IN_ORDER: u64 = u64::MAX;

/// Returns true if losses are detected from SACK reports with this scheme.
fn by_sack(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::Sack | Scheme::Rack | Scheme::Fack)
}

/// Method of loss detection, with the state that only it needs.
#[derive(Debug)]
enum Finder {
    /// Detection by the transmission time of segments that were delivered later (RACK).
    Time(Rack),
    /// Detection by the number of duplicate ACKs or SACK reports.
    Count(EpisodeBounds),
}

/// Offsets that bound the episodes of count-based detection.
#[derive(Debug, Default)]
struct EpisodeBounds {
    /// Offset that must be acknowledged before a new episode starts.
    guard: u64,
    /// Once more than this offset is acknowledged, a rescue retransmission is allowed (RFC 6675 RescueRxt).
    rescue: u64,
}

/// State of one sender's loss repair.
#[derive(Debug)]
#[repr(C)]
pub struct Recovery {
    finder: Finder,
    phase: Phase,
    scheme: Scheme,
    limited_transmit: bool,
    way: ReductionForm,
    reductions: Reductions,
    impatient: bool,
    restart_on_loss: bool,
    signs: Signs,
    /// Whether a partial ACK arrived in this episode.
    partial: bool,
    /// Estimate of delivered segments; `None` unless duplicate ACKs count as SACKs of unknown segments.
    guesses: Option<Guesses>,
    duplicates: u32,
    /// Congestion window before the last reduction, in segments.
    prior_window: u32,
    /// Number of bytes added to the window of the congestion control.
    inflation: i64,
    reduction: Option<Box<Reduction>>,
    /// Offset of the next new byte when duplicate ACKs started. Data above it was sent by limited transmit.
    disorder: u64,
    /// The episode ends when this offset is acknowledged.
    point: u64,
    episode: Episode,
    /// First outstanding offset at the last timeout.
    timed_out: u64,
    /// Segments sent later than this may still have been in transit at the last timeout.
    timed_out_before: Instant,
}

impl Recovery {
    /// Returns the state of loss repair with these rules.
    pub fn new(rules: RepairRules) -> Self {
        Self {
            finder: match rules.scheme {
                Scheme::Rack => Finder::Time(Rack::new(rules.rtt_by_offset)),
                _ => Finder::Count(EpisodeBounds::default()),
            },
            phase: Phase::Open,
            scheme: rules.scheme,
            limited_transmit: rules.limited_transmit,
            way: ReductionForm::of(&rules),
            guesses: rules.guesses.then(Guesses::new),
            reductions: rules.reductions,
            impatient: rules.impatient,
            restart_on_loss: false,
            signs: rules.signs,
            reduction: None,
            episode: Episode::none(),
            partial: false,
            duplicates: 0,
            point: 0,
            inflation: 0,
            prior_window: 0,
            disorder: IN_ORDER,
            timed_out: u64::MAX,
            timed_out_before: Instant::ZERO,
        }
    }

    /// Returns the phase of loss repair.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns the number of duplicate ACKs since the last new one.
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Returns the degree of reordering in segments, 3 to 300 (tcpi_reordering of Linux). It is 3 if no reordering was
    /// seen.
    pub fn reordering(&self, board: &Scoreboard) -> u32 {
        if let Some(guesses) = &self.guesses {
            return guesses.threshold.get().into();
        }
        let degree = match self.rack().map_or(0, Rack::reordered) {
            0 => 0,
            // Counted from the start of the late segment.
            bytes => bytes.div_ceil(board.segment_size()) + 1,
        };
        degree.clamp(DUP_THRESHOLD, MOST_REORDERING)
    }

    /// Returns true if RACK has seen reordering of more segments than the duplicate threshold.
    pub fn is_reordered(&self, board: &Scoreboard) -> bool {
        self.rack().is_some_and(|rack| rack.reordered() > 0) && self.reordering(board) > DUP_THRESHOLD
    }

    /// Returns the number of ACKs that showed reordering (tcpi_reord_seen of Linux).
    pub fn reordering_seen(&self) -> u32 {
        let late = self.rack().map_or(0, Rack::seen);
        self.guesses.map_or(late, |guesses| guesses.seen.into())
    }

    /// Returns true if losses are detected from SACK reports.
    pub fn uses_sack(&self) -> bool {
        by_sack(self.scheme)
    }

    /// Returns true if losses are detected from reports of the peer, SACK or SNACK.
    pub fn is_selective(&self) -> bool {
        self.uses_sack() || self.uses_snack()
    }

    /// Returns true if losses are detected from SNACK reports.
    pub fn uses_snack(&self) -> bool {
        self.scheme == Scheme::Snack
    }

    /// Returns true if retransmissions are now sent independently of the window.
    pub fn repairs_at_once(&self) -> bool {
        self.phase == Phase::Recovery && self.uses_snack()
    }

    /// Returns true if losses are detected by time (RACK).
    pub fn uses_rack(&self) -> bool {
        self.scheme == Scheme::Rack
    }

    /// Returns the state of RACK; `None` with other schemes.
    #[inline]
    fn rack(&self) -> Option<&Rack> {
        match &self.finder {
            Finder::Time(rack) => Some(rack),
            Finder::Count(_) => None,
        }
    }

    /// Stops the reordering timer, for example when the connection is closed.
    pub fn stop(&mut self) {
        if let Finder::Time(rack) = &mut self.finder {
            rack.timer = Instant::MAX;
        }
    }

    /// Moves the reordering timer to a tick of the clock, as in Linux.
    pub fn put_off_timer(&mut self) {
        if let Finder::Time(rack) = &mut self.finder
            && !rack.step.is_at(rack.timer)
        {
            rack.timer = timer::fires(rack.timer, timer::LEAST);
            rack.step = timer::WheelStep::of(rack.timer);
        }
    }

    /// Returns when [`Self::on_timer`] must be called next; [`Instant::MAX`] if no timer runs.
    #[inline]
    pub fn timer(&self) -> Instant {
        self.rack().map_or(Instant::MAX, |rack| rack.timer)
    }

    /// Returns the offset that must be acknowledged before count-based detection starts a new episode.
    fn guard(&self) -> u64 {
        if let Finder::Count(count) = &self.finder { count.guard } else { 0 }
    }

    fn set_guard(&mut self, offset: u64) {
        if let Finder::Count(count) = &mut self.finder {
            count.guard = offset;
        }
    }

    /// Returns true if, without SACK, duplicate ACKs reduce FlightSize and a new episode may directly follow another
    /// (ns-3).
    fn by_duplicates(&self) -> bool {
        self.reductions == Reductions::Ns3 && matches!(self.scheme, Scheme::Reno | Scheme::NewReno)
    }

    /// Returns true if window reductions follow Linux's rules.
    fn is_kernel(&self) -> bool {
        self.reductions == Reductions::Linux
    }

    /// Handles the transmission of new data, or of a retransmission if `again` is true. `pipe` is the amount of data in
    /// flight, including this segment.
    pub fn sent(&mut self, now: Instant, bytes: u32, again: bool, pipe: u64) {
        match self.reduction.as_deref_mut() {
            Some(Reduction::Proportional(prr)) => prr.sent(u64::from(bytes)),
            Some(Reduction::Halving(halving)) => halving.sent(pipe),
            None => {}
        }
        if again {
            self.episode.resent(now);
        }
    }

    /// Disables the undoing of reductions, because another mechanism retransmits data and ACKs then do not show which
    /// copy arrived.
    pub fn believe_no_signs(&mut self) {
        self.signs = Signs { eifel: false, dsack: false, frto: false };
    }

    /// Returns true if F-RTO requires two new segments before retransmissions continue (RFC 5682).
    pub fn wants_new_data(&self) -> bool {
        self.phase == Phase::Loss && self.episode.wants_new_data()
    }

    /// Called when pacing delays the next segment. During the F-RTO test, Linux tries to send new data once
    /// (`tcp_xmit_recovery`), and retransmits when the pacing delay is over (`tcp_tsq_write`). If new data was sent,
    /// the test continues while lost data is retransmitted.
    #[inline]
    pub fn held_in_test(&mut self, board: &Scoreboard) {
        if self.wants_new_data() && self.is_kernel() && !self.uses_sack() {
            self.episode.repair_in_test(board.nxt() > self.point);
        }
    }

    /// Ends the F-RTO test because there is no new data to send.
    pub fn give_up_test(&mut self) {
        self.episode.give_up_test();
    }

    /// Returns the amount of data that counts against the window: the pipe, or, outside recovery and without limited
    /// transmit, all outstanding data.
    pub fn outstanding(&self, board: &Scoreboard) -> u64 {
        if self.phase == Phase::Open && !self.limited_transmit { board.flight() } else { board.pipe() }
    }

    /// Handles an ACK that acknowledges new data and reports no duplicate, after the scoreboard was updated. Returns
    /// true if no further processing is needed, which is the common case: all data is in order and was sent once.
    /// Otherwise losses must be checked.
    #[inline(always)]
    pub fn follow(&mut self, now: Instant, delivery: &Delivery, board: &Scoreboard) -> bool {
        let Finder::Time(rack) = &mut self.finder else { return false };
        if self.phase != Phase::Open || board.may_be_overdue() {
            return false;
        }
        if self.duplicates > 0 {
            self.duplicates = 0;
            self.disorder = IN_ORDER;
        }
        rack.follow(now, delivery);
        true
    }

    /// Handles an ACK that [`Self::follow`] does not handle, after the scoreboard was updated.
    pub fn judge(&mut self, board: &mut Scoreboard, news: &AckInfo<'_>) -> Verdict {
        if news.newly_acked > 0 {
            self.duplicates = 0;
            self.disorder = IN_ORDER;
        }
        if news.duplicate {
            self.duplicates = self.duplicates.saturating_add(1);
            self.disorder = self.disorder.min(board.nxt());
        }
        let tested = self.wants_new_data();
        let kernel = self.is_kernel();
        if let Finder::Time(rack) = &mut self.finder {
            rack.observe(board, news, kernel);
        }
        match undo::evidence(self, board, news) {
            Evidence::Spurious => {
                let ended = self.phase != Phase::Open;
                self.end();
                self.episode = Episode::none();
                board.unmark_lost();
                return Verdict { ended, undone: true, ..Verdict::default() };
            }
            Evidence::Late => return Verdict::default(),
            Evidence::None => {}
        }
        if tested && news.duplicate && !self.uses_sack() && !self.guesses() {
            // RFC 5682 §2.1 step 3a: the timeout was right. Its repair continues from the first segment, as if the new
            // ones had not been sent: without SACK they would count as in flight until it is complete.
            board.mark_all_lost(Instant::MAX);
        }
        let verdict = match self.scheme {
            Scheme::Rack => rack::on_ack(self, board, news),
            Scheme::Sack => sack::on_ack(self, board),
            Scheme::Fack => fack::on_ack(self, board),
            Scheme::Snack => snack::on_ack(self, board, news),
            _ if self.guesses() => guessed::on_ack(self, board, news),
            _ if self.phase == Phase::Loss => Verdict { ended: self.end_if_repaired(board), ..Verdict::default() },
            Scheme::NewReno => new_reno::on_ack(self, board, news),
            Scheme::Reno => reno::on_ack(self, board, news),
        };
        self.restart_if_wanted(board, verdict)
    }

    /// Handles the expiry of the reordering timer.
    pub fn on_timer(&mut self, board: &mut Scoreboard, news: &AckInfo<'_>) -> Verdict {
        let verdict = rack::on_timer(self, board, news);
        self.restart_if_wanted(board, verdict)
    }

    /// Returns the next lost record to retransmit, if there is one. Retransmissions precede new data.
    pub fn next_lost(&self, board: &mut Scoreboard) -> Option<u64> {
        if self.phase == Phase::Open || self.wants_new_data() { None } else { board.next_lost() }
    }

    /// Returns the next record to retransmit speculatively when there is neither lost nor new data to send, and whether
    /// this is the rescue retransmission (RFC 6675 §4 NextSeg rules 3 and 4).
    pub fn next_speculative(&self, board: &mut Scoreboard) -> Option<(u64, bool)> {
        if self.phase != Phase::Recovery || self.scheme != Scheme::Sack {
            None
        } else {
            sack::next_speculative(self, board)
        }
    }

    /// Records that the end of the outstanding data is retransmitted as a rescue, which is allowed once per episode.
    pub fn rescued(&mut self) {
        self.set_rescue(self.point);
    }

    fn set_rescue(&mut self, offset: u64) {
        if let Finder::Count(count) = &mut self.finder {
            count.rescue = offset;
        }
    }

    fn begin(&mut self, board: &Scoreboard) -> u64 {
        let flight = if self.by_duplicates() {
            self.flight_less_duplicates(board).saturating_sub(u64::from(board.segment_size()))
        } else {
            self.flight_before_disorder(board)
        };
        // Linux, tcp_enter_recovery: the reduction for a mark continues.
        if !(self.is_kernel() && self.reduces_for_mark(board)) {
            self.reduction = None;
        }
        self.phase = Phase::Recovery;
        self.point = board.nxt();
        self.partial = false;
        self.episode = Episode::begin_after(board.una(), board.head_left_again(), board.repairs_on_the_way());
        flight
    }

    /// Returns the amount of data in flight in bytes, if each duplicate ACK shows that a segment has left the network.
    fn flight_less_duplicates(&self, board: &Scoreboard) -> u64 {
        board.flight().saturating_add_signed(-self.inflation)
    }

    /// Returns FlightSize without the segments sent by limited transmit (RFC 5681 §3.2 step 2).
    fn flight_before_disorder(&self, board: &Scoreboard) -> u64 {
        board.nxt().min(self.disorder).saturating_sub(board.una())
    }

    fn end_if_repaired(&mut self, board: &Scoreboard) -> bool {
        let ended = self.phase != Phase::Open && board.una() >= self.point;
        if ended {
            self.end();
            if let Finder::Time(rack) = &mut self.finder {
                rack.end_episode();
            }
        }
        ended
    }

    fn end(&mut self) {
        self.phase = Phase::Open;
        self.inflation = 0;
        self.reduction = None;
    }

    /// Counts duplicate ACKs without SACK. The third one starts an episode.
    fn count_duplicates(&mut self, board: &mut Scoreboard) -> Verdict {
        if self.duplicates < DUP_THRESHOLD || board.una() < self.guard() {
            // RFC 3042: two segments beyond the window.
            let extra = if self.limited_transmit { self.duplicates.min(DUP_THRESHOLD - 1) } else { 0 };
            self.inflation = i64::from(extra) * i64::from(board.segment_size());
            return Verdict::default();
        }
        let flight = self.begin(board);
        let segment = i64::from(board.segment_size());
        // ns-3 counts the ACK that starts it, and those counted by limited transmit.
        let left = if self.by_duplicates() { self.inflation + segment } else { i64::from(DUP_THRESHOLD) * segment };
        self.inflation = left;
        board.mark_head_lost();
        Verdict { began: Some(flight), resend_head: true, ..Verdict::default() }
    }
}
