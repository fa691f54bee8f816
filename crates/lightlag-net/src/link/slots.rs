//! A link whose state changes on a grid of times, as the links of Starlink's terminals every 15 s.
//!
//! Slots start at `phase + k · period`. The path of a slot has an additional delay of its own, drawn from `step`. At
//! the start of a slot the link is down for `outage`. Packets whose transmission starts up to `before` before the start
//! of a slot or up to `after` after it are lost with the probability `loss`, instead of the losses of the link. In the
//! last `dip_time` of a slot the rate is multiplied by `dip`.
//!
//! Starlink assigns terminals to satellites at 12, 27, 42 and 57 s of each minute (Tanveer and others, *Making Sense of
//! Constellations*, CoNEXT Companion 2023; Mohan and others, WWW 2024, arXiv 2310.09242).
//!
//! With an outage of T_o, a dip d over T_d and losses p over the time T_e around an edge, on a period T:
//!
//! - fraction of time down: T_o / T
//! - mean rate: rate · (1 − T_o/T − (1 − d) T_d/T), if outage and dip do not overlap
//! - losses of a steady stream: p T_e/T + q (1 − T_e/T), where q is the loss of the link outside the edges

use super::modulation::Span;
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, Probability, RandomStream, Varied};

/// Minimum duration of a slot. Shorter ones are slow to simulate.
const SHORTEST: Duration = Duration::from_millis(1);

/// A grid of slots.
#[derive(Clone, PartialEq, Debug)]
pub struct Slots {
    /// Duration of a slot.
    pub period: Duration,
    /// Start of the first slot that starts during the run.
    pub phase: Duration,
    /// Duration of the outage at the start of each slot.
    pub outage: Duration,
    /// Additional delay of a slot.
    pub step: Varied<Duration>,
    /// Probability that a packet near the start of a slot is lost.
    pub loss: Probability,
    /// Time before the start of a slot when packets are lost.
    pub before: Duration,
    /// Time after the start of a slot when packets are lost.
    pub after: Duration,
    /// Factor of the rate at the end of a slot.
    pub dip: f64,
    /// Duration of the lower rate at the end of a slot.
    pub dip_time: Duration,
}

impl Default for Slots {
    fn default() -> Self {
        let second = Duration::from_secs(1);
        Self {
            period: Duration::ZERO,
            phase: Duration::ZERO,
            outage: Duration::ZERO,
            step: Varied::default(),
            loss: Probability::ZERO,
            before: second,
            after: second,
            dip: 1.0,
            dip_time: second,
        }
    }
}

impl Described for Slots {
    const ABOUT: &'static str = "A grid of slots, such as the 15 s of Starlink: the link is down at the start of each \
                                 slot, every slot has its own additional delay, packets are lost near the edges, and \
                                 the rate falls at the end of a slot.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time("period", |slots: &mut Self| &mut slots.period)
                .about("Duration of a slot.")
                .required("specify the duration of a slot, such as \"15 s\"")
                .checked(|slots| (slots.period < SHORTEST).then_some("is below 1 ms, the minimum duration of a slot")),
            Setting::time_or_zero("phase", |slots: &mut Self| &mut slots.phase)
                .about("Start of the first slot that starts during the run, below the period.")
                .checked(|slots| {
                    (slots.phase >= slots.period).then_some("is not below the period; subtract the period")
                }),
            Setting::time_or_zero("outage", |slots: &mut Self| &mut slots.outage)
                .about("Duration of the outage at the start of each slot.")
                .checked(|slots| {
                    (slots.outage >= slots.period).then_some("is not below the period; use a shorter one")
                }),
            Setting::drawn_time("step", |slots: &mut Self| &mut slots.step)
                .about("Additional delay, drawn for each slot, such as { uniform = [\"0 s\", \"30 ms\"] }."),
            Setting::probability("loss", |slots: &mut Self| &mut slots.loss)
                .about("Probability that a packet near the start of a slot is lost, instead of the loss of the link."),
            Setting::time_or_zero("before", |slots: &mut Self| &mut slots.before)
                .about("Time before the start of a slot with this loss."),
            Setting::time_or_zero("after", |slots: &mut Self| &mut slots.after)
                .about("Time after the start of a slot with this loss.")
                .checked(|slots| {
                    (slots.loss != Probability::ZERO && slots.before + slots.after > slots.period)
                        .then_some("and before exceed the period; use shorter times")
                }),
            Setting::number("dip", |slots: &mut Self| &mut slots.dip, 0, 1.0)
                .about("Factor of the rate at the end of a slot.")
                .checked(|slots| (slots.dip < 0.001).then_some("is below 0.001; use an outage instead")),
            Setting::time_or_zero("dip_time", |slots: &mut Self| &mut slots.dip_time)
                .about("Duration of the lower rate at the end of a slot.")
                .checked(|slots| {
                    (slots.dip < 1.0 && slots.dip_time > slots.period)
                        .then_some("exceeds the period; use a shorter one")
                }),
        ]
    }
}

impl Slots {
    /// Returns the number of slots in a run that lasts until `until`.
    pub fn count(&self, until: Duration) -> u64 {
        until.as_nanos() / self.period.as_nanos() + 1
    }

    /// Returns true if the state of a packet is random.
    pub fn draws(&self) -> bool {
        self.step.is_random() || self.loss != Probability::ZERO
    }

    /// Returns the states of a link in a run that lasts until `until`. The delays are drawn from `random`, one per slot,
    /// in the order of time.
    pub fn spans(&self, until: Duration, mut random: RandomStream) -> Vec<Span> {
        let period = self.period.as_nanos();
        let (changes, mut spans) = (self.changes(), Vec::new());
        // The slot before the first edge starts before the run, unless there is an edge at zero.
        let early = if self.phase.is_zero() { 0 } else { period };
        for slot in 0.. {
            let start = slot * period + self.phase.as_nanos();
            if start >= until.as_nanos() + early {
                break;
            }
            let delay = self.step.draw(&mut random);
            for offset in &changes {
                let from = Instant::from_nanos((start + offset.as_nanos()).saturating_sub(early));
                spans.pop_if(|last: &mut Span| last.from == from);
                spans.push(self.state(*offset, from, delay));
            }
        }
        spans
    }

    /// Returns the times within a slot when its state changes, in ascending order. The first is zero.
    fn changes(&self) -> Vec<Duration> {
        let mut changes = vec![Duration::ZERO, self.outage];
        if self.loss != Probability::ZERO {
            changes.extend([self.after, self.period.saturating_sub(self.before)]);
        }
        if self.dip < 1.0 {
            changes.push(self.period.saturating_sub(self.dip_time));
        }
        changes.retain(|change| *change < self.period);
        changes.sort_unstable();
        changes.dedup();
        changes
    }

    /// Returns the state at this time after the start of a slot.
    fn state(&self, offset: Duration, from: Instant, delay: Duration) -> Span {
        let is_lossy = offset < self.after || offset + self.before >= self.period;
        let is_slow = self.dip < 1.0 && offset + self.dip_time >= self.period;
        Span {
            from,
            is_up: offset >= self.outage,
            rate: if is_slow { self.dip } else { 1.0 },
            delay,
            loss: Some(self.loss).filter(|loss| is_lossy && *loss != Probability::ZERO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::modulation::{modulate, modulate_loss};
    use super::super::{Outage, Phase, Timetable};
    use super::*;
    use crate::{EndpointId, Loss, LossProcess, PacketFlags};
    use lightlag_core::Rate;
    use lightlag_core::varied::QuantityForm;

    const RUN: Duration = Duration::from_secs(900);

    fn seconds(value: f64) -> Duration {
        Duration::from_secs_f64(value)
    }

    fn slots() -> Slots {
        let period = Duration::from_secs(15);
        Slots { period, phase: Duration::from_secs(12), ..Slots::default() }
    }

    fn random() -> RandomStream {
        RandomStream::new(1, "link a->b slots")
    }

    fn link(slots: &Slots) -> Timetable {
        let (rate, delay) = (Rate::from_mbps(100), Duration::from_millis(20));
        let phase = Phase { from: Instant::ZERO, rate, delay, is_up: true, loses: false };
        modulate(&Timetable::new([phase], Outage::Hold, false), &slots.spans(RUN, random()))
    }

    /// Integrates a property of the phases over the run, in seconds.
    fn integral(timetable: &Timetable, property: impl Fn(&Phase) -> f64) -> f64 {
        let ends = timetable.phases().iter().skip(1).map(|phase| phase.from).chain([Instant::ZERO + RUN]);
        timetable
            .phases()
            .iter()
            .zip(ends)
            .map(|(phase, end)| property(phase) * end.since(phase.from).as_secs_f64())
            .sum()
    }

    #[test]
    fn edges_are_at_the_phase_and_every_period_after_it() {
        let outage = Duration::from_millis(100);
        let timetable = link(&Slots { outage, ..slots() });
        let downs: Vec<f64> =
            timetable.phases().iter().filter(|phase| !phase.is_up).map(|phase| phase.from.as_secs_f64()).collect();
        assert_eq!(downs[..4], [12.0, 27.0, 42.0, 57.0]);
        // (900 − 12) / 15 = 59.2: 60 edges.
        assert_eq!(downs.len(), 60);
        // 60 · 0.1 s of 900 s.
        let down = integral(&timetable, |phase| f64::from(u8::from(!phase.is_up)));
        assert!((down - 6.0).abs() < 1e-6, "{down}");
    }

    #[test]
    fn the_mean_rate_follows_from_outage_and_dip() {
        let outage = Duration::from_millis(300);
        let timetable = link(&Slots { outage, dip: 0.8, phase: Duration::ZERO, ..slots() });
        let mean = integral(&timetable, |phase| if phase.is_up { phase.rate.as_bps() as f64 } else { 0.0 }) / 900.0;
        // 100 · (1 − 0.3/15 − 0.2 · 1/15) = 100 · 0.966667 Mbit/s.
        assert!((mean / 96.666_667e6 - 1.0).abs() < 1e-6, "{mean}");
    }

    #[test]
    fn a_slot_keeps_its_delay_and_the_next_one_draws_another() {
        let form = QuantityForm::Uniform { min: Duration::ZERO, max: Duration::from_millis(30) };
        let timetable = link(&Slots { step: Varied::new(form).unwrap(), ..slots() });
        // One phase per slot: 0 s, 12 s, 27 s, … 897 s.
        assert_eq!(timetable.phases().len(), 61);
        let delays = timetable.phases().iter().map(|phase| phase.delay.as_secs_f64() * 1e3);
        let (mut mean, mut last) = (0.0, 0.0);
        for delay in delays {
            assert!((20.0..=50.0).contains(&delay) && delay != last, "{delay}");
            (mean, last) = (mean + delay / 61.0, delay);
        }
        // 20 + 15 ms; the mean of 61 has a standard deviation of 30 / √12 / √61 = 1.11 ms. Four of them.
        assert!((mean - 35.0).abs() < 4.44, "{mean}");
        let again = link(&Slots { step: Varied::new(form_of(30)).unwrap(), ..slots() });
        assert_eq!(again.phases(), timetable.phases(), "the stream determines the delays");
    }

    fn form_of(ms: u64) -> QuantityForm<Duration> {
        QuantityForm::Uniform { min: Duration::ZERO, max: Duration::from_millis(ms) }
    }

    #[test]
    fn packets_near_an_edge_have_its_losses() {
        let loss = Probability::new(0.2).unwrap();
        let slots = Slots { loss, before: seconds(0.5), after: seconds(1.0), ..slots() };
        let link_loss = Loss::Packet(Probability::new(0.01).unwrap());
        let model = modulate_loss(&link_loss, &slots.spans(RUN, random()));
        let mut process = LossProcess::new(&model, RandomStream::new(1, "loss"));
        let (mut near, mut lost) = (0_u32, [0_u32; 2]);
        for packet in 0..900_000_u64 {
            let time = Instant::from_nanos(packet * 1_000_000);
            // Milliseconds since the last edge at 12, 27, … s.
            let since = (packet + 3_000) % 15_000;
            let is_near = !(1_000..14_500).contains(&since);
            near += u32::from(is_near);
            lost[usize::from(is_near)] += u32::from(process.loses(time, 1500, PacketFlags::new(true), EndpointId(1)));
        }
        // 60 edges of 1.5 s, all of them within the run.
        assert_eq!(near, 90_000);
        // Binomial: 90,000 · 0.2 = 18,000 ± 120 and 810,000 · 0.01 = 8,100 ± 90; four of each. In total 2.9 %, as
        // 0.2 · 0.1 + 0.01 · 0.9.
        assert!(lost[1].abs_diff(18_000) < 480 && lost[0].abs_diff(8_100) < 360, "{lost:?}");
    }

    #[test]
    fn settings_that_do_not_fit_are_rejected() {
        let reason = |slots: Slots| Slots::settings().iter().find_map(|setting| (setting.check)(&slots));
        assert_eq!(reason(slots()), None);
        let loss = Probability::HALF;
        for wrong in [
            Slots { period: Duration::from_micros(10), phase: Duration::ZERO, ..slots() },
            Slots { phase: Duration::from_secs(15), ..slots() },
            Slots { outage: Duration::from_secs(15), ..slots() },
            Slots { loss, before: Duration::from_secs(10), after: Duration::from_secs(6), ..slots() },
            Slots { dip: 0.0, ..slots() },
            Slots { dip: 0.5, dip_time: Duration::from_secs(16), ..slots() },
        ] {
            assert!(reason(wrong.clone()).is_some(), "{wrong:?}");
        }
    }
}
