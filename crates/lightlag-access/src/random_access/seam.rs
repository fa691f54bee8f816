//! The interface of random access to a simulator.

use super::medium::{RandomAccess, Task};
use lightlag_core::{Instant, Probability};
use lightlag_net::StationId;
use lightlag_net::medium::{Counters, Event, Medium, Outgoing};

impl<P: Clone> Medium<P> for RandomAccess<P> {
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
        let waiting = self.stations.iter().flat_map(|of| &of.queue);
        let in_frames = self.frames.values().flatten().map(|(.., message)| message);
        waiting.chain(in_frames).for_each(|of| report(&of.packet.payload));
        for task in self.tasks.events() {
            match task {
                Task::Delivery(packet) => report(&packet.payload),
                Task::Blocks(transport) => report(&transport.message.packet.payload),
                Task::Burst { message, .. }
                | Task::Identified(_, message)
                | Task::Missing(_, message)
                | Task::Again(_, message) => {
                    report(&message.packet.payload);
                }
                Task::Frame(..) | Task::Next(_) | Task::Pass(_) | Task::Release(_) => {}
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
        self.station_counters(station).packets
    }
}
