//! Protection of a packet: encryption of its payload and of its header (RFC 9001 §5.3, §5.4).

use super::keys::PacketKeys;

/// Bytes of the authentication tag.
const TAG: usize = 16;

/// Position of the sample of header protection, counted from the packet number (RFC 9001 §5.4.2).
const SAMPLE: usize = 4;

/// Protects a packet in place. `number_at` is the position of its packet number; the last 16 bytes become the tag.
///
/// # Panics
/// If the packet number and the payload together have fewer than 4 bytes (RFC 9001 §5.4.2).
pub(super) fn protect(packet: &mut [u8], number_at: usize, number: u64, keys: &PacketKeys) {
    assert!(packet.len() >= number_at + SAMPLE + TAG, "a packet number and a payload of 4 bytes or more");
    let number_len = usize::from(packet[0] & 3) + 1;
    let (header, rest) = packet.split_at_mut(number_at + number_len);
    let (payload, tag) = rest.split_at_mut(rest.len() - TAG);
    tag.copy_from_slice(&keys.seal(number, header, payload));
    let mask = keys.mask(sample(packet, number_at));
    packet[0] ^= mask[0] & masked_bits(packet[0]);
    packet[number_at..number_at + number_len].iter_mut().zip(&mask[1..]).for_each(|(byte, mask)| *byte ^= mask);
}

fn sample(packet: &[u8], number_at: usize) -> [u8; 16] {
    let start = number_at + SAMPLE;
    packet[start..start + 16].try_into().expect("16 bytes")
}

/// Returns the protected bits of the first byte, of a long or a short header.
fn masked_bits(first: u8) -> u8 {
    if first & 0x80 == 0 { 0x1f } else { 0x0f }
}

/// Removes the protection of a packet with the number `number`. Returns false if the tag is wrong.
#[cfg(test)]
pub(super) fn unprotect(packet: &mut [u8], number_at: usize, number: u64, keys: &PacketKeys) -> bool {
    let mask = keys.mask(sample(packet, number_at));
    packet[0] ^= mask[0] & masked_bits(packet[0]);
    let number_len = usize::from(packet[0] & 3) + 1;
    packet[number_at..number_at + number_len].iter_mut().zip(&mask[1..]).for_each(|(byte, mask)| *byte ^= mask);
    let (header, rest) = packet.split_at_mut(number_at + number_len);
    let (payload, tag) = rest.split_at_mut(rest.len() - TAG);
    let tag = (&*tag).try_into().expect("16 bytes");
    keys.open(number, header, payload, tag)
}
