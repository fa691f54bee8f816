//! Rate halving, as in ns-2's TCP-Linux (`next_pkts_in_flight_` in `LinuxTcpAgent::send_much`). In fast recovery, every
//! transmission reduces the allowed amount of data in flight by one segment, so that one segment is sent for every two
//! ACKs. The allowed amount falls from the window before the loss to the minimum of the algorithm (`min_cwnd`).

/// State of rate halving in one recovery episode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Halving {
    /// Allowed amount of data in flight, in bytes.
    next: u64,
    /// Minimum of the allowed amount of data in flight, in bytes.
    floor: u64,
    segment: u64,
}

impl Halving {
    /// Starts a reduction from the window `prior` down to `floor`.
    pub(super) fn new(prior: u64, floor: u64, segment: u64) -> Self {
        Self { next: prior, floor, segment }
    }

    pub(super) fn floor(&self) -> u64 {
        self.floor
    }

    pub(super) fn window(&self) -> u64 {
        self.next.max(self.floor)
    }

    /// Handles an ACK. `pipe` is the amount of data in flight after it.
    pub(super) fn on_ack(&mut self, pipe: u64) {
        self.next = self.next.min(pipe + self.segment);
    }

    /// Handles the transmission of a segment. `pipe` is the amount of data in flight, including the segment.
    pub(super) fn sent(&mut self, pipe: u64) {
        self.next = self.next.min(pipe.saturating_sub(self.segment).max(self.segment));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_segment_leaves_for_two_acks_down_to_the_floor() {
        let mut halving = Halving::new(20, 5, 1);
        // The ACK that shows the loss has removed two segments of 20.
        let (mut pipe, mut left) = (18, Vec::new());
        for ack in 0..40 {
            halving.on_ack(pipe);
            while pipe < halving.window() {
                pipe += 1;
                halving.sent(pipe);
                left.push(ack);
            }
            pipe -= 1;
        }
        assert_eq!(left[..5], [0, 2, 4, 6, 8]);
        assert_eq!((halving.window(), pipe), (5, 4));
        // At the floor every ACK releases one segment.
        assert_eq!(left[left.len() - 3..], [37, 38, 39]);
    }
}
