//! The sending half: what may leave now, what must leave again, and the timer behind it.

use crate::account::{Account, Limit};
use crate::config::Config;
use crate::congestion::{self, Congestion, CongestionControl, Phase};
use crate::recovery::Recovery;
use crate::rtt::RttEstimator;
use crate::scoreboard::{Chunk, Scoreboard};
use lightlag_core::{Duration, Instant};

mod acks;
mod handshake;

pub(crate) use acks::Acknowledgement;
pub(crate) use handshake::Agreed;

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
            cwnd: u64::from(config.initial_window) * u64::from(config.mss),
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
                rtt: Some(self.rtt.latest()).filter(|rtt| !rtt.is_zero()),
                abe: false,
                seed: 0,
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

    fn copy_window(&mut self, now: Instant, account: &mut Account) {
        let window = self.congestion.as_ref().map_or(self.cwnd, |congestion| congestion.window());
        if window != self.cwnd {
            account.window_was(self.cwnd, now);
            self.cwnd = window;
        }
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
        if self.limit == Limit::Application
            && self.board.is_empty()
            && self.written <= self.board.nxt()
            && !self.closing
        {
            // The usual case of an end that only receives.
            return None;
        }
        if self.resend_head {
            self.resend_head = false;
            if let Some(head) = self.board.head() {
                return Some(self.retransmit(now, head, config, account));
            }
        }
        let window = self.recovery.window(self.cwnd);
        let room = window.saturating_sub(self.recovery.outstanding(&self.board));
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
        if self.timer == Timer::Persist {
            self.rtt.end_back_off();
            self.deadline = Instant::MAX;
        }
        if self.deadline == Instant::MAX {
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

/// The timestamp clock: 1 ms a tick.
pub(crate) fn timestamp(now: Instant) -> u32 {
    (now.as_nanos() / 1_000_000) as u32
}

/// The time since a timestamp of ours, in ticks of 1 ms, at least one tick.
fn ticks_since(now: Instant, echo: u32) -> Duration {
    Duration::from_millis(u64::from(timestamp(now).wrapping_sub(echo)).max(1))
}
