//! Transmissions in baseband frames.

use super::QueuedLink;
use crate::link::baseband::{Fragmented, Framer};
use crate::link::timetable::TransmissionFate;
use crate::queue::QueuedPacket;
use crate::{EndpointId, LossPlace, PacketFlags};
use lightlag_core::Instant;

impl<B: Clone + Default> QueuedLink<B> {
    /// Sends a frame with the waiting packets, or waits for the start of the next frame.
    pub(super) fn transmit_frame(&mut self, now: Instant) {
        let waiting = self.waiting();
        let (Some(framer), Some(changes)) = (&mut self.framer, &mut self.changes) else { return };
        self.transmitting = waiting.0 > 0 || framer.serving.is_some();
        if !self.transmitting {
            return;
        }
        let start = framer.boundary(now);
        if start > now {
            return self.wait_until(start);
        }
        let (format, delay) = changes.frame();
        let (packets, bytes) = waiting;
        if framer.waits_for_more(now, format, (packets, bytes + packets * self.config.header)) {
            let next = framer.send_dummy();
            return self.wait_until(next);
        }
        let mut frame = Framer::<B>::open(format);
        // The state of the loss process belongs to the first packet.
        let mut first = framer.serving.as_ref().map(|serving| (serving.packet.flags, serving.packet.to));
        loop {
            let Some(framer) = &mut self.framer else { return };
            if !framer.pack(&mut frame) || !framer.has_room(frame) {
                break;
            }
            let Some(QueuedPacket { since, packet }) = self.next_packet(start) else { break };
            if let Some(waits) = &mut self.waits {
                waits.note(packet.flags, start.since(since));
            }
            first = first.or(Some((packet.flags, packet.to)));
            let left = u64::from(packet.size) + self.config.header;
            self.totals.carried_bytes += left;
            let Some(framer) = &mut self.framer else { return };
            let fate = TransmissionFate::Intact;
            framer.serving = Some(Fragmented { packet, left: left as u32, started: false, fate });
        }
        if !Framer::<B>::is_used(frame) {
            // The discipline dropped everything that waited.
            self.transmitting = self.is_serving();
            return;
        }
        let size = u64::from(format.data_bits + 80).div_ceil(8);
        let (flags, to) = first.unwrap_or((PacketFlags::new(true), EndpointId::default()));
        let is_lost = self.loss.place() == LossPlace::AfterQueue && self.loss.loses(start, size, flags, to);
        let (Some(framer), Some(changes)) = (&mut self.framer, &self.changes) else { return };
        let end = framer.close(frame, format);
        let lost = if is_lost { TransmissionFate::Damaged } else { TransmissionFate::Intact };
        let fate = changes.frame_fate(end).max(lost);
        if let Some(serving) = framer.serving.as_mut().filter(|serving| serving.started) {
            serving.fate = serving.fate.max(fate);
        }
        let mut complete = std::mem::take(&mut framer.complete);
        (self.busy_until, self.last_end, self.remainder) = (end, end, 0);
        self.totals.busy += u128::from(end.since(start).as_nanos());
        for (packet, earlier) in &mut complete {
            (*earlier).max(fate).befall(&mut packet.flags);
        }
        framer.pass(fate != TransmissionFate::Intact, &mut complete);
        for (packet, _) in complete.drain(..) {
            self.depart(packet, end, delay, None);
        }
        if let Some(framer) = &mut self.framer {
            framer.complete = complete;
        }
    }

    /// Marks the transmitter as busy until the start of a frame.
    fn wait_until(&mut self, start: Instant) {
        (self.busy_until, self.remainder) = (start, 0);
    }
}
