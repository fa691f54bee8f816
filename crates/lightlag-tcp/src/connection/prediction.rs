//! Header prediction: an end that only receives knows the next segment before it comes (V. Jacobson, "4BSD TCP header
//! prediction", ACM CCR 20(2), 1990).
//!
//! Most segments to such an end bring the next data, acknowledge nothing and carry nothing else. All checks that
//! concern the connection rather than the segment are made beforehand, after each segment that was not predicted. A
//! predicted segment has the same effects as in [`arrivals`](super::arrivals).

use super::{Connection, State};
use crate::segment::{Flags, Segment};
use lightlag_core::Instant;

impl Connection {
    /// Whether segments can be predicted: only the peer's data changes the connection.
    pub(super) fn can_predict(&self) -> bool {
        self.state == State::Established
            && self.timestamps
            && !self.orphan
            && self.extras.is_empty()
            && !self.in_outage()
            && self.config.partial_segments
            && self.config.burst_limit.is_none()
    }

    /// Takes a segment if it is the predicted one.
    #[inline(always)]
    pub(super) fn take_predicted(&mut self, now: Instant, segment: &Segment) -> bool {
        debug_assert!(!self.predicts || self.state != State::Established || self.can_predict());
        if !self.predicts {
            return false;
        }
        let (start, len) = (self.receiver.nxt(), u64::from(segment.len));
        let (una, nxt) = self.edges();
        let Some(stamps) = segment.only_timestamps() else { return false };
        let is_next = segment.flags.with(Flags::PSH) == Flags::ACK.with(Flags::PSH)
            && segment.seq == self.remote.plus(start as u32)
            && segment.ack == self.local.plus(una as u32)
            && una == nxt;
        let is_plain = self.state == State::Established && is_next;
        if !(is_plain && self.receiver.predicts(now, len, stamps.value)) {
            return false;
        }
        self.take_window(segment, start, una);
        self.probe_answered();
        self.receiver.note_timestamp(now, start, stamps.value);
        if self.receiver.adapts(now) {
            self.receiver.adapt(now, self.path_times());
        }
        self.receiver.receive_predicted(now, len, segment.flags);
        true
    }

    /// Whether an end with predictable segments has nothing to send. Another end finds that out in its poll.
    #[inline(always)]
    pub(super) fn is_quiet(&self) -> bool {
        let owes = self.handshake_due || self.receiver.ack_due() || self.receiver.owes_copies();
        self.predicts
            && self.state == State::Established
            && !owes
            && self.sending.awake().is_none_or(|sender| sender.is_quiet())
    }
}
