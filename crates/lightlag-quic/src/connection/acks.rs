//! ACK frames of packets that are built.

use super::Connection;
use crate::contents::{Contents, Part};
use crate::frame::{AckHeader, EcnCounts, ack_size};
use crate::kind::{Kind, SpaceId};
use crate::received::PingRule;
use crate::rtt::GRANULARITY;
use lightlag_core::Instant;

impl Connection {
    /// Returns true if an acknowledgement is due in a space. quinn's is due when its timer was handled.
    #[inline]
    pub(super) fn must_acknowledge(&self, id: SpaceId, now: Instant) -> bool {
        let received = &self.spaces[id as usize].received;
        if self.config.details.bundled_acks {
            return received.is_urgent() && !received.ranges().is_empty();
        }
        received.deadline() <= now
    }

    /// Appends an ACK frame after other frames, if there is space and it is time. Returns its size.
    pub(super) fn bundle_ack(
        &mut self,
        now: Instant,
        id: SpaceId,
        space: u64,
        part: &mut Part,
        contents: &mut Contents,
        first_range: usize,
    ) -> u64 {
        let is_due = self.next_bundle <= now && part.kind != Kind::ZeroRtt;
        let mut size = 0;
        if part.ack.is_none() && is_due && !self.spaces[id as usize].received.ranges().is_empty() {
            let (header, needed) = self.write_ack(now, id, u64::MAX, contents);
            if needed <= space {
                part.ack = Some(header);
                part.ranges = (contents.ranges.len() - first_range) as u16;
                size = needed;
            } else {
                contents.ranges.truncate(first_range);
            }
        }
        if part.ack.is_some() {
            self.next_bundle = now + self.rtt.smoothed() + self.max_ack_delay() + GRANULARITY;
        }
        size
    }

    /// Appends the ranges of an ACK frame of up to `space` bytes. Returns its fields and its size.
    #[inline]
    pub(super) fn write_ack(
        &mut self,
        now: Instant,
        id: SpaceId,
        space: u64,
        contents: &mut Contents,
    ) -> (AckHeader, u64) {
        let received = &mut self.spaces[id as usize].received;
        let exponent = if id == SpaceId::Application { self.config.ack_delay_exponent } else { 3 };
        let counts = received.counts();
        let ecn = (counts != EcnCounts::default()).then_some(counts);
        let header = AckHeader { delay: (received.delay(now).as_nanos() / 1_000) >> exponent, ecn };
        let start = contents.ranges.len();
        contents.ranges.extend(received.ranges().iter().rev());
        let mut size = received.ack_size(&header);
        while size > space && contents.ranges.len() > start + 1 {
            contents.ranges.pop();
            size = ack_size(&header, &contents.ranges[start..]);
        }
        (header, size)
    }

    /// Returns true if an acknowledgement also contains a PING.
    pub(super) fn adds_ping(&self, now: Instant, number: u64) -> bool {
        let space = &self.spaces[SpaceId::Application as usize];
        if space.received.ranges().len() < 2 || !self.control.permits(self.in_flight) {
            return false;
        }
        match self.ack_rules.ping {
            PingRule::Never => false,
            PingRule::PerRoundTrip => {
                space.sent.last_eliciting().is_none_or(|last| now.since(last) >= self.rtt.smoothed())
            }
            PingRule::EveryEighth => number.is_multiple_of(8),
        }
    }
}
