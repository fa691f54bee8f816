//! A plain queue for each flow, served in turn.
//!
//! J. Nagle, *On packet switches with infinite storage*, RFC 970, 1985: a switch with a queue for each flow sends one
//! packet of each in turn, so that no flow can delay another by more than its packets in the round. Here each queue has
//! the limit of the link and drops packets at its tail or at its head. In contrast to FQ-CoDel, nothing is dropped
//! before a queue is full, and flows never share a queue.
//!
//! With n flows that always have packets of equal size, each has the rate / n, and a packet of a flow that has no
//! other waits for at most n packets.

use super::registry::{Config, DisciplineKind};
use super::{Backlog, Discipline, Fifo, QueueLimit, QueuedPacket, Verdicts, bytes};
use crate::{EndpointId, LinkConfig, Packet};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, RandomStream, Rate};
use std::collections::{BTreeMap, VecDeque};

/// End of a full queue where a packet is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DropEnd {
    /// The arriving packet is dropped.
    #[default]
    Tail,
    /// The packets that have waited longest are dropped.
    Head,
}

impl DropEnd {
    const ALL: [Self; 2] = [Self::Tail, Self::Head];
}

/// Number of flows whose queues are found without a search.
const RECENT: usize = 64;

/// Settings of the queues per flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerFlowConfig {
    /// End of a full queue where a packet is dropped.
    pub drop: DropEnd,
}

impl Described for PerFlowConfig {
    const ABOUT: &'static str = "A plain queue for each flow, each with the limit of the link. The queues send one packet \
                                 each in turn (RFC 970).";

    fn settings() -> Vec<Setting<Self>> {
        let words = &["tail", "head"];
        vec![
            Setting::word(
                "drop",
                "an end of the queue",
                words,
                |config: &Self| config.drop as usize,
                |config, index| config.drop = DropEnd::ALL[index],
            )
            .about("End of a full queue where a packet is dropped: the arriving one (tail), or the oldest (head)."),
        ]
    }
}

impl DisciplineKind for PerFlowConfig {
    type Config = Self;

    fn on_link(self, _: Rate, _: Duration) -> Self {
        self
    }
}

impl Config for PerFlowConfig {
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, _: RandomStream) -> Box<dyn Discipline<B>> {
        Box::new(PerFlow::new(self, link.queue))
    }
}

/// A queue for each flow.
#[derive(Clone, Debug)]
pub struct PerFlow<B> {
    drop: DropEnd,
    limit: QueueLimit,
    /// Queues of all flows so far: an empty one stays, so that the next packet of its flow needs no memory.
    queues: Vec<Fifo<B>>,
    /// Index of the queue of each flow.
    indices: BTreeMap<EndpointId, usize>,
    /// Flows of recent packets with their queues, by the last bits of the flow, so that most packets need no search.
    recent: Box<[(EndpointId, usize); RECENT]>,
    /// Queues with packets, in the order of service.
    turns: VecDeque<usize>,
    backlog: Backlog,
}

impl<B: Clone> PerFlow<B> {
    /// Returns an empty queue.
    pub fn new(config: PerFlowConfig, limit: QueueLimit) -> Self {
        let (queues, indices, turns) = (Vec::new(), BTreeMap::new(), VecDeque::new());
        let recent = Box::new([(EndpointId(0), usize::MAX); RECENT]);
        Self { drop: config.drop, limit, queues, indices, recent, turns, backlog: Backlog::default() }
    }

    /// Returns the index of the queue of a flow.
    #[inline]
    fn index_of(&mut self, flow: EndpointId) -> usize {
        let recent = &mut self.recent[flow.0 as usize % RECENT];
        if recent.0 != flow || recent.1 == usize::MAX {
            let index = *self.indices.entry(flow).or_insert(self.queues.len());
            if index == self.queues.len() {
                self.queues.push(Fifo::default());
            }
            *recent = (flow, index);
        }
        recent.1
    }

    /// Drops the oldest packets of a queue until one of `size` bytes fits.
    #[cold]
    fn make_room(&mut self, now: Instant, index: usize, size: u16, verdicts: &mut Verdicts<B>) {
        while !self.limit.admits(self.queues[index].backlog(), size)
            && let Some(oldest) = self.queues[index].pop()
        {
            self.discount(oldest.packet.size);
            verdicts.full(now, oldest.packet);
        }
    }

    /// Removes a packet from the count.
    fn discount(&mut self, size: u16) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(size);
    }
}

impl<B: Clone + Send> Discipline<B> for PerFlow<B> {
    fn enqueue(&mut self, now: Instant, packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        let (index, size) = (self.index_of(packet.to), packet.size);
        let backlog = self.queues[index].backlog();
        if !self.limit.admits(backlog, size) {
            match self.drop {
                DropEnd::Tail => return verdicts.full(now, packet),
                DropEnd::Head => self.make_room(now, index, size, verdicts),
            }
        }
        if backlog.packets == 0 {
            self.turns.push_back(index);
        }
        self.queues[index].push(now, packet);
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(size);
    }

    fn dequeue(&mut self, _: Instant, _: &mut Verdicts<B>) -> Option<QueuedPacket<B>> {
        let index = self.turns.pop_front()?;
        let queue = &mut self.queues[index];
        let next = queue.pop()?;
        if !queue.is_empty() {
            self.turns.push_back(index);
        }
        self.discount(next.packet.size);
        Some(next)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        let mut withdrawn = Vec::new();
        for index in &self.turns {
            withdrawn.extend(self.queues[*index].withdraw(leave));
        }
        self.turns.retain(|index| !self.queues[*index].is_empty());
        self.backlog.packets -= withdrawn.len() as u64;
        self.backlog.bytes -= bytes(&withdrawn);
        withdrawn
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::packet;
    use super::*;
    use lightlag_core::Codepoint;

    fn queue(drop: DropEnd) -> PerFlow<u32> {
        PerFlow::new(PerFlowConfig { drop }, QueueLimit::Packets(3))
    }

    /// Offers packets of flows, numbered in the order of arrival, and returns the numbers of those that are dropped.
    fn offer(queue: &mut PerFlow<u32>, flows: &[u32]) -> Vec<u32> {
        let mut verdicts = Verdicts::default();
        for (body, flow) in (0..).zip(flows) {
            queue.enqueue(Instant::ZERO, Packet { body, ..packet(*flow, 1000, Codepoint::NotEct) }, &mut verdicts);
        }
        verdicts.dropped.iter().map(|dropped| dropped.packet.body).collect()
    }

    fn order(queue: &mut PerFlow<u32>) -> Vec<u32> {
        std::iter::from_fn(|| queue.dequeue(Instant::ZERO, &mut Verdicts::default()))
            .map(|next| next.packet.body)
            .collect()
    }

    #[test]
    fn flows_send_in_turn() {
        let mut queue = queue(DropEnd::Tail);
        // Three packets of flow 7, then one of flow 8 and two of flow 9.
        assert!(offer(&mut queue, &[7, 7, 7, 8, 9, 9]).is_empty());
        assert_eq!(queue.backlog(), Backlog { packets: 6, bytes: 6000 });
        assert_eq!(order(&mut queue), [0, 3, 4, 1, 5, 2]);
        assert_eq!(queue.backlog(), Backlog::default());
    }

    #[test]
    fn each_flow_has_the_limit_and_drops_its_own_packets() {
        let mut tail = queue(DropEnd::Tail);
        assert_eq!(offer(&mut tail, &[7, 7, 7, 7, 7, 8]), [3, 4]);
        assert_eq!(order(&mut tail), [0, 5, 1, 2]);
        let mut head = queue(DropEnd::Head);
        assert_eq!(offer(&mut head, &[7, 7, 7, 7, 7, 8]), [0, 1]);
        assert_eq!(order(&mut head), [2, 5, 3, 4]);
    }

    #[test]
    fn a_queue_that_drops_all_its_packets_keeps_its_turn() {
        let config = PerFlowConfig { drop: DropEnd::Head };
        let mut one = PerFlow::new(config, QueueLimit::Packets(1));
        assert_eq!(offer(&mut one, &[7, 7, 8, 7]), [0, 1]);
        assert_eq!(order(&mut one), [3, 2]);
    }

    #[test]
    fn a_flow_without_packets_leaves_the_round() {
        let mut queue = queue(DropEnd::Tail);
        offer(&mut queue, &[7, 8, 8]);
        let withdrawn = queue.withdraw(&mut |packet| packet.to == EndpointId(8));
        assert_eq!(withdrawn.iter().map(|packet| packet.body).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(order(&mut queue), [0]);
        assert!(queue.turns.is_empty());
        assert_eq!(queue.backlog(), Backlog::default());
    }
}
