//! Header prediction: an end that only receives can predict the next segment (V. Jacobson, "4BSD TCP header
//! prediction", ACM CCR 20(2), 1990).
//!
//! Most segments to such an end bring the next data, acknowledge nothing and carry nothing else. All checks that
//! concern the connection rather than the segment are made in advance, after each segment that was not predicted. A
//! predicted segment has the same effects as in [`arrivals`](super::arrivals).

use super::{Connection, State};
use crate::segment::{Flags, Segment};
use lightlag_core::Instant;

impl Connection {
    /// Returns true if segments can be predicted: only data from the peer changes the state of the connection.
    pub(super) fn can_predict(&self) -> bool {
        self.state == State::Established
            && self.timestamps
            && !self.orphan
            && self.extras.is_empty()
            && !self.in_outage()
            && self.config.partial_segments
            && self.config.burst_limit.is_none()
            && !self.receiver.gathers()
    }

    /// Handles a segment if it is the predicted one. Returns true if it was.
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

    /// Returns true if header prediction is possible and nothing is due to be sent. Without prediction the poll itself
    /// has to determine that.
    #[inline(always)]
    pub(super) fn is_quiet(&self) -> bool {
        let owes = self.handshake_due || self.receiver.ack_due() || self.receiver.owes_copies();
        self.predicts
            && self.state == State::Established
            && !owes
            && self.sending.awake().is_none_or(|sender| sender.is_quiet())
    }
}
