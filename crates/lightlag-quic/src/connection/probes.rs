//! Probe timeouts, and the packets that probe (RFC 9002 §6.2).

use super::recovery::Requeue;
use super::space::Keys;
use super::{Connection, State};
use crate::control::Delivered;
use crate::frame::Frame;
use crate::kind::SpaceId;
use crate::sent::{NO_FRAMES, SentFlags, SentPacket};
use lightlag_core::{Duration, Instant};
use lightlag_transport::Failure;

impl Connection {
    /// Returns the probe timeout without max_ack_delay and back-off.
    #[inline]
    pub(super) fn probe_base(&self) -> Duration {
        match self.config.probes.first {
            Some(first) if self.rtt.first_sample().is_none() => first,
            _ => self.rtt.pto(),
        }
    }

    /// Returns the factor of the back-off.
    #[inline]
    pub(super) fn backoff(&self) -> u64 {
        1 << self.pto_count.min(self.config.probes.max_backoff).min(40)
    }

    /// Returns the time of the next probe timeout, and its space (RFC 9002 A.8).
    pub(super) fn probe_time(&self, now: Instant) -> Option<(Instant, SpaceId)> {
        let (base, backoff) = (self.probe_base(), self.backoff());
        let mut earliest: Option<(Instant, SpaceId)> = None;
        let mut is_eliciting = false;
        for id in SpaceId::ALL {
            let sent = &self.spaces[id as usize].sent;
            let Some(last) = sent.last_eliciting().filter(|_| sent.is_eliciting()) else { continue };
            is_eliciting = true;
            let mut wait = base * backoff;
            if id == SpaceId::Application {
                let begins = self.is_confirmed || self.config.details.early_probes && self.state == State::Complete;
                if !begins {
                    continue;
                }
                wait += self.max_ack_delay() * backoff;
            }
            let time = last + self.limit_wait(wait);
            if earliest.is_none_or(|(earliest, _)| time < earliest) {
                earliest = Some((time, id));
            }
        }
        if !self.peer_is_unblocked() && (!is_eliciting || earliest.is_none()) {
            // RFC 9002 §6.2.2.1: the client may have to unblock the server.
            let has_keys = self.spaces[SpaceId::Handshake as usize].sending == Keys::Ready;
            let id = if has_keys { SpaceId::Handshake } else { SpaceId::Initial };
            return Some((now + self.limit_wait(base * backoff), id));
        }
        earliest
    }

    /// Handles the expiry of the loss timer (RFC 9002 A.9).
    pub(super) fn loss_timer_fired(&mut self, now: Instant) {
        let due = |id: &SpaceId| self.spaces[*id as usize].loss_time <= now;
        if let Some(id) = SpaceId::ALL.into_iter().find(due) {
            let mut delivered = Delivered::default();
            self.detect_losses(now, id, &mut delivered);
            self.report_losses(now, &delivered);
            return self.set_timers(now);
        }
        let Some(id) = self.timed_probe else { return self.set_timers(now) };
        if let Some(limit) = self.config.probes.give_up
            && self.oldest_in_flight().is_some_and(|oldest| oldest + limit <= now)
        {
            return self.end(Some(Failure::Timeout));
        }
        self.counters.timeouts += 1;
        self.pto_count = self.pto_count.saturating_add(1);
        if self.config.probes.marks_crypto {
            self.lose_crypto(now);
        }
        let packets = self.config.probes.packets;
        if self.config.details.sparse_probes {
            let is_eliciting = SpaceId::ALL.into_iter().any(|id| self.spaces[id as usize].sent.is_eliciting());
            let space = &mut self.spaces[id as usize];
            space.probes = space.probes.saturating_add(if is_eliciting { packets } else { 1 });
        } else {
            if id == SpaceId::Application {
                self.request_probes(id, packets);
            } else {
                // Both handshake spaces are probed in one datagram.
                for other in [SpaceId::Initial, SpaceId::Handshake] {
                    if other == id || self.spaces[other as usize].sent.is_eliciting() || self.has_data(other) {
                        self.request_probes(other, packets.min(1 + u8::from(other == id)));
                    }
                }
            }
            self.streams.repeat_blocked();
        }
        if self.is_validating() {
            self.challenge();
        }
        self.set_timers(now);
    }

    /// Reports losses that a timer has found to congestion control.
    fn report_losses(&mut self, now: Instant, delivered: &Delivered) {
        if let Some(last) = delivered.last_lost {
            let window = self.control.window();
            self.control.lost_by_timer(now, last, self.in_flight, &self.rtt);
            if self.control.window() != window {
                self.window_was(now, window);
            }
        }
    }

    /// Returns the time when the oldest packet in flight was sent.
    pub(super) fn oldest_in_flight(&self) -> Option<Instant> {
        let settled = SentFlags::ACKED.with(SentFlags::LOST);
        let oldest = |space: &super::space::Space| {
            let sent = &space.sent;
            let mut packets = (sent.resolved()..sent.next()).filter_map(|number| sent.get(number));
            let is_open = |packet: &&SentPacket| packet.flags.has(SentFlags::IN_FLIGHT) && !packet.flags.any(settled);
            packets.find(is_open).map(|packet| packet.time)
        };
        self.spaces.iter().filter_map(oldest).min()
    }

    /// Declares all packets with CRYPTO frames lost, so that their data is retransmitted, and reduces the window.
    #[cold]
    fn lose_crypto(&mut self, now: Instant) {
        let settled = SentFlags::ACKED.with(SentFlags::LOST);
        for id in SpaceId::ALL {
            let mut delivered = Delivered::default();
            for number in self.spaces[id as usize].sent.resolved()..self.spaces[id as usize].sent.next() {
                let Some(packet) = self.spaces[id as usize].sent.get(number).copied() else { continue };
                let is_open = packet.flags.has(SentFlags::IN_FLIGHT) && !packet.flags.any(settled);
                if is_open && packet.frames != NO_FRAMES && self.lists.has_crypto(packet.frames) {
                    self.lose(now, id, number, &packet, &mut delivered);
                }
            }
            self.report_losses(now, &delivered);
        }
    }

    /// Fills the next probe of a space: with the control frames of the oldest packet that has any, or with a PING.
    #[cold]
    pub(super) fn fill_probe(&mut self, id: SpaceId) {
        let index = id as usize;
        if self.spaces[index].sending != Keys::Ready {
            return;
        }
        let filler = if id == SpaceId::Application { Frame::ImmediateAck } else { Frame::Ping };
        let add = |frames: &mut Vec<Frame>| {
            if !frames.contains(&filler) {
                frames.push(filler);
            }
        };
        if id == SpaceId::Application {
            add(&mut self.spaces[index].frames);
        }
        if self.has_control_frames(id) {
            return;
        }
        for number in self.spaces[index].sent.resolved()..self.spaces[index].sent.next() {
            let packet = *self.spaces[index].sent.get_mut(number);
            if packet.frames == NO_FRAMES || packet.flags.any(SentFlags::ACKED.with(SentFlags::LOST)) {
                continue;
            }
            let (kept, moved): (Vec<Frame>, Vec<Frame>) = {
                let list = self.lists.take(packet.frames);
                let is_kept = |frame: &Frame| matches!(frame, Frame::Stream { .. } | Frame::Datagram { .. });
                let parts = list.iter().partition(|frame| is_kept(frame));
                self.lists.put_back(packet.frames, list);
                parts
            };
            // The moved frames belong to the probe.
            self.lists.put_back(packet.frames, moved);
            let control = SentPacket { flags: SentFlags::default(), ..packet };
            self.requeue(id, &control, Requeue::Probe);
            self.lists.put_back(packet.frames, kept);
            if self.has_control_frames(id) {
                return;
            }
        }
        add(&mut self.spaces[index].frames);
    }

    /// Requests probes in a space. Without anything new to send, they repeat the oldest data in flight.
    fn request_probes(&mut self, id: SpaceId, packets: u8) {
        let index = id as usize;
        if self.spaces[index].sending != Keys::Ready {
            return;
        }
        self.spaces[index].probes = packets;
        if self.has_data(id) {
            return;
        }
        let mut requeued = 0;
        for number in self.spaces[index].sent.resolved()..self.spaces[index].sent.next() {
            let packet = *self.spaces[index].sent.get_mut(number);
            let settled = SentFlags::ACKED.with(SentFlags::LOST);
            if packet.flags.has(SentFlags::ELICITING) && !packet.flags.any(settled) {
                self.requeue(id, &packet, Requeue::Probe);
                requeued += 1;
                if requeued == packets && id == SpaceId::Application {
                    break;
                }
            }
        }
    }
}
