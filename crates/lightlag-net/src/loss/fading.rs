//! Fading: a channel that alternates between a good and a bad state, each with exponentially distributed durations.

use super::{Dwell, GilbertElliott, Law, Loss};
use lightlag_core::params::{self, Described, Parameter, Setting};
use lightlag_core::{Duration, Probability};

/// One state of a channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ChannelState {
    /// Mean time that the channel stays in this state.
    pub mean_time: Duration,
    /// Probability that a packet is lost in this state.
    pub loss: Probability,
}

impl ChannelState {
    fn losing(loss: f64) -> Self {
        Self { mean_time: Duration::ZERO, loss: Probability::new(loss).unwrap_or(Probability::ZERO) }
    }

    fn settings() -> Vec<Setting<Self>> {
        let refusal = "0 s is not a valid duration; write the mean duration of the state";
        vec![
            Setting::time_above_zero("mean_time", |state: &mut Self| &mut state.mean_time, refusal)
                .about("Mean duration of the state.")
                .required("specify the mean duration of the state, such as \"200 ms\""),
            Setting::probability("loss", |state: &mut Self| &mut state.loss)
                .about("Probability that a packet is lost in this state."),
        ]
    }
}

/// A channel that alternates between a good and a bad state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fading {
    /// Good state.
    pub good: ChannelState,
    /// Bad state.
    pub bad: ChannelState,
}

impl Default for Fading {
    /// No packet is lost in the good state, and every packet is lost in the bad state.
    fn default() -> Self {
        Self { good: ChannelState::losing(0.0), bad: ChannelState::losing(1.0) }
    }
}

const EXAMPLE: &str = "{ mean_time = \"200 ms\", loss = 0.5 }";

impl Described for Fading {
    const ABOUT: &'static str = "a channel that alternates between a good and a bad state (Gilbert-Elliott), with \
                                 exponential durations of the given means";

    fn settings() -> Vec<Setting<Self>> {
        let remedy = "specify its mean duration and its loss probability: { mean_time = \"200 ms\", loss = 0.5 }";
        let states: [fn() -> Vec<Parameter>; 2] = [
            || params::parameters_of(ChannelState::settings(), &Fading::default().good),
            || params::parameters_of(ChannelState::settings(), &Fading::default().bad),
        ];
        let good = Setting::table("good", |law: &mut Self| &mut law.good, ChannelState::settings, states[0], EXAMPLE)
            .about("Good state: its mean duration and its loss probability.");
        let bad = Setting::table("bad", |law: &mut Self| &mut law.bad, ChannelState::settings, states[1], EXAMPLE)
            .about("Bad state: its mean duration and its loss probability.");
        vec![good.required(remedy), bad.required(remedy)]
    }
}

impl Law for Fading {
    fn loss(&self) -> Loss {
        Loss::Bursts(GilbertElliott {
            dwell: Dwell::Time { good: self.good.mean_time, bad: self.bad.mean_time },
            good_loss: self.good.loss,
            bad_loss: self.bad.loss,
        })
    }
}
