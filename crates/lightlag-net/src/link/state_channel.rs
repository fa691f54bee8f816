//! A channel with a good and a bad state, which determines delay, rate and losses jointly.
//!
//! The state alternates between good and bad with exponential durations, as in the loss model of Gilbert and Elliott
//! with times (`loss::fading`). In the bad state packets have an additional delay, the rate is lower, and packets are
//! lost with the probability `loss`, instead of the losses of the link. Delay and losses are therefore correlated:
//! retransmissions of a radio link, or an obstacle between the antennas, cause both.
//!
//! With mean durations T_g and T_b, the fraction of time in the bad state is b = T_b / (T_g + T_b). A steady stream
//! has the loss b p + (1 − b) q, where q is the loss of the link in the good state, the mean additional delay b D, and
//! over the packets the covariance b (1 − b) (p − q) D between loss and delay. The channel starts in its stationary
//! distribution.

use super::modulation::Span;
use lightlag_core::params::{self, Described, Parameter, Setting};
use lightlag_core::{Duration, Instant, Probability, RandomStream, Varied};

/// Minimum of the mean durations. Shorter ones are slow to simulate.
const SHORTEST: Duration = Duration::from_micros(100);

/// A state of the channel.
#[derive(Clone, PartialEq, Debug)]
pub struct RadioState {
    /// Mean duration.
    pub mean_time: Duration,
    /// Additional delay, drawn each time the state starts.
    pub delay: Varied<Duration>,
    /// Probability that a packet is lost, instead of the losses of the link; zero leaves those unchanged.
    pub loss: Probability,
    /// Factor of the rate.
    pub rate: f64,
}

impl Default for RadioState {
    fn default() -> Self {
        Self { mean_time: Duration::ZERO, delay: Varied::default(), loss: Probability::ZERO, rate: 1.0 }
    }
}

impl RadioState {
    fn durations() -> Vec<Setting<Self>> {
        let refusal = "0 s is not a valid duration; write the mean duration of the state";
        vec![
            Setting::time_above_zero("mean_time", |state: &mut Self| &mut state.mean_time, refusal)
                .about("Mean duration of the state.")
                .required("specify the mean duration of the state, such as \"200 ms\""),
        ]
    }

    fn settings() -> Vec<Setting<Self>> {
        let mut settings = Self::durations();
        settings.extend([
            Setting::drawn_time("delay", |state: &mut Self| &mut state.delay)
                .about("Additional delay, drawn each time the state starts."),
            Setting::probability("loss", |state: &mut Self| &mut state.loss)
                .about("Probability that a packet is lost, instead of the loss of the link; 0 leaves that unchanged."),
            Setting::number("rate", |state: &mut Self| &mut state.rate, 0, 1.0).about("Factor of the rate."),
        ]);
        settings
    }
}

/// A channel with a good and a bad state.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StateChannel {
    /// Good state, which has no effect.
    pub good: RadioState,
    /// Bad state.
    pub bad: RadioState,
}

const GOOD: &str = "{ mean_time = \"10 s\" }";
const BAD: &str = "{ mean_time = \"200 ms\", delay = \"30 ms\", loss = 0.3 }";

impl Described for StateChannel {
    const ABOUT: &'static str = "A channel that alternates between a good and a bad state with exponential durations. \
                                 The bad state adds delay, loses packets and reduces the rate.";

    fn settings() -> Vec<Setting<Self>> {
        let tables: [fn() -> Vec<Parameter>; 2] = [
            || params::parameters_of(RadioState::durations(), &RadioState::default()),
            || params::parameters_of(RadioState::settings(), &RadioState::default()),
        ];
        let good =
            Setting::table("good", |channel: &mut Self| &mut channel.good, RadioState::durations, tables[0], GOOD)
                .about("Good state: its mean duration.")
                .required("specify the mean duration of the good state, { mean_time = \"10 s\" }")
                .checked(|channel| {
                    (channel.good.mean_time < SHORTEST).then_some("mean_time is below 0.1 ms; use a longer one")
                });
        let bad = Setting::table("bad", |channel: &mut Self| &mut channel.bad, RadioState::settings, tables[1], BAD)
            .about("Bad state: its mean duration, additional delay, loss and factor of the rate.")
            .required("specify the bad state, { mean_time = \"200 ms\", delay = \"30 ms\", loss = 0.3 }")
            .checked(|channel| {
                let RadioState { mean_time, rate, .. } = channel.bad;
                if mean_time < SHORTEST {
                    return Some("mean_time is below 0.1 ms; use a longer one");
                }
                (rate < 0.001).then_some("rate is below 0.001; use loss = 1 instead")
            });
        vec![good, bad]
    }
}

impl StateChannel {
    /// Returns the mean number of states in a run that lasts until `until`.
    pub fn count(&self, until: Duration) -> u64 {
        until.as_nanos() / (self.good.mean_time + self.bad.mean_time).as_nanos() * 2 + 1
    }

    /// Returns the states of a link in a run that lasts until `until`, drawn from `random`.
    pub fn spans(&self, until: Duration, mut random: RandomStream) -> Vec<Span> {
        let [good, bad] = [self.good.mean_time, self.bad.mean_time];
        let share = bad.as_secs_f64() / (good + bad).as_secs_f64();
        let mut is_bad = random.uniform() < share;
        let (mut spans, mut from) = (Vec::new(), Instant::ZERO);
        while from < Instant::ZERO + until {
            spans.push(if is_bad { self.bad_span(from, &mut random) } else { Span::neutral(from) });
            // A state has at least a nanosecond, so that each span starts after the previous one.
            let time = random.exponential(if is_bad { bad } else { good });
            from += time.max(Duration::from_nanos(1));
            is_bad = !is_bad;
        }
        spans
    }

    fn bad_span(&self, from: Instant, random: &mut RandomStream) -> Span {
        let RadioState { delay, loss, rate, .. } = &self.bad;
        let loss = Some(*loss).filter(|loss| *loss != Probability::ZERO);
        Span { delay: delay.draw(random), loss, rate: *rate, ..Span::neutral(from) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::modulation::{modulate, modulate_loss};
    use super::super::{Outage, Phase, Timetable};
    use super::*;
    use crate::{EndpointId, Loss, LossProcess, PacketFlags};
    use lightlag_core::Rate;

    fn channel() -> StateChannel {
        let state = |ms| RadioState { mean_time: Duration::from_millis(ms), ..RadioState::default() };
        let bad = RadioState {
            delay: Varied::constant(Duration::from_millis(30)),
            loss: Probability::new(0.3).unwrap(),
            rate: 0.5,
            ..state(200)
        };
        StateChannel { good: state(800), bad }
    }

    #[test]
    fn delay_and_loss_are_bad_at_the_same_time() {
        let run = Duration::from_secs(10_000);
        let spans = channel().spans(run, RandomStream::new(3, "channel"));
        let (rate, delay) = (Rate::from_mbps(10), Duration::from_millis(50));
        let phase = Phase { from: Instant::ZERO, rate, delay, is_up: true, loses: false };
        let timetable = modulate(&Timetable::new([phase], Outage::Hold, false), &spans);
        let model = modulate_loss(&Loss::Packet(Probability::new(0.01).unwrap()), &spans);
        let mut process = LossProcess::new(&model, RandomStream::new(3, "loss"));
        let (mut phase, phases) = (0, timetable.phases());
        let (mut bad, mut lost, mut lost_late) = (0.0, 0.0, 0.0);
        let packets = 1_000_000_u64;
        for packet in 0..packets {
            let time = Instant::from_nanos(packet * 10_000_000);
            while phases.get(phase + 1).is_some_and(|next| next.from <= time) {
                phase += 1;
            }
            let is_late = phases[phase].delay == delay + Duration::from_millis(30);
            assert_eq!(phases[phase].rate == Rate::from_mbps(5), is_late, "delay and rate have the same state");
            let is_lost = process.loses(time, 1500, PacketFlags::new(true), EndpointId(1));
            bad += f64::from(u8::from(is_late));
            lost += f64::from(u8::from(is_lost));
            lost_late += f64::from(u8::from(is_late && is_lost));
        }
        let n = packets as f64;
        let [bad, lost, lost_late] = [bad / n, lost / n, lost_late / n];
        // b = 200 / 1000. About 10,000 cycles; the fraction of time in one state of an alternating process with
        // exponential durations has the variance 2 T_g² T_b² / ((T_g + T_b)³ run) = 2 · 0.8² · 0.2² / 10⁴ =
        // 5.1e-6, a deviation of 0.0023. Four of them.
        assert!((bad - 0.2).abs() < 0.009, "{bad}");
        // b p + (1 − b) q = 0.2 · 0.3 + 0.8 · 0.01 = 0.068; its deviation is mostly 0.29 · 0.0023.
        assert!((lost - 0.068).abs() < 0.0035, "{lost}");
        // Covariance b (1 − b) (p − q) D = 0.16 · 0.29 · 30 ms = 1.392 ms.
        let covariance = 30.0 * (lost_late - lost * bad);
        assert!((covariance - 1.392).abs() < 0.07, "{covariance}");
    }

    #[test]
    fn the_same_stream_gives_the_same_states() {
        let spans = |seed| channel().spans(Duration::from_secs(100), RandomStream::new(seed, "channel"));
        assert_eq!(spans(1), spans(1));
        assert_ne!(spans(1), spans(2));
        assert!(spans(1).is_sorted_by(|a, b| a.from < b.from) && spans(1)[0].from == Instant::ZERO);
    }

    #[test]
    fn settings_that_do_not_fit_are_rejected() {
        let reason = |channel: &StateChannel| StateChannel::settings().iter().find_map(|of| (of.check)(channel));
        assert_eq!(reason(&channel()), None);
        let mut stuck = channel();
        stuck.bad.rate = 0.0;
        assert!(reason(&stuck).is_some());
        let mut short = channel();
        short.good.mean_time = Duration::from_micros(1);
        assert!(reason(&short).is_some());
    }
}
