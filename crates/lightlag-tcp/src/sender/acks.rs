//! What an acknowledgement tells the sender, and what the sender tells the congestion control.

use super::{Sender, Timer, ticks_since};
use crate::account::Account;
use crate::config::{Config, Growth, RttSamples};
use crate::congestion::{Ack, Cause, Congestion, Phase};
use crate::recovery::{News, Verdict};
use crate::scoreboard::{Delivery, Range};
use lightlag_core::{Duration, Instant};

/// An acknowledgement in offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgement<'a> {
    /// First offset that the peer does not have, inside `una..=nxt`.
    pub(crate) ack: u64,
    /// SACKed ranges.
    pub(crate) sacked: &'a [Range],
    /// TSecr, if the segment carries timestamps.
    pub(crate) echo: Option<u32>,
    /// Whether the segment carries data, a SYN or a FIN: then it is no duplicate ACK (RFC 5681 §2).
    pub(crate) occupies: bool,
    /// Whether it changed the window: then it is no duplicate ACK either.
    pub(crate) moved_window: bool,
}

impl Sender {
    /// An ACK arrived.
    pub(crate) fn handle_ack(
        &mut self,
        now: Instant,
        arrived: Acknowledgement<'_>,
        config: &Config,
        account: &mut Account,
    ) {
        let una = self.board.una();
        let prior_inflight = self.board.pipe();
        let newly_acked = arrived.ack - una;
        let mut delivery = Delivery::default();
        if newly_acked > 0 {
            self.board.acknowledge(arrived.ack, &mut delivery);
            self.retries = 0;
        }
        for range in arrived.sacked {
            self.board.sack(*range, &mut delivery);
        }
        let rtt = self.sample_rtt(now, &delivery, newly_acked, arrived.echo, config, account);
        let duplicate = newly_acked == 0
            && if self.recovery.uses_sack() { delivery.bytes > 0 } else { !arrived.occupies && !arrived.moved_window };
        let phase = self.recovery.phase();
        let verdict = self.recovery.on_ack(&mut self.board, News { newly_acked, duplicate });
        self.recovery.limit_deflation(self.cwnd);
        self.resend_head |= verdict.resend_head;
        if newly_acked > 0 && !verdict.keep_timer {
            self.restart_timer(now, config);
        }
        if delivery.bytes > 0 || verdict != Verdict::default() {
            let ack = self.describe(now, newly_acked, &delivery, rtt, prior_inflight, phase, config);
            self.inform(now, ack, verdict, account);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "each is one fact of the ACK")]
    fn describe(
        &self,
        now: Instant,
        newly_acked: u64,
        delivery: &Delivery,
        rtt: Option<Duration>,
        prior_inflight: u64,
        phase: Phase,
        config: &Config,
    ) -> Ack {
        // The ACK that begins an episode grows nothing; the one that ends it still belongs to it.
        let phase = if phase == Phase::Open { self.recovery.phase() } else { phase };
        Ack {
            now,
            newly_acked,
            newly_delivered: delivery.bytes,
            newly_lost: 0,
            newly_marked: 0,
            duplicate: false,
            ece: false,
            one_way: None,
            growth: self.growth(newly_acked, delivery.bytes, phase, config.growth),
            rtt,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            inflight: self.board.pipe(),
            prior_inflight,
            snd_una: self.board.una(),
            snd_nxt: self.board.nxt(),
            phase,
            cwnd_limited: self.is_cwnd_limited(),
            rate: None,
        }
    }

    /// Tells the congestion control: the ACK first, then what ended, then what began.
    fn inform(&mut self, now: Instant, ack: Ack, verdict: Verdict, account: &mut Account) {
        let Some(congestion) = &mut self.congestion else { return };
        congestion.on_ack(&ack);
        if verdict.ended {
            congestion.on_recovered(now);
        }
        if let Some(flight) = verdict.began {
            let (srtt, min_rtt) = (self.rtt.srtt(), self.rtt.min());
            congestion.on_congestion(&Congestion { now, cause: Cause::Loss, flight, srtt, min_rtt });
            account.statistics.recoveries += 1;
        }
        self.copy_window(now, account);
    }

    /// What the ACK counts for growth, in segments.
    fn growth(&self, newly_acked: u64, delivered: u64, phase: Phase, rule: Growth) -> f64 {
        let size = f64::from(self.segment_size);
        // After a timeout a cumulative ACK may jump over data that arrived long ago (RFC 3465 §2.3).
        let jumps = phase == Phase::Loss;
        match rule {
            _ if newly_acked == 0 => 0.0,
            Growth::PerAck => 1.0,
            Growth::PerSegment if jumps && !self.recovery.uses_sack() => (newly_acked as f64 / size).min(2.0),
            Growth::PerSegment => delivered as f64 / size,
            Growth::Abc(limit) => {
                let limit = if jumps { 1.0 } else { f64::from(limit) };
                (newly_acked as f64 / size).min(limit)
            }
        }
    }

    /// Takes a round-trip sample for SRTT from the oldest segment delivered, so that it includes the peer's
    /// delay, and returns the newest one's for the congestion control. Karn: none from retransmitted data,
    /// unless the timestamp says which copy arrived.
    fn sample_rtt(
        &mut self,
        now: Instant,
        delivery: &Delivery,
        newly_acked: u64,
        echo: Option<u32>,
        config: &Config,
        account: &mut Account,
    ) -> Option<Duration> {
        let echoed = || (newly_acked > 0).then_some(echo).flatten().map(|echo| ticks_since(now, echo));
        let sent = delivery.sent.filter(|_| !delivery.retransmitted);
        let exact = sent.map(|(oldest, newest)| (now.since(oldest), now.since(newest)));
        let (oldest, newest) = match config.rtt_samples {
            RttSamples::Timestamp if echo.is_some() => echoed().map(|rtt| (rtt, rtt)),
            _ => exact.or_else(|| echoed().map(|rtt| (rtt, rtt))),
        }?;
        self.rtt.observe(newest);
        account.statistics.rtt_sum += newest;
        account.statistics.rtt_count += 1;
        if config.rtt_samples != RttSamples::OnePerRound {
            self.rtt.sample(oldest, &config.rto);
        } else if self.board.una() >= self.sample_from {
            self.sample_from = self.board.nxt() + 1;
            self.rtt.sample(oldest, &config.rto);
        }
        Some(newest)
    }

    /// RFC 6298 §5.2, §5.3: off when nothing is outstanding, else anew.
    fn restart_timer(&mut self, now: Instant, config: &Config) {
        self.timer = Timer::Retransmission;
        self.deadline = if self.board.is_empty() { Instant::MAX } else { now + self.rtt.rto(&config.rto) };
    }

    /// Whether the window, not the application, held the sender back; in slow start half a window in flight
    /// will do, since that may double before the news of it comes back (as Linux).
    fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited
            || self
                .congestion
                .as_ref()
                .is_some_and(|algorithm| self.cwnd < algorithm.ssthresh() && self.cwnd < 2 * self.round_flight)
    }
}
