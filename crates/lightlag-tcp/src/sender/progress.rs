//! A fast path for the common acknowledgement: it acknowledges new data in order, and nothing was out of order before
//! it.
//!
//! The result of the checks for losses, repairs, marks and rates in [`Sender::handle_ack`] is then known. The remaining
//! steps are the same as there.

use super::Sender;
use crate::config::Config;
use crate::recovery::Verdict;
use crate::scoreboard::Delivery;
use lightlag_control::congestion::{Ack, Phase};
use lightlag_core::{Duration, Instant};

impl Sender {
    /// Returns true if an ACK up to `ack` that reports nothing else is a common acknowledgement.
    #[inline(always)]
    pub(crate) fn expects(&self, ack: u64) -> bool {
        ack > self.board.una()
            && self.recovery.is_undisturbed()
            && !self.board.may_be_overdue()
            && !self.special.watches()
            && !self.tail.asks()
    }

    /// Handles a common acknowledgement.
    #[inline(always)]
    pub(crate) fn advance(
        &mut self,
        now: Instant,
        ack: u64,
        echo: Option<u32>,
        one_way: Option<Duration>,
        config: &Config,
    ) {
        let (prior_inflight, newly_acked) = (self.board.pipe(), ack - self.board.una());
        let mut delivery = Delivery::default();
        self.board.acknowledge(ack, &mut delivery);
        self.retries = 0;
        let rtt = self.sample_rtt(now, &delivery, newly_acked, echo, config);
        let duplicates = self.recovery.duplicates();
        let followed = self.recovery.follow(now, &delivery, &self.board);
        debug_assert!(followed, "nothing is out of order");
        self.recovery.limit_deflation(&self.board, self.cwnd);
        self.restart_timer(now, config);
        (self.tail.stale, self.tail.left) = (true, false);
        if self.board.is_empty() {
            self.tail.stop();
        }
        if self.special.extra().is_some() {
            self.fill_buffer();
        }
        if delivery.bytes == 0 {
            // All of it was abandoned.
            return;
        }
        let ack = Ack {
            now,
            newly_acked,
            newly_delivered: delivery.bytes,
            newly_lost: 0,
            newly_marked: 0,
            duplicate: false,
            ece: false,
            one_way,
            phase: Phase::Open,
            growth: self.growth(newly_acked, delivery.bytes, Phase::Open, duplicates, config.growth),
            rtt,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            inflight: self.board.pipe(),
            prior_inflight,
            snd_una: self.board.una(),
            snd_nxt: self.board.nxt(),
            cwnd_limited: self.is_cwnd_limited(),
            next_departure: self.special.pacer().next_departure(),
            rate: None,
        };
        self.inform(&ack, Verdict::default());
    }
}
