//! The state machine (RFC 9293): joins the two halves, owns the timers, and turns sequence numbers into offsets.
//!
//! The host calls `handle_*` for each input, then [`Connection::poll_segment`] until it returns none, then sets a timer
//! for [`Connection::poll_timeout`]. Segments leave only through `poll_segment`.

use crate::config::Config;
use crate::receiver::{PathTimes, Receiver};
use crate::segment::{Segment, SeqNumber};
use crate::sender::{Expiry, Rest, Sender, Sending};
use lightlag_control::congestion::{CongestionControl, Internals, Needs, Phase};
use lightlag_control::rtt::RttEstimator;
use lightlag_core::{Duration, Instant, prefetch, prefetch_value};
use lightlag_transport::{Failure, Limited, Snapshot, Statistics};
use std::sync::Arc;

/// The sending half, which wakes if it rests.
macro_rules! awake {
    ($of:ident) => {
        $of.sending.wake(&$of.config, crate::connection::rest::seed($of.local))
    };
}

mod adjust;
mod arrivals;
mod best_effort;
mod closing;
mod compressed;
mod endpoint;
mod extras;
mod handshake;
mod inspect;
mod limited;
mod low_priority;
mod marks;
mod prediction;
mod resets;
mod rest;
mod scps;
mod sending;
#[cfg(test)]
mod tests;

use extras::Extras;
pub use inspect::Details;
pub use resets::reset_for;

/// State of a connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum State {
    /// Not opened, or over.
    #[default]
    Closed,
    /// A server that waits for a SYN.
    Listen,
    /// The SYN was sent.
    SynSent,
    /// SYN and SYN-ACK crossed or followed each other; the last ACK is missing.
    SynReceived,
    /// Data flows both ways.
    Established,
    /// The local end closed; its FIN is not acknowledged.
    FinWait1,
    /// The local end closed, and the peer knows; it may still send.
    FinWait2,
    /// The peer closed; the local end may still send.
    CloseWait,
    /// Both closed at once; the local FIN is not acknowledged.
    Closing,
    /// The peer closed first; the local FIN is not acknowledged.
    LastAck,
    /// Both are done; old segments die out.
    TimeWait,
}

/// One end of a connection.
// The fields that every packet touches come first and together: with many flows, cache lines cost more than
// instructions.
#[repr(C)]
pub struct Connection {
    /// The local sequence number of payload offset 0.
    local: SeqNumber,
    /// The peer's sequence number of payload offset 0.
    remote: SeqNumber,
    state: State,
    /// A segment of the handshake must leave: SYN, SYN-ACK, or the ACK of the SYN-ACK.
    handshake_due: bool,
    timestamps: bool,
    sack: bool,
    /// Shift of the windows that the peer advertises.
    peer_scale: u8,
    /// Whether it started in LISTEN.
    passive: bool,
    /// Whether the application is gone.
    orphan: bool,
    /// Whether the last ACK without data reports only how much arrived, and more than the one before.
    supersedes: bool,
    /// Whether segments were predictable, with no change since.
    predicts: bool,
    /// The lower halves of offset and acknowledgement of the segment that last set the peer's window (SND.WL1, SND.WL2).
    window_from: (u32, u32),
    extras: Extras,
    config: Arc<Config>,
    receiver: Receiver,
    /// End of TIME-WAIT, or of FIN-WAIT-2 of an orphan; next check of an idle connection, or end of the patience with a
    /// hole.
    linger: Instant,
    /// Time at which the first SYN or SYN-ACK left.
    syn_sent: Instant,
    sending: Sending,
}

impl Connection {
    /// The end that opens. `initial` is its initial sequence number.
    pub fn client(config: Arc<Config>, initial: SeqNumber) -> Self {
        Self::new(config, initial, State::Closed)
    }

    /// The end that starts in LISTEN.
    pub fn server(config: Arc<Config>, initial: SeqNumber) -> Self {
        Self::new(config, initial, State::Listen)
    }

    fn new(config: Arc<Config>, initial: SeqNumber, state: State) -> Self {
        let mut receiver = Receiver::new(
            config.receive_buffer_initial.unwrap_or(config.receive_buffer).0,
            config.mss,
            config.delayed_ack,
        );
        receiver.set_rule(config.receive_window);
        receiver.set_first_window(config.first_window(), config.mss.into());
        if let Some(interval) = config.ack_interval {
            receiver.set_interval(interval);
        }
        Self {
            sending: Sending::Resting(Rest::new(&config)),
            receiver,
            local: initial.plus(1),
            remote: SeqNumber::default(),
            state,
            handshake_due: false,
            timestamps: config.timestamps,
            sack: config.sack,
            peer_scale: 0,
            window_from: (0, 0),
            linger: Instant::MAX,
            syn_sent: Instant::MAX,
            passive: state == State::Listen,
            orphan: false,
            supersedes: false,
            predicts: false,
            extras: Extras::new(&config, state == State::Listen),
            config,
        }
    }

    /// Uses this algorithm, with these needs, instead of the configured one. Call it before anything is sent.
    #[must_use]
    pub fn with_congestion(mut self, congestion: Box<dyn CongestionControl>, needs: Needs) -> Self {
        awake!(self).set_congestion(congestion, needs);
        self
    }

    /// Opens actively: the SYN leaves with the next [`Self::poll_segment`].
    pub fn open(&mut self, now: Instant) {
        assert_eq!(self.state, State::Closed, "only a new client opens");
        self.state = State::SynSent;
        self.handshake_due = true;
        awake!(self).account.open(now);
    }

    /// The application writes this many more bytes; [`u64::MAX`] means without end.
    pub fn write(&mut self, bytes: u64) {
        self.begin_event();
        awake!(self).write(bytes, &self.config);
    }

    /// Ends a record: no segment holds bytes from before and after this point (MSG_EOR).
    pub fn end_record(&mut self) {
        awake!(self).cut_here();
    }

    /// Closes for writing: a FIN follows the data. A connection without an answer and with nothing to send ends at once
    /// (RFC 9293 §3.10.4).
    pub fn close(&mut self) {
        if matches!(self.state, State::Listen | State::SynSent)
            && self.sending.awake().is_none_or(|sender| !sender.has_data())
        {
            return self.finish(None);
        }
        awake!(self).close();
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Payload bytes received in order, read or not.
    pub fn received(&self) -> u64 {
        self.receiver.received()
    }

    /// The application reads by [`Self::read`]. Without this call it reads at once.
    pub fn read_later(&mut self) {
        self.receiver.read_later();
    }

    /// The application reads up to `bytes`. Returns the number read. A window update may be due afterwards.
    pub fn read(&mut self, bytes: u64) -> u64 {
        let read = self.receiver.read(bytes);
        if self.extras.scps().is_some() {
            self.settle_records();
        }
        read
    }

    /// Bytes that arrived in order and have not been read.
    pub fn unread(&self) -> u64 {
        self.receiver.unread()
    }

    /// Number of bytes to read until the window is worth an update; `None` if no update follows before more data
    /// arrives.
    pub fn until_update(&self) -> Option<u64> {
        // A closed connection sends no updates.
        self.receiver.until_update().filter(|_| self.state != State::Closed)
    }

    /// Whether the peer's FIN and all data before it arrived.
    pub fn peer_closed(&self) -> bool {
        self.receiver.fin_consumed()
    }

    /// Takes in a segment.
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        if !self.take_predicted(now, segment) {
            self.handle_unpredicted(now, segment);
        }
    }

    #[inline(never)]
    fn handle_unpredicted(&mut self, now: Instant, segment: &Segment) {
        self.begin_event();
        match self.state {
            State::Closed => self.refuse(segment),
            State::Listen => self.listen(now, segment),
            State::SynSent => self.answer_to_syn(now, segment),
            _ => self.synchronized(now, segment),
        }
        // Segments without data go to an end that sends.
        self.predicts = segment.len > 0 && self.can_predict();
    }

    /// Fetches the sending half from memory, if there is one: an ACK needs it.
    #[inline]
    pub fn prefetch_sender(&self) {
        if let Some(sender) = self.sending.awake() {
            prefetch(&raw const *sender);
        }
    }

    /// Fetches from memory what most segments need beside the connection and its sending half, before one of them is handled.
    #[inline]
    pub fn prefetch(&self) {
        let Some(sender) = self.sending.awake().filter(|sender| !sender.board().is_empty()) else { return };
        sender.board().prefetch();
        if let Some(congestion) = sender.congestion() {
            prefetch_value(congestion);
        }
    }

    /// The clock reached [`Self::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Instant) {
        self.predicts = false;
        self.begin_timer();
        if self.linger <= now {
            self.linger_ended(now);
        }
        if self.receiver.deadline() <= now && !self.receiver.timer_waits(now, self.config.timer_granularity) {
            self.receiver.handle_timeout(self.path_times());
        }
        if self.sending_deadline() <= now {
            if matches!(self.state, State::SynSent | State::SynReceived) || self.is_unconfirmed() {
                let linear = self.linear_timeouts();
                let sender = awake!(self);
                sender.wake(now);
                if sender.deadline() <= now && !sender.handshake_timer_waits(now, linear, &self.config) {
                    self.handshake_timed_out(now);
                }
            } else if self.timed_out(now) == Expiry::GiveUp {
                self.give_up();
            }
        }
    }

    fn timed_out(&mut self, now: Instant) -> Expiry {
        let sender = awake!(self);
        let (before, timeouts) = (sender.retries(), sender.account.timeouts);
        let expiry = sender.handle_timeout(now, &self.config);
        if sender.account.fast_open().is_some() && sender.account.timeouts > timeouts {
            self.suspect_path(before, expiry == Expiry::GiveUp);
        }
        expiry
    }

    /// Time at which [`Self::handle_timeout`] must be called, if at all.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let next = self.sending_deadline().min(self.receiver.deadline()).min(self.linger);
        (next != Instant::MAX).then_some(next)
    }

    /// The next segment to send. Call it until it returns none.
    #[inline]
    pub fn poll_segment(&mut self, now: Instant) -> Option<Segment> {
        if self.is_quiet() {
            debug_assert!(self.poll_any(now).is_none());
            return None;
        }
        self.poll_any(now)
    }

    // Never inlined, so that the sending code is one function with this, not a second one behind it.
    #[inline(never)]
    fn poll_any(&mut self, now: Instant) -> Option<Segment> {
        let synchronized = !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived);
        if synchronized && self.extras.gate().is_none() { self.poll_synchronized(now) } else { self.poll_seldom(now) }
    }

    /// Sends before and after a connection, or through a gate.
    #[cold]
    fn poll_seldom(&mut self, now: Instant) -> Option<Segment> {
        match self.state {
            _ if self.extras.gate().is_some() => self.poll_gate(now, None),
            State::Closed | State::Listen => self.poll_answer(now),
            _ => self.poll_syn(now),
        }
    }

    /// The state of the sending half.
    pub fn snapshot(&self) -> Snapshot {
        self.look(|sender| self.snapshot_of(sender))
    }

    fn snapshot_of(&self, sender: &Sender) -> Snapshot {
        let rtt = sender.rtt();
        let congestion = sender.congestion();
        let una = sender.payload(sender.board().una());
        Snapshot {
            cwnd: sender.window(),
            ssthresh: congestion.map_or(u64::MAX, |algorithm| algorithm.ssthresh()),
            inflight: sender.board().pipe(),
            srtt: rtt.srtt(),
            rtt: rtt.latest(),
            min_rtt: rtt.min(),
            rto: rtt.rto(&self.config.rto),
            phase: sender.phase(),
            snd_una: una,
            snd_nxt: sender.payload(sender.board().nxt()),
            peer_window: sender.peer_edge().saturating_sub(una),
            segment_size: u64::from(sender.segment_size()),
            epoch: congestion.and_then(|algorithm| algorithm.epoch()),
            internals: congestion.map_or_else(Internals::default, |algorithm| algorithm.internals()),
            pacing_rate: congestion.and_then(|algorithm| algorithm.departures()?.pacing_rate()),
        }
    }

    /// The part of [`Self::snapshot`] whose change a trace records: the window, the threshold and the phase.
    #[inline]
    pub fn course(&self) -> (u64, u64, Phase) {
        self.look(|sender| {
            let ssthresh = sender.congestion().map_or(u64::MAX, |algorithm| algorithm.ssthresh());
            (sender.window(), ssthresh, sender.phase())
        })
    }

    /// Whether ACKs report reordered data although nothing is being repaired: the state of disorder of Linux.
    pub fn is_disordered(&self) -> bool {
        self.sending.awake().is_some_and(|sender| sender.disorder())
    }

    /// The counters.
    pub fn statistics(&self) -> Statistics {
        match &self.sending {
            Sending::Awake(sender) => sender.account.statistics(),
            Sending::Resting(rest) => rest.statistics(),
        }
    }

    /// The reason why it was given up, if it was.
    #[inline]
    pub fn failure(&self) -> Option<Failure> {
        self.sending.awake().and_then(|sender| sender.account.failure)
    }

    /// Time until now for which each limit held the sender back.
    pub fn limited(&self, now: Instant) -> Limited {
        self.standing().limited(now)
    }

    /// The smallest round-trip time seen.
    pub fn min_rtt(&self) -> Option<Duration> {
        Some(self.look(|sender| sender.rtt().min())).filter(|rtt| *rtt != Duration::MAX)
    }

    /// Mean of the congestion window over the time since the connection was established, in segments.
    pub fn mean_cwnd_segments(&self, now: Instant) -> f64 {
        self.standing().mean_cwnd_segments(now)
    }

    /// The receiving half's knowledge of the path.
    fn path_times(&self) -> PathTimes {
        let times = |rtt: &RttEstimator| PathTimes { srtt: rtt.srtt(), rto: rtt.rto(&self.config.rto) };
        match &self.sending {
            Sending::Awake(sender) => times(sender.rtt()),
            Sending::Resting(rest) => times(&rest.rtt(&self.config)),
        }
    }
}
