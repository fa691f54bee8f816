//! Transmissions of a terminal that sends only as much as it has been granted.

use super::QueuedLink;
use crate::LossPlace;
use crate::link::demand::Serving;
use crate::link::timetable::{Transmission, TransmissionFate};
use crate::queue::QueuedPacket;
use lightlag_core::Instant;

impl<B: Clone + Default> QueuedLink<B> {
    /// Returns true if a packet has been sent only in part.
    pub(super) fn is_serving(&self) -> bool {
        self.assignment.as_ref().is_some_and(|assignment| assignment.serving.is_some())
            || self.framer.as_ref().is_some_and(|framer| framer.serving.is_some())
    }

    /// Requests capacity for the waiting packets in each frame up to now.
    pub(super) fn ask(&mut self, now: Instant) {
        let waiting = self.waiting();
        if let Some(assignment) = &mut self.assignment {
            let (packets, bytes) = waiting;
            assignment.advance(now, bytes + packets * self.config.header);
        }
    }

    /// Sends the granted part of the packet in service, or of the next packet.
    pub(super) fn transmit_granted(&mut self, start: Instant) {
        self.ask(start);
        let is_serving = self.is_serving();
        self.transmitting = is_serving || self.waiting().0 > 0;
        let Some(assignment) = self.assignment.as_ref().filter(|_| self.transmitting) else { return };
        let next_frame = assignment.next_frame();
        if assignment.allowance == 0 {
            (self.busy_until, self.remainder) = (next_frame, 0);
            return;
        }
        if !is_serving {
            let Some(QueuedPacket { since, packet }) = self.next_packet(start) else {
                self.transmitting = false;
                return;
            };
            if let Some(waits) = &mut self.waits {
                waits.note(packet.flags, start.since(since));
            }
            let left = u64::from(packet.size) + self.config.header;
            self.totals.carried_bytes += left;
            let is_lost =
                self.loss.place() == LossPlace::AfterQueue && self.loss.loses(start, left, packet.flags, packet.to);
            let fate = if is_lost { TransmissionFate::Damaged } else { TransmissionFate::Intact };
            if let Some(assignment) = &mut self.assignment {
                assignment.serving = Some(Serving { packet, left, fate });
            }
        }
        self.transmit_part(start, next_frame);
    }

    /// Sends the part of the packet in service for which capacity is granted.
    fn transmit_part(&mut self, start: Instant, next_frame: Instant) {
        let Some(assignment) = &mut self.assignment else { return };
        let Some(mut serving) = assignment.serving.take() else { return };
        let part = serving.left.min(assignment.allowance);
        assignment.allowance -= part;
        serving.left -= part;
        let Transmission { end, free, remainder, delay, fate } = self.transmission(start, part, None);
        serving.fate = serving.fate.max(fate);
        (self.busy_until, self.remainder, self.last_end) = (free, remainder, end);
        self.totals.busy += u128::from(end.since(start).as_nanos());
        if serving.left == 0 {
            let mut packet = serving.packet;
            serving.fate.befall(&mut packet.flags);
            self.depart(packet, end, delay, None);
            return;
        }
        if next_frame > free {
            (self.busy_until, self.remainder) = (next_frame, 0);
        }
        if let Some(assignment) = &mut self.assignment {
            assignment.serving = Some(serving);
        }
    }
}
