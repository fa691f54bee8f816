//! The fast open option of a SYN: a request for a cookie, or a cookie (RFC 7413 §2.1 and §4.1.1; its kind is 34; before
//! the RFC, it was the experimental kind 254, followed by the number 0xf989, RFC 6994).
//!
//! A segment stores the cookie in the slots of two SACK blocks, which a SYN never has, and its length in the highest
//! bits of the storage that it shares with the AccECN option. Two flags, which are not bits of any header, indicate
//! that it is present and which form it has.

use super::{Flags, HAS_SPACE, Segment, SeqNumber};
use std::fmt;

/// Kind of the fast open option.
pub(super) const FAST_OPEN: u8 = 34;

/// Kind of the experimental form. [`FAST_OPEN_EXPERIMENT`] is the number before the cookie.
const EXPERIMENT: u8 = 254;
const FAST_OPEN_EXPERIMENT: [u8; 2] = [0xf9, 0x89];

/// Position of the lowest bit of the length, which is stored as half the length minus 1.
pub(super) const LENGTH_SHIFT: u16 = 13;

/// Maximum size of a cookie, in bytes.
pub const MAX_COOKIE: usize = 16;

/// A cookie of 4 to 16 bytes, or a request for a cookie, which has no bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Cookie {
    bytes: [u8; MAX_COOKIE],
    len: u8,
    experimental: bool,
}

impl Cookie {
    /// A request for a cookie.
    pub const REQUEST: Self = Self { bytes: [0; MAX_COOKIE], len: 0, experimental: false };

    /// Returns the cookie with these bytes, or a request if there are none. `None` unless their number is 0 or an even
    /// number from 4 to 16 (RFC 7413 §4.1.1).
    pub fn new(bytes: &[u8]) -> Option<Self> {
        if !bytes.is_empty() && (!(4..=MAX_COOKIE).contains(&bytes.len()) || bytes.len() % 2 == 1) {
            return None;
        }
        let mut cookie = Self { len: bytes.len() as u8, ..Self::REQUEST };
        cookie.bytes[..bytes.len()].copy_from_slice(bytes);
        Some(cookie)
    }

    /// Returns the cookie in the value of an experimental option; `None` if it is another experiment, or an invalid
    /// cookie.
    pub fn of_experiment(value: &[u8]) -> Option<Self> {
        let bytes = value.strip_prefix(&FAST_OPEN_EXPERIMENT)?;
        Self::new(bytes).map(|cookie| cookie.in_form(true))
    }

    /// Returns the cookie in the experimental form if `experimental` is true, otherwise in the RFC's form.
    #[must_use]
    pub const fn in_form(self, experimental: bool) -> Self {
        Self { experimental, ..self }
    }

    /// Returns true if the cookie has the experimental form.
    pub const fn is_experimental(&self) -> bool {
        self.experimental
    }

    /// Returns the size of the cookie's option without padding, in bytes.
    const fn option_len(&self) -> u8 {
        self.len + if self.experimental { 4 } else { 2 }
    }

    /// Returns the bytes of the cookie.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Returns true if this is a request for a cookie.
    pub fn is_request(&self) -> bool {
        self.len == 0
    }
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_request() {
            return f.write_str("request");
        }
        self.bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Segment {
    /// Returns the cookie or request of the fast open option, if the segment has that option.
    pub fn cookie(&self) -> Option<Cookie> {
        if !self.flags.has(Flags::FAST_OPEN) {
            return None;
        }
        let mut bytes = [0; MAX_COOKIE];
        let numbers = self.blocks[..2].iter().flat_map(|block| [block.start.0, block.end.0]);
        for (word, number) in bytes.chunks_exact_mut(4).zip(numbers) {
            word.copy_from_slice(&number.to_be_bytes());
        }
        let len = match self.space >> LENGTH_SHIFT {
            0 => 0,
            half => 2 * (half as usize + 1),
        };
        Cookie::new(&bytes[..len]).map(|cookie| cookie.in_form(self.flags.has(Flags::EXPERIMENTAL)))
    }

    /// Returns true if a fast open option fits: the segment must be a SYN without SACK blocks and SCPS-TP options.
    pub fn has_place_for_cookie(&self) -> bool {
        self.flags.has(Flags::SYN) && self.sack().is_empty() && !self.offers()
    }

    /// Adds the fast open option to a SYN.
    ///
    /// # Panics
    /// If it does not fit ([`Self::has_place_for_cookie`]).
    #[must_use]
    pub fn with_cookie(mut self, cookie: Cookie) -> Self {
        assert!(self.has_place_for_cookie(), "{self:?} has no space for a cookie");
        for (block, eight) in self.blocks.iter_mut().zip(cookie.bytes.chunks_exact(8)) {
            let word = |bytes: &[u8]| SeqNumber(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
            (block.start, block.end) = (word(eight), word(&eight[4..]));
        }
        let half = u16::from(cookie.len / 2).saturating_sub(1);
        self.space = self.space & !(u16::MAX << LENGTH_SHIFT) | half << LENGTH_SHIFT;
        self.flags = Flags(self.flags.0 & !Flags::EXPERIMENTAL.0).with(Flags::FAST_OPEN);
        if cookie.experimental {
            self.flags = self.flags.with(Flags::EXPERIMENTAL);
        }
        self.options |= HAS_SPACE;
        self
    }

    /// Returns the segment without the fast open option.
    #[must_use]
    pub fn without_cookie(mut self) -> Self {
        if self.flags.has(Flags::FAST_OPEN) {
            self.flags = Flags(self.flags.0 & !Flags::FAST_OPEN.with(Flags::EXPERIMENTAL).0);
            self.blocks[..2].fill(Default::default());
            self.space &= !(u16::MAX << LENGTH_SHIFT);
            if !self.has_ecn_bytes() {
                self.options &= !HAS_SPACE;
            }
        }
        self
    }

    /// Returns by how many bytes the option enlarges the header: a multiple of four.
    pub(super) fn cookie_len(&self) -> u32 {
        self.cookie().map_or(0, |cookie| u32::from(cookie.option_len()).next_multiple_of(4))
    }

    /// Writes the option, followed by NOPs, as Linux does.
    pub(super) fn write_cookie(&self, out: &mut Vec<u8>) {
        let Some(cookie) = self.cookie() else { return };
        if cookie.experimental {
            out.extend([EXPERIMENT, cookie.option_len()]);
            out.extend(FAST_OPEN_EXPERIMENT);
        } else {
            out.extend([FAST_OPEN, cookie.option_len()]);
        }
        out.extend(cookie.bytes());
        out.resize(out.len().next_multiple_of(4), 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EcnBytes, FieldOrder, SynOptions, Timestamps};
    use super::*;

    fn syn() -> Segment {
        Segment::new(SeqNumber(1), SeqNumber(0), 1, Flags::SYN)
    }

    #[test]
    fn cookies_have_an_even_number_of_bytes() {
        for len in 0..20 {
            let valid = len == 0 || (4..=16).contains(&len) && len % 2 == 0;
            assert_eq!(Cookie::new(&vec![7; len]).is_some(), valid, "{len}");
        }
    }

    #[test]
    fn every_cookie_fits_with_every_option() {
        let counts = EcnBytes::new(FieldOrder::Ect1First, &[0xff_fffe, 0x12_3456, 0xab_cdef]);
        for len in [0_u8, 4, 6, 8, 10, 12, 14, 16] {
            let bytes: Vec<u8> = (1..=len).collect();
            let cookie = Cookie::new(&bytes).unwrap();
            for (stamped, experimental) in [(false, false), (true, false), (false, true), (true, true)] {
                let cookie = cookie.in_form(experimental);
                let plain = if stamped { syn().with_timestamps(Timestamps { value: 3, echo: 4 }) } else { syn() };
                let both = plain.with_ecn_bytes(counts).with_cookie(cookie);
                assert_eq!((both.cookie(), both.ecn_bytes()), (Some(cookie), Some(counts)));
                assert_eq!(plain.with_cookie(cookie).with_ecn_bytes(counts), both);
                assert_eq!(both.without_cookie(), plain.with_ecn_bytes(counts));
                assert_eq!(both.without_ecn_bytes(), plain.with_cookie(cookie));
                assert_eq!(both.option_bytes().len() as u32, both.options_len());
                assert_eq!((both.sack().len(), both.ends_record(), both.capabilities()), (0, false, None));
                assert_eq!(both.timestamps(), plain.timestamps());
            }
        }
    }

    #[test]
    fn the_syn_of_linux_with_a_cookie() {
        // <mss 1460, sackOK, TS, nop, wscale 8, FO 0102030405060708, nop, nop>
        let options = SynOptions { mss: Some(1460), window_scale: Some(8), sack_permitted: true };
        let segment = syn().with_syn_options(options).with_timestamps(Timestamps::default());
        let with = segment.with_cookie(Cookie::new(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap());
        assert_eq!(with.option_bytes()[20..], [34, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1]);
        assert_eq!(segment.with_cookie(Cookie::REQUEST).option_bytes()[20..], [34, 2, 1, 1]);
    }

    #[test]
    fn the_form_of_the_experiments_starts_with_their_number() {
        let cookie = Cookie::of_experiment(&[0xf9, 0x89, 1, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!((cookie.bytes(), cookie.is_experimental()), (&[1, 2, 3, 4, 5, 6][..], true));
        assert!(Cookie::of_experiment(&[0xf9, 0x89]).unwrap().is_request());
        for other in [&[0xf9, 0x88, 1, 2, 3, 4][..], &[0xf9], &[0xf9, 0x89, 1, 2, 3]] {
            assert_eq!(Cookie::of_experiment(other), None);
        }
        assert_eq!(syn().with_cookie(cookie).option_bytes(), [254, 10, 0xf9, 0x89, 1, 2, 3, 4, 5, 6, 1, 1]);
        let request = syn().with_cookie(Cookie::REQUEST.in_form(true));
        assert_eq!(request.option_bytes(), [254, 4, 0xf9, 0x89]);
        assert_eq!(request.with_cookie(Cookie::REQUEST).option_bytes(), [34, 2, 1, 1]);
    }
}
