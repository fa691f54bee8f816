//! Statistics of a connection: counters, the time for which each limit applied to the sender, and the mean congestion
//! window.

use crate::config::ChallengeAcks;
use crate::ecn::Delivered;
use crate::fast_open::FastOpenOutcome;
use lightlag_core::{Duration, Instant};
use lightlag_transport::{Failure, Integral, Limit, Limited, Standing, Statistics};

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

/// A count of events, each of which takes a round trip or longer. Saturates at 2³² − 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug, Default)]
pub(crate) struct SaturatingCount(u32);

impl SaturatingCount {
    /// Adds one.
    pub(crate) fn increment(&mut self) {
        self.0 = self.0.saturating_add(1);
    }

    fn get(self) -> u64 {
        self.0.into()
    }
}

/// Statistics that few connections need: counters as in [`Statistics`], challenge ACKs, congestion marks, and the
/// outcome of fast open.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// Duplicate payload bytes that arrived, usually at an end that sends no data.
    pub(crate) duplicate_bytes: u64,
    pub(crate) dsacks: u64,
    pub(crate) snacks_ignored: u64,
    pub(crate) probes: u64,
    pub(crate) undone: u64,
    pub(crate) mark_reactions: u64,
    pub(crate) low_priority_sent: u64,
    pub(crate) low_priority_acked: u64,
    /// Number of challenge ACKs sent in the current interval; [`Self::challenged_since`] is its start.
    challenged: u16,
    challenged_since: Instant,
    /// Packets and bytes delivered with and without congestion marks, as reported by the peer.
    pub(crate) delivered: Delivered,
    /// The outcome of data in the SYN; `None` without fast open.
    pub(crate) fast_open: Option<FastOpenOutcome>,
}

/// Statistics of a connection, with a pointer to those that few connections need.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Account {
    /// Integral of the congestion window over time, in byte-nanoseconds. [`Self::window_time`] is the time that it
    /// covers.
    window_integral: Integral,
    window_time: Duration,
    /// Time of the last change of the window.
    window_since: Instant,
    pub(crate) counters: Counters,
    limited: Limited,
    limited_since: Instant,
    /// Statistics that few connections need; `None` while none of them is needed.
    rare: Option<Box<Rare>>,
    /// Number of retransmission timeouts, as in [`Statistics`].
    pub(crate) timeouts: SaturatingCount,
    pub(crate) recoveries: SaturatingCount,
    pub(crate) tail_probes: SaturatingCount,
    opened: bool,
    /// Reason why the connection was aborted, if it was.
    pub(crate) failure: Option<Failure>,
}

impl Account {
    /// Returns true if another challenge ACK may be sent (RFC 5961 §7), and counts it.
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

    /// Returns mutable access to the statistics that few connections need, and creates them if there are none.
    #[cold]
    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Returns the packets and bytes delivered with and without congestion marks, as reported by the peer.
    pub(crate) fn delivered(&self) -> Delivered {
        self.rare.as_ref().map_or_else(Delivered::default, |rare| rare.delivered)
    }

    /// Returns the outcome of data in the SYN; `None` without fast open.
    pub(crate) fn fast_open(&self) -> Option<&FastOpenOutcome> {
        self.rare.as_ref()?.fast_open.as_ref()
    }

    /// Returns mutable access to the outcome of fast open.
    pub(crate) fn fast_open_mut(&mut self) -> Option<&mut FastOpenOutcome> {
        self.rare.as_mut()?.fast_open.as_mut()
    }

    /// Returns the number of low-priority segments sent.
    pub(crate) fn low_priority_sent(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.low_priority_sent)
    }

    /// Returns the values that determine the limits and the mean window at any later time. `limit` and the window of
    /// `window` bytes are the current ones, unchanged since the last update.
    pub(crate) fn standing(&self, limit: Limit, window: u64, segment_size: u32) -> Standing {
        Standing {
            limited: self.limited,
            quic_limited: None,
            limit,
            limited_since: self.limited_since,
            opened: self.opened,
            window_integral: self.window_integral,
            window_time: self.window_time,
            window_since: self.window_since,
            window,
            segment_size,
        }
    }

    /// Returns all counters.
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

    /// Returns the statistics of an end that has sent only ACKs. It was opened at `opened`; [`Instant::MAX`] means that
    /// it has not been opened.
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

    /// Returns the arguments `opened` and `window_since` that let [`Self::of_rest`] restore these statistics; `None` if
    /// they contain more than that.
    pub(crate) fn at_rest(&self) -> Option<(Instant, Instant)> {
        let opened = if self.opened { self.limited_since } else { Instant::MAX };
        let same = Self::of_rest(opened, self.window_since, self.counters.acks_sent, 0);
        let delayed = [self.timeouts, self.recoveries, self.tail_probes].iter().any(|count| count.get() > 0);
        let is_plain = !delayed && self.rare.is_none() && self.failure.is_none();
        let is_same = self.counters == same.counters && self.limited == same.limited;
        (is_plain && is_same && self.window_time.is_zero()).then_some((opened, self.window_since))
    }

    /// Starts the time average of the window at `now`.
    pub(crate) fn start_window(&mut self, now: Instant) {
        self.window_since = now;
    }

    /// Adds the time since the last change of the window to its time average. The window was `bytes` during that time.
    pub(crate) fn window_was(&mut self, bytes: u64, now: Instant) {
        let span = now.since(self.window_since);
        self.window_integral.add(bytes, span.as_nanos());
        self.window_time += span;
        self.window_since = now;
    }

    /// Adds the time since the last change to the time limited by `limit`.
    pub(crate) fn was_limited(&mut self, limit: Limit, now: Instant) {
        *self.limited.of_mut(limit) += now.since(self.limited_since);
        self.limited_since = now;
    }

    /// Splits the time since the last update at a timeout: the last `waited` is attributed to the timeout, the rest to
    /// `limit`.
    pub(crate) fn waited_for_timeout(&mut self, limit: Limit, now: Instant, waited: Duration) {
        let total = now.since(self.limited_since);
        let waited = waited.min(total);
        *self.limited.of_mut(limit) += total - waited;
        self.limited.timeout += waited;
        self.limited_since = now;
    }
}
