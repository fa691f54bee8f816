//! Acknowledgement frequency (draft-ietf-quic-ack-frequency-14): a sender of data requests how often its peer
//! acknowledges.

use super::Connection;
use super::codes as code;
use crate::frame::Frame;
use crate::kind::SpaceId;
use lightlag_core::{Duration, Instant};

/// State of acknowledgement frequency at both roles of an endpoint.
#[derive(Debug, Default)]
pub(super) struct Frequency {
    /// Number of ACK_FREQUENCY frames sent.
    sent: u64,
    /// Maximum delays that the peer certainly uses, and that it will use once it has the last frame.
    current: Option<Duration>,
    requested: Option<Duration>,
    /// Whether a frame waits to be sent.
    is_due: bool,
    /// Sequence number that the next frame of the peer must reach.
    received: u64,
}

/// Packets that arrive in a round-trip time.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    since: Instant,
    packets: u32,
    bytes: u64,
}

/// Picoquic acknowledges at most every tenth packet if rate and round-trip time exceed these values.
const FAST: u64 = 16_000_000;
const LONG: Duration = Duration::from_millis(100);

impl Connection {
    /// Adapts the threshold of acknowledgements once in a round-trip time to the packets that arrived (picoquic), until
    /// the peer requests another one.
    pub(super) fn adapt_acks(&mut self, now: Instant, datagram: u32) {
        let arrivals = &mut self.arrivals;
        arrivals.packets += 1;
        arrivals.bytes += u64::from(datagram);
        let (span, srtt) = (now.since(arrivals.since), self.rtt.smoothed());
        if span < srtt || self.frequency.received > 0 {
            return;
        }
        let is_fast = arrivals.bytes.saturating_mul(8_000_000_000) / span.as_nanos().max(1) > FAST;
        let min = if is_fast && srtt > LONG { 10 } else { 2 };
        self.ack_rules.threshold = (arrivals.packets / 4).clamp(min, 32) - 1;
        self.arrivals = Arrivals { since: now, packets: 0, bytes: 0 };
    }

    /// Returns the maximum delay of the peer's acknowledgements: while the peer may not have the last ACK_FREQUENCY
    /// frame, the larger one of both (§7).
    #[inline(always)]
    pub fn max_ack_delay(&self) -> Duration {
        self.ack_delay
    }

    fn set_max_ack_delay(&mut self) {
        let current = self.frequency.current.unwrap_or(self.peer.max_ack_delay);
        self.ack_delay = self.frequency.requested.unwrap_or(current).max(current);
    }

    /// Makes an ACK_FREQUENCY frame due if the requested delay, by default a quarter of the round-trip time, has
    /// changed by more than a quarter.
    #[cold]
    pub(super) fn review_frequency(&mut self) {
        let (Some(rules), Some(min)) = (self.config.ack_frequency, self.peer.min_ack_delay) else { return };
        if self.rtt.first_sample().is_none() || !self.is_confirmed {
            return;
        }
        let delay = rules.max_delay.unwrap_or(self.rtt.smoothed() / 4).max(min);
        let last = self.frequency.requested.or(self.frequency.current);
        if last.is_none_or(|last| last.abs_diff(delay) > last / 4) {
            self.frequency.requested = Some(delay);
            self.frequency.is_due = true;
            self.is_extra_due = true;
            self.set_max_ack_delay();
        }
    }

    /// Returns true if the endpoint has requested a frequency.
    pub(super) fn uses_frequency(&self) -> bool {
        self.frequency.sent > 0
    }

    #[inline(always)]
    pub(super) fn frequency_is_due(&self) -> bool {
        self.frequency.is_due
    }

    /// Returns the ACK_FREQUENCY frame that is due, if it fits in `space` bytes.
    #[cold]
    pub(super) fn next_frequency(&mut self, space: u64) -> Option<Frame> {
        let rules = self.config.ack_frequency?;
        let delay = self.frequency.requested.unwrap_or(self.peer.max_ack_delay);
        let frame = Frame::AckFrequency {
            sequence: self.frequency.sent,
            threshold: rules.threshold,
            max_delay_us: delay.as_nanos() / 1_000,
            reordering: rules.reordering,
        };
        if frame.size() > space {
            return None;
        }
        self.frequency.sent += 1;
        self.frequency.is_due = false;
        Some(frame)
    }

    /// Notes that an ACK_FREQUENCY frame was acknowledged.
    pub(super) fn frequency_acked(&mut self, sequence: u64) {
        if sequence + 1 == self.frequency.sent {
            self.frequency.current = self.frequency.requested.take().or(self.frequency.current);
            self.set_max_ack_delay();
        }
    }

    /// Notes that an ACK_FREQUENCY frame was lost. Only the newest one is repeated.
    pub(super) fn frequency_lost(&mut self, sequence: u64) {
        self.frequency.is_due |= sequence + 1 == self.frequency.sent && self.frequency.requested.is_some();
    }

    /// Handles an ACK_FREQUENCY frame.
    pub(super) fn handle_frequency(&mut self, id: SpaceId, frame: &Frame) -> Result<(), u64> {
        let Frame::AckFrequency { sequence, threshold, max_delay_us, reordering } = *frame else { return Ok(()) };
        let Some(min) = self.config.min_ack_delay else { return Err(code::FRAME_ENCODING) };
        let delay = Duration::from_micros(max_delay_us);
        if id != SpaceId::Application || delay < min {
            return Err(code::PROTOCOL_VIOLATION);
        }
        if sequence >= self.frequency.received {
            self.frequency.received = sequence + 1;
            self.ack_rules.threshold = u32::try_from(threshold).unwrap_or(u32::MAX);
            self.ack_rules.max_delay = delay;
            self.ack_rules.reordering = reordering;
            self.ack_rules.marks_once = true;
        }
        Ok(())
    }
}
