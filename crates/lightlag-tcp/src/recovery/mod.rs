//! What is lost, and when an episode of repair begins and ends.
//!
//! The congestion control hears of each episode once. Without SACK the window is inflated by one segment for
//! each duplicate ACK and deflated again (RFC 5681 §3.2, RFC 6582); the inflation is kept here, on top of the
//! window of the congestion control. With SACK the pipe does that work (RFC 6675). After a timeout everything
//! not SACKed counts as lost and leaves again under slow start.

mod fack;
mod guessed;
mod halving;
mod new_reno;
mod prr;
mod rack;
mod reno;
mod sack;
mod snack;
mod undo;

#[cfg(test)]
mod tests;

pub use undo::Signs;

use crate::config::{Reductions, Scheme};
use crate::scoreboard::{Delivery, Range, Scoreboard};
use crate::timer;
use guessed::Guesses;
use halving::Halving;
use lightlag_control::congestion::{Cause, Phase};
use lightlag_core::{Duration, Instant};
use prr::Prr;
use rack::Rack;
use undo::Episode;

/// Duplicate ACKs that mean a loss (RFC 5681 §3.2).
const DUP_THRESHOLD: u32 = 3;

/// The most that is told (tcp_max_reordering of Linux).
const MOST_REORDERING: u64 = 300;

/// What may leave at once when fast recovery with rate halving has ended (`tcp_max_burst`).
const MOST_BURST: u64 = 3;

/// No duplicate ACK since the last new one.
const IN_ORDER: u64 = u64::MAX;

/// How a sender repairs, for its whole life.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// What says that a segment is lost.
    pub scheme: Scheme,
    /// New data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Proportional rate reduction (RFC 9937), with SACK or with guesses.
    pub prr: bool,
    /// Duplicate ACKs count as SACKs of unknown segments (Linux without SACK).
    pub guesses: bool,
    /// Rate halving in its place.
    pub rate_halving: bool,
    /// RACK's round trip is that of the segment delivered last in the order of offsets (Linux).
    pub rtt_by_offset: bool,
    /// Restart the retransmission timer with the first partial ACK only (RFC 6582 §4, "Impatient").
    pub impatient: bool,
    /// The value that a loss reduces, and how often.
    pub reductions: Reductions,
    /// What shows that an episode was spurious.
    pub signs: Signs,
}

/// Whether this repairs by what SACK reports.
fn by_sack(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::Sack | Scheme::Rack | Scheme::Fack)
}

/// What an ACK said.
#[derive(Clone, Copy, Debug)]
pub struct News<'a> {
    /// When it came.
    pub now: Instant,
    /// Bytes acknowledged cumulatively for the first time.
    pub newly_acked: u64,
    /// Whether it is a duplicate ACK: RFC 5681 §2; with SACK one that reports new data (RFC 6675 §2).
    pub duplicate: bool,
    /// What it took out of the network.
    pub delivery: &'a Delivery,
    /// What it reports as received twice (RFC 2883).
    pub dsack: Option<Range>,
    /// The end of the tick whose timestamp it echoes: what left at or after it carried a later one.
    pub echoed: Option<Instant>,
    /// SRTT; zero before the first sample.
    pub srtt: Duration,
    /// The smallest sample.
    pub min_rtt: Duration,
    /// What it reports with SNACK.
    pub snack: Option<&'a Report>,
}

/// What SNACK options say.
#[derive(Debug, Default)]
pub struct Report {
    /// What is missing.
    pub missing: Vec<Range>,
    /// What was received.
    pub received: Vec<Range>,
    /// How long a report of the same hole says nothing new.
    pub guard: Duration,
}

/// What follows from an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// An episode ended.
    pub ended: bool,
    /// An episode began, with this FlightSize in bytes.
    pub began: Option<u64>,
    /// The first segment leaves again whatever the window says.
    pub resend_head: bool,
    /// New data was acknowledged, but the retransmission timer goes on (RFC 6582 §3.2, the impatient variant).
    pub keep_timer: bool,
    /// The episode was spurious: what it cost is to be given back.
    pub undone: bool,
}

/// How the window is reduced in fast recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// At once.
    AtOnce,
    /// In proportion to what is delivered.
    Proportional,
    /// By a segment for every two ACKs.
    Halving,
}

impl Way {
    fn of(rules: &Rules) -> Self {
        match by_sack(rules.scheme) || rules.guesses {
            true if rules.rate_halving => Self::Halving,
            true if rules.prr => Self::Proportional,
            _ => Self::AtOnce,
        }
    }
}

/// What takes the place of the window while it is reduced.
#[derive(Clone, Copy, Debug)]
enum Reduction {
    Proportional(Prr),
    Halving(Halving),
}

/// The state of repair of one sender.
#[derive(Debug)]
#[repr(C)]
pub struct Recovery {
    rack: Rack,
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
    /// Where duplicate ACKs count as SACKs.
    guesses: Option<Guesses>,
    /// Payload of a full segment in bytes.
    segment_size: u32,
    duplicates: u32,
    /// The congestion window before the last reduction, in segments.
    prior_window: u32,
    /// Bytes by which the window is larger or smaller than the congestion control says.
    inflation: i64,
    reduction: Option<Box<Reduction>>,
    /// The next new offset when duplicate ACKs began: what leaves later is limited transmit's.
    disorder: u64,
    /// The episode ends when this is acknowledged.
    point: u64,
    /// No new episode begins before this is acknowledged.
    guard: u64,
    episode: Episode,
    /// RFC 6675 RescueRxt: one rescue retransmission once more than this is acknowledged.
    rescue: u64,
    /// The first offset outstanding at the last timeout.
    timed_out: u64,
    /// What left later may have been on the way at the last timeout.
    timed_out_before: Instant,
}

impl Recovery {
    /// For segments with so many bytes of payload.
    pub fn new(rules: Rules, segment_size: u32) -> Self {
        Self {
            phase: Phase::Open,
            scheme: rules.scheme,
            limited_transmit: rules.limited_transmit,
            way: Way::of(&rules),
            guesses: rules.guesses.then(Guesses::new),
            reductions: rules.reductions,
            impatient: rules.impatient,
            restart_on_loss: false,
            signs: rules.signs,
            rack: Rack::new(rules.rtt_by_offset),
            reduction: None,
            episode: Episode::none(),
            partial: false,
            duplicates: 0,
            segment_size,
            point: 0,
            guard: 0,
            inflation: 0,
            rescue: 0,
            prior_window: 0,
            disorder: IN_ORDER,
            timed_out: u64::MAX,
            timed_out_before: Instant::ZERO,
        }
    }

    /// Full segments carry so many bytes; nothing is outstanding.
    pub fn set_segment_size(&mut self, bytes: u32) {
        self.segment_size = bytes;
    }

    /// What is being repaired.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Duplicate ACKs since the last new one.
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// The degree of reordering that was seen, in segments, where losses are found by time (tcpi_reordering of Linux).
    pub fn reordering(&self) -> u32 {
        if let Some(guesses) = &self.guesses {
            return guesses.threshold.get().into();
        }
        let degree = match self.rack.reordered() {
            0 => 0,
            // From the begin of the late segment.
            bytes => bytes.div_ceil(u64::from(self.segment_size)) + 1,
        };
        (degree.min(MOST_REORDERING) as u32).max(DUP_THRESHOLD)
    }

    /// Whether segments were late by more than what tells of a loss, where losses are found by time.
    pub fn is_reordered(&self) -> bool {
        self.rack.reordered() > 0 && self.reordering() > DUP_THRESHOLD
    }

    /// How many ACKs told of reordering, where losses are found by time (tcpi_reord_seen of Linux).
    pub fn reordering_seen(&self) -> u32 {
        self.guesses.map_or(self.rack.seen(), |guesses| guesses.seen.into())
    }

    /// Whether SACK steers the repair.
    pub fn uses_sack(&self) -> bool {
        by_sack(self.scheme)
    }

    /// Whether reports of the peer, SACK or SNACK, steer the repair.
    pub fn is_selective(&self) -> bool {
        self.uses_sack() || self.uses_snack()
    }

    /// Whether SNACK steers the repair.
    pub fn uses_snack(&self) -> bool {
        self.scheme == Scheme::Snack
    }

    /// Whether repairs leave beside the window.
    pub fn repairs_at_once(&self) -> bool {
        self.phase == Phase::Recovery && self.uses_snack()
    }

    /// Whether segments are lost by time.
    pub fn uses_rack(&self) -> bool {
        self.scheme == Scheme::Rack
    }

    /// The connection is no more.
    pub fn stop(&mut self) {
        self.rack.timer = Instant::MAX;
    }

    /// The reordering timer fires with the ticks of the clock, as Linux's.
    pub fn put_off_timer(&mut self) {
        if self.rack.timer != self.rack.coarse {
            self.rack.coarse = timer::fires(self.rack.timer, timer::LEAST);
            self.rack.timer = self.rack.coarse;
        }
    }

    /// When [`Self::on_timer`] wants to be called; [`Instant::MAX`] if it need not.
    pub fn timer(&self) -> Instant {
        self.rack.timer
    }

    /// The segments that the timeout under repair took for lost: the offset after the last, and when it left at
    /// the latest.
    pub fn timed_out_data(&self) -> (u64, Instant) {
        if self.phase == Phase::Loss { (self.point, self.timed_out_before) } else { (0, Instant::ZERO) }
    }

    /// The window of the congestion control, with the inflation of fast recovery, or what proportional rate
    /// reduction makes of it.
    pub fn window(&self, cwnd: u64) -> u64 {
        match self.reduction.as_deref() {
            Some(Reduction::Proportional(prr)) => prr.window,
            Some(Reduction::Halving(halving)) => halving.window(),
            None => cwnd.saturating_add_signed(self.inflation),
        }
    }

    /// A reduction begins, from this congestion window.
    pub fn begin_reduction(&mut self, window: u64) {
        self.prior_window = (window / u64::from(self.segment_size)).min(u64::from(u32::MAX)) as u32;
        self.reduction = None;
    }

    /// Whether, without SACK, duplicate ACKs lower FlightSize and an episode may follow another at once (ns-3).
    fn by_duplicates(&self) -> bool {
        self.reductions == Reductions::Ns3 && matches!(self.scheme, Scheme::Reno | Scheme::NewReno)
    }

    /// Whether reductions are Linux's.
    fn is_kernel(&self) -> bool {
        self.reductions == Reductions::Linux
    }

    /// The value that a reaction to congestion reduces: the congestion window or, by the RFCs, what is in flight.
    pub fn reduced_from(&self, window: u64, flight: u64) -> u64 {
        match self.reduction.as_deref() {
            Some(Reduction::Halving(halving)) if self.reductions == Reductions::Each => halving.floor().min(window),
            _ if matches!(self.reductions, Reductions::Linux | Reductions::Each) => window,
            _ => flight,
        }
    }

    /// A mark was answered: the window goes down to the threshold in the proportion of what is delivered.
    #[cold]
    pub fn reduce_for_mark(&mut self, board: &Scoreboard, delivered: u64, target: u64) {
        if self.phase == Phase::Open && self.way == Way::Proportional {
            let prr = self.proportional(board, delivered, target);
            self.reduction = Some(Box::new(Reduction::Proportional(prr)));
        }
    }

    /// Proportional rate reduction down to `target`.
    fn proportional(&self, board: &Scoreboard, delivered: u64, target: u64) -> Prr {
        if self.is_kernel() { Prr::in_linux(board, self.prior(), target) } else { Prr::new(board, delivered, target) }
    }

    /// The window before the last reduction, in bytes.
    fn prior(&self) -> u64 {
        u64::from(self.prior_window) * u64::from(self.segment_size)
    }

    /// Whether that goes on: until something that left after the answer is acknowledged.
    pub fn reduces_for_mark(&self, board: &Scoreboard) -> bool {
        self.phase == Phase::Open
            && matches!(self.reduction.as_deref(), Some(Reduction::Proportional(prr)) if board.una() <= prr.until)
    }

    /// Whether [`Self::reduce`] has a say.
    pub fn reduces(&self) -> bool {
        self.phase == Phase::Recovery || self.reduction.is_some()
    }

    /// What an ACK lets leave in fast recovery, or after a mark, with this slow-start threshold and least window. `lost`:
    /// it showed a new loss.
    pub fn reduce(&mut self, board: &Scoreboard, news: &News<'_>, ssthresh: u64, floor: u64, lost: bool) {
        let has_say = self.phase == Phase::Recovery || self.reduces_for_mark(board);
        if !has_say || self.way == Way::AtOnce {
            self.reduction = None;
            return;
        }
        let (delivered, segment) = (news.delivery.bytes, u64::from(self.segment_size));
        if self.reduction.is_none() {
            self.reduction = Some(Box::new(if self.way == Way::Halving {
                Reduction::Halving(Halving::new(self.prior(), floor, segment))
            } else {
                Reduction::Proportional(self.proportional(board, delivered, ssthresh))
            }));
        }
        match self.reduction.as_deref_mut() {
            Some(Reduction::Proportional(prr)) => {
                prr.on_ack(board.pipe(), delivered, news.newly_acked > 0 && !lost, segment);
            }
            Some(Reduction::Halving(halving)) => halving.on_ack(board.pipe()),
            None => {}
        }
    }

    /// What may be in flight at most when fast recovery has ended, where its rate was halved: three segments more than is
    /// (`tcp_moderate_cwnd`). To be asked when it ends.
    pub fn moderated(&self, board: &Scoreboard) -> Option<u64> {
        (self.way == Way::Halving).then(|| board.pipe() + MOST_BURST * u64::from(self.segment_size))
    }

    /// The window of the congestion control counts again, whatever was to leave in its place.
    pub fn end_reduction(&mut self) {
        self.reduction = None;
    }

    /// Data left, new or again, with which so much is in flight.
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

    /// The algorithm's window holds in fast recovery, too.
    pub fn leave_window_alone(&mut self) {
        self.way = Way::AtOnce;
    }

    /// Something else than the repair sends data again, and nothing tells the copies apart: no reaction is taken back.
    pub fn believe_no_signs(&mut self) {
        self.signs = Signs { eifel: false, dsack: false, frto: false };
    }

    /// A loss is repaired as after a timeout.
    pub fn restart_on_loss(&mut self) {
        self.restart_on_loss = true;
    }

    /// Whether the repair waits for two new segments to leave (RFC 5682).
    pub fn wants_new_data(&self) -> bool {
        self.phase == Phase::Loss && self.episode.wants_new_data()
    }

    /// There is no new data to test a timeout with.
    pub fn give_up_test(&mut self) {
        self.episode.give_up_test();
    }

    /// Keeps one segment of a window that partial ACKs deflate: when ACKs are lost, one may acknowledge more than
    /// duplicate ACKs have inflated, and RFC 6582 §3.2 still adds a segment back.
    pub fn limit_deflation(&mut self, cwnd: u64) {
        self.inflation = self.inflation.max(i64::from(self.segment_size) - cwnd as i64);
    }

    /// What counts against the window: the pipe, or, where limited transmit is off, everything outstanding as
    /// long as nothing is repaired.
    pub fn outstanding(&self, board: &Scoreboard) -> u64 {
        if self.phase == Phase::Open && !self.limited_transmit { board.flight() } else { board.pipe() }
    }

    /// An ACK arrived and the scoreboard has it: it acknowledges something new, and reports nothing that came twice.
    /// Returns whether that is all, the usual case: nothing is out of order, and nothing was sent twice. Otherwise it is
    /// to be judged.
    #[inline(always)]
    pub fn follow(&mut self, now: Instant, delivery: &Delivery, board: &Scoreboard) -> bool {
        if self.phase != Phase::Open || !self.uses_rack() || board.may_be_overdue() {
            return false;
        }
        if self.duplicates > 0 {
            self.duplicates = 0;
            self.disorder = IN_ORDER;
        }
        self.rack.follow(now, delivery);
        true
    }

    /// An ACK arrived that is not to be [followed](Self::follow), and the scoreboard has it.
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
        if undo::is_spurious(self, board, news) {
            let ended = self.phase != Phase::Open;
            self.end();
            self.episode = Episode::none();
            board.unmark_lost();
            return Verdict { ended, undone: true, ..Verdict::default() };
        }
        if tested && news.duplicate && !self.uses_sack() && !self.guesses() {
            // RFC 5682 §2.1 step 3a: the timeout was right. Its repair goes on from the first segment, as if the
            // new ones had not been sent: without SACK they would count as in the network until it is complete.
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

    /// Tahoe: what began as fast recovery is repaired as after a timeout.
    fn restart_if_wanted(&mut self, board: &mut Scoreboard, verdict: Verdict) -> Verdict {
        if verdict.began.is_none() || !self.restart_on_loss {
            return verdict;
        }
        self.phase = Phase::Loss;
        self.inflation = 0;
        board.mark_all_lost(Instant::MAX);
        Verdict { resend_head: true, ..verdict }
    }

    /// Everything outstanding and not SACKed leaves again in the episode that has begun. Without SACK, duplicate ACKs
    /// tell nothing of such copies, and the repair goes on as after a timeout.
    #[cold]
    pub fn repeat_all(&mut self, board: &mut Scoreboard) {
        if !self.uses_sack() {
            self.phase = Phase::Loss;
        }
        self.inflation = 0;
        board.mark_all_lost(Instant::MAX);
    }

    /// The retransmission timer fired. Returns the cause and the FlightSize before; `cwnd` bounds it while an
    /// episode goes on, because FlightSize then still counts what the first reaction took out of the network.
    pub fn on_timeout(&mut self, now: Instant, board: &mut Scoreboard, cwnd: u64, srtt: Duration) -> (Cause, u64) {
        let flight = match self.phase {
            Phase::Open | Phase::Recovery if self.by_duplicates() => self.flight_less_duplicates(board),
            Phase::Open => self.flight_before_disorder(board),
            Phase::Recovery | Phase::Loss => board.flight().min(cwnd),
        };
        // Linux, tcp_enter_loss: what fast recovery has reduced for the same window of data is not reduced again.
        let reduced = self.is_kernel() && self.phase == Phase::Recovery;
        let repeated = reduced
            || self.reductions != Reductions::Each && self.phase == Phase::Loss && self.timed_out == board.una();
        let testable = self.phase == Phase::Open || repeated && self.episode.tests_head();
        self.timed_out = board.una();
        self.phase = Phase::Loss;
        self.point = board.nxt();
        self.guard = match self.scheme {
            // RFC 6582 §3.2 step 1: more than `recover` must be acknowledged.
            Scheme::NewReno if !self.by_duplicates() => self.point + 1,
            _ => self.point,
        };
        self.inflation = 0;
        self.duplicates = 0;
        self.disorder = IN_ORDER;
        self.reduction = None;
        self.rack.timer = Instant::MAX;
        if !repeated {
            self.episode = Episode::begin(board.una());
        }
        // RFC 5682 §2.1: no test where an earlier episode is still being repaired. What left less than a round
        // trip ago proves nothing: its ACK is still on the way.
        self.timed_out_before = Instant::ZERO + now.since(Instant::ZERO + srtt);
        if self.signs.frto && testable {
            self.episode.begin_test();
        }
        board.mark_all_lost(if self.uses_rack() { self.rack.horizon(now) } else { Instant::MAX });
        (if repeated { Cause::RepeatedTimeout } else { Cause::Timeout }, flight)
    }

    /// What is outstanding was too large for the path and leaves again in segments of `size` bytes: a repair that
    /// costs no window, and that nothing can undo (Linux, tcp_simple_retransmit).
    pub fn on_smaller_path(&mut self, board: &Scoreboard, size: u32) {
        self.segment_size = size;
        self.phase = Phase::Loss;
        self.point = board.nxt();
        self.guard = self.point;
        self.inflation = 0;
        self.duplicates = 0;
        self.disorder = IN_ORDER;
        self.reduction = None;
        self.rack.timer = Instant::MAX;
        self.timed_out = u64::MAX;
        self.episode = Episode::none();
    }

    /// A link is there again after an outage: what left until `before` leaves again, a repair that costs no window.
    pub fn on_outage_end(&mut self, board: &mut Scoreboard, before: Instant) {
        self.on_smaller_path(board, self.segment_size);
        board.mark_all_lost(before);
    }

    /// Whether new data may not leave although the window allows it: repairs come first.
    pub fn next_lost(&self, board: &mut Scoreboard) -> Option<u64> {
        if self.phase == Phase::Open || self.wants_new_data() { None } else { board.next_lost() }
    }

    /// What else may leave when neither lost nor new data can, and whether for its rescue (RFC 6675 §4 NextSeg rules 3 and 4).
    pub fn next_speculative(&self, board: &mut Scoreboard) -> Option<(u64, bool)> {
        if self.phase != Phase::Recovery || self.scheme != Scheme::Sack {
            None
        } else {
            sack::next_speculative(self, board)
        }
    }

    /// The end of what is outstanding leaves for its rescue: once an episode.
    pub fn rescued(&mut self) {
        self.rescue = self.point;
    }

    fn begin(&mut self, board: &Scoreboard) -> u64 {
        let flight = if self.by_duplicates() {
            self.flight_less_duplicates(board).saturating_sub(u64::from(self.segment_size))
        } else {
            self.flight_before_disorder(board)
        };
        // Linux, tcp_enter_recovery: the reduction for a mark goes on.
        if !(self.is_kernel() && self.reduces_for_mark(board)) {
            self.reduction = None;
        }
        self.phase = Phase::Recovery;
        self.point = board.nxt();
        self.partial = false;
        self.episode = Episode::begin_after(board.una(), board.head_left_again(), board.repairs_on_the_way());
        flight
    }

    /// What is in the network where each duplicate ACK tells of a segment that has left it.
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
            self.rack.end_episode();
        }
        ended
    }

    fn end(&mut self) {
        self.phase = Phase::Open;
        self.inflation = 0;
        self.reduction = None;
    }

    /// Without SACK: counts duplicate ACKs, and begins an episode with the third.
    fn count_duplicates(&mut self, board: &mut Scoreboard) -> Verdict {
        if self.duplicates < DUP_THRESHOLD || board.una() < self.guard {
            // RFC 3042: two segments beyond the window.
            let extra = if self.limited_transmit { self.duplicates.min(DUP_THRESHOLD - 1) } else { 0 };
            self.inflation = i64::from(extra) * i64::from(self.segment_size);
            return Verdict::default();
        }
        let flight = self.begin(board);
        let segment = i64::from(self.segment_size);
        // ns-3 counts the ACK that begins it, and what limited transmit has counted.
        let left = if self.by_duplicates() { self.inflation + segment } else { i64::from(DUP_THRESHOLD) * segment };
        self.inflation = left;
        board.mark_head_lost();
        Verdict { began: Some(flight), resend_head: true, ..Verdict::default() }
    }
}
