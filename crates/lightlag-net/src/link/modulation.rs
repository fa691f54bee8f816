//! Temporary states of a link direction, which modify its timetable and its losses.
//!
//! A model of a radio, such as [`Slots`](super::Slots), describes a link as a sequence of [`Span`]s. Each span scales
//! the rate, extends the delay, interrupts the link or replaces its losses, whatever the rate, the delay and the losses
//! of the link are at that time. Several sequences can be applied in turn: rates are multiplied, delays are added.

use super::timetable::{Phase, Timetable};
use crate::Loss;
use lightlag_core::{Duration, Instant, Probability, Rate};

/// A state of a link direction that holds until the next span.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Span {
    /// Start of the state.
    pub from: Instant,
    /// Whether the link is up, unless its timetable interrupts it.
    pub is_up: bool,
    /// Factor of the rate.
    pub rate: f64,
    /// Additional delay.
    pub delay: Duration,
    /// Probability of losses, instead of the link's own losses; `None` leaves them unchanged.
    pub loss: Option<Probability>,
}

impl Span {
    /// Returns a span without an effect.
    pub(super) fn neutral(from: Instant) -> Self {
        Self { from, is_up: true, rate: 1.0, delay: Duration::ZERO, loss: None }
    }
}

/// Returns the timetable of a link in these states. The first span starts at zero.
pub fn modulate(timetable: &Timetable, spans: &[Span]) -> Timetable {
    let mut phases: Vec<Phase> = Vec::with_capacity(timetable.phases().len() + spans.len());
    for (from, phase, span) in in_turn(timetable.phases(), spans, |phase| phase.from) {
        let next = Phase {
            from,
            rate: scaled(phase.rate, span.rate),
            delay: phase.delay + span.delay,
            is_up: phase.is_up && span.is_up,
            loses: phase.loses,
        };
        if phases.last().is_none_or(|last| Phase { from, ..*last } != next) {
            phases.push(next);
        }
    }
    timetable.with_phases(phases)
}

/// Returns the losses of a link in these states. The first span starts at zero. A model that does not change continues;
/// one that returns after a span starts again.
pub fn modulate_loss(loss: &Loss, spans: &[Span]) -> Loss {
    if spans.iter().all(|span| span.loss.is_none()) {
        return loss.clone();
    }
    let single = [(Instant::ZERO, loss.clone())];
    let models = if let Loss::Changing(models) = loss { &models[..] } else { &single[..] };
    let mut losses: Vec<(Instant, Loss)> = Vec::with_capacity(models.len() + spans.len());
    for (from, (_, model), span) in in_turn(models, spans, |(from, _)| *from) {
        let next = match span.loss {
            None => model.clone(),
            Some(Probability::ZERO) => Loss::None,
            Some(probability) => Loss::Packet(probability),
        };
        if losses.last().is_none_or(|(_, last)| *last != next) {
            losses.push((from, next));
        }
    }
    Loss::Changing(losses.into())
}

/// Returns the times when either sequence changes, with the current entries of both. Both start at zero.
fn in_turn<'a, T>(
    entries: &'a [T],
    spans: &'a [Span],
    start: impl Fn(&T) -> Instant,
) -> impl Iterator<Item = (Instant, &'a T, &'a Span)> {
    let (mut entry, mut span, mut next) = (0, 0, Some(Instant::ZERO));
    std::iter::from_fn(move || {
        let now = next?;
        let later = [entries.get(entry + 1).map(&start), spans.get(span + 1).map(|span| span.from)];
        let current = (now, &entries[entry], &spans[span]);
        next = later.into_iter().flatten().min();
        entry += usize::from(later[0].is_some_and(|from| Some(from) == next));
        span += usize::from(later[1].is_some_and(|from| Some(from) == next));
        Some(current)
    })
}

/// Returns the rate multiplied by a factor, at least 1 bit/s.
fn scaled(rate: Rate, factor: f64) -> Rate {
    if factor == 1.0 {
        return rate;
    }
    let bps = (rate.as_bps() as f64 * factor + 0.5) as u64;
    Rate::from_bps(bps.max(1)).unwrap_or(rate)
}

#[cfg(test)]
mod tests {
    use super::super::Outage;
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn phase(seconds: u64, mbps: u64, ms: u64, is_up: bool) -> Phase {
        let (rate, delay) = (Rate::from_mbps(mbps), Duration::from_millis(ms));
        Phase { from: at(seconds), rate, delay, is_up, loses: false }
    }

    #[test]
    fn spans_scale_rates_and_extend_delays_of_every_phase() {
        let base = Timetable::new([phase(0, 10, 20, true), phase(10, 40, 50, true)], Outage::Hold, false);
        let dip = Span { rate: 0.5, delay: Duration::from_millis(5), ..Span::neutral(at(8)) };
        let down = Span { is_up: false, ..Span::neutral(at(12)) };
        let spans = [Span::neutral(at(0)), dip, down, Span::neutral(at(13))];
        let expected = [
            phase(0, 10, 20, true),
            // 10 · 0.5 = 5 Mbit/s, 20 + 5 = 25 ms; from 10 s on 40 · 0.5 = 20 Mbit/s, 50 + 5 = 55 ms.
            phase(8, 5, 25, true),
            phase(10, 20, 55, true),
            phase(12, 40, 50, false),
            phase(13, 40, 50, true),
        ];
        assert_eq!(modulate(&base, &spans).phases(), expected);
    }

    #[test]
    fn spans_replace_losses_and_return_them() {
        let (light, heavy) = (Probability::new(0.01).unwrap(), Probability::new(0.5).unwrap());
        let span = |seconds, loss| Span { loss, ..Span::neutral(at(seconds)) };
        let spans = [span(0, None), span(5, Some(heavy)), span(6, None), span(7, Some(Probability::ZERO))];
        let packets = Loss::Packet(light);
        let expected =
            vec![(at(0), packets.clone()), (at(5), Loss::Packet(heavy)), (at(6), packets.clone()), (at(7), Loss::None)];
        assert_eq!(modulate_loss(&packets, &spans), Loss::Changing(expected.into()));
        assert_eq!(modulate_loss(&packets, &spans[..1]), packets, "a span without losses changes nothing");
    }
}
