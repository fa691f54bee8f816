//! The sending half: which data may be sent now, retransmissions, and the retransmission timer.

use crate::account::Account;
use crate::config::Profile;
use crate::config::{Config, IdleRestart, LossAssumption, PartialAcks, Reductions, Scheme};
use crate::recovery::{Recovery, RepairRules, Signs};
use crate::scoreboard::Scoreboard;
use crate::timer::WheelStep;
use lightlag_control::congestion::careful_resume::CarefulResume;
use lightlag_control::congestion::response::Responding;
use lightlag_control::congestion::{self, CongestionControl, Needs, Phase, Probes, Steering};
use lightlag_control::delivery_rate::RateSampler;
use lightlag_control::rtt::RttEstimator;
use lightlag_core::{Duration, Instant, Rate};
use lightlag_transport::Limit;
use special::Special;
use std::collections::VecDeque;
use tail::Tail;

mod acks;
mod attribution;
mod best_effort;
mod bursts;
mod dormant;
mod handshake;
mod idle;
mod low_priority;
mod outage;
mod pacing;
mod path;
mod persist;
mod progress;
mod rates;
mod records;
mod release;
mod send_buffer;
mod sending;
mod special;
mod tail;
mod timeouts;
mod tokens;
mod user_timeout;
mod validation;

pub(crate) use acks::Acknowledgement;
pub(crate) use dormant::{DormantSender, Sending};
pub(crate) use handshake::NegotiatedOptions;
pub(crate) use timeouts::Expiry;

/// Current purpose of the sender's timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Timer {
    Retransmission,
    /// The next probe, because the peer's window is closed and nothing is in flight (RFC 9293 §3.8.6.1).
    Persist,
    /// The next probe, because a link is down and only probes are sent.
    Outage,
    /// Retransmission of the SYN-ACK of a connection that already has data to send.
    Answer,
}

/// Returns the rules of loss repair with this scheme; `sack` is true if SACK was negotiated.
fn rules(config: &Config, scheme: Scheme, sack: bool) -> RepairRules {
    RepairRules {
        scheme,
        guesses: config.prr && config.reductions == Reductions::Linux && scheme == Scheme::NewReno && !sack,
        limited_transmit: config.limited_transmit,
        prr: config.prr,
        rate_halving: config.rate_halving,
        rtt_by_offset: config.rack_rtt_by_offset,
        impatient: config.partial_acks == PartialAcks::Impatient,
        reductions: config.reductions,
        signs: Signs { eifel: config.eifel, dsack: config.dsack_undo, frto: config.frto },
    }
}

/// Converts the initial window in segments to 16 bits.
fn segments(initial_window: u32) -> u16 {
    u16::try_from(initial_window).expect("an initial window has at most 65,535 segments")
}

/// Converts the payload of a full segment to 16 bits.
fn payload(bytes: u32) -> u16 {
    u16::try_from(bytes).expect("a packet counts its payload in 16 bits")
}

/// The sending half of a connection.
// The fields that every packet touches are adjacent and come first: with many flows, cache lines cost more than
// instructions.
#[repr(C)]
pub(crate) struct Sender {
    deadline: Instant,
    /// Number of segments that may still be sent in the current event.
    burst_left: u32,
    /// Payload of a full segment, in bytes.
    segment_size: u16,
    /// Initial window in segments.
    initial_window: u16,
    limit: Limit,
    timer: Timer,
    closing: bool,
    resend_head: bool,
    probe: bool,
    /// Whether data is sent although the peer's window is small (RFC 9293 §3.8.6.2.1 rule 4).
    override_small: bool,
    cwnd_limited: bool,
    nagle: bool,
    minshall: bool,
    /// Whether new data is deferred until an ACK, a write or the end of a pacing delay.
    put_off: bool,
    persisting: persist::Persisting,
    /// Number of consecutive timeouts without progress.
    retries: u8,
    needs: Needs,
    /// Whether the current episode did not reduce the window, so that an undo has nothing to restore.
    paid: bool,
    /// Whether the next new data must tell the peer that the window was reduced after a mark (CWR).
    reduced: bool,
    /// Whether ECN was negotiated.
    ecn: bool,
    /// Whether the last loss or timeout was attributed to corruption, so that the congestion control is not notified.
    excused: bool,
    /// Maximum window that the peer has advertised, in bytes.
    max_window: u32,
    /// Right edge of the peer's window: the first offset beyond it.
    peer_edge: u64,
    /// Offset after the data that the application has written.
    written: u64,
    special: Special,
    tail: Tail,
    board: Scoreboard,
    rtt: RttEstimator,
    congestion: Option<Box<dyn CongestionControl>>,
    pub(crate) account: Account,
    /// Window of the congestion control in bytes, copied after each call of the congestion control.
    cwnd: u64,
    /// Offset whose acknowledgement ends the current round trip.
    round_end: u64,
    recovery: Recovery,
    /// Time when data was last sent.
    last_sent: Instant,
    /// Start of the burst that is currently sent back to back; [`Self::burst_len`] is its length.
    burst_start: u64,
    burst_len: u32,
    /// Maximum amount of data in flight in the current round trip, in bytes. 32 bits suffice: the peer's window has at
    /// most 30 bits, and at most two copies of a segment are in flight.
    round_flight: u32,
    /// The step of Linux's timer wheel that [`Self::deadline`] was last moved to.
    step: WheelStep,
    /// Seed for the random numbers of the congestion control.
    seed: u32,
}

/// State that very few senders need.
#[derive(Debug, Default)]
struct RareState {
    /// Reports of corruption and congestion on the path.
    signals: attribution::Signals,
    /// Size of the application's records in bytes; 0 if it has none.
    record_size: u64,
    /// Number of payload bytes for which the mark at the end of a record leaves no space.
    mark_len: u64,
    /// Offsets where a segment must end whatever its size, in ascending order. Those below SND.NXT have no effect any
    /// more.
    cuts: VecDeque<u64>,
    /// Maximum time that data may wait for its acknowledgement (RFC 9293 §3.9.1, USER TIMEOUT); zero if only the number
    /// of retries counts.
    user_timeout: Duration,
    /// Time of the first retransmission of data that is still unacknowledged, or of the first probe of the closed
    /// window.
    unanswered_since: Instant,
    outage: outage::Outage,
    /// With Minshall's variant of Nagle's algorithm, the offset after the last small segment that was sent.
    small_end: u64,
    /// Transmission time of the timed segment, if one segment at a time is timed even when it is retransmitted.
    timed_at: Instant,
    /// Record whose retransmission belongs to the same burst as the previous retransmission, as a record number.
    joined_repair: Option<u64>,
    /// Number of bytes that pacing counts for the current retransmission; `None` if that is its length.
    paced_repair: Option<u64>,
    send_buffer: send_buffer::SendBuffer,
    /// State of partial reliability; `None` if every byte must arrive.
    best_effort: Option<Box<best_effort::BestEffort>>,
}

impl Sender {
    /// Returns a sender. `seed` must differ between connections.
    pub(crate) fn new(config: &Config, seed: u32) -> Self {
        let mut special = Special::default();
        if config.idle_restart == IdleRestart::Rfc7661 {
            special.validate();
        }
        Self {
            board: Scoreboard::new(config.mss.into()),
            cwnd: u64::from(config.initial_window) * u64::from(config.mss),
            written: 0,
            peer_edge: 0,
            deadline: Instant::MAX,
            step: WheelStep::default(),
            recovery: Recovery::new(rules(config, config.recovery, config.sack)),
            rtt: RttEstimator::of_route(config.route.and_then(|route| route.rtt), &config.rto),
            congestion: None,
            account: Account::default(),
            needs: Needs::NONE,
            special,
            segment_size: config.mss,
            timer: Timer::Retransmission,
            limit: Limit::Application,
            closing: false,
            resend_head: false,
            probe: false,
            persisting: persist::Persisting::default(),
            override_small: false,
            cwnd_limited: false,
            nagle: config.nagle,
            minshall: config.minshall,
            put_off: false,
            retries: 0,
            initial_window: segments(config.initial_window),
            round_flight: 0,
            round_end: 0,
            max_window: 0,
            tail: Tail::new(),
            burst_left: u32::MAX,
            last_sent: Instant::ZERO,
            burst_start: 0,
            burst_len: 0,
            paid: false,
            reduced: false,
            ecn: false,
            seed,
            excused: false,
        }
    }

    /// Replaces the configured congestion control by `congestion`, which has these `needs`.
    pub(crate) fn set_congestion(&mut self, congestion: Box<dyn CongestionControl>, needs: Needs) {
        self.needs = needs;
        // Both kinds are notified of each outgoing segment.
        self.needs.pacing |= self.needs.bursts;
        if self.needs.rate {
            self.board.keep_log();
            let first = self.board.numbers().1;
            let ns3 = self.needs.rate_as_ns3;
            self.special.measure_rates(if ns3 { RateSampler::of_ns3(first) } else { RateSampler::new(first) });
        }
        self.congestion = Some(congestion);
        self.tell_recovery();
    }

    /// Passes the needs of the congestion control to the loss recovery.
    fn tell_recovery(&mut self) {
        if self.needs.controls_recovery {
            self.recovery.leave_window_alone();
            // A window from a model is not validated by its use.
            self.special.stop_validation();
        }
        if self.needs.restart_on_loss {
            self.recovery.restart_on_loss();
        }
        if self.needs.probes != Probes::None {
            self.recovery.believe_no_signs();
        }
    }

    fn initial_cwnd(&self) -> u64 {
        u64::from(self.initial_window) * u64::from(self.segment_size)
    }

    /// Creates the congestion control. This happens with the first data, so an end that sends no data has none.
    #[cold]
    fn start_congestion(&mut self, config: &Config) {
        let start = congestion::ConnectionStart {
            segment_size: u64::from(self.segment_size),
            initial_window: u64::from(self.initial_window),
            rtt: Some(self.rtt.latest()).filter(|rtt| !rtt.is_zero()).or(config.route.and_then(|route| route.rtt)),
            pipe: config.route.and_then(|route| route.bdp).map(|bytes| bytes.0),
            ssthresh: config.initial_ssthresh,
            max_window: config.max_cwnd,
            whole: config.reductions == Reductions::Each,
            timestamps: config.timestamps,
            abe: config.abe,
            ecn: self.ecn,
            tso: config.tso,
            paces: config.pacing,
            seed: self.seed.into(),
        };
        let kernel = match config.profile {
            Profile::Linux => Some(config.congestion.in_linux()),
            Profile::Ns2Linux => Some(config.congestion.in_linux26()),
            Profile::Ns3 => Some(config.congestion.in_ns3()),
            _ => None,
        };
        let choice = kernel.as_ref().unwrap_or(&config.congestion);
        let needs = choice.needs(self.ecn);
        let (mut algorithm, needs) = match config.careful_resume {
            None => (congestion::build(choice, &start), needs),
            Some(saved) => (
                Box::new(CarefulResume::new(saved, choice, &start)) as Box<dyn CongestionControl>,
                CarefulResume::needs(needs),
            ),
        };
        if let LossAssumption::Custom(custom) = &config.loss_assumption {
            algorithm = Box::new(Responding::new(custom, &start, algorithm));
        }
        self.set_congestion(algorithm, needs);
        if self.board.is_empty() {
            let segments = self.written.div_ceil(self.segment_size.into()).min(self.initial_window.into());
            self.board.reserve(segments as usize);
        }
        self.cwnd = self.congestion.as_ref().map_or(self.cwnd, |congestion| congestion.window());
        if config.tso {
            self.note_first_write();
        }
    }

    #[inline]
    pub(crate) fn write(&mut self, bytes: u64, config: &Config) {
        debug_assert!(!self.closing, "nothing is written after the close");
        match config.send_buffer {
            None => self.accept(bytes),
            Some(size) => self.write_to_buffer(bytes, size.0),
        }
    }

    /// Adds `bytes` to the data that the application has written.
    fn accept(&mut self, bytes: u64) {
        self.check_supply();
        // Offsets stay below 2⁶³, so sums never wrap.
        self.written = self.written.saturating_add(bytes).min(u64::MAX >> 1);
    }

    pub(crate) fn close(&mut self) {
        self.closing = !self.closes_later();
    }

    /// Returns true if the application wrote anything.
    pub(crate) fn has_data(&self) -> bool {
        self.written > 0
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

    /// Returns true if data is out of order, but no repair has started.
    pub(crate) fn disorder(&self) -> bool {
        let odd = self.board.any_sacked() || self.board.any_resent() || self.recovery.duplicates() > 0;
        self.recovery.phase() == Phase::Open && odd && !self.board.is_empty()
    }

    /// Returns the degree of reordering seen, in segments.
    pub(crate) fn reordering(&self) -> u32 {
        self.recovery.reordering(&self.board)
    }

    /// Returns the number of ACKs that showed reordering.
    pub(crate) fn reordering_seen(&self) -> u32 {
        self.recovery.reordering_seen()
    }

    /// Returns true if the window was reduced after a mark, and data sent before that is still outstanding.
    pub(crate) fn answers_mark(&self) -> bool {
        self.board.una() < self.special.marks().answered_until
    }

    pub(crate) fn limit(&self) -> Limit {
        self.limit
    }

    pub(crate) fn uses_sack(&self) -> bool {
        self.recovery.uses_sack()
    }

    pub(crate) fn uses_snack(&self) -> bool {
        self.recovery.uses_snack()
    }

    /// Returns the window of the congestion control, in bytes.
    pub(crate) fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// Returns the current window in bytes, including the inflation or gradual reduction of fast recovery.
    pub(crate) fn window(&self) -> u64 {
        self.recovery.window(self.cwnd)
    }

    pub(crate) fn congestion(&self) -> Option<&dyn CongestionControl> {
        self.congestion.as_deref()
    }

    pub(crate) fn segment_size(&self) -> u32 {
        self.segment_size.into()
    }

    /// Returns the number of written bytes that were never sent, including bytes that wait for space in the send
    /// buffer.
    pub(crate) fn unsent(&self) -> u64 {
        self.written.saturating_sub(self.board.nxt()).saturating_add(self.waiting())
    }

    /// Returns true if the application has closed and will write nothing more.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing
    }

    /// Returns the number of consecutive timeouts without progress.
    pub(crate) fn retries(&self) -> u8 {
        self.retries
    }

    pub(crate) fn set_nagle(&mut self, on: bool) {
        self.nagle = on;
    }

    pub(crate) fn peer_edge(&self) -> u64 {
        self.peer_edge
    }

    /// Returns the maximum window that the peer advertised (MAX.SND.WND, RFC 5961 §5).
    pub(crate) fn max_window(&self) -> u64 {
        self.max_window.into()
    }

    /// Returns the number of payload bytes below `offset`. The FIN, which `offset` may include, does not count.
    pub(crate) fn payload(&self, offset: u64) -> u64 {
        offset.min(self.written)
    }

    /// Returns true if the FIN was acknowledged.
    pub(crate) fn fin_acknowledged(&self) -> bool {
        self.board.una() > self.written
    }

    /// Returns when [`Self::handle_timeout`] must be called next; [`Instant::MAX`] if no timer runs.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline.min(self.tail.timer).min(self.recovery.timer()).min(self.special.pacer().timer)
    }

    /// Prepares for an event other than a timer. New data is no longer deferred, and the burst limit starts again.
    pub(crate) fn begin_event(&mut self, config: &Config) {
        self.begin_timer(config);
        self.put_off = false;
    }

    /// Prepares for a timer event. The burst limit starts again, but deferred new data continues to wait.
    pub(crate) fn begin_timer(&mut self, config: &Config) {
        self.burst_left = config.burst_limit.unwrap_or(u32::MAX);
    }

    /// Returns true, once, if the next new data must tell the peer that the window was reduced after a mark (CWR, RFC
    /// 3168 §6.1.2).
    pub(crate) fn take_reduced(&mut self) -> bool {
        std::mem::take(&mut self.reduced)
    }

    /// Sets the peer's window to `window` bytes, starting at `ack`. Returns true if its right edge moved.
    pub(crate) fn set_peer_window(&mut self, ack: u64, window: u64) -> bool {
        let edge = ack + window;
        let moved = edge != self.peer_edge;
        self.peer_edge = edge;
        // It has 16 bits, shifted by at most 14.
        self.max_window = self.max_window.max(window as u32);
        moved
    }

    /// Returns the interface to steer the congestion control; `None` if it controls itself.
    pub(crate) fn steering(&mut self) -> Option<&mut dyn Steering> {
        self.congestion.as_mut()?.steering()
    }

    /// Sets the window in bytes and the pacing rate of a steered congestion control. Returns false if there is none.
    pub(crate) fn steer(&mut self, now: Instant, window: u64, rate: Option<Rate>) -> bool {
        let Some(steering) = self.steering() else { return false };
        steering.steer(window, rate);
        self.copy_window(now);
        true
    }

    fn copy_window(&mut self, now: Instant) {
        let window = self.congestion.as_ref().map_or(self.cwnd, |congestion| congestion.window());
        if window != self.cwnd {
            self.account.window_was(self.cwnd, now);
            self.cwnd = window;
            // An algorithm with its own window may go below the deflation.
            self.recovery.limit_deflation(&self.board, window);
        }
    }
}
