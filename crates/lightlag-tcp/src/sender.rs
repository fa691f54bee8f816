//! The sending half: the data that may leave now, the retransmissions, and their timer.

use crate::account::Account;
use crate::config::Profile;
use crate::config::{Config, IdleRestart, LossAssumption, PartialAcks, Reductions, Scheme};
use crate::recovery::{Recovery, Rules, Signs};
use crate::scoreboard::Scoreboard;
use crate::timer::Step;
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
mod rest;
mod send_buffer;
mod sending;
mod special;
mod tail;
mod timeouts;
mod tokens;
mod user_timeout;
mod validation;

pub(crate) use acks::Acknowledgement;
pub(crate) use handshake::Agreed;
pub(crate) use rest::{Rest, Sending};
pub(crate) use timeouts::Expiry;

/// The purposes of the timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Timer {
    Retransmission,
    /// The peer's window is closed and nothing is in flight (RFC 9293 §3.8.6.1).
    Persist,
    /// A link is out, and only probes leave.
    Outage,
    /// The SYN-ACK of a connection that already has data is unanswered.
    Answer,
}

/// The rules of repair with this scheme; `sack`: the ends agreed on SACK.
fn rules(config: &Config, scheme: Scheme, sack: bool) -> Rules {
    Rules {
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

/// An initial window of so many segments.
fn segments(initial_window: u32) -> u16 {
    u16::try_from(initial_window).expect("an initial window has at most 65,535 segments")
}

/// A full segment with this much payload.
fn payload(bytes: u32) -> u16 {
    u16::try_from(bytes).expect("a packet counts its payload in 16 bits")
}

/// The sending half of a connection.
// The fields that every packet touches come first and together: with many flows, cache lines cost more than
// instructions.
#[repr(C)]
pub(crate) struct Sender {
    deadline: Instant,
    /// Segments that may still leave at this moment.
    burst_left: u32,
    /// Payload of a full segment.
    segment_size: u16,
    /// The initial window in segments.
    initial_window: u16,
    limit: Limit,
    timer: Timer,
    closing: bool,
    resend_head: bool,
    probe: bool,
    /// Send although the window is small (RFC 9293 §3.8.6.2.1 rule 4).
    override_small: bool,
    cwnd_limited: bool,
    nagle: bool,
    minshall: bool,
    /// New data waits for an ACK, a write or the end of pacing.
    put_off: bool,
    persisting: persist::Persisting,
    /// Timeouts in a row without progress.
    retries: u8,
    needs: Needs,
    /// The episode of repair cost nothing, so nothing can be restored.
    paid: bool,
    /// The next new data reports the reaction to a mark to the peer.
    reduced: bool,
    /// The ends agreed on ECN.
    ecn: bool,
    /// The last episode is blamed on corruption, so the congestion control is not told.
    excused: bool,
    /// The largest window that the peer advertised.
    max_window: u32,
    /// First offset beyond the peer's window.
    peer_edge: u64,
    /// End of the data that the application wrote.
    written: u64,
    special: Special,
    tail: Tail,
    board: Scoreboard,
    rtt: RttEstimator,
    congestion: Option<Box<dyn CongestionControl>>,
    pub(crate) account: Account,
    /// Window of the congestion control in bytes, copied after each of its calls.
    cwnd: u64,
    /// The end of the current round.
    round_end: u64,
    recovery: Recovery,
    /// Time at which data last left.
    last_sent: Instant,
    /// Start and length of the burst that leaves back to back.
    burst_start: u64,
    burst_len: u32,
    /// The most data in flight in the current round. The peer's window has 30 bits, and a segment is there at most twice.
    round_flight: u32,
    /// The step of the clock at which [`Self::deadline`] really fires, once it has come.
    step: Step,
    /// The seed of the congestion control's random draws.
    seed: u32,
}

/// State that hardly any sender needs.
#[derive(Debug, Default)]
struct Extra {
    /// Reports about the path.
    signals: attribution::Signals,
    /// The application writes records of this many bytes; 0 if that does not matter.
    record_size: u64,
    /// Bytes of payload that the mark at a record's end costs.
    mark_len: u64,
    /// Offsets at which segments end whatever their size, in order; those below SND.NXT no longer count.
    cuts: VecDeque<u64>,
    /// The longest wait of data for its acknowledgement (RFC 9293 §3.9.1, USER TIMEOUT); zero to wait as long as the
    /// retries last.
    user_timeout: Duration,
    /// Time of the first retransmission of unacknowledged data, or of the first probe of a closed window.
    unanswered_since: Instant,
    outage: outage::Outage,
    /// The offset after the last new segment that was not full, if small ones are held back.
    small_end: u64,
    /// Departure of the one segment that is timed whatever happens to it.
    timed_at: Instant,
    /// The record that leaves in the burst of the last repair.
    joined_repair: Option<u64>,
    /// Bytes that pacing counts for the current repair, if not its own length.
    paced_repair: Option<u64>,
    send_buffer: send_buffer::SendBuffer,
    /// The state of giving up data; `None` if every byte must arrive.
    best_effort: Option<Box<best_effort::BestEffort>>,
}

impl Sender {
    /// A sender whose `seed` differs from that of other connections.
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
            step: Step::default(),
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

    /// Uses this algorithm, with these needs, instead of the configured one.
    pub(crate) fn set_congestion(&mut self, congestion: Box<dyn CongestionControl>, needs: Needs) {
        self.needs = needs;
        // Both kinds are told of each segment that leaves.
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

    /// Tells the recovery the algorithm's needs.
    fn tell_recovery(&mut self) {
        if self.needs.own_recovery {
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

    /// Builds the congestion control with the first data: an end that sends no data has none.
    #[cold]
    fn start_congestion(&mut self, config: &Config) {
        let start = congestion::Start {
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
        if let LossAssumption::Own(own) = &config.loss_assumption {
            algorithm = Box::new(Responding::new(own, &start, algorithm));
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

    pub(crate) fn write(&mut self, bytes: u64, config: &Config) {
        debug_assert!(!self.closing, "nothing is written after the close");
        match config.send_buffer {
            None => self.accept(bytes),
            Some(size) => self.write_to_buffer(bytes, size.0),
        }
    }

    /// Accepts this many bytes from the application.
    fn accept(&mut self, bytes: u64) {
        self.check_supply();
        // Offsets stay below 2⁶³, so sums never wrap.
        self.written = self.written.saturating_add(bytes).min(u64::MAX >> 1);
    }

    pub(crate) fn close(&mut self) {
        self.closing = !self.closes_later();
    }

    /// Whether the application wrote anything.
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

    /// Whether data is out of order although nothing is being repaired.
    pub(crate) fn disorder(&self) -> bool {
        let odd = self.board.any_sacked() || self.board.any_resent() || self.recovery.duplicates() > 0;
        self.recovery.phase() == Phase::Open && odd && !self.board.is_empty()
    }

    /// The degree of reordering seen, in segments.
    pub(crate) fn reordering(&self) -> u32 {
        self.recovery.reordering(&self.board)
    }

    /// Number of times that reordering was seen.
    pub(crate) fn reordering_seen(&self) -> u32 {
        self.recovery.reordering_seen()
    }

    /// Whether a mark was answered, and the data of that time is still outstanding.
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

    /// The algorithm's congestion window, in bytes.
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
        self.segment_size.into()
    }

    /// Bytes of the application that were never sent, those that wait for room in the send buffer included.
    pub(crate) fn unsent(&self) -> u64 {
        self.written.saturating_sub(self.board.nxt()).saturating_add(self.waiting())
    }

    /// Whether the application writes nothing more.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing
    }

    /// Timeouts in a row without progress.
    pub(crate) fn retries(&self) -> u8 {
        self.retries
    }

    pub(crate) fn set_nagle(&mut self, on: bool) {
        self.nagle = on;
    }

    pub(crate) fn peer_edge(&self) -> u64 {
        self.peer_edge
    }

    /// The largest window that the peer advertised (MAX.SND.WND, RFC 5961 §5).
    pub(crate) fn max_window(&self) -> u64 {
        self.max_window.into()
    }

    /// Bytes of payload below `offset`, which may lie beyond the FIN.
    pub(crate) fn payload(&self, offset: u64) -> u64 {
        offset.min(self.written)
    }

    /// Whether the FIN was acknowledged.
    pub(crate) fn fin_acknowledged(&self) -> bool {
        self.board.una() > self.written
    }

    /// Time at which [`Self::handle_timeout`] must be called; [`Instant::MAX`] if never.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline.min(self.tail.timer).min(self.recovery.timer()).min(self.special.pacer().timer)
    }

    /// Starts an event: as many segments may leave as the burst limit allows.
    pub(crate) fn begin_event(&mut self, config: &Config) {
        self.begin_timer(config);
        self.put_off = false;
    }

    /// Starts the event of a timer: new data that was put off still waits.
    pub(crate) fn begin_timer(&mut self, config: &Config) {
        self.burst_left = config.burst_limit.unwrap_or(u32::MAX);
    }

    /// Whether the next new data reports the reaction to its mark to the peer (CWR, RFC 3168 §6.1.2).
    pub(crate) fn take_reduced(&mut self) -> bool {
        std::mem::take(&mut self.reduced)
    }

    /// Notes that the peer advertised `window` bytes from `ack` on. Returns whether that moved the right edge.
    pub(crate) fn set_peer_window(&mut self, ack: u64, window: u64) -> bool {
        let edge = ack + window;
        let moved = edge != self.peer_edge;
        self.peer_edge = edge;
        // It has 16 bits, shifted by at most 14.
        self.max_window = self.max_window.max(window as u32);
        moved
    }

    /// The congestion control in somebody else's hands, if it is steered.
    pub(crate) fn steering(&mut self) -> Option<&mut dyn Steering> {
        self.congestion.as_mut()?.steering()
    }

    /// Sets the window and the pacing rate of a steered congestion control. Returns whether there is one.
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
