//! A link direction that is cut: its queue and transmitter are in one place, its far end in another.
//!
//! The near half is a whole link, which nobody asks for arrivals: it tells what it puts on its way, as soon as that is
//! decided, and forgets it when it has arrived. One that computes departures keeps no bodies of packets. The far half has only
//! arrivals, told by the near half.

use super::Link;
use super::computed::{ComputedLink, InFlight};
use super::queued::QueuedLink;
use crate::Packet;
use lightlag_core::{Duration, Instant, Ring};

impl<B: Clone + Default> Link<B> {
    /// The least time that a packet spends between the two halves; `None` if the link cannot be cut, because packets may
    /// overtake there.
    pub fn least_crossing(&self) -> Option<Duration> {
        match self {
            Self::Computed(link) => Some(link.config().delay),
            Self::Queued(link) if !link.keeps_order() => None,
            Self::Queued(link) => {
                Some(link.changes.as_ref().map_or(link.config().delay, |changes| changes.least_delay()))
            }
        }
    }

    /// Far half: a packet will arrive. Those of a link are told in the order of their arrival. Returns whether it is the next
    /// one to arrive.
    pub fn expect(&mut self, arrival: Instant, packet: &Packet<B>) -> bool
    where
        B: Copy,
    {
        match self {
            Self::Computed(link) => link.expect(arrival, packet),
            Self::Queued(link) => link.expect(arrival, packet),
        }
    }
}

impl<B: Clone + Default> ComputedLink<B> {
    /// Splits off the near half, which takes over the losses, waits and counts. What is left is the far half.
    ///
    /// # Panics
    /// If there are packets.
    pub fn near_half(&mut self) -> ComputedLink<()> {
        assert!(self.ring.is_empty(), "a link is cut before its first packet");
        self.with_ring(Ring::new())
    }

    /// The whole link again: what its near half knows, and the packets that are still to come out of its far half.
    ///
    /// # Panics
    /// If these are others than those which the near half has sent.
    pub fn joined(near: &mut ComputedLink<()>, far: &mut Self) -> Self {
        let arrivals = |known: (&InFlight<()>, &InFlight<B>)| known.0.arrival == known.1.arrival;
        assert_eq!(near.ring.len(), far.ring.len(), "both halves have the same packets");
        debug_assert!(near.ring.iter().zip(far.ring.iter()).all(arrivals), "both halves have the same arrivals");
        near.with_ring(std::mem::take(&mut far.ring))
    }

    /// The packet that was taken last, and when it arrives.
    pub fn last_taken(&self) -> Option<(Instant, &Packet<B>)> {
        self.ring.back().map(|last| (last.arrival, &last.packet))
    }

    /// Near half: forgets what has arrived before `time`.
    pub fn forget_before(&mut self, time: Instant) {
        while self.next_arrival().is_some_and(|arrival| arrival < time) {
            self.receive_in_place();
        }
    }

    fn expect(&mut self, arrival: Instant, packet: &Packet<B>) -> bool
    where
        B: Copy,
    {
        let is_next = self.ring.is_empty();
        let place = self.ring.push();
        place.packet = *packet;
        place.arrival = arrival;
        // It has left the transmitter, which is elsewhere.
        self.departed += 1;
        is_next
    }
}

impl<B: Clone> QueuedLink<B> {
    /// Near half: what is on its way behind the first `known`, in the order of arrival.
    pub fn on_the_way_after(&self, known: usize) -> impl Iterator<Item = (Instant, &Packet<B>)> {
        self.on_the_way.range(known..).map(|sent| (sent.arrival, &sent.packet))
    }

    /// When it is decided next what leaves; [`Instant::MAX`] if nothing waits.
    pub fn next_decision(&self) -> Instant {
        let waits = self.in_flight() > self.on_the_way.len();
        if waits { self.busy_until } else { Instant::MAX }
    }

    fn keeps_order(&self) -> bool {
        !self.disturbance.reorders() && self.changes.as_ref().is_none_or(|changes| changes.keeps_order())
    }

    fn expect(&mut self, arrival: Instant, packet: &Packet<B>) -> bool {
        self.on_the_way.push_back(super::queued::OnTheWay { arrival, at: None, packet: packet.clone() });
        self.on_the_way.len() == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::DisciplineConfig;
    use crate::{Disturbance, LinkConfig, Loss, LossProcess, NodeId, PacketFlags, QueueLimit};
    use lightlag_core::{RandomStream, Rate};

    fn config() -> LinkConfig {
        let (rate, delay) = (Rate::from_mbps(12), Duration::from_millis(50));
        LinkConfig { rate, delay, queue: QueueLimit::Packets(5), header: 0 }
    }

    fn packet(flow: u32) -> Packet<()> {
        Packet {
            destination: NodeId(1),
            flow,
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

    /// Arrivals of packets that come in threes, each three once in 2 ms: the queue grows, and overflows.
    fn offer(mut send: impl FnMut(Instant, Packet<()>)) {
        for flow in 0..60 {
            send(Instant::from_nanos(u64::from(flow / 3) * 2_000_000), packet(flow));
        }
    }

    #[test]
    fn the_halves_of_a_computed_link_know_what_the_whole_link_knows() {
        let (mut whole, mut far) = (computed(), computed());
        let mut near = far.near_half();
        offer(|now, packet| {
            for link in [&mut whole, &mut far] {
                link.forget_before(now);
            }
            near.forget_before(now);
            let is_taken = whole.send(now, &packet).is_ok();
            assert_eq!(near.send(now, &packet.without_body()).is_ok(), is_taken);
            if is_taken {
                let (arrival, packet) = near.last_taken().expect("it was taken");
                far.expect(arrival, packet);
            }
            assert_eq!((far.in_flight(), far.next_arrival()), (whole.in_flight(), whole.next_arrival()));
            assert_eq!(near.backlog(now), whole.backlog(now));
        });
        assert!(far.in_flight() > 5 && near.counters().dropped_queue > 10, "{:?}", near.counters());
        let mut joined = ComputedLink::joined(&mut near, &mut far);
        let end = Instant::from_nanos(45_000_000);
        assert_eq!((joined.counters(), joined.totals(end)), (whole.counters(), whole.totals(end)));
        let mut arrivals = 0;
        while let Some(arrival) = whole.next_arrival() {
            assert_eq!(joined.next_arrival(), Some(arrival));
            assert_eq!(joined.receive().flow, whole.receive().flow);
            arrivals += 1;
        }
        assert_eq!((joined.counters(), joined.in_flight()), (whole.counters(), 0));
        assert!(arrivals > 5, "{arrivals} were on their way");
    }

    #[test]
    fn the_far_half_of_a_queued_link_has_its_arrivals() {
        let (mut whole, mut near, mut far) = (queued(), queued(), queued());
        offer(|now, packet| whole.send(now, packet));
        let (mut known, end) = (0, Instant::from_nanos(1_000_000_000));
        let mut decide = |near: &mut QueuedLink<()>, until| {
            near.catch_up(until);
            near.on_the_way_after(known).for_each(|(arrival, packet)| _ = far.expect(arrival, packet));
            known = near.on_the_way_after(0).count();
        };
        offer(|now, packet| {
            if packet.flow % 3 == 0 && now > Instant::ZERO {
                // Decided before the next packets come.
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
                far.receive(arrival).map(|packet| packet.flow),
                whole.receive(arrival).map(|packet| packet.flow)
            );
            arrivals += 1;
        }
        assert_eq!(far.next_wake(), None);
        assert_eq!(near.counters().dropped_queue, whole.counters().dropped_queue);
        assert!(arrivals > 20, "{arrivals} of 60 found room");
    }
}
