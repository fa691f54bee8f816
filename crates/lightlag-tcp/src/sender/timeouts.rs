//! Handles the expiry of the sender's timers (RFC 6298 §5, RFC 9293 §3.8.6.1).

use super::{Sender, Tail, Timer};
use crate::config::{Config, RttSamples, TimerGranularity};
use crate::timer;
use lightlag_control::congestion::{Cause, Congestion, Phase};
use lightlag_core::{Duration, Instant};
use lightlag_transport::Limit;

/// Consequence of an expiry of the retransmission timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expiry {
    /// The sender continues.
    Continue,
    /// The sender aborts after too many consecutive timeouts.
    GiveUp,
}

impl Sender {
    /// Handles the expiry of a timer.
    pub(crate) fn handle_timeout(&mut self, now: Instant, config: &Config) -> Expiry {
        self.wake(now);
        if config.timer_granularity == TimerGranularity::Linux {
            self.put_off_timers(now, config);
        }
        if self.tail.timer <= now {
            // It replaces a timeout that is due at the same time (RFC 8985 §7.2).
            self.tail.timer = Instant::MAX;
            self.tail.due = true;
            self.deadline = now + self.rtt.rto(&config.rto);
        }
        if self.deadline <= now {
            return self.time_out(now, config);
        }
        if self.recovery.timer() <= now {
            self.reordering_passed(now, config);
        }
        Expiry::Continue
    }

    /// Moves timers whose exact time has come to the next tick of the clock.
    fn put_off_timers(&mut self, now: Instant, config: &Config) {
        if self.tail.timer <= now {
            // If the timeout comes first, the probe waits as long, by the same ticks.
            let wait = self.tail_wait(config).min(self.timeout_after(self.last_sent, config));
            timer::put_off(&mut self.tail.timer, &mut self.tail.step, now, wait);
        }
        if self.deadline <= now {
            let wait = match self.timer {
                Timer::Retransmission | Timer::Answer => self.rtt.rto(&config.rto),
                Timer::Persist => self.persist_interval(config),
                Timer::Outage => self.probe_interval(),
            };
            self.put_off_deadline(now, config, wait);
        }
        if self.recovery.timer() <= now {
            self.recovery.put_off_timer();
        }
    }

    /// Called when the exact time of the retransmission timer, set for `wait`, has come. Returns true if the timer
    /// fires only at a later tick of the clock.
    pub(super) fn put_off_deadline(&mut self, now: Instant, config: &Config, wait: Duration) -> bool {
        config.timer_granularity == TimerGranularity::Linux
            && timer::put_off(&mut self.deadline, &mut self.step, now, wait)
    }

    #[cold]
    fn time_out(&mut self, now: Instant, config: &Config) -> Expiry {
        if self.in_outage() {
            self.probe = true;
            self.deadline = Instant::MAX;
            return Expiry::Continue;
        }
        if self.board.head_given_up() && self.waits_for_patience(now, config) {
            return Expiry::Continue;
        }
        let waited = self.rtt.rto(&config.rto);
        // The part that RFC 6298 adds to SRTT; zero if SRTT exceeds the maximum timeout.
        let margin = self.rtt.plain_rto(&config.rto).saturating_sub(self.rtt.srtt());
        if self.needs.patience && !margin.is_zero() && self.is_patient() {
            self.deadline = now + margin;
            return Expiry::Continue;
        }
        let excused = self.timer == Timer::Retransmission
            && self.blames_corruption(now, Cause::Timeout, self.board.head_sent(), config);
        if !excused {
            self.rtt.back_off();
        }
        self.deadline = Instant::MAX;
        if self.timer == Timer::Persist {
            if self.persisted_in_vain(config) || self.user_timed_out(now, self.persisting.sent == 0) {
                return Expiry::GiveUp;
            }
            self.override_small = true;
            self.probe = self.board.nxt() >= self.peer_edge;
            return Expiry::Continue;
        }
        self.account.timeouts.increment();
        self.account.waited_for_timeout(self.limit, now, waited);
        self.limit = Limit::Timeout;
        if self.guesses_outage(config) {
            self.begin_outage(now);
            return Expiry::Continue;
        }
        if self.retries >= config.retries || self.user_timed_out(now, self.retries == 0) {
            return Expiry::GiveUp;
        }
        self.retries += 1;
        if self.tells_of_tail() {
            self.probe = true;
            return Expiry::Continue;
        }
        self.tail = Tail::new();
        self.excused = excused;
        self.paid = excused;
        if !excused {
            // RFC 7661 §4.3: a timeout ends the non-validated phase.
            self.settle_loss(now, true);
        }
        let (srtt, min_rtt) = (self.rtt.srtt(), self.rtt.min());
        let window = self.recovery.reduced_from(self.cwnd, self.cwnd);
        let (cause, flight) = self.recovery.on_timeout(now, &mut self.board, self.cwnd, srtt);
        let flight = self.recovery.reduced_from(window, flight);
        self.note_lost(now);
        if let Some(algorithm) = self.congestion.as_mut().filter(|_| !excused) {
            algorithm.on_congestion(&Congestion { now, cause, flight, srtt, min_rtt });
        }
        if self.needs.bulk_repeat && self.blames_errors() {
            self.rtt.end_back_off();
        }
        if config.rtt_samples == RttSamples::Timed {
            self.forget_timing();
        }
        self.board.shrink();
        self.copy_window(now);
        self.resend_head = true;
        if self.board.head_given_up() {
            self.deadline = now + self.rtt.rto(&config.rto);
        }
        Expiry::Continue
    }

    /// Returns true if the algorithm waits for another timeout before it reacts, because nothing but missing ACKs
    /// indicates a loss.
    fn is_patient(&mut self) -> bool {
        self.timer == Timer::Retransmission
            && self.recovery.phase() == Phase::Open
            && !self.board.any_sacked()
            && self.recovery.duplicates() == 0
            && (self.congestion.as_mut().and_then(|congestion| congestion.diagnosis()))
                .is_some_and(|diagnosis| diagnosis.bears_silence())
    }

    /// Stops the sender of a closed connection: no segment is sent, and no timer runs.
    pub(crate) fn stop(&mut self) {
        self.deadline = Instant::MAX;
        self.tail.stop();
        if let Some(pacer) = self.special.used_pacer() {
            pacer.timer = Instant::MAX;
        }
        self.recovery.stop();
    }
}
