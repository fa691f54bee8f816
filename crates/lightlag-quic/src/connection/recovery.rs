//! Acknowledgements and loss detection (RFC 9002 §5 to §7, appendix A).

use super::Connection;
use super::codes as code;
use crate::control::Delivered;
use crate::frame::{AckHeader, Frame};
use crate::kind::SpaceId;
use crate::ranges::Range;
use crate::rtt::GRANULARITY;
use crate::sent::{NO_FRAMES, SentFlags, SentPacket};
use crate::streams::{Chunk, Side};
use lightlag_core::{Duration, Instant};

/// Reason why the data of a packet is retransmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Requeue {
    /// The packet was lost.
    Lost,
    /// A probe repeats the data of a packet that may still arrive.
    Probe,
}

/// Returns the stream data in the fields of a sent packet.
#[inline(always)]
pub(super) fn chunk_of(packet: &SentPacket) -> Option<Chunk> {
    packet.flags.has(SentFlags::STREAM).then(|| Chunk {
        stream: packet.stream.into(),
        offset: packet.offset,
        len: packet.len,
        fin: packet.flags.has(SentFlags::FIN),
        to_end: false,
    })
}

impl Connection {
    /// Handles an ACK frame.
    #[inline]
    pub(super) fn handle_ack(
        &mut self,
        now: Instant,
        id: SpaceId,
        ack: &AckHeader,
        ranges: &[Range],
    ) -> Result<(), u64> {
        let index = id as usize;
        if self.flights.is_some() {
            return self.handle_flight_ack(now, id, ack, ranges);
        }
        if id == SpaceId::Application
            && self.is_plain()
            && let Some(count) = ranges.first().and_then(|top| self.spaces[index].sent.oldest(*top))
        {
            self.counters.acks_received += 1;
            self.handle_plain_ack(now, ack, count);
            return Ok(());
        }
        let old_largest = self.spaces[index].sent.largest_acked();
        let mut newly = std::mem::take(&mut self.newly);
        newly.clear();
        let outcome = self.spaces[index].sent.acknowledge(ranges, &mut newly);
        self.counters.acks_received += u64::from(self.in_flight > 0);
        let result = match (outcome, ranges.first(), newly.first()) {
            (Err(_), ..) => Err(code::PROTOCOL_VIOLATION),
            (Ok(()), Some(top), Some(first)) => {
                let is_largest_new = first.end == top.end;
                let raises = old_largest.is_none_or(|old| top.end - 1 > old);
                self.take_ack(now, id, ack, &newly, is_largest_new, raises)
            }
            _ => Ok(()),
        };
        self.newly = newly;
        result
    }

    fn take_ack(
        &mut self,
        now: Instant,
        id: SpaceId,
        ack: &AckHeader,
        newly: &[Range],
        is_largest_new: bool,
        raises: bool,
    ) -> Result<(), u64> {
        let index = id as usize;
        self.judge_supply();
        let mut delivered = Delivered { prior_inflight: self.in_flight, ..Delivered::default() };
        let (details, spurious) = (self.config.details, self.counters.spurious);
        let (mut is_eliciting, mut ect, mut largest_sent, mut reported) = (false, 0, None, 0);
        let (mut is_largest_old, mut largest_size, mut probed) = (false, 0, None);
        for range in newly.iter().rev() {
            for number in range.start..range.end {
                let packet = self.spaces[index].sent.get_mut(number);
                packet.flags.set(SentFlags::ACKED);
                let (size, flags, frames) = (packet.size, packet.flags, packet.frames);
                if flags.has(SentFlags::SKIPPED) {
                    return Err(code::PROTOCOL_VIOLATION);
                }
                if details.forgets_lost && flags.has(SentFlags::LOST) {
                    continue;
                }
                is_eliciting |= flags.has(SentFlags::ELICITING);
                ect += u64::from(flags.has(SentFlags::ECT));
                largest_sent = Some(packet.time);
                is_largest_old = flags.has(SentFlags::OLD_PATH);
                largest_size = size;
                reported = reported.max(packet.reported);
                if !flags.has(SentFlags::IN_FLIGHT) {
                    continue;
                }
                let is_old = flags.has(SentFlags::OLD_PATH);
                if flags.has(SentFlags::MTU_PROBE) {
                    probed = Some(size);
                }
                if !is_old {
                    self.control.count_packet(now, packet, &self.rtt);
                    self.control.packet_acked(now, packet, &mut delivered);
                }
                if let Some(chunk) = chunk_of(packet) {
                    self.streams.acknowledged(&chunk);
                }
                if frames != NO_FRAMES {
                    packet.frames = NO_FRAMES;
                    self.frames_acked(id, frames);
                }
                if flags.has(SentFlags::LOST) {
                    self.note_spurious(number, id);
                } else {
                    self.spaces[index].sent.leaves_flight(size, flags);
                    self.in_flight -= if is_old { 0 } else { u64::from(size) };
                }
            }
        }
        let Some(largest_sent) = largest_sent else { return Ok(()) };
        self.mtu_passed(largest_size);
        if let Some(size) = probed {
            self.mtu_acked(now, size);
        }
        if reported > 0 {
            let received = &mut self.spaces[index].received;
            if self.config.ack.window {
                received.drop_reported(reported.into());
            } else {
                received.peer_knows(reported.into());
            }
        }
        if (id == SpaceId::Handshake || details.early_probes && id == SpaceId::Application) && self.side == Side::Client
        {
            self.handshake.is_validated = true;
        }
        for other in SpaceId::ALL {
            let run = self.spaces[other as usize].lost_run;
            if other != id && run.is_some_and(|(start, _)| start < largest_sent) {
                self.spaces[other as usize].lost_run = None;
            }
        }
        self.is_extra_due |= !self.streams.due.is_empty();
        delivered.largest_sent = largest_sent;
        if is_largest_new && is_eliciting && !is_largest_old {
            delivered.rtt = Some(self.sample_rtt(now, id, ack, largest_sent));
            if self.after_sample.is_none() {
                self.after_sample = Some((id, self.spaces[index].sent.next()));
            }
        }
        if self.counters.spurious > spurious {
            self.control.packets_spurious(now, largest_sent, &self.rtt);
        }
        if raises {
            delivered.marked = self.ecn.acknowledged(id, ack.ecn, ect);
        }
        self.detect_losses(now, id, &mut delivered);
        delivered.persistent |= self.is_persistent(id, delivered.last_lost.is_some());
        if self.peer_is_unblocked() {
            self.pto_count = 0;
        }
        delivered.inflight = self.in_flight;
        delivered.first_serial = self.first_serial();
        let window = self.control.window();
        self.control.acknowledged(now, &delivered, &self.rtt);
        if self.control.window() != window {
            self.window_was(now, window);
        }
        self.trim(now, id);
        self.set_timers(now);
        Ok(())
    }

    /// Takes a round-trip sample from the largest acknowledged packet.
    #[inline]
    pub(super) fn sample_rtt(&mut self, now: Instant, id: SpaceId, ack: &AckHeader, sent: Instant) -> Duration {
        let rtt = now.since(sent);
        let mut delay = Duration::ZERO;
        if id == SpaceId::Application {
            // A delay beyond 2³² µs cannot be real.
            let micros = (ack.delay << self.peer.ack_delay_exponent.min(20)).min(u64::from(u32::MAX));
            delay = Duration::from_micros(micros);
            if self.is_confirmed || self.config.details.limits_early_delays {
                delay = delay.min(self.max_ack_delay());
            }
        }
        self.rtt.sample(now, rtt, delay);
        self.rtt_sum += rtt;
        self.rtt_count += 1;
        if let Some(long) = self.config.window_rtt
            && self.rtt_count == 1
            && !self.control_is_custom
        {
            self.control.scale_initial(&self.config, rtt, long);
        }
        if self.config.ack_frequency.is_some() {
            self.review_frequency();
        }
        rtt
    }

    /// Notes that a packet was acknowledged after it had been declared lost. The thresholds rise up to their limits.
    #[cold]
    fn note_spurious(&mut self, number: u64, id: SpaceId) {
        self.counters.spurious += 1;
        let rules = &self.config.loss;
        if rules.max_packet_threshold > rules.packet_threshold {
            let largest = self.spaces[id as usize].sent.largest_acked().unwrap_or(number);
            let distance = largest.saturating_sub(number) + 1;
            self.packet_threshold = self.packet_threshold.max(distance.min(rules.max_packet_threshold));
            self.time_threshold = rules.max_time_threshold;
        }
    }

    /// Returns the maximum time that a packet below the highest acknowledged one may be unacknowledged.
    pub(super) fn loss_delay(&self) -> Duration {
        let base = self.rtt.smoothed().max(self.rtt.latest());
        Duration::from_nanos((base.as_nanos() as f64 * self.time_threshold) as u64).max(GRANULARITY)
    }

    /// Declares packets lost by number and by time.
    #[inline]
    pub(super) fn detect_losses(&mut self, now: Instant, id: SpaceId, delivered: &mut Delivered) {
        let index = id as usize;
        self.spaces[index].loss_time = Instant::MAX;
        let Some(largest) = self.spaces[index].sent.largest_acked() else { return };
        let mut delay = None;
        let (sudden, times_acks) = (self.config.details.sudden_persistence, self.config.details.times_acks);
        if sudden {
            self.spaces[index].lost_run = None;
        }
        while self.spaces[index].sent.resolved() < largest {
            let number = self.spaces[index].sent.resolved();
            let Some(packet) = self.spaces[index].sent.get(number) else { break };
            let is_gap = sudden && packet.flags.any(SentFlags::SKIPPED.with(SentFlags::LOST));
            if packet.flags.has(SentFlags::ACKED) || is_gap {
                self.spaces[index].lost_run = None;
            } else if packet.flags.has(SentFlags::IN_FLIGHT) && !packet.flags.has(SentFlags::LOST) {
                let packet = *packet;
                let lost_at = packet.time + *delay.get_or_insert_with(|| self.loss_delay());
                if largest < number + self.packet_threshold && lost_at > now {
                    self.spaces[index].loss_time = lost_at;
                    break;
                }
                self.lose(now, id, number, &packet, delivered);
            } else if times_acks && !packet.flags.has(SentFlags::LOST) {
                let time = packet.time;
                let lost_at = time + *delay.get_or_insert_with(|| self.loss_delay());
                if largest < number + self.packet_threshold && lost_at > now {
                    self.spaces[index].loss_time = lost_at;
                    break;
                }
                self.spaces[index].sent.get_mut(number).flags.set(SentFlags::LOST);
                if delivered.lost > 0 {
                    delivered.last_lost = delivered.last_lost.max(Some(time));
                }
            }
            self.spaces[index].sent.resolve();
        }
        self.mtu_judge(now);
    }

    #[cold]
    pub(super) fn lose(
        &mut self,
        now: Instant,
        id: SpaceId,
        number: u64,
        packet: &SentPacket,
        delivered: &mut Delivered,
    ) {
        self.is_extra_due = true;
        if self.notes.is_some() {
            self.note_loss(now, id, number, packet);
        }
        let space = &mut self.spaces[id as usize];
        space.sent.lose(number);
        if packet.flags.has(SentFlags::MTU_PROBE) {
            // RFC 9000 §14.4: the loss of a probe does not count as congestion.
            self.in_flight -= if packet.flags.has(SentFlags::OLD_PATH) { 0 } else { u64::from(packet.size) };
            return self.mtu_lost(now, packet.size);
        }
        self.mtu_suspect(packet.size);
        let space = &mut self.spaces[id as usize];
        let sudden = self.config.details.sudden_persistence;
        let after_sample = if sudden {
            self.after_sample.is_some_and(|first| first < (id, number))
        } else {
            self.rtt.first_sample().is_some_and(|first| packet.time > first)
        };
        if packet.flags.has(SentFlags::ELICITING) && after_sample {
            let start = space.lost_run.map_or(packet.time, |(start, _)| start);
            space.lost_run = Some((start, packet.time));
        }
        if sudden && self.is_persistent(id, true) {
            delivered.persistent = true;
        }
        self.counters.lost += 1;
        self.counters.lost_bytes += u64::from(packet.size);
        if !packet.flags.has(SentFlags::OLD_PATH) {
            self.in_flight -= u64::from(packet.size);
            delivered.lost += u64::from(packet.size);
            delivered.last_lost = delivered.last_lost.max(Some(packet.time));
            if packet.flags.has(SentFlags::ECT) {
                self.ecn.lost();
            }
            self.control.packet_lost(now, packet);
        }
        self.requeue(id, packet, Requeue::Lost);
    }

    /// Returns true if the packets lost in a row show persistent congestion (RFC 9002 §7.6).
    pub(super) fn is_persistent(&mut self, id: SpaceId, found_loss: bool) -> bool {
        if let Some(probes) = self.config.loss.persistent_probes {
            let is_persistent = found_loss && self.pto_count > probes;
            self.counters.persistent += u64::from(is_persistent);
            return is_persistent;
        }
        let (Some(factor), Some((start, end))) = (self.config.loss.persistent, self.spaces[id as usize].lost_run)
        else {
            return false;
        };
        let duration = (self.rtt.pto() + self.max_ack_delay()) * factor;
        if end.since(start) <= duration {
            return false;
        }
        self.spaces[id as usize].lost_run = None;
        self.counters.persistent += 1;
        if !self.config.details.sudden_persistence {
            self.rtt.forget_min();
        }
        true
    }

    /// Returns the lowest serial number that may still be acknowledged.
    pub(super) fn first_serial(&self) -> u64 {
        if !self.control.measures_rates() {
            return 0;
        }
        let fronts = self.spaces.iter().filter_map(|space| space.sent.front()).map(|packet| u64::from(packet.serial));
        fronts.min().unwrap_or(self.control.next_serial())
    }

    /// Removes old packets without data from the front with every 32nd packet: an endpoint that only receives data may
    /// never get an acknowledgement.
    #[inline(always)]
    pub(super) fn forget_acknowledgements(&mut self, now: Instant) {
        if self.spaces[SpaceId::Application as usize].sent.next().is_multiple_of(32) {
            self.trim(now, SpaceId::Application);
        }
    }

    /// Removes settled packets from the front of a space. Lost packets are remembered for three probe timeouts, to
    /// detect that they were only late.
    fn trim(&mut self, now: Instant, id: SpaceId) {
        let keep = (self.rtt.pto() + self.max_ack_delay()) * 3;
        let forget = Instant::ZERO + now.since(Instant::ZERO + keep);
        let lists = &mut self.lists;
        self.spaces[id as usize].sent.trim(forget, |packet| {
            if packet.frames != NO_FRAMES {
                lists.free(packet.frames);
            }
        });
    }

    /// Marks the data in the list of frames of a packet as acknowledged, and frees the list.
    #[cold]
    pub(super) fn frames_acked(&mut self, id: SpaceId, frames: u32) {
        let list = self.lists.take(frames);
        for frame in &list {
            match *frame {
                Frame::Stream { stream, offset, len, fin, .. } => {
                    self.streams.acknowledged(&Chunk { stream, offset, len, fin, to_end: false });
                }
                Frame::Crypto { .. } if self.config.details.separate_crypto => {}
                Frame::Crypto { offset, len } => self.spaces[id as usize].crypto.acknowledged(offset, len),
                Frame::AckFrequency { sequence, .. } => self.frequency_acked(sequence),
                Frame::Datagram { tag, .. } => self.datagram_delivered(tag),
                _ => {}
            }
        }
        self.lists.put_back(frames, list);
        self.lists.free(frames);
    }

    /// Queues the data of a packet again, because it was lost or for a probe (RFC 9000 §13.3).
    pub(super) fn requeue(&mut self, id: SpaceId, packet: &SentPacket, reason: Requeue) {
        if let Some(chunk) = chunk_of(packet) {
            self.streams.lost(&chunk);
        }
        if packet.frames == NO_FRAMES {
            return;
        }
        let mut list = self.lists.take(packet.frames);
        let separate = self.config.details.separate_crypto;
        for frame in list.iter().rev().filter(|_| separate) {
            if let Frame::Crypto { offset, len } = *frame {
                self.spaces[id as usize].crypto.lost_frame(offset, len);
            }
        }
        for frame in &list {
            match *frame {
                Frame::Stream { stream, offset, len, fin, .. } => {
                    self.streams.lost(&Chunk { stream, offset, len, fin, to_end: false });
                }
                Frame::Crypto { .. } if separate => {}
                Frame::Crypto { offset, len } => self.spaces[id as usize].crypto.lost(offset, len),
                Frame::HandshakeDone => self.handshake.done_due = true,
                Frame::NewConnectionId { .. } | Frame::RetireConnectionId(_) => {
                    self.spaces[id as usize].frames.push(*frame)
                }
                Frame::AckFrequency { sequence, .. } => self.frequency_lost(sequence),
                Frame::NewToken(_) => self.handshake.token_due = true,
                Frame::MaxStreams(direction, _) => {
                    self.streams.due.max_streams[usize::from(direction == crate::frame::Direction::Unidirectional)] =
                        true;
                }
                Frame::Datagram { tag, .. } if reason == Requeue::Lost => self.datagram_lost(tag),
                Frame::Datagram { .. } => {}
                _ => self.streams.frame_lost(frame),
            }
        }
        if reason == Requeue::Lost {
            // A late acknowledgement does not change the fate of a datagram.
            list.retain(|frame| !matches!(frame, Frame::Datagram { .. }));
        }
        self.lists.put_back(packet.frames, list);
    }
}
