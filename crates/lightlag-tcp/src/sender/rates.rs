//! Passes transmissions, losses and deliveries to the sampler of delivery rates, if there is one.

use super::Sender;
use crate::scoreboard::Chunk;
use lightlag_control::congestion::RateSample;
use lightlag_control::delivery_rate::Supply;
use lightlag_core::Instant;

impl Sender {
    /// Checks whether the application leaves a part of the window unused (draft-ietf-ccwg-bbr §4.1.2.4).
    #[inline]
    pub(super) fn check_supply(&mut self) {
        if self.special.measures_rates() {
            self.judge_supply();
        }
    }

    /// Marks the first segments as application-limited: nothing was in flight when the application first wrote data
    /// (Linux, `tcp_sendmsg_locked`).
    pub(super) fn note_first_write(&mut self) {
        if let Some(rates) = self.special.rates() {
            rates.check_application_limited(&Supply { unsent: 0, in_flight: 0, window: self.cwnd, to_repair: 0 });
        }
    }

    #[inline(never)]
    fn judge_supply(&mut self) {
        if let Some(rates) = self.special.rates() {
            let unsent = self.written.saturating_sub(self.board.nxt());
            let to_repair = u64::from(self.board.next_lost().is_some());
            let (in_flight, window) = (self.board.pipe(), self.cwnd);
            rates.check_application_limited(&Supply { unsent, in_flight, window, to_repair });
        }
    }

    /// Records that the record with this number was sent while `in_flight` other bytes were outstanding.
    #[inline]
    pub(super) fn note_sent(&mut self, now: Instant, number: u64, chunk: Chunk, in_flight: u64) {
        if self.special.measures_rates() {
            self.snapshot(now, number, chunk, in_flight);
        }
    }

    #[inline(never)]
    fn snapshot(&mut self, now: Instant, number: u64, chunk: Chunk, in_flight: u64) {
        let Some(rates) = self.special.rates() else { return };
        let bytes = u64::from(chunk.len) + u64::from(chunk.fin);
        rates.smoothed(self.rtt.srtt());
        let sent = rates.sent(now, number, bytes, in_flight);
        if let Some(transmissions) = self.congestion.as_mut().and_then(|congestion| congestion.transmissions()) {
            transmissions.on_sent(&sent);
        }
    }

    /// Notifies the rate sampler and the congestion control of the data that was marked as lost.
    pub(super) fn note_lost(&mut self, now: Instant) {
        let (Some(rates), Some(log)) = (self.special.rates(), self.board.log()) else { return };
        for (number, bytes) in log.lost.drain(..) {
            let lost = rates.lost(now, number, bytes);
            if let Some(transmissions) =
                self.congestion.as_mut().filter(|_| !self.excused).and_then(|congestion| congestion.transmissions())
            {
                transmissions.on_lost(&lost);
            }
        }
    }

    /// Returns the delivery-rate sample of an ACK. The scoreboard must have been updated with the ACK.
    #[inline]
    pub(super) fn sample_rate(&mut self, now: Instant) -> Option<RateSample> {
        if self.special.measures_rates() { self.finish_sample(now) } else { None }
    }

    #[inline(never)]
    fn finish_sample(&mut self, now: Instant) -> Option<RateSample> {
        let (Some(rates), Some(log)) = (self.special.rates(), self.board.log()) else { return None };
        for (number, bytes) in log.delivered.drain(..) {
            rates.delivered(now, number, bytes);
        }
        rates.guessed(now, std::mem::take(&mut log.guessed), std::mem::take(&mut log.known));
        self.note_lost(now);
        let (first, min_rtt, srtt) = (self.board.numbers().0, self.rtt.min(), self.rtt.srtt());
        let rates = self.special.rates()?;
        rates.smoothed(srtt);
        rates.finish(first, min_rtt)
    }
}
