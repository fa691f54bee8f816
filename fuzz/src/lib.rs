//! TCP packets made from a few bytes, for the targets that read captures.

/// Number of bytes that describe a packet.
pub const RECORD: usize = 18;

/// Maximum size of a packet without payload: headers of IPv4 and TCP, and the longest options.
const MOST: usize = 80;

/// A TCP packet without its payload, as in a capture with a short snap length.
pub struct TcpBytes {
    bytes: [u8; MOST],
    len: usize,
}

/// Returns the nanoseconds since the previous packet. They are sometimes negative, as between the queues of a network
/// card.
pub fn elapsed(record: &[u8]) -> i64 {
    i64::from(i16::from_be_bytes([record[0], record[1]])) * 50_000 + 500_000
}

impl TcpBytes {
    /// The captured bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Builds a TCP/IPv4 packet from a record. Sequence numbers are close together, so that data overlaps, repeats and
    /// leaves holes.
    pub fn described(record: &[u8]) -> Self {
        let number = |at: usize| u16::from_be_bytes([record[at], record[at + 1]]);
        let (kind, blocks) = (record[2], usize::from(record[3] >> 6));
        let stamps = record[3] & 0x20 != 0;
        let option_len = if stamps { 12 } else { 0 } + if blocks > 0 { 4 + 8 * blocks } else { 0 };
        let option_len = if kind & 0x40 != 0 { 4 } else { option_len };
        let len = if record[3] & 0x10 != 0 { 0 } else { number(8) % 3000 };
        let mut packet = [0; MOST];
        packet[0] = 0x45;
        packet[1] = record[3] & 3;
        packet[2..4].copy_from_slice(&(40 + option_len as u16 + len).to_be_bytes());
        packet[9] = 6;
        let (own, other) = if kind & 0x80 == 0 { (1, 2) } else { (2, 1) };
        (packet[15], packet[19]) = (own, other);
        let port = u16::from(record[16] & 3);
        let ports = if own == 1 { [1000 + port, 80] } else { [80, 1000 + port] };
        packet[20..22].copy_from_slice(&ports[0].to_be_bytes());
        packet[22..24].copy_from_slice(&ports[1].to_be_bytes());
        // Sometimes a number from anywhere in the space.
        let wide = |at: usize| if record[16] & 0x80 != 0 { u32::from(number(at)) << 16 } else { u32::from(number(at)) };
        packet[24..28].copy_from_slice(&wide(4).wrapping_sub(3000).to_be_bytes());
        packet[28..32].copy_from_slice(&wide(6).wrapping_sub(3000).to_be_bytes());
        packet[32] = ((5 + option_len / 4) << 4) as u8;
        packet[33] = if record[3] & 8 != 0 { kind & 0x17 | record[17] & 0xc0 } else { 0x10 };
        packet[34..36].copy_from_slice(&number(10).to_be_bytes());
        let mut at = 40;
        if kind & 0x40 != 0 {
            packet[at..at + 4].copy_from_slice(&[3, 3, record[17], 1]);
            return Self { bytes: packet, len: 40 + option_len };
        }
        if stamps {
            packet[at..at + 12].copy_from_slice(&[1, 1, 8, 10, 0, 0, 0, record[16] >> 2, 0, 0, 0, record[17]]);
            at += 12;
        }
        if blocks > 0 {
            packet[at..at + 4].copy_from_slice(&[1, 1, 5, 2 + 8 * blocks as u8]);
            at += 4;
        }
        for block in 0..blocks {
            let start = wide(12).wrapping_sub(3000).wrapping_add(700 * block as u32);
            packet[at..at + 4].copy_from_slice(&start.to_be_bytes());
            packet[at + 4..at + 8].copy_from_slice(&start.wrapping_add(u32::from(number(14) % 4000)).to_be_bytes());
            at += 8;
        }
        Self { bytes: packet, len: 40 + option_len }
    }
}
