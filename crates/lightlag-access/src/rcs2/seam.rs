//! The interface of the beam to a simulator.

use super::medium::Rcs2;
use super::task::{Content, Task};
use lightlag_core::{Instant, Probability};
use lightlag_net::StationId;
use lightlag_net::medium::{Counters, Event, Medium, Outgoing};

impl<P: Clone> Medium<P> for Rcs2<P> {
    fn offer(&mut self, now: Instant, station: StationId, packet: Outgoing<P>) {
        self.add(now, station, packet);
    }

    fn next_wake(&self) -> Option<Instant> {
        self.tasks.next()
    }

    fn handle_wake(&mut self, now: Instant) {
        self.advance(now);
    }

    fn poll_event(&mut self) -> Option<Event<P>> {
        self.events.pop_front()
    }

    fn upcoming(&self, skipped: usize) -> Option<&Event<P>> {
        self.events.get(skipped)
    }

    fn pending(&self, report: &mut dyn FnMut(&P)) {
        let waiting = self.stations.iter().flat_map(|of| &of.queue).map(|of| &of.packet.payload);
        waiting.for_each(&mut *report);
        let kept = self.stations.iter().flat_map(|of| &of.resequencer).flat_map(|of| of.items());
        kept.for_each(|of| report(&of.payload));
        for content in self.attempts.values().flatten().map(|of| &of.content) {
            held(content, report);
        }
        for task in self.tasks.events() {
            match task {
                Task::Outcome(attempt, _) => held(&attempt.content, report),
                Task::Delivery { packet } => report(&packet.payload),
                Task::Burst { packets, .. } | Task::Lost { packets, .. } => {
                    packets.iter().for_each(|of| report(&of.payload))
                }
                _ => {}
            }
        }
    }

    fn neighbours(&mut self, station: StationId, _: Instant, _: Probability, report: &mut dyn FnMut(StationId)) {
        crate::neighbours(station, StationId(self.hub), self.stations.len(), report);
    }

    fn settle(&mut self, end: Instant) {
        self.end = end;
    }

    fn counters(&self, station: StationId) -> Counters {
        self.station_counters(station, self.end).packets
    }
}

/// Reports the packets of a burst that was sent by random access.
fn held<P>(content: &Content<P>, report: &mut dyn FnMut(&P)) {
    if let Content::Packets(packets) = content {
        packets.iter().for_each(|of| report(&of.packet.payload));
    }
}
