//! A discipline from outside as a judge of the engine's queues.

mod native;

pub use native::NativeQueue;

use crate::records;
use lightlag_core::own::Fault;
use lightlag_core::{Instant, Rate};
use lightlag_net::QueueLimit;
use lightlag_net::queue::own::{Answer, Judge, Question, Start};
use lightlag_plugin::{Packet, Queue, verdict};
use std::fmt::Write;

/// The last packets that an error message tells.
const TOLD: usize = 4;

/// The decisions of a discipline at one queue: numbers of [`verdict`]. Errors end the run; they say what went wrong.
pub trait Body: Send {
    /// Its queue.
    fn queue(&self) -> Queue;

    /// Replaces its queue.
    fn set_queue(&mut self, queue: Queue);

    /// A packet comes.
    fn on_enqueue(&mut self, packet: &Packet) -> Result<i64, String>;

    /// The packet at the head is about to leave.
    fn on_dequeue(&mut self, packet: &Packet) -> Result<i64, String>;
}

/// A judge with this body.
struct Bound<B> {
    name: &'static str,
    body: B,
    told: [Packet; TOLD],
    asked: usize,
    fault: Option<Box<Fault>>,
}

/// The judge of a body.
pub fn bind<B: Body + 'static>(name: &'static str, mut body: B, start: &Start) -> Box<dyn Judge> {
    let (limit_packets, limit_bytes) = match start.limit {
        QueueLimit::Packets(packets) => (packets as f64, f64::INFINITY),
        QueueLimit::Bytes(bytes) => (f64::INFINITY, bytes as f64),
    };
    let rate = bytes_a_second(start.rate);
    body.set_queue(Queue { packets: 0, bytes: 0, limit_packets, limit_bytes, rate, random: start.seed, fault: 0 });
    Box::new(Bound { name, body, told: [Packet::default(); TOLD], asked: 0, fault: None })
}

fn bytes_a_second(rate: Rate) -> f64 {
    rate.as_bps() as f64 / 8.0
}

/// The message for an answer that is none.
pub fn refusal(answer: &str) -> String {
    let [pass, drop, mark] = [verdict::PASS, verdict::DROP, verdict::MARK];
    format!("returned {answer}; it must be {pass} to let the packet pass, {drop} to drop it or {mark} to mark it")
}

impl<B: Body> Bound<B> {
    /// Asks the body, unless it has failed, and checks its answer.
    fn ask(
        &mut self,
        question: &Question,
        hook: &str,
        call: impl FnOnce(&mut B, &Packet) -> Result<i64, String>,
    ) -> Answer {
        if self.fault.is_some() {
            return Answer::Pass;
        }
        let packet = packet(question);
        self.told[self.asked % TOLD] = packet;
        self.asked += 1;
        let (packets, bytes) = (question.backlog.packets as i64, question.backlog.bytes as i64);
        self.body.set_queue(Queue { packets, bytes, ..self.body.queue() });
        let answer = call(&mut self.body, &packet).and_then(|answer| match (self.body.queue().fault, answer) {
            (0, verdict::PASS) => Ok(Answer::Pass),
            (0, verdict::DROP) => Ok(Answer::Drop),
            (0, verdict::MARK) => Ok(Answer::Mark),
            (0, other) => Err(refusal(&other.to_string())),
            (fault, _) => Err(records::failure(fault)),
        });
        answer.unwrap_or_else(|message| {
            self.fail(question.now, hook, &message);
            Answer::Pass
        })
    }

    #[cold]
    fn fail(&mut self, at: Instant, hook: &str, message: &str) {
        let mut text = format!("{}: {hook}: {message}\nThe last packets of this queue:", self.name);
        for packet in (self.asked.saturating_sub(TOLD)..self.asked).map(|at| &self.told[at % TOLD]) {
            let seconds = |nanos: i64| nanos as f64 / 1e9;
            let _ = write!(
                text,
                "\n  {:.6} s: size {}, flow {}, ecn {}, waited {:.6} s, carries_payload {}, full {}",
                seconds(packet.now_ns),
                packet.size,
                packet.flow,
                packet.ecn,
                seconds(packet.waited_ns),
                packet.carries_payload,
                packet.full
            );
        }
        self.fault = Some(Box::new(Fault { at, message: text }));
    }
}

/// A packet in the record of the interface.
fn packet(question: &Question) -> Packet {
    Packet {
        now_ns: records::time(question.now),
        size: question.size.into(),
        flow: question.flow.into(),
        ecn: question.ecn as i64,
        waited_ns: records::nanos(question.waited),
        carries_payload: question.carries_payload.into(),
        full: question.is_full.into(),
    }
}

impl<B: Body> Judge for Bound<B> {
    fn on_enqueue(&mut self, question: &Question) -> Answer {
        self.ask(question, "on_enqueue", B::on_enqueue)
    }

    fn on_dequeue(&mut self, question: &Question) -> Answer {
        self.ask(question, "on_dequeue", B::on_dequeue)
    }

    fn rate_changes(&mut self, rate: Rate) {
        self.body.set_queue(Queue { rate: bytes_a_second(rate), ..self.body.queue() });
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_core::{Codepoint, Duration};
    use lightlag_net::queue::Backlog;

    /// Answers with the number of bytes that wait.
    struct Echo(Queue);

    impl Body for Echo {
        fn queue(&self) -> Queue {
            self.0
        }

        fn set_queue(&mut self, queue: Queue) {
            self.0 = queue;
        }

        fn on_enqueue(&mut self, _packet: &Packet) -> Result<i64, String> {
            Ok(self.0.bytes)
        }

        fn on_dequeue(&mut self, packet: &Packet) -> Result<i64, String> {
            if packet.waited_ns > 0 { Err("too late".to_owned()) } else { Ok(0) }
        }
    }

    fn judge() -> Box<dyn Judge> {
        let start = Start { rate: Rate::from_mbps(8), limit: QueueLimit::Packets(100), seed: 1 };
        bind("echo", Echo(Queue::NONE), &start)
    }

    fn question(bytes: u64, waited: u64) -> Question {
        Question {
            now: Instant::from_nanos(2_000_000_000),
            backlog: Backlog { packets: 1, bytes },
            size: 1500,
            flow: 3,
            ecn: Codepoint::Ect0,
            carries_payload: true,
            waited: Duration::from_nanos(waited),
            is_full: false,
        }
    }

    #[test]
    fn numbers_are_answers() {
        let mut judge = judge();
        let answers = [0, 1, 3].map(|bytes| judge.on_enqueue(&question(bytes, 0)));
        assert_eq!(answers, [Answer::Pass, Answer::Drop, Answer::Mark]);
        assert_eq!(judge.fault(), None);
    }

    #[test]
    fn another_number_is_a_failure_and_nobody_is_asked_again() {
        let mut judge = judge();
        assert_eq!(judge.on_enqueue(&question(2, 0)), Answer::Pass);
        let fault = judge.fault().expect("2 is no answer").clone();
        assert_eq!(fault.at, Instant::from_nanos(2_000_000_000));
        let expected = "echo: on_enqueue: returned 2; it must be 0 to let the packet pass, 1 to drop it or 3 to mark it\n\
                        The last packets of this queue:\n  \
                        2.000000 s: size 1500, flow 3, ecn 2, waited 0.000000 s, carries_payload 1, full 0";
        assert_eq!(fault.message, expected);
        assert_eq!(judge.on_enqueue(&question(1, 0)), Answer::Pass);
        assert_eq!(judge.fault(), Some(&fault));
    }

    #[test]
    fn an_error_is_a_failure() {
        let mut judge = judge();
        assert_eq!(judge.on_dequeue(&question(0, 5)), Answer::Pass);
        assert!(judge.fault().is_some_and(|fault| fault.message.starts_with("echo: on_dequeue: too late")));
    }
}
