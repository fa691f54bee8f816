//! TCP Fast Open of a host (RFC 7413): the cookies of its listeners, the cookies that it caches for servers, and the
//! pauses after failures.
//!
//! A cookie is the SipHash of both addresses under a key, as in Linux (`__tcp_fastopen_cookie_gen_cipher`). Hosts that
//! share a key accept each other's cookies. Data in a SYN is delivered to the application immediately, unless too many
//! connections of the listener still wait for their client's ACK. Connections that were reset also count for some time,
//! so that forged resets cannot be used to flood the listener (`tcp_fastopen_queue_check`).

use crate::cookies::siphash;
use lightlag_core::{Duration, Instant};
use lightlag_tcp::fast_open::{CookieCache, Early, FastOpenRules};
use lightlag_tcp::segment::Cookie;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Maximum number of servers in the cache.
const MOST_SERVERS: usize = 1_024;

/// Maximum number of times that the pause doubles after consecutive failures (`tcp_fastopen_active_should_disable`).
const MOST_DOUBLINGS: u32 = 6;

/// The settings of TCP Fast Open of a host (tcp_fastopen of Linux).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FastOpen {
    /// Sockets may send data in their SYN.
    pub client: bool,
    /// Listeners with the option accept data in a SYN.
    pub server: bool,
    /// Sockets send data without a cookie.
    pub client_without_cookie: bool,
    /// Listeners accept data without a cookie.
    pub server_without_cookie: bool,
    /// All listeners accept data in a SYN. The number of such connections is limited by the backlog.
    pub all_listeners: bool,
    /// The cookie keys of listeners that have no keys of their own; `None`: one key that is derived from the seed.
    pub keys: Option<Keys>,
    /// Duration of the pause, without data in SYNs, after a path dropped such a SYN; zero: no pause
    /// (tcp_fastopen_blackhole_timeout_sec).
    pub rest: Duration,
}

impl Default for FastOpen {
    /// Returns the default of Linux: only clients use fast open.
    fn default() -> Self {
        Self {
            client: true,
            server: false,
            client_without_cookie: false,
            server_without_cookie: false,
            all_listeners: false,
            keys: None,
            rest: Duration::ZERO,
        }
    }
}

/// A key of 16 bytes, as two little-endian words.
pub type Key = [u64; 2];

/// The keys that a listener uses for its cookies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keys {
    /// The key of new cookies.
    pub primary: Key,
    /// An older key, whose cookies are still accepted.
    pub backup: Option<Key>,
}

impl Keys {
    /// Returns the keys from 16 or 32 bytes (TCP_FASTOPEN_KEY); `None` for any other length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match (bytes.len(), &words(bytes)[..]) {
            (16, [a, b]) => Some(Self { primary: [*a, *b], backup: None }),
            (32, [a, b, c, d]) => Some(Self { primary: [*a, *b], backup: Some([*c, *d]) }),
            _ => None,
        }
    }

    /// Returns the bytes of the keys.
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = self.primary.iter().chain(self.backup.iter().flatten());
        words.flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// Returns the little-endian words of eight bytes each.
fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|word| word.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))).collect()
}

/// Returns the cookie that a server gives to a client under this key.
pub(crate) fn cookie(key: Key, client: IpAddr, server: IpAddr) -> Option<Cookie> {
    let mut bytes = Vec::with_capacity(32);
    for address in [client, server] {
        match address {
            IpAddr::V4(ip) => bytes.extend(ip.octets()),
            IpAddr::V6(ip) => bytes.extend(ip.octets()),
        }
    }
    Cookie::new(&siphash(key, &words(&bytes)).to_le_bytes())
}

/// The cookies of servers and the failures that a host has recorded.
#[derive(Debug, Default)]
pub(crate) struct FastOpenCache {
    /// Cached cookies by local address and address of the server.
    pub(crate) servers: BTreeMap<(IpAddr, IpAddr), CookieCache>,
    /// Time when the path last dropped data, and the number of consecutive drops.
    pub(crate) swallowed: Option<(Instant, u32)>,
}

impl FastOpenCache {
    /// Returns the cached cookie of a server; an empty entry for an unknown one.
    pub(crate) fn of(&mut self, local: IpAddr, server: IpAddr) -> CookieCache {
        if self.servers.len() >= MOST_SERVERS && !self.servers.contains_key(&(local, server)) {
            self.servers.pop_first();
        }
        *self.servers.entry((local, server)).or_default()
    }

    pub(crate) fn rests(&self, now: Instant, rest: Duration) -> bool {
        self.swallowed.is_some_and(|(since, times)| {
            let doublings = times.saturating_sub(1).min(MOST_DOUBLINGS);
            now.since(since) < rest * (1 << doublings)
        })
    }
}

/// The fast-open connections of a listener that still wait for their client's ACK.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) waiting: usize,
    /// Times until which connections that were reset still count as waiting.
    pub(crate) reset: Vec<Instant>,
}

/// The first SYN of a client, with the cookie and the rules that determine it.
pub(crate) struct FirstSyn {
    pub(crate) jar: CookieCache,
    pub(crate) rules: FastOpenRules,
    pub(crate) early: Early,
}

impl FirstSyn {
    /// Returns true if the SYN carries no data, and only requests a cookie.
    pub(crate) fn asks(&self) -> bool {
        self.early.cookie.is_some_and(|cookie| cookie.is_request())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(client: &str, server: &str, keys: &Keys) -> Vec<u8> {
        cookie(keys.primary, client.parse().unwrap(), server.parse().unwrap()).unwrap().bytes().to_vec()
    }

    /// net.ipv4.tcp_fastopen_key=a0bf63f7-ed803d81-cd641d30-cebc4a90, each group little-endian.
    const KEY: [u8; 16] =
        [0xf7, 0x63, 0xbf, 0xa0, 0x81, 0x3d, 0x80, 0xed, 0x30, 0x1d, 0x64, 0xcd, 0x90, 0x4a, 0xbc, 0xce];

    #[test]
    fn cookies_match_linux() {
        // The cookies of the kernels for which packetdrill's scripts server/simple1 to simple3 are written.
        let keys = Keys::from_bytes(&KEY).unwrap();
        assert_eq!(bytes("10.248.0.2", "192.168.0.2", &keys), [0x00, 0xab, 0xaa, 0xab, 0xe8, 0xe9, 0x54, 0xc2]);
        assert_eq!(bytes("10.248.0.3", "192.168.0.2", &keys), [0x13, 0x13, 0xa2, 0xda, 0x99, 0x4a, 0x09, 0x51]);
        assert_eq!(bytes("10.248.0.3", "192.168.0.3", &keys), [0x76, 0xd2, 0xc1, 0xc5, 0x30, 0xf5, 0x1f, 0x79]);
        let words = [0xa1a1_a1a1_u32, 0xb2b2_b2b2, 0xc3c3_c3c3, 0xd4d4_d4d4];
        let keys = Keys::from_bytes(&words.map(u32::to_le_bytes).concat()).unwrap();
        let cookie = bytes("fd3d:fa7b:d17d::1", "fd3d:0a0b:17d6::1", &keys);
        assert_eq!(cookie, [0xc1, 0xd1, 0xe9, 0x74, 0x2a, 0x47, 0xa9, 0xbc]);
    }

    #[test]
    fn keys_have_sixteen_bytes_or_two_times_sixteen() {
        let keys = Keys::from_bytes(&KEY).unwrap();
        assert_eq!((keys.to_bytes(), keys.backup), (KEY.to_vec(), None));
        let two = [KEY, [7; 16]].concat();
        assert_eq!(Keys::from_bytes(&two).unwrap().to_bytes(), two);
        assert!([0, 3, 15, 17, 24, 33].iter().all(|len| Keys::from_bytes(&vec![1; *len]).is_none()));
    }

    #[test]
    fn each_failure_doubles_the_rest_up_to_64_times() {
        let time = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let rest = Duration::from_secs(10);
        for (times, length) in [(1, 10), (2, 20), (3, 40), (7, 640), (100, 640)] {
            let memory = FastOpenCache { swallowed: Some((time(5), times)), ..FastOpenCache::default() };
            assert!(memory.rests(time(5 + length - 1), rest) && !memory.rests(time(5 + length), rest), "{times}");
            assert!(!memory.rests(time(5), Duration::ZERO), "off");
        }
        assert!(!FastOpenCache::default().rests(time(0), rest));
    }

    #[test]
    fn memory_is_bounded() {
        let mut memory = FastOpenCache::default();
        let local = "10.0.0.1".parse().unwrap();
        for server in 0..2 * MOST_SERVERS as u32 {
            memory.of(local, IpAddr::V4(server.into()));
        }
        assert_eq!(memory.servers.len(), MOST_SERVERS);
    }
}
