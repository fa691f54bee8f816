//! Probes of a closed window (RFC 9293 §3.8.6.1): when they leave, and when nobody answers them any more.

use super::{Sender, Timer};
use crate::config::{Config, Probe};
use lightlag_core::{Duration, Instant};

/// Stevens' persist timer (TCP/IP Illustrated vol. 2 §25.7): 1.5 s, doubled each time, within these bounds.
const FIRST: Duration = Duration::from_millis(1_500);
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(60);

/// The probes of one closed window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persisting {
    /// How many left.
    pub(super) sent: u8,
    /// How many of the last were not answered.
    unanswered: u8,
    /// The next byte left as a probe.
    byte: bool,
}

impl Sender {
    /// The window is closed and nothing is in flight: waits for the time of the next probe.
    #[cold]
    pub(super) fn arm_persist(&mut self, now: Instant, config: &Config) {
        // One that was to tell of the end of the data is void.
        self.probe &= self.timer == Timer::Persist;
        self.timer = Timer::Persist;
        let wait = self.persist_interval(config);
        self.deadline = now + if self.persisting.sent > 0 { self.within_user_timeout(now, wait) } else { wait };
    }

    pub(super) fn persist_interval(&self, config: &Config) -> Duration {
        match config.probe {
            Probe::Empty => self.rtt.rto(&config.rto),
            Probe::Byte => {
                // On a long route the next probe waits for the answer to this one, which else could not come in time.
                let answer = config.route.and_then(|route| route.rto).unwrap_or_default();
                (FIRST * (1 << self.persisting.sent.min(10))).max(SHORTEST).min(LONGEST).max(answer)
            }
        }
    }

    /// The probe that is due leaves.
    #[cold]
    pub(crate) fn probe_leaves(&mut self, now: Instant, config: &Config) {
        self.probe = false;
        if self.in_outage() {
            self.outage_probed(now);
        } else if self.tells_of_tail() {
            self.tail_told(now, config);
        } else {
            self.persisting.sent = self.persisting.sent.saturating_add(1);
            self.persisting.unanswered = self.persisting.unanswered.saturating_add(1);
            self.persisting.byte = config.probe == Probe::Byte && self.written > self.board.nxt();
            self.arm_persist(now, config);
        }
    }

    /// Bytes of data in the probe that left last: it counts as sent, but only for the peer.
    pub(crate) fn probed(&self) -> u64 {
        u64::from(self.persisting.byte)
    }

    /// The peer answered: it is alive (RFC 9293 §3.8.6.1: the connection stays open).
    pub(crate) fn probe_answered(&mut self) {
        self.persisting.unanswered = 0;
    }

    /// Whether too many probes in a row were not answered (R2).
    pub(super) fn persisted_in_vain(&self, config: &Config) -> bool {
        self.persisting.unanswered >= config.retries
    }
}
