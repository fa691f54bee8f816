//! TCP Fast Open of a host (RFC 7413): the cookies of its listeners, its memory of servers, and its pauses after
//! failures.
//!
//! A cookie is the SipHash of both addresses under a key, as in Linux (`__tcp_fastopen_cookie_gen_cipher`). Hosts that
//! share a key accept each other's cookies. Data in a SYN goes to the application at once, as long as not too many
//! connections of the listener wait for their client's ACK. Connections that were reset count for a while too, so that
//! forged resets cannot flood the listener (`tcp_fastopen_queue_check`).

use crate::cookies::siphash;
use crate::options::Settings;
use crate::stack::Stack;
use crate::table::{Kind, Socket, SocketId};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_tcp::account::Failure;
use lightlag_tcp::fast_open::{Early, Jar, Rules};
use lightlag_tcp::segment::Cookie;
use lightlag_tcp::{Connection, Segment, State};
use lightlag_wire::Addresses;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The time for which a reset connection counts as waiting (`tcp_fastopen_queue_check`).
const RESET_COUNTS: Duration = Duration::from_secs(60);

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
fn cookie(key: Key, client: IpAddr, server: IpAddr) -> Option<Cookie> {
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
    servers: BTreeMap<(IpAddr, IpAddr), Jar>,
    /// Time at which the path last swallowed data, and how often in a row.
    swallowed: Option<(Instant, u32)>,
}

impl Memory {
    /// The jar of a server, empty for an unknown one.
    fn of(&mut self, local: IpAddr, server: IpAddr) -> Jar {
        if self.servers.len() >= MOST_SERVERS && !self.servers.contains_key(&(local, server)) {
            self.servers.pop_first();
        }
        *self.servers.entry((local, server)).or_default()
    }

    fn rests(&self, now: Instant, rest: Duration) -> bool {
        self.swallowed.is_some_and(|(since, times)| {
            let doublings = times.saturating_sub(1).min(MOST_DOUBLINGS);
            now.since(since) < rest * (1 << doublings)
        })
    }
}

/// The connections of a listener that were opened fast and still wait for their client's ACK.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    waiting: usize,
    /// Times until which reset connections count.
    reset: Vec<Instant>,
}

impl Stack {
    /// The keys of a listener.
    fn keys(&self, settings: &Settings) -> Keys {
        settings.fast_open_keys.or(self.config.fast_open.keys).unwrap_or_else(|| {
            let mut secret = RandomStream::new(self.config.seed, "fast open key");
            Keys { primary: [secret.bits(), secret.bits()], backup: None }
        })
    }

    /// Forgets everything learned about servers.
    pub fn forget_servers(&mut self) {
        self.fast_open.servers.clear();
    }

    /// Sets the use of fast open from now on.
    pub fn set_fast_open(&mut self, fast_open: FastOpen) {
        self.config.fast_open = fast_open;
    }

    /// The default number of connections that may have early data on a listener with this backlog (`inet_listen`).
    pub(crate) fn usual_fast_open(&self, backlog: usize) -> usize {
        let all = self.config.fast_open.server && self.config.fast_open.all_listeners;
        if all { backlog } else { 0 }
    }

    /// The first SYN of a client with these settings between these `ends`, the local and the server's. `None`: a plain
    /// SYN, because data was swallowed lately.
    pub(crate) fn early(
        &mut self,
        now: Instant,
        settings: &Settings,
        ends: (IpAddr, IpAddr),
        waiting: usize,
    ) -> Option<FirstSyn> {
        if self.fast_open.rests(now, self.config.fast_open.rest) {
            return None;
        }
        let jar = self.fast_open.of(ends.0, ends.1);
        let without_cookie = self.config.fast_open.client_without_cookie || settings.fast_open_no_cookie;
        let rules = Rules { without_cookie, without_data: true, ..Rules::default() };
        let early = jar.early(&rules, waiting as u64, self.tcp_config(settings, ends.0).mss);
        Some(FirstSyn { jar, rules, early })
    }

    /// Prepares a listener's connection for the options of a SYN.
    pub(crate) fn prepare_early(
        &mut self,
        now: Instant,
        listener: SocketId,
        addresses: &Addresses,
        syn: &Segment,
        connection: &mut Connection,
    ) {
        if !self.config.fast_open.server || syn.len == 0 && syn.cookie().is_none() {
            return;
        }
        let Some(socket) = self.table.get_mut(listener) else { return };
        let settings = socket.settings.clone();
        let Some(queue) = socket.listener() else { return };
        queue.fast.reset.retain(|until| now < *until);
        let most = settings.fast_open.unwrap_or(queue.fast_open);
        if queue.fast.waiting + queue.fast.reset.len() >= most {
            return;
        }
        let keys = self.keys(&settings);
        let (client, server) = (addresses.source.ip(), addresses.destination.ip());
        let Some(given) = cookie(keys.primary, client, server) else { return };
        let without_cookie = self.config.fast_open.server_without_cookie || settings.fast_open_no_cookie;
        let retired = keys.backup.and_then(|key| cookie(key, client, server));
        let rules = Rules { without_cookie, without_data: true, retired, ..Rules::default() };
        connection.open_fast_by(Jar::new(given), rules);
    }

    /// Notes an event at a connection whose SYN brought data: its client may have been heard, or it may have ended.
    pub(crate) fn note_confirmation(&mut self, now: Instant, id: SocketId) {
        let Some(socket) = self.table.get_mut(id) else { return };
        let Some(listener) = socket.fast_parent else { return };
        let Some(connection) = socket.stream().map(|stream| &stream.connection) else { return };
        let closed = connection.state() == State::Closed;
        if connection.is_unconfirmed() && !closed {
            return;
        }
        let reset = closed && connection.statistics().failure == Some(Failure::Reset);
        socket.fast_parent = None;
        if let Some(queue) = self.table.get_mut(listener).and_then(Socket::listener) {
            queue.fast.waiting -= 1;
            if reset {
                queue.fast.reset.push(now + RESET_COUNTS);
            }
        }
    }

    /// Notes that a connection ended by itself.
    pub(crate) fn leave_early(&mut self, id: SocketId) {
        let Some(listener) = self.table.get_mut(id).and_then(|socket| socket.fast_parent.take()) else { return };
        if let Some(queue) = self.table.get_mut(listener).and_then(Socket::listener) {
            queue.fast.waiting -= 1;
        }
    }

    /// Notes that a connection of the listener has data before its client's ACK.
    pub(crate) fn note_early(&mut self, listener: SocketId, id: SocketId) {
        let unconfirmed = self.stream_mut(id).is_some_and(|stream| stream.connection.is_unconfirmed());
        if !unconfirmed {
            return;
        }
        if let Some(queue) = self.table.get_mut(listener).and_then(Socket::listener) {
            queue.fast.waiting += 1;
        }
        if let Some(socket) = self.table.get_mut(id) {
            socket.fast_parent = Some(listener);
        }
    }

    /// Whether the connection has data, but neither its client's ACK nor an application that accepted it.
    pub(crate) fn waits_unconfirmed(&self, id: SocketId) -> bool {
        let Some(listener) = self.table.get(id).and_then(|socket| socket.fast_parent) else { return false };
        match self.table.get(listener).map(|socket| &socket.kind) {
            Some(Kind::Listener(queue)) => queue.waiting.contains(&id),
            _ => false,
        }
    }

    /// Notes a timeout. Too many in a row at a connection that was opened fast make the host pause
    /// (`tcp_fastopen_active_detect_blackhole`).
    pub(crate) fn note_silence(&mut self, now: Instant, id: SocketId) {
        let Some(stream) = self.stream_mut(id) else { return };
        let swallowed = stream.connection.fast_open_outcome().swallowed;
        if swallowed && !std::mem::replace(&mut stream.blamed, true) {
            let times = self.fast_open.swallowed.map_or(0, |(_, times)| times);
            self.fast_open.swallowed = Some((now, times.saturating_add(1)));
        }
    }

    /// Notes the arrival of a segment. A SYN-ACK may bring a cookie, and one that acknowledges data of the SYN shows
    /// that the path lets such data through.
    pub(crate) fn note_success(&mut self, id: SocketId, ends: (IpAddr, IpAddr)) {
        let lesson = self.stream_mut(id).and_then(|stream| stream.connection.take_lesson());
        if let (Some(lesson), Some(jar)) = (lesson, self.fast_open.servers.get_mut(&ends)) {
            jar.take(lesson);
        }
        if self.fast_open.swallowed.is_none() {
            return;
        }
        let outcome = self.stream_mut(id).map(|stream| stream.connection.fast_open_outcome());
        if outcome.is_some_and(|outcome| outcome.sent > 0 && outcome.taken) {
            self.fast_open.swallowed = None;
        }
    }
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
