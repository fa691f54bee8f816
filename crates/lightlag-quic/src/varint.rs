//! Variable-length integers (RFC 9000 §16): the two top bits give the length, 1, 2, 4 or 8 bytes.

/// Largest value of a variable-length integer, 2⁶² − 1.
pub const MAX: u64 = (1 << 62) - 1;

/// Returns the number of bytes of the shortest form of `value`.
#[inline(always)]
pub const fn size(value: u64) -> u64 {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

/// Appends the shortest form of `value`.
///
/// # Panics
/// If `value` exceeds [`MAX`].
pub fn write(out: &mut Vec<u8>, value: u64) {
    assert!(value <= MAX, "{value} does not fit in a variable-length integer");
    match size(value) {
        1 => out.push(value as u8),
        2 => out.extend((value as u16 | 0x4000).to_be_bytes()),
        4 => out.extend((value as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend((value | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

/// Appends the two-byte form of `value`, as used for the length field of a long header.
///
/// # Panics
/// If `value` exceeds 2¹⁴ − 1.
pub fn write_two_bytes(out: &mut Vec<u8>, value: u64) {
    assert!(value < 0x4000, "{value} does not fit in a two-byte integer");
    out.extend((value as u16 | 0x4000).to_be_bytes());
}

/// Reads an integer in any of its forms and advances `bytes` past it. `None` if `bytes` ends inside it.
pub fn read(bytes: &mut &[u8]) -> Option<u64> {
    let first = *bytes.first()?;
    let len = 1usize << (first >> 6);
    let (head, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(head[1..].iter().fold(u64::from(first & 0x3f), |value, byte| value << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_rfc_9000_a_1() {
        let examples: [(&[u8], u64); 5] = [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
            (&[0x40, 0x25], 37),
        ];
        for (bytes, value) in examples {
            let mut rest = bytes;
            assert_eq!((read(&mut rest), rest.len()), (Some(value), 0));
        }
        let mut out = Vec::new();
        write(&mut out, 15_293);
        assert_eq!(out, [0x7b, 0xbd]);
        assert_eq!(read(&mut &[0x7b][..]), None);
    }

    proptest! {
        #[test]
        fn a_value_survives_the_round_trip_in_its_shortest_form(value in 0..=MAX, shift in 0..62u32) {
            let value = value >> shift;
            let mut out = Vec::new();
            write(&mut out, value);
            prop_assert_eq!(out.len() as u64, size(value));
            prop_assert_eq!(read(&mut &out[..]), Some(value));
        }
    }
}
