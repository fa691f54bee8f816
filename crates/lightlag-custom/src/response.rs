//! Adapts a custom loss response to the engine.

mod native;

pub use native::NativeResponse;

use crate::records;
use lightlag_control::congestion::response::{LossEvent, LossResponse};
use lightlag_control::congestion::{self, ConnectionStart};
use lightlag_core::Instant;
use lightlag_core::custom::Fault;
use lightlag_plugin::{Response, blame};
use std::fmt::Write;

/// Number of losses listed in an error message; the last ones.
const TOLD: usize = 4;

/// Callbacks of a custom loss response for one sender. An error ends the run; its text states the cause.
pub trait ResponseCallbacks: Send {
    /// Returns the shared part of the record.
    fn head(&self) -> Response;

    /// Replaces the shared part of the record.
    fn set_head(&mut self, head: Response);

    /// Called for an ACK.
    fn on_ack(&mut self, ack: &lightlag_plugin::Ack) -> Result<(), String>;

    /// Returns the cause of a loss: a number of [`blame`].
    fn on_loss(&mut self, loss: &lightlag_plugin::Loss) -> Result<i64, String>;
}

/// Loss response whose decisions come from the callbacks `B`.
struct BoundResponse<B> {
    name: &'static str,
    body: B,
    told: [lightlag_plugin::Loss; TOLD],
    asked: usize,
    fault: Option<Box<Fault>>,
}

/// Returns a loss response whose decisions come from these callbacks.
pub fn bind<B: ResponseCallbacks + 'static>(
    name: &'static str,
    mut body: B,
    start: &ConnectionStart,
) -> Box<dyn LossResponse> {
    body.set_head(Response { random: start.seed, ..body.head() });
    Box::new(BoundResponse { name, body, told: [lightlag_plugin::Loss::default(); TOLD], asked: 0, fault: None })
}

/// Returns the error message for an invalid return value.
pub fn refusal(answer: &str) -> String {
    let [congestion, corruption] = [blame::CONGESTION, blame::CORRUPTION];
    format!("returned {answer}; it must be {congestion} for congestion or {corruption} for corruption")
}

impl<B: ResponseCallbacks> BoundResponse<B> {
    /// Returns an error if the callbacks have set the error code in the record.
    fn check(&self) -> Result<(), String> {
        match self.body.head().fault {
            0 => Ok(()),
            fault => Err(records::failure(fault)),
        }
    }

    fn ask(&mut self, loss: &lightlag_plugin::Loss) -> Result<bool, String> {
        let answer = self.body.on_loss(loss)?;
        self.check()?;
        match answer {
            blame::CONGESTION => Ok(false),
            blame::CORRUPTION => Ok(true),
            other => Err(refusal(&other.to_string())),
        }
    }

    #[cold]
    fn fail(&mut self, time: Instant, hook: &str, message: &str) {
        let mut text = format!("{}: {hook}: {message}", self.name);
        let last: Vec<_> = (self.asked.saturating_sub(TOLD)..self.asked).map(|at| &self.told[at % TOLD]).collect();
        if !last.is_empty() {
            let _ = write!(text, "\nThe last losses of this connection:");
        }
        for loss in last {
            let seconds = |nanos: i64| nanos as f64 / 1e9;
            let _ = write!(
                text,
                "\n  {:.6} s: cause {}, inflight {}, cwnd {} B, rtt {:.6} s, min_rtt {:.6} s",
                seconds(loss.now_ns),
                loss.cause,
                loss.inflight,
                loss.cwnd,
                seconds(loss.rtt_ns),
                seconds(loss.min_rtt_ns)
            );
        }
        self.fault = Some(Box::new(Fault { at: time, message: text }));
    }
}

impl<B: ResponseCallbacks> LossResponse for BoundResponse<B> {
    fn on_ack(&mut self, ack: &congestion::Ack) {
        if self.fault.is_some() {
            return;
        }
        if let Err(message) = self.body.on_ack(&records::ack(ack)).and_then(|()| self.check()) {
            self.fail(ack.now, "on_ack", &message);
        }
    }

    fn is_corruption(&mut self, loss: &LossEvent) -> bool {
        if self.fault.is_some() {
            return false;
        }
        let record = records::loss(loss);
        self.told[self.asked % TOLD] = record;
        self.asked += 1;
        self.ask(&record).unwrap_or_else(|message| {
            self.fail(loss.now, "on_loss", &message);
            false
        })
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_control::congestion::Cause;
    use lightlag_core::Duration;

    /// A response that returns the given values in turn.
    struct ScriptedResponse(Response, Vec<i64>, usize);

    impl ResponseCallbacks for ScriptedResponse {
        fn head(&self) -> Response {
            self.0
        }

        fn set_head(&mut self, head: Response) {
            self.0 = head;
        }

        fn on_ack(&mut self, _ack: &lightlag_plugin::Ack) -> Result<(), String> {
            Ok(())
        }

        fn on_loss(&mut self, loss: &lightlag_plugin::Loss) -> Result<i64, String> {
            assert_eq!((loss.sent_ns, loss.min_rtt_ns, loss.rtt_ns), (-1, 0, 7));
            self.2 += 1;
            self.1.get(self.2 - 1).copied().ok_or_else(|| "there is no line".to_owned())
        }
    }

    fn asked(answers: &[i64]) -> (Vec<bool>, Option<String>) {
        let start = ConnectionStart {
            segment_size: 1000,
            initial_window: 10,
            rtt: None,
            pipe: None,
            ssthresh: None,
            max_window: None,
            whole: false,
            timestamps: true,
            abe: false,
            ecn: false,
            tso: false,
            paces: false,
            seed: 7,
        };
        let mut response = bind("script", ScriptedResponse(Response::NONE, answers.to_vec(), 0), &start);
        let loss = LossEvent {
            now: Instant::from_nanos(5),
            cause: Cause::Loss,
            sent: None,
            inflight: 3000,
            cwnd: 4000,
            rtt: Duration::from_nanos(7),
            srtt: Duration::ZERO,
            min_rtt: Duration::MAX,
        };
        let said = (0..3).map(|_| response.is_corruption(&loss)).collect();
        (said, response.fault().map(|fault| fault.message.clone()))
    }

    #[test]
    fn return_values_are_causes() {
        assert_eq!(asked(&[0, 1, 0]), (vec![false, true, false], None));
    }

    #[test]
    fn another_return_value_is_a_failure_and_ends_the_calls() {
        let (said, fault) = asked(&[1, 2, 1]);
        assert_eq!(said, [true, false, false]);
        let fault = fault.unwrap();
        assert!(fault.starts_with("script: on_loss: returned 2; it must be 0 for congestion or 1"), "{fault}");
        assert!(
            fault.contains("The last losses of this connection:\n  0.000000 s: cause 0, inflight 3000, cwnd 4000 B")
        );
    }
}
