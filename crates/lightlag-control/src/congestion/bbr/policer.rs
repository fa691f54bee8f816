//! Detection of a policer that causes heavy losses, as in Linux's tcp_bbr.c.
//!
//! A token bucket lets bursts pass, so the largest delivery rate is far above the rate that it sustains. After a loss,
//! the rate is measured over intervals of 4 to 16 rounds that end with a loss. If a fifth of an interval (50/256 of its
//! delivered bytes) was lost, and two successive intervals had the same rate, within 1/8 or 500 B/s, their mean is
//! taken as the policer's rate. For 48 rounds it replaces the bandwidth, and PROBE_BW does not probe.

use lightlag_core::Instant;

const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// Fraction of the delivered bytes whose loss indicates a policer.
const LOSS: f64 = 50.0 / 256.0;
/// Two rates count as equal if they differ by at most this fraction, or by at most the next constant in bytes per
/// second.
const SAME_RATIO: f64 = 1.0 / 8.0;
const SAME_RATE: f64 = 500.0;
const MILLISECOND: u64 = 1_000_000;
/// Number of rounds for which the policer's rate is used.
const HELD: u32 = 48;

/// Data of an ACK or a timeout for the detection of a policer.
#[derive(Clone, Copy, Debug)]
pub struct PolicerSample {
    /// Time of the last delivery.
    pub at: Instant,
    /// Bytes delivered so far, in total.
    pub delivered: u64,
    /// Bytes lost so far, in total.
    pub lost: u64,
    /// Whether this ACK or timeout reported losses.
    pub newly_lost: bool,
    /// Whether this ACK starts a round.
    pub round: bool,
    /// Whether the application or PROBE_RTT limited the flight, so that the rate sample has no information about the
    /// path.
    pub limited: bool,
    /// Whether the state is PROBE_BW.
    pub probing: bool,
}

/// Result of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finding {
    /// Nothing new.
    None,
    /// The rate of the policer has expired, so the path has to be probed again.
    Forgotten,
}

/// State of the detection of a policer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policer {
    /// Whether an interval is being measured.
    sampling: bool,
    in_use: bool,
    /// Rate of the last interval, or of the policer if one was detected, in bytes per second; 0 before the first
    /// interval.
    rate: f64,
    rounds: u32,
    /// Start of the current interval.
    began: Instant,
    delivered: u64,
    lost: u64,
    /// Whether times are rounded down to milliseconds, as in Linux.
    coarse: bool,
}

impl Policer {
    /// Creates a search without any samples: with Linux's clock of milliseconds, or with exact times.
    pub fn new(linux: bool) -> Self {
        Self { coarse: linux, ..Self::default() }
    }

    /// Restarts the search, and forgets a policer.
    pub fn forget(&mut self) {
        *self = Self::new(self.coarse);
    }

    /// Returns the policer's rate in bytes per second, if there is one.
    pub fn rate(&self) -> Option<f64> {
        self.in_use.then_some(self.rate)
    }

    /// Takes a sample from an ACK or a timeout.
    pub fn watch(&mut self, news: &PolicerSample) -> Finding {
        if self.in_use {
            self.rounds += u32::from(news.probing && news.round);
            if self.rounds < HELD {
                return Finding::None;
            }
            self.forget();
            return Finding::Forgotten;
        }
        if !self.sampling {
            if !news.newly_lost {
                return Finding::None;
            }
            self.begin(news);
            self.sampling = true;
        }
        if news.limited {
            self.forget();
            return Finding::None;
        }
        self.rounds += u32::from(news.round);
        if self.rounds < LEAST_ROUNDS {
            return Finding::None;
        }
        if self.rounds > MOST_ROUNDS {
            self.forget();
        } else if news.newly_lost {
            self.end(news);
        }
        Finding::None
    }

    fn begin(&mut self, news: &PolicerSample) {
        (self.began, self.delivered, self.lost, self.rounds) = (news.at, news.delivered, news.lost, 0);
    }

    /// Ends the interval if enough bytes were lost in it.
    fn end(&mut self, news: &PolicerSample) {
        let (delivered, lost) = ((news.delivered - self.delivered) as f64, (news.lost - self.lost) as f64);
        let seconds = if self.coarse {
            (news.at.as_nanos() / MILLISECOND - self.began.as_nanos() / MILLISECOND) as f64 / 1e3
        } else {
            news.at.since(self.began).as_secs_f64()
        };
        if delivered == 0.0 || lost < LOSS * delivered || seconds < 1e-3 {
            return;
        }
        let rate = delivered / seconds;
        let difference = (rate - self.rate).abs();
        if self.rate > 0.0 && (difference <= SAME_RATIO * self.rate || difference <= SAME_RATE) {
            self.rate = f64::midpoint(rate, self.rate);
            self.in_use = true;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin(news);
        }
    }
}
