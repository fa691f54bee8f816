//! Acknowledgements and losses of an endpoint that sends flights.

use super::builder::Builder;
use super::{Connection, FLIGHTS};
use crate::arena::Arena;
use crate::connection::recovery::{Requeue, chunk_of};
use crate::connection::{code, space::Keys};
use crate::contents::Part;
use crate::frame::{AckHeader, Frame};
use crate::kind::{Kind, SpaceId};
use crate::ranges::Range;
use crate::sent::{NO_FRAMES, SentFlags, SentPacket};
use crate::streams::Side;
use lightlag_control::congestion::Cause;
use lightlag_core::{Codepoint, Instant};

/// Number of packets above a packet whose acknowledgement declares it lost.
const PACKET_THRESHOLD: u64 = 3;
/// States in which a packet is forgotten.
const SETTLED: SentFlags = SentFlags::ACKED.with(SentFlags::LOST).with(SentFlags::SKIPPED);

impl Connection {
    /// Registers the packets of a flight as sent, and queues its datagrams.
    pub(super) fn send_flight(&mut self, now: Instant, mut builder: Builder, arena: &mut Arena) {
        self.flights_mut().number = builder.number;
        let mut sent_handshake = false;
        for datagram in &builder.datagrams {
            let mut frame = 0;
            for part in &datagram.contents.parts {
                let frames = &datagram.contents.frames[frame..frame + usize::from(part.frames)];
                frame += frames.len();
                self.register_flight(now, part, frames);
                sent_handshake |= part.kind == Kind::Handshake;
            }
        }
        if sent_handshake && self.side == Side::Client {
            // RFC 9001 §4.9.1.
            self.discard(now, SpaceId::Initial);
        }
        for mut datagram in builder.datagrams.drain(..) {
            let contents = &mut datagram.contents;
            if datagram.tail > 0
                && let Some(part) = contents.parts.last_mut()
            {
                contents.frames.push(Frame::Padding(datagram.tail));
                part.frames += 1;
                part.size += datagram.tail;
            }
            let size = contents.size();
            self.counters.datagrams += 1;
            self.counters.bytes_sent += size;
            self.handshake.sent += size;
            let mut packet = arena.pack(contents);
            packet.set_codepoint(Codepoint::NotEct);
            self.flights_mut().queue.push_back(packet);
        }
    }

    fn register_flight(&mut self, now: Instant, part: &Part, frames: &[Frame]) {
        let id = part.kind.space().unwrap_or(SpaceId::Application);
        let index = id as usize;
        let mut packet = SentPacket { time: now, size: part.size, frames: NO_FRAMES, ..SentPacket::default() };
        if packet.hold(frames) {
            packet.frames = self.list_frames(frames);
        }
        let space = &mut self.spaces[index];
        if part.ack.is_some() {
            packet.reported = space.received.report();
        }
        let sent = &mut space.sent;
        let gap = part.number - sent.next();
        if sent.next() == 0 && gap > 0 {
            sent.start_at(part.number);
        } else {
            // Packets of other spaces have these numbers.
            let other = SentPacket { time: now, frames: NO_FRAMES, flags: SentFlags::SKIPPED, ..SentPacket::default() };
            (0..gap).for_each(|_| sent.push(other));
        }
        if packet.flags.has(SentFlags::IN_FLIGHT) {
            (packet.end, packet.serial) = self.control.sent(now, part.size.into(), self.in_flight, false);
            self.in_flight += u64::from(part.size);
            self.counters.data_packets += u64::from(packet.flags.has(SentFlags::STREAM));
        } else {
            packet.serial = self.control.next_serial() as u32;
            self.counters.ack_packets += 1;
        }
        if packet.flags.has(SentFlags::ELICITING) {
            self.flights_mut().last_eliciting = now.as_secs_f64();
        }
        self.spaces[index].sent.push(packet);
    }

    /// Handles an ACK frame.
    pub(in crate::connection) fn handle_flight_ack(
        &mut self,
        now: Instant,
        id: SpaceId,
        ack: &AckHeader,
        ranges: &[Range],
    ) -> Result<(), u64> {
        let index = id as usize;
        self.handshake.is_validated |= self.side == Side::Client && id != SpaceId::Initial;
        self.counters.acks_received += u64::from(self.in_flight > 0);
        let Some(top) = ranges.first() else { return Ok(()) };
        let window = self.control.window();
        let mut newly = std::mem::take(&mut self.newly);
        newly.clear();
        let outcome = self.spaces[index].sent.acknowledge(ranges, &mut newly);
        let (mut is_eliciting, mut is_old, mut largest, mut reported) = (false, false, None, 0);
        for number in newly.iter().rev().flat_map(|range| range.start..range.end) {
            let packet = self.spaces[index].sent.get_mut(number);
            if packet.flags.any(SETTLED) {
                // A packet that was declared lost is forgotten.
                continue;
            }
            packet.flags.set(SentFlags::ACKED);
            let packet = *packet;
            is_eliciting |= packet.flags.has(SentFlags::ELICITING);
            (largest, is_old) = (Some((number, packet.time)), packet.flags.has(SentFlags::OLD_PATH));
            reported = reported.max(packet.reported);
            if packet.flags.has(SentFlags::IN_FLIGHT) {
                self.flight_packet_acked(now, id, number, &packet);
            }
        }
        self.newly = newly;
        if outcome.is_err() {
            return Err(code::PROTOCOL_VIOLATION);
        }
        if reported > 0 && self.spaces[index].receiving != Keys::Discarded {
            self.spaces[index].received.drop_reported(reported.into());
        }
        let Some((largest, sent)) = largest else { return Ok(()) };
        if largest + 1 == top.end && is_eliciting && !is_old {
            self.sample_flight(now, ack, sent);
        }
        if self.control.window() != window {
            self.window_was(now, window);
        }
        self.detect_flight_losses(now, id);
        self.pto_count = 0;
        let lists = &mut self.lists;
        self.spaces[index].sent.trim_settled(|packet| {
            if packet.frames != NO_FRAMES {
                lists.free(packet.frames);
            }
        });
        Ok(())
    }

    fn flight_packet_acked(&mut self, now: Instant, id: SpaceId, number: u64, packet: &SentPacket) {
        if !packet.flags.has(SentFlags::OLD_PATH) {
            self.control.packet_counted(now, packet, &self.rtt);
            self.in_flight -= u64::from(packet.size);
        }
        self.spaces[id as usize].sent.leaves_flight(packet.size, packet.flags);
        if let Some(chunk) = chunk_of(packet) {
            self.streams.acknowledged(&chunk);
        }
        if packet.frames != NO_FRAMES {
            self.spaces[id as usize].sent.get_mut(number).frames = NO_FRAMES;
            self.frames_acked(id, packet.frames);
        }
    }

    fn sample_flight(&mut self, now: Instant, ack: &AckHeader, sent: Instant) {
        let seconds = now.as_secs_f64();
        let latest = seconds - sent.as_secs_f64();
        // A delay beyond 2³² µs cannot be real.
        let delay = (ack.delay << self.peer.ack_delay_exponent.min(20)).min(u64::from(u32::MAX)) as f64 / 1e6;
        let window = self.control.window();
        let flights = self.flights.as_mut().expect(FLIGHTS);
        flights.sample(latest, delay);
        self.rtt.copy(now, [flights.rtt.latest, flights.rtt.smoothed, flights.rtt.variance, flights.rtt.min]);
        // A sample moves the threshold, not the window.
        self.control.sampled(seconds, latest);
        flights.set_rate(window);
        self.rtt_sum += now.since(sent);
        self.rtt_count += 1;
    }

    /// Declares packets lost by number and by time.
    pub(super) fn detect_flight_losses(&mut self, now: Instant, id: SpaceId) {
        let index = id as usize;
        let largest = self.spaces[index].sent.largest_acked().unwrap_or(0);
        let flights = self.flights_mut();
        let delay = flights.loss_delay();
        let threshold = now.as_secs_f64() - delay;
        flights.spaces[index].loss_at = None;
        let mut lost = Vec::new();
        let mut loss_at: Option<f64> = None;
        let sent = &mut self.spaces[index].sent;
        while sent.resolved() < sent.next() && sent.get(sent.resolved()).is_none_or(|packet| packet.flags.any(SETTLED))
        {
            sent.resolve();
        }
        for number in sent.resolved()..sent.next().min(largest + 1) {
            let Some(packet) = sent.get(number).filter(|packet| !packet.flags.any(SETTLED)) else { continue };
            let time = packet.time.as_secs_f64();
            if number + PACKET_THRESHOLD <= largest || time <= threshold {
                lost.push(number);
            } else if loss_at.is_none_or(|earliest| time + delay < earliest) {
                loss_at = Some(time + delay);
            }
        }
        self.flights_mut().spaces[index].loss_at = loss_at;
        self.lose_flight(now, id, &lost);
    }

    /// Declares packets lost, and reports them to congestion control.
    fn lose_flight(&mut self, now: Instant, id: SpaceId, numbers: &[u64]) {
        let mut last = None;
        for number in numbers {
            let sent = &mut self.spaces[id as usize].sent;
            let Some(packet) = sent.get(*number).copied() else { continue };
            if !packet.flags.has(SentFlags::IN_FLIGHT) {
                sent.get_mut(*number).flags.set(SentFlags::LOST);
                continue;
            }
            if self.notes.is_some() {
                self.note_loss(now, id, *number, &packet);
            }
            self.spaces[id as usize].sent.lose(*number);
            self.counters.lost += 1;
            self.counters.lost_bytes += u64::from(packet.size);
            if !packet.flags.has(SentFlags::OLD_PATH) {
                self.in_flight -= u64::from(packet.size);
                last = Some(packet.time);
            }
            self.requeue(id, &packet, Requeue::Lost);
        }
        let Some(last) = last else { return };
        let window = self.control.window();
        self.control.lost_at(now, last, Cause::Loss, self.in_flight);
        self.window_was(now, window);
        let window = self.control.window();
        self.flights_mut().set_rate(window);
    }

    /// Declares packets with CRYPTO frames lost, and requests a probe.
    pub(in crate::connection) fn repeat_crypto(&mut self, now: Instant) {
        for id in SpaceId::ALL {
            let sent = &self.spaces[id as usize].sent;
            let is_crypto = |number: &u64| {
                let packet = sent.get(*number).filter(|packet| !packet.flags.any(SETTLED));
                packet.is_some_and(|packet| packet.frames != NO_FRAMES && self.lists.has_crypto(packet.frames))
            };
            let lost: Vec<u64> = (sent.resolved()..sent.next()).filter(is_crypto).collect();
            self.lose_flight(now, id, &lost);
        }
        self.flights_mut().probes = true;
    }

    /// Repeats handshake data once because the peer seems to miss it.
    #[cold]
    pub(in crate::connection) fn repeat_crypto_early(&mut self, now: Instant) {
        if !std::mem::replace(&mut self.flights_mut().has_repeated, true) {
            self.repeat_crypto(now);
        }
    }
}
