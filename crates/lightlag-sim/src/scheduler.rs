//! The agenda, which schedules the events of the parts of the world.
//!
//! Each part has one entry in the event queue. The order of the parts decides which event comes first at equal times.
//! Links come first, followed by endpoints of connections, senders of datagrams, media, interfaces and housekeeping.
//! Packets therefore arrive before timers fire, frames end before others start, and a sample includes all these
//! changes.

use crate::ids::UdpIndex;
use lightlag_core::{Entity, EventQueue, Instant};
use lightlag_net::{EndpointId, InterfaceId, LinkId};

/// A part of the world that has its own events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScheduledEvent {
    Link(LinkId),
    /// The endpoint of a connection.
    Connection(EndpointId),
    /// The sender of a UDP flow.
    Datagrams(UdpIndex),
    /// A medium, when a frame ends there.
    Medium(usize),
    /// The interface of a node to a medium, with its routing agent.
    Interface(InterfaceId),
    /// The sampler of the recorded tables.
    Sampler,
    /// The next crash of a proxy.
    Crash,
    /// The stations that notify endpoints of outages and corruption of links.
    Stations,
    /// A change of routes. It is scheduled one nanosecond before the start of an epoch, so that it happens after all
    /// other events of that nanosecond, and before all packets of the epoch.
    Epoch,
}

/// Number of housekeeping parts: sampler, crashes, stations and epochs.
const CLERKS: usize = 4;

/// Returns the time of [`ScheduledEvent::Epoch`] for an epoch that starts at `start`, which must be above zero.
pub(crate) fn before(start: Instant) -> Instant {
    Instant::from_nanos(start.as_nanos() - 1)
}

/// The next event of each part.
pub(crate) struct Agenda {
    queue: EventQueue,
    /// Entity numbers of the first connection, sender of datagrams, medium, interface and housekeeping part. Links
    /// start at 0.
    connections: u32,
    datagrams: u32,
    media: u32,
    interfaces: u32,
    clerks: u32,
}

/// Number of parts of a world, by kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PartCounts {
    pub(crate) links: usize,
    pub(crate) connections: usize,
    pub(crate) datagrams: usize,
    pub(crate) media: usize,
    pub(crate) interfaces: usize,
}

impl Agenda {
    /// Returns the agenda of a world without parts.
    pub(crate) fn empty() -> Self {
        Self::new(PartCounts::default())
    }

    /// Returns the agenda of a world with these numbers of parts, without any scheduled event.
    pub(crate) fn new(parts: PartCounts) -> Self {
        let PartCounts { links, connections, datagrams, media, interfaces } = parts;
        let media_from = links + connections + datagrams;
        let clerks = media_from + media + interfaces;
        Self {
            queue: EventQueue::new(clerks + CLERKS),
            connections: links as u32,
            datagrams: (links + connections) as u32,
            media: media_from as u32,
            interfaces: (media_from + media) as u32,
            clerks: clerks as u32,
        }
    }

    /// Returns the next event at or before `end`. It stays pending until [`Self::settle`].
    #[inline(always)]
    pub(crate) fn next_until(&self, end: Instant) -> Option<(Instant, ScheduledEvent)> {
        let (time, entity) = self.queue.next_until(end)?;
        Some((time, self.part(entity)))
    }

    /// Schedules an event of a part at `time`, unless an earlier one is already scheduled.
    #[inline(always)]
    pub(crate) fn arm(&mut self, part: ScheduledEvent, time: Instant) {
        self.queue.arm(self.entity(part), time);
    }

    /// Completes the current event of a part, and schedules its next event at `time`, if there is one.
    #[inline(always)]
    pub(crate) fn settle(&mut self, part: ScheduledEvent, time: Option<Instant>) {
        self.queue.settle(self.entity(part), time);
    }

    /// Returns two parts with early events among the neighbours of a part: one among many neighbours, and one among few
    /// ([`EventQueue::soon_near`]).
    #[inline(always)]
    pub(crate) fn soon_near(&self, part: ScheduledEvent) -> Option<(ScheduledEvent, ScheduledEvent)> {
        let (many, few) = self.queue.soon_near(self.entity(part))?;
        Some((self.part(many), self.part(few)))
    }

    /// Prefetches the entry of a part in the event queue.
    #[inline(always)]
    pub(crate) fn prefetch(&self, part: ScheduledEvent) {
        self.queue.prefetch(self.entity(part));
    }

    /// Returns the time of a part's next event, if there is one.
    pub(crate) fn armed(&self, part: ScheduledEvent) -> Option<Instant> {
        self.queue.armed(self.entity(part))
    }

    /// Returns the entity number of a part, which decides the order of events at the same time.
    #[inline(always)]
    pub(crate) fn number(&self, part: ScheduledEvent) -> u32 {
        self.entity(part).0
    }

    #[inline(always)]
    fn entity(&self, part: ScheduledEvent) -> Entity {
        Entity(match part {
            ScheduledEvent::Link(link) => link.0,
            ScheduledEvent::Connection(at) => self.connections + at.0,
            ScheduledEvent::Datagrams(at) => self.datagrams + at.0,
            ScheduledEvent::Medium(at) => self.media + at as u32,
            ScheduledEvent::Interface(at) => self.interfaces + at.0,
            ScheduledEvent::Sampler => self.clerks,
            ScheduledEvent::Crash => self.clerks + 1,
            ScheduledEvent::Stations => self.clerks + 2,
            ScheduledEvent::Epoch => self.clerks + 3,
        })
    }

    /// Returns the part with this entity number. Numbers beyond the last one stand for the last part.
    #[inline(always)]
    fn part(&self, entity: Entity) -> ScheduledEvent {
        let number = entity.0;
        if number < self.connections {
            ScheduledEvent::Link(LinkId(number))
        } else if number < self.datagrams {
            ScheduledEvent::Connection(EndpointId(number - self.connections))
        } else if number < self.media {
            ScheduledEvent::Datagrams(UdpIndex(number - self.datagrams))
        } else if number < self.interfaces {
            ScheduledEvent::Medium((number - self.media) as usize)
        } else if number < self.clerks {
            ScheduledEvent::Interface(InterfaceId(number - self.interfaces))
        } else if number == self.clerks {
            ScheduledEvent::Sampler
        } else if number == self.clerks + 1 {
            ScheduledEvent::Crash
        } else if number == self.clerks + 2 {
            ScheduledEvent::Stations
        } else {
            ScheduledEvent::Epoch
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_equal_times_links_come_before_connections_datagrams_media_interfaces_and_clerks() {
        let mut agenda = Agenda::new(PartCounts { links: 2, connections: 3, datagrams: 2, media: 2, interfaces: 3 });
        let order = [
            ScheduledEvent::Link(LinkId(0)),
            ScheduledEvent::Link(LinkId(1)),
            ScheduledEvent::Connection(EndpointId(0)),
            ScheduledEvent::Connection(EndpointId(2)),
            ScheduledEvent::Datagrams(UdpIndex(0)),
            ScheduledEvent::Datagrams(UdpIndex(1)),
            ScheduledEvent::Medium(0),
            ScheduledEvent::Medium(1),
            ScheduledEvent::Interface(InterfaceId(0)),
            ScheduledEvent::Interface(InterfaceId(2)),
            ScheduledEvent::Sampler,
            ScheduledEvent::Crash,
            ScheduledEvent::Stations,
            ScheduledEvent::Epoch,
        ];
        for part in order.iter().rev() {
            agenda.arm(*part, Instant::from_nanos(5));
        }
        let mut seen = Vec::new();
        while let Some((_, part)) = agenda.next_until(Instant::MAX) {
            seen.push(part);
            agenda.settle(part, None);
        }
        assert_eq!(seen, order);
    }
}
