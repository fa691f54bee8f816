//! Probes of a closed window (RFC 9293 §3.8.6.1): their times, and giving up when they are not answered.

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
    /// Number sent.
    pub(super) sent: u8,
    /// Number of the last ones that were not answered.
    unanswered: u8,
    /// The next byte was sent as a probe.
    byte: bool,
}

impl Sender {
    /// Starts the timer of the next probe: the window is closed and nothing is in flight.
    #[cold]
    pub(super) fn arm_persist(&mut self, now: Instant, config: &Config) {
        // A pending probe for the end of the data is dropped.
        self.probe &= self.timer == Timer::Persist;
        self.timer = Timer::Persist;
        let wait = self.persist_interval(config);
        self.deadline = now + if self.persisting.sent > 0 { self.within_user_timeout(now, wait) } else { wait };
    }

    pub(super) fn persist_interval(&self, config: &Config) -> Duration {
        match config.probe {
            Probe::Empty => self.rtt.rto(&config.rto),
            Probe::Byte => {
                // On a long route the next probe waits for the answer to this one, which otherwise could not come in
                // time.
                let answer = config.route.and_then(|route| route.rto).unwrap_or_default();
                (FIRST * (1 << self.persisting.sent.min(10))).max(SHORTEST).min(LONGEST).max(answer)
            }
        }
    }

    /// The due probe leaves.
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

    /// Bytes of data in the last probe, which count as sent only for the peer.
    pub(crate) fn probed(&self) -> u64 {
        u64::from(self.persisting.byte)
    }

    /// The peer answered and is alive (RFC 9293 §3.8.6.1: the connection stays open).
    pub(crate) fn probe_answered(&mut self) {
        self.persisting.unanswered = 0;
    }

    /// Whether too many probes in a row were not answered (R2).
    pub(super) fn persisted_in_vain(&self, config: &Config) -> bool {
        self.persisting.unanswered >= config.retries
    }
}
