//! A dormant sending half: the few values that replace a [`Sender`] while the application has written nothing.
//!
//! Half of all ends only receive. They have neither data in flight nor a congestion window in use, but they perform the
//! handshake, send ACKs and store the peer's window. The sender is built from this state once it is needed.

use super::handshake::NegotiatedOptions;
use super::{Sender, Timer, segments};
use crate::account::Account;
use crate::config::Config;
use crate::timer::WheelStep;
use lightlag_control::rtt::{Progress, RttEstimator};
use lightlag_core::{Duration, Instant};
use lightlag_transport::{Limit, Statistics};

/// A sending half, allocated or dormant.
pub(crate) enum Sending {
    Awake(Box<Sender>),
    /// Dormant: the end has sent nothing but ACKs.
    Resting(DormantSender),
}

impl Sending {
    /// Returns the sender, unless it is dormant.
    #[inline(always)]
    pub(crate) fn awake(&self) -> Option<&Sender> {
        match self {
            Self::Awake(sender) => Some(sender),
            Self::Resting(_) => None,
        }
    }

    /// Returns mutable access to the sender, unless it is dormant.
    #[inline(always)]
    pub(crate) fn awake_mut(&mut self) -> Option<&mut Sender> {
        match self {
            Self::Awake(sender) => Some(sender),
            Self::Resting(_) => None,
        }
    }

    /// Returns the sender. If it is dormant, it is first built with `seed`.
    #[inline(always)]
    pub(crate) fn wake(&mut self, config: &Config, seed: u32) -> &mut Sender {
        if let Self::Resting(rest) = self {
            *self = Self::Awake(rest.wake(config, seed));
        }
        match self {
            Self::Awake(sender) => sender,
            Self::Resting(_) => unreachable!("the sender was just allocated"),
        }
    }
}

/// The state of a sending half that has nothing to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DormantSender {
    /// Time until which the end waits for the ACK of its SYN-ACK.
    pub(crate) deadline: Instant,
    /// Round-trip time of the handshake; zero if it gave none.
    handshake: Duration,
    /// Time when the connection was opened; [`Instant::MAX`] if it has not been. Together with the next three fields it
    /// replaces the [`Account`].
    opened: Instant,
    window_since: Instant,
    pub(crate) acks_sent: u64,
    pub(crate) duplicate_bytes: u64,
    /// Last window that the peer advertised, in bytes. [`Self::max_window`] is the maximum.
    peer_window: u32,
    pub(crate) max_window: u32,
    pub(crate) segment_size: u16,
    initial_window: u16,
    /// Negotiated options; `None` until the handshake is over.
    agreed: Option<NegotiatedOptions>,
    /// Whether the SYN timed out and gave no sample.
    restarted: bool,
}

impl DormantSender {
    /// Returns the state before the handshake.
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            deadline: Instant::MAX,
            handshake: Duration::ZERO,
            opened: Instant::MAX,
            window_since: Instant::ZERO,
            acks_sent: 0,
            duplicate_bytes: 0,
            peer_window: 0,
            max_window: 0,
            segment_size: config.mss,
            initial_window: segments(config.initial_window),
            agreed: None,
            restarted: false,
        }
    }

    /// Sets the peer's window to `window` bytes from the start of the stream. Returns true if the window changed.
    #[inline(always)]
    pub(crate) fn set_peer_window(&mut self, window: u32) -> bool {
        let moved = window != self.peer_window;
        self.peer_window = window;
        self.max_window = self.max_window.max(window);
        moved
    }

    /// Returns the round-trip estimator that results from the handshake.
    #[inline(always)]
    pub(crate) fn rtt(&self, config: &Config) -> RttEstimator {
        let mut rtt = RttEstimator::of_route(config.route.and_then(|route| route.rtt), &config.rto);
        if self.restarted {
            rtt.restart();
        }
        if !self.handshake.is_zero() {
            rtt.observe(self.handshake);
            rtt.sample_at(self.handshake, &config.rto, Progress::default());
        }
        rtt
    }

    /// Returns SRTT; zero without a sample.
    #[inline]
    pub(crate) fn srtt(&self, config: &Config) -> Duration {
        // The first sample is SRTT.
        if config.route.is_some() { self.rtt(config).srtt() } else { self.handshake }
    }

    /// Returns the initial window in bytes. Before the handshake it does not decrease with the segment size.
    fn cwnd(&self, config: &Config) -> u64 {
        let cwnd = u64::from(self.initial_window) * u64::from(self.segment_size);
        let before = u64::from(config.initial_window) * u64::from(config.mss);
        if self.agreed.is_some() { cwnd } else { cwnd.max(before) }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        Statistics { acks_sent: self.acks_sent, duplicate_bytes: self.duplicate_bytes, ..Statistics::default() }
    }

    /// Builds the sender, with the given seed.
    #[cold]
    #[inline(never)]
    pub(crate) fn wake(&self, config: &Config, seed: u32) -> Box<Sender> {
        let mut sender = Box::new(Sender::new(config, seed));
        sender.begin_event(config);
        sender.set_segment_size(self.segment_size.into());
        if let Some(agreed) = self.agreed {
            sender.agree(agreed, config);
        }
        sender.initial_window = self.initial_window;
        sender.cwnd = self.cwnd(config);
        sender.deadline = self.deadline;
        sender.peer_edge = self.peer_window.into();
        sender.max_window = self.max_window;
        sender.rtt = self.rtt(config);
        sender.account = Account::of_rest(self.opened, self.window_since, self.acks_sent, self.duplicate_bytes);
        sender
    }
}

impl Sender {
    /// Returns the dormant state that can replace this sender; `None` if the sender has anything to do, or its history
    /// does not fit that state. `agreed` are the negotiated options, if the handshake is over.
    #[cold]
    pub(crate) fn resting(&self, agreed: Option<NegotiatedOptions>, config: &Config) -> Option<DormantSender> {
        let has_plans = !self.has_nothing() || self.probe || self.board.nxt() > 0 || self.congestion.is_some();
        let has_timers =
            self.timer != Timer::Retransmission || self.special.pacer().timer != Instant::MAX || self.retries > 0;
        if has_plans
            || has_timers
            || self.tail.stale
            || self.special.extra().is_some()
            || self.step != WheelStep::default()
        {
            return None;
        }
        let (opened, window_since) = self.account.at_rest()?;
        let rest = DormantSender {
            deadline: self.deadline,
            handshake: self.rtt.latest(),
            opened,
            window_since,
            acks_sent: self.account.counters.acks_sent,
            // They are among the rare reports, and an account with any of those does not fit the dormant state.
            duplicate_bytes: 0,
            peer_window: u32::try_from(self.peer_edge).ok()?,
            max_window: self.max_window,
            segment_size: self.segment_size,
            initial_window: self.initial_window,
            agreed,
            restarted: false,
        };
        // The estimate has more than one sample if the SYN carried data.
        let is_same = |rest: &DormantSender| rest.rtt(config) == self.rtt && rest.cwnd(config) == self.cwnd;
        let rest = [rest, DormantSender { restarted: true, ..rest }].into_iter().find(is_same)?;
        let woken = || rest.wake(config, self.seed).description();
        debug_assert_eq!(self.description(), woken(), "a dormant sender has no losses");
        Some(rest)
    }

    /// Returns all state that must survive dormancy, as text.
    fn description(&self) -> String {
        let times = (self.deadline, self.step, self.last_sent, self.burst_start, self.burst_len);
        let sizes = (self.burst_left, self.segment_size, self.initial_window, self.cwnd, self.written);
        let window = (self.peer_edge, self.max_window, self.round_flight, self.round_end, self.cwnd_limited);
        let flags = (self.nagle, self.minshall, self.resend_head, self.override_small, self.persisting, self.excused);
        let marks = (self.paid, self.reduced, self.ecn, self.special.marks(), self.special.sample_from());
        let parts = (self.special.pacer(), &self.tail, &self.board, &self.rtt, &self.recovery, &self.account);
        format!("{times:?} {sizes:?} {window:?} {flags:?} {marks:?} {parts:?} {:?}", self.limit == Limit::Application)
    }
}
