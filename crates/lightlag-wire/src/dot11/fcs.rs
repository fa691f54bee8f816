//! The frame check sequence: the CRC of 32 bits that Ethernet has, too (§9.2.4.8).

/// Bytes of the frame check sequence.
pub const FCS_LEN: usize = 4;

/// x³² + x²⁶ + x²³ + x²² + x¹⁶ + x¹² + x¹¹ + x¹⁰ + x⁸ + x⁷ + x⁵ + x⁴ + x² + x + 1, with the lowest power on the left.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// The remainder of each byte.
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

/// The frame check sequence of these bytes. A frame ends with it, lowest byte first.
#[must_use]
pub fn fcs(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| sum >> 8 ^ REMAINDERS[usize::from(sum as u8 ^ byte)])
}
