//! Attribution of losses: to congestion, which the congestion control reacts to, or to corruption. Data lost by
//! corruption is only retransmitted.
//!
//! The configured assumption or a custom loss response decides once per episode of lost packets, and when persistent
//! congestion is found, as TCP does per episode and at each timeout. A CE mark in the last round trip overrides both.
//! An episode of corruption consists of the packets sent up to its start. It leaves window, threshold and phase
//! unchanged, and its packets neither end nor undo an episode of congestion. A probe timeout has no reaction that could
//! be suppressed.

use super::{Control, Delivered};
use crate::rtt::Rtt;
use crate::sent::SentPacket;
use lightlag_control::congestion::loss_assumption::LossAssumption;
use lightlag_control::congestion::response::LossEvent;
use lightlag_control::congestion::{Cause, Lost};
use lightlag_core::Instant;

/// The state of a sender that does not take every loss for congestion.
#[derive(Debug, Default)]
pub(super) struct Attribution {
    /// Whether a custom loss response decides; otherwise all losses are corruption.
    is_custom: bool,
    /// Packets sent up to this time belong to the last episode of corruption, unless they belong to an earlier one of
    /// congestion.
    start: Option<Instant>,
    /// Losses until this time are congestion, because of a mark.
    congested_until: Instant,
    /// Packets that were found lost since the last decision and belong to no episode, and the transmission time of the
    /// first one.
    undecided: u32,
    first: Option<Instant>,
    /// Reports about packets that were found lost since the last decision, for algorithms that need them.
    reports: Vec<Lost>,
}

impl Attribution {
    /// Returns the initial state; `None` if all losses are congestion.
    pub(super) fn of(assumption: &LossAssumption) -> Option<Box<Self>> {
        match assumption {
            LossAssumption::Congestion => None,
            LossAssumption::Corruption => Some(Box::default()),
            LossAssumption::Custom(_) => Some(Box::new(Self { is_custom: true, ..Self::default() })),
        }
    }
}

impl Control {
    /// Returns true if a lost packet sent at `sent` belongs to an episode of corruption.
    #[inline]
    pub(super) fn is_excused(&self, sent: Instant) -> bool {
        let Some(start) = self.attribution.as_ref().and_then(|attribution| attribution.start) else { return false };
        match self.recovery_start {
            Some(congestion) if congestion >= start => sent <= start,
            Some(congestion) => sent > congestion && sent <= start,
            None => sent <= start,
        }
    }

    /// Returns true if a lost packet sent at `sent` belongs to no episode.
    fn starts_episode(&self, sent: Instant) -> bool {
        let starts = [self.recovery_start, self.attribution.as_ref().and_then(|attribution| attribution.start)];
        starts.into_iter().flatten().all(|start| sent > start)
    }

    /// Notes a lost packet whose cause is not decided.
    #[cold]
    pub(super) fn packet_lost_for_any_cause(&mut self, now: Instant, packet: &SentPacket) {
        let starts = self.starts_episode(packet.time);
        if !starts && !self.is_excused(packet.time) {
            self.episode_lost += 1;
        }
        let report = self.rates.as_mut().map(|rates| rates.lost(now, packet.serial.into(), packet.size.into()));
        let Some(attribution) = &mut self.attribution else { return };
        attribution.reports.extend(report);
        if starts {
            attribution.undecided += 1;
            attribution.first = attribution.first.or(Some(packet.time));
        }
    }

    /// Returns the effects of an acknowledgement on congestion control, without the losses that are attributed to
    /// corruption.
    #[cold]
    pub(super) fn attribute(&mut self, now: Instant, delivered: &Delivered, rtt: &Rtt) -> Delivered {
        if let Some(attribution) = self.attribution.as_mut().filter(|_| delivered.marked > 0) {
            attribution.congested_until = now + rtt.measured();
        }
        let first = self.attribution.as_ref().and_then(|attribution| attribution.first);
        let excused = delivered.last_lost.is_some_and(|last| self.excuses(now, last, delivered.inflight, rtt));
        let (lost, last_lost) = if excused { (0, None) } else { (delivered.lost, delivered.last_lost) };
        let persistent =
            delivered.persistent && !self.is_corruption(now, Cause::Timeout, first, delivered.inflight, rtt);
        Delivered { lost, last_lost, persistent, ..*delivered }
    }

    /// Decides about the packets that were found lost, the last of them sent at `last_lost`. Returns true if they are
    /// attributed to corruption.
    #[cold]
    pub(super) fn excuses(&mut self, now: Instant, last_lost: Instant, in_flight: u64, rtt: &Rtt) -> bool {
        let Some(attribution) = &mut self.attribution else { return false };
        let (first, lost) = (attribution.first.take(), std::mem::take(&mut attribution.undecided));
        let mut reports = std::mem::take(&mut attribution.reports);
        let excused = if self.starts_episode(last_lost) {
            let excused = self.is_corruption(now, Cause::Loss, first, in_flight, rtt);
            if !excused {
                (self.episode_lost, self.episode_late) = (lost, 0);
            } else if let Some(attribution) = &mut self.attribution {
                attribution.start = Some(now);
            }
            excused
        } else {
            self.is_excused(last_lost)
        };
        if let Some(transmissions) = self.algorithm.transmissions().filter(|_| !excused) {
            for report in &reports {
                transmissions.on_lost(report);
            }
        }
        reports.clear();
        if let Some(attribution) = &mut self.attribution {
            attribution.reports = reports;
        }
        excused
    }

    fn is_corruption(&mut self, now: Instant, cause: Cause, sent: Option<Instant>, inflight: u64, rtt: &Rtt) -> bool {
        let Some(attribution) = &self.attribution else { return false };
        if now < attribution.congested_until {
            return false;
        }
        if !attribution.is_custom {
            return true;
        }
        let (srtt, min_rtt) = (rtt.measured(), rtt.min());
        let loss = LossEvent { now, cause, sent, inflight, cwnd: self.window, rtt: rtt.latest(), srtt, min_rtt };
        self.algorithm.loss_response().is_some_and(|response| response.is_corruption(&loss))
    }
}
