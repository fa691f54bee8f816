//! The account of a connection: counters, the division of its time, and the mean of its window.

use crate::config::ChallengeAcks;
use crate::ecn::Delivered;
use crate::fast_open::Outcome;
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

    /// The account with `limit` and a window of so many bytes since their last changes.
    pub(crate) fn standing(&self, limit: Limit, window: u64, segment_size: u32) -> Standing {
        Standing {
            limited: self.limited,
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
        *self.limited.of_mut(limit) += now.since(self.limited_since);
        self.limited_since = now;
    }

    /// A timeout fired after this wait, which `limit` did not cause.
    pub(crate) fn waited_for_timeout(&mut self, limit: Limit, now: Instant, waited: Duration) {
        let total = now.since(self.limited_since);
        let waited = waited.min(total);
        *self.limited.of_mut(limit) += total - waited;
        self.limited.timeout += waited;
        self.limited_since = now;
    }
}
