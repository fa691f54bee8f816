//! Random access to the slots of a frame, and the cancellation of interference.
//!
//! In contention resolution diversity slotted ALOHA (CRDSA), a station sends replicas of its burst in several slots of a
//! frame. A burst that is decoded reveals where its replicas are, so the receiver subtracts them, and other bursts in
//! those slots may become decodable (Casini, De Gaudenzio and Herrero, IEEE Trans. Wireless Commun. 6(4), 2007; with
//! more replicas Liva, IEEE Trans. Commun. 59(2), 2011).

use lightlag_core::{RandomStream, words};

words! {
    /// Choice among the slots of a frame.
    pub enum Scheme {
        /// Two replicas, with cancellation of interference.
        Crdsa2 = "crdsa-2",
        /// Three replicas, with cancellation of interference.
        Crdsa3 = "crdsa-3",
        /// One slot, without cancellation of interference.
        SlottedAloha = "slotted-aloha",
    }
}

impl Scheme {
    /// Returns the number of transmissions of a burst in a frame.
    pub const fn replicas(self) -> usize {
        match self {
            Self::SlottedAloha => 1,
            Self::Crdsa2 => 2,
            Self::Crdsa3 => 3,
        }
    }

    /// Returns the number of iterations of the receiver: one without replicas, because nothing can be cancelled.
    pub const fn iterations(self, configured: u32) -> u32 {
        match self {
            Self::SlottedAloha => 1,
            Self::Crdsa2 | Self::Crdsa3 => configured,
        }
    }
}

/// Maximum number of replicas.
const REPLICAS: usize = 3;

/// A burst in a frame of random access.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Contender {
    slots: [u32; REPLICAS],
    replicas: usize,
    /// Received power, relative to the mean.
    pub power: f64,
}

impl Contender {
    /// Draws the slots of a burst. Slots that are a multiple of `row` apart are at the same time on different carriers,
    /// so replicas differ in the remainder.
    pub fn draw(scheme: Scheme, slots: u32, row: u32, power: f64, random: &mut RandomStream) -> Self {
        let mut burst = Self { slots: [0; REPLICAS], replicas: scheme.replicas(), power };
        for replica in 0..burst.replicas {
            burst.slots[replica] = loop {
                let slot = ((random.uniform() * f64::from(slots)) as u32).min(slots - 1);
                if burst.slots[..replica].iter().all(|other| other % row != slot % row) {
                    break slot;
                }
            };
        }
        burst
    }

    /// Returns the slots.
    pub fn slots(&self) -> &[u32] {
        &self.slots[..self.replicas]
    }
}

/// Returns a received power relative to the mean, drawn with this standard deviation in dB.
pub(crate) fn draw_power(spread: f64, random: &mut RandomStream) -> f64 {
    if spread == 0.0 { 1.0 } else { ratio(spread * random.normal()) }
}

/// Converts decibels to a ratio of powers.
pub(crate) fn ratio(decibels: f64) -> f64 {
    libm::exp(decibels * (std::f64::consts::LN_10 / 10.0))
}

/// The receiver of the bursts of a frame. Its memory is reused from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    /// Bursts in each slot that are not cancelled, and the slots that have any.
    slots: Vec<Vec<u32>>,
    occupied: Vec<u32>,
    iterations: Vec<u32>,
    found: Vec<u32>,
}

impl Decoder {
    /// Decodes the bursts of a frame of `slots` slots. Returns for each burst the iteration in which it was decoded,
    /// starting at 1, or 0 if it was lost.
    ///
    /// A burst is decoded in a slot that it has to itself or, with `capture`, in which its power is at least this ratio
    /// of the sum of all others that are not cancelled. Each iteration examines all slots and then cancels what it
    /// decoded.
    pub fn decode(&mut self, slots: u32, bursts: &[Contender], iterations: u32, capture: Option<f64>) -> &[u32] {
        if self.slots.len() < slots as usize {
            self.slots.resize_with(slots as usize, Vec::new);
        }
        self.iterations.clear();
        self.iterations.resize(bursts.len(), 0);
        for (number, burst) in (0..).zip(bursts) {
            for slot in burst.slots() {
                let list = &mut self.slots[*slot as usize];
                if list.is_empty() {
                    self.occupied.push(*slot);
                }
                list.push(number);
            }
        }
        for iteration in 1..=iterations {
            for slot in &self.occupied {
                if let Some(burst) = decodable(&self.slots[*slot as usize], bursts, capture)
                    && self.iterations[burst as usize] == 0
                {
                    self.iterations[burst as usize] = iteration;
                    self.found.push(burst);
                }
            }
            if self.found.is_empty() {
                break;
            }
            for burst in self.found.drain(..) {
                for slot in bursts[burst as usize].slots() {
                    self.slots[*slot as usize].retain(|other| *other != burst);
                }
            }
        }
        self.occupied.drain(..).for_each(|slot| self.slots[slot as usize].clear());
        &self.iterations
    }
}

/// Returns the burst of a slot that can be decoded.
fn decodable(slot: &[u32], bursts: &[Contender], capture: Option<f64>) -> Option<u32> {
    let (first, others) = slot.split_first()?;
    if others.is_empty() {
        return Some(*first);
    }
    let ratio = capture?;
    let power = |burst: &u32| bursts[*burst as usize].power;
    let strongest = slot.iter().copied().max_by(|a, b| power(a).total_cmp(&power(b)))?;
    let sum: f64 = slot.iter().map(power).sum();
    let own = power(&strongest);
    (own >= ratio * (sum - own)).then_some(strongest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn burst(slots: &[u32], power: f64) -> Contender {
        let mut burst = Contender { slots: [0; REPLICAS], replicas: slots.len(), power };
        burst.slots[..slots.len()].copy_from_slice(slots);
        burst
    }

    #[test]
    fn cancelled_replicas_free_other_bursts() {
        // The third burst is alone in slot 3; without it the second is alone in slot 2, and then the first in slot 0.
        let bursts = [burst(&[0, 1], 1.0), burst(&[0, 2], 1.0), burst(&[2, 3], 1.0), burst(&[1, 4], 1.0)];
        let mut decoder = Decoder::default();
        assert_eq!(decoder.decode(5, &bursts, 10, None), [2, 2, 1, 1]);
        assert_eq!(decoder.decode(5, &bursts, 1, None), [0, 0, 1, 1]);
    }

    #[test]
    fn a_loop_of_two_bursts_is_lost() {
        let bursts = [burst(&[0, 1], 1.0), burst(&[0, 1], 1.0)];
        let mut decoder = Decoder::default();
        assert_eq!(decoder.decode(2, &bursts, 10, None), [0, 0]);
        // With power, the stronger one is captured, and the weaker one is then alone.
        let bursts = [burst(&[0, 1], 4.0), burst(&[0, 1], 1.0)];
        assert_eq!(decoder.decode(2, &bursts, 10, Some(2.0)), [1, 2]);
        assert_eq!(decoder.decode(2, &bursts, 10, Some(5.0)), [0, 0]);
    }

    #[test]
    fn replicas_are_at_different_times() {
        let mut random = RandomStream::new(1, "test");
        for _ in 0..1000 {
            let burst = Contender::draw(Scheme::Crdsa3, 20, 5, 1.0, &mut random);
            let mut times: Vec<u32> = burst.slots().iter().map(|slot| slot % 5).collect();
            times.sort_unstable();
            times.dedup();
            assert_eq!(times.len(), 3);
        }
    }
}
