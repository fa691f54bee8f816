//! Packet numbers in headers: the low bytes of a number that the receiver completes (RFC 9000 §17.1, A.2, A.3).

/// Returns the number of bytes, 1 to 4, that represent `number` when `largest_acked` is the largest acknowledged number
/// of its space. Without an acknowledgement the bytes hold the full number.
#[inline]
pub fn encoded_len(number: u64, largest_acked: Option<u64>) -> u8 {
    // Twice the number of unacknowledged packets must be representable.
    let unacknowledged = largest_acked.map_or(number + 1, |acked| number - acked);
    match unacknowledged {
        0..=0x80 => 1,
        0x81..=0x8000 => 2,
        0x8001..=0x80_0000 => 3,
        _ => 4,
    }
}

/// Returns the number whose low `len` bytes are `truncated` and that is nearest to the one expected next: one more than
/// `largest_received`, or 0.
pub fn expand(truncated: u64, len: u8, largest_received: Option<u64>) -> u64 {
    let expected = largest_received.map_or(0, |largest| largest + 1);
    let window = 1u64 << (8 * u32::from(len));
    let half = window / 2;
    let candidate = expected & !(window - 1) | truncated;
    if candidate + half <= expected {
        candidate + window
    } else if candidate > expected + half && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_rfc_9000_a_2_and_a_3() {
        assert_eq!(encoded_len(0xac_5c02, Some(0xab_e8b3)), 2);
        assert_eq!(encoded_len(0xac_e8fe, Some(0xab_e8b3)), 3);
        assert_eq!(expand(0x9b32, 2, Some(0xa82f_30ea)), 0xa82f_9b32);
    }

    proptest! {
        #[test]
        fn a_receiver_that_lacks_unacknowledged_packets_completes_the_number(
            acked in 0..1u64 << 40, ahead in 1..1u64 << 31, seen in 0.0..1.0f64,
        ) {
            // The receiver has acknowledged `acked`, so it has received that or a later number.
            let number = acked + ahead;
            let received = acked + (ahead as f64 * seen) as u64;
            let len = encoded_len(number, Some(acked));
            let mask = (1u64 << (8 * u32::from(len))) - 1;
            prop_assert_eq!(expand(number & mask, len, Some(received.min(number - 1))), number);
        }
    }
}
