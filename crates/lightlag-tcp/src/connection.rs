//! The TCP state machine (RFC 9293). It joins the sending and the receiving half, owns the timers, and converts
//! sequence numbers to stream offsets.
//!
//! The host calls `handle_*` for each input, then [`Connection::poll_segment`] until it returns none, then sets a timer
//! for [`Connection::poll_timeout`]. Only `poll_segment` returns segments to send.

use crate::config::Config;
use crate::receiver::{PathTimes, Receiver};
use crate::segment::{Segment, SeqNumber};
use crate::sender::{DormantSender, Expiry, Sender, Sending};
use lightlag_control::congestion::{CongestionControl, Internals, Needs, Phase};
use lightlag_control::rtt::RttEstimator;
use lightlag_core::{Duration, Instant, prefetch, prefetch_value};
use lightlag_transport::{Failure, Limited, Snapshot, Statistics};
use std::sync::Arc;

/// Accesses the sending half, and allocates it first if it is dormant.
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
    /// Not opened, or closed.
    #[default]
    Closed,
    /// A server that waits for a SYN.
    Listen,
    /// Sent a SYN.
    SynSent,
    /// The SYN and the SYN-ACK were exchanged, or both ends sent a SYN at the same time; the last ACK of the handshake
    /// has not arrived.
    SynReceived,
    /// Open in both directions.
    Established,
    /// The local end closed; its FIN is not acknowledged.
    FinWait1,
    /// The local end closed, and its FIN is acknowledged; the peer may still send.
    FinWait2,
    /// The peer closed; the local end may still send.
    CloseWait,
    /// Both closed simultaneously; the local FIN is not acknowledged.
    Closing,
    /// The peer closed first; the local FIN is not acknowledged.
    LastAck,
    /// Closed by both ends; old segments may still arrive.
    TimeWait,
}

/// One end of a connection.
// The fields that every packet touches are adjacent and come first: with many flows, cache lines cost more than
// instructions.
#[repr(C)]
pub struct Connection {
    /// The local sequence number of the first payload byte, which has offset 0.
    local: SeqNumber,
    /// The peer's sequence number of the first payload byte, which has offset 0.
    remote: SeqNumber,
    state: State,
    /// Whether a segment of the handshake is due: SYN, SYN-ACK, or the ACK of the SYN-ACK.
    handshake_due: bool,
    timestamps: bool,
    sack: bool,
    /// Window scale shift of the peer's advertised windows.
    peer_scale: u8,
    /// Whether the connection started in LISTEN.
    passive: bool,
    /// Whether the application has released the connection (an orphan in Linux's terms).
    orphan: bool,
    /// Whether the last segment belongs to the previous one: see [`Self::follows`].
    follows: bool,
    /// Whether header prediction is possible, as determined after the last event that can change that.
    predicts: bool,
    /// Lower 32 bits of offset and acknowledgement of the segment that last set the peer's window (SND.WL1, SND.WL2).
    window_from: (u32, u32),
    extras: Extras,
    config: Arc<Config>,
    receiver: Receiver,
    /// Deadline of the connection's state: end of TIME-WAIT, or of FIN-WAIT-2 after the application has released the
    /// connection; otherwise the next keep-alive check or the timeout of a hole, whichever is earlier.
    linger: Instant,
    /// Time of the first SYN or SYN-ACK.
    syn_sent: Instant,
    sending: Sending,
}

impl Connection {
    /// Returns the end that opens the connection actively. `initial` is its initial sequence number.
    pub fn client(config: Arc<Config>, initial: SeqNumber) -> Self {
        Self::new(config, initial, State::Closed)
    }

    /// Returns the end that listens. `initial` is its initial sequence number.
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
            sending: Sending::Resting(DormantSender::new(&config)),
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
            follows: false,
            predicts: false,
            extras: Extras::new(&config, state == State::Listen),
            config,
        }
    }

    /// Replaces the configured congestion control by `congestion`, which has these `needs`. Call it before anything is
    /// sent.
    #[must_use]
    pub fn with_congestion(mut self, congestion: Box<dyn CongestionControl>, needs: Needs) -> Self {
        awake!(self).set_congestion(congestion, needs);
        self
    }

    /// Opens the connection actively: the next [`Self::poll_segment`] returns the SYN.
    pub fn open(&mut self, now: Instant) {
        assert_eq!(self.state, State::Closed, "only a new client can open a connection");
        self.state = State::SynSent;
        self.handshake_due = true;
        awake!(self).account.open(now);
    }

    /// Appends `bytes` to the data that the application has written; [`u64::MAX`] means an endless stream.
    pub fn write(&mut self, bytes: u64) {
        self.begin_event();
        awake!(self).write(bytes, &self.config);
    }

    /// Ends a record at the end of the data written so far: no segment contains bytes from both sides of this point
    /// (MSG_EOR).
    pub fn end_record(&mut self) {
        awake!(self).cut_here();
    }

    /// Closes for writing: a FIN follows the data. If the peer has not replied and nothing is to be sent, the
    /// connection ends immediately (RFC 9293 §3.10.4).
    pub fn close(&mut self) {
        if matches!(self.state, State::Listen | State::SynSent)
            && self.sending.awake().is_none_or(|sender| !sender.has_data())
        {
            return self.finish(None);
        }
        awake!(self).close();
    }

    /// Returns the state of the connection (RFC 9293 §3.3.2).
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns the number of payload bytes received in order, read or not.
    pub fn received(&self) -> u64 {
        self.receiver.received()
    }

    /// Makes the application read only through [`Self::read`]. Without this call, data is read as soon as it arrives.
    pub fn read_later(&mut self) {
        self.receiver.read_later();
    }

    /// Reads up to `bytes` for the application, and returns the number of bytes read. A window update may then have to
    /// be sent.
    pub fn read(&mut self, bytes: u64) -> u64 {
        let read = self.receiver.read(bytes);
        if self.extras.scps().is_some() {
            self.settle_records();
        }
        read
    }

    /// Returns the number of bytes that arrived in order and have not been read.
    pub fn unread(&self) -> u64 {
        self.receiver.unread()
    }

    /// Returns the number of bytes that the application must read before a window update is due; `None` if reading
    /// alone, without the arrival of more data, makes no update due.
    pub fn until_update(&self) -> Option<u64> {
        // A closed connection sends no updates.
        self.receiver.until_update().filter(|_| self.state != State::Closed)
    }

    /// Returns true if the peer's FIN and all data before it arrived.
    pub fn peer_closed(&self) -> bool {
        self.receiver.fin_consumed()
    }

    /// Handles a segment from the network.
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
        // Only segments with data are predicted; others go to an end that sends.
        self.predicts = segment.len > 0 && self.can_predict();
    }

    /// Prefetches the sending half, if it is allocated. Handling an ACK needs it.
    #[inline]
    pub fn prefetch_sender(&self) {
        if let Some(sender) = self.sending.awake() {
            prefetch(&raw const *sender);
        }
    }

    /// Prefetches the memory that handling a segment typically needs in addition to the connection and its sending
    /// half.
    #[inline]
    pub fn prefetch(&self) {
        let Some(sender) = self.sending.awake().filter(|sender| !sender.board().is_empty()) else { return };
        sender.board().prefetch();
        if let Some(congestion) = sender.congestion() {
            prefetch_value(congestion);
        }
    }

    /// Handles the expiry of a timer. Call it when the clock reaches the deadline that [`Self::poll_timeout`] returned.
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

    /// Returns when [`Self::handle_timeout`] must be called next; `None` if no timer runs.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let next = self.sending_deadline().min(self.receiver.deadline()).min(self.linger);
        (next != Instant::MAX).then_some(next)
    }

    /// Returns the next segment to send. Call it until it returns none.
    #[inline]
    pub fn poll_segment(&mut self, now: Instant) -> Option<Segment> {
        if self.is_quiet() {
            debug_assert!(self.poll_any(now).is_none());
            return None;
        }
        self.poll_any(now)
    }

    // Never inlined, so that the sending code is compiled into this function instead of into a second one that this
    // calls.
    #[inline(never)]
    fn poll_any(&mut self, now: Instant) -> Option<Segment> {
        let synchronized = !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived);
        if synchronized && self.extras.gate().is_none() { self.poll_synchronized(now) } else { self.poll_seldom(now) }
    }

    /// Returns the next segment in the rarer cases: outside a synchronized connection, or if outgoing segments pass a
    /// [gate](limited::Gate).
    #[cold]
    fn poll_seldom(&mut self, now: Instant) -> Option<Segment> {
        self.follows = false;
        match self.state {
            _ if self.extras.gate().is_some() => self.poll_gate(now, None),
            State::Closed | State::Listen => self.poll_answer(now),
            _ => self.poll_syn(now),
        }
    }

    /// Returns the state of the sending half.
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

    /// Returns the part of [`Self::snapshot`] that a trace records at each change: window, threshold and phase.
    #[inline]
    pub fn course(&self) -> (u64, u64, Phase) {
        self.look(|sender| {
            let ssthresh = sender.congestion().map_or(u64::MAX, |algorithm| algorithm.ssthresh());
            (sender.window(), ssthresh, sender.phase())
        })
    }

    /// Returns true if ACKs report reordered data, but no repair has started (the Disorder state of Linux).
    pub fn is_disordered(&self) -> bool {
        self.sending.awake().is_some_and(|sender| sender.disorder())
    }

    /// Returns all counters.
    pub fn statistics(&self) -> Statistics {
        match &self.sending {
            Sending::Awake(sender) => sender.account.statistics(),
            Sending::Resting(rest) => rest.statistics(),
        }
    }

    /// Returns the reason why the connection was aborted; `None` if it was not.
    #[inline]
    pub fn failure(&self) -> Option<Failure> {
        self.sending.awake().and_then(|sender| sender.account.failure)
    }

    /// Returns how long each limit restricted the sender, up to `now`.
    pub fn limited(&self, now: Instant) -> Limited {
        self.standing().limited(now)
    }

    /// Returns the minimum round-trip sample, if there is one.
    pub fn min_rtt(&self) -> Option<Duration> {
        Some(self.look(|sender| sender.rtt().min())).filter(|rtt| *rtt != Duration::MAX)
    }

    /// Returns the congestion window averaged over the time since the connection was established, in segments.
    pub fn mean_cwnd_segments(&self, now: Instant) -> f64 {
        self.standing().mean_cwnd_segments(now)
    }

    /// Returns the smoothed round-trip time and the timeout, for the receiving half.
    fn path_times(&self) -> PathTimes {
        let times = |rtt: &RttEstimator| PathTimes { srtt: rtt.srtt(), rto: rtt.rto(&self.config.rto) };
        match &self.sending {
            Sending::Awake(sender) => times(sender.rtt()),
            Sending::Resting(rest) => times(&rest.rtt(&self.config)),
        }
    }
}
