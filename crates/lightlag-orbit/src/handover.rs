//! The effects of a handover on packets.

use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Probability};

/// The fate of packets that wait for a station at a satellite that does not serve it any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Waiting {
    /// They go the new way from there.
    #[default]
    Requeue,
    /// They are sent to the station all the same, as in Hypatia.
    Keep,
    /// They are dropped.
    Drop,
}

/// Effects of a handover between a station and a satellite.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Handover {
    /// The fate of packets that wait for the station at the old satellite.
    pub waiting: Waiting,
    /// Whether what is between the station and the old satellite is lost.
    pub loses_flight: bool,
    /// The time for which nothing leaves for the station or from it.
    pub pause: Duration,
    /// The time for which everything is lost that is sent to the station or from it.
    pub burst: Duration,
    /// Probability that a handover has the pause, the burst and the losses.
    pub probability: Probability,
}

impl Default for Handover {
    fn default() -> Self {
        Self {
            waiting: Waiting::default(),
            loses_flight: false,
            pause: Duration::ZERO,
            burst: Duration::ZERO,
            probability: Probability::ONE,
        }
    }
}

impl Handover {
    /// Whether chance decides which handovers have effects.
    pub fn draws(&self) -> bool {
        let has_effects = self.loses_flight || !self.pause.is_zero() || !self.burst.is_zero();
        has_effects && self.probability != Probability::ZERO && self.probability != Probability::ONE
    }
}

const FATES: [Waiting; 3] = [Waiting::Requeue, Waiting::Keep, Waiting::Drop];

impl Described for Handover {
    const ABOUT: &'static str = "Effects of a handover of a ground station from one satellite to another.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::word(
                "waiting",
                "a fate of waiting packets",
                &["requeue", "keep", "drop"],
                |c: &Self| FATES.iter().position(|fate| *fate == c.waiting).unwrap_or_default(),
                |c, word| c.waiting = FATES[word],
            )
            .about("The fate of packets that wait for the station at the old satellite."),
            Setting::flag("lose_in_flight", |c: &mut Self| &mut c.loses_flight)
                .about("Whether what is between the station and the old satellite is lost."),
            Setting::time_or_zero("pause", |c: &mut Self| &mut c.pause)
                .about("The time for which nothing leaves for the station or from it."),
            Setting::time_or_zero("burst", |c: &mut Self| &mut c.burst)
                .about("The time for which everything is lost that is sent to the station or from it."),
            Setting::probability("probability", |c: &mut Self| &mut c.probability)
                .about("Probability that a handover has the pause, the burst and the losses."),
        ]
    }
}
