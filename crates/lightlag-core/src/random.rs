//! Random numbers: one independent stream per named part of a run.
//!
//! A stream is derived from the run's seed and a name ("link gateway->server loss"), never from the order in which
//! parts were created. Adding a flow therefore changes no other link's losses.

use crate::{Probability, time::Duration, wide::wrapping_product};

/// One stream of random numbers (PCG XSL RR 128/64, O'Neill 2014).
// Kept small, because ten thousand sensors have one each: half of the bits choose the sequence.
#[derive(Clone, Debug)]
pub struct RandomStream {
    /// The state of the generator, its upper half first.
    state: [u64; 2],
    sequence: u64,
}

/// The multiplier of the generator.
const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

impl RandomStream {
    /// Returns the stream of the part called `name` in the run with this `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        let name = fnv1a(name.as_bytes());
        let state = u128::from(mix(seed ^ mix(name))) << 64 | u128::from(mix(seed.wrapping_add(name)));
        let mut stream = Self { state: [0; 2], sequence: name };
        stream.set(state.wrapping_add(stream.increment()));
        stream.step();
        stream
    }

    #[inline]
    fn increment(&self) -> u128 {
        u128::from(self.sequence) << 1 | 1
    }

    #[inline]
    fn set(&mut self, state: u128) {
        self.state = [(state >> 64) as u64, state as u64];
    }

    /// Advances by one and returns the new state.
    #[inline]
    fn step(&mut self) -> [u64; 2] {
        let state = u128::from(self.state[0]) << 64 | u128::from(self.state[1]);
        self.set(wrapping_product(state, MULTIPLIER).wrapping_add(self.increment()));
        self.state
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [high, low] = self.step();
        (high ^ low).rotate_right((high >> 58) as u32)
    }

    /// Returns a uniform number in [0, 1), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns a number from N(0, 1), from two uniform numbers (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log1p(-self.uniform()));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.uniform())
    }

    /// Returns true with the given probability.
    pub fn chance(&mut self, probability: Probability) -> bool {
        self.bits() < probability.threshold()
    }

    /// Returns an exponentially distributed time with this mean.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        Duration::from_secs_f64(-libm::log1p(-self.uniform()) * mean.as_secs_f64())
    }
}

/// Returns the FNV-1a hash of a text, 64 bits, the same on every machine and in every version.
fn fnv1a(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Mixes a number with the finaliser of SplitMix64 (Steele, Lea, Flood 2014): neighbouring inputs have unrelated
/// outputs.
pub fn mix(input: u64) -> u64 {
    let z = input.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::Rng;
    use rand_pcg::Pcg64;

    #[test]
    fn the_generator_matches_rand_pcg() {
        for name in ["", "link a->b loss", "flow 7 traffic"] {
            let (mut ours, hash) = (RandomStream::new(9, name), fnv1a(name.as_bytes()));
            let state = u128::from(mix(9 ^ mix(hash))) << 64 | u128::from(mix(hash.wrapping_add(9)));
            let mut theirs = Pcg64::new(state, u128::from(hash));
            assert!((0..1000).all(|_| ours.bits() == theirs.next_u64()), "{name}");
        }
    }

    #[test]
    fn the_same_name_and_seed_give_the_same_stream() {
        let mut a = RandomStream::new(7, "link a->b loss");
        let mut b = RandomStream::new(7, "link a->b loss");
        assert!((0..100).all(|_| a.bits() == b.bits()));
    }

    #[test]
    fn another_name_or_seed_gives_another_stream() {
        let first = |seed, name| RandomStream::new(seed, name).bits();
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
    }

    #[test]
    fn a_stream_never_changes_between_versions() {
        // Pinned: every golden hash of the project rests on these bits.
        let mut stream = RandomStream::new(1, "pinned");
        let bits: Vec<u64> = (0..3).map(|_| stream.bits()).collect();
        assert_eq!(bits, PINNED);
    }

    #[test]
    fn probability_and_mean_match_their_parameter() {
        let mut stream = RandomStream::new(3, "chance");
        let n = 1_000_000;
        let p = Probability::new(0.01).unwrap();
        let hits = (0..n).filter(|_| stream.chance(p)).count() as f64;
        // Binomial: sd = sqrt(n p (1 - p)) = 99.5; five of them.
        assert!((hits - 10_000.0).abs() < 498.0, "{hits}");
        let mean: f64 =
            (0..n).map(|_| stream.exponential(Duration::from_secs(2)).as_secs_f64()).sum::<f64>() / n as f64;
        assert!((mean - 2.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn certainty_and_impossibility_are_exact() {
        let mut stream = RandomStream::new(3, "edge");
        let (never, always) = (Probability::new(0.0).unwrap(), Probability::new(1.0).unwrap());
        assert!((0..10_000).all(|_| !stream.chance(never) && stream.chance(always)));
    }

    const PINNED: [u64; 3] = [5_207_140_519_773_020_596, 6_431_418_346_507_708_179, 3_461_365_354_941_058_124];
}
