//! Adapts a custom queue discipline to the engine's queues, as a packet policy.

mod native;

pub use native::NativeQueue;

use crate::records;
use lightlag_core::custom::Fault;
use lightlag_core::{Instant, Rate};
use lightlag_net::QueueLimit;
use lightlag_net::queue::custom::{PacketPolicy, PolicyDecision, PolicyRequest, QueueInfo};
use lightlag_plugin::{Packet, Queue, verdict};
use std::fmt::Write;

/// Number of packets listed in an error message; the last ones.
const TOLD: usize = 4;

/// Callbacks of a custom discipline for one queue. They return numbers of [`verdict`]. An error ends the run; its text
/// states the cause.
pub trait QueueCallbacks: Send {
    /// Returns the shared part of the record, which holds the backlog.
    fn queue(&self) -> Queue;

    /// Replaces the shared part of the record.
    fn set_queue(&mut self, queue: Queue);

    /// Called when a packet arrives.
    fn on_enqueue(&mut self, packet: &Packet) -> Result<i64, String>;

    /// Called when the packet at the head is about to leave.
    fn on_dequeue(&mut self, packet: &Packet) -> Result<i64, String>;
}

/// Packet policy whose decisions come from the callbacks `B`.
struct BoundDiscipline<B> {
    name: &'static str,
    body: B,
    told: [Packet; TOLD],
    asked: usize,
    fault: Option<Box<Fault>>,
}

/// Returns a packet policy whose decisions come from these callbacks.
pub fn bind<B: QueueCallbacks + 'static>(name: &'static str, mut body: B, start: &QueueInfo) -> Box<dyn PacketPolicy> {
    let (limit_packets, limit_bytes) = match start.limit {
        QueueLimit::Packets(packets) => (packets as f64, f64::INFINITY),
        QueueLimit::Bytes(bytes) => (f64::INFINITY, bytes as f64),
    };
    let rate = bytes_a_second(start.rate);
    body.set_queue(Queue { packets: 0, bytes: 0, limit_packets, limit_bytes, rate, random: start.seed, fault: 0 });
    Box::new(BoundDiscipline { name, body, told: [Packet::default(); TOLD], asked: 0, fault: None })
}

fn bytes_a_second(rate: Rate) -> f64 {
    rate.as_bps() as f64 / 8.0
}

/// Returns the error message for an invalid return value.
pub fn refusal(answer: &str) -> String {
    let [pass, drop, mark] = [verdict::PASS, verdict::DROP, verdict::MARK];
    format!("returned {answer}; it must be {pass} to let the packet pass, {drop} to drop it or {mark} to mark it")
}

impl<B: QueueCallbacks> BoundDiscipline<B> {
    /// Calls a callback, unless the discipline has failed, and validates its return value.
    fn ask(
        &mut self,
        question: &PolicyRequest,
        hook: &str,
        call: impl FnOnce(&mut B, &Packet) -> Result<i64, String>,
    ) -> PolicyDecision {
        if self.fault.is_some() {
            return PolicyDecision::Pass;
        }
        let packet = packet(question);
        self.told[self.asked % TOLD] = packet;
        self.asked += 1;
        let (packets, bytes) = (question.backlog.packets as i64, question.backlog.bytes as i64);
        self.body.set_queue(Queue { packets, bytes, ..self.body.queue() });
        let answer = call(&mut self.body, &packet).and_then(|answer| match (self.body.queue().fault, answer) {
            (0, verdict::PASS) => Ok(PolicyDecision::Pass),
            (0, verdict::DROP) => Ok(PolicyDecision::Drop),
            (0, verdict::MARK) => Ok(PolicyDecision::Mark),
            (0, other) => Err(refusal(&other.to_string())),
            (fault, _) => Err(records::failure(fault)),
        });
        answer.unwrap_or_else(|message| {
            self.fail(question.now, hook, &message);
            PolicyDecision::Pass
        })
    }

    #[cold]
    fn fail(&mut self, time: Instant, hook: &str, message: &str) {
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
        self.fault = Some(Box::new(Fault { at: time, message: text }));
    }
}

/// Converts a packet to a record of the interface.
fn packet(question: &PolicyRequest) -> Packet {
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

impl<B: QueueCallbacks> PacketPolicy for BoundDiscipline<B> {
    fn on_enqueue(&mut self, question: &PolicyRequest) -> PolicyDecision {
        self.ask(question, "on_enqueue", B::on_enqueue)
    }

    fn on_dequeue(&mut self, question: &PolicyRequest) -> PolicyDecision {
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

    /// A discipline that returns the number of queued bytes as its verdict.
    struct Echo(Queue);

    impl QueueCallbacks for Echo {
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

    fn judge() -> Box<dyn PacketPolicy> {
        let start = QueueInfo { rate: Rate::from_mbps(8), limit: QueueLimit::Packets(100), seed: 1 };
        bind("echo", Echo(Queue::NONE), &start)
    }

    fn question(bytes: u64, waited: u64) -> PolicyRequest {
        PolicyRequest {
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
    fn numbers_are_return_values() {
        let mut judge = judge();
        let answers = [0, 1, 3].map(|bytes| judge.on_enqueue(&question(bytes, 0)));
        assert_eq!(answers, [PolicyDecision::Pass, PolicyDecision::Drop, PolicyDecision::Mark]);
        assert_eq!(judge.fault(), None);
    }

    #[test]
    fn another_number_is_a_failure_and_ends_the_calls() {
        let mut judge = judge();
        assert_eq!(judge.on_enqueue(&question(2, 0)), PolicyDecision::Pass);
        let fault = judge.fault().expect("2 is no answer").clone();
        assert_eq!(fault.at, Instant::from_nanos(2_000_000_000));
        let expected = "echo: on_enqueue: returned 2; it must be 0 to let the packet pass, 1 to drop it or 3 to mark it\n\
                        The last packets of this queue:\n  \
                        2.000000 s: size 1500, flow 3, ecn 2, waited 0.000000 s, carries_payload 1, full 0";
        assert_eq!(fault.message, expected);
        assert_eq!(judge.on_enqueue(&question(1, 0)), PolicyDecision::Pass);
        assert_eq!(judge.fault(), Some(&fault));
    }

    #[test]
    fn an_error_is_a_failure() {
        let mut judge = judge();
        assert_eq!(judge.on_dequeue(&question(0, 5)), PolicyDecision::Pass);
        assert!(judge.fault().is_some_and(|fault| fault.message.starts_with("echo: on_dequeue: too late")));
    }
}
