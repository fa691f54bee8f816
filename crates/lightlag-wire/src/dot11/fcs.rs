//! The frame check sequence: a 32-bit CRC, as in Ethernet (§9.2.4.8).

/// Length of the frame check sequence in bytes.
pub const FCS_LEN: usize = 4;

/// x³² + x²⁶ + x²³ + x²² + x¹⁶ + x¹² + x¹¹ + x¹⁰ + x⁸ + x⁷ + x⁵ + x⁴ + x² + x + 1, with the lowest power in the most
/// significant bit.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// CRC remainder of each byte value.
const REMAINDERS: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = remainder >> 1 ^ if remainder & 1 == 0 { 0 } else { POLYNOMIAL };
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
};

/// Returns the frame check sequence of these bytes. It follows them at the end of the frame, lowest byte first.
#[must_use]
pub fn fcs(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| sum >> 8 ^ REMAINDERS[usize::from(sum as u8 ^ byte)])
}
