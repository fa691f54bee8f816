//! Fading: a channel that is good and bad in turn, for exponential times.

use super::{Dwell, GilbertElliott, Law, Loss};
use lightlag_core::params::{self, Described, Parameter, Setting};
use lightlag_core::{Duration, Probability};

/// One state of a channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ChannelState {
    /// Its mean duration.
    pub mean_time: Duration,
    /// Probability that a packet is lost meanwhile.
    pub loss: Probability,
}

impl ChannelState {
    fn losing(loss: f64) -> Self {
        Self { mean_time: Duration::ZERO, loss: Probability::new(loss).unwrap_or(Probability::ZERO) }
    }

    fn settings() -> Vec<Setting<Self>> {
        let refusal = "0 s is no time; write how long the state lasts on average";
        vec![
            Setting::time_above_zero("mean_time", |state: &mut Self| &mut state.mean_time, refusal)
                .about("Its mean duration.")
                .required("say how long it lasts on average, such as \"200 ms\""),
            Setting::probability("loss", |state: &mut Self| &mut state.loss)
                .about("Probability that a packet is lost meanwhile."),
        ]
    }
}

/// A channel that is good and bad in turn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fading {
    /// Most of the time.
    pub good: ChannelState,
    /// Some of the time.
    pub bad: ChannelState,
}

impl Default for Fading {
    /// Nothing is lost in the good state, and everything in the bad one.
    fn default() -> Self {
        Self { good: ChannelState::losing(0.0), bad: ChannelState::losing(1.0) }
    }
}

const EXAMPLE: &str = "{ mean_time = \"200 ms\", loss = 0.5 }";

impl Described for Fading {
    const ABOUT: &'static str =
        "a channel that is good and bad in turn (Gilbert-Elliott), each for exponential times with this mean";

    fn settings() -> Vec<Setting<Self>> {
        let remedy = "say how long it lasts and what it loses: { mean_time = \"200 ms\", loss = 0.5 }";
        let states: [fn() -> Vec<Parameter>; 2] = [
            || params::parameters_of(ChannelState::settings(), &Fading::default().good),
            || params::parameters_of(ChannelState::settings(), &Fading::default().bad),
        ];
        let good = Setting::table("good", |law: &mut Self| &mut law.good, ChannelState::settings, states[0], EXAMPLE)
            .about("The good state: its mean duration, and its losses.");
        let bad = Setting::table("bad", |law: &mut Self| &mut law.bad, ChannelState::settings, states[1], EXAMPLE)
            .about("The bad state: its mean duration, and its losses.");
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
