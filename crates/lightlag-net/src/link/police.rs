//! A policer, which drops packets above a rate instead of queueing them.
//!
//! A token bucket as in Linux's `tc police` (`net/sched/act_police.c`, described in our own words): the bucket holds
//! `burst` bytes and is full at first, tokens arrive at `rate`, and a packet takes as many tokens as its frame has
//! bytes. A packet that finds too few is dropped and takes none. In an interval t, at most
//!
//! burst + rate · t / 8
//!
//! bytes pass. Packets wait nowhere, so a policer adds no delay and the sender notices the limit only by losses.
//!
//! Deviations: each packet of a burst (GSO) is policed on its own; Linux polices the buffer before it is cut. There are
//! neither a peak rate nor an MTU nor an average rate.

use lightlag_core::{Bytes, Instant, Rate};

/// Bits in a byte times nanoseconds in a second: a credit of one byte.
const BYTE: u128 = 8 * 1_000_000_000;

/// Rate and bucket of a policer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policer {
    /// Arrival rate of tokens.
    pub rate: Rate,
    /// Size of the bucket.
    pub burst: Bytes,
}

/// A token bucket, in units of a bit times a nanosecond, so that no rounding accumulates.
#[derive(Clone, Debug)]
pub(super) struct TokenBucket {
    policer: Policer,
    credit: u128,
    /// Time of the last packet.
    filled: Instant,
}

impl TokenBucket {
    /// Returns a full bucket.
    pub(super) fn new(policer: Policer) -> Self {
        Self { policer, credit: u128::from(policer.burst.0) * BYTE, filled: Instant::ZERO }
    }

    /// Returns true if a frame of `size` bytes conforms, which takes its tokens.
    pub(super) fn conforms(&mut self, now: Instant, size: u64) -> bool {
        let elapsed = u128::from(now.since(self.filled).as_nanos());
        let full = u128::from(self.policer.burst.0) * BYTE;
        self.filled = now;
        self.credit = (self.credit + elapsed * u128::from(self.policer.rate.as_bps())).min(full);
        let cost = u128::from(size) * BYTE;
        let conforms = cost <= self.credit;
        if conforms {
            self.credit -= cost;
        }
        conforms
    }
}

/// Conditions of a link for packets before they reach its queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    /// Maximum size of a packet without the header of the link.
    pub(super) mtu: Option<Bytes>,
    pub(super) bucket: Option<TokenBucket>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_core::Duration;
    use proptest::prelude::*;

    fn bucket(mbps: u64, burst: u64) -> TokenBucket {
        TokenBucket::new(Policer { rate: Rate::from_mbps(mbps), burst: Bytes(burst) })
    }

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    #[test]
    fn a_full_bucket_passes_its_burst_and_then_the_rate() {
        // 8 Mbit/s are 1 byte each microsecond; 3000 B hold two packets of 1500 B.
        let mut bucket = bucket(8, 3000);
        assert!(bucket.conforms(us(0), 1500) && bucket.conforms(us(0), 1500) && !bucket.conforms(us(0), 1500));
        // A dropped packet takes no tokens: 1500 are there after 1500 us, not one earlier.
        assert!(!bucket.conforms(us(1499), 1500));
        assert!(bucket.conforms(us(1500), 1500));
        // After a second of rest the bucket is full, not fuller.
        let later = us(1_001_500);
        assert!(bucket.conforms(later, 1500) && bucket.conforms(later, 1500) && !bucket.conforms(later, 1));
    }

    #[test]
    fn fractions_of_a_byte_are_kept() {
        // 3 bit/s for 800 s are 300 B; with the full bucket of 2 B, 302 packets of 1 B pass. The bucket never overflows,
        // because a packet is offered each second, and a second brings 3/8 B.
        let mut bucket = TokenBucket::new(Policer { rate: Rate::from_bps(3).unwrap(), burst: Bytes(2) });
        let passed = (0..=800).filter(|second| bucket.conforms(us(second * 1_000_000), 1)).count();
        assert_eq!(passed, 302);
    }

    proptest! {
        #[test]
        fn no_interval_passes_more_than_burst_and_rate(
            offers in prop::collection::vec((0_u64..3_000, 40_u64..1_514), 1..300),
            burst in 1_514_u64..20_000,
        ) {
            let mut bucket = bucket(8, burst);
            let (mut now, mut passed) = (0, Vec::new());
            for (gap, size) in offers {
                now += gap;
                if bucket.conforms(us(now), size) {
                    passed.push((now, size));
                }
            }
            // 8 Mbit/s are 1 byte each microsecond.
            for first in 0..passed.len() {
                let mut bytes = 0;
                for (at, size) in &passed[first..] {
                    bytes += size;
                    prop_assert!(bytes <= burst + at - passed[first].0);
                }
            }
        }
    }
}
