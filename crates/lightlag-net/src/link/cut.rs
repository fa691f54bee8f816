//! Link directions between two partitions: packets enter the link in one partition, and the far end is in another.
//!
//! A link that computes its departures is simulated at its far end. It may be given a packet later than the packet was
//! sent, and even after it has delivered packets that arrive later: only the order of the packets counts. A link with a
//! queue has two halves. The near half is the complete link, whose arrivals are not handled: it passes on the packets
//! in transit as soon as their transmission is decided, and removes them when they have arrived. The far half has only
//! arrivals, received from the near half.

use super::LinkModel;
use super::queued::{OnTheWay, QueuedLink};
use crate::Packet;
use lightlag_core::Instant;

impl<B: Clone + Default> QueuedLink<B> {
    /// Near half: returns the packets in transit after the first `known`, in the order of arrival.
    pub fn on_the_way_after(&self, known: usize) -> impl Iterator<Item = (Instant, &Packet<B>)> {
        self.on_the_way.range(known..).map(|sent| (sent.arrival, &sent.packet))
    }

    /// Far half: adds a packet that will arrive. Packets are added in the order of their arrival. Returns true if it is
    /// the next one to arrive.
    pub fn expect(&mut self, arrival: Instant, packet: Packet<B>) -> bool {
        if let Some(held) = &mut self.held {
            held.joined(&packet);
        }
        self.on_the_way.push_back(OnTheWay { arrival, at: None, packet });
        self.on_the_way.len() == 1
    }

    /// Returns the time of the next decision about a departure; [`Instant::MAX`] if no packet waits.
    pub fn next_decision(&self) -> Instant {
        let waits = self.in_flight() > self.on_the_way.len();
        if waits { self.busy_until } else { Instant::MAX }
    }

    pub(super) fn keeps_order(&self) -> bool {
        !self.disturbance.reorders() && self.changes.as_ref().is_none_or(|changes| changes.keeps_order())
    }
}

#[cfg(test)]
mod tests {
    use super::super::ComputedLink;
    use super::*;
    use crate::queue::DisciplineConfig;
    use crate::{Disturbance, EndpointId, LinkConfig, Loss, LossProcess, NodeId, PacketFlags, QueueLimit};
    use lightlag_core::{Duration, RandomStream, Rate};

    fn config() -> LinkConfig {
        let (rate, delay) = (Rate::from_mbps(12), Duration::from_millis(50));
        LinkConfig { rate, delay, queue: QueueLimit::Packets(5), header: 0 }
    }

    fn packet(flow: u32) -> Packet<()> {
        Packet {
            destination: NodeId(1),
            to: EndpointId(flow),
            size: 1500,
            flags: PacketFlags::new(true),
            ttl: crate::packet::TTL,
            body: (),
        }
    }

    fn computed() -> ComputedLink<()> {
        ComputedLink::new(config(), LossProcess::new(&Loss::None, RandomStream::new(1, "loss")))
    }

    fn queued() -> QueuedLink<()> {
        let discipline = DisciplineConfig::DropTail.build(&config(), RandomStream::new(1, "queue"));
        let loss = LossProcess::new(&Loss::None, RandomStream::new(1, "loss"));
        QueuedLink::new(config(), discipline, loss, Disturbance::none())
    }

    /// Offers packets that arrive in groups of three every 2 ms: the queue grows, and overflows.
    fn offer(mut send: impl FnMut(Instant, Packet<()>)) {
        for flow in 0..60 {
            send(Instant::from_nanos(u64::from(flow / 3) * 2_000_000), packet(flow));
        }
    }

    #[test]
    fn packets_may_be_offered_late_to_a_computed_link() {
        let (mut whole, mut late) = (computed(), computed());
        let mut posted = Vec::new();
        let deliver = |link: &mut ComputedLink<()>, until: Instant, arrivals: &mut Vec<(Instant, u32)>| {
            while let Some(arrival) = link.next_arrival().filter(|arrival| *arrival < until) {
                arrivals.push((arrival, link.receive().to.0));
            }
        };
        let (mut in_time, mut delivered) = (Vec::new(), Vec::new());
        let delay = config().delay;
        offer(|now, packet| {
            deliver(&mut whole, now, &mut in_time);
            let taken = whole.send(now, &packet).is_ok();
            posted.push((now, packet, taken, whole.backlog(now)));
            // None of these arrives before this delay has passed, so the far end may advance that far before it
            // receives them.
            if posted.len() == 25 {
                deliver(&mut late, posted[0].0 + delay, &mut delivered);
                for (time, packet, taken, backlog) in posted.drain(..) {
                    assert_eq!((late.send(time, &packet).is_ok(), late.backlog(time)), (taken, backlog));
                }
            }
        });
        posted.drain(..).for_each(|(time, packet, ..)| _ = late.send(time, &packet));
        let end = Instant::from_nanos(1_000_000_000);
        deliver(&mut whole, end, &mut in_time);
        deliver(&mut late, end, &mut delivered);
        assert_eq!(delivered, in_time);
        assert_eq!((late.counters(), late.totals(end)), (whole.counters(), whole.totals(end)));
        assert!(delivered.len() > 20 && late.counters().dropped_queue > 10, "{:?}", late.counters());
    }

    #[test]
    fn the_far_half_of_a_queued_link_has_its_arrivals() {
        let (mut whole, mut near, mut far) = (queued(), queued(), queued());
        offer(|now, packet| whole.send(now, packet));
        let (mut known, end) = (0, Instant::from_nanos(1_000_000_000));
        let mut decide = |near: &mut QueuedLink<()>, until| {
            near.catch_up(until);
            near.on_the_way_after(known).for_each(|(arrival, packet)| _ = far.expect(arrival, *packet));
            known = near.on_the_way_after(0).count();
        };
        offer(|now, packet| {
            if packet.to.0 % 3 == 0 && now > Instant::ZERO {
                // Decided before the next packets arrive.
                decide(&mut near, Instant::from_nanos(now.as_nanos() - 1));
            }
            near.send(now, packet);
        });
        decide(&mut near, end);
        let mut arrivals = 0;
        whole.catch_up(end);
        while let Some(arrival) = whole.next_wake() {
            assert_eq!(far.next_wake(), Some(arrival));
            assert_eq!(
                far.receive(arrival).map(|packet| packet.to.0),
                whole.receive(arrival).map(|packet| packet.to.0)
            );
            arrivals += 1;
        }
        assert_eq!(far.next_wake(), None);
        assert_eq!(near.counters().dropped_queue, whole.counters().dropped_queue);
        assert!(arrivals > 20, "{arrivals} of 60 found room");
    }
}
