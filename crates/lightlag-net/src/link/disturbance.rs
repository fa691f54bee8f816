//! Disturbances of the order of packets on a link: some are held back, some arrive twice.
//!
//! The laws of the network emulator of Linux (Hemminger, *Network Emulation with NetEm*, linux.conf.au 2005): each
//! packet by itself, with a constant probability.

use lightlag_core::{Duration, Probability, RandomStream};

/// Some packets are held back while later ones pass.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reordering {
    /// Probability that a packet is held back.
    pub probability: Probability,
    /// The least extra delay.
    pub least: Duration,
    /// The largest extra delay; between the two it is uniform.
    pub most: Duration,
}

/// Reordering and duplication at work on one link direction, each with a random stream of its own.
#[derive(Clone, Debug)]
pub struct Disturbance {
    reordering: Option<(Reordering, RandomStream)>,
    duplication: Option<(Probability, RandomStream)>,
}

impl Disturbance {
    /// Nothing is disturbed.
    pub fn none() -> Self {
        Self { reordering: None, duplication: None }
    }

    /// Holds packets back.
    #[must_use]
    pub fn reordering(mut self, reordering: Reordering, random: RandomStream) -> Self {
        self.reordering = Some((reordering, random));
        self
    }

    /// Doubles packets with this probability.
    #[must_use]
    pub fn duplicating(mut self, probability: Probability, random: RandomStream) -> Self {
        self.duplication = Some((probability, random));
        self
    }

    /// Whether some packets are held back.
    pub(super) fn reorders(&self) -> bool {
        self.reordering.is_some()
    }

    /// Whether some packets arrive twice.
    pub(super) fn has_duplicates(&self) -> bool {
        self.duplication.is_some()
    }

    /// By how much the next packet is held back, if it is.
    pub(super) fn held_back(&mut self) -> Option<Duration> {
        let (reordering, random) = self.reordering.as_mut()?;
        random.chance(reordering.probability).then(|| {
            let spread = reordering.most.saturating_sub(reordering.least).as_nanos();
            // Below 2^64 · 2^64, so the product shifted back is uniform on 0..=spread.
            let extra = (u128::from(random.bits()) * (u128::from(spread) + 1)) >> 64;
            reordering.least + Duration::from_nanos(extra as u64)
        })
    }

    /// Whether the next packet arrives twice.
    pub(super) fn duplicates(&mut self) -> bool {
        self.duplication.as_mut().is_some_and(|(probability, random)| random.chance(*probability))
    }
}
