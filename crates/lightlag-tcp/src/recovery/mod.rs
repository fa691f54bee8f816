//! Loss detection, and the start and end of each episode of repair.
//!
//! The congestion control is told of each episode once. Without SACK the window is inflated by one segment for each
//! duplicate ACK and deflated again (RFC 5681 §3.2, RFC 6582); the inflation is kept here, on top of the window of the
//! congestion control. With SACK the pipe does that work (RFC 6675). After a timeout all data that is not SACKed counts
//! as lost and leaves again in slow start.

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

pub use news::{News, Report, Rules, Signs, Verdict};

use crate::config::{Reductions, Scheme};
use crate::scoreboard::{Delivery, Scoreboard};
use crate::timer;
use guessed::Guesses;
use lightlag_control::congestion::Phase;
use lightlag_core::Instant;
use rack::Rack;
use reduction::{Reduction, Way};
use undo::{Episode, Evidence};

/// Duplicate ACKs that mean a loss (RFC 5681 §3.2).
const DUP_THRESHOLD: u32 = 3;

/// The largest reported degree of reordering (tcp_max_reordering of Linux).
const MOST_REORDERING: u32 = 300;

/// No duplicate ACK since the last new one.
const IN_ORDER: u64 = u64::MAX;

/// Whether this scheme repairs by SACK reports.
fn by_sack(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::Sack | Scheme::Rack | Scheme::Fack)
}

/// How losses are found, with the state that only this way needs.
#[derive(Debug)]
enum Finder {
    /// By the time of later segments.
    Time(Rack),
    /// By the number of reports.
    Count(Count),
}

/// The bounds of episodes that a number of reports starts.
#[derive(Debug, Default)]
struct Count {
    /// No new episode starts before this is acknowledged.
    guard: u64,
    /// RFC 6675 RescueRxt: one rescue retransmission once more than this is acknowledged.
    rescue: u64,
}

/// The state of repair of one sender.
#[derive(Debug)]
#[repr(C)]
pub struct Recovery {
    finder: Finder,
    phase: Phase,
    scheme: Scheme,
    limited_transmit: bool,
    way: Way,
    reductions: Reductions,
    impatient: bool,
    restart_on_loss: bool,
    signs: Signs,
    /// A partial ACK came in this episode.
    partial: bool,
    /// The guesses, if duplicate ACKs count as SACKs.
    guesses: Option<Guesses>,
    duplicates: u32,
    /// The congestion window before the last reduction, in segments.
    prior_window: u32,
    /// Bytes by which the window differs from that of the congestion control.
    inflation: i64,
    reduction: Option<Box<Reduction>>,
    /// The next new offset when duplicate ACKs started; later segments belong to limited transmit.
    disorder: u64,
    /// The episode ends when this is acknowledged.
    point: u64,
    episode: Episode,
    /// The first offset outstanding at the last timeout.
    timed_out: u64,
    /// Segments that left later may have been in flight at the last timeout.
    timed_out_before: Instant,
}

impl Recovery {
    /// A recovery by these rules.
    pub fn new(rules: Rules) -> Self {
        Self {
            finder: match rules.scheme {
                Scheme::Rack => Finder::Time(Rack::new(rules.rtt_by_offset)),
                _ => Finder::Count(Count::default()),
            },
            phase: Phase::Open,
            scheme: rules.scheme,
            limited_transmit: rules.limited_transmit,
            way: Way::of(&rules),
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

    /// The losses being repaired.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Duplicate ACKs since the last new one.
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// The degree of reordering seen, in segments, if losses are found by time (tcpi_reordering of Linux).
    pub fn reordering(&self, board: &Scoreboard) -> u32 {
        if let Some(guesses) = &self.guesses {
            return guesses.threshold.get().into();
        }
        let degree = match self.rack().map_or(0, Rack::reordered) {
            0 => 0,
            // From the start of the late segment.
            bytes => bytes.div_ceil(board.segment_size()) + 1,
        };
        degree.clamp(DUP_THRESHOLD, MOST_REORDERING)
    }

    /// Whether segments were later than the threshold of a loss, if losses are found by time.
    pub fn is_reordered(&self, board: &Scoreboard) -> bool {
        self.rack().is_some_and(|rack| rack.reordered() > 0) && self.reordering(board) > DUP_THRESHOLD
    }

    /// Number of ACKs that showed reordering, if losses are found by time (tcpi_reord_seen of Linux).
    pub fn reordering_seen(&self) -> u32 {
        let late = self.rack().map_or(0, Rack::seen);
        self.guesses.map_or(late, |guesses| guesses.seen.into())
    }

    /// Whether SACK controls the repair.
    pub fn uses_sack(&self) -> bool {
        by_sack(self.scheme)
    }

    /// Whether reports of the peer, SACK or SNACK, control the repair.
    pub fn is_selective(&self) -> bool {
        self.uses_sack() || self.uses_snack()
    }

    /// Whether SNACK controls the repair.
    pub fn uses_snack(&self) -> bool {
        self.scheme == Scheme::Snack
    }

    /// Whether repairs leave independently of the window.
    pub fn repairs_at_once(&self) -> bool {
        self.phase == Phase::Recovery && self.uses_snack()
    }

    /// Whether losses are found by time.
    pub fn uses_rack(&self) -> bool {
        self.scheme == Scheme::Rack
    }

    /// The state of detection by time, if that is the way.
    #[inline]
    fn rack(&self) -> Option<&Rack> {
        match &self.finder {
            Finder::Time(rack) => Some(rack),
            Finder::Count(_) => None,
        }
    }

    /// Stops the reordering timer, as when the connection is over.
    pub fn stop(&mut self) {
        if let Finder::Time(rack) = &mut self.finder {
            rack.timer = Instant::MAX;
        }
    }

    /// Lets the reordering timer fire with the ticks of the clock, as Linux's.
    pub fn put_off_timer(&mut self) {
        if let Finder::Time(rack) = &mut self.finder
            && !rack.step.is_at(rack.timer)
        {
            rack.timer = timer::fires(rack.timer, timer::LEAST);
            rack.step = timer::Step::of(rack.timer);
        }
    }

    /// Time at which [`Self::on_timer`] must be called; [`Instant::MAX`] if never.
    #[inline]
    pub fn timer(&self) -> Instant {
        self.rack().map_or(Instant::MAX, |rack| rack.timer)
    }

    /// No new episode starts before this is acknowledged, if a number of reports starts it.
    fn guard(&self) -> u64 {
        if let Finder::Count(count) = &self.finder { count.guard } else { 0 }
    }

    fn set_guard(&mut self, offset: u64) {
        if let Finder::Count(count) = &mut self.finder {
            count.guard = offset;
        }
    }

    /// Whether, without SACK, duplicate ACKs lower FlightSize and an episode may follow another at once (ns-3).
    fn by_duplicates(&self) -> bool {
        self.reductions == Reductions::Ns3 && matches!(self.scheme, Scheme::Reno | Scheme::NewReno)
    }

    /// Whether reductions are Linux's.
    fn is_kernel(&self) -> bool {
        self.reductions == Reductions::Linux
    }

    /// Notes that data left, new or again; `pipe` is the flight with it.
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

    /// The repair of another mechanism sends data again, and the copies cannot be told apart: no reaction is undone.
    pub fn believe_no_signs(&mut self) {
        self.signs = Signs { eifel: false, dsack: false, frto: false };
    }

    /// Whether the repair waits for two new segments to leave (RFC 5682).
    pub fn wants_new_data(&self) -> bool {
        self.phase == Phase::Loss && self.episode.wants_new_data()
    }

    /// Pacing holds the next segment. Linux tries to send new data once in the test of a timeout (`tcp_xmit_recovery`),
    /// and repairs when pacing ends (`tcp_tsq_write`). If new data left, the test continues beside the repairs.
    #[inline]
    pub fn held_in_test(&mut self, board: &Scoreboard) {
        if self.wants_new_data() && self.is_kernel() && !self.uses_sack() {
            self.episode.repair_in_test(board.nxt() > self.point);
        }
    }

    /// Ends the test of a timeout for want of new data.
    pub fn give_up_test(&mut self) {
        self.episode.give_up_test();
    }

    /// The data that counts against the window: the pipe, or everything outstanding while nothing is repaired, if
    /// limited transmit is off.
    pub fn outstanding(&self, board: &Scoreboard) -> u64 {
        if self.phase == Phase::Open && !self.limited_transmit { board.flight() } else { board.pipe() }
    }

    /// Handles an ACK, already in the scoreboard, that acknowledges new data and reports no duplicate. Returns whether
    /// nothing else follows, the usual case: all data is in order and was sent once. Otherwise the ACK needs a
    /// judgement.
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

    /// Handles an ACK that is not to be [followed](Self::follow), and is already in the scoreboard.
    pub fn judge(&mut self, board: &mut Scoreboard, news: &News<'_>) -> Verdict {
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

    /// The reordering window passed.
    pub fn on_timer(&mut self, board: &mut Scoreboard, news: &News<'_>) -> Verdict {
        let verdict = rack::on_timer(self, board, news);
        self.restart_if_wanted(board, verdict)
    }

    /// Whether new data may not leave although the window allows it, because repairs come first.
    pub fn next_lost(&self, board: &mut Scoreboard) -> Option<u64> {
        if self.phase == Phase::Open || self.wants_new_data() { None } else { board.next_lost() }
    }

    /// The next speculative retransmission when neither lost nor new data can leave, and whether it is a rescue (RFC
    /// 6675 §4 NextSeg rules 3 and 4).
    pub fn next_speculative(&self, board: &mut Scoreboard) -> Option<(u64, bool)> {
        if self.phase != Phase::Recovery || self.scheme != Scheme::Sack {
            None
        } else {
            sack::next_speculative(self, board)
        }
    }

    /// Notes that the end of the outstanding data leaves as a rescue, once per episode.
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

    /// The data in flight if each duplicate ACK shows that a segment has left the network.
    fn flight_less_duplicates(&self, board: &Scoreboard) -> u64 {
        board.flight().saturating_add_signed(-self.inflation)
    }

    /// RFC 5681 §3.2 step 2: without the segments that limited transmit sent.
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

    /// Without SACK: counts duplicate ACKs, and starts an episode with the third.
    fn count_duplicates(&mut self, board: &mut Scoreboard) -> Verdict {
        if self.duplicates < DUP_THRESHOLD || board.una() < self.guard() {
            // RFC 3042: two segments beyond the window.
            let extra = if self.limited_transmit { self.duplicates.min(DUP_THRESHOLD - 1) } else { 0 };
            self.inflation = i64::from(extra) * i64::from(board.segment_size());
            return Verdict::default();
        }
        let flight = self.begin(board);
        let segment = i64::from(board.segment_size());
        // ns-3 counts the ACK that starts it, and those that limited transmit has counted.
        let left = if self.by_duplicates() { self.inflation + segment } else { i64::from(DUP_THRESHOLD) * segment };
        self.inflation = left;
        board.mark_head_lost();
        Verdict { began: Some(flight), resend_head: true, ..Verdict::default() }
    }
}
