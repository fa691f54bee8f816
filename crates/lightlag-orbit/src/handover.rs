//! The effects of handovers on packets.

use lightlag_core::{Duration, Probability, settings, words};

words! {
    /// Treatment of packets that wait for a station at a satellite which no longer serves it.
    pub enum WaitingPackets {
        /// The satellite sends them over the new path.
        Requeue = "requeue",
        /// The satellite still sends them to the station, as in Hypatia.
        Keep = "keep",
        /// The satellite drops them.
        Drop = "drop",
    }
}

settings! {
    /// The effects of a handover between a station and a satellite.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Handover {
        about "Effects of a handover of a ground station from one satellite to another.";

        /// Treatment of packets that wait for the station at the old satellite.
        waiting: WaitingPackets = WaitingPackets::default() => choice("a treatment of waiting packets");
        /// Whether packets in flight between the station and the old satellite are lost.
        lose_in_flight: bool = false => flag();
        /// Duration after the handover in which no packets are sent to or from the station.
        pause: Duration = Duration::ZERO => time_or_zero();
        /// Duration after the handover in which all packets to or from the station are lost.
        burst: Duration = Duration::ZERO => time_or_zero();
        /// Probability that a handover has these effects.
        probability: Probability = Probability::ONE => probability();
    }
}

impl Handover {
    /// Returns true if the effects of a handover depend on a random number.
    pub fn draws(&self) -> bool {
        let has_effects = self.lose_in_flight || !self.pause.is_zero() || !self.burst.is_zero();
        has_effects && self.probability != Probability::ZERO && self.probability != Probability::ONE
    }
}
