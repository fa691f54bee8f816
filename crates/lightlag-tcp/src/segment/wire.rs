//! The options of a segment as bytes, in the order and with the padding of Linux.
//!
//! Kind and length of each option: MSS 2, 4 (RFC 9293 §3.2); window scale 3, 3 and timestamps 8, 10 (RFC 7323 §2.2,
//! §3.2); SACK-permitted 4, 2 and SACK 5, 8n + 2 (RFC 2018 §2, §3). NOPs (kind 1) align each option to four bytes. The
//! AccECN option ([`super::accurate`]) follows the timestamps; SCPS-TP options ([`super::space`]) and the cookie of a
//! SYN ([`super::cookie`]) are last.

use super::{Segment, SeqNumber};

const NOP: u8 = 1;

impl Segment {
    /// Returns the bytes of the options, which follow the first 20 bytes of the header. Their number is
    /// [`Segment::options_len`].
    pub fn option_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.options_len() as usize);
        let syn = self.syn_options();
        if let Some(mss) = syn.mss {
            bytes.extend([2, 4]);
            bytes.extend(mss.to_be_bytes());
        }
        let permitted = [4, 2];
        let padding = [NOP, NOP];
        if let Some(stamps) = self.timestamps() {
            bytes.extend(if syn.sack_permitted { permitted } else { padding });
            bytes.extend([8, 10]);
            bytes.extend(stamps.value.to_be_bytes());
            bytes.extend(stamps.echo.to_be_bytes());
        }
        // Number of NOPs of the next option that were replaced.
        let mut taken = self.write_ecn_bytes(&mut bytes);
        if syn.sack_permitted && self.timestamps().is_none() {
            bytes.extend(&padding[std::mem::take(&mut taken)..]);
            bytes.extend(permitted);
        }
        if let Some(shift) = syn.window_scale {
            bytes.extend(&[NOP][std::mem::take(&mut taken)..]);
            bytes.extend([3, 3, shift]);
        }
        if !self.sack().is_empty() {
            bytes.extend(&padding[taken..]);
            self.write_blocks(&mut bytes);
        }
        self.write_space(&mut bytes);
        self.write_cookie(&mut bytes);
        bytes
    }

    /// Writes the SACK option, if there is one, without padding.
    pub(super) fn write_blocks(&self, bytes: &mut Vec<u8>) {
        if let blocks @ [_, ..] = self.sack() {
            bytes.extend([5, 8 * blocks.len() as u8 + 2]);
            for SeqNumber(edge) in blocks.iter().flat_map(|block| [block.start, block.end]) {
                bytes.extend(edge.to_be_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SackBlock, SynOptions, Timestamps};
    use super::*;

    fn blocks(count: usize) -> Vec<SackBlock> {
        (0..count as u32)
            .map(|n| SackBlock { start: SeqNumber(7_000 - 2_000 * n), end: SeqNumber(8_000 - 2_000 * n) })
            .collect()
    }

    #[test]
    fn one_block_is_two_nops_and_ten_bytes() {
        // RFC 2018 §3; 7000 = 0x1b58, 8000 = 0x1f40.
        let segment = Segment::default().with_sack(&blocks(1));
        assert_eq!(segment.option_bytes(), [1, 1, 5, 10, 0, 0, 0x1b, 0x58, 0, 0, 0x1f, 0x40]);
        assert_eq!(segment.header_len(), 32);
    }

    #[test]
    fn the_newest_block_comes_first() {
        let bytes = Segment::default().with_sack(&blocks(3)).option_bytes();
        assert_eq!(bytes[..4], [1, 1, 5, 26]);
        let edges: Vec<u32> = bytes[4..].chunks(4).map(|edge| u32::from_be_bytes(edge.try_into().unwrap())).collect();
        assert_eq!(edges, [7_000, 8_000, 5_000, 6_000, 3_000, 4_000]);
    }

    #[test]
    fn a_linux_syn_and_its_options() {
        let syn = SynOptions { mss: Some(1460), window_scale: Some(7), sack_permitted: true };
        let stamps = Timestamps { value: 0x0102_0304, echo: 0x0506_0708 };
        let bytes = Segment::default().with_syn_options(syn).with_timestamps(stamps).option_bytes();
        assert_eq!(bytes, [2, 4, 0x05, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 3, 7]);
        let bytes = Segment::default().with_syn_options(SynOptions { window_scale: None, ..syn }).option_bytes();
        assert_eq!(bytes, [2, 4, 0x05, 0xb4, 1, 1, 4, 2]);
    }

    #[test]
    fn as_many_bytes_as_the_header_counts() {
        for bits in 0..16_u8 {
            for count in 0..=4 {
                let syn = SynOptions {
                    mss: (bits & 1 != 0).then_some(536),
                    window_scale: (bits & 2 != 0).then_some(3),
                    sack_permitted: bits & 4 != 0,
                };
                let mut segment = Segment::default().with_syn_options(syn);
                if bits & 8 != 0 {
                    segment = segment.with_timestamps(Timestamps::default());
                }
                let segment = segment.with_sack(&blocks(count));
                assert_eq!(segment.option_bytes().len() as u32, segment.options_len(), "{segment:?}");
                assert_eq!(segment.options_len() % 4, 0);
            }
        }
    }
}
