//! Detection of a policer behind heavy losses, as in Linux's tcp_bbr.c.
//!
//! A token bucket lets bursts pass, so the largest delivery rate is far above the rate that it sustains. From a loss
//! on, intervals of 4 to 16 rounds that end with a loss are measured. If a fifth of an interval (50/256 of its
//! delivered bytes) was lost, and two successive intervals had the same rate, within 1/8 or 500 B/s, their mean is
//! taken as the policer's rate. For 48 rounds it replaces the bandwidth, and PROBE_BW does not probe.

use lightlag_core::Instant;

const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// The share of delivered bytes whose loss shows a policer.
const LOSS: f64 = 50.0 / 256.0;
/// Two rates are the same if they differ by no more than this ratio, or by this many bytes a second.
const SAME_RATIO: f64 = 1.0 / 8.0;
const SAME_RATE: f64 = 500.0;
const MILLISECOND: u64 = 1_000_000;
/// Rounds of PROBE_BW for which the rate is kept.
const HELD: u32 = 48;

/// The facts from an ACK or a timeout.
#[derive(Clone, Copy, Debug)]
pub struct News {
    /// Time at which the last bytes were delivered.
    pub at: Instant,
    /// Bytes delivered so far.
    pub delivered: u64,
    /// Bytes lost so far.
    pub lost: u64,
    /// Whether some were lost just now.
    pub newly_lost: bool,
    /// Whether it starts a round.
    pub round: bool,
    /// Whether its sample tells nothing about the path.
    pub limited: bool,
    /// Whether the state is PROBE_BW.
    pub probing: bool,
}

/// The result of an observation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finding {
    /// Nothing new.
    None,
    /// The policer's rate was kept long enough; the path is to be probed again.
    Forgotten,
}

/// The search for a policer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policer {
    /// Whether an interval is being measured.
    sampling: bool,
    in_use: bool,
    /// The rate of the last interval, or of the policer, in bytes a second; 0 before the first.
    rate: f64,
    rounds: u32,
    /// Start of the interval.
    began: Instant,
    delivered: u64,
    lost: u64,
    /// Times count in whole milliseconds, as in Linux.
    coarse: bool,
}

impl Policer {
    /// A search that has seen nothing, with Linux's clock or an exact one.
    pub fn new(linux: bool) -> Self {
        Self { coarse: linux, ..Self::default() }
    }

    /// Starts anew.
    pub fn forget(&mut self) {
        *self = Self::new(self.coarse);
    }

    /// The policer's rate in bytes a second, if there is one.
    pub fn rate(&self) -> Option<f64> {
        self.in_use.then_some(self.rate)
    }

    /// Takes in an ACK or a timeout.
    pub fn watch(&mut self, news: &News) -> Finding {
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

    fn begin(&mut self, news: &News) {
        (self.began, self.delivered, self.lost, self.rounds) = (news.at, news.delivered, news.lost, 0);
    }

    /// Ends the interval if enough was lost.
    fn end(&mut self, news: &News) {
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
