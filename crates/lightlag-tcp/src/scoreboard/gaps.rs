//! Outstanding data that the peer has not SACKed.

use super::{Range, Scoreboard};

impl Scoreboard {
    /// Returns the outstanding data from `offset` to the next SACKed block; `None` if there is none.
    pub fn gap_from(&self, offset: u64) -> Option<Range> {
        let mut start = offset.max(self.una);
        let mut index = self.ranges.partition_point(self.una, |range| range.end <= start);
        while let Some(range) = self.ranges.get(index, self.una) {
            if range.start > start {
                return Some(Range { start, end: range.start });
            }
            start = range.end;
            index += 1;
        }
        (start < self.nxt).then_some(Range { start, end: self.nxt })
    }
}

#[cfg(test)]
mod tests {
    use crate::scoreboard::{Delivery, Range, Scoreboard};
    use lightlag_core::Instant;

    #[test]
    fn gaps_are_between_the_sacked_blocks() {
        let mut board = Scoreboard::new(100);
        for _ in 0..10 {
            board.sent(Instant::ZERO, 100, false);
        }
        let mut delivery = Delivery::default();
        board.acknowledge(100, &mut delivery);
        for (start, end) in [(300, 500), (700, 800)] {
            board.sack(Range { start, end }, &mut delivery);
        }
        for (from, gap) in
            [(0, (100, 300)), (250, (250, 300)), (300, (500, 700)), (450, (500, 700)), (799, (800, 1000))]
        {
            assert_eq!(board.gap_from(from), Some(Range { start: gap.0, end: gap.1 }), "from {from}");
        }
        assert_eq!(board.gap_from(1_000), None);
    }
}
