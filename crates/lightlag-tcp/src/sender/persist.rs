//! Probes of a closed window (RFC 9293 §3.8.6.1): when they are sent, and the abort if the peer does not reply.

use super::{Sender, Timer};
use crate::config::{Config, Probe};
use crate::scoreboard::Neighbours;
use lightlag_core::{Duration, Instant};

/// Stevens' persist timer (TCP/IP Illustrated vol. 2 §25.7): initially 1.5 s, doubled each time, between [`SHORTEST`]
/// and [`LONGEST`].
const FIRST: Duration = Duration::from_millis(1_500);
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(60);

/// State of the probes of one closed window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persisting {
    /// Number of probes sent.
    pub(super) sent: u8,
    /// Number of consecutive unanswered probes.
    unanswered: u8,
    /// Whether the next byte of data was sent as a probe.
    byte: bool,
}

impl Sender {
    /// Starts the timer of the next probe. The peer's window is closed and nothing is in flight.
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
                // On a long route the next probe waits for the reply to this one, which otherwise could not arrive in
                // time.
                let answer = config.route.and_then(|route| route.rto).unwrap_or_default();
                (FIRST * (1 << self.persisting.sent.min(10))).max(SHORTEST).min(LONGEST).max(answer)
            }
        }
    }

    /// Records that the probe that is due is sent, and schedules the next one.
    #[cold]
    pub(crate) fn probe_leaves(&mut self, now: Instant, config: &Config) {
        (self.probe, self.board.neighbours) = (false, Neighbours::default());
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

    /// Returns the number of data bytes in the last probe. They do not count as sent by this end, but may have reached
    /// the peer.
    pub(crate) fn probed(&self) -> u64 {
        u64::from(self.persisting.byte)
    }

    /// Handles a reply of the peer to a probe: the connection stays open (RFC 9293 §3.8.6.1).
    pub(crate) fn probe_answered(&mut self) {
        self.persisting.unanswered = 0;
    }

    /// Returns true if the number of consecutive unanswered probes has reached the limit, so that the connection is
    /// aborted (R2).
    pub(super) fn persisted_in_vain(&self, config: &Config) -> bool {
        self.persisting.unanswered >= config.retries
    }
}
