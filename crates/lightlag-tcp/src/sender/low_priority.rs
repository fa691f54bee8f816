//! Low-priority segments, which probe the path for an algorithm (TCP Peach, TCP Peach+).
//!
//! They copy data sent before, so the scoreboard does not track them. The loss of one has no consequences, and the peer
//! replies to one that arrives with an ACK that has [`Flags::LOW`](crate::segment::Flags::LOW).

use super::Sender;
use crate::scoreboard::{Chunk, Neighbours, Range};
use lightlag_control::congestion::{Probes, Probing};
use lightlag_core::Instant;

impl Sender {
    /// Returns the next low-priority segment that may be sent now. Call it when nothing else may be sent.
    #[inline]
    pub(crate) fn poll_low_priority(&mut self, now: Instant) -> Option<Chunk> {
        if self.needs.probes == Probes::None { None } else { self.next_low_priority(now) }
    }

    #[inline(never)]
    fn next_low_priority(&mut self, now: Instant) -> Option<Chunk> {
        let range = self.due_low_priority(now)?;
        self.congestion.as_mut()?.low_priority()?.on_probe_sent();
        self.account.rare().low_priority_sent += 1;
        self.board.neighbours = Neighbours::default();
        Some(Chunk { start: range.start, len: (range.end - range.start) as u32, fin: false })
    }

    /// Returns the payload of the next low-priority segment in bytes; `None` if none is due.
    pub(crate) fn low_priority_len(&mut self, now: Instant) -> Option<u32> {
        self.due_low_priority(now).map(|range| (range.end - range.start) as u32)
    }

    fn due_low_priority(&mut self, now: Instant) -> Option<Range> {
        let range = match self.needs.probes {
            _ if self.board.is_empty() => None,
            Probes::None => None,
            Probes::Last => self.last_left(),
            Probes::Outstanding => self.next_outstanding(self.account.low_priority_sent()),
        }?;
        let path = Probing { now, srtt: self.rtt.srtt(), receive_window: self.max_window.into() };
        let due = self.congestion.as_mut()?.low_priority()?.next_probe(&path)?;
        if due > now {
            let pacer = self.special.pacer_mut();
            pacer.timer = pacer.timer.min(due);
            return None;
        }
        Some(range)
    }

    /// Returns the last segment's worth of outstanding data.
    fn last_left(&self) -> Option<Range> {
        let end = self.payload(self.board.nxt());
        let start = end.saturating_sub(u64::from(self.segment_size)).max(self.board.una());
        (start < end).then_some(Range { start, end })
    }

    /// Returns the next segment of outstanding data that is not SACKed. The selection cycles through the outstanding
    /// segments; `before` is the number of low-priority segments sent so far.
    fn next_outstanding(&self, before: u64) -> Option<Range> {
        let (una, end) = (self.board.una(), self.payload(self.board.nxt()));
        let size = u64::from(self.segment_size);
        let segments = end.saturating_sub(una).div_ceil(size);
        let turn = before.checked_rem(segments)?;
        let gap = self.board.gap_from(una + turn * size).or_else(|| self.board.gap_from(una))?;
        let range = Range { start: gap.start, end: gap.end.min(gap.start + size).min(end) };
        (range.start < range.end).then_some(range)
    }

    /// Handles the ACK of a low-priority segment.
    pub(crate) fn low_priority_acknowledged(&mut self, now: Instant) {
        self.account.rare().low_priority_acked += 1;
        if let Some(probes) = self.congestion.as_mut().and_then(|congestion| congestion.low_priority()) {
            probes.on_probe_ack(now);
            self.copy_window(now);
        }
    }
}
