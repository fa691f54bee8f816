//! Disciplines that are not part of lightlag: those of a user, from a library or in Python.
//!
//! Such a discipline judges the packets of a queue that is first in, first out, up to the limit. It is asked about each packet that
//! comes, and about the one at the head when the transmitter is free, and answers: let it pass, drop it, or mark it. A packet that cannot be marked is dropped
//! instead (RFC 3168 §5).
//!
//! This crate knows it as a [`Maker`]. `lightlag-core` says how a scenario names it.

use super::{Backlog, Choice, Discipline, Fifo, QueueLimit, Verdicts, Waiting};
use crate::{LinkConfig, Packet};
use lightlag_core::own::Registry;
pub use lightlag_core::own::{Fault, Outside};
use lightlag_core::params::Registered;
use lightlag_core::{Codepoint, Duration, Instant, RandomStream, Rate};
use std::sync::Arc;

/// A discipline from outside, which builds its judges.
pub trait Maker: Outside {
    /// Builds one for a queue, with a value for each parameter.
    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn Judge>;
}

/// A discipline from outside with the values of its parameters.
pub type Own = lightlag_core::own::Own<dyn Maker>;

/// The disciplines from outside.
pub static OUTSIDE: Registry<dyn Maker> = Registry::new();

/// Makes a discipline from outside known by its name, in place of an earlier one with that name.
///
/// # Errors
/// If one of lightlag's own disciplines has the name.
pub fn register(maker: Arc<dyn Maker>) -> Result<(), String> {
    let name = maker.facts().name;
    if Choice::NAMES.contains(&name) {
        return Err(format!("{name:?} is the name of a queue discipline of lightlag; choose another"));
    }
    OUTSIDE.add(maker);
    Ok(())
}

/// The facts known when a queue is built.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Start {
    /// The rate of the link.
    pub rate: Rate,
    /// The limit of what waits.
    pub limit: QueueLimit,
    /// The seed of the discipline's random draws, different for each queue.
    pub seed: u64,
}

/// A packet about which a judge is asked.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Question {
    /// The time.
    pub now: Instant,
    /// The waiting packets, without this one.
    pub backlog: Backlog,
    /// Bytes at the network layer.
    pub size: u16,
    /// The number that its sender gave to its flow.
    pub flow: u32,
    /// Its ECN field.
    pub ecn: Codepoint,
    /// Whether it carries payload.
    pub carries_payload: bool,
    /// How long it has waited.
    pub waited: Duration,
    /// Whether it comes to a full queue.
    pub is_full: bool,
}

/// The decision about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It stays, or leaves.
    Pass,
    /// It is dropped.
    Drop,
    /// It is marked, or dropped if it cannot be marked.
    Mark,
}

/// A discipline from outside at its queue.
pub trait Judge: Send {
    /// A packet comes. One that passes is still dropped if the queue is full.
    fn on_enqueue(&mut self, question: &Question) -> Answer;

    /// The packet at the head is about to leave.
    fn on_dequeue(&mut self, question: &Question) -> Answer;

    /// The link sends at another rate from now on.
    fn rate_changes(&mut self, rate: Rate);

    /// Its failure. From then on it lets all packets pass.
    fn fault(&self) -> Option<&Fault>;
}

/// A queue whose packets are judged from outside.
pub struct Judged<B> {
    limit: QueueLimit,
    fifo: Fifo<B>,
    judge: Box<dyn Judge>,
}

/// An empty queue with this discipline on a link, drawing from `random`.
pub(super) fn build<B: Clone + Send + 'static>(
    own: &Own,
    link: &LinkConfig,
    mut random: RandomStream,
) -> Box<dyn Discipline<B>> {
    let (maker, values) = own.parts();
    let start = Start { rate: link.rate, limit: link.queue, seed: random.bits() };
    let judge = Arc::clone(maker).build(&start, values);
    Box::new(Judged { limit: link.queue, fifo: Fifo::default(), judge })
}

impl<B: Clone> Judged<B> {
    fn question(&self, now: Instant, packet: &Packet<B>) -> Question {
        Question {
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

/// Marks a packet if that is the answer. Returns whether it is dropped.
fn drops<B: Clone>(answer: Answer, packet: &mut Packet<B>, verdicts: &mut Verdicts<B>) -> bool {
    match answer {
        Answer::Pass => false,
        Answer::Mark if packet.ecn().is_capable() => {
            verdicts.mark(packet);
            false
        }
        Answer::Drop | Answer::Mark => true,
    }
}

impl<B: Clone + Send> Discipline<B> for Judged<B> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        let is_full = !self.limit.admits(self.fifo.backlog(), packet.size);
        let answer = self.judge.on_enqueue(&Question { is_full, ..self.question(now, &packet) });
        // A packet that is dropped for want of room is not marked before.
        let answer = if is_full && answer == Answer::Mark && packet.ecn().is_capable() { Answer::Pass } else { answer };
        if drops(answer, &mut packet, verdicts) {
            verdicts.drop_early(now, packet);
        } else if is_full {
            verdicts.full(now, packet);
        } else {
            self.fifo.push(now, packet);
        }
    }

    fn dequeue(&mut self, now: Instant, verdicts: &mut Verdicts<B>) -> Option<Waiting<B>> {
        loop {
            let mut first = self.fifo.pop()?;
            let question = Question { waited: now.since(first.since), ..self.question(now, &first.packet) };
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

    /// Answers by what it is asked, and counts the questions.
    struct Script {
        arrivals: Vec<Answer>,
        departures: Vec<Answer>,
        asked: Vec<Question>,
    }

    impl Judge for Script {
        fn on_enqueue(&mut self, question: &Question) -> Answer {
            self.asked.push(*question);
            self.arrivals.remove(0)
        }

        fn on_dequeue(&mut self, question: &Question) -> Answer {
            self.asked.push(*question);
            self.departures.remove(0)
        }

        fn rate_changes(&mut self, _rate: Rate) {}

        fn fault(&self) -> Option<&Fault> {
            None
        }
    }

    fn queue(limit: u64, arrivals: &[Answer], departures: &[Answer]) -> Judged<u32> {
        let judge = Script { arrivals: arrivals.to_vec(), departures: departures.to_vec(), asked: Vec::new() };
        Judged { limit: QueueLimit::Packets(limit), fifo: Fifo::default(), judge: Box::new(judge) }
    }

    use Answer::{Drop, Mark, Pass};

    #[test]
    fn answers_decide_about_packets_that_come_and_leave() {
        let mut queue = queue(10, &[Pass, Drop, Mark, Mark], &[Drop, Mark]);
        let mut verdicts = Verdicts::default();
        let at = Instant::from_nanos;
        queue.enqueue(at(1), packet(0, 500, Codepoint::NotEct), &mut verdicts);
        queue.enqueue(at(2), packet(1, 500, Codepoint::Ect0), &mut verdicts);
        queue.enqueue(at(3), packet(2, 500, Codepoint::NotEct), &mut verdicts);
        queue.enqueue(at(4), packet(3, 500, Codepoint::Ect1), &mut verdicts);
        assert_eq!((queue.backlog().packets, verdicts.early, verdicts.marked), (2, 2, 1));
        // The first is dropped at the head; the other is marked already, which counts once.
        let left = queue.dequeue(at(9), &mut verdicts).unwrap();
        assert_eq!((left.packet.to.0, left.packet.ecn(), left.since), (3, Codepoint::Ce, at(4)));
        assert_eq!((verdicts.early, verdicts.marked, verdicts.full), (3, 1, 0));
        assert!(queue.dequeue(at(10), &mut verdicts).is_none());
    }

    #[test]
    fn a_full_queue_drops_what_passes() {
        let mut queue = queue(1, &[Pass, Pass, Mark, Drop], &[]);
        let mut verdicts = Verdicts::default();
        for flow in 0..4 {
            queue.enqueue(Instant::ZERO, packet(flow, 500, Codepoint::Ect0), &mut verdicts);
        }
        assert_eq!((verdicts.full, verdicts.early, verdicts.marked), (2, 1, 0));
    }
}
