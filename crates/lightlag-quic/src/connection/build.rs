//! Construction of datagrams: which packets, which frames, how much (RFC 9000 §12.2, §13, §14.1).

use super::permit::{Permit, Plain};
use super::space::Keys;
use super::{Connection, State};
use crate::arena::Arena;
use crate::config::MIN_DATAGRAM;
use crate::contents::{Contents, HeaderLengths, Part, TAG};
use crate::frame::{Direction, Frame};
use crate::kind::{Kind, SpaceId};
use crate::number::encoded_len;
use crate::packet::Packet;
use crate::sent::{NO_FRAMES, SentFlags, SentPacket};
use crate::streams::{Chunk, Side};
use lightlag_core::{Codepoint, Instant};

/// A packet needs space for a few bytes of frames, or it is not started.
const MIN_PAYLOAD: u64 = 8;

/// Upper limit for the size of a STREAM frame's header: type, ID, offset and length.
const MAX_STREAM_HEADER: u64 = 25;

/// Bytes by which a packet is longer than its connection ID, so that a stateless reset resembles it (RFC 9000 §10.3).
const RESET_MARGIN: u64 = 22;

/// Bytes from the packet number to the end of the frames that header protection needs (RFC 9001 §5.4.2).
const SAMPLE: u64 = 4;

impl Connection {
    /// Returns the next packet to send now, if there is one.
    #[inline]
    pub fn poll_packet(&mut self, now: Instant, arena: &mut Arena) -> Option<Packet> {
        self.now = now;
        if self.is_quiet(now) { None } else { self.poll(now, arena) }
    }

    #[inline(never)]
    fn poll(&mut self, now: Instant, arena: &mut Arena) -> Option<Packet> {
        let mut packet = None;
        if !self.is_extra_due && self.poll_plain(now, &mut packet) == Plain::Decided {
            return packet;
        }
        packet = self.poll_general(now, arena);
        if let Some(packet) = &mut packet {
            packet.set_path(self.path);
        }
        self.is_extra_due = !self.is_plain() || self.has_extras();
        packet
    }

    /// Returns true if frames besides STREAM and ACK, or probes, wait to be sent.
    fn has_extras(&self) -> bool {
        let space = &self.spaces[SpaceId::Application as usize];
        space.probes > 0 || self.has_control(SpaceId::Application) || self.mtu_is_due()
    }

    #[inline(never)]
    fn poll_general(&mut self, now: Instant, arena: &mut Arena) -> Option<Packet> {
        self.close_requested(now);
        match self.state {
            State::Handshaking | State::Complete => {}
            State::Closing => return self.poll_close(arena),
            State::Closed => return self.poll_reset(arena),
            State::Idle if self.handshake.retry_due => return Some(self.retry(arena)),
            _ => return None,
        }
        if self.flights.is_some() {
            return self.poll_flight(now, arena);
        }
        self.pacing_timer = Instant::MAX;
        if self.mtu_is_due()
            && let Some(packet) = self.poll_mtu(now, arena)
        {
            return Some(packet);
        }
        if self.config.details.sparse_probes {
            for id in SpaceId::ALL {
                if self.spaces[id as usize].probes > 0 {
                    self.fill_probe(id);
                }
            }
        }
        let mut permit = Permit::Unknown;
        if self.is_confirmed {
            // Most calls end here: there is nothing to send, or the window is full.
            let space = &self.spaces[SpaceId::Application as usize];
            let must_ack = self.must_acknowledge(SpaceId::Application, now);
            if space.probes == 0 && (!must_ack || self.config.details.acks_wait) {
                let has_data = self.has_data(SpaceId::Application);
                if has_data {
                    permit = self.permit(now);
                }
                if permit != Permit::Granted && (!must_ack || has_data) {
                    self.note_idle(now, permit, has_data);
                    return None;
                }
            }
        }
        // A probe also passes a path whose MTU has shrunk (from memory: quinn).
        let is_probe = self.spaces[SpaceId::Application as usize].probes > 0;
        let size = if is_probe { self.config.datagram } else { self.datagram };
        let room = self.amplification_room().min(size.into());
        let mut contents = arena.scratch();
        contents.clear();
        let packet = self.build(now, room, permit, &mut contents).then(|| self.dispatch(now, arena, &mut contents));
        arena.put_back(contents);
        packet
    }

    /// Returns the header lengths of packets of a kind.
    #[inline(always)]
    pub(super) fn header_lengths(&self, kind: Kind) -> HeaderLengths {
        let token = if kind == Kind::Initial { self.own_token() } else { 0 };
        // Before the server has chosen an ID, the client's destination is a random one of 8 bytes. A Retry packet has
        // an ID of the server (RFC 9000 §17.2.5.2).
        let chosen = self.side == Side::Server || self.handshake.has_hello || self.handshake.was_retried;
        let destination = if chosen { self.peer.id_len } else { 8 };
        HeaderLengths { destination, source: self.config.id_len, token }
    }

    /// Returns the length of the token in Initial packets.
    pub(super) fn own_token(&self) -> u16 {
        if self.side == Side::Client { self.handshake.token } else { 0 }
    }

    /// Returns the type of the packets that this end sends in a space.
    #[inline(always)]
    fn kind(&self, id: SpaceId) -> Kind {
        match id {
            SpaceId::Initial => Kind::Initial,
            SpaceId::Handshake => Kind::Handshake,
            SpaceId::Application if self.side == Side::Client && !self.knows_peer => Kind::ZeroRtt,
            SpaceId::Application => Kind::OneRtt,
        }
    }

    /// Returns true if a space has control frames to send other than PING and IMMEDIATE_ACK.
    pub(super) fn has_control_frames(&self, id: SpaceId) -> bool {
        let space = &self.spaces[id as usize];
        let is_probe = |frame: &Frame| matches!(frame, Frame::Ping | Frame::ImmediateAck);
        space.crypto.has_pending()
            || !space.frames.iter().all(is_probe)
            || id == SpaceId::Application
                && (!self.streams.due.is_empty()
                    || self.handshake.done_due
                    || self.frequency_is_due()
                    || self.handshake.token_due)
    }

    /// Returns true if a space has frames to send other than acknowledgements.
    #[inline]
    pub(super) fn has_data(&self, id: SpaceId) -> bool {
        self.has_control(id) || id == SpaceId::Application && self.streams.can_send()
    }

    /// Returns true if a space has frames to send besides STREAM and ACK.
    #[inline]
    fn has_control(&self, id: SpaceId) -> bool {
        let space = &self.spaces[id as usize];
        if space.crypto.has_pending() || !space.frames.is_empty() {
            return true;
        }
        id == SpaceId::Application
            && (!self.streams.due.is_empty()
                || self.has_datagrams()
                || self.handshake.done_due
                || self.frequency_is_due()
                || self.handshake.token_due)
    }

    /// Builds the packets of a datagram of up to `room` bytes. Returns false if there is nothing to send.
    #[inline]
    fn build(&mut self, now: Instant, mut room: u64, mut permit: Permit, contents: &mut Contents) -> bool {
        let mut has_data = permit != Permit::Unknown;
        for id in SpaceId::ALL {
            if self.spaces[id as usize].sending != Keys::Ready {
                continue;
            }
            let kind = self.kind(id);
            let details = &self.config.details;
            if !contents.parts.is_empty() && room < details.coalescing_room {
                break;
            }
            let mut due = kind != Kind::ZeroRtt && self.must_acknowledge(id, now);
            let acks_wait = details.acks_wait;
            let mut may_send = self.spaces[id as usize].probes > 0;
            if details.free_coalescing && !contents.parts.is_empty() {
                may_send |= self.has_data(id);
            }
            if !may_send && self.has_data(id) {
                has_data = true;
                if permit == Permit::Unknown {
                    permit = self.permit(now);
                }
                may_send = permit == Permit::Granted || permit == Permit::Window && self.must_go_on(id);
                due &= may_send || !acks_wait;
                if acks_wait && permit == Permit::Pacing {
                    break;
                }
            }
            if !due && !may_send {
                continue;
            }
            let pads = id == SpaceId::Initial && (may_send || self.side == Side::Client);
            if pads && room < MIN_DATAGRAM.into() {
                // The amplification limit prevents a datagram that is large enough.
                continue;
            }
            room -= self.build_part(now, id, kind, room, due, may_send, contents);
        }
        if contents.parts.is_empty() {
            self.note_idle(now, permit, has_data);
            return false;
        }
        true
    }

    /// Appends a packet of up to `room` bytes. Returns its size; 0 if nothing fits.
    #[expect(clippy::too_many_arguments, reason = "the state of one datagram, used in one place")]
    #[inline]
    fn build_part(
        &mut self,
        now: Instant,
        id: SpaceId,
        kind: Kind,
        room: u64,
        ack_due: bool,
        may_send: bool,
        contents: &mut Contents,
    ) -> u64 {
        let index = id as usize;
        if id == SpaceId::Application && self.next_skip == Some(self.spaces[index].sent.next()) {
            self.skip_number(now);
        }
        let sent = &self.spaces[index].sent;
        let number = sent.next();
        let acked = sent.largest_acked();
        let number_len = match acked {
            Some(acked) if self.config.details.early_number_len => encoded_len(number - acked, None),
            acked => encoded_len(number, acked),
        };
        let overhead = self.header_lengths(kind).header(kind, number_len) + TAG;
        let Some(mut space) = room.checked_sub(overhead).filter(|space| *space >= MIN_PAYLOAD) else { return 0 };
        let (first_frame, first_range) = (contents.frames.len(), contents.ranges.len());
        let key_phase = self.next_key_phase(kind, number);
        let mut part = Part { kind, number, number_len, spin: self.spin, key_phase, ..Part::default() };
        if kind == Kind::Initial {
            part.token = self.own_token();
        }
        let bundles = self.config.details.bundled_acks;
        let received = &self.spaces[index].received;
        let with_ack = ack_due
            || kind != Kind::ZeroRtt
                && if bundles { received.is_overdue(&self.ack_rules) } else { received.has_news(&self.ack_rules) };
        if with_ack {
            let (header, size) = self.write_ack(now, id, space, contents);
            part.ack = Some(header);
            part.ranges = (contents.ranges.len() - first_range) as u16;
            space -= size;
        }
        if may_send {
            let is_probe = self.spaces[index].probes > 0;
            // With sparse probes, the frame already waits.
            let requests = self.uses_frequency() && !self.config.details.sparse_probes;
            if is_probe && id == SpaceId::Application && requests {
                contents.frames.push(Frame::ImmediateAck);
                space -= 1;
            }
            space -= self.write_frames(id, kind, space, contents);
            if is_probe && space > 0 && contents.frames.len() == first_frame {
                contents.frames.push(Frame::Ping);
                space -= 1;
            }
        } else if id == SpaceId::Application && with_ack && space > 0 && self.adds_ping(now, number) {
            contents.frames.push(Frame::Ping);
            space -= 1;
        }
        if contents.frames.len() == first_frame && part.ack.is_none() {
            return 0;
        }
        if bundles {
            space -= self.bundle_ack(now, id, space, &mut part, contents, first_range);
        }
        let mut size = room - space;
        let mut least = overhead - u64::from(number_len) + SAMPLE;
        if self.config.details.resembles_reset {
            least = least.max(u64::from(self.header_lengths(kind).destination) + RESET_MARGIN);
        }
        if size < least {
            contents.frames.push(Frame::Padding((least - size) as u16));
            size = least;
        }
        part.frames = (contents.frames.len() - first_frame) as u16;
        part.size = size as u16;
        contents.parts.push(part);
        size
    }

    /// Leaves out a packet number, so that an acknowledgement of it reveals a misbehaving peer.
    #[cold]
    fn skip_number(&mut self, now: Instant) {
        let sent = &mut self.spaces[SpaceId::Application as usize].sent;
        let packet = SentPacket { time: now, frames: NO_FRAMES, flags: SentFlags::SKIPPED, ..SentPacket::default() };
        let next = sent.next();
        sent.push(packet);
        let power = 1u64 << (63 - next.max(1).leading_zeros());
        self.plan_skip((power * 2).max(64));
    }

    /// Appends frames of up to `space` bytes. Returns their size.
    #[inline]
    fn write_frames(&mut self, id: SpaceId, kind: Kind, space: u64, contents: &mut Contents) -> u64 {
        let index = id as usize;
        let mut left = space;
        let mut push = |left: &mut u64, frame: Frame| {
            *left -= frame.size();
            contents.frames.push(frame);
        };
        if kind != Kind::ZeroRtt {
            if id == SpaceId::Application && (self.handshake.done_due || self.handshake.token_due) {
                let token = Frame::NewToken(self.config.handshake.new_token);
                if std::mem::take(&mut self.handshake.done_due) {
                    push(&mut left, Frame::HandshakeDone);
                }
                if self.handshake.token_due && token.size() <= left {
                    self.handshake.token_due = false;
                    push(&mut left, token);
                }
            }
            let roomy = self.config.details.roomy_frames;
            while let Some((offset, len)) = self.spaces[index].crypto.take(left, roomy) {
                push(&mut left, Frame::Crypto { offset, len });
            }
        }
        while let Some(frame) = self.spaces[index].frames.last().copied().filter(|frame| frame.size() <= left) {
            self.spaces[index].frames.pop();
            push(&mut left, frame);
        }
        if id != SpaceId::Application {
            return space - left;
        }
        if self.frequency_is_due()
            && let Some(frame) = self.next_frequency(left)
        {
            push(&mut left, frame);
        }
        if !self.streams.due.is_empty() {
            self.write_credit(&mut left, &mut push);
        }
        while self.has_datagrams()
            && let Some(frame) = self.next_datagram(left)
        {
            push(&mut left, frame);
        }
        while left > 0 {
            let is_repair = self.streams.has_repairs();
            if self.config.details.roomy_frames && left <= MAX_STREAM_HEADER {
                break;
            }
            let Some(Chunk { stream, offset, len, fin, to_end }) = self.streams.next_chunk(left) else { break };
            self.counters.repairs += u64::from(is_repair);
            push(&mut left, Frame::Stream { stream, offset, len, fin, to_end });
        }
        if !self.streams.due.is_empty() {
            // Streams may have become blocked.
            self.write_credit(&mut left, &mut push);
        }
        space - left
    }

    #[cold]
    fn write_credit(&mut self, left: &mut u64, push: &mut impl FnMut(&mut u64, Frame)) {
        for direction in [Direction::Bidirectional, Direction::Unidirectional] {
            let permitted = self.streams.permitted(direction);
            let due = &mut self.streams.due.max_streams[usize::from(direction == Direction::Unidirectional)];
            let frame = Frame::MaxStreams(direction, permitted);
            if *due && frame.size() <= *left {
                *due = false;
                push(left, frame);
            }
        }
        while let Some(frame) = self.streams.next_frame(*left) {
            push(left, frame);
        }
    }

    /// Pads the datagram if necessary, registers its packets as sent, and packs it.
    #[inline]
    pub(super) fn dispatch(&mut self, now: Instant, arena: &mut Arena, contents: &mut Contents) -> Packet {
        if contents.parts[0].kind != Kind::OneRtt {
            self.pad(contents);
        } else if contents.frames.iter().any(|frame| matches!(frame, Frame::PathChallenge(_) | Frame::PathResponse(_)))
        {
            self.pad_path(contents);
        }
        let size = contents.size();
        let first = contents.parts[0].kind.space().unwrap_or(SpaceId::Application);
        let codepoint = self.ecn.send(now, first, self.rtt.pto());
        let (mut frame, mut discards) = (0, false);
        let mut elicits = false;
        let before = self.in_flight;
        for index in 0..contents.parts.len() {
            let part = contents.parts[index];
            let frames = &contents.frames[frame..frame + usize::from(part.frames)];
            frame += frames.len();
            if index > 0 && codepoint.is_capable() {
                self.ecn.coalesced(part.kind.space().unwrap_or(SpaceId::Application));
            }
            elicits |= self.register(now, &part, frames, codepoint, index == 0);
            discards |= self.side == Side::Client && part.kind == Kind::Handshake;
        }
        let in_flight = self.in_flight != before;
        if elicits && !std::mem::replace(&mut self.sent_since_arrival, true) {
            self.restart_idle_timer(now);
        }
        self.counters.datagrams += 1;
        self.counters.bytes_sent += size;
        // quinn sets its timers with the amplification limit before the datagram.
        let late = if self.config.details.loose_amplification { size } else { 0 };
        self.handshake.sent += size - late;
        if discards {
            // RFC 9001 §4.9.1: with its first Handshake packet the client discards Initial keys.
            self.discard(now, SpaceId::Initial);
        }
        if elicits || self.config.details.keeps_backoff && in_flight {
            self.set_timers(now);
        }
        self.handshake.sent += late;
        let mut packet = arena.pack(contents);
        packet.set_codepoint(codepoint);
        packet
    }

    /// Adds PADDING so that a datagram with an Initial packet has 1200 bytes (RFC 9000 §14.1). A server pads only
    /// eliciting ones.
    #[inline(never)]
    fn pad(&mut self, contents: &mut Contents) {
        let needs = contents
            .iter()
            .any(|view| view.part.kind == Kind::Initial && (self.side == Side::Client || view.is_eliciting()));
        let missing = u64::from(MIN_DATAGRAM).saturating_sub(contents.size()) as u16;
        if !needs || missing == 0 {
            return;
        }
        // PADDING counts as in flight. In a 1-RTT packet that elicits no acknowledgement it might stay there for ever;
        // in an Initial packet it is discarded with the keys.
        let lasts = self.config.details.free_coalescing
            || contents.iter().last().is_some_and(|view| view.part.kind != Kind::OneRtt || view.is_eliciting());
        let index = if lasts { contents.parts.len() - 1 } else { 0 };
        let position: u16 = contents.parts[..=index].iter().map(|part| part.frames).sum();
        contents.frames.insert(position.into(), Frame::Padding(missing));
        contents.parts[index].frames += 1;
        contents.parts[index].size += missing;
    }

    /// Adds PADDING so that a datagram that validates a path has 1200 bytes, as far as the amplification limit permits
    /// (RFC 9000 §8.2.1).
    #[cold]
    fn pad_path(&mut self, contents: &mut Contents) {
        let size = u64::from(MIN_DATAGRAM).min(self.amplification_room());
        let missing = size.saturating_sub(contents.size()) as u16;
        if missing > 0 {
            contents.frames.push(Frame::Padding(missing));
            if let Some(part) = contents.parts.last_mut() {
                part.frames += 1;
                part.size += missing;
            }
        }
    }

    /// Registers a packet as sent, which may be the first of its datagram. Returns true if it elicits an
    /// acknowledgement.
    #[inline]
    fn register(&mut self, now: Instant, part: &Part, frames: &[Frame], codepoint: Codepoint, is_first: bool) -> bool {
        let id = part.kind.space().unwrap_or(SpaceId::Application);
        let mut packet = SentPacket { time: now, size: part.size, frames: NO_FRAMES, ..SentPacket::default() };
        if codepoint.is_capable() {
            packet.flags.set(SentFlags::ECT);
        }
        if packet.hold(frames) {
            packet.frames = self.list_frames(frames);
        }
        if part.ack.is_some() {
            let received = &mut self.spaces[id as usize].received;
            packet.reported = received.ranges().last().map_or(0, |range| range.end as u32);
            received.acknowledged();
            if self.config.details.acks_wait && id != SpaceId::Application {
                self.spaces[SpaceId::Application as usize].received.stop_timer(now);
            }
        }
        if packet.flags.has(SentFlags::IN_FLIGHT) {
            let space = &mut self.spaces[id as usize];
            let is_probe = space.probes > 0;
            // quinn does not count a probe after another packet.
            space.probes = space.probes.saturating_sub(u8::from(is_first || !self.config.details.sparse_probes));
            (packet.end, packet.serial) = self.control.sent(now, part.size.into(), self.in_flight, is_probe);
            self.in_flight += u64::from(part.size);
            let is_datagram = |frame: &Frame| matches!(frame, Frame::Datagram { .. });
            let carries_data = packet.flags.has(SentFlags::STREAM) || frames.iter().any(is_datagram);
            self.counters.data_packets += u64::from(carries_data);
        } else {
            packet.serial = self.control.next_serial() as u32;
            self.counters.ack_packets += 1;
        }
        if part.kind == Kind::ZeroRtt {
            packet.flags.set(SentFlags::EARLY);
        }
        self.spaces[id as usize].sent.push(packet);
        if id == SpaceId::Application && !packet.flags.has(SentFlags::IN_FLIGHT) {
            self.forget_acknowledgements(now);
        }
        packet.flags.has(SentFlags::ELICITING)
    }

    /// Stores the frames that a loss makes due for retransmission, without the first STREAM frame.
    #[cold]
    pub(super) fn list_frames(&mut self, frames: &[Frame]) -> u32 {
        let mut has_stream = false;
        self.lists.add(frames.iter().copied().filter(|frame| match frame {
            Frame::Stream { .. } => std::mem::replace(&mut has_stream, true),
            Frame::Datagram { .. } => true,
            frame => frame.is_repaired(),
        }))
    }

    /// Returns the Retry packet of a server.
    #[cold]
    fn retry(&mut self, arena: &mut Arena) -> Packet {
        self.handshake.retry_due = false;
        let token = self.config.handshake.retry_token;
        let lengths = HeaderLengths { destination: self.peer.id_len, source: self.config.id_len, token };
        let size = (lengths.header(Kind::Retry, 0) + TAG) as u16;
        let mut contents = arena.scratch();
        contents.clear();
        contents.parts.push(Part { kind: Kind::Retry, token, size, ..Part::default() });
        let packet = arena.pack(&mut contents);
        arena.put_back(contents);
        self.counters.datagrams += 1;
        self.counters.bytes_sent += u64::from(size);
        packet
    }
}
