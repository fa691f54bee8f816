//! TCP Fast Open of a host (RFC 7413): the cookies of its listeners, its memory of servers, and its pauses after
//! failures.
//!
//! A cookie is the SipHash of both addresses under a key, as in Linux (`__tcp_fastopen_cookie_gen_cipher`). Hosts that
//! share a key accept each other's cookies. Data in a SYN goes to the application at once, as long as not too many
//! connections of the listener wait for their client's ACK. Connections that were reset count for a while too, so that
//! forged resets cannot flood the listener (`tcp_fastopen_queue_check`).

use crate::cookies::siphash;
use lightlag_core::{Duration, Instant};
use lightlag_tcp::fast_open::{Early, Jar, Rules};
use lightlag_tcp::segment::Cookie;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The most servers that are remembered.
const MOST_SERVERS: usize = 1_024;

/// The pause after failures in a row doubles at most this often (`tcp_fastopen_active_should_disable`).
const MOST_DOUBLINGS: u32 = 6;

/// The use of fast open on a host (tcp_fastopen of Linux).
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
    /// All listeners accept data in a SYN, from as many connections as their backlog.
    pub all_listeners: bool,
    /// The keys of listeners without their own; `None`: one drawn from the seed.
    pub keys: Option<Keys>,
    /// The pause in which no data leaves with a SYN after a path swallowed it; zero: no pause
    /// (tcp_fastopen_blackhole_timeout_sec).
    pub rest: Duration,
}

impl Default for FastOpen {
    /// As in Linux: only clients.
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

/// The keys of cookies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keys {
    /// The key of new cookies.
    pub primary: Key,
    /// An older key, whose cookies are still accepted.
    pub backup: Option<Key>,
}

impl Keys {
    /// Keys from 16 or 32 bytes (TCP_FASTOPEN_KEY); `None` for any other length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match (bytes.len(), &words(bytes)[..]) {
            (16, [a, b]) => Some(Self { primary: [*a, *b], backup: None }),
            (32, [a, b, c, d]) => Some(Self { primary: [*a, *b], backup: Some([*c, *d]) }),
            _ => None,
        }
    }

    /// The bytes of the keys.
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = self.primary.iter().chain(self.backup.iter().flatten());
        words.flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// Words of eight bytes, little-endian.
fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|word| word.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))).collect()
}

/// The cookie of a server for a client under this key.
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

/// The servers and failures that a host remembers.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Jars by the local address and the server's.
    pub(crate) servers: BTreeMap<(IpAddr, IpAddr), Jar>,
    /// Time at which the path last swallowed data, and how often in a row.
    pub(crate) swallowed: Option<(Instant, u32)>,
}

impl Memory {
    /// The jar of a server, empty for an unknown one.
    pub(crate) fn of(&mut self, local: IpAddr, server: IpAddr) -> Jar {
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

/// The connections of a listener that were opened fast and still wait for their client's ACK.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) waiting: usize,
    /// Times until which reset connections count.
    pub(crate) reset: Vec<Instant>,
}

/// The first SYN of a client, and its inputs.
pub(crate) struct FirstSyn {
    pub(crate) jar: Jar,
    pub(crate) rules: Rules,
    pub(crate) early: Early,
}

impl FirstSyn {
    /// Whether the SYN can only request a cookie.
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

    /// net.ipv4.tcp_fastopen_key=a0bf63f7-ed803d81-cd641d30-cebc4a90, each word little-endian.
    const KEY: [u8; 16] =
        [0xf7, 0x63, 0xbf, 0xa0, 0x81, 0x3d, 0x80, 0xed, 0x30, 0x1d, 0x64, 0xcd, 0x90, 0x4a, 0xbc, 0xce];

    #[test]
    fn cookies_are_those_of_linux() {
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
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let rest = Duration::from_secs(10);
        for (times, length) in [(1, 10), (2, 20), (3, 40), (7, 640), (100, 640)] {
            let memory = Memory { swallowed: Some((at(5), times)), ..Memory::default() };
            assert!(memory.rests(at(5 + length - 1), rest) && !memory.rests(at(5 + length), rest), "{times}");
            assert!(!memory.rests(at(5), Duration::ZERO), "off");
        }
        assert!(!Memory::default().rests(at(0), rest));
    }

    #[test]
    fn memory_is_bounded() {
        let mut memory = Memory::default();
        let local = "10.0.0.1".parse().unwrap();
        for server in 0..2 * MOST_SERVERS as u32 {
            memory.of(local, IpAddr::V4(server.into()));
        }
        assert_eq!(memory.servers.len(), MOST_SERVERS);
    }
}
