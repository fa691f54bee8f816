//! Tail loss probes (RFC 8985 §7): if ACKs stop arriving, one segment is sent to cause an ACK, long before the timeout.

use super::{Acknowledgement, Sender, Timer};
use crate::config::{Config, TimerGranularity};
use crate::scoreboard::Chunk;
use crate::timer::{self, WheelStep};
use lightlag_control::congestion::{Cause, Congestion, Phase};
use lightlag_core::{Duration, Instant};

/// Maximum time for which the peer may delay the ACK of a single segment (RFC 8985 §7.2).
const ACK_DELAY: Duration = Duration::from_millis(200);
/// Time before a probe is sent if there is no round-trip sample yet.
const WITHOUT_SAMPLE: Duration = Duration::from_secs(1);

/// State of tail loss probes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Tail {
    /// Offset after the probe in flight (TLP.end_seq); 0 if no probe is in flight.
    probe: u64,
    /// Time when the next probe is sent; [`Instant::MAX`] if none is scheduled.
    pub(super) timer: Instant,
    /// The step of Linux's timer wheel that [`Self::timer`] was last moved to.
    pub(super) step: WheelStep,
    /// Whether the probe in flight was a retransmission.
    repeated: bool,
    /// Whether the probe is to be sent now.
    pub(super) due: bool,
    /// Whether data was sent or acknowledged cumulatively, so that the timer must be set again. An ACK that has only
    /// new SACK blocks does not require it (§7.2).
    pub(super) stale: bool,
    /// Whether new data was sent since the last cumulative acknowledgement.
    pub(super) left: bool,
}

impl Tail {
    pub(super) fn new() -> Self {
        Self {
            probe: 0,
            timer: Instant::MAX,
            step: WheelStep::default(),
            repeated: false,
            due: false,
            stale: false,
            left: false,
        }
    }

    /// Returns true if a probe is in flight.
    #[inline]
    pub(super) fn asks(&self) -> bool {
        self.probe > 0
    }

    /// Cancels the scheduled probe, because nothing is outstanding or losses are being repaired.
    pub(super) fn stop(&mut self) {
        self.timer = Instant::MAX;
        self.due = false;
    }
}

impl Sender {
    /// Schedules a probe if data was sent or acknowledged since the last call (§7.2). Called once for all events at the
    /// same time.
    #[inline]
    pub(super) fn arm_tail_if_stale(&mut self, now: Instant, config: &Config) {
        if self.tail.stale {
            self.tail.stale = false;
            self.arm_tail(now, config);
        }
    }

    #[inline(always)]
    fn arm_tail(&mut self, now: Instant, config: &Config) {
        self.tail.timer = Instant::MAX;
        if !config.tlp
            || self.timer == Timer::Answer
            || !self.recovery.uses_sack()
            || self.recovery.phase() != Phase::Open
            || self.board.is_empty()
            || self.board.any_sacked()
            || self.tail.asks()
        {
            return;
        }
        // At the latest with the timeout, which the probe then replaces.
        self.tail.timer = (now + self.tail_wait(config).min(self.timeout_after(now, config))).min(self.deadline);
    }

    /// Returns the time from `now` to the retransmission timeout, which is the latest time for the probe. In Linux,
    /// once new data was sent, the timeout counts from the transmission of the first segment, unless it has already
    /// passed (`tcp_schedule_loss_probe`, `tcp_rto_delta_us`).
    #[inline(always)]
    pub(super) fn timeout_after(&self, now: Instant, config: &Config) -> Duration {
        let rto = self.rtt.rto(&config.rto);
        if !self.tail.left || config.timer_granularity != TimerGranularity::Linux {
            return rto;
        }
        let left = self.board.head_sent().map_or(Duration::ZERO, |sent| (sent + rto).max(now).since(now));
        if left.is_zero() { Duration::MAX } else { left }
    }

    #[inline(always)]
    pub(super) fn tail_wait(&self, config: &Config) -> Duration {
        let srtt = self.rtt.srtt();
        if srtt.is_zero() {
            WITHOUT_SAMPLE
        } else if self.board.numbers().1 - self.board.numbers().0 == 1 {
            // A segment with its FIN also counts as one.
            srtt * 2 + ACK_DELAY
        } else if config.timer_granularity == TimerGranularity::Linux {
            srtt * 2 + timer::LEAST
        } else {
            srtt * 2
        }
    }

    /// Sends the probe (§7.3): new data if there is any, otherwise a copy of the last segment.
    #[cold]
    pub(super) fn probe_tail(&mut self, now: Instant, config: &Config) -> Option<Chunk> {
        self.tail.stop();
        let chunk = match self.next_new(u64::MAX) {
            Ok(chunk) => {
                self.tail.probe = chunk.start + u64::from(chunk.len) + u64::from(chunk.fin);
                self.tail.repeated = false;
                self.send_new(now, chunk, config)
            }
            Err(_) => {
                let last = self.board.last_unsacked().filter(|last| self.may_leave_again(*last))?;
                let chunk = self.retransmit(now, last, config);
                self.tail.probe = self.board.nxt();
                self.tail.repeated = true;
                chunk
            }
        };
        self.account.tail_probes.increment();
        self.deadline = now + self.rtt.rto(&config.rto);
        Some(chunk)
    }

    /// Evaluates the outcome of the probe when an ACK arrives (§7.4). If the probe repaired a loss, the window is
    /// reduced as for any loss.
    #[inline(always)]
    pub(super) fn judge_probe(&mut self, now: Instant, arrived: &Acknowledgement<'_>) {
        let end = self.tail.probe;
        if !self.tail.asks() || arrived.ack < end {
            return;
        }
        if !self.tail.repeated || arrived.dsack.is_some_and(|twice| twice.end == end) {
            self.tail.probe = 0;
            return;
        }
        if arrived.ack > end {
            self.tail.probe = 0;
            self.answer_repaired_tail(now);
        } else if arrived.ack == self.board.una() && arrived.sacked.is_empty() {
            // A duplicate without a report: both copies arrived.
            self.tail.probe = 0;
        }
    }

    /// Reduces the window: an ACK beyond the probe reported no second copy of its data, so the original was lost.
    #[cold]
    fn answer_repaired_tail(&mut self, now: Instant) {
        if self.recovery.phase() != Phase::Open {
            return;
        }
        let flight = self.retreat(now, self.board.flight());
        let (srtt, min_rtt) = (self.rtt.srtt(), self.rtt.min());
        if let Some(congestion) = &mut self.congestion {
            congestion.on_congestion(&Congestion { now, cause: Cause::Loss, flight, srtt, min_rtt });
        }
        self.settle_tail(now);
        if let Some(congestion) = &mut self.congestion {
            congestion.on_recovered(now);
            self.account.recoveries.increment();
            self.copy_window(now);
        }
    }
}
