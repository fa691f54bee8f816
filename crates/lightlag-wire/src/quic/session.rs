//! A connection in a capture: its connection IDs, its handshake messages and its protected packets.

use super::hello;
use super::ids::{ConnectionId, Role, fill, hexadecimal, reset_token};
use super::keys::{KeyUpdates, PacketKeys, initial_secret, null_keys, retry_tag};
use super::protect::protect;
use super::spec::SessionSpec;
use lightlag_quic::Kind;
use lightlag_quic::codec::{self, Ids};
use lightlag_quic::contents::{Contents, HeaderLengths, Part, PartView, TAG};
use lightlag_quic::frame::{Frame, RESET_TOKEN, ack_size};
use lightlag_quic::streams::Side;
use std::fmt::Write as _;

/// Writes the packets of a connection as they would be on the wire. Nothing but key updates is stored between packets,
/// so a packet has the same bytes wherever and however often it is captured.
#[derive(Clone, Debug)]
pub struct Session {
    spec: SessionSpec,
    /// Key updates of the client and of the server.
    updates: [KeyUpdates; 2],
}

impl Session {
    /// Creates a session.
    pub fn new(spec: SessionSpec) -> Self {
        Self { spec, updates: Default::default() }
    }

    /// Notes the key phase of packets that `sender` sends. Has to be called for datagrams in the order of sending, before
    /// [`Self::encode`], if keys are updated more than once.
    pub fn sent(&mut self, sender: Side, contents: &Contents) {
        let updates = &mut self.updates[sender as usize];
        for part in contents.parts.iter().filter(|part| part.kind == Kind::OneRtt) {
            if part.key_phase != updates.phase() {
                updates.add(self.spec.version, part.number);
            }
        }
    }

    /// Returns the secrets of the connection as a TLS key log. All traffic secrets are zero; Initial packets need none.
    pub fn key_log(&self) -> String {
        let random = hexadecimal(&hello::client_random(&self.spec));
        let secret = "0".repeat(2 * super::keys::SECRET);
        let mut log = String::new();
        let early = if self.spec.client.resumes { &["CLIENT_EARLY_TRAFFIC_SECRET"][..] } else { &[] };
        for label in early.iter().chain(&[
            "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
            "SERVER_HANDSHAKE_TRAFFIC_SECRET",
            "CLIENT_TRAFFIC_SECRET_0",
            "SERVER_TRAFFIC_SECRET_0",
        ]) {
            let _ = writeln!(log, "{label} {random} {secret}");
        }
        log
    }

    /// Appends the UDP payload of a datagram that `sender` sends. Its size is [`Contents::size`].
    ///
    /// `sequence` is the sequence number of the destination ID among those that the peer issued: 0 until the sender
    /// changes to another one. For a stateless reset it selects the ID of the sender whose token the reset contains.
    ///
    /// # Panics
    /// If a packet does not have the size that its header and its frames take, or is too short to be protected
    /// (RFC 9001 §5.4.2).
    pub fn encode(&self, out: &mut Vec<u8>, sender: Side, sequence: u64, contents: &Contents) {
        let source = match contents.parts.first() {
            Some(part) if part.kind == Kind::Retry => self.spec.retried(),
            _ => self.spec.own_id(sender, 0),
        };
        let destination = self.destination(sender, sequence, contents);
        let (source_id, destination_id) = (source.as_slice(), destination.as_slice());
        let mut start = out.len();
        let ids = Ids { destination: destination_id, source: source_id, version: self.spec.version };
        codec::encode(out, contents, &ids);
        for view in contents.iter() {
            let end = start + usize::from(view.part.size);
            self.finish(&mut out[start..end], sender, sequence, &view);
            start = end;
        }
    }

    /// Returns the destination ID of a datagram. A client uses the server's ID when it has received an Initial packet
    /// (RFC 9000 §7.2), which an acknowledgement or a later packet type shows.
    fn destination(&self, sender: Side, sequence: u64, contents: &Contents) -> ConnectionId {
        if sender == Side::Server {
            return self.spec.own_id(Side::Client, sequence);
        }
        let knows = |part: &Part| matches!(part.kind, Kind::Handshake | Kind::OneRtt) || part.ack.is_some();
        let was_retried = self.spec.retry && contents.parts.iter().any(|part| part.token > 0);
        let len = contents.iter().next().map_or(0, |view| self.destination_len(&view));
        if len == self.spec.server.id_len && contents.parts.iter().any(knows) {
            self.spec.own_id(Side::Server, sequence)
        } else if was_retried {
            self.spec.retried()
        } else {
            ConnectionId::new(self.spec.connection, Role::Original, 0, len)
        }
    }

    /// Returns the length of the destination ID in a packet of the client.
    fn destination_len(&self, view: &PartView<'_>) -> u8 {
        let part = view.part;
        if !part.kind.is_long() {
            return self.spec.server.id_len;
        }
        let lengths = HeaderLengths { destination: 0, source: self.spec.client.id_len, token: part.token };
        let rest = lengths.header(part.kind, part.number_len) + view.payload() + TAG;
        u64::from(part.size).saturating_sub(rest) as u8
    }

    /// Completes a packet that has null keys and payload of zeros.
    fn finish(&self, packet: &mut [u8], sender: Side, sequence: u64, view: &PartView<'_>) {
        let spec = &self.spec;
        match view.part.kind {
            Kind::StatelessReset => return self.write_reset(packet, sender, sequence),
            Kind::Retry => {
                let (body, tag) = packet.split_at_mut(packet.len() - TAG as usize);
                tag.copy_from_slice(&retry_tag(spec.version, spec.original().as_slice(), body));
                return;
            }
            _ => {}
        }
        self.fill(packet, sender, view);
        let number_len = usize::from(packet[0] & 3) + 1;
        let number_at = packet.len() - (TAG + view.payload()) as usize - number_len;
        let number = view.part.number;
        match view.part.kind {
            Kind::Initial => protect(packet, number_at, number, &self.initial_keys(sender, view.part)),
            Kind::OneRtt => {
                let keys = self.updates[sender as usize].keys(spec.version, number, view.part.key_phase);
                protect(packet, number_at, number, keys);
            }
            _ => protect(packet, number_at, number, null_keys(spec.version, false)),
        }
    }

    /// Returns the keys of an Initial packet. After a Retry packet they follow from its source ID (RFC 9001 §5.2).
    fn initial_keys(&self, sender: Side, part: &Part) -> PacketKeys {
        let spec = &self.spec;
        let was_retried = spec.retry && (sender == Side::Server || part.token > 0);
        let id = if was_retried { spec.retried() } else { spec.original() };
        PacketKeys::new(spec.version, &initial_secret(spec.version, sender, id.as_slice()))
    }

    /// Writes handshake messages and new connection IDs into the frames of a packet.
    fn fill(&self, packet: &mut [u8], sender: Side, view: &PartView<'_>) {
        let ack = view.part.ack.map_or(0, |ack| ack_size(&ack, view.ranges));
        let mut end = packet.len() - (TAG + view.payload()) as usize + ack as usize;
        for frame in view.frames {
            end += frame.size() as usize;
            match *frame {
                Frame::Crypto { offset, len } => {
                    let data = &mut packet[end - usize::from(len)..end];
                    let Some(space) = view.part.kind.space() else { continue };
                    let messages = hello::messages(&self.spec, sender, space);
                    let rest = messages.get(offset as usize..).unwrap_or_default();
                    data.iter_mut().zip(rest).for_each(|(byte, message)| *byte = *message);
                }
                Frame::NewConnectionId { sequence, len, .. } => {
                    let data = &mut packet[end - usize::from(len) - RESET_TOKEN as usize..end];
                    let role = Role::of(sender);
                    let (id, token) = data.split_at_mut(len.into());
                    id.copy_from_slice(ConnectionId::new(self.spec.connection, role, sequence, len).as_slice());
                    token.copy_from_slice(&reset_token(self.spec.connection, role, sequence));
                }
                _ => {}
            }
        }
    }

    /// Writes a stateless reset: bytes that look random, and the token (RFC 9000 §10.3).
    fn write_reset(&self, packet: &mut [u8], sender: Side, sequence: u64) {
        let len = packet.len();
        fill(packet, "stateless reset", [self.spec.connection, len as u64]);
        packet[0] = 0x40 | packet[0] & 0x3f;
        let token = reset_token(self.spec.connection, Role::of(sender), sequence);
        if let Some(end) = packet.get_mut(len.saturating_sub(token.len()).max(1)..) {
            let token = &token[token.len() - end.len()..];
            end.copy_from_slice(token);
        }
    }
}
