//! The sending half: what may leave now, what must leave again, and the timer behind it.

use crate::account::{Account, Limit};
use crate::config::{Config, Growth, RttSamples, Scheme};
use crate::congestion::{self, Ack, Congestion, CongestionControl, Phase};
use crate::recovery::{News, Recovery, Verdict};
use crate::rtt::RttEstimator;
use crate::scoreboard::{Chunk, Delivery, Range, Scoreboard};
use lightlag_core::{Duration, Instant};

/// What RFC 6298 §5.7 takes for data when the SYN timed out and gave no sample.
const RTO_AFTER_SYN_LOSS: Duration = Duration::from_secs(3);

/// What the timer is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Timer {
    Retransmission,
    /// The peer's window is closed and nothing is in flight (RFC 9293 §3.8.6.1).
    Persist,
}

/// What the retransmission timer's expiry led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expiry {
    /// The sender goes on.
    Continue,
    /// Too many timeouts in a row.
    GiveUp,
}

/// An acknowledgement in offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgement<'a> {
    /// First offset that the peer does not have, inside `una..=nxt`.
    pub(crate) ack: u64,
    /// SACKed ranges.
    pub(crate) sacked: &'a [Range],
    /// TSecr, if the segment carries timestamps.
    pub(crate) echo: Option<u32>,
    /// Whether the segment carries data, a SYN or a FIN: then it is no duplicate ACK (RFC 5681 §2).
    pub(crate) occupies: bool,
    /// Whether it changed the window: then it is no duplicate ACK either.
    pub(crate) moved_window: bool,
}

/// The sending half of a connection.
pub(crate) struct Sender {
    board: Scoreboard,
    /// Window of the congestion control in bytes, copied after each of its calls.
    cwnd: u64,
    /// End of the data that the application wrote.
    written: u64,
    /// First offset beyond the peer's window.
    peer_edge: u64,
    deadline: Instant,
    recovery: Recovery,
    rtt: RttEstimator,
    congestion: Option<Box<dyn CongestionControl>>,
    /// Payload of a full segment.
    segment_size: u32,
    timer: Timer,
    limit: Limit,
    closing: bool,
    resend_head: bool,
    probe: bool,
    /// Send although the window is small (RFC 9293 §3.8.6.2.1 rule 4).
    override_small: bool,
    cwnd_limited: bool,
    nagle: bool,
    /// Timeouts in a row without progress.
    retries: u8,
    initial_window: u32,
    /// Most data in flight in the current round, and where that round ends.
    round_flight: u64,
    round_end: u64,
    /// The largest window that the peer advertised.
    max_window: u64,
    /// The offset whose ACK gives the next sample, where one segment at a time is timed.
    sample_from: u64,
}

impl Sender {
    pub(crate) fn new(config: &Config) -> Self {
        let segment_size = u32::from(config.mss);
        Self {
            board: Scoreboard::new(segment_size),
            cwnd: 0,
            written: 0,
            peer_edge: 0,
            deadline: Instant::MAX,
            recovery: Recovery::new(config.recovery, config.limited_transmit, segment_size),
            rtt: RttEstimator::new(config.rto.initial),
            congestion: None,
            segment_size,
            timer: Timer::Retransmission,
            limit: Limit::Application,
            closing: false,
            resend_head: false,
            probe: false,
            override_small: false,
            cwnd_limited: false,
            nagle: config.nagle,
            retries: 0,
            initial_window: config.initial_window,
            round_flight: 0,
            round_end: 0,
            max_window: 0,
            sample_from: 0,
        }
    }

    /// The handshake is done.
    pub(crate) fn establish(&mut self, now: Instant, agreed: Agreed, config: &Config, account: &mut Account) {
        let scheme = match config.recovery {
            Scheme::Sack if !agreed.sack => Scheme::NewReno,
            scheme => scheme,
        };
        self.board.set_segment_size(self.segment_size);
        self.recovery = Recovery::new(scheme, config.limited_transmit, self.segment_size);
        self.initial_window = agreed.initial_window;
        self.cwnd = self.congestion.as_ref().map_or(self.initial_cwnd(), |congestion| congestion.window());
        self.set_peer_window(0, agreed.peer_window);
        account.start_window(now);
    }

    /// Uses this algorithm instead of the configured one.
    pub(crate) fn set_congestion(&mut self, congestion: Box<dyn CongestionControl>) {
        self.congestion = Some(congestion);
    }

    fn initial_cwnd(&self) -> u64 {
        u64::from(self.initial_window) * u64::from(self.segment_size)
    }

    /// An end that sends no data has no congestion control: it is built with the first data.
    fn start_congestion(&mut self, config: &Config) {
        if self.congestion.is_none() {
            let start = congestion::Start {
                segment_size: u64::from(self.segment_size),
                initial_window: u64::from(self.initial_window),
            };
            let congestion = congestion::build(&config.congestion, &start);
            self.cwnd = congestion.window();
            self.congestion = Some(congestion);
        }
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        debug_assert!(!self.closing, "nothing is written after the close");
        // Offsets stay below 2⁶³, so that sums never wrap.
        self.written = self.written.saturating_add(bytes).min(u64::MAX >> 1);
    }

    pub(crate) fn close(&mut self) {
        self.closing = true;
    }

    pub(crate) fn board(&self) -> &Scoreboard {
        &self.board
    }

    pub(crate) fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    pub(crate) fn phase(&self) -> Phase {
        self.recovery.phase()
    }

    pub(crate) fn limit(&self) -> Limit {
        self.limit
    }

    pub(crate) fn uses_sack(&self) -> bool {
        self.recovery.uses_sack()
    }

    /// Congestion window as the algorithm has it, in bytes.
    pub(crate) fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// Window with the inflation of fast recovery, in bytes.
    pub(crate) fn window(&self) -> u64 {
        self.recovery.window(self.cwnd)
    }

    pub(crate) fn congestion(&self) -> Option<&dyn CongestionControl> {
        self.congestion.as_deref()
    }

    pub(crate) fn segment_size(&self) -> u32 {
        self.segment_size
    }

    pub(crate) fn peer_edge(&self) -> u64 {
        self.peer_edge
    }

    /// Bytes of payload below `offset`, which may lie beyond the FIN.
    pub(crate) fn payload(&self, offset: u64) -> u64 {
        offset.min(self.written)
    }

    /// Whether the FIN was acknowledged.
    pub(crate) fn fin_acknowledged(&self) -> bool {
        self.board.una() > self.written
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The peer advertised `window` bytes from `ack` on. Returns whether that moved the right edge.
    pub(crate) fn set_peer_window(&mut self, ack: u64, window: u64) -> bool {
        let edge = ack + window;
        let moved = edge != self.peer_edge;
        self.peer_edge = edge;
        self.max_window = self.max_window.max(window);
        moved
    }

    /// An ACK arrived.
    pub(crate) fn handle_ack(
        &mut self,
        now: Instant,
        arrived: Acknowledgement<'_>,
        config: &Config,
        account: &mut Account,
    ) {
        let una = self.board.una();
        let prior_inflight = self.board.pipe();
        let newly_acked = arrived.ack - una;
        let mut delivery = Delivery::default();
        if newly_acked > 0 {
            self.board.acknowledge(arrived.ack, &mut delivery);
            self.retries = 0;
        } else if self.board.is_empty() {
            return;
        }
        for range in arrived.sacked {
            self.board.sack(*range, &mut delivery);
        }
        let rtt = self.sample_rtt(now, &delivery, newly_acked, arrived.echo, config, account);
        let duplicate = newly_acked == 0
            && if self.recovery.uses_sack() { delivery.bytes > 0 } else { !arrived.occupies && !arrived.moved_window };
        let phase = self.recovery.phase();
        let verdict = self.recovery.on_ack(&mut self.board, News { newly_acked, duplicate });
        self.resend_head |= verdict.resend_head;
        if newly_acked > 0 && !verdict.keep_timer {
            self.restart_timer(now, config);
        }
        if delivery.bytes > 0 || verdict != Verdict::default() {
            let ack = self.describe(now, newly_acked, &delivery, rtt, prior_inflight, phase, config);
            self.inform(now, ack, verdict, account);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "each is one fact of the ACK")]
    fn describe(
        &self,
        now: Instant,
        newly_acked: u64,
        delivery: &Delivery,
        rtt: Option<Duration>,
        prior_inflight: u64,
        phase: Phase,
        config: &Config,
    ) -> Ack {
        // The ACK that begins an episode grows nothing; the one that ends it still belongs to it.
        let phase = if phase == Phase::Open { self.recovery.phase() } else { phase };
        Ack {
            now,
            newly_acked,
            newly_delivered: delivery.bytes,
            growth: self.growth(newly_acked, delivery.bytes, phase, config.growth),
            rtt,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            inflight: self.board.pipe(),
            prior_inflight,
            snd_una: self.board.una(),
            snd_nxt: self.board.nxt(),
            phase,
            cwnd_limited: self.is_cwnd_limited(),
        }
    }

    /// Tells the congestion control: the ACK first, then what ended, then what began.
    fn inform(&mut self, now: Instant, ack: Ack, verdict: Verdict, account: &mut Account) {
        let Some(congestion) = &mut self.congestion else { return };
        congestion.on_ack(&ack);
        if verdict.ended {
            congestion.on_recovered(now);
        }
        if let Some(flight) = verdict.began {
            let (srtt, min_rtt) = (self.rtt.srtt(), self.rtt.min());
            congestion.on_congestion(&Congestion { now, cause: congestion::Cause::Loss, flight, srtt, min_rtt });
            account.statistics.recoveries += 1;
        }
        self.copy_window(now, account);
    }

    fn copy_window(&mut self, now: Instant, account: &mut Account) {
        let window = self.congestion.as_ref().map_or(self.cwnd, |congestion| congestion.window());
        if window != self.cwnd {
            account.window_was(self.cwnd, now);
            self.cwnd = window;
        }
    }

    /// What the ACK counts for growth, in segments.
    fn growth(&self, newly_acked: u64, delivered: u64, phase: Phase, rule: Growth) -> f64 {
        let size = f64::from(self.segment_size);
        // After a timeout a cumulative ACK may jump over data that arrived long ago (RFC 3465 §2.3).
        let jumps = phase == Phase::Loss;
        match rule {
            _ if newly_acked == 0 => 0.0,
            Growth::PerAck => 1.0,
            Growth::PerSegment if jumps && !self.recovery.uses_sack() => (newly_acked as f64 / size).min(2.0),
            Growth::PerSegment => delivered as f64 / size,
            Growth::Abc(limit) => {
                let limit = if jumps { 1.0 } else { f64::from(limit) };
                (newly_acked as f64 / size).min(limit)
            }
        }
    }

    /// Takes a round-trip sample for SRTT from the oldest segment delivered, so that it includes the peer's
    /// delay, and returns the newest one's for the congestion control. Karn: none from retransmitted data,
    /// unless the timestamp says which copy arrived.
    fn sample_rtt(
        &mut self,
        now: Instant,
        delivery: &Delivery,
        newly_acked: u64,
        echo: Option<u32>,
        config: &Config,
        account: &mut Account,
    ) -> Option<Duration> {
        let echoed = || (newly_acked > 0).then_some(echo).flatten().map(|echo| ticks_since(now, echo));
        let sent = delivery.sent.filter(|_| !delivery.retransmitted);
        let exact = sent.map(|(oldest, newest)| (now.since(oldest), now.since(newest)));
        let (oldest, newest) = match config.rtt_samples {
            RttSamples::Timestamp if echo.is_some() => echoed().map(|rtt| (rtt, rtt)),
            _ => exact.or_else(|| echoed().map(|rtt| (rtt, rtt))),
        }?;
        self.rtt.observe(newest);
        account.statistics.rtt_sum += newest;
        account.statistics.rtt_count += 1;
        if config.rtt_samples != RttSamples::OnePerRound {
            self.rtt.sample(oldest, &config.rto);
        } else if self.board.una() >= self.sample_from {
            self.sample_from = self.board.nxt() + 1;
            self.rtt.sample(oldest, &config.rto);
        }
        Some(newest)
    }

    /// RFC 6298 §5.2, §5.3: off when nothing is outstanding, else anew.
    fn restart_timer(&mut self, now: Instant, config: &Config) {
        self.timer = Timer::Retransmission;
        self.deadline = if self.board.is_empty() { Instant::MAX } else { now + self.rtt.rto(&config.rto) };
    }

    /// Whether the window, not the application, held the sender back; in slow start half a window in flight
    /// will do, since that may double before the news of it comes back (as Linux).
    fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited
            || self
                .congestion
                .as_ref()
                .is_some_and(|algorithm| self.cwnd < algorithm.ssthresh() && self.cwnd < 2 * self.round_flight)
    }

    /// The timer fired.
    pub(crate) fn handle_timeout(&mut self, now: Instant, config: &Config, account: &mut Account) -> Expiry {
        let waited = self.rtt.rto(&config.rto);
        self.rtt.back_off();
        self.deadline = Instant::MAX;
        if self.timer == Timer::Persist {
            self.override_small = true;
            self.probe = self.board.nxt() >= self.peer_edge;
            return Expiry::Continue;
        }
        account.statistics.timeouts += 1;
        account.waited_for_timeout(self.limit, now, waited);
        self.limit = Limit::Timeout;
        if self.retries >= config.retries {
            return Expiry::GiveUp;
        }
        self.retries += 1;
        let (cause, flight) = self.recovery.on_timeout(&mut self.board, self.cwnd);
        let (srtt, min_rtt) = (self.rtt.srtt(), self.rtt.min());
        if let Some(algorithm) = &mut self.congestion {
            algorithm.on_congestion(&Congestion { now, cause, flight, srtt, min_rtt });
        }
        self.copy_window(now, account);
        self.resend_head = true;
        Expiry::Continue
    }

    /// Full segments carry so many bytes.
    pub(crate) fn set_segment_size(&mut self, bytes: u32) {
        self.segment_size = bytes;
    }

    /// A SYN or SYN-ACK leaves: waits for its answer, twice as long after each timeout.
    pub(crate) fn arm_handshake(&mut self, now: Instant, config: &Config) {
        self.deadline = now + self.handshake_timeout(config);
    }

    fn handshake_timeout(&self, config: &Config) -> Duration {
        (config.rto.syn * (1 << self.retries.min(32))).min(config.rto.max)
    }

    /// Nobody answered the SYN or SYN-ACK in time.
    pub(crate) fn handshake_timed_out(&mut self, now: Instant, config: &Config, account: &mut Account) -> Expiry {
        account.statistics.timeouts += 1;
        account.waited_for_timeout(self.limit, now, self.handshake_timeout(config));
        self.deadline = Instant::MAX;
        if self.retries >= config.syn_retries {
            return Expiry::GiveUp;
        }
        self.retries += 1;
        Expiry::Continue
    }

    /// The handshake is over; returns how often its segment had to be repeated.
    pub(crate) fn end_handshake(&mut self) -> u8 {
        self.deadline = Instant::MAX;
        std::mem::take(&mut self.retries)
    }

    /// The SYN gives the first round-trip sample if it left once, or with timestamps (Karn).
    pub(crate) fn sample_handshake(
        &mut self,
        now: Instant,
        syn_sent: Instant,
        retransmissions: u8,
        echo: Option<u32>,
        config: &Config,
    ) {
        let rtt = match echo {
            _ if retransmissions == 0 => now.since(syn_sent),
            Some(echo) => ticks_since(now, echo),
            None => {
                // RFC 6298 §5.7.
                self.rtt.restart(RTO_AFTER_SYN_LOSS.max(config.rto.initial));
                return;
            }
        };
        if !rtt.is_zero() {
            self.rtt.observe(rtt);
            self.rtt.sample(rtt, &config.rto);
        }
    }

    /// The connection is no more: nothing leaves, no timer runs.
    pub(crate) fn stop(&mut self) {
        self.deadline = Instant::MAX;
    }

    /// Whether a zero-window probe must leave; it does with this call.
    pub(crate) fn take_probe(&mut self, now: Instant, config: &Config) -> bool {
        let probe = self.probe;
        if probe {
            self.probe = false;
            self.deadline = now + self.rtt.rto(&config.rto);
        }
        probe
    }

    /// The next segment with data or FIN that may leave now.
    pub(crate) fn poll(&mut self, now: Instant, config: &Config, account: &mut Account) -> Option<Chunk> {
        let window = self.recovery.window(self.cwnd);
        let outstanding = self.recovery.outstanding(&self.board);
        if self.resend_head {
            self.resend_head = false;
            if let Some(head) = self.board.head() {
                return Some(self.retransmit(now, head, config, account));
            }
        }
        let room = window.saturating_sub(outstanding);
        if self.recovery.phase() != Phase::Open
            && room >= u64::from(self.segment_size)
            && let Some(number) = self.recovery.next_lost(&mut self.board)
        {
            return Some(self.retransmit(now, number, config, account));
        }
        let blocked = match self.next_new(room) {
            Ok(chunk) => {
                self.start_congestion(config);
                return Some(self.send_new(now, chunk, config));
            }
            Err(blocked) => blocked,
        };
        if blocked != Limit::Cwnd
            && room >= u64::from(self.segment_size)
            && let Some(number) = self.recovery.next_speculative(&mut self.board)
        {
            return Some(self.retransmit(now, number, config, account));
        }
        self.rest(now, blocked, room, config, account);
        None
    }

    /// New data that may leave, or what forbids it (RFC 9293 §3.8.6.2.1).
    fn next_new(&self, room: u64) -> Result<Chunk, Limit> {
        let nxt = self.board.nxt();
        let pending = self.written.saturating_sub(nxt);
        if pending == 0 {
            return if self.closing && nxt == self.written && self.peer_edge > nxt {
                // A FIN alone does not wait for the congestion window.
                Ok(Chunk { start: nxt, len: 0, fin: true })
            } else if self.closing && nxt == self.written {
                Err(Limit::Rwnd)
            } else {
                Err(Limit::Application)
            };
        }
        let size = u64::from(self.segment_size);
        let allowed = self.peer_edge.saturating_sub(nxt);
        let len = pending.min(size).min(allowed);
        if len < pending.min(size) && !self.override_small && (len == 0 || len < self.max_window / 2) {
            return Err(Limit::Rwnd);
        }
        if len == 0 {
            return Err(Limit::Rwnd);
        }
        if len > room {
            return Err(Limit::Cwnd);
        }
        let last = len == pending;
        if self.nagle && last && len < size && !self.closing && !self.board.is_empty() {
            return Err(Limit::Application);
        }
        let fin = last && self.closing && allowed > len;
        Ok(Chunk { start: nxt, len: len as u32, fin })
    }

    fn send_new(&mut self, now: Instant, chunk: Chunk, config: &Config) -> Chunk {
        self.board.sent(now, chunk.len, chunk.fin);
        self.override_small = false;
        if self.deadline == Instant::MAX || self.timer == Timer::Persist {
            self.timer = Timer::Retransmission;
            self.deadline = now + self.rtt.rto(&config.rto);
        }
        chunk
    }

    fn retransmit(&mut self, now: Instant, number: u64, config: &Config, account: &mut Account) -> Chunk {
        let chunk = self.board.retransmit(number, now);
        account.statistics.retransmitted_segments += u64::from(chunk.len > 0);
        let head_again = self.recovery.uses_sack() && chunk.start == self.board.una();
        if self.deadline == Instant::MAX || head_again {
            // The head's repair needs a whole RTO of its own (as Linux).
            self.timer = Timer::Retransmission;
            self.deadline = now + self.rtt.rto(&config.rto);
        }
        chunk
    }

    /// Nothing more leaves now: notes why, and arms the persist timer if only the peer's window is in the way.
    fn rest(&mut self, now: Instant, blocked: Limit, room: u64, config: &Config, account: &mut Account) {
        if blocked == Limit::Rwnd && self.board.is_empty() && self.deadline == Instant::MAX {
            self.timer = Timer::Persist;
            self.deadline = now + self.rtt.rto(&config.rto);
        }
        let limit = match self.recovery.phase() {
            Phase::Recovery => Limit::Recovery,
            Phase::Loss => Limit::Timeout,
            Phase::Open => blocked,
        };
        if limit != self.limit {
            account.was_limited(self.limit, now);
            self.limit = limit;
        }
        let limited = room < u64::from(self.segment_size);
        let flight = self.board.pipe();
        if limited || self.board.una() >= self.round_end || (!self.cwnd_limited && flight > self.round_flight) {
            self.cwnd_limited = limited;
            self.round_flight = flight;
            self.round_end = self.board.nxt();
        }
    }
}

/// What the handshake agreed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    /// Initial window in segments.
    pub(crate) initial_window: u32,
    /// Whether SACK is used.
    pub(crate) sack: bool,
    /// The peer's first window in bytes.
    pub(crate) peer_window: u64,
}

/// The time since a timestamp of ours, in ticks of 1 ms, at least one tick.
fn ticks_since(now: Instant, echo: u32) -> Duration {
    Duration::from_millis(u64::from(timestamp(now).wrapping_sub(echo)).max(1))
}

/// The timestamp clock: 1 ms a tick.
pub(crate) fn timestamp(now: Instant) -> u32 {
    (now.as_nanos() / 1_000_000) as u32
}
