//! SYN cookies (RFC 4987 §3.6): once too many connections are half open, a listener stores nothing about a SYN. The
//! state is encoded in the sequence number of its SYN-ACK, which the peer's ACK returns: 5 bits of time, 3 bits that
//! select an MSS, and 24 bits of a keyed hash over the time, the MSS, the addresses and the peer's sequence number.
//! Only two other options survive, in the lowest six bits of a timestamp (as in Linux): the window scale of the peer
//! and SACK. Without timestamps both are lost.

use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{Flags, SeqNumber, SynOptions, Timestamps};
use std::net::{IpAddr, SocketAddr};

/// The time in a cookie advances by one each time this period has passed.
const EPOCH: Duration = Duration::from_secs(64);

/// Number of epochs for which a cookie remains valid after its own epoch.
const HOLDS: u64 = 1;

/// The MSS values that a cookie can encode. A cookie encodes the largest one that does not exceed the peer's MSS.
const MSS: [u16; 8] = [64, 216, 536, 1_220, 1_300, 1_440, 1_460, 8_940];

/// Maximum MSS that an IPv4 cookie encodes, however large the peer's MSS is (`msstab` of Linux).
const MSS_OF_IPV4: u16 = 1_460;

/// The bits of a timestamp that hold options: four for the window scale (all set if there is no scaling), one for SACK.
const OPTIONS: u32 = 0x3f;
const NO_SCALE: u32 = 0xf;
const SACK: u32 = 0x10;

/// Creates and verifies the SYN cookies of one host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cookies {
    key: [u64; 2],
    /// Time of the last sent cookie.
    last: Option<Instant>,
}

/// The addresses of a connection that may be opened, and the peer's initial sequence number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionAddresses {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) number: SeqNumber,
}

impl Cookies {
    pub(crate) fn new(seed: u64) -> Self {
        let mut secret = RandomStream::new(seed, "SYN cookies");
        Self { key: [secret.bits(), secret.bits()], last: None }
    }

    /// Returns the initial sequence number of the SYN-ACK for a SYN with this MSS.
    pub(crate) fn make(&mut self, now: Instant, opening: &ConnectionAddresses, mss: u16) -> SeqNumber {
        self.last = Some(now);
        let mss = if opening.local.is_ipv4() { mss.min(MSS_OF_IPV4) } else { mss };
        let index = MSS.iter().rposition(|known| *known <= mss).unwrap_or(0);
        self.cookie(epoch(now), index, opening)
    }

    /// Returns the MSS that the cookie encodes, if this host made the cookie for these addresses and it is not too old.
    pub(crate) fn read(&self, now: Instant, cookie: SeqNumber, opening: &ConnectionAddresses) -> Option<u16> {
        // While no cookie is valid, none can be guessed.
        self.last.filter(|last| now.since(*last) < EPOCH * (HOLDS + 1))?;
        let (time, index) = (u64::from(cookie.0 >> 27), (cookie.0 >> 24 & 7) as usize);
        let now = epoch(now);
        let age = now.wrapping_sub(time) % 32;
        let made = now.checked_sub(age).filter(|_| age <= HOLDS)?;
        (self.cookie(made, index, opening) == cookie).then(|| MSS[index])
    }

    fn cookie(&self, epoch: u64, index: usize, opening: &ConnectionAddresses) -> SeqNumber {
        let mut words = Vec::with_capacity(8);
        for end in [opening.local, opening.remote] {
            let address = match end.ip() {
                IpAddr::V4(ip) => ip.to_ipv6_mapped(),
                IpAddr::V6(ip) => ip,
            };
            let bits = address.to_bits();
            words.extend([(bits >> 64) as u64, bits as u64]);
        }
        words.push(u64::from(opening.local.port()) << 48 | u64::from(opening.remote.port()) << 32);
        words.push(u64::from(opening.number.0) << 32 | index as u64);
        words.push(epoch);
        let hash = siphash(self.key, &words) as u32 & 0xff_ffff;
        SeqNumber((epoch as u32 % 32) << 27 | (index as u32) << 24 | hash)
    }
}

fn epoch(now: Instant) -> u64 {
    now.as_nanos() / EPOCH.as_nanos()
}

/// Returns the SYN with only the options that a cookie can hold. `stamped`: both ends use timestamps.
pub(crate) fn bare_syn(segment: &Segment, stamped: bool) -> Segment {
    let options = segment.syn_options();
    let mss = SynOptions { mss: options.mss, window_scale: None, sack_permitted: false };
    let bare = Segment::new(segment.seq, SeqNumber::default(), segment.window, Flags::SYN);
    match segment.timestamps().filter(|_| stamped) {
        Some(stamps) => bare.with_syn_options(options).with_timestamps(stamps),
        None => bare.with_syn_options(mss),
    }
}

/// Rebuilds the SYN from the ACK that completes the handshake.
pub(crate) fn syn_behind(ack: &Segment, mss: u16, stamped: bool) -> Segment {
    let options = SynOptions { mss: Some(mss), window_scale: None, sack_permitted: false };
    let bare = Segment::new(ack.seq.plus(u32::MAX), SeqNumber::default(), ack.window, Flags::SYN);
    match ack.timestamps().filter(|_| stamped) {
        Some(stamps) => {
            let (window_scale, sack_permitted) = options_of(stamps.echo);
            let options = SynOptions { window_scale, sack_permitted, ..options };
            bare.with_syn_options(options).with_timestamps(Timestamps { value: stamps.value, echo: 0 })
        }
        None => bare.with_syn_options(options),
    }
}

/// Returns the SYN-ACK with the options of the SYN encoded in its timestamp, if it has one. The timestamp is never
/// ahead of the clock.
pub(crate) fn answer(syn_ack: Segment, syn: &Segment) -> Segment {
    let Some(stamps) = syn_ack.timestamps() else { return syn_ack };
    let options = syn.syn_options();
    let scale = options.window_scale.map_or(NO_SCALE, |scale| u32::from(scale.min(14)));
    let bits = scale | if options.sack_permitted { SACK } else { 0 };
    let value = stamps.value & !OPTIONS | bits;
    let value = if bits > stamps.value & OPTIONS { value.wrapping_sub(OPTIONS + 1) } else { value };
    syn_ack.with_timestamps(Timestamps { value, ..stamps })
}

fn options_of(echo: u32) -> (Option<u8>, bool) {
    let scale = echo & NO_SCALE;
    ((scale != NO_SCALE).then_some(scale as u8), echo & SACK != 0)
}

/// SipHash-2-4 (Aumasson and Bernstein 2012) of a sequence of 64-bit words.
pub(crate) fn siphash(key: [u64; 2], words: &[u64]) -> u64 {
    let mut v = [
        key[0] ^ 0x736f_6d65_7073_6575,
        key[1] ^ 0x646f_7261_6e64_6f6d,
        key[0] ^ 0x6c79_6765_6e65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ];
    // The last word holds the length in bytes in its upper byte.
    for word in words.iter().copied().chain([(words.len() as u64 * 8) << 56]) {
        v[3] ^= word;
        (0..2).for_each(|_| round(&mut v));
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    (0..4).for_each(|_| round(&mut v));
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

fn round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[2] = v[2].wrapping_add(v[3]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[1]);
    v[0] = v[0].wrapping_add(v[3]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].rotate_left(32);
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_nanos(1_000_000_000_000);

    fn opening(number: u32) -> ConnectionAddresses {
        ConnectionAddresses {
            local: "10.0.0.2:80".parse().unwrap(),
            remote: "10.0.0.1:40000".parse().unwrap(),
            number: SeqNumber(number),
        }
    }

    #[test]
    fn the_hash_matches_the_authors_values() {
        // Key 00 … 0f; messages of 0 and of 8 bytes, 00 … 07 (appendix A and the vectors of the reference program).
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        assert_eq!(siphash(key, &[]), 0x726f_db47_dd0e_0e31);
        assert_eq!(siphash(key, &[0x0706_0504_0302_0100]), 0x93f5_f579_9a93_2462);
    }

    #[test]
    fn a_cookie_names_an_mss_for_two_minutes_and_these_ends_alone() {
        let mut cookies = Cookies::new(7);
        let cookie = cookies.make(NOW, &opening(5), 1_459);
        assert_eq!(cookies.read(NOW, cookie, &opening(5)), Some(1_440));
        assert_eq!(cookies.read(NOW, cookie, &opening(6)), None);
        assert_eq!(cookies.read(NOW, cookie.plus(1), &opening(5)), None);
        let other = ConnectionAddresses { remote: "10.0.0.1:40001".parse().unwrap(), ..opening(5) };
        assert_eq!(cookies.read(NOW, cookie, &other), None);
        cookies.make(NOW + Duration::from_secs(140), &opening(9), 1_460);
        assert_eq!(cookies.read(NOW + Duration::from_secs(60), cookie, &opening(5)), Some(1_440));
        assert_eq!(cookies.read(NOW + Duration::from_secs(140), cookie, &opening(5)), None, "too old");
        assert_eq!(Cookies::new(7).read(NOW, cookie, &opening(5)), None, "none was sent");
        let mut others = Cookies::new(8);
        others.make(NOW, &opening(1), 536);
        assert_eq!(others.read(NOW, cookie, &opening(5)), None, "another key");
        assert_eq!(cookies.make(NOW, &opening(5), 40).0 >> 24 & 7, 0, "the smallest");
    }

    #[test]
    fn timestamps_keep_the_options_and_never_lead_the_clock() {
        let stamps = Timestamps { value: 4_000, echo: 77 };
        for (scale, sack) in [(Some(7), true), (None, true), (Some(0), false), (None, false)] {
            let options = SynOptions { mss: Some(1_460), window_scale: scale, sack_permitted: sack };
            let syn = Segment::new(SeqNumber(5), SeqNumber(0), 1_000, Flags::SYN).with_syn_options(options);
            let reported = answer(syn.with_timestamps(stamps), &syn).timestamps().unwrap();
            assert!(reported.value <= 4_000 && reported.value > 4_000 - 64 && reported.echo == 77);
            let ack = Segment::new(SeqNumber(6), SeqNumber(9), 500, Flags::ACK)
                .with_timestamps(Timestamps { value: 80, echo: reported.value });
            let back = syn_behind(&ack, 1_440, true);
            assert_eq!((back.seq, back.flags, back.timestamps().unwrap().value), (SeqNumber(5), Flags::SYN, 80));
            let expected = SynOptions { mss: Some(1_440), window_scale: scale, sack_permitted: sack };
            assert_eq!(back.syn_options(), expected);
        }
    }
}
