//! Handles packets that arrive: for a connection, for a listener, or for neither.

use super::addresses::is_unicast;
use super::{Stack, SynCookies};
use crate::cookies::{self, ConnectionAddresses};
use crate::options::Settings;
use crate::stream::Stream;
use crate::table::{Socket, SocketId, SocketKind};
use lightlag_core::{Codepoint, Instant};
use lightlag_tcp::connection::reset_for;
use lightlag_tcp::segment::{Flags, SeqNumber};
use lightlag_tcp::{Connection, Segment};
use lightlag_wire::{Addresses, PacketError, TcpPacket};

/// Maximum number of resets that wait to be sent, so that a flood of stray segments cannot exhaust the memory.
const MOST_REPLIES: usize = 1_000;

impl Stack {
    /// Handles a packet that arrives. A packet that is dropped is counted.
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

    /// Returns the initial sequence number for a new connection, if the SYN may replace the existing one in TIME-WAIT.
    fn successor(&mut self, id: SocketId, segment: &Segment) -> Option<SeqNumber> {
        self.stream_mut(id)?.connection.successor(segment)
    }

    /// Handles a segment without a connection: a SYN to a listener opens one, and any other segment causes a reset.
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
        if !segment.flags.has(Flags::SYN) || self.refuses_more() {
            return;
        }
        let Some(socket) = self.table.get_mut(listener) else { return };
        let settings = socket.settings.clone();
        let Some(queue) = socket.listener() else { return };
        let (full, crowded) = (queue.waiting.len() > queue.backlog, queue.opening > queue.backlog);
        if full || crowded && self.config.syn_cookies == SynCookies::Never {
            self.counters.refused_syns += 1;
            return;
        }
        if crowded || self.config.syn_cookies == SynCookies::Always {
            return self.answer_with_cookie(now, packet, &settings);
        }
        let initial = initial.unwrap_or_else(|| self.initial_number(now, local, remote));
        let mut connection = Connection::server(self.tcp_config(&settings, local.ip()), initial);
        if settings.defer_accept > 0 {
            connection.defer_opening(settings.defer_accept);
        }
        self.prepare_early(now, listener, &packet.addresses, segment, &mut connection);
        let mut stream = self.stream(connection, &settings);
        stream.take(now, segment, packet.ip.ecn, packet.payload);
        let id = self.insert_child(listener, stream, settings, &packet.addresses);
        self.note_early(listener, id);
    }

    /// Adds a connection of a listener whose handshake is in progress.
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
        let mut child = Socket::new(SocketKind::Stream(Box::new(stream)), settings);
        (child.local, child.remote, child.parent) = (Some(local), Some(remote), Some(listener));
        child.opened_by_peer = true;
        self.note_opened_by_peer();
        let id = self.table.insert(child);
        self.connections.insert((local, remote), id);
        self.enqueue(id);
        id
    }

    /// Replies with a SYN-ACK whose sequence number is a cookie, and discards the connection.
    fn answer_with_cookie(&mut self, now: Instant, packet: &TcpPacket<'_>, settings: &Settings) {
        let (local, remote) = (packet.addresses.destination, packet.addresses.source);
        if self.replies.len() >= MOST_REPLIES {
            self.counters.refused_syns += 1;
            return;
        }
        let config = self.tcp_config(settings, local.ip());
        let syn = cookies::bare_syn(&packet.segment, config.timestamps);
        let opening = ConnectionAddresses { local, remote, number: syn.seq };
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

    /// Opens a connection if the ACK returns a valid cookie. Returns false if it does not.
    fn open_with_cookie(&mut self, now: Instant, packet: &TcpPacket<'_>, listener: SocketId) -> bool {
        let (local, remote, ack) = (packet.addresses.destination, packet.addresses.source, &packet.segment);
        let opening = ConnectionAddresses { local, remote, number: ack.seq.plus(u32::MAX) };
        let cookie = ack.ack.plus(u32::MAX);
        let Some(mss) = self.cookies.read(now, cookie, &opening) else { return false };
        let Some(socket) = self.table.get_mut(listener) else { return false };
        let settings = socket.settings.clone();
        if socket.listener().is_none_or(|queue| queue.waiting.len() > queue.backlog) {
            // As for any ACK with a full queue: the peer sends its data again, which also carries an ACK.
            self.counters.refused_syns += 1;
            return true;
        }
        if self.refuses_more() {
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

    /// Sends a reset in response to a segment (RFC 9293 §3.10.7.1).
    fn reset(&mut self, addresses: &Addresses, segment: &Segment) {
        if self.replies.len() >= MOST_REPLIES {
            return;
        }
        if let Some(reset) = reset_for(segment) {
            self.reply(addresses, &reset);
            self.counters.resets += 1;
        }
    }

    /// Sends a segment that belongs to no socket back to the sender of a segment with these addresses.
    fn reply(&mut self, addresses: &Addresses, segment: &Segment) {
        let back = Addresses { source: addresses.destination, destination: addresses.source };
        let mut packet = Vec::new();
        let fields = self.ip_fields(Codepoint::NotEct);
        lightlag_wire::encode(&mut packet, &back, &fields, segment, &[]);
        self.replies.push_back(packet);
    }

    /// Removes a connection in TIME-WAIT, because a new one replaces it.
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

    pub(crate) fn note_unreachable(&mut self) {
        self.counters.unreachable += 1;
    }

    pub(crate) fn note_smaller_path(&mut self) {
        self.counters.smaller_paths += 1;
    }

    pub(crate) fn note_stray_icmp(&mut self) {
        self.counters.stray_icmp += 1;
    }
}
