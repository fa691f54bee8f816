//! The common packets: full 1-RTT packets of one stream, and acknowledgements of up to three ranges, without stored
//! contents. The effects do not differ from the general path, which handles everything else.

use super::permit::{Permit, Plain};
use super::{Connection, State};
use crate::contents::TAG;
use crate::control::Delivered;
use crate::frame::{AckHeader, EcnCounts};
use crate::kind::SpaceId;
use crate::number::encoded_len;
use crate::packet::Packet;
use crate::ranges::Range;
use crate::sent::{NO_FRAMES, SentFlags, SentPacket};
use crate::streams::Chunk;
use lightlag_core::{Codepoint, Instant};

const APPLICATION: usize = SpaceId::Application as usize;

impl Connection {
    /// Makes the connection use the general path for all packets, for comparisons.
    #[must_use]
    pub fn without_shortcuts(mut self) -> Self {
        self.is_general = true;
        self
    }

    /// Returns true if common packets need no stored contents.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        self.is_confirmed && self.state == State::Complete && self.handshake.is_validated && !self.is_general
    }

    /// Writes a packet with a full STREAM frame, an acknowledgement of up to three ranges, or both to `slot`, if nothing
    /// but streams and acknowledgements waits to be sent. The caller ignores `slot` if the outcome is
    /// [`Plain::Undecided`].
    #[inline(always)]
    pub(super) fn poll_plain(&mut self, now: Instant, slot: &mut Option<Packet>) -> Plain {
        let due = self.spaces[APPLICATION].received.deadline() <= now;
        if self.streams.has_repairs() {
            return Plain::Undecided;
        }
        let has_data = self.streams.can_send();
        if !due {
            self.pacing_timer = Instant::MAX;
            let permit = if has_data { self.permit(now) } else { Permit::Unknown };
            if permit != Permit::Granted {
                self.note_idle(now, permit, has_data);
                return Plain::Decided;
            }
        }
        self.build_plain(now, due, has_data, slot)
    }

    /// Builds a packet. Without an acknowledgement that is `due`, the caller has determined that data may be sent.
    #[inline(always)]
    fn build_plain(&mut self, now: Instant, due: bool, has_data: bool, slot: &mut Option<Packet>) -> Plain {
        let space = &mut self.spaces[APPLICATION];
        let number = space.sent.next();
        let with_ack = due || space.received.has_news(&self.ack_rules);
        let count = space.received.ranges().len();
        let fits = number < u32::MAX.into() && (!with_ack || (1..=3).contains(&count));
        if !fits || self.next_skip == Some(number) {
            return Plain::Undecided;
        }
        if due && count > 1 && self.adds_ping(now, number) {
            return Plain::Undecided;
        }
        let space = &mut self.spaces[APPLICATION];
        let packet = slot.insert(Packet::short(number as u32, self.spin, self.path));
        let number_len = encoded_len(number, space.sent.largest_acked());
        let overhead = 1 + u64::from(self.peer.id_len) + u64::from(number_len) + TAG;
        let mut size = overhead;
        if with_ack {
            let counts = space.received.counts();
            let ecn = (counts != EcnCounts::default()).then_some(counts);
            let delay = (space.received.delay(now).as_nanos() / 1_000) >> self.config.ack_delay_exponent;
            let header = AckHeader { delay, ecn };
            let mut ranges = [Range::default(); 3];
            for (range, received) in ranges.iter_mut().zip(space.received.ranges().iter().rev()) {
                *range = *received;
            }
            if packet.hold_ack(&header, &ranges[..count]).is_none() {
                return Plain::Undecided;
            }
            size += space.received.ack_size(&header);
        }
        let room = u64::from(self.datagram) - size;
        let full = if has_data { self.streams.fills(room) } else { None };
        if has_data && full.is_none() {
            return Plain::Undecided;
        }
        self.pacing_timer = Instant::MAX;
        if let Some(len) = full
            && (!due || self.permit(now) == Permit::Granted)
        {
            let chunk = self.streams.take_full(len);
            packet.hold_stream(&chunk);
            self.send_stream(now, packet, &chunk, with_ack);
            return Plain::Decided;
        }
        self.send_ack(now, packet, size);
        Plain::Decided
    }

    #[inline(always)]
    fn send_stream(&mut self, now: Instant, packet: &mut Packet, chunk: &Chunk, with_ack: bool) {
        let bytes = u64::from(self.datagram);
        packet.set_size(self.datagram);
        let codepoint = if self.ecn.is_used() {
            self.ecn.send(now, SpaceId::Application, self.rtt.pto())
        } else {
            Codepoint::NotEct
        };
        packet.set_codepoint(codepoint);
        let mut flags = SentFlags::IN_FLIGHT.with(SentFlags::ELICITING).with(SentFlags::STREAM);
        if codepoint.is_capable() {
            flags.set(SentFlags::ECT);
        }
        if chunk.fin {
            flags.set(SentFlags::FIN);
        }
        let (end, serial) = self.control.sent(now, bytes, self.in_flight, false);
        self.in_flight += bytes;
        self.counters.data_packets += 1;
        self.counters.datagrams += 1;
        self.counters.bytes_sent += bytes;
        let space = &mut self.spaces[APPLICATION];
        let reported = if with_ack { space.received.report() } else { 0 };
        space.sent.push(SentPacket {
            time: now,
            offset: chunk.offset,
            stream: chunk.stream as u32,
            end,
            serial,
            reported,
            frames: NO_FRAMES,
            len: chunk.len,
            size: self.datagram,
            flags,
        });
        if space.loss_time == Instant::MAX {
            self.loss_timer = now + self.probe_wait;
            self.timed_probe = Some(SpaceId::Application);
        } else {
            self.loss_timer = space.loss_time.max(now);
        }
        if !std::mem::replace(&mut self.sent_since_arrival, true) {
            self.idle_deadline = now + self.idle_wait;
            self.last_activity = now;
        }
    }

    #[inline(always)]
    fn send_ack(&mut self, now: Instant, packet: &mut Packet, size: u64) {
        packet.set_size(size as u16);
        let codepoint = if self.ecn.is_used() {
            self.ecn.send(now, SpaceId::Application, self.rtt.pto())
        } else {
            Codepoint::NotEct
        };
        packet.set_codepoint(codepoint);
        let space = &mut self.spaces[APPLICATION];
        let reported = space.received.report();
        space.sent.push(SentPacket {
            time: now,
            serial: self.control.next_serial() as u32,
            reported,
            frames: NO_FRAMES,
            size: size as u16,
            flags: if codepoint.is_capable() { SentFlags::ECT } else { SentFlags::default() },
            ..SentPacket::default()
        });
        self.forget_acknowledgements(now);
        self.counters.ack_packets += 1;
        self.counters.datagrams += 1;
        self.counters.bytes_sent += size;
    }

    /// Handles a packet without stored contents.
    #[inline]
    pub(super) fn handle_plain(&mut self, now: Instant, packet: &Packet, ecn: Codepoint) {
        self.counters.bytes_received += u64::from(packet.size());
        let received = &mut self.spaces[APPLICATION].received;
        let number = packet.number();
        if received.extend(now, number) {
            self.copy_spin(packet.spin());
        } else {
            if received.is_duplicate(number) {
                self.counters.duplicates += 1;
                return;
            }
            let largest = received.largest();
            received.insert(now, number, self.ack_rules.max_ranges);
            if largest.is_none_or(|largest| number > largest) {
                self.copy_spin(packet.spin());
            }
        }
        self.spaces[APPLICATION].received.count(now, number, packet.is_eliciting(), ecn, &self.ack_rules);
        if self.ack_rules.adapts {
            self.adapt_acks(now, packet.size());
        }
        if let Err(code) = self.handle_plain_frames(now, packet) {
            return self.fail(now, code);
        }
        self.sent_since_arrival = false;
        self.idle_deadline = now + self.idle_wait;
        self.last_activity = now;
    }

    /// Handles an ACK frame that covers exactly the `count` oldest packets, all of them in flight. They leave the list
    /// of sent packets immediately.
    #[inline]
    pub(super) fn handle_plain_ack(&mut self, now: Instant, ack: &AckHeader, count: u64) {
        self.judge_supply();
        let mut delivered =
            Delivered { prior_inflight: self.in_flight, first_serial: self.first_serial(), ..Delivered::default() };
        let (mut eliciting, mut ect, mut reported, mut size) = (0, 0, 0, 0);
        // Stream data that continues is acknowledged as a whole.
        let mut data = Chunk::default();
        let mut end = 0;
        for _ in 0..count {
            let Some(packet) = self.spaces[APPLICATION].sent.pass() else { break };
            let flags = packet.flags;
            eliciting += u32::from(flags.has(SentFlags::ELICITING));
            ect += u64::from(flags.has(SentFlags::ECT));
            reported = reported.max(packet.reported);
            delivered.largest_sent = packet.time;
            size = packet.size;
            self.control.packet_acked(now, packet, &mut delivered);
            if flags.has(SentFlags::STREAM) {
                let stream = u64::from(packet.stream);
                if stream != data.stream || packet.offset != end || data.fin {
                    if end > data.offset || data.fin {
                        self.streams.acknowledged_range(data.stream, data.offset, end, data.fin);
                    }
                    (data.stream, data.offset) = (stream, packet.offset);
                }
                end = packet.offset + u64::from(packet.len);
                data.fin = flags.has(SentFlags::FIN);
            }
            if packet.frames != NO_FRAMES {
                let frames = packet.frames;
                self.frames_acked(SpaceId::Application, frames);
            }
        }
        if end > data.offset || data.fin {
            self.streams.acknowledged_range(data.stream, data.offset, end, data.fin);
        }
        self.is_extra_due |= !self.streams.due.is_empty();
        self.in_flight -= delivered.bytes;
        let space = &mut self.spaces[APPLICATION];
        space.sent.oldest_acked(count, eliciting, delivered.bytes);
        if reported > 0 {
            space.received.peer_knows(reported.into());
        }
        space.loss_time = Instant::MAX;
        if count > 1 {
            // Lost packets before and after an acknowledged one are not in a row.
            space.lost_run = None;
        }
        if eliciting > 0 {
            delivered.rtt = Some(self.sample_rtt(now, SpaceId::Application, ack, delivered.largest_sent));
        }
        self.mtu_passed(size);
        delivered.marked = self.ecn.acknowledged(SpaceId::Application, ack.ecn, ect);
        delivered.persistent = self.is_persistent(SpaceId::Application, false);
        self.pto_count = 0;
        delivered.inflight = self.in_flight;
        let window = self.control.window();
        self.control.acknowledged(now, &delivered, &self.rtt);
        if self.control.window() != window {
            self.window_was(now, window);
        }
        self.set_timers(now);
    }

    #[inline]
    fn handle_plain_frames(&mut self, now: Instant, packet: &Packet) -> Result<(), u64> {
        if packet.has_ack() {
            let mut ranges = [Range::default(); 3];
            let (header, count) = packet.ack(self.ecn.reported(SpaceId::Application), &mut ranges);
            self.handle_ack(now, SpaceId::Application, &header, &ranges[..count])?;
            self.is_extra_due |= self.streams.due.max_streams != [false; 2];
        }
        match packet.chunk() {
            Some(chunk) => self.handle_stream(now, &chunk),
            None => Ok(()),
        }
    }
}
