//! Link outages (SCPS-TP), which are neither congestion nor corruption. During an outage only probes are sent, the
//! retransmission timer is stopped, no data is abandoned, and window and threshold are unchanged.
//!
//! An outage starts when a notification arrives, or is assumed after a number of consecutive timeouts for the same data
//! (`outage_after`). Probes have the sequence number before the first outstanding one, so the peer must reply. The
//! first probe is sent after 1 s, and the interval doubles up to 60 s (as in the reference implementation, which aborts
//! after 32 probes; we do not abort). The outage ends with the first segment from the peer, or with a notification.
//! Data that was sent at least one timeout ago is then retransmitted, starting with the first segment.
//!
//! The timeouts may have another cause: a queue that is too small for the data that an unreduced window sends after
//! each of them. If an assumed outage has ended and nothing was acknowledged since, the next outage is assumed only
//! after twice as many timeouts, and the congestion control reacts to these timeouts. This rule is our own.
//!
//! In a wireless network, a route may be lost instead of a link (ELFN). Then the first probe is sent immediately, and
//! further ones every 2 s.
//!
//! Segments that the peer sent before the outage may arrive for up to a round trip after its notification. They are
//! accepted, but do not end the outage. This rule is our own: in the sources any segment ends an outage.

use super::{Sender, Tail, Timer};
use crate::config::Config;
use lightlag_core::{Duration, Instant};

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// Interval of the probes after the loss of a route (Holland and Vaidya, MobiCom 1999).
const STEADY: Duration = Duration::from_secs(2);

/// State of the current or last outage.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outage {
    probes: u8,
    /// Whether probes are sent at a constant interval, as after the loss of a route.
    is_steady: bool,
    /// Time that was left on the retransmission timer when the outage started.
    left: Duration,
    /// Time when the last outage ended. Segments sent before it give no round-trip sample.
    ended: Instant,
    /// Until this time, segments from the peer do not end the outage, because they may have been sent before it.
    deaf_until: Instant,
    /// First unacknowledged offset when an outage was last assumed. [`Self::guesses`] is the number of consecutive
    /// times for the same offset.
    guessed_at: u64,
    guesses: u8,
}

/// The state of an outage that continues although a segment from the peer is being processed.
#[derive(Debug)]
pub(crate) struct Paused {
    next_probe: Instant,
    /// Whether a probe is due that was not sent yet.
    probe: bool,
}

impl Sender {
    /// Returns true during an outage: only probes may be sent.
    #[inline]
    pub(crate) fn in_outage(&self) -> bool {
        self.timer == Timer::Outage
    }

    /// Handles a notification that a link is down.
    #[cold]
    pub(crate) fn outage_told(&mut self, now: Instant) {
        if !self.in_outage() {
            self.begin_outage(now);
            self.special.extra_mut().outage.deaf_until = now + self.rtt.srtt();
        }
    }

    /// Handles the loss of the route. The first probe is sent immediately, so that the routing protocol looks for
    /// another route.
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

    /// Returns true if an outage is assumed after one more timeout, and records this.
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

    /// Stops all other timers until the next probe.
    fn wait_for_link(&mut self, next_probe: Instant) {
        self.tail = Tail::new();
        self.recovery.stop();
        self.persisting = super::persist::Persisting::default();
        self.probe = false;
        self.timer = Timer::Outage;
        self.deadline = next_probe;
    }

    /// Handles the arrival of a segment during an outage. It ends the outage and `None` is returned, unless the peer
    /// may have sent it before the outage: then the outage is suspended, and must be resumed with the returned state
    /// after the segment was processed.
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

    /// Resumes the outage after a segment was processed.
    #[cold]
    pub(crate) fn go_on_with_outage(&mut self, now: Instant, paused: &Paused) {
        let left = if self.deadline == Instant::MAX { Duration::ZERO } else { self.deadline.max(now).since(now) };
        self.special.extra_mut().outage.left = left;
        self.wait_for_link(paused.next_probe);
        self.probe = paused.probe;
    }

    /// Returns the time from the last probe to the next.
    pub(super) fn probe_interval(&self) -> Duration {
        let outage = self.special.extra().map(|extra| extra.outage).unwrap_or_default();
        let Outage { probes, is_steady: false, .. } = outage else { return STEADY };
        (FIRST * (1 << probes.min(6))).min(LONGEST)
    }

    /// Records that a probe is sent, and schedules the next one.
    pub(super) fn outage_probed(&mut self, now: Instant) {
        let extra = self.special.extra_mut();
        extra.outage.probes = extra.outage.probes.saturating_add(1);
        self.deadline = now + self.probe_interval();
    }

    /// Ends the outage, if there is one: the link is up again.
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

    /// Returns true if a segment that was sent at `sent` may have been delayed by an outage.
    pub(super) fn waited_for_link(&self, sent: Instant) -> bool {
        self.special.extra().is_some_and(|extra| sent < extra.outage.ended)
    }
}
