//! A link outage (SCPS-TP), which is neither congestion nor corruption. Only probes leave, the retransmission timer
//! stops, nothing is given up, and window and threshold stay.
//!
//! It starts when a station reports it, or after a number of timeouts in a row for the same data (`outage_after`).
//! Probes have the number before the first outstanding one, so the peer must answer: the first after 1 s, the next
//! after twice as long each time, up to 60 s (the reference implementation's schedule; it gives up after 32, and we do
//! not). It ends with the first segment of the peer, or with a report. Data that left a timeout ago or earlier is then
//! sent again, from the first segment on.
//!
//! Timeouts may have another cause: a queue too small for the data that an unchanged window sends after each of them.
//! When a guessed outage has ended and nothing was acknowledged since, the next guess takes twice as many timeouts, and
//! the congestion control reacts to those. That rule is ours, too.
//!
//! On a medium the route of packets may be lost instead (ELFN). Then the first probe leaves at once, and one every 2 s.
//!
//! Segments that the peer sent before the outage arrive for up to a round trip after the report of it. They are
//! accepted but do not end the outage. That rule is ours: in the sources any segment ends an outage.

use super::{Sender, Tail, Timer};
use crate::config::Config;
use lightlag_core::{Duration, Instant};

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// Time between probes for a route (Holland and Vaidya, MobiCom 1999).
const STEADY: Duration = Duration::from_secs(2);

/// The state of outages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outage {
    probes: u8,
    /// Whether probes leave at equal times, as for a route.
    is_steady: bool,
    /// The rest of the retransmission timer.
    left: Duration,
    /// End of the last outage: segments that left before give no round-trip sample.
    ended: Instant,
    /// Time until which segments of the peer do not end the outage, because they left before it.
    deaf_until: Instant,
    /// The outstanding offset of the last guess, and the number of guesses in a row for it.
    guessed_at: u64,
    guesses: u8,
}

/// An outage that continues after a segment of the peer.
#[derive(Debug)]
pub(crate) struct Paused {
    next_probe: Instant,
    /// A probe is due and has not left.
    probe: bool,
}

impl Sender {
    /// Whether only probes may leave.
    #[inline]
    pub(crate) fn in_outage(&self) -> bool {
        self.timer == Timer::Outage
    }

    /// A station reports that a link is out.
    #[cold]
    pub(crate) fn outage_told(&mut self, now: Instant) {
        if !self.in_outage() {
            self.begin_outage(now);
            self.special.extra_mut().outage.deaf_until = now + self.rtt.srtt();
        }
    }

    /// The route of its packets broke. The first probe leaves at once, so that routing looks for another one.
    #[cold]
    pub(crate) fn route_lost(&mut self, now: Instant) {
        self.outage_told(now);
        let outage = &mut self.special.extra_mut().outage;
        if !std::mem::replace(&mut outage.is_steady, true) {
            self.deadline = now;
        }
    }

    /// Starts an outage.
    #[cold]
    pub(super) fn begin_outage(&mut self, now: Instant) {
        let runs = self.timer == Timer::Retransmission && self.deadline != Instant::MAX;
        let left = if runs { self.deadline.max(now).since(now) } else { Duration::ZERO };
        let outage = &mut self.special.extra_mut().outage;
        (outage.left, outage.probes, outage.deaf_until) = (left, 0, Instant::ZERO);
        outage.is_steady = false;
        self.wait_for_link(now + FIRST);
    }

    /// Whether one more timeout means an outage.
    #[cold]
    pub(super) fn guesses_outage(&mut self, config: &Config) -> bool {
        let Some(timeouts) = config.outage_after else { return false };
        let (una, retries) = (self.board.una(), self.retries);
        let outage = &mut self.special.extra_mut().outage;
        let before = if outage.guessed_at == una { outage.guesses } else { 0 };
        let means = u64::from(retries) + 1 >= u64::from(timeouts) << before.min(8);
        if means {
            (outage.guessed_at, outage.guesses) = (una, before.saturating_add(1));
        }
        means
    }

    /// Lets nothing leave before this probe.
    fn wait_for_link(&mut self, next_probe: Instant) {
        self.tail = Tail::new();
        self.recovery.stop();
        self.persisting = super::persist::Persisting::default();
        self.probe = false;
        self.timer = Timer::Outage;
        self.deadline = next_probe;
    }

    /// Handles a segment of the peer during an outage, which it ends unless a state to resume is returned. Its
    /// acknowledgement does not concern the outage.
    #[cold]
    pub(crate) fn heard_in_outage(&mut self, now: Instant, config: &Config) -> Option<Paused> {
        let Outage { deaf_until, left, .. } = self.special.extra_mut().outage;
        if now >= deaf_until {
            self.end_outage(now, config);
            return None;
        }
        let paused = Paused { next_probe: self.deadline, probe: self.probe };
        self.timer = Timer::Retransmission;
        self.deadline = if left.is_zero() { Instant::MAX } else { now + left };
        Some(paused)
    }

    /// Resumes the outage after the segment was processed.
    #[cold]
    pub(crate) fn go_on_with_outage(&mut self, now: Instant, paused: &Paused) {
        let left = if self.deadline == Instant::MAX { Duration::ZERO } else { self.deadline.max(now).since(now) };
        self.special.extra_mut().outage.left = left;
        self.wait_for_link(paused.next_probe);
        self.probe = paused.probe;
    }

    /// Time until the next probe, as the last one was not answered.
    pub(super) fn probe_interval(&self) -> Duration {
        let outage = self.special.extra().map(|extra| extra.outage).unwrap_or_default();
        let Outage { probes, is_steady: false, .. } = outage else { return STEADY };
        (FIRST * (1 << probes.min(6))).min(LONGEST)
    }

    /// Notes that a probe leaves.
    pub(super) fn outage_probed(&mut self, now: Instant) {
        let extra = self.special.extra_mut();
        extra.outage.probes = extra.outage.probes.saturating_add(1);
        self.deadline = now + self.probe_interval();
    }

    /// The link is available again.
    #[cold]
    pub(crate) fn end_outage(&mut self, now: Instant, config: &Config) {
        if !self.in_outage() {
            return;
        }
        let outage = &mut self.special.extra_mut().outage;
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

    /// Whether a segment that left at this time may have waited for the end of an outage.
    pub(super) fn waited_for_link(&self, sent: Instant) -> bool {
        self.special.extra().is_some_and(|extra| sent < extra.outage.ended)
    }
}
