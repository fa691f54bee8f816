//! Handovers: routes and beams change, and waiting packets are rerouted.

use super::{World, lose};
use crate::border::Border;
use crate::fabric::Turned;
use crate::scheduler::{ScheduledEvent, before};
use crate::tap::Tap;
use lightlag_core::Instant;
use lightlag_net::LinkId;
use lightlag_net::queue::{DropCause, Dropped};

impl<T: Tap, B: Border> World<T, B> {
    /// Applies changes of routes and beams in the constellation, which take effect a nanosecond later.
    #[cold]
    pub(super) fn sky_turns(&mut self, now: Instant) {
        let fabric = &mut self.fabric;
        let Some(overhead) = &mut fabric.overhead else { return };
        let Turned { links, astray } = overhead.turn(now, &mut fabric.hops, &mut fabric.routes);
        for link in links {
            self.link_turned(link);
        }
        for (before, node, mut packet) in astray {
            // The link that it leaves had taken it as one that crosses.
            packet.ttl = packet.ttl.wrapping_add(1);
            match self.fabric.routes.next(node, packet.destination) {
                Some(next) => {
                    self.tap.withdrawn(before, &packet);
                    self.transmit(now, next, &packet);
                }
                None => {
                    self.expired += 1;
                    self.drop(now, before, &packet, DropCause::NoRoute);
                }
            }
        }
        self.ways_change(now);
        self.agenda.settle(ScheduledEvent::Epoch, self.fabric.next_epoch().map(before));
    }

    /// Handles a link whose beam points to another node: records its drops, and schedules its next arrival.
    fn link_turned(&mut self, on: LinkId) {
        let Self { fabric, recorder, tap, hosts, .. } = self;
        let Some(link) = fabric.hops[on.0 as usize].link.model_mut() else { return };
        for dropped in link.dropped() {
            let dropped: Dropped<_> = dropped;
            lose(tap, recorder, hosts, on.into(), &dropped);
        }
        let wake = link.next_wake();
        self.agenda.settle(ScheduledEvent::Link(on), wake);
    }
}
