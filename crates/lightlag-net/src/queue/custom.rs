//! Custom queue disciplines, from a library or in Python.
//!
//! A custom discipline decides about the packets of a first-in, first-out queue with a limit. It is called for each
//! arriving packet, and for the packet at the head when the transmitter is free. It lets the packet pass, drops it, or
//! marks it. A packet that cannot be marked is dropped instead (RFC 3168 §5).
//!
//! A [`DisciplineFactory`] builds its instances. `lightlag-core` defines how a scenario refers to it.

use super::{Backlog, Choice, Discipline, Fifo, QueueLimit, QueuedPacket, Verdicts};
use crate::{LinkConfig, Packet};
use lightlag_core::custom::Registry;
pub use lightlag_core::custom::{Factory, Fault};
use lightlag_core::params::Registered;
use lightlag_core::{Codepoint, Duration, Instant, RandomStream, Rate};
use std::sync::Arc;

/// Builder of a custom discipline.
pub trait DisciplineFactory: Factory {
    /// Builds the discipline for one queue; `values` has a value for each parameter.
    fn build(self: Arc<Self>, start: &QueueInfo, values: &[f64]) -> Box<dyn PacketPolicy>;
}

/// A custom discipline with the values of its parameters.
pub type CustomDiscipline = lightlag_core::custom::Custom<dyn DisciplineFactory>;

/// Registered custom disciplines.
pub static CUSTOM: Registry<dyn DisciplineFactory> = Registry::new();

/// Registers a custom discipline, replacing any discipline of the same name.
///
/// # Errors
/// If one of lightlag's own disciplines has this name.
pub fn register(maker: Arc<dyn DisciplineFactory>) -> Result<(), String> {
    let name = maker.facts().name;
    if Choice::NAMES.contains(&name) {
        return Err(format!("{name:?} is the name of a built-in queue discipline; choose another"));
    }
    CUSTOM.add(maker);
    Ok(())
}

/// Properties of a queue that are known when it is built.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QueueInfo {
    /// Rate of the link.
    pub rate: Rate,
    /// Limit of the waiting packets.
    pub limit: QueueLimit,
    /// Seed of the discipline's random numbers, different for each queue.
    pub seed: u64,
}

/// Request for a decision about a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PolicyRequest {
    /// Time of the decision.
    pub now: Instant,
    /// Waiting packets, excluding this one.
    pub backlog: Backlog,
    /// Size at the network layer in bytes.
    pub size: u16,
    /// Index of the packet's flow.
    pub flow: u32,
    /// ECN field.
    pub ecn: Codepoint,
    /// Whether the packet carries payload.
    pub carries_payload: bool,
    /// Time that the packet has waited.
    pub waited: Duration,
    /// Whether the packet arrives at a full queue.
    pub is_full: bool,
}

/// Decision about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyDecision {
    /// The packet stays in the queue, or is sent.
    Pass,
    /// The packet is dropped.
    Drop,
    /// The packet is marked, or dropped if it cannot be marked.
    Mark,
}

/// A custom discipline, which decides about the packets of one queue.
pub trait PacketPolicy: Send {
    /// Called when a packet arrives. Even if the decision is to pass, the packet is dropped if the queue is full.
    fn on_enqueue(&mut self, question: &PolicyRequest) -> PolicyDecision;

    /// Called when the packet at the head is about to be sent.
    fn on_dequeue(&mut self, question: &PolicyRequest) -> PolicyDecision;

    /// Called when the rate of the link changes.
    fn rate_changes(&mut self, rate: Rate);

    /// Returns the failure of the discipline, if it has failed. After a failure it lets all packets pass.
    fn fault(&self) -> Option<&Fault>;
}

/// A queue with a custom discipline.
pub struct Judged<B> {
    limit: QueueLimit,
    fifo: Fifo<B>,
    judge: Box<dyn PacketPolicy>,
}

/// Returns an empty queue of a link with this discipline; its seed is drawn from `random`.
pub(super) fn build<B: Clone + Send + 'static>(
    custom: &CustomDiscipline,
    link: &LinkConfig,
    mut random: RandomStream,
) -> Box<dyn Discipline<B>> {
    let (maker, values) = custom.parts();
    let start = QueueInfo { rate: link.rate, limit: link.queue, seed: random.bits() };
    let judge = Arc::clone(maker).build(&start, values);
    Box::new(Judged { limit: link.queue, fifo: Fifo::default(), judge })
}

impl<B: Clone> Judged<B> {
    fn question(&self, now: Instant, packet: &Packet<B>) -> PolicyRequest {
        PolicyRequest {
            now,
            backlog: self.fifo.backlog(),
            size: packet.size,
            flow: packet.to.0,
            ecn: packet.ecn(),
            carries_payload: packet.flags.carries_payload(),
            waited: Duration::ZERO,
            is_full: false,
        }
    }
}

/// Marks a packet if that is the decision. Returns true if the packet must be dropped.
fn drops<B: Clone>(answer: PolicyDecision, packet: &mut Packet<B>, verdicts: &mut Verdicts<B>) -> bool {
    match answer {
        PolicyDecision::Pass => false,
        PolicyDecision::Mark if packet.ecn().is_capable() => {
            verdicts.mark(packet);
            false
        }
        PolicyDecision::Drop | PolicyDecision::Mark => true,
    }
}

impl<B: Clone + Send> Discipline<B> for Judged<B> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        let is_full = !self.limit.admits(self.fifo.backlog(), packet.size);
        let answer = self.judge.on_enqueue(&PolicyRequest { is_full, ..self.question(now, &packet) });
        // A packet that is dropped because the buffer is full is not marked first.
        let answer = if is_full && answer == PolicyDecision::Mark && packet.ecn().is_capable() {
            PolicyDecision::Pass
        } else {
            answer
        };
        if drops(answer, &mut packet, verdicts) {
            verdicts.drop_early(now, packet);
        } else if is_full {
            verdicts.full(now, packet);
        } else {
            self.fifo.push(now, packet);
        }
    }

    fn dequeue(&mut self, now: Instant, verdicts: &mut Verdicts<B>) -> Option<QueuedPacket<B>> {
        loop {
            let mut first = self.fifo.pop()?;
            let question = PolicyRequest { waited: now.since(first.since), ..self.question(now, &first.packet) };
            let answer = self.judge.on_dequeue(&question);
            if !drops(answer, &mut first.packet, verdicts) {
                return Some(first);
            }
            verdicts.drop_early(now, first.packet);
        }
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        self.fifo.withdraw(leave)
    }

    fn rate_changes(&mut self, _at: Instant, rate: Rate) {
        self.judge.rate_changes(rate);
    }

    fn fault(&self) -> Option<&Fault> {
        self.judge.fault()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::packet;
    use super::*;

    /// A policy that returns scripted decisions, and records the calls.
    struct Script {
        arrivals: Vec<PolicyDecision>,
        departures: Vec<PolicyDecision>,
        asked: Vec<PolicyRequest>,
    }

    impl PacketPolicy for Script {
        fn on_enqueue(&mut self, question: &PolicyRequest) -> PolicyDecision {
            self.asked.push(*question);
            self.arrivals.remove(0)
        }

        fn on_dequeue(&mut self, question: &PolicyRequest) -> PolicyDecision {
            self.asked.push(*question);
            self.departures.remove(0)
        }

        fn rate_changes(&mut self, _rate: Rate) {}

        fn fault(&self) -> Option<&Fault> {
            None
        }
    }

    fn queue(limit: u64, arrivals: &[PolicyDecision], departures: &[PolicyDecision]) -> Judged<u32> {
        let judge = Script { arrivals: arrivals.to_vec(), departures: departures.to_vec(), asked: Vec::new() };
        Judged { limit: QueueLimit::Packets(limit), fifo: Fifo::default(), judge: Box::new(judge) }
    }

    use PolicyDecision::{Drop, Mark, Pass};

    #[test]
    fn return_values_decide_about_arriving_and_departing_packets() {
        let mut queue = queue(10, &[Pass, Drop, Mark, Mark], &[Drop, Mark]);
        let mut verdicts = Verdicts::default();
        let time = Instant::from_nanos;
        queue.enqueue(time(1), packet(0, 500, Codepoint::NotEct), &mut verdicts);
        queue.enqueue(time(2), packet(1, 500, Codepoint::Ect0), &mut verdicts);
        queue.enqueue(time(3), packet(2, 500, Codepoint::NotEct), &mut verdicts);
        queue.enqueue(time(4), packet(3, 500, Codepoint::Ect1), &mut verdicts);
        assert_eq!((queue.backlog().packets, verdicts.early, verdicts.marked), (2, 2, 1));
        // The first is dropped at the head; the other is already marked, which counts once.
        let left = queue.dequeue(time(9), &mut verdicts).unwrap();
        assert_eq!((left.packet.to.0, left.packet.ecn(), left.since), (3, Codepoint::Ce, time(4)));
        assert_eq!((verdicts.early, verdicts.marked, verdicts.full), (3, 1, 0));
        assert!(queue.dequeue(time(10), &mut verdicts).is_none());
    }

    #[test]
    fn a_full_queue_drops_arrivals() {
        let mut queue = queue(1, &[Pass, Pass, Mark, Drop], &[]);
        let mut verdicts = Verdicts::default();
        for flow in 0..4 {
            queue.enqueue(Instant::ZERO, packet(flow, 500, Codepoint::Ect0), &mut verdicts);
        }
        assert_eq!((verdicts.full, verdicts.early, verdicts.marked), (2, 1, 0));
    }
}
