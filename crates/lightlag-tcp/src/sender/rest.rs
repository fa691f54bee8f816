//! A sending half at rest: the little that is left of a [`Sender`] while the application has written nothing.
//!
//! Half of all ends only receive. They have neither data in flight nor a window of their own, but they shake hands, send
//! ACKs and hear of the peer's window. From what they keep the sender is made anew once it is needed.

use super::handshake::Agreed;
use super::{Sender, Timer, segments};
use crate::account::Account;
use crate::config::Config;
use crate::timer::Step;
use lightlag_control::rtt::{Progress, RttEstimator};
use lightlag_core::{Duration, Instant};
use lightlag_transport::{Limit, Statistics};

/// A sending half.
pub(crate) enum Sending {
    Awake(Box<Sender>),
    /// The end has sent nothing but ACKs.
    Resting(Rest),
}

impl Sending {
    /// The sender, unless it rests.
    #[inline(always)]
    pub(crate) fn awake(&self) -> Option<&Sender> {
        match self {
            Self::Awake(sender) => Some(sender),
            Self::Resting(_) => None,
        }
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn awake_mut(&mut self) -> Option<&mut Sender> {
        match self {
            Self::Awake(sender) => Some(sender),
            Self::Resting(_) => None,
        }
    }

    /// The sender, which wakes with this seed if it rests.
    #[inline(always)]
    pub(crate) fn wake(&mut self, config: &Config, seed: u32) -> &mut Sender {
        if let Self::Resting(rest) = self {
            *self = Self::Awake(rest.wake(config, seed));
        }
        match self {
            Self::Awake(sender) => sender,
            Self::Resting(_) => unreachable!("it has just woken"),
        }
    }
}

/// A sending half that has nothing to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    /// End of the wait for an answer to the SYN-ACK.
    pub(crate) deadline: Instant,
    /// The round-trip time of the handshake; zero if it gave none.
    handshake: Duration,
    /// The account: when the connection was opened, [`Instant::MAX`] before, since when there is a window, and what was
    /// counted.
    opened: Instant,
    window_since: Instant,
    pub(crate) acks_sent: u64,
    pub(crate) duplicate_bytes: u64,
    /// The peer's window, and the largest.
    peer_window: u32,
    pub(crate) max_window: u32,
    pub(crate) segment_size: u16,
    initial_window: u16,
    /// The outcome of the handshake, once it is over.
    agreed: Option<Agreed>,
    /// The SYN timed out and gave no sample.
    restarted: bool,
}

impl Rest {
    /// An end before its handshake.
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

    /// The peer advertised this many bytes from the start of the stream on. Returns whether that differs from before.
    #[inline(always)]
    pub(crate) fn set_peer_window(&mut self, window: u32) -> bool {
        let moved = window != self.peer_window;
        self.peer_window = window;
        self.max_window = self.max_window.max(window);
        moved
    }

    /// The estimate of the round-trip time.
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

    /// SRTT; zero without a sample.
    #[inline]
    pub(crate) fn srtt(&self, config: &Config) -> Duration {
        // The first sample is taken as it is.
        if config.route.is_some() { self.rtt(config).srtt() } else { self.handshake }
    }

    /// The initial window in bytes. Before the handshake it does not shrink with the segments.
    fn cwnd(&self, config: &Config) -> u64 {
        let cwnd = u64::from(self.initial_window) * u64::from(self.segment_size);
        let before = u64::from(config.initial_window) * u64::from(config.mss);
        if self.agreed.is_some() { cwnd } else { cwnd.max(before) }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        Statistics { acks_sent: self.acks_sent, duplicate_bytes: self.duplicate_bytes, ..Statistics::default() }
    }

    /// The sender that rested, with the seed it had.
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
    /// Its remains at rest; `None` if it has something to do, or had and remembers more. `agreed`: the outcome of
    /// the handshake, if that is over.
    #[cold]
    pub(crate) fn resting(&self, agreed: Option<Agreed>, config: &Config) -> Option<Rest> {
        let has_plans = !self.has_nothing() || self.probe || self.board.nxt() > 0 || self.congestion.is_some();
        let has_timers =
            self.timer != Timer::Retransmission || self.special.pacer().timer != Instant::MAX || self.retries > 0;
        if has_plans || has_timers || self.tail.stale || self.special.extra().is_some() || self.step != Step::default()
        {
            return None;
        }
        let (opened, window_since) = self.account.at_rest()?;
        let rest = Rest {
            deadline: self.deadline,
            handshake: self.rtt.latest(),
            opened,
            window_since,
            acks_sent: self.account.counters.acks_sent,
            // They are among the rare reports, and an account with any of those holds more than a rest.
            duplicate_bytes: 0,
            peer_window: u32::try_from(self.peer_edge).ok()?,
            max_window: self.max_window,
            segment_size: self.segment_size,
            initial_window: self.initial_window,
            agreed,
            restarted: false,
        };
        // The estimate has more than one sample where data came in the SYN.
        let is_same = |rest: &Rest| rest.rtt(config) == self.rtt && rest.cwnd(config) == self.cwnd;
        let rest = [rest, Rest { restarted: true, ..rest }].into_iter().find(is_same)?;
        let woken = || rest.wake(config, self.seed).description();
        debug_assert_eq!(self.description(), woken(), "nothing is lost at rest");
        Some(rest)
    }

    /// All that a rest must preserve.
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
