//! FQ-CoDel: a queue for each flow, served in turn, with CoDel in each queue.
//!
//! RFC 8290 §4. A packet joins the queue selected by the hash of its flow. Queues that were empty are new and are
//! served first; the others are old and are served in a round. A queue may send a quantum of bytes in each turn. A
//! queue that empties while it is new goes to the end of the old ones, so a flow cannot remain new by sending small
//! amounts. When the limit is reached, half of the packets, up to 64, are dropped from the head of the largest queue in
//! bytes.

use super::codel::{CoDelConfig, CodelState};
use super::registry::{Config, DisciplineKind};
use super::{Backlog, Discipline, Fifo, Limit, QueueLimit, QueuedPacket, Verdicts, bytes};
use crate::{EndpointId, LinkConfig, Packet};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Rate};
use std::collections::VecDeque;

/// Maximum number of queues.
const MOST_QUEUES: u32 = 65_536;

/// Maximum number of packets dropped in one batch when the limit is reached (RFC 8290 §4.1).
const DROP_BATCH: u64 = 64;

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FqCoDelConfig {
    /// Parameters of CoDel in every queue.
    pub codel: CoDelConfig,
    /// Number of queues.
    pub flows: u32,
    /// Number of bytes that a queue may send per turn.
    pub quantum: Bytes,
}

impl Default for FqCoDelConfig {
    /// The defaults of RFC 8290 §5.2: 1024 queues and a quantum of 1514 B. ECN marks are on.
    fn default() -> Self {
        Self { codel: CoDelConfig { ecn: true, ..CoDelConfig::default() }, flows: 1024, quantum: Bytes(1514) }
    }
}

impl Described for FqCoDelConfig {
    const ABOUT: &'static str = "One queue per flow, each with CoDel. The queues are served in turn, one quantum at a \
                                 time, new flows first (RFC 8290).";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time("target", |config: &mut Self| &mut config.codel.target)
                .about("Acceptable persistent waiting time of packets."),
            Setting::time("interval", |config: &mut Self| &mut config.codel.interval)
                .about("Time for which they may wait longer: about the maximum round trip of the flows."),
            Setting::flag("ecn", |config: &mut Self| &mut config.codel.ecn)
                .about("Whether packets are marked, if possible, instead of dropped."),
            Setting::count("flows", |config: &mut Self| &mut config.flows, MOST_QUEUES, "a number of queues", "")
                .about("Number of queues."),
            Setting::size("quantum", |config: &mut Self| &mut config.quantum)
                .about("Bytes that a queue may send per turn."),
        ]
    }
}

impl DisciplineKind for FqCoDelConfig {
    type Config = Self;

    fn on_link(self, _: Rate, _: Duration) -> Self {
        self
    }

    // RFC 8290 §5.2.2.
    fn limit(self, configured: Option<Limit>, rate: Rate, round_trip: Duration) -> QueueLimit {
        configured.map_or(QueueLimit::Packets(10_240), |limit| QueueLimit::on_link(limit, rate, round_trip))
    }
}

impl Config for FqCoDelConfig {
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, random: RandomStream) -> Box<dyn Discipline<B>> {
        Box::new(FqCoDel::new(self, link.queue, random))
    }

    // It draws the flows that share a queue.
    fn draws(self, several: bool) -> bool {
        several
    }

    fn marks(self) -> bool {
        self.codel.ecn
    }
}

/// List that a queue is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Round {
    Out,
    New,
    Old,
}

/// The queue of one flow.
#[derive(Clone, Debug)]
struct FlowQueue<B> {
    fifo: Fifo<B>,
    control: CodelState,
    /// Number of bytes that the queue may still send in its turn.
    credit: i64,
    round: Round,
}

/// An FQ-CoDel queue.
#[derive(Clone, Debug)]
pub struct FqCoDel<B> {
    quantum: i64,
    limit: QueueLimit,
    queues: Vec<FlowQueue<B>>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    backlog: Backlog,
    /// Random value that perturbs the hash (RFC 8290 §4.1.1).
    salt: u64,
}

impl<B: Clone> FqCoDel<B> {
    /// Returns an empty queue.
    pub fn new(config: FqCoDelConfig, limit: QueueLimit, mut random: RandomStream) -> Self {
        let queue =
            FlowQueue { fifo: Fifo::default(), control: CodelState::new(config.codel), credit: 0, round: Round::Out };
        Self {
            quantum: i64::try_from(config.quantum.0).unwrap_or(i64::MAX),
            limit,
            queues: vec![queue; config.flows as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
            salt: random.bits(),
        }
    }

    /// Returns the index of the queue of a flow. RFC 8290 does not specify the hash; this is the finaliser of
    /// SplitMix64.
    fn queue_of(&self, to: EndpointId) -> u32 {
        let mut z = (u64::from(to.0) ^ self.salt).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % self.queues.len() as u64) as u32
    }

    fn has_room(&self) -> bool {
        match self.limit {
            QueueLimit::Packets(limit) => self.backlog.packets <= limit,
            // A single packet may have any size.
            QueueLimit::Bytes(limit) => self.backlog.bytes <= limit || self.backlog.packets == 1,
        }
    }

    /// Drops half of the packets in the largest queue in bytes, but at most [`DROP_BATCH`], from its head.
    fn make_room(&mut self, now: Instant, verdicts: &mut Verdicts<B>) {
        let bytes = |at: &u32| self.queues[*at as usize].fifo.backlog().bytes;
        // Every queue with packets is in a round. The lowest number wins among equals.
        let fattest = self.new.iter().chain(&self.old).copied().max_by_key(|at| (bytes(at), std::cmp::Reverse(*at)));
        let Some(fattest) = fattest else { return };
        let fifo = &mut self.queues[fattest as usize].fifo;
        let many = fifo.backlog().packets.div_ceil(2).min(DROP_BATCH);
        for _ in 0..many {
            let Some(first) = fifo.pop() else { break };
            self.backlog.packets -= 1;
            self.backlog.bytes -= u64::from(first.packet.size);
            verdicts.full(now, first.packet);
        }
    }

    /// Returns the queue whose turn it is. Queues without credit go to the end of the round.
    fn turn(&mut self) -> Option<u32> {
        loop {
            let index = *self.new.front().or_else(|| self.old.front())?;
            let queue = &mut self.queues[index as usize];
            if queue.credit > 0 {
                return Some(index);
            }
            queue.credit += self.quantum;
            self.send_to_the_end(index);
        }
    }

    /// Moves the queue whose turn it is to the end of the round.
    fn send_to_the_end(&mut self, index: u32) {
        let queue = &mut self.queues[index as usize];
        if queue.round == Round::New {
            self.new.pop_front();
        } else {
            self.old.pop_front();
        }
        queue.round = Round::Old;
        self.old.push_back(index);
    }
}

impl<B: Clone + Send> Discipline<B> for FqCoDel<B> {
    fn enqueue(&mut self, now: Instant, packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        let index = self.queue_of(packet.to);
        let queue = &mut self.queues[index as usize];
        if queue.round == Round::Out {
            queue.round = Round::New;
            queue.credit = self.quantum;
            self.new.push_back(index);
        }
        queue.control.see(packet.size);
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.size);
        queue.fifo.push(now, packet);
        while !self.has_room() {
            self.make_room(now, verdicts);
        }
    }

    fn dequeue(&mut self, now: Instant, verdicts: &mut Verdicts<B>) -> Option<QueuedPacket<B>> {
        while let Some(index) = self.turn() {
            let queue = &mut self.queues[index as usize];
            let before = queue.fifo.backlog();
            let next = queue.control.dequeue(now, &mut queue.fifo, verdicts);
            let after = queue.fifo.backlog();
            self.backlog.packets -= before.packets - after.packets;
            self.backlog.bytes -= before.bytes - after.bytes;
            if let Some(first) = next {
                queue.credit -= i64::from(first.packet.size);
                return Some(first);
            }
            if queue.round == Round::New {
                self.send_to_the_end(index);
            } else {
                queue.round = Round::Out;
                self.old.pop_front();
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        let withdrawn: Vec<_> = self.queues.iter_mut().flat_map(|queue| queue.fifo.withdraw(leave)).collect();
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

    fn queue(config: FqCoDelConfig, limit: u64) -> FqCoDel<u32> {
        FqCoDel::new(config, QueueLimit::Packets(limit), RandomStream::new(1, "queue"))
    }

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1_000)
    }

    /// Offers `offered` packets of each flow per millisecond to a link that sends 1000 B per millisecond. Returns the
    /// number of bytes sent for each flow.
    fn shares(flows: &[(u32, u16)], offered: usize, millis: u64) -> Vec<u64> {
        let (mut queue, mut verdicts) = (queue(FqCoDelConfig::default(), 10_240), Verdicts::default());
        let (mut sent, mut total) = (vec![0; flows.len()], 0);
        for ms in 0..millis {
            for (flow, size) in flows {
                for _ in 0..offered {
                    queue.enqueue(at(ms * 1000), packet(*flow, *size, Codepoint::NotEct), &mut verdicts);
                }
            }
            while total < (ms + 1) * 1000 {
                let Some(first) = queue.dequeue(at(ms * 1000), &mut verdicts) else { break };
                let packet = first.packet;
                total += u64::from(packet.size);
                sent[flows.iter().position(|(flow, _)| *flow == packet.to.0).unwrap()] += u64::from(packet.size);
            }
        }
        sent
    }

    #[test]
    fn flows_that_always_have_packets_get_the_same_bytes_whatever_their_size() {
        let sent = shares(&[(1, 1500), (2, 300), (3, 900)], 5, 3_000);
        let mean = sent.iter().sum::<u64>() as f64 / 3.0;
        // Deficit round robin (Shreedhar and Varghese 1996): flows differ by at most a quantum and a packet each.
        for bytes in &sent {
            assert!((*bytes as f64 - mean).abs() <= 2.0 * (1514.0 + 1500.0), "{sent:?}");
        }
    }

    #[test]
    fn a_sparse_flow_overtakes_a_bulk_flow() {
        let (mut queue, mut verdicts) = (queue(FqCoDelConfig::default(), 10_240), Verdicts::default());
        for _ in 0..100 {
            queue.enqueue(at(0), packet(1, 1500, Codepoint::NotEct), &mut verdicts);
        }
        // The bulk flow uses up its first turn: 1514 − 1500 leaves credit for one packet more.
        let first: Vec<u32> = (0..2).map(|_| queue.dequeue(at(0), &mut verdicts).unwrap().packet.to.0).collect();
        queue.enqueue(at(0), packet(2, 100, Codepoint::NotEct), &mut verdicts);
        let then: Vec<u32> = (0..3).map(|_| queue.dequeue(at(0), &mut verdicts).unwrap().packet.to.0).collect();
        assert_eq!((first, then), (vec![1, 1], vec![2, 1, 1]));
    }

    #[test]
    fn an_emptied_new_queue_waits_after_the_old_ones_before_it_is_new_again() {
        let (mut queue, mut verdicts) = (queue(FqCoDelConfig::default(), 10_240), Verdicts::default());
        let mut flows = |arriving: &[u32], leaving: usize| -> Vec<u32> {
            for flow in arriving {
                queue.enqueue(at(0), packet(*flow, 100, Codepoint::NotEct), &mut verdicts);
            }
            (0..leaving).map(|_| queue.dequeue(at(0), &mut verdicts).unwrap().packet.to.0).collect()
        };
        // The bulk flow uses up its first turn: 1514 − 15 · 100 leaves credit for one packet more.
        assert_eq!(flows(&[1; 100], 16), [1; 16]);
        assert_eq!(flows(&[2], 1), [2], "new");
        // The emptied queue is found in its turn and moves after the bulk flow's queue.
        assert_eq!(flows(&[], 1), [1]);
        // So the next packet waits until the bulk flow has used up the 1428 B of its turn.
        assert_eq!(flows(&[2], 15), [[1; 14].as_slice(), &[2]].concat(), "old");
    }

    #[test]
    fn a_full_queue_drops_half_of_the_flow_with_most_bytes_up_to_64() {
        let (mut queue, mut verdicts) = (queue(FqCoDelConfig::default(), 200), Verdicts::default());
        for _ in 0..50 {
            queue.enqueue(at(0), packet(2, 100, Codepoint::NotEct), &mut verdicts);
        }
        for body in 0..151 {
            let packet = Packet { body, ..packet(1, 1500, Codepoint::NotEct) };
            queue.enqueue(at(0), packet, &mut verdicts);
        }
        let bodies: Vec<u32> = verdicts.dropped.iter().map(|dropped| dropped.packet.body).collect();
        assert_eq!(bodies, (0..64).collect::<Vec<_>>(), "from the head");
        assert!(verdicts.dropped.iter().all(|dropped| dropped.packet.to.0 == 1));
        assert_eq!((queue.backlog().packets, verdicts.full, verdicts.early), (137, 64, 0));
    }

    #[test]
    fn with_one_queue_it_is_codel() {
        let mut fq = queue(FqCoDelConfig { flows: 1, ..FqCoDelConfig::default() }, 10_240);
        let config = FqCoDelConfig::default().codel;
        let mut codel = super::super::CoDel::new(config, QueueLimit::Packets(10_240));
        let (mut a, mut b) = (Verdicts::default(), Verdicts::default());
        for ms in 0..3_000 {
            for body in 0..if ms % 700 < 300 { 2 } else { 1 } {
                let packet = Packet { body: ms as u32 * 2 + body, ..packet(ms as u32 % 7, 1000, Codepoint::NotEct) };
                fq.enqueue(at(ms * 1000), packet, &mut a);
                codel.enqueue(at(ms * 1000), packet, &mut b);
            }
            let next = [fq.dequeue(at(ms * 1000), &mut a), codel.dequeue(at(ms * 1000), &mut b)];
            assert_eq!(next[0].map(|first| first.packet.body), next[1].map(|first| first.packet.body));
        }
        assert!(a.early > 50, "{}", a.early);
        assert_eq!(a.early, b.early);
    }
}
