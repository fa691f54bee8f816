//! Bursts that arrive without slots, and which of them survive.
//!
//! Two bursts interfere if they overlap on the same channel. Each of the two survives the other if its power
//! exceeds the power of the other by a threshold; powers of several interferers are not added (the pairwise model of LoRaSim, Bor et
//! al., MSWiM 2016).

use lightlag_core::Instant;

/// A burst that is being received.
#[derive(Clone, Copy, Debug)]
struct Reception {
    number: u64,
    end: Instant,
    power: f64,
    spreading_factor: u32,
    survives: bool,
}

/// The bursts that are being received on each channel.
#[derive(Clone, Debug)]
pub(super) struct Receptions {
    channels: Vec<Vec<Reception>>,
    next: u64,
    /// Ratios of powers for survival: with the same spreading factor (`None` for no survival), and with another one.
    capture: Option<f64>,
    cross: f64,
}

impl Receptions {
    pub(super) fn new(channels: u32, capture: Option<f64>, cross: f64) -> Self {
        Self { channels: vec![Vec::new(); channels as usize], next: 0, capture, cross }
    }

    /// Adds a burst that is received from `now` to `end`. Returns its number.
    pub(super) fn add(&mut self, now: Instant, end: Instant, channel: u32, power: f64, spreading_factor: u32) -> u64 {
        let (capture, cross) = (self.capture, self.cross);
        let mut own = Reception { number: self.next, end, power, spreading_factor, survives: true };
        self.next += 1;
        let survives = |one: &Reception, other: &Reception| {
            if one.spreading_factor == other.spreading_factor {
                capture.is_some_and(|ratio| one.power >= other.power * ratio)
            } else {
                other.power < one.power * cross
            }
        };
        for other in self.channels[channel as usize].iter_mut().filter(|other| other.end > now) {
            own.survives &= survives(&own, other);
            other.survives &= survives(other, &own);
        }
        self.channels[channel as usize].push(own);
        own.number
    }

    /// Removes a burst that has ended. Returns true if it survived.
    pub(super) fn remove(&mut self, channel: u32, number: u64) -> bool {
        let list = &mut self.channels[channel as usize];
        let at = list.iter().position(|of| of.number == number).expect("a burst ends once");
        list.swap_remove(at).survives
    }
}
