//! The agenda: which part of the world is due next.
//!
//! Each part has one entry of the event queue. Links have the first numbers, then come the ends of connections, the
//! senders of datagrams, media, interfaces and the clerks: at equal times packets arrive before timers fire, frames end before
//! others start, and a sample sees the state after all that.

use crate::ids::UdpIndex;
use lightlag_core::{Entity, EventQueue, Instant};
use lightlag_net::{EndpointId, InterfaceId, LinkId};

/// A part of the world that wakes by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    Link(LinkId),
    /// An end of a connection.
    Connection(EndpointId),
    /// The sender of a flow of UDP.
    Datagrams(UdpIndex),
    /// A medium, on which a frame ends.
    Medium(usize),
    /// The interface of a node to a medium, with its routing agent.
    Interface(InterfaceId),
    /// The clerk that samples.
    Sampler,
    /// The clerk that crashes proxies.
    Crash,
    /// The stations that tell the ends of flows what happens to links.
    Stations,
    /// The routes change. This is due a nanosecond before an epoch: behind everything else of that nanosecond, and before
    /// all packets of the epoch.
    Epoch,
}

/// Clerks: the sampler, crashes, stations and epochs.
const CLERKS: usize = 4;

/// When [`Due::Epoch`] is due for an epoch from `start` on, which is above zero.
pub(crate) fn before(start: Instant) -> Instant {
    Instant::from_nanos(start.as_nanos() - 1)
}

/// The next event of each part.
pub(crate) struct Agenda {
    queue: EventQueue,
    /// The number of the first connection, of the first sender of datagrams, medium and interface, and of the first clerk.
    connections: u32,
    datagrams: u32,
    media: u32,
    interfaces: u32,
    clerks: u32,
}

/// Numbers of the parts of a world, by kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) links: usize,
    pub(crate) connections: usize,
    pub(crate) datagrams: usize,
    pub(crate) media: usize,
    pub(crate) interfaces: usize,
}

impl Agenda {
    /// The agenda of a world without parts.
    pub(crate) fn empty() -> Self {
        Self::new(Parts::default())
    }

    /// An empty agenda for so many parts of each kind.
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { links, connections, datagrams, media, interfaces } = parts;
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

    /// The part that is due next and when, if that is not after `end`. It stays due until [`Self::settle`].
    #[inline(always)]
    pub(crate) fn next_until(&self, end: Instant) -> Option<(Instant, Due)> {
        let (time, entity) = self.queue.next_until(end)?;
        Some((time, self.part(entity)))
    }

    /// Wakes a part at `time` or earlier.
    #[inline(always)]
    pub(crate) fn arm(&mut self, part: Due, time: Instant) {
        self.queue.arm(self.entity(part), time);
    }

    /// Ends the turn of a part: it wakes next at `time`, or not at all.
    #[inline(always)]
    pub(crate) fn settle(&mut self, part: Due, time: Option<Instant>) {
        self.queue.settle(self.entity(part), time);
    }

    /// The next to wake among many and among few neighbours of a part ([`EventQueue::soon_near`]).
    #[inline(always)]
    pub(crate) fn soon_near(&self, part: Due) -> Option<(Due, Due)> {
        let (many, few) = self.queue.soon_near(self.entity(part))?;
        Some((self.part(many), self.part(few)))
    }

    /// Fetches the entry of a part from memory.
    #[inline(always)]
    pub(crate) fn prefetch(&self, part: Due) {
        self.queue.prefetch(self.entity(part));
    }

    /// When a part is due, if it is.
    pub(crate) fn armed(&self, part: Due) -> Option<Instant> {
        self.queue.armed(self.entity(part))
    }

    /// The place of a part in the order of those that are due at the same time.
    #[inline(always)]
    pub(crate) fn number(&self, part: Due) -> u32 {
        self.entity(part).0
    }

    #[inline(always)]
    fn entity(&self, part: Due) -> Entity {
        Entity(match part {
            Due::Link(link) => link.0,
            Due::Connection(at) => self.connections + at.0,
            Due::Datagrams(at) => self.datagrams + at.0,
            Due::Medium(at) => self.media + at as u32,
            Due::Interface(at) => self.interfaces + at.0,
            Due::Sampler => self.clerks,
            Due::Crash => self.clerks + 1,
            Due::Stations => self.clerks + 2,
            Due::Epoch => self.clerks + 3,
        })
    }

    /// The part with this number. Numbers behind the last stand for the last.
    #[inline(always)]
    fn part(&self, entity: Entity) -> Due {
        let number = entity.0;
        if number < self.connections {
            Due::Link(LinkId(number))
        } else if number < self.datagrams {
            Due::Connection(EndpointId(number - self.connections))
        } else if number < self.media {
            Due::Datagrams(UdpIndex(number - self.datagrams))
        } else if number < self.interfaces {
            Due::Medium((number - self.media) as usize)
        } else if number < self.clerks {
            Due::Interface(InterfaceId(number - self.interfaces))
        } else if number == self.clerks {
            Due::Sampler
        } else if number == self.clerks + 1 {
            Due::Crash
        } else if number == self.clerks + 2 {
            Due::Stations
        } else {
            Due::Epoch
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_equal_times_links_come_before_connections_datagrams_media_interfaces_and_clerks() {
        let mut agenda = Agenda::new(Parts { links: 2, connections: 3, datagrams: 2, media: 2, interfaces: 3 });
        let order = [
            Due::Link(LinkId(0)),
            Due::Link(LinkId(1)),
            Due::Connection(EndpointId(0)),
            Due::Connection(EndpointId(2)),
            Due::Datagrams(UdpIndex(0)),
            Due::Datagrams(UdpIndex(1)),
            Due::Medium(0),
            Due::Medium(1),
            Due::Interface(InterfaceId(0)),
            Due::Interface(InterfaceId(2)),
            Due::Sampler,
            Due::Crash,
            Due::Stations,
            Due::Epoch,
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
