//! The queue of Linux's netem, whose limit counts everything that a link direction holds.
//!
//! In netem (`net/sched/sch_netem.c`, `netem_enqueue`, described in our own words), one list contains the packets that
//! wait for the rate and those that are delayed. A packet is dropped if the list is full:
//!
//! waiting + in transmission + in propagation ≥ limit
//!
//! With a limit below the bandwidth-delay product, a flow therefore gets about limit · 8 · size / delay bit/s, whatever
//! the rate. An entry of the list is a buffer of the sender, which contains a complete burst (GSO), so a limit of 1000 may
//! hold several thousand segments. The link counts what it holds ([`Held`]); this discipline is a plain FIFO.
//!
//! A packet that [continues a burst](crate::PacketFlags::continues_burst) is accepted or dropped like the first one of
//! the burst. A burst is held as long as its first packet is.

use super::registry::{Config, DisciplineKind};
use super::{Backlog, Discipline, Fifo, Limit, QueueLimit, QueuedPacket, Verdicts};
use crate::{EndpointId, LinkConfig, Packet};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, RandomStream, Rate};
use std::collections::BTreeSet;

/// Unit of the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NetemCount {
    /// A burst that the sender handed over in one call counts as one.
    #[default]
    Bursts,
    /// Each packet counts, as if the sender had no GSO.
    Packets,
}

impl NetemCount {
    const ALL: [Self; 2] = [Self::Bursts, Self::Packets];
}

impl Described for NetemCount {
    const ABOUT: &'static str = "First in, first out, with the limit of Linux's netem. It counts what waits, is in \
                                 transmission and is in propagation on this direction of the link; a burst that the \
                                 sender hands over in one call (GSO) counts as one. Default limit: 1000 packets.";

    fn settings() -> Vec<Setting<Self>> {
        let words = &["bursts", "packets"];
        vec![
            Setting::word(
                "count",
                "a unit of the limit",
                words,
                |count: &Self| *count as usize,
                |count, index| *count = Self::ALL[index],
            )
            .about(
                "bursts: a burst that the sender hands over in one call counts as one, as in netem; packets: each packet \
                 counts, as in netem after a device that cuts bursts.",
            ),
        ]
    }
}

impl DisciplineKind for NetemCount {
    type Config = Self;

    fn on_link(self, _: Rate, _: Duration) -> Self {
        self
    }

    fn refuses(self, limit: Option<Limit>) -> Option<(&'static str, &'static str)> {
        let is_count = !matches!(limit, Some(Limit::Bytes(_) | Limit::Bdp(_) | Limit::Packets(0)));
        (!is_count).then_some(("limit", "netem counts packets; write a number of packets such as \"1000 packets\""))
    }
}

impl Config for NetemCount {
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, _: RandomStream) -> Box<dyn Discipline<B>> {
        let limit = match link.queue {
            QueueLimit::Packets(packets) => packets,
            QueueLimit::Bytes(_) => u64::MAX,
        };
        Box::new(Netem { held: Held::new(limit, self), fifo: Fifo::default() })
    }
}

/// A FIFO without a limit of its own.
#[derive(Clone, Debug)]
pub struct Netem<B> {
    held: Held,
    fifo: Fifo<B>,
}

impl<B: Clone + Send> Discipline<B> for Netem<B> {
    fn enqueue(&mut self, now: Instant, packet: Packet<B>, _: &mut Verdicts<B>) {
        self.fifo.push(now, packet);
    }

    fn dequeue(&mut self, _: Instant, _: &mut Verdicts<B>) -> Option<QueuedPacket<B>> {
        self.fifo.pop()
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        self.fifo.withdraw(leave)
    }

    fn held(&self) -> Option<Held> {
        Some(self.held.clone())
    }
}

/// Limit of everything that a link direction holds.
#[derive(Clone, Debug)]
pub struct Held {
    limit: u64,
    count: NetemCount,
    /// Number of held packets that continue a burst and therefore do not count.
    continuing: u64,
    /// Endpoints of the flows whose last burst was rejected.
    rejected: BTreeSet<EndpointId>,
}

impl Held {
    fn new(limit: u64, count: NetemCount) -> Self {
        Self { limit, count, continuing: 0, rejected: BTreeSet::new() }
    }

    /// Returns true if the packet does not count towards the limit.
    fn is_free<B>(&self, packet: &Packet<B>) -> bool {
        self.count == NetemCount::Bursts && packet.flags.continues_burst()
    }

    /// Returns true if a packet may join the `packets` that the link direction holds.
    pub(crate) fn admits<B>(&mut self, packets: u64, packet: &Packet<B>) -> bool {
        if self.is_free(packet) {
            return !self.rejected.contains(&packet.to);
        }
        let admits = packets - self.continuing < self.limit;
        if packet.flags.carries_payload() {
            if admits {
                self.rejected.remove(&packet.to);
            } else {
                self.rejected.insert(packet.to);
            }
        }
        admits
    }

    /// Counts a packet that joins the link direction.
    pub(crate) fn joined<B>(&mut self, packet: &Packet<B>) {
        self.continuing += u64::from(self.is_free(packet));
    }

    /// Counts a packet that is no longer on the link direction.
    pub(crate) fn left<B>(&mut self, packet: &Packet<B>) {
        self.continuing -= u64::from(self.is_free(packet));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{Disturbance, LinkModel, QueuedLink};
    use crate::queue::tests::packet;
    use crate::{Loss, LossProcess, PacketFlags};
    use lightlag_core::Codepoint;

    /// Returns a link of 12 Mbit/s with a delay of 9 ms: a packet of 1500 B takes 1 ms, and the link holds it 10 ms.
    fn link(limit: u64, count: NetemCount) -> QueuedLink<u32> {
        let queue = QueueLimit::Packets(limit);
        let rate = "12 Mbit/s".parse().unwrap();
        let config = LinkConfig { rate, delay: Duration::from_millis(9), queue, header: 0 };
        let stream = || RandomStream::new(1, "netem");
        let loss = LossProcess::new(&Loss::None, stream());
        QueuedLink::new(config, count.build(&config, stream()), loss, Disturbance::none())
    }

    /// Offers packets of flows 1 and 2 at the same time, `true` for those that continue a burst. Returns which of them
    /// are dropped.
    fn dropped(link: &mut QueuedLink<u32>, now: Instant, offered: &[(u32, bool)]) -> Vec<u32> {
        for (number, (flow, continues)) in offered.iter().enumerate() {
            let flags = PacketFlags::new(true).with_following(*continues);
            link.send(now, Packet { flags, body: number as u32, ..packet(*flow, 1500, Codepoint::NotEct) });
        }
        link.dropped().map(|dropped| dropped.packet.body).collect()
    }

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_limit_counts_what_waits_is_in_transmission_and_is_in_propagation() {
        let mut link = link(4, NetemCount::Packets);
        assert_eq!(dropped(&mut link, ms(0), &[(1, false); 6]), [4, 5]);
        // At 9.5 ms all four have left the transmitter, the first arrives at 10 ms: still four.
        let half = ms(9) + Duration::from_micros(500);
        assert_eq!(dropped(&mut link, half, &[(1, false)]), [0]);
        assert!(link.receive(ms(10)).is_some());
        assert_eq!(dropped(&mut link, ms(10), &[(1, false), (1, false)]), [1]);
    }

    #[test]
    fn a_limit_of_n_carries_n_packets_in_each_delay() {
        // 5 packets of 1500 B in each 10 ms are 6 Mbit/s of the 12 Mbit/s; one packet is offered each 0.5 ms.
        let mut link = link(5, NetemCount::Packets);
        for half in 0..20_000_u64 {
            let now = Instant::from_nanos(half * 500_000);
            while link.next_wake().is_some_and(|wake| wake <= now) {
                let wake = link.next_wake().unwrap_or(now);
                link.receive(wake);
            }
            dropped(&mut link, now, &[(1, false)]);
        }
        let bps = link.counters().delivered as f64 * 12_000.0 / 10.0;
        // Each place is free for at most the 0.5 ms until the next offer: between 5/10.5 and 5/10 packets each ms.
        assert!((5.71e6..=6.0e6).contains(&bps), "{bps}");
    }

    #[test]
    fn a_burst_counts_as_one_and_is_dropped_as_a_whole() {
        let mut link = link(2, NetemCount::Bursts);
        let two_bursts = [(1, false), (1, true), (1, true), (2, false), (2, true)];
        assert!(dropped(&mut link, ms(0), &two_bursts).is_empty());
        // Both places are taken: the third burst goes, and another packet of flow 2.
        assert_eq!(dropped(&mut link, ms(0), &[(1, false), (1, true), (2, false), (2, true)]), [0, 1, 2, 3]);
        // Flow 1's burst arrives at 10, 11 and 12 ms; its place is free with its first packet.
        assert!(link.receive(ms(10)).is_some());
        assert!(dropped(&mut link, ms(10), &[(1, false), (1, true)]).is_empty());
        assert_eq!(link.in_flight(), 6);
        assert_eq!(dropped(&mut link, ms(10), &[(2, false)]), [0]);
        while let Some(wake) = link.next_wake() {
            link.receive(wake);
        }
        let counters = link.counters();
        assert_eq!((counters.offered, counters.dropped_queue, counters.delivered), (12, 5, 7));
        // Nothing is left of the bursts: again two fit.
        assert_eq!(dropped(&mut link, ms(40), &[(1, false), (1, true), (2, false), (1, false)]), [3]);
    }

    #[test]
    fn only_a_limit_in_packets_is_accepted() {
        use lightlag_core::Bytes;
        assert!(NetemCount::Bursts.refuses(None).is_none());
        assert!(NetemCount::Bursts.refuses(Some(Limit::Packets(1))).is_none());
        for limit in [Limit::Packets(0), Limit::Bytes(Bytes(3000)), Limit::Bdp(1.0)] {
            assert_eq!(NetemCount::Packets.refuses(Some(limit)).map(|(key, _)| key), Some("limit"));
        }
    }
}
