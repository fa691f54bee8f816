//! A link outage (SCPS-TP): neither congestion nor corruption. Nothing leaves but probes, the retransmission timer stands
//! still, nothing is given up, and window and threshold stay.
//!
//! It begins when somebody tells of it, or with so many timeouts in a row for the same data (`outage_after`). Probes have
//! the number before the first that is outstanding, so that the peer must answer: after 1 s and then twice as long each
//! time, up to 60 s (the reference implementation's schedule; it gives up after 32, and we do not). The first segment of
//! the peer ends it, or who told of it. What left a timeout ago or earlier leaves again then, from the first segment on.
//!
//! Timeouts may have another reason: a queue too small for what an unchanged window sends after each of them. When an
//! outage that was guessed has ended and nothing was acknowledged since, the next guess takes twice as many, to which the
//! congestion control reacts. That is ours, too.
//!
//! What the peer had sent before a link went out comes for up to a round trip after the news of it: such segments are taken
//! and end nothing. That is ours: the sources let any segment end an outage.

use super::{Sender, Tail, Timer};
use crate::config::Config;
use lightlag_core::{Duration, Instant};

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// What an outage keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outage {
    probes: u8,
    /// What was left of the retransmission timer.
    left: Duration,
    /// When the last one ended: what left before gives no round-trip sample.
    ended: Instant,
    /// Until when segments of the peer end nothing, because they left before.
    deaf_until: Instant,
    /// What was outstanding when it was guessed last, and how often in a row for the same.
    guessed_at: u64,
    guesses: u8,
}

/// An outage that goes on behind a segment of the peer.
#[derive(Debug)]
pub(crate) struct Paused {
    next_probe: Instant,
    /// A probe is due and has not left.
    probe: bool,
}

impl Sender {
    /// Whether nothing but probes may leave.
    #[inline]
    pub(crate) fn in_outage(&self) -> bool {
        self.timer == Timer::Outage
    }

    /// Somebody tells that a link on the way is out.
    #[cold]
    pub(crate) fn outage_told(&mut self, now: Instant) {
        if !self.in_outage() {
            self.begin_outage(now);
            self.extra.get_or_insert_default().outage.deaf_until = now + self.rtt.srtt();
        }
    }

    /// A link on the way is out.
    #[cold]
    pub(super) fn begin_outage(&mut self, now: Instant) {
        let runs = self.timer == Timer::Retransmission && self.deadline != Instant::MAX;
        let left = if runs { self.deadline.max(now).since(now) } else { Duration::ZERO };
        let outage = &mut self.extra.get_or_insert_default().outage;
        (outage.left, outage.probes, outage.deaf_until) = (left, 0, Instant::ZERO);
        self.wait_for_link(now + FIRST);
    }

    /// Whether one timeout more means an outage.
    #[cold]
    pub(super) fn guesses_outage(&mut self, config: &Config) -> bool {
        let Some(timeouts) = config.outage_after else { return false };
        let (una, retries) = (self.board.una(), self.retries);
        let outage = &mut self.extra.get_or_insert_default().outage;
        let before = if outage.guessed_at == una { outage.guesses } else { 0 };
        let means = u64::from(retries) + 1 >= u64::from(timeouts) << before.min(8);
        if means {
            (outage.guessed_at, outage.guesses) = (una, before.saturating_add(1));
        }
        means
    }

    /// Nothing leaves before this probe.
    fn wait_for_link(&mut self, next_probe: Instant) {
        self.tail = Tail::new();
        self.recovery.stop();
        self.persisting = super::persist::Persisting::default();
        self.probe = false;
        self.timer = Timer::Outage;
        self.deadline = next_probe;
    }

    /// A segment of the peer comes in an outage, and ends it if nothing is given back. What it acknowledges is no matter of
    /// an outage.
    #[cold]
    pub(crate) fn heard_in_outage(&mut self, now: Instant, config: &Config) -> Option<Paused> {
        let Outage { deaf_until, left, .. } = self.extra.get_or_insert_default().outage;
        if now >= deaf_until {
            self.end_outage(now, config);
            return None;
        }
        let paused = Paused { next_probe: self.deadline, probe: self.probe };
        self.timer = Timer::Retransmission;
        self.deadline = if left.is_zero() { Instant::MAX } else { now + left };
        Some(paused)
    }

    /// The segment was taken, and the outage goes on.
    #[cold]
    pub(crate) fn go_on_with_outage(&mut self, now: Instant, paused: &Paused) {
        let left = if self.deadline == Instant::MAX { Duration::ZERO } else { self.deadline.max(now).since(now) };
        self.extra.get_or_insert_default().outage.left = left;
        self.wait_for_link(paused.next_probe);
        self.probe = paused.probe;
    }

    /// Nobody has answered the last probe.
    pub(super) fn probe_interval(&self) -> Duration {
        let probes = self.extra.as_ref().map_or(0, |extra| extra.outage.probes);
        (FIRST * (1 << probes.min(6))).min(LONGEST)
    }

    /// A probe leaves.
    pub(super) fn outage_probed(&mut self, now: Instant) {
        let extra = self.extra.get_or_insert_default();
        extra.outage.probes = extra.outage.probes.saturating_add(1);
        self.deadline = now + self.probe_interval();
    }

    /// The link is there again.
    #[cold]
    pub(crate) fn end_outage(&mut self, now: Instant, config: &Config) {
        if !self.in_outage() {
            return;
        }
        let outage = &mut self.extra.get_or_insert_default().outage;
        outage.ended = now;
        let left = outage.left;
        let rto = self.rtt.plain_rto(&config.rto);
        self.timer = Timer::Retransmission;
        self.rtt.end_back_off();
        self.retries = 0;
        self.probe = self.tells_of_tail();
        self.deadline = Instant::MAX;
        if !self.board.is_empty() {
            self.deadline = now + if left.is_zero() { rto } else { left };
            let before = Instant::ZERO + now.since(Instant::ZERO + rto);
            self.recovery.on_outage_end(&mut self.board, before);
            self.excused = true;
            self.note_lost(now);
            self.resend_head = self.board.head_lost();
        }
    }

    /// Whether a segment that left then may have waited for an outage to end.
    pub(super) fn waited_for_link(&self, sent: Instant) -> bool {
        self.extra.as_ref().is_some_and(|extra| sent < extra.outage.ended)
    }
}
