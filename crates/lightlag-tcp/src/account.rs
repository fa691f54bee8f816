//! The reports of a connection about itself: counters, the division of its time, and its state at one moment.

use crate::config::ChallengeAcks;
use crate::ecn::Delivered;
use crate::fast_open::Outcome;
use lightlag_control::congestion::{Epoch, Internals, Phase};
use lightlag_core::{Duration, Instant, Rate};

mod integral;
mod standing;

use integral::Integral;

pub use standing::Standing;

/// The limits of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Limit {
    /// The application has nothing to send, or the connection is not open yet.
    #[default]
    Application,
    /// The congestion window.
    Cwnd,
    /// The window that the peer advertises.
    Rwnd,
    /// Losses are repaired in fast recovery.
    Recovery,
    /// A timeout: the wait for it, and the repair after it.
    Timeout,
    /// Pacing.
    Pacing,
}

/// Time for which each limit held the sender back. The parts sum to the time since the connection was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limited {
    /// By the congestion window.
    pub cwnd: Duration,
    /// By the receiver's window.
    pub rwnd: Duration,
    /// By the application, the handshake included.
    pub application: Duration,
    /// By pacing.
    pub pacing: Duration,
    /// In fast recovery.
    pub recovery: Duration,
    /// Waiting for a timeout, and repairing after it.
    pub timeout: Duration,
}

impl Limited {
    fn part(&mut self, limit: Limit) -> &mut Duration {
        match limit {
            Limit::Application => &mut self.application,
            Limit::Cwnd => &mut self.cwnd,
            Limit::Rwnd => &mut self.rwnd,
            Limit::Recovery => &mut self.recovery,
            Limit::Timeout => &mut self.timeout,
            Limit::Pacing => &mut self.pacing,
        }
    }
}

/// The reasons why a connection was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The SYN or SYN-ACK was not answered.
    SynTimeout,
    /// Data was not acknowledged.
    Timeout,
    /// The peer answered the SYN with a reset.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// The application aborted it, or was gone when data arrived.
    Aborted,
    /// Probes of an idle connection were not answered.
    KeepAlive,
    /// The window stayed closed, and the probes of it were not answered.
    ProbeTimeout,
    /// The peer never closed, and no application waited for it (FIN-WAIT-2).
    FinWait,
    /// The host crashed, and with it the connection.
    Crashed,
}

impl Failure {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::SynTimeout => "the SYN was not answered",
            Self::Timeout => "data was not acknowledged",
            Self::Refused => "the peer refused the connection",
            Self::Reset => "the peer reset the connection",
            Self::Aborted => "the application aborted the connection",
            Self::KeepAlive => "keep-alive probes were not answered",
            Self::ProbeTimeout => "probes of a closed window were not answered",
            Self::FinWait => "the peer did not close in time",
            Self::Crashed => "a host crashed",
        }
    }
}

/// Counters since the connection was opened.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Statistics {
    /// Segments with payload sent, retransmissions included.
    pub sent_segments: u64,
    /// Sum of the round-trip samples.
    pub rtt_sum: Duration,
    /// Number of round-trip samples.
    pub rtt_count: u64,
    /// Segments without payload sent: ACKs, SYN, FIN, probes.
    pub acks_sent: u64,
    /// ACKs that arrived while data was outstanding, duplicates included.
    pub acks_received: u64,
    /// Segments with payload sent again.
    pub retransmitted_segments: u64,
    /// Expiries of the retransmission timer, that of the SYN included.
    pub timeouts: u64,
    /// Episodes of fast recovery.
    pub recoveries: u64,
    /// Payload that arrived more than once, in bytes.
    pub duplicate_bytes: u64,
    /// ACKs that reported data as received twice (RFC 2883).
    pub dsacks: u64,
    /// SNACK options that reported no outstanding data.
    pub snacks_ignored: u64,
    /// Zero-window probes sent.
    pub probes: u64,
    /// Tail loss probes sent (RFC 8985 §7).
    pub tail_probes: u64,
    /// Episodes whose reaction was undone because they were spurious.
    pub undone: u64,
    /// Reactions to congestion marks (RFC 3168).
    pub mark_reactions: u64,
    /// Segments of low priority sent, which are not among [`Self::sent_segments`].
    pub low_priority_sent: u64,
    /// Number of them that the peer acknowledged.
    pub low_priority_acked: u64,
    /// The reason why the connection was given up, if it was.
    pub failure: Option<Failure>,
}

impl Statistics {
    /// Mean of the round-trip samples.
    pub fn mean_rtt(&self) -> Option<Duration> {
        (self.rtt_count > 0).then(|| self.rtt_sum / self.rtt_count)
    }
}

/// The state of a sender at one moment. Sizes and offsets are in bytes of payload.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Snapshot {
    /// The window, with the inflation of fast recovery without SACK.
    pub cwnd: u64,
    /// Slow-start threshold; [`u64::MAX`] before the first loss.
    pub ssthresh: u64,
    /// Data in the network (RFC 6675 pipe).
    pub inflight: u64,
    /// SRTT; zero before the first sample.
    pub srtt: Duration,
    /// The last round-trip sample; zero before the first.
    pub rtt: Duration,
    /// The smallest round-trip sample; [`Duration::MAX`] before the first.
    pub min_rtt: Duration,
    /// The timeout, with back-off.
    pub rto: Duration,
    /// The losses being repaired.
    pub phase: Phase,
    /// First byte not acknowledged.
    pub snd_una: u64,
    /// Next byte to send for the first time.
    pub snd_nxt: u64,
    /// Distance by which the peer's window reaches beyond `snd_una`.
    pub peer_window: u64,
    /// Payload of a full segment.
    pub segment_size: u64,
    /// The cubic epoch, for algorithms that have one.
    pub epoch: Option<Epoch>,
    /// The inner state of the congestion control, as far as it shows one.
    pub internals: Internals,
    /// The pacing rate of the congestion control, if it has one.
    pub pacing_rate: Option<Rate>,
}

/// The counters that most connections need, as in [`Statistics`].
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub(crate) struct Counters {
    pub(crate) sent_segments: u64,
    pub(crate) rtt_sum: Duration,
    pub(crate) rtt_count: u64,
    pub(crate) acks_sent: u64,
    pub(crate) acks_received: u64,
    pub(crate) retransmitted_segments: u64,
}

/// A count of events that each take a round trip or longer. It stops at the largest number of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug, Default)]
pub(crate) struct Count(u32);

impl Count {
    /// Counts one more.
    pub(crate) fn increment(&mut self) {
        self.0 = self.0.saturating_add(1);
    }

    fn get(self) -> u64 {
        self.0.into()
    }
}

/// Reports that few connections have to make: counters as in [`Statistics`], and more.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// Data that arrives twice usually comes to an end that has no sender.
    pub(crate) duplicate_bytes: u64,
    pub(crate) dsacks: u64,
    pub(crate) snacks_ignored: u64,
    pub(crate) probes: u64,
    pub(crate) undone: u64,
    pub(crate) mark_reactions: u64,
    pub(crate) low_priority_sent: u64,
    pub(crate) low_priority_acked: u64,
    /// Challenge ACKs sent in the current interval, and its start.
    challenged: u16,
    challenged_since: Instant,
    /// The peer's reports of marks on our packets.
    pub(crate) delivered: Delivered,
    /// The outcome of data in the SYN; `None` without fast open.
    pub(crate) fast_open: Option<Outcome>,
}

/// The rarely used part of a connection.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Account {
    /// ∫ window dt in byte-nanoseconds, and the time it covers.
    window_integral: Integral,
    window_time: Duration,
    /// Time of the last change of the window.
    window_since: Instant,
    pub(crate) counters: Counters,
    limited: Limited,
    limited_since: Instant,
    /// `None` while there is nothing.
    rare: Option<Box<Rare>>,
    /// As in [`Statistics`].
    pub(crate) timeouts: Count,
    pub(crate) recoveries: Count,
    pub(crate) tail_probes: Count,
    opened: bool,
    /// The reason why the connection was given up, if it was.
    pub(crate) failure: Option<Failure>,
}

impl Account {
    /// Whether one more challenge ACK may leave (RFC 5961 §7). If so, it is counted.
    pub(crate) fn may_challenge(&mut self, now: Instant, limit: Option<ChallengeAcks>) -> bool {
        let Some(limit) = limit else { return true };
        let rare = self.rare();
        if rare.challenged == 0 || now.since(rare.challenged_since) >= limit.every {
            (rare.challenged, rare.challenged_since) = (0, now);
        }
        let may = rare.challenged < limit.count;
        rare.challenged += u16::from(may);
        may
    }

    /// The part that few connections have, to be changed.
    #[cold]
    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// The peer's reports of marks so far.
    pub(crate) fn delivered(&self) -> Delivered {
        self.rare.as_ref().map_or_else(Delivered::default, |rare| rare.delivered)
    }

    /// The outcome of data in the SYN; `None` without fast open.
    pub(crate) fn fast_open(&self) -> Option<&Outcome> {
        self.rare.as_ref()?.fast_open.as_ref()
    }

    /// The same, to be changed.
    pub(crate) fn fast_open_mut(&mut self) -> Option<&mut Outcome> {
        self.rare.as_mut()?.fast_open.as_mut()
    }

    /// Segments of low priority that were sent.
    pub(crate) fn low_priority_sent(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.low_priority_sent)
    }

    /// All counters.
    pub(crate) fn statistics(&self) -> Statistics {
        let counters = &self.counters;
        let usual = Statistics {
            sent_segments: counters.sent_segments,
            rtt_sum: counters.rtt_sum,
            rtt_count: counters.rtt_count,
            acks_sent: counters.acks_sent,
            acks_received: counters.acks_received,
            retransmitted_segments: counters.retransmitted_segments,
            timeouts: self.timeouts.get(),
            recoveries: self.recoveries.get(),
            tail_probes: self.tail_probes.get(),
            failure: self.failure,
            ..Statistics::default()
        };
        let Some(rare) = &self.rare else { return usual };
        Statistics {
            duplicate_bytes: rare.duplicate_bytes,
            dsacks: rare.dsacks,
            snacks_ignored: rare.snacks_ignored,
            probes: rare.probes,
            undone: rare.undone,
            mark_reactions: rare.mark_reactions,
            low_priority_sent: rare.low_priority_sent,
            low_priority_acked: rare.low_priority_acked,
            ..usual
        }
    }

    pub(crate) fn open(&mut self, now: Instant) {
        if !self.opened {
            self.opened = true;
            self.limited_since = now;
        }
    }

    /// The account of an end that has sent only ACKs. It was `opened` at this time, or never if that is [`Instant::MAX`].
    pub(crate) fn of_rest(opened: Instant, window_since: Instant, acks_sent: u64, duplicate_bytes: u64) -> Self {
        let mut account = Self { window_since, ..Self::default() };
        account.counters = Counters { acks_sent, ..Counters::default() };
        if duplicate_bytes > 0 {
            account.rare().duplicate_bytes = duplicate_bytes;
        }
        if opened != Instant::MAX {
            account.open(opened);
        }
        account
    }

    /// The times of [`Self::of_rest`] that make this account; `None` if it holds more.
    pub(crate) fn at_rest(&self) -> Option<(Instant, Instant)> {
        let opened = if self.opened { self.limited_since } else { Instant::MAX };
        let same = Self::of_rest(opened, self.window_since, self.counters.acks_sent, 0);
        let delayed = [self.timeouts, self.recoveries, self.tail_probes].iter().any(|count| count.get() > 0);
        let is_plain = !delayed && self.rare.is_none() && self.failure.is_none();
        let is_same = self.counters == same.counters && self.limited == same.limited;
        (is_plain && is_same && self.window_time.is_zero()).then_some((opened, self.window_since))
    }

    /// The window is valid from now on, and its mean starts.
    pub(crate) fn start_window(&mut self, now: Instant) {
        self.window_since = now;
    }

    /// The window was `bytes` until now.
    pub(crate) fn window_was(&mut self, bytes: u64, now: Instant) {
        let span = now.since(self.window_since);
        self.window_integral.add(bytes, span.as_nanos());
        self.window_time += span;
        self.window_since = now;
    }

    /// `limit` applied until now.
    pub(crate) fn was_limited(&mut self, limit: Limit, now: Instant) {
        *self.limited.part(limit) += now.since(self.limited_since);
        self.limited_since = now;
    }

    /// A timeout fired after this wait, which `limit` did not cause.
    pub(crate) fn waited_for_timeout(&mut self, limit: Limit, now: Instant, waited: Duration) {
        let total = now.since(self.limited_since);
        let waited = waited.min(total);
        *self.limited.part(limit) += total - waited;
        self.limited.timeout += waited;
        self.limited_since = now;
    }
}
