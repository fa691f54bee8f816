//! The stack: assigns packets to sockets, and knows which packets and deadlines are due.

mod fast_open;

use crate::cookies::{self, Cookies, Opening};
use crate::error::SocketError;
use crate::fast_open::{FastOpen, Memory};
use crate::options::Settings;
use crate::send_space::{SendBuffer, SendSpace};
use crate::stream::Stream;
use crate::table::{Kind, Socket, SocketId, Table};
use lightlag_core::{Codepoint, Instant, RandomStream};
use lightlag_tcp::config::Config;
use lightlag_tcp::connection::reset_for;
use lightlag_tcp::ecn::Mode;
use lightlag_tcp::segment::{Flags, SeqNumber};
use lightlag_tcp::{Connection, Segment, State};
use lightlag_wire::{Addresses, IpFields, PacketError, TcpPacket};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The configuration of a host.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Its addresses. Packets for others are dropped and counted.
    pub addresses: Vec<IpAddr>,
    /// The TCP of sockets without options of their own.
    pub tcp: Config,
    /// Largest IP packet in bytes; bounds the MSS.
    pub mtu: u16,
    /// The ECN that a connecting socket requests, if it differs from the mode that it accepts.
    pub connecting_ecn: Option<Mode>,
    /// The send buffer of sockets without the option.
    pub send_buffer: SendBuffer,
    /// A socket accepts no more data while this many bytes wait to leave for the first time (tcp_notsent_lowat of
    /// Linux).
    pub not_sent_limit: u64,
    /// The least segments of a burst (tcp_min_tso_segs of Linux). The last of a burst has the PSH flag.
    pub least_burst: u64,
    /// A listener with too many half-open connections answers with cookies and keeps no state (RFC 4987 §3.6;
    /// tcp_syncookies of Linux). Otherwise it drops the SYN.
    pub syn_cookies: bool,
    /// The ends that send or accept data in a SYN (RFC 7413).
    pub fast_open: FastOpen,
    /// Hop limit of sent packets.
    pub ttl: u8,
    /// The seed of initial sequence numbers and ephemeral ports.
    pub seed: u64,
}

impl HostConfig {
    /// A host with these addresses that behaves like Linux.
    pub fn new(addresses: Vec<IpAddr>) -> Self {
        Self {
            addresses,
            tcp: lightlag_tcp::Profile::Linux.config(),
            mtu: 1500,
            connecting_ecn: None,
            send_buffer: SendBuffer::default(),
            not_sent_limit: u32::MAX.into(),
            least_burst: 2,
            syn_cookies: true,
            fast_open: FastOpen::default(),
            ttl: 64,
            seed: 1,
        }
    }
}

/// Counters of a host's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets that arrived.
    pub packets_in: u64,
    /// Packets that were sent.
    pub packets_out: u64,
    /// Dropped: the packet was cut, malformed, a fragment, or had a wrong checksum.
    pub bad_packets: u64,
    /// Dropped: neither TCP nor an ICMP message about it.
    pub other_protocols: u64,
    /// Dropped: the destination is not an address of this host.
    pub not_for_us: u64,
    /// Dropped: a SYN for a listener whose queue is full.
    pub refused_syns: u64,
    /// SYNs answered with a cookie, because too many connections were half open.
    pub cookies_sent: u64,
    /// Connections opened by an ACK that brought a cookie back.
    pub cookies_taken: u64,
    /// Resets sent for segments without a connection.
    pub resets: u64,
    /// ICMP errors that ended an opening connection.
    pub unreachable: u64,
    /// ICMP errors that made the segments of a connection smaller.
    pub smaller_paths: u64,
    /// Dropped: ICMP errors that are not about a segment in flight.
    pub stray_icmp: u64,
}

/// The dynamic ports of Linux (ip_local_port_range).
const EPHEMERAL: std::ops::Range<u16> = 32_768..61_000;

/// The most resets that may wait to leave: a flood of stray segments must not grow memory.
const MOST_REPLIES: usize = 1_000;

/// A host without I/O.
pub struct Stack {
    pub(crate) config: HostConfig,
    pub(crate) table: Table,
    /// By local and remote address.
    connections: BTreeMap<(SocketAddr, SocketAddr), SocketId>,
    /// Sockets that may have something to send.
    ready: VecDeque<SocketId>,
    /// Whole packets that belong to no socket.
    replies: VecDeque<Vec<u8>>,
    timers: BTreeSet<(Instant, SocketId)>,
    counters: Counters,
    cookies: Cookies,
    pub(crate) fast_open: Memory,
    next_port: u16,
    identification: u16,
    payload: Vec<u8>,
}

impl Stack {
    /// A host without sockets.
    pub fn new(config: HostConfig) -> Self {
        let span = u64::from(EPHEMERAL.end - EPHEMERAL.start);
        let first = RandomStream::new(config.seed, "ephemeral ports").bits() % span;
        Self {
            cookies: Cookies::new(config.seed),
            fast_open: Memory::default(),
            config,
            table: Table::default(),
            connections: BTreeMap::new(),
            ready: VecDeque::new(),
            replies: VecDeque::new(),
            timers: BTreeSet::new(),
            counters: Counters::default(),
            next_port: EPHEMERAL.start + first as u16,
            identification: 0,
            payload: Vec::new(),
        }
    }

    /// Counters of the packets so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The configuration.
    pub fn config(&self) -> &HostConfig {
        &self.config
    }

    /// Sets the TCP of new connections, and the ECN that connecting sockets request.
    pub fn set_tcp(&mut self, tcp: Config, connecting_ecn: Mode) {
        (self.config.tcp, self.config.connecting_ecn) = (tcp, Some(connecting_ecn));
    }

    /// Sets the bounds of autotuned send buffers.
    pub fn set_send_buffer(&mut self, bounds: SendBuffer) {
        self.config.send_buffer = bounds;
    }

    /// Sets the unsent limit of sockets without their own.
    pub fn set_not_sent_limit(&mut self, bytes: u64) {
        self.config.not_sent_limit = bytes;
    }

    /// Sets whether listeners answer with cookies once too many connections are half open.
    pub fn set_syn_cookies(&mut self, on: bool) {
        self.config.syn_cookies = on;
    }

    /// Sets the largest IP packet in bytes, for new connections.
    pub fn set_mtu(&mut self, bytes: u16) {
        self.config.mtu = bytes;
    }

    /// Sets the least segments of a burst, for new connections.
    pub fn set_least_burst(&mut self, segments: u64) {
        self.config.least_burst = segments;
    }

    /// Adds an address to the host.
    pub fn add_address(&mut self, address: IpAddr) {
        if !self.config.addresses.contains(&address) {
            self.config.addresses.push(address);
        }
    }

    /// Takes in a packet. Any packet is handled or counted.
    pub fn packet_in(&mut self, now: Instant, packet: &[u8]) {
        self.counters.packets_in += 1;
        match lightlag_wire::decode(packet) {
            Ok(tcp) => self.segment_in(now, &tcp),
            Err(PacketError::NotTcp { .. }) => {
                if !self.icmp_in(now, packet) {
                    self.counters.other_protocols += 1;
                }
            }
            Err(_) => self.counters.bad_packets += 1,
        }
    }

    fn segment_in(&mut self, now: Instant, packet: &TcpPacket<'_>) {
        let (local, remote) = (packet.addresses.destination, packet.addresses.source);
        if !self.config.addresses.contains(&local.ip()) {
            self.counters.not_for_us += 1;
            return;
        }
        if !is_unicast(remote.ip()) || remote.port() == 0 || local.port() == 0 {
            // RFC 1122 §4.2.3.10: these are never answered.
            self.counters.bad_packets += 1;
            return;
        }
        let segment = &packet.segment;
        let Some(id) = self.connections.get(&(local, remote)).copied() else {
            return self.open_passively(now, packet, None);
        };
        match self.successor(id, segment) {
            None => {
                if let Some(socket) = self.table.get_mut(id) {
                    // The peer is alive.
                    socket.soft_error = None;
                    if let Some(stream) = socket.stream() {
                        stream.take(now, segment, packet.ip.ecn, packet.payload);
                    }
                }
                self.note_confirmation(now, id);
                self.note_success(id, (local.ip(), remote.ip()));
                self.enqueue(id);
            }
            Some(initial) if self.listener_at(local).is_some() => {
                self.retire(id);
                self.open_passively(now, packet, Some(initial));
            }
            // No listener waits for the new connection: TIME-WAIT ends first.
            Some(_) => {}
        }
    }

    /// The initial sequence number for the connection that a SYN opens in place of one in TIME-WAIT.
    fn successor(&mut self, id: SocketId, segment: &Segment) -> Option<SeqNumber> {
        self.stream_mut(id)?.connection.successor(segment)
    }

    /// Handles a segment without a connection: a SYN to a listener opens one, and anything else is answered by a reset.
    fn open_passively(&mut self, now: Instant, packet: &TcpPacket<'_>, initial: Option<SeqNumber>) {
        let (local, remote) = (packet.addresses.destination, packet.addresses.source);
        let segment = &packet.segment;
        let Some(listener) = self.listener_at(local) else {
            return self.reset(&packet.addresses, segment);
        };
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.flags.has(Flags::ACK) {
            let opened = !segment.flags.has(Flags::SYN) && self.open_with_cookie(now, packet, listener);
            if !opened {
                self.reset(&packet.addresses, segment);
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        let Some(socket) = self.table.get_mut(listener) else { return };
        let settings = socket.settings.clone();
        let Some(queue) = socket.listener() else { return };
        let (full, crowded) = (queue.waiting.len() > queue.backlog, queue.opening > queue.backlog);
        if full || crowded && !self.config.syn_cookies {
            self.counters.refused_syns += 1;
            return;
        }
        if crowded {
            return self.answer_with_cookie(now, packet, &settings);
        }
        let initial = initial.unwrap_or_else(|| self.initial_number(now, local, remote));
        let mut connection = Connection::server(self.tcp_config(&settings, local.ip()), initial);
        self.prepare_early(now, listener, &packet.addresses, segment, &mut connection);
        let mut stream = self.stream(connection, &settings);
        stream.take(now, segment, packet.ip.ecn, packet.payload);
        let id = self.insert_child(listener, stream, settings, &packet.addresses);
        self.note_early(listener, id);
    }

    /// Adds a listener's connection whose handshake is in progress.
    fn insert_child(
        &mut self,
        listener: SocketId,
        stream: Stream,
        settings: Settings,
        addresses: &Addresses,
    ) -> SocketId {
        let (local, remote) = (addresses.destination, addresses.source);
        if let Some(queue) = self.table.get_mut(listener).and_then(Socket::listener) {
            queue.opening += 1;
        }
        let mut child = Socket::new(Kind::Stream(Box::new(stream)), settings);
        (child.local, child.remote, child.parent) = (Some(local), Some(remote), Some(listener));
        let id = self.table.insert(child);
        self.connections.insert((local, remote), id);
        self.enqueue(id);
        id
    }

    /// Sends the SYN-ACK that a connection would send, with a cookie as its number, and does not keep the connection.
    fn answer_with_cookie(&mut self, now: Instant, packet: &TcpPacket<'_>, settings: &Settings) {
        let (local, remote) = (packet.addresses.destination, packet.addresses.source);
        if self.replies.len() >= MOST_REPLIES {
            self.counters.refused_syns += 1;
            return;
        }
        let config = self.tcp_config(settings, local.ip());
        let syn = cookies::bare_syn(&packet.segment, config.timestamps);
        let opening = Opening { local, remote, number: syn.seq };
        // RFC 9293 §3.7.1: the default of a peer that names no MSS.
        let mss = syn.syn_options().mss.unwrap_or(if local.is_ipv4() { 536 } else { 1_220 });
        let initial = self.cookies.make(now, &opening, mss);
        let mut connection = Connection::server(config, initial);
        connection.handle_segment(now, &syn);
        if let Some(syn_ack) = connection.poll_segment(now) {
            self.reply(&packet.addresses, &cookies::answer(syn_ack, &syn));
            self.counters.cookies_sent += 1;
        }
    }

    /// Opens the connection if the ACK brings a valid cookie back. Returns whether it does.
    fn open_with_cookie(&mut self, now: Instant, packet: &TcpPacket<'_>, listener: SocketId) -> bool {
        let (local, remote, ack) = (packet.addresses.destination, packet.addresses.source, &packet.segment);
        let opening = Opening { local, remote, number: ack.seq.plus(u32::MAX) };
        let cookie = ack.ack.plus(u32::MAX);
        let Some(mss) = self.cookies.read(now, cookie, &opening) else { return false };
        let Some(socket) = self.table.get_mut(listener) else { return false };
        let settings = socket.settings.clone();
        if socket.listener().is_none_or(|queue| queue.waiting.len() > queue.backlog) {
            // As any ACK for a full queue: the peer sends its data again, which is an ACK, too.
            self.counters.refused_syns += 1;
            return true;
        }
        let config = self.tcp_config(&settings, local.ip());
        let syn = cookies::syn_behind(ack, mss, config.timestamps);
        let mut stream = self.stream(Connection::server(config, cookie), &settings);
        stream.take(now, &syn, Codepoint::NotEct, &[]);
        // Its SYN-ACK left long ago.
        while stream.poll(now, &mut Vec::new()).is_some() {}
        stream.take(now, ack, packet.ip.ecn, packet.payload);
        self.counters.cookies_taken += 1;
        self.insert_child(listener, stream, settings, &packet.addresses);
        true
    }

    /// RFC 9293 §3.10.7.1.
    fn reset(&mut self, addresses: &Addresses, segment: &Segment) {
        if self.replies.len() >= MOST_REPLIES {
            return;
        }
        if let Some(reset) = reset_for(segment) {
            self.reply(addresses, &reset);
            self.counters.resets += 1;
        }
    }

    /// Sends a segment without a socket back to the sender of a segment with these addresses.
    fn reply(&mut self, addresses: &Addresses, segment: &Segment) {
        let back = Addresses { source: addresses.destination, destination: addresses.source };
        let mut packet = Vec::new();
        let fields = self.ip_fields(Codepoint::NotEct);
        lightlag_wire::encode(&mut packet, &back, &fields, segment, &[]);
        self.replies.push_back(packet);
    }

    fn ip_fields(&mut self, ecn: Codepoint) -> IpFields {
        self.identification = self.identification.wrapping_add(1);
        IpFields { ecn, ttl: self.config.ttl, identification: self.identification, dont_fragment: true }
    }

    /// Writes the next packet to `out`; `false` if there is none now. Call it after every event until it returns false.
    pub fn poll_packet(&mut self, now: Instant, out: &mut Vec<u8>) -> bool {
        if let Some(reply) = self.replies.pop_front() {
            *out = reply;
            self.counters.packets_out += 1;
            return true;
        }
        let mut payload = std::mem::take(&mut self.payload);
        let mut found = false;
        while let Some(id) = self.ready.front().copied() {
            if self.poll_socket(now, id, &mut payload, out) {
                found = true;
                break;
            }
            self.ready.pop_front();
            if let Some(socket) = self.table.get_mut(id) {
                socket.queued = false;
            }
            self.settle(id);
        }
        self.payload = payload;
        found
    }

    fn poll_socket(&mut self, now: Instant, id: SocketId, payload: &mut Vec<u8>, out: &mut Vec<u8>) -> bool {
        let Some(socket) = self.table.get_mut(id) else { return false };
        let (Some(source), Some(destination)) = (socket.local, socket.remote) else { return false };
        let Kind::Stream(stream) = &mut socket.kind else { return false };
        let Some((segment, ecn)) = stream.poll(now, payload) else { return false };
        let fields = self.ip_fields(ecn);
        lightlag_wire::encode(out, &Addresses { source, destination }, &fields, &segment, payload);
        self.counters.packets_out += 1;
        true
    }

    /// Number of connections that are not in TIME-WAIT.
    pub fn active_connections(&self) -> usize {
        let busy = |socket: &Socket| match &socket.kind {
            Kind::Stream(stream) => !matches!(stream.connection.state(), State::Closed | State::TimeWait),
            _ => false,
        };
        self.table.iter().filter(|(_, socket)| busy(socket)).count()
    }

    /// Time at which [`Self::handle_timeout`] must be called, if at all.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.timers.first().map(|(time, _)| *time)
    }

    /// The clock reached [`Self::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((time, id)) = self.timers.first().copied()
            && time <= now
        {
            self.timers.pop_first();
            if let Some(socket) = self.table.get_mut(id) {
                socket.armed = None;
                if let Some(stream) = socket.stream() {
                    stream.handle_timeout(now);
                }
                self.note_silence(now, id);
                self.enqueue(id);
            }
        }
    }

    /// Queues a socket that may have something to send. A connecting application is told at once.
    pub(crate) fn enqueue(&mut self, id: SocketId) {
        if let Some(socket) = self.table.get_mut(id)
            && !socket.queued
        {
            socket.queued = true;
            self.ready.push_back(id);
        }
        self.note_state(id);
    }

    /// Tells listener and owner about the state of a connection.
    fn note_state(&mut self, id: SocketId) {
        let Some(socket) = self.table.get_mut(id) else { return };
        let Some(state) = socket.stream().map(|stream| stream.connection.state()) else { return };
        let opening = matches!(state, State::SynReceived | State::SynSent);
        if let Some(parent) = socket.parent.filter(|_| !opening) {
            socket.parent = None;
            let alive = !matches!(state, State::Closed | State::Listen);
            socket.orphan = !alive;
            if let Some(listener) = self.table.get_mut(parent).and_then(Socket::listener) {
                listener.opening -= 1;
                if alive {
                    listener.waiting.push_back(id);
                    listener.arrivals += 1;
                }
            }
        }
        let Some(socket) = self.table.get_mut(id) else { return };
        if matches!(state, State::Closed) && !socket.ended {
            socket.ended = true;
            let failure = socket.stream().and_then(|stream| stream.connection.statistics().failure);
            let failure = failure.map(SocketError::from);
            let told = if failure == Some(SocketError::TimedOut) { socket.soft_error.or(failure) } else { failure };
            socket.error = socket.error.or(told);
        }
    }

    /// No packet leaves now: sets the timer, or forgets a dead socket.
    fn settle(&mut self, id: SocketId) {
        self.note_state(id);
        let Some(socket) = self.table.get_mut(id) else { return };
        let orphan = socket.orphan;
        let Some(stream) = socket.stream() else { return };
        let state = stream.connection.state();
        let deadline = stream.poll_timeout();
        if matches!(state, State::Closed | State::Listen) {
            self.leave_early(id);
            self.disconnect(id);
            if orphan {
                self.forget(id);
                return;
            }
        }
        self.arm(id, deadline);
    }

    fn arm(&mut self, id: SocketId, deadline: Option<Instant>) {
        let Some(socket) = self.table.get_mut(id) else { return };
        if socket.armed != deadline {
            if let Some(old) = socket.armed {
                self.timers.remove(&(old, id));
            }
            socket.armed = deadline;
            if let Some(deadline) = deadline {
                self.timers.insert((deadline, id));
            }
        }
    }

    /// Frees the pair of addresses.
    fn disconnect(&mut self, id: SocketId) {
        if let Some(socket) = self.table.get(id)
            && let (Some(local), Some(remote)) = (socket.local, socket.remote)
            && self.connections.get(&(local, remote)) == Some(&id)
        {
            self.connections.remove(&(local, remote));
        }
    }

    /// Removes the socket.
    pub(crate) fn forget(&mut self, id: SocketId) {
        self.arm(id, None);
        self.disconnect(id);
        self.table.remove(id);
    }

    /// Replaces a connection in TIME-WAIT by a new one.
    fn retire(&mut self, id: SocketId) {
        self.disconnect(id);
        let Some(socket) = self.table.get_mut(id) else { return };
        // The connection ended normally.
        socket.ended = true;
        if let Some(stream) = socket.stream() {
            stream.connection.abort();
        }
        self.enqueue(id);
    }

    /// The socket that listens at this address. One bound to exactly this address comes before one bound to all.
    fn listener_at(&self, local: SocketAddr) -> Option<SocketId> {
        let mut found = None;
        for (id, socket) in self.table.iter() {
            let Kind::Listener(_) = socket.kind else { continue };
            match socket.local {
                Some(bound) if bound == local => return Some(id),
                Some(bound) if bound.port() == local.port() && covers(bound.ip(), local.ip()) => found = Some(id),
                _ => {}
            }
        }
        found
    }

    /// An initial sequence number: a clock of 4 µs and an offset that only the seed determines (RFC 9293 §3.4.1).
    pub(crate) fn initial_number(&self, now: Instant, local: SocketAddr, remote: SocketAddr) -> SeqNumber {
        let offset = RandomStream::new(self.config.seed, &format!("{local} {remote}")).bits();
        SeqNumber((now.as_nanos() / 4_000).wrapping_add(offset) as u32)
    }

    /// The TCP configuration that results from the settings of a socket.
    pub(crate) fn tcp_config(&self, settings: &Settings, local: IpAddr) -> Arc<Config> {
        let mut config = self.config.tcp.clone();
        let headers = if local.is_ipv4() { 40 } else { 60 };
        let most = self.config.mtu.saturating_sub(headers).max(1);
        config.mss = config.mss.min(most).min(settings.max_segment.unwrap_or(u16::MAX));
        config.nagle = !settings.no_delay;
        // The socket cuts its stream itself, by its writes.
        (config.push, config.tso) = (false, false);
        config.congestion = settings.congestion.clone();
        config.keep_alive = settings.probing();
        config.syn_retries = settings.syn_count.unwrap_or(config.syn_retries);
        if let Some(scps) = &mut config.scps {
            // A stream of real bytes cannot have holes: partial reliability is not offered.
            scps.bets = None;
        }
        if config.ecn == Mode::Off && config.congestion.fixed_needs().exact_marks {
            config.ecn = Mode::Classic;
        }
        if let Some(buffer) = settings.receive_buffer {
            (config.receive_buffer, config.receive_buffer_initial) = (buffer, None);
        }
        Arc::new(config)
    }

    /// A new connection with the settings of its socket.
    pub(crate) fn stream(&self, mut connection: Connection, settings: &Settings) -> Stream {
        connection.set_user_timeout(settings.user_timeout);
        let fixed = settings.send_buffer.map(|bytes| bytes.0);
        let space = SendSpace::new(fixed, self.config.send_buffer, self.not_sent_limit(settings));
        Stream::new(connection, settings.cork, self.config.least_burst, space)
    }

    pub(crate) fn not_sent_limit(&self, settings: &Settings) -> u64 {
        if settings.not_sent_limit.0 > 0 { settings.not_sent_limit.0 } else { self.config.not_sent_limit }
    }

    /// A port that no other socket uses for this peer.
    pub(crate) fn ephemeral_port(&mut self, local: IpAddr, remote: SocketAddr) -> Option<u16> {
        for _ in EPHEMERAL {
            let port = self.next_port;
            self.next_port = if port + 1 == EPHEMERAL.end { EPHEMERAL.start } else { port + 1 };
            let address = SocketAddr::new(local, port);
            if !self.connections.contains_key(&(address, remote)) && !self.is_taken(address) {
                return Some(port);
            }
        }
        None
    }

    /// Whether a socket is bound to this address, or to one that covers it.
    pub(crate) fn is_taken(&self, address: SocketAddr) -> bool {
        self.table.iter().any(|(_, socket)| {
            !matches!(socket.kind, Kind::Stream(_))
                && socket.local.is_some_and(|bound| {
                    bound.port() == address.port()
                        && (covers(bound.ip(), address.ip()) || covers(address.ip(), bound.ip()))
                })
        })
    }

    /// Assigns the pair of addresses to the socket; `false` if another socket has it.
    pub(crate) fn register(&mut self, local: SocketAddr, remote: SocketAddr, id: SocketId) -> bool {
        let free = !self.connections.contains_key(&(local, remote));
        if free {
            self.connections.insert((local, remote), id);
        }
        free
    }

    /// The connection between these addresses.
    pub(crate) fn connection_between(&self, local: SocketAddr, remote: SocketAddr) -> Option<SocketId> {
        self.connections.get(&(local, remote)).copied()
    }

    pub(crate) fn note_unreachable(&mut self) {
        self.counters.unreachable += 1;
    }

    pub(crate) fn note_smaller_path(&mut self) {
        self.counters.smaller_paths += 1;
    }

    pub(crate) fn note_stray_icmp(&mut self) {
        self.counters.stray_icmp += 1;
    }

    pub(crate) fn stream_mut(&mut self, id: SocketId) -> Option<&mut Stream> {
        self.table.get_mut(id)?.stream()
    }
}

/// Whether a socket bound to `bound` receives packets sent to `address`.
fn covers(bound: IpAddr, address: IpAddr) -> bool {
    bound == address || bound.is_unspecified() && bound.is_ipv4() == address.is_ipv4()
}

fn is_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !(address.is_multicast() || address.is_broadcast() || address.is_unspecified()),
        IpAddr::V6(address) => !(address.is_multicast() || address.is_unspecified()),
    }
}
