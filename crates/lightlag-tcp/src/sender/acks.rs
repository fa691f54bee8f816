//! Handles acknowledgements, and notifies the congestion control.

use super::{Sender, Tail, Timer};
use crate::Profile;
use crate::config::{Config, Growth, Reductions, RttSamples};
use crate::ecn::MarkReport;
use crate::recovery::{AckInfo, SnackReport, Verdict};
use crate::scoreboard::{Delivery, Range};
use crate::timestamps::{end_of_tick, ticks_since, timestamp};
use lightlag_control::congestion::{Ack, Cause, Congestion, Phase};
use lightlag_control::rtt::Progress;
use lightlag_core::{Duration, Instant};

/// An acknowledgement, with sequence numbers converted to offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgement<'a> {
    /// First offset that the peer is missing, in `una..=nxt`.
    pub(crate) ack: u64,
    /// SACKed ranges.
    pub(crate) sacked: &'a [Range],
    /// Echoed timestamp (TSecr), if the segment carries timestamps.
    pub(crate) echo: Option<u32>,
    /// Whether the segment carries data, a SYN or a FIN, so that it is not a duplicate ACK (RFC 5681 §2).
    pub(crate) occupies: bool,
    /// Whether the segment changed the peer's window, so that it is not a duplicate ACK.
    pub(crate) moved_window: bool,
    /// Range that the ACK reports as received twice (D-SACK, RFC 2883).
    pub(crate) dsack: Option<Range>,
    /// Whether the ACK echoes a congestion mark.
    pub(crate) ece: bool,
    /// The ACK's report about marks. The number of marked bytes is computed later from the delivered data.
    pub(crate) marks: MarkReport,
    /// One-way delay of the newest data plus an unknown constant, from the timestamps.
    pub(crate) one_way: Option<Duration>,
    /// Whether this is the ACK of a low-priority segment, which may itself have filled a hole.
    pub(crate) low_priority: bool,
    /// Holes that the ACK reports by SNACK.
    pub(crate) snack: Option<&'a SnackReport>,
}

/// An ACK after the scoreboard was updated, with the values that later steps need.
struct Entered<'a> {
    now: Instant,
    arrived: &'a Acknowledgement<'a>,
    /// First unacknowledged offset before the ACK.
    una: u64,
    newly_acked: u64,
    delivery: &'a Delivery,
    /// End of the clock tick whose timestamp the ACK echoes, if retransmitted data makes this relevant.
    echoed: Option<Instant>,
    /// Round-trip sample of the most recently sent of the delivered segments.
    rtt: Option<Duration>,
    duplicate: bool,
    /// Phase of recovery before it processes the ACK. [`Self::duplicates`] is the number of duplicate ACKs then.
    phase: Phase,
    duplicates: u32,
}

impl Sender {
    /// Handles an ACK in four steps: update of the scoreboard, loss detection, notification of the congestion control,
    /// and determination of the data that may be sent now.
    // Always inlined, with all its private callees: most ACKs carry only a number, and half of the checks are then
    // idle.
    #[inline(always)]
    pub(crate) fn handle_ack(&mut self, now: Instant, arrived: Acknowledgement<'_>, config: &Config) {
        // Linux checks only when the application writes (`tcp_sendmsg_locked`).
        if !config.tso {
            self.check_supply();
        }
        let (prior_inflight, prior_lost) = (self.board.pipe(), self.board.lost_bytes());
        let mut delivery = Delivery::default();
        let entered = self.enter(now, &arrived, &mut delivery, config);
        let verdict = self.judge_losses(&entered, config);
        let newly_lost = if self.excused { 0 } else { self.board.lost_bytes() - prior_lost };
        self.report(&entered, verdict, prior_inflight, newly_lost, config);
        self.conclude(&entered, newly_lost);
    }

    /// Step 1: updates the scoreboard with the delivered data, and takes a round-trip sample.
    #[inline(always)]
    fn enter<'a>(
        &mut self,
        now: Instant,
        arrived: &'a Acknowledgement<'a>,
        delivery: &'a mut Delivery,
        config: &Config,
    ) -> Entered<'a> {
        let una = self.board.una();
        let newly_acked = arrived.ack - una;
        // Needed only if data was sent twice.
        let doubtful = self.recovery.phase() != Phase::Open || self.board.any_resent();
        let echoed = arrived.echo.filter(|_| doubtful).and_then(|echo| end_of_tick(now, echo));
        if doubtful {
            let fresh = self.earliest_fresh(now);
            *delivery = Delivery::new(echoed.map_or(fresh, |echoed| echoed.min(fresh)), self.recovery.timed_out_data());
        }
        self.judge_probe(now, arrived);
        if newly_acked > 0 {
            if self.recovery.guesses() {
                self.acknowledge_guessed(arrived.ack, delivery);
            } else {
                self.board.acknowledge(arrived.ack, delivery);
            }
            self.retries = 0;
        }
        if doubtful {
            delivery.begin_reports(self.earliest_fresh(now));
        }
        for range in arrived.sacked {
            self.board.sack(*range, delivery);
        }
        if arrived.low_priority {
            delivery.forget_origin();
        }
        let late = doubtful && self.special.extra().is_some() && self.may_come_late();
        let rtt = if late { None } else { self.sample_rtt(now, delivery, newly_acked, arrived.echo, config) };
        let duplicate = newly_acked == 0
            && if self.recovery.uses_sack() { delivery.bytes > 0 } else { !arrived.occupies && !arrived.moved_window };
        if duplicate && self.recovery.guesses() {
            self.recovery.guess(&mut self.board, delivery);
        }
        let (phase, duplicates) = (self.recovery.phase(), self.recovery.duplicates());
        Entered { now, arrived, una, newly_acked, delivery, echoed, rtt, duplicate, phase, duplicates }
    }

    /// Returns the information about the ACK for the loss recovery.
    #[inline(always)]
    fn news<'a>(&self, entered: &'a Entered<'a>) -> AckInfo<'a> {
        AckInfo {
            now: entered.now,
            newly_acked: entered.newly_acked,
            duplicate: entered.duplicate,
            delivery: entered.delivery,
            dsack: entered.arrived.dsack,
            echoed: entered.echoed,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            snack: entered.arrived.snack,
        }
    }

    /// Step 2: detects losses, and restarts the retransmission timer.
    #[inline(always)]
    fn judge_losses(&mut self, entered: &Entered<'_>, config: &Config) -> Verdict {
        let (now, newly_acked, delivery) = (entered.now, entered.newly_acked, entered.delivery);
        let in_order = newly_acked > 0 && entered.arrived.dsack.is_none();
        let verdict = if in_order && self.recovery.follow(now, delivery, &self.board) {
            Verdict::default()
        } else {
            let news = self.news(entered);
            self.recovery.judge(&mut self.board, &news)
        };
        self.recovery.limit_deflation(&self.board, self.cwnd);
        self.resend_head |= verdict.resend_head;
        // The peer's keep-alive probes would postpone the timeout for ever.
        let restarts = config.rto.every_ack && config.keep_alive.is_none() && !self.board.is_empty();
        if newly_acked > 0 && !verdict.keep_timer
            || restarts
            || self.reports_older(delivery, newly_acked, entered.rtt, config)
        {
            self.restart_timer(now, config);
        }
        if self.special.validation().is_some() {
            self.validate(now, entered.una, entered.phase);
        }
        if verdict.began.is_some() {
            self.excused = self.blames_corruption(now, Cause::Loss, self.board.head_sent(), config);
        }
        verdict
    }

    /// Step 3: notifies the congestion control of the delivered data, the losses and the echoed marks.
    #[inline(always)]
    fn report(
        &mut self,
        entered: &Entered<'_>,
        verdict: Verdict,
        prior_inflight: u64,
        newly_lost: u64,
        config: &Config,
    ) {
        let Entered { now, arrived, newly_acked, delivery, duplicate, phase, .. } = *entered;
        let rate = self.sample_rate(now);
        let newly_marked = if arrived.ece || arrived.marks != MarkReport::None {
            let size = u64::from(self.segment_size);
            let thinning = config.profile == Profile::Linux;
            self.account.rare().delivered.take(arrived.marks, arrived.ece, delivery.bytes, size, thinning)
        } else {
            0
        };
        if delivery.bytes == 0 && !duplicate && !arrived.ece && verdict == Verdict::default() {
            return;
        }
        // The ACK that starts an episode causes no growth. The one that ends it still belongs to it, but in Linux its
        // newly reported data grows the following window; an algorithm with a recovery of its own does that itself.
        let grows = verdict.ended && config.reductions == Reductions::Linux && !self.needs.controls_recovery;
        let phase = match phase {
            _ if self.excused => Phase::Open,
            Phase::Open => self.recovery.phase(),
            _ if grows => self.recovery.phase(),
            phase => phase,
        };
        let ack = Ack {
            now,
            newly_acked: if grows { newly_acked.min(delivery.bytes) } else { newly_acked },
            newly_delivered: delivery.bytes,
            newly_lost,
            newly_marked,
            duplicate,
            ece: arrived.ece,
            one_way: arrived.one_way,
            phase,
            growth: self.growth(newly_acked, delivery.bytes, phase, entered.duplicates, config.growth),
            rtt: entered.rtt,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            inflight: self.board.pipe(),
            prior_inflight,
            snd_una: self.board.una(),
            snd_nxt: self.board.nxt(),
            // While the window is reduced for a mark, it does not grow (as in Linux).
            cwnd_limited: self.is_cwnd_limited() && !self.recovery.reduces_for_mark(&self.board),
            next_departure: self.special.pacer().next_departure(),
            rate,
        };
        self.inform(&ack, verdict);
        if arrived.ece {
            self.answer_marks(now, delivery.bytes, config);
        }
    }

    /// Step 4: determines how much may be sent during recovery, updates the state of tail loss probes, and refills the
    /// send buffer.
    #[inline(always)]
    fn conclude(&mut self, entered: &Entered<'_>, newly_lost: u64) {
        if self.recovery.reduces() {
            let news = self.news(entered);
            self.reduce(&news, newly_lost > 0);
        }
        if entered.newly_acked > 0 {
            (self.tail.stale, self.tail.left) = (true, false);
        }
        if self.board.is_empty() {
            self.tail.stop();
        }
        if entered.newly_acked > 0 && self.special.extra().is_some() {
            self.fill_buffer();
        }
    }

    /// Returns true if an ACK acknowledges nothing cumulatively, but gives a round-trip sample from data that was sent
    /// before the first segment's last copy. In Linux such an ACK restarts the retransmission timer, because the first
    /// segment may still arrive (`tcp_clean_rtx_queue`).
    #[inline(always)]
    fn reports_older(&self, delivery: &Delivery, newly_acked: u64, rtt: Option<Duration>, config: &Config) -> bool {
        newly_acked == 0
            && rtt.is_some()
            && config.reductions == Reductions::Linux
            && self.recovery.is_selective()
            && delivery.sent.is_some_and(|(oldest, _)| self.board.head_sent().is_some_and(|sent| oldest < sent))
    }

    /// Advances the cumulative acknowledgement to `ack`, if duplicate ACKs counted as SACKs.
    #[cold]
    fn acknowledge_guessed(&mut self, ack: u64, delivery: &mut Delivery) {
        let guessed = self.board.forget_guesses();
        let first = self.board.numbers().0;
        self.board.acknowledge(ack, delivery);
        let acked = (self.board.numbers().0 - first) as u32;
        self.recovery.confirm(&mut self.board, guessed, acked, delivery);
    }

    /// Returns the earliest transmission time of retransmissions that are too recent to be acknowledged now: their
    /// round trip would be shorter than any before (RFC 8985 §6.2 step 2).
    fn earliest_fresh(&self, now: Instant) -> Instant {
        let min_rtt = self.rtt.min();
        if min_rtt == Duration::MAX {
            return Instant::MAX;
        }
        Instant::ZERO + now.since(Instant::ZERO + min_rtt) + Duration::from_nanos(1)
    }

    /// Handles the expiry of the reordering timer (RFC 8985 §6.3).
    #[cold]
    pub(super) fn reordering_passed(&mut self, now: Instant, config: &Config) {
        let nothing = Delivery::default();
        let news = AckInfo {
            now,
            newly_acked: 0,
            duplicate: false,
            delivery: &nothing,
            dsack: None,
            echoed: None,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            snack: None,
        };
        let verdict = self.recovery.on_timer(&mut self.board, &news);
        // Linux, tcp_rack_reo_timeout: only repairs are sent.
        self.put_off = config.tso;
        if verdict.began.is_some() {
            self.excused = self.blames_corruption(now, Cause::Loss, self.board.head_sent(), config);
        }
        self.note_lost(now);
        self.resend_head |= verdict.resend_head;
        self.begin_episode(now, verdict);
        self.copy_window(now);
        if self.recovery.phase() == Phase::Recovery {
            // Linux, tcp_rack_reo_timeout: if recovery starts with the timer, it proceeds as if a segment had been
            // delivered.
            let mut segment = Delivery::default();
            if verdict.began.is_some() && config.reductions == Reductions::Linux {
                segment.bytes = u64::from(self.segment_size);
            }
            self.reduce(&AckInfo { delivery: &segment, ..news }, false);
        }
    }

    /// Computes the window of a gradual reduction (proportional rate reduction or rate halving).
    #[inline(never)]
    fn reduce(&mut self, news: &AckInfo<'_>, lost: bool) {
        // An exempt repair does not reduce the window; a later mark does.
        let excused = self.excused && self.recovery.phase() == Phase::Recovery;
        if excused || self.congestion.as_ref().is_some_and(|congestion| congestion.refuses_prr()) {
            return self.recovery.end_reduction();
        }
        let (ssthresh, floor) = self
            .congestion
            .as_ref()
            .map_or((u64::MAX, u64::MAX), |congestion| (congestion.ssthresh(), congestion.least_in_recovery()));
        self.recovery.reduce(&self.board, news, ssthresh, floor, lost);
    }

    /// Notifies the congestion control of the ACK, and then of the end and the start of recovery episodes.
    #[inline(always)]
    pub(super) fn inform(&mut self, ack: &Ack, verdict: Verdict) {
        let Some(congestion) = &mut self.congestion else { return };
        congestion.on_ack(ack);
        if verdict != Verdict::default() {
            self.turn_episode(ack.now, ack.phase, verdict);
        }
        self.copy_window(ack.now);
    }

    /// Handles the end of a recovery episode, the start of one, or both.
    #[cold]
    fn turn_episode(&mut self, now: Instant, phase: Phase, verdict: Verdict) {
        let Some(congestion) = &mut self.congestion else { return };
        if verdict.undone {
            if !self.paid {
                congestion.on_undo(now);
            }
            self.account.rare().undone += 1;
        }
        if verdict.ended {
            self.board.shrink();
            self.end_episode(now, verdict.undone);
            self.moderate(now, phase);
        }
        self.begin_episode(now, verdict);
    }

    fn end_episode(&mut self, now: Instant, undone: bool) {
        if self.excused {
            return;
        }
        self.settle_loss(now, undone);
        if let Some(congestion) = &mut self.congestion {
            congestion.on_recovered(now);
        }
    }

    /// After fast recovery with rate halving, limits the window to the data in flight plus three segments, if the
    /// algorithm's minimum window was below ssthresh (ns-2, `LinuxTcpAgent::tcp_fastretrans_alert`).
    fn moderate(&mut self, now: Instant, phase: Phase) {
        if let Some(max_window) = self.recovery.moderated(&self.board).filter(|_| phase == Phase::Recovery)
            && let Some(congestion) = &mut self.congestion
            && congestion.least_in_recovery() < congestion.ssthresh()
        {
            congestion.on_idle(now, max_window, 0);
        }
    }

    fn begin_episode(&mut self, now: Instant, verdict: Verdict) {
        if let Some(flight) = verdict.began
            && self.congestion.is_some()
        {
            // With SACK the pipe is limited to cwnd, and FlightSize also counts data SACKed above a hole. If one
            // episode follows another, FlightSize exceeds cwnd, and half of it would not reduce the window.
            let flight = if self.recovery.is_selective() { flight.min(self.cwnd) } else { flight };
            let (srtt, min_rtt) = (self.rtt.srtt(), self.rtt.min());
            let window_based = !self.needs.exact_marks && !self.needs.controls_recovery && !self.needs.restart_on_loss;
            self.paid = self.excused || window_based && self.board.una() < self.special.marks().paid_until;
            let flight = if self.paid { flight } else { self.retreat(now, flight) };
            if !self.paid {
                self.recovery.begin_reduction(&self.board, self.cwnd);
            }
            if let Some(congestion) = self.congestion.as_mut().filter(|_| !self.paid) {
                congestion.on_congestion(&Congestion { now, cause: Cause::Loss, flight, srtt, min_rtt });
            }
            if self.needs.bulk_repeat && self.blames_errors() {
                self.recovery.repeat_all(&mut self.board);
            }
            self.account.recoveries.increment();
            // RFC 8985 §7.1: the outcome of a probe in flight is decided now.
            self.tail = Tail::new();
        }
    }

    /// Returns true if the congestion control attributes the last loss or timeout to transmission errors on the path.
    pub(super) fn blames_errors(&mut self) -> bool {
        let diagnosis = self.congestion.as_mut().and_then(|congestion| congestion.diagnosis());
        diagnosis.is_some_and(|diagnosis| diagnosis.blames_errors())
    }

    /// Reduces the window for an echoed mark, at most once per window of data, and not in addition to a loss (RFC 3168
    /// §6.1.2).
    #[inline(never)]
    fn answer_marks(&mut self, now: Instant, delivered: u64, config: &Config) {
        self.congestion_told(now, config);
        if self.answers_mark() {
            return;
        }
        self.special.marks_mut().answered_until = self.board.nxt() + 1;
        self.reduced = true;
        if self.recovery.phase() != Phase::Open {
            return;
        }
        let flight = self.retreat(now, self.board.flight());
        self.recovery.begin_reduction(&self.board, self.cwnd);
        let (srtt, min_rtt) = (self.rtt.srtt(), self.rtt.min());
        if let Some(congestion) = &mut self.congestion {
            congestion.on_congestion(&Congestion { now, cause: Cause::Mark, flight, srtt, min_rtt });
            self.account.rare().mark_reactions += 1;
            self.special.marks_mut().paid_until = self.board.nxt();
        }
        let window = self.congestion.as_ref().map_or(u64::MAX, |congestion| congestion.window());
        let reduces = self.congestion.as_ref().is_some_and(|congestion| !congestion.refuses_prr());
        if config.prr_marks && window < self.cwnd && reduces {
            self.recovery.reduce_for_mark(&self.board, delivered, window);
        }
        self.settle_mark();
        self.copy_window(now);
    }

    /// Returns by how many segments the ACK lets the window grow.
    #[inline(always)]
    pub(super) fn growth(&self, newly_acked: u64, delivered: u64, phase: Phase, duplicates: u32, rule: Growth) -> f64 {
        let size = f64::from(self.segment_size);
        // After a timeout a cumulative ACK may cover data that arrived long ago (RFC 3465 §2.3).
        let jumps = phase == Phase::Loss;
        match rule {
            // Linux, tcp_may_raise_cwnd: if segments arrive late, data counts in any order of delivery.
            Growth::PerSegment if newly_acked == 0 && delivered > 0 && self.recovery.is_reordered(&self.board) => {
                delivered as f64 / size
            }
            _ if newly_acked == 0 => 0.0,
            Growth::PerAck => 1.0,
            Growth::PerSegment if self.recovery.guesses() => delivered as f64 / size,
            Growth::PerSegment if jumps && !self.recovery.is_selective() => (newly_acked as f64 / size).min(2.0),
            // Without SACK each duplicate ACK has reported a segment, which the new ACK also covers (as in Linux).
            Growth::PerSegment if duplicates > 0 && !self.recovery.is_selective() => {
                (newly_acked as f64 / size - f64::from(duplicates)).max(1.0)
            }
            Growth::PerSegment => delivered as f64 / size,
            Growth::Abc(limit) => {
                let limit = if jumps { 1.0 } else { f64::from(limit) };
                (newly_acked as f64 / size).min(limit)
            }
        }
    }

    /// Takes a round-trip sample. The sample for SRTT is from the oldest delivered segment, so that it includes the
    /// peer's delay. Returns the sample of the newest one, for the congestion control. There is no sample from
    /// retransmitted data, unless the timestamp shows which copy arrived (Karn's algorithm).
    #[inline(always)]
    pub(super) fn sample_rtt(
        &mut self,
        now: Instant,
        delivery: &Delivery,
        newly_acked: u64,
        echo: Option<u32>,
        config: &Config,
    ) -> Option<Duration> {
        if config.rtt_samples == RttSamples::Timed && self.is_timing() && self.board.una() >= self.special.sample_from()
        {
            self.sample_timed(now, config);
        }
        let echoed = || (newly_acked > 0).then_some(echo).flatten().map(|echo| ticks_since(now, echo));
        let sent = delivery.sent.filter(|(oldest, _)| !delivery.retransmitted && !self.waited_for_link(*oldest));
        let exact = sent.map(|(oldest, newest)| (now.since(oldest), now.since(newest)));
        let (oldest, newest) = match config.rtt_samples {
            RttSamples::Timestamp if echo.is_some() => echoed().map(|rtt| (rtt, rtt)),
            _ => exact.or_else(|| echoed().map(|rtt| (rtt, rtt))),
        }?;
        // Without SACK the ACK of a segment above a hole may have waited as long as the repair.
        let oldest = if self.recovery.repairs_at_once() { newest } else { oldest };
        self.rtt.observe(newest);
        self.account.counters.rtt_sum += newest;
        self.account.counters.rtt_count += 1;
        let mut progress = Progress { una: self.board.una(), nxt: self.board.nxt(), expected: 0 };
        if config.rto.scaled_gains && config.rtt_samples != RttSamples::OnePerRound {
            progress.expected = self.expected_samples(newly_acked);
        }
        match config.rtt_samples {
            RttSamples::SendTime | RttSamples::Timestamp => self.rtt.sample_at(oldest, &config.rto, progress),
            RttSamples::OnePerRound if self.board.una() >= self.special.sample_from() => {
                self.special.set_sample_from(self.board.nxt() + 1);
                self.rtt.sample_at(oldest, &config.rto, progress);
            }
            RttSamples::OnePerRound | RttSamples::Timed => {}
        }
        Some(newest)
    }

    /// Starts timing the new segment that is about to be sent.
    #[cold]
    pub(super) fn begin_timing(&mut self, now: Instant) {
        self.special.set_sample_from(self.board.nxt());
        self.special.extra_mut().timed_at = now;
    }

    /// Returns true if a segment is being timed.
    pub(super) fn is_timing(&self) -> bool {
        self.special.sample_from() > 0
    }

    /// Abandons the measurement, so that the next new segment is timed.
    pub(super) fn forget_timing(&mut self) {
        self.special.set_sample_from(0);
    }

    /// Takes the sample of the timed segment, which was acknowledged. Both its transmission and its ACK are timed in
    /// clock ticks (`LinuxTcpAgent::rtt_update`).
    fn sample_timed(&mut self, now: Instant, config: &Config) {
        self.forget_timing();
        let left = self.special.extra().map_or(now, |extra| extra.timed_at);
        self.rtt.sample_at(ticks_since(now, timestamp(left)), &config.rto, Progress::default());
    }

    /// Returns the expected number of samples in a round trip, if every second segment is acknowledged. It is computed
    /// from the data in flight before this ACK (RFC 7323 appendix G).
    #[inline(never)]
    fn expected_samples(&self, newly_acked: u64) -> u64 {
        (self.board.flight() + newly_acked).div_ceil(2 * u64::from(self.segment_size))
    }

    /// Stops the retransmission timer if nothing is outstanding; otherwise restarts it (RFC 6298 §5.2, §5.3).
    #[inline(always)]
    pub(super) fn restart_timer(&mut self, now: Instant, config: &Config) {
        self.timer = Timer::Retransmission;
        self.deadline = if self.board.is_empty() { Instant::MAX } else { now + self.rtt.rto(&config.rto) };
    }

    /// Returns true if the congestion window, rather than the application, limited the sender. In slow start this is
    /// also the case if only half the window is in flight, because the amount may double before its ACKs return (as in
    /// Linux).
    #[inline(always)]
    pub(super) fn is_cwnd_limited(&self) -> bool {
        if self.cwnd_limited {
            return true;
        }
        match self.special.validation() {
            // RFC 7661 §4.3.
            Some(validation) => validation.is_validated(),
            None => self.congestion.as_ref().is_some_and(|algorithm| {
                self.cwnd < algorithm.ssthresh() && self.cwnd < 2 * u64::from(self.round_flight)
            }),
        }
    }
}
