//! A sender whose segments wait for tokens (see [`lightlag_control::bucket`]).

use super::sending::Choice;
use super::{Sender, Timer};
use crate::config::Config;
use lightlag_control::congestion::Probes;
use lightlag_core::Instant;
use lightlag_transport::Limit;

impl Sender {
    /// Returns true if no data is in flight or waits to be sent, which is typical for an end that only receives.
    pub(crate) fn has_nothing(&self) -> bool {
        let idle = self.limit == Limit::Application && self.board.is_empty();
        idle && self.written <= self.board.nxt() && !self.closing
    }

    /// Returns true if neither data nor a probe can become due before the next event.
    #[inline(always)]
    pub(crate) fn is_quiet(&self) -> bool {
        self.has_nothing() && !self.probe && self.needs.probes == Probes::None
    }

    /// Returns the payload of the next segment that may be sent in bytes; `None` if none may be sent.
    pub(crate) fn next_len(&mut self, now: Instant, config: &Config) -> Option<u32> {
        if self.burst_left == 0 || self.in_outage() {
            return None;
        }
        if self.tail.due {
            return Some(self.segment_size.into());
        }
        let room = self.room(now)?;
        let choice = self.choose(now, room, config);
        if let Some(chunk) = self.overtaking(now, &choice, room, config) {
            return Some(chunk.len);
        }
        match choice {
            Ok(choice) if self.is_held(now, &choice) => None,
            Ok(Choice::New(chunk)) => Some(chunk.len),
            Ok(Choice::Again(number) | Choice::Rescue(number)) => Some(self.board.copies(number).1),
            Ok(Choice::Wait) | Err(_) => None,
        }
    }

    /// Returns true if the application has closed, so that a FIN will follow the data.
    pub(crate) fn closes(&self) -> bool {
        self.closing
    }

    /// Returns true if a probe is due.
    pub(crate) fn wants_probe(&self) -> bool {
        // A probe for the end of the data is dropped once that is acknowledged.
        self.probe && (self.timer != Timer::Retransmission || self.tells_of_tail())
    }

    /// Returns true if data is in flight and an ACK or a timeout will follow. After a timeout, the timer starts again
    /// only with the retransmission.
    pub(crate) fn awaits_ack(&self) -> bool {
        self.board.pipe() > 0 && self.deadline < Instant::MAX
    }

    /// Waits for tokens, which are available at `ready`; if `ready` is `None`, waits until the next event of any kind.
    pub(crate) fn wait_for_tokens(&mut self, now: Instant, ready: Option<Instant>, config: &Config) {
        self.special.pacer_mut().wait_until(ready.unwrap_or(Instant::MAX));
        self.arm_tail_if_stale(now, config);
        if self.unsent() > 0 {
            self.note_limit(now, Limit::Pacing);
        }
    }

    /// Resumes a sender that waits for tokens or pacing.
    pub(crate) fn wake(&mut self, now: Instant) {
        if let Some(pacer) = self.special.used_pacer() {
            self.put_off &= pacer.timer > now;
            pacer.wake(now);
        }
    }
}
