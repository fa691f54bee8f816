//! Disturbances on a link: packets that are delayed, so that others overtake them, and duplicates.
//!
//! The models of Linux's network emulator (Hemminger, *Network Emulation with NetEm*, linux.conf.au 2005): each packet
//! is affected independently, with a constant probability.

use lightlag_core::{Duration, Probability, RandomStream};

/// Random delays of some packets, so that later packets overtake them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reordering {
    /// Probability that a packet is delayed.
    pub probability: Probability,
    /// Minimum additional delay.
    pub least: Duration,
    /// Maximum additional delay. The delay is distributed uniformly between minimum and maximum.
    pub most: Duration,
}

/// State of reordering and duplication on one link direction, each with its own random stream.
#[derive(Clone, Debug)]
pub struct Disturbance {
    reordering: Option<(Reordering, RandomStream)>,
    duplication: Option<(Probability, RandomStream)>,
}

impl Disturbance {
    /// Returns the state of a link without disturbances.
    pub fn none() -> Self {
        Self { reordering: None, duplication: None }
    }

    /// Delays some packets, so that later ones overtake them.
    #[must_use]
    pub fn reordering(mut self, reordering: Reordering, random: RandomStream) -> Self {
        self.reordering = Some((reordering, random));
        self
    }

    /// Duplicates packets with this probability.
    #[must_use]
    pub fn duplicating(mut self, probability: Probability, random: RandomStream) -> Self {
        self.duplication = Some((probability, random));
        self
    }

    /// Returns true if some packets are delayed.
    pub(super) fn reorders(&self) -> bool {
        self.reordering.is_some()
    }

    /// Returns true if some packets arrive twice.
    pub(super) fn has_duplicates(&self) -> bool {
        self.duplication.is_some()
    }

    /// Returns the additional delay of the next packet, if it is delayed.
    pub(super) fn held_back(&mut self) -> Option<Duration> {
        let (reordering, random) = self.reordering.as_mut()?;
        random.chance(reordering.probability).then(|| {
            let spread = reordering.most.saturating_sub(reordering.least).as_nanos();
            // Below 2^64 · 2^64, so the product shifted back is uniform on 0..=spread.
            let extra = (u128::from(random.bits()) * (u128::from(spread) + 1)) >> 64;
            reordering.least + Duration::from_nanos(extra as u64)
        })
    }

    /// Returns true if the next packet arrives twice.
    pub(super) fn duplicates(&mut self) -> bool {
        self.duplication.as_mut().is_some_and(|(probability, random)| random.chance(*probability))
    }
}
