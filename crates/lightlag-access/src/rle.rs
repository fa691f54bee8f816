//! Return link encapsulation (RLE): how packets are fragmented and packed into bursts.
//!
//! Headers follow ETSI TS 103 179 with a compressed protocol type of one byte, and a sequence number of one byte that
//! protects packets which are fragmented:
//!
//! | fragment | header | protocol type | trailer | total |
//! |---|---:|---:|---:|---:|
//! | complete packet | 2 B | 1 B | | 3 B |
//! | start | 4 B | 1 B | | 5 B |
//! | continuation | 2 B | | | 2 B |
//! | end | 2 B | | 1 B | 3 B |

/// Overhead of a packet that fits completely into a burst, in bytes.
pub const COMPLETE: u32 = 3;
/// Overhead of the first fragment of a packet, in bytes.
pub const START: u32 = 5;
/// Overhead of a fragment in the middle of a packet, in bytes.
pub const CONTINUATION: u32 = 2;
/// Overhead of the last fragment of a packet, in bytes.
pub const END: u32 = 3;
/// Smallest payload of a burst that makes progress with every packet, in bytes.
pub const MIN_PAYLOAD: u32 = START + 1;

/// A fragment of a packet in a burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fragment {
    /// Bytes of the burst that the fragment takes, with its overhead.
    pub taken: u32,
    /// Bytes of the packet that remain.
    pub left: u32,
}

/// Returns the next fragment of a packet with `left` bytes remaining for a burst with `room` bytes; `None` if nothing
/// fits. `started`: earlier bursts carry the beginning of the packet.
pub fn pack(room: u32, left: u32, started: bool) -> Option<Fragment> {
    let (last, other) = if started { (END, CONTINUATION) } else { (COMPLETE, START) };
    if left + last <= room {
        return Some(Fragment { taken: left + last, left: 0 });
    }
    // At least one byte remains for the last fragment.
    let bytes = room.checked_sub(other)?.min(left.saturating_sub(1));
    (bytes > 0).then_some(Fragment { taken: bytes + other, left: left - bytes })
}

/// Returns the overhead of a packet of this size in bytes, if it starts at the start of a burst.
pub fn overhead(size: u32, payload: u32) -> u32 {
    if size + COMPLETE <= payload {
        return COMPLETE;
    }
    let middle = (size + START + END).saturating_sub(2 * payload).div_ceil((payload - CONTINUATION).max(1));
    START + END + middle * CONTINUATION
}

/// Number of bursts that the waiting packets of a station need. It is exact as long as each burst takes everything that
/// fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BurstPlan {
    /// Number of bursts that are not sent yet.
    pub bursts: u64,
    /// Free bytes of the last of them.
    room: u32,
}

impl BurstPlan {
    /// Adds a packet with `left` remaining bytes. `payload` is the payload of a burst, at least [`MIN_PAYLOAD`].
    pub fn add(&mut self, mut left: u32, mut started: bool, payload: u32) {
        if self.bursts == 0 {
            self.room = 0;
        }
        loop {
            if let Some(fragment) = pack(self.room, left, started) {
                (self.room, left, started) = (self.room - fragment.taken, fragment.left, true);
                if left == 0 {
                    return;
                }
            }
            self.bursts += 1;
            self.room = payload;
        }
    }

    /// Removes a burst that was sent.
    pub fn sent(&mut self) {
        self.bursts = self.bursts.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of bursts for packets that wait together.
    fn bursts(sizes: &[u32], payload: u32) -> u64 {
        let mut plan = BurstPlan::default();
        sizes.iter().for_each(|size| plan.add(*size, false, payload));
        plan.bursts
    }

    #[test]
    fn a_packet_that_fits_has_three_bytes_of_overhead() {
        assert_eq!(pack(103, 100, false), Some(Fragment { taken: 103, left: 0 }));
        assert_eq!(pack(102, 100, false), Some(Fragment { taken: 102, left: 3 }));
    }

    #[test]
    fn a_full_packet_takes_nine_bursts_of_188_bytes() {
        // 188 − 5 = 183 B in the first, 7 · (188 − 2) = 1,302 B in the next, 1,500 − 1,485 = 15 B in the last.
        assert_eq!(bursts(&[1500], 188), 9);
        assert_eq!(overhead(1500, 188), 5 + 7 * 2 + 3);
        // The last burst has 188 − 18 = 170 B left.
        assert_eq!(bursts(&[1500, 167], 188), 9);
        assert_eq!(bursts(&[1500, 168], 188), 10);
    }

    #[test]
    fn every_byte_is_carried_for_every_payload() {
        for payload in MIN_PAYLOAD..40 {
            for size in 1..200 {
                let (mut left, mut started, mut sent) = (size, false, 0);
                while left > 0 {
                    let fragment = pack(payload, left, started).expect("an empty burst makes progress");
                    assert!(fragment.taken <= payload && fragment.left < left);
                    (left, started, sent) = (fragment.left, true, sent + 1);
                }
                assert_eq!(bursts(&[size], payload), sent);
            }
        }
    }
}
