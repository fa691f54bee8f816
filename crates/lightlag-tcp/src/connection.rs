//! The state machine (RFC 9293): joins the two halves, owns the timers, and turns numbers into offsets.
//!
//! The host calls `handle_*` for what comes in, then [`Connection::poll_segment`] until it gives nothing, then
//! arms a timer for [`Connection::poll_timeout`]. Segments leave only through `poll_segment`.

use crate::account::{Account, Failure, Limited, Snapshot, Statistics};
use crate::bucket::Limiter;
use crate::config::Config;
use crate::congestion::CongestionControl;
use crate::ecn::Ecn;
use crate::receiver::{MAX_BLOCKS, MAX_QUICK, PathTimes, Receiver};
use crate::scoreboard::Range;
use crate::segment::{Flags, Segment, SeqNumber};
use crate::sender::{Acknowledgement, Expiry, Sender};
use crate::timestamps::timestamp;
use lightlag_core::{Duration, Instant};
use std::sync::Arc;

mod adjust;
mod closing;
mod handshake;
mod inspect;
mod limited;
mod low_priority;
mod marks;
mod resets;
mod scps;
mod sending;
#[cfg(test)]
mod tests;

use closing::KeepAlive;
pub use inspect::Details;
pub use resets::reset_for;

/// State of a connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum State {
    /// Nothing yet, or nothing any more.
    #[default]
    Closed,
    /// A server that waits for a SYN.
    Listen,
    /// The SYN left.
    SynSent,
    /// SYN and SYN-ACK crossed or followed each other; the last ACK is missing.
    SynReceived,
    /// Data flows both ways.
    Established,
    /// We closed; the FIN is not acknowledged.
    FinWait1,
    /// We closed, and the peer knows; it may still send.
    FinWait2,
    /// The peer closed; we may still send.
    CloseWait,
    /// Both closed at once; our FIN is not acknowledged.
    Closing,
    /// The peer closed before us; our FIN is not acknowledged.
    LastAck,
    /// All done; old segments die out.
    TimeWait,
}

/// One end of a connection.
// What every packet touches stands first and together: with many flows, cache lines cost more than instructions.
#[repr(C)]
pub struct Connection {
    /// Our number of payload offset 0.
    local: SeqNumber,
    /// The peer's number of payload offset 0.
    remote: SeqNumber,
    state: State,
    /// A segment of the handshake must leave: SYN, SYN-ACK, or the ACK of the SYN-ACK.
    handshake_due: bool,
    timestamps: bool,
    sack: bool,
    /// Shift of the windows that the peer advertises.
    peer_scale: u8,
    /// Whether it began in LISTEN.
    passive: bool,
    /// Whether the application is gone.
    orphan: bool,
    /// Whether the last ACK without data says nothing but how far, and more than the one before.
    supersedes: bool,
    /// Offset and acknowledgement of the segment that last set the peer's window (SND.WL1, SND.WL2).
    window_from: (u64, u64),
    /// `None` where ECN is off or the peer knows none.
    ecn: Option<Box<Ecn>>,
    /// `None` where it is off.
    keep_alive: Option<Box<KeepAlive>>,
    config: Arc<Config>,
    account: Box<Account>,
    receiver: Receiver,
    /// When TIME-WAIT ends, or FIN-WAIT-2 of an orphan; when an idle connection is looked after.
    linger: Instant,
    /// When the first SYN or SYN-ACK left.
    syn_sent: Instant,
    /// A reset that must leave.
    answer: Option<Box<Segment>>,
    sender: Sender,
    /// The SYN whose data waits for the connection to be open.
    early: Option<Box<Segment>>,
    /// `None` with a peer that knows no SCPS-TP.
    scps: Option<Box<scps::Agreement>>,
    /// `None` where no tokens are needed.
    limiter: Option<Box<Limiter>>,
}

impl Connection {
    /// The end that opens. `initial` is its initial sequence number.
    pub fn client(config: Arc<Config>, initial: SeqNumber) -> Self {
        Self::new(config, initial, State::Closed)
    }

    /// The end that waits in LISTEN.
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
        if let Some(interval) = config.ack_interval {
            receiver.set_interval(interval);
        }
        Self {
            // The initial sequence number is the one thing that differs between all connections.
            sender: Sender::new(&config, u64::from(initial.0)),
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
            answer: None,
            early: None,
            scps: None,
            limiter: Self::limiter_of(&config, state == State::Listen),
            keep_alive: None,
            ecn: Self::ecn_of(&config),
            config,
            account: Box::default(),
        }
    }

    /// Uses this algorithm instead of the configured one. To be called before anything is sent.
    #[must_use]
    pub fn with_congestion(mut self, congestion: Box<dyn CongestionControl>) -> Self {
        self.sender.set_congestion(congestion);
        self
    }

    /// Opens actively: the SYN leaves with the next [`Self::poll_segment`].
    pub fn open(&mut self, now: Instant) {
        assert_eq!(self.state, State::Closed, "only a new client opens");
        self.state = State::SynSent;
        self.handshake_due = true;
        self.account.open(now);
    }

    /// The application writes so many bytes more; [`u64::MAX`] never ends.
    pub fn write(&mut self, bytes: u64) {
        self.sender.begin_event(&self.config);
        self.sender.write(bytes);
    }

    /// The application writes nothing more: a FIN follows the data. A connection that was not answered yet and has
    /// nothing to send is no more (RFC 9293 §3.10.4).
    pub fn close(&mut self) {
        if matches!(self.state, State::Listen | State::SynSent) && !self.sender.has_data() {
            return self.finish(None);
        }
        self.sender.close();
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Payload bytes received in order, read or not.
    pub fn received(&self) -> u64 {
        self.receiver.received()
    }

    /// The application reads when it likes, with [`Self::read`]; without this call it reads at once.
    pub fn read_later(&mut self) {
        self.receiver.read_later();
    }

    /// The application reads up to `bytes`; returns how many there were. A window update may be due then.
    pub fn read(&mut self, bytes: u64) -> u64 {
        let read = self.receiver.read(bytes);
        if self.scps.is_some() {
            self.settle_records();
        }
        read
    }

    /// Bytes that arrived in order and were not read yet.
    pub fn unread(&self) -> u64 {
        self.receiver.unread()
    }

    /// How many bytes must be read until the window is worth an update; `None` if none follows before more arrives.
    pub fn until_update(&self) -> Option<u64> {
        // A connection that has ended tells nobody.
        self.receiver.until_update().filter(|_| self.state != State::Closed)
    }

    /// Whether the peer's FIN and everything before it arrived.
    pub fn peer_closed(&self) -> bool {
        self.receiver.fin_consumed()
    }

    /// A segment arrived.
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        self.sender.begin_event(&self.config);
        match self.state {
            State::Closed => self.refuse(segment),
            State::Listen => self.listen(now, segment),
            State::SynSent => self.answer_to_syn(now, segment),
            _ => self.synchronized(now, segment),
        }
    }

    /// The clock reached [`Self::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Instant) {
        self.sender.begin_event(&self.config);
        if self.linger <= now {
            self.linger_ended(now);
        }
        if self.receiver.deadline() <= now && !self.receiver.timer_waits(now, self.config.timer_granularity) {
            self.receiver.handle_timeout(self.path_times());
        }
        if self.sender.deadline() <= now {
            if matches!(self.state, State::SynSent | State::SynReceived) {
                self.sender.wake(now);
                if self.sender.deadline() <= now && !self.sender.handshake_timer_waits(now, &self.config) {
                    self.handshake_timed_out(now);
                }
            } else if self.sender.handle_timeout(now, &self.config, &mut self.account) == Expiry::GiveUp {
                self.give_up();
            }
        }
    }

    /// When [`Self::handle_timeout`] wants to be called, if at all.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let next = self.sender.deadline().min(self.receiver.deadline()).min(self.linger);
        (next != Instant::MAX).then_some(next)
    }

    /// The next segment to send, until there is none.
    // Never inlined, so that what sends is one function with this and not a second one behind it.
    #[inline(never)]
    pub fn poll_segment(&mut self, now: Instant) -> Option<Segment> {
        let synchronized = !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived);
        if synchronized && self.limiter.is_none() { self.poll_synchronized(now) } else { self.poll_seldom(now) }
    }

    /// Before and after a connection, or with tokens.
    #[cold]
    fn poll_seldom(&mut self, now: Instant) -> Option<Segment> {
        match self.state {
            State::Closed | State::Listen => self.poll_answer(now),
            _ if self.limiter.is_some() => self.poll_limited(now),
            _ => self.poll_syn(now),
        }
    }

    /// The state of the sending half.
    pub fn snapshot(&self) -> Snapshot {
        let (sender, rtt) = (&self.sender, self.sender.rtt());
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
        }
    }

    /// Whether ACKs report something out of order although nothing is being repaired: the state of disorder of Linux.
    pub fn is_disordered(&self) -> bool {
        self.sender.disorder()
    }

    /// The counters.
    pub fn statistics(&self) -> &Statistics {
        &self.account.statistics
    }

    /// What held the sender back until now, and for how long.
    pub fn limited(&self, now: Instant) -> Limited {
        self.account.limited(self.sender.limit(), now)
    }

    /// The smallest round-trip time seen.
    pub fn min_rtt(&self) -> Option<Duration> {
        Some(self.sender.rtt().min()).filter(|rtt| *rtt != Duration::MAX)
    }

    /// Mean of the congestion window over the time since the connection was established, in segments.
    pub fn mean_cwnd_segments(&self, now: Instant) -> f64 {
        self.account.mean_window(self.sender.cwnd(), now) / f64::from(self.sender.segment_size())
    }

    /// What the receiving half may know of the path.
    fn path_times(&self) -> PathTimes {
        let rtt = self.sender.rtt();
        PathTimes { srtt: rtt.srtt(), rto: rtt.rto(&self.config.rto) }
    }

    fn synchronized(&mut self, now: Instant, segment: &Segment) {
        if self.state == State::TimeWait && self.reopened(now, segment) {
            return;
        }
        let Some(start) = segment.seq.expand(self.remote, self.receiver.nxt()) else {
            return self.repeated_syn(now, segment);
        };
        if segment.is_low_priority() {
            return self.take_low_priority(now, segment, start);
        }
        let stamps = if self.timestamps { segment.timestamps() } else { None };
        if let Some(stamps) = stamps
            && self.receiver.is_old(now, stamps.value)
            && !segment.flags.has(Flags::RST)
        {
            // PAWS, RFC 7323 §5.3.
            self.receiver.acknowledge_soon(now);
            return;
        }
        if self.timestamps && stamps.is_none() && self.config.require_timestamps && !segment.flags.has(Flags::RST) {
            // RFC 7323 §3.2.
            return;
        }
        if !self.acceptable(start, u64::from(segment.sequence_len())) {
            return self.unacceptable(now, segment, start);
        }
        if segment.flags.has_any(Flags::RST.with(Flags::SYN)) {
            return if segment.flags.has(Flags::RST) {
                self.take_reset(now, start)
            } else {
                self.take_strange_syn(now)
            };
        }
        if self.keep_alive.is_some() {
            self.heard(now);
        }
        if self.sender.in_outage() {
            self.sender.end_outage(now, &self.config);
        }
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        if !self.take_ack(now, segment, start, stamps.map(|stamps| stamps.echo)) {
            return;
        }
        if let Some(stamps) = stamps {
            // Only now: a segment with an impossible acknowledgement may be forged (as Linux).
            self.receiver.note_timestamp(now, start, stamps.value);
        }
        if self.ecn.is_some() {
            self.take_mark(segment);
        }
        if segment.len > 0 || segment.flags.has(Flags::FIN) {
            self.take_data(now, segment, start);
        }
    }

    /// RFC 9293 §3.10.7.4, the table of acceptable segments.
    fn acceptable(&self, start: u64, len: u64) -> bool {
        let (nxt, edge) = (self.receiver.nxt(), self.receiver.edge());
        if len == 0 { start == nxt || (nxt..edge).contains(&start) } else { start < edge && start + len > nxt }
    }

    /// Old data, a probe, or data beyond the window: the peer learns what is expected.
    #[cold]
    fn unacceptable(&mut self, now: Instant, segment: &Segment, start: u64) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.len > 0 || segment.flags.has(Flags::FIN) {
            self.receiver.hurry(MAX_QUICK);
            self.receiver.acknowledge_soon(now);
        } else {
            // Two ends that disagree would answer each other for ever (as Linux).
            self.challenge(now);
            self.heard(now);
        }
        let end = (start + u64::from(segment.len)).min(self.receiver.received());
        self.receiver.note_duplicate(Range { start, end });
        self.account.statistics.duplicate_bytes += end.saturating_sub(start);
        if self.state == State::TimeWait && segment.flags.has(Flags::FIN) {
            self.linger = now + self.config.time_wait;
        }
        // Two ends that have filled each other's windows would not hear each other's ACKs (Linux takes such segments, too).
        let empty = segment.len == 0 && !segment.flags.has(Flags::FIN);
        let closed = start == self.receiver.edge() && (empty || start == self.receiver.nxt());
        if closed && segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::SYN) {
            // RFC 9293 §3.10.7.4: a closed window takes no data, but the ACK that comes with it.
            let echo = segment.timestamps().filter(|_| self.timestamps).map(|stamps| stamps.echo);
            self.take_ack(now, segment, start, echo);
        }
    }

    /// Whether the segment acknowledges something before what is outstanding.
    fn is_old(&self, segment: &Segment) -> bool {
        let una = self.sender.board().una();
        segment.ack.expand(self.local, una).is_none_or(|ack| ack < una)
    }

    /// Whether the segment goes on to be read.
    // Always: most segments that an end receives say nothing new to its sending half, and are done here.
    #[inline(always)]
    fn take_ack(&mut self, now: Instant, segment: &Segment, start: u64, echo: Option<u32>) -> bool {
        let board = self.sender.board();
        let (una, nxt) = (board.una(), board.nxt());
        let most = nxt + self.sender.probed();
        let acceptable = |ack: &u64| *ack <= most && (*ack >= una || ack + self.sender.max_window() >= una);
        let Some(ack) = segment.ack.expand(self.local, una).filter(acceptable) else {
            // What was never sent, or is too old (RFC 5961 §5).
            if self.state == State::SynReceived {
                self.refuse(segment)
            } else if self.config.answer_unsent || self.is_old(segment) {
                self.challenge(now)
            }
            return false;
        };
        let greeting = self.state == State::SynReceived && segment.len == 0;
        if self.state == State::SynReceived {
            self.establish(now, segment, u64::from(segment.window) << self.peer_scale);
        }
        if greeting && let Some(ecn) = &mut self.ecn {
            ecn.take_greeting(segment.flags);
        }
        // An ACK that was overtaken may still tell what was SACKed.
        let overtaken = ack < una;
        if overtaken && (segment.sack().is_empty() || !self.sender.uses_sack()) {
            return true;
        }
        // A byte that left as a probe leaves again with the data after it, whether it was taken or not.
        let ack = ack.min(nxt);
        let moved_window = !overtaken && self.take_window(segment, start, ack);
        if una == nxt && segment.reports_nothing() {
            self.sender.probe_answered();
            // Nothing is in flight: the usual case of an end that only receives. A report of what arrived twice
            // comes late, though (RFC 2883).
            return true;
        }
        self.take_news(now, segment, ack, echo, moved_window, greeting);
        true
    }

    /// What an acceptable acknowledgement, or the report of an overtaken one, says of what is in flight.
    #[inline(never)]
    fn take_news(
        &mut self,
        now: Instant,
        segment: &Segment,
        ack: u64,
        echo: Option<u32>,
        moved_window: bool,
        greeting: bool,
    ) {
        let una = self.sender.board().una();
        let overtaken = ack < una;
        let one_way = segment.timestamps().filter(|_| echo.is_some()).map(|stamps| {
            // Both clocks tick in milliseconds; their offset is a constant.
            Duration::from_millis(u64::from(stamps.value.wrapping_sub(stamps.echo)))
        });
        let (ece, marks) =
            if greeting || overtaken || self.ecn.is_none() { Default::default() } else { self.take_echo(segment, ack) };
        let low_priority = segment.is_low_priority();
        let arrived = Acknowledgement {
            ack: ack.max(una),
            sacked: &[],
            echo,
            occupies: segment.sequence_len() > 0,
            moved_window,
            dsack: None,
            ece,
            marks,
            one_way,
            low_priority: false,
            snack: None,
        };
        if segment.reports_nothing() && !low_priority {
            self.sender.handle_ack(now, arrived, &self.config, &mut self.account);
        } else {
            let occupies = arrived.occupies || low_priority;
            self.take_report(now, segment, ack, Acknowledgement { occupies, low_priority, ..arrived });
        }
        if self.sender.fin_acknowledged() {
            self.fin_acknowledged(now);
        }
    }

    /// An acknowledgement up to `ack` that says more than that, in options or by its priority.
    #[inline(never)]
    fn take_report(&mut self, now: Instant, segment: &Segment, ack: u64, arrived: Acknowledgement<'_>) {
        let una = self.sender.board().una();
        let mut sacked = [Range::default(); MAX_BLOCKS];
        let reports = !segment.sack().is_empty() && self.sender.uses_sack();
        let sacked = if reports { self.expand_sack(segment, una, &mut sacked) } else { &[] };
        let (dsack, sacked) = split_dsack(ack, sacked);
        let report = if self.scps.is_some() && ack >= una { self.take_scps(now, segment, ack) } else { None };
        let sacked = report.as_ref().map_or(sacked, |report| &report.received);
        self.account.statistics.dsacks += u64::from(dsack.is_some());
        let arrived = Acknowledgement { sacked, dsack, snack: report.as_deref(), ..arrived };
        self.sender.handle_ack(now, arrived, &self.config, &mut self.account);
        if report.is_some() {
            self.keep_report(report);
        }
    }

    /// A round-trip time passed since the buffer was looked at. The time is that of the timestamps, which a sender of
    /// data echoes, or of the handshake.
    #[cold]
    fn tune_buffer(&mut self, now: Instant, segment: &Segment) {
        let echo = segment.timestamps().filter(|_| self.timestamps).map(|stamps| stamps.echo);
        let rtt = echo.map_or(self.sender.rtt().srtt(), |echo| {
            Duration::from_millis(u64::from(timestamp(now).wrapping_sub(echo)))
        });
        self.receiver.tune(now, rtt);
    }

    /// RFC 9293 §3.10.7.4: only a newer segment moves the window. Returns whether its right edge or size changed.
    #[inline(always)]
    fn take_window(&mut self, segment: &Segment, start: u64, ack: u64) -> bool {
        if self.window_from > (start, ack) {
            return false;
        }
        self.window_from = (start, ack);
        self.sender.set_peer_window(ack, u64::from(segment.window) << self.peer_scale)
    }

    #[inline(never)]
    fn expand_sack<'a>(&self, segment: &Segment, una: u64, ranges: &'a mut [Range; MAX_BLOCKS]) -> &'a [Range] {
        let mut count = 0;
        for block in segment.sack() {
            let ends = (block.start.expand(self.local, una), block.end.expand(self.local, una));
            if let (Some(start), Some(end)) = ends {
                ranges[count] = Range { start, end };
                count += 1;
            }
        }
        &ranges[..count]
    }

    /// The data of a SYN, which stands at the begin of the stream.
    #[cold]
    fn take_early(&mut self, now: Instant, syn: &Segment) {
        self.take_data(now, syn, 0);
    }

    #[inline(always)]
    fn take_data(&mut self, now: Instant, segment: &Segment, start: u64) {
        if !matches!(self.state, State::Established | State::FinWait1 | State::FinWait2) {
            self.receiver.acknowledge_now();
            return;
        }
        if self.orphan && segment.len > 0 && start + u64::from(segment.len) > self.receiver.nxt() {
            // Nobody will read it (RFC 9293 §3.6.1, RFC 1122 §4.2.2.13).
            self.reset_peer();
            return self.finish(Some(Failure::Aborted));
        }
        if now >= self.receiver.tune_at() {
            self.tune_buffer(now, segment);
        }
        if !self.config.partial_segments && !self.receiver.has_room(u64::from(segment.len)) {
            // As INET: what does not fit whole is dropped.
            self.receiver.acknowledge_now();
            return;
        }
        if segment.len > 0 && self.receiver.adapts(now) {
            self.receiver.adapt(now, self.path_times());
        }
        if self.scps.is_some() && segment.ends_record() {
            self.note_record(start + u64::from(segment.len));
        }
        let duplicate = self.receiver.receive(now, start, u64::from(segment.len), segment.flags);
        if duplicate > 0 {
            self.account.statistics.duplicate_bytes += duplicate;
        }
        if self.scps.is_some() {
            self.settle_records();
        }
        if self.receiver.fin_consumed() {
            self.peer_fin(now);
        }
    }
}

/// The first block reports what arrived twice if it lies below the acknowledgement or inside the second block
/// (RFC 2883 §4).
fn split_dsack(ack: u64, sacked: &[Range]) -> (Option<Range>, &[Range]) {
    match sacked {
        [first, rest @ ..] if first.end <= ack => (Some(*first), rest),
        [first, second, ..] if second.start <= first.start && first.end <= second.end => (Some(*first), &sacked[1..]),
        _ => (None, sacked),
    }
}
