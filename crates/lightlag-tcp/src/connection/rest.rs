//! The dormant sending half: an end that only receives has no allocated sending half, and replies from a few stored
//! values.

use super::{Connection, State};
use crate::segment::SeqNumber;
use crate::sender::{NegotiatedOptions, Sender, Sending};
use lightlag_core::{Duration, Instant};

/// Returns the random seed for a sending half whose first byte has this sequence number. Connections have different
/// numbers, but may share a configuration.
pub(super) fn seed(first: SeqNumber) -> u32 {
    first.plus(u32::MAX).0
}

impl Connection {
    /// Makes the sending half dormant if it has nothing to send.
    #[cold]
    #[inline(never)]
    pub(super) fn rest(&mut self) {
        let before = matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived);
        let agreed = if before { None } else { Some(self.agreed()) };
        if let Some(rest) = self.sending.awake().and_then(|sender| sender.resting(agreed, &self.config)) {
            self.sending = Sending::Resting(rest);
        }
        self.extras.tidy();
    }

    /// Returns the negotiated capabilities that concern the sending half.
    pub(super) fn agreed(&self) -> NegotiatedOptions {
        NegotiatedOptions { sack: self.sack, ecn: self.extras.ecn().is_some(), snack: self.agreed_on_snack() }
    }

    /// Calls `inspect` on the sending half. If that is dormant, `inspect` gets a temporary one with the state that it
    /// would have if it were allocated now.
    pub(super) fn look<R>(&self, inspect: impl FnOnce(&Sender) -> R) -> R {
        match &self.sending {
            Sending::Awake(sender) => inspect(sender),
            Sending::Resting(rest) => inspect(&rest.wake(&self.config, seed(self.local))),
        }
    }

    #[inline(always)]
    pub(super) fn begin_event(&mut self) {
        if let Some(sender) = self.sending.awake_mut() {
            sender.begin_event(&self.config);
        }
    }

    /// Prepares the sending half for a timer event.
    pub(super) fn begin_timer(&mut self) {
        if let Some(sender) = self.sending.awake_mut() {
            sender.begin_timer(&self.config);
        }
    }

    /// Returns the first unacknowledged offset, and the offset of the next new byte.
    #[inline(always)]
    pub(super) fn edges(&self) -> (u64, u64) {
        self.sending.awake().map_or((0, 0), |sender| (sender.board().una(), sender.board().nxt()))
    }

    #[inline(always)]
    pub(super) fn una(&self) -> u64 {
        self.edges().0
    }

    #[inline(always)]
    pub(super) fn nxt(&self) -> u64 {
        self.edges().1
    }

    #[inline(always)]
    pub(super) fn in_outage(&self) -> bool {
        self.sending.awake().is_some_and(|sender| sender.in_outage())
    }

    #[inline(always)]
    pub(super) fn sending_deadline(&self) -> Instant {
        match &self.sending {
            Sending::Awake(sender) => sender.deadline(),
            Sending::Resting(rest) => rest.deadline,
        }
    }

    pub(super) fn uses_sack(&self) -> bool {
        self.sending.awake().is_some_and(|sender| sender.uses_sack())
    }

    pub(super) fn retries(&self) -> u8 {
        self.sending.awake().map_or(0, |sender| sender.retries())
    }

    pub(super) fn srtt(&self) -> Duration {
        match &self.sending {
            Sending::Awake(sender) => sender.rtt().srtt(),
            Sending::Resting(rest) => rest.srtt(&self.config),
        }
    }

    #[inline(always)]
    pub(super) fn max_window(&self) -> u64 {
        match &self.sending {
            Sending::Awake(sender) => sender.max_window(),
            Sending::Resting(rest) => rest.max_window.into(),
        }
    }

    /// Sets the peer's window to `window` bytes, starting at `ack`. Returns true if its right edge moved.
    #[inline(always)]
    pub(super) fn set_peer_window(&mut self, ack: u64, window: u32) -> bool {
        match &mut self.sending {
            Sending::Awake(sender) => sender.set_peer_window(ack, window.into()),
            Sending::Resting(rest) => rest.set_peer_window(window),
        }
    }

    #[inline(always)]
    pub(super) fn probe_answered(&mut self) {
        if let Some(sender) = self.sending.awake_mut() {
            sender.probe_answered();
        }
    }

    /// Counts a sent segment without payload. Returns the offset of the next new byte.
    #[inline(always)]
    pub(super) fn count_ack(&mut self) -> u64 {
        match &mut self.sending {
            Sending::Awake(sender) => {
                sender.account.counters.acks_sent += 1;
                sender.board().nxt()
            }
            Sending::Resting(rest) => {
                rest.acks_sent += 1;
                0
            }
        }
    }

    /// Counts `bytes` of duplicate payload that arrived.
    pub(super) fn count_duplicate(&mut self, bytes: u64) {
        match &mut self.sending {
            Sending::Awake(sender) => sender.account.rare().duplicate_bytes += bytes,
            Sending::Resting(rest) => rest.duplicate_bytes += bytes,
        }
    }
}
