//! Traffic from outside as an application of the engine.

mod native;

pub use native::NativeTraffic;

use crate::records;
use lightlag_core::Duration;
use lightlag_core::own::Fault;
use lightlag_plugin::{Sent, Source};
use lightlag_scenario::own_traffic::{Application, Message, Question, Start};
use std::fmt;

/// The decisions of an application. Errors end the run; they say what went wrong.
pub trait Body: Send {
    /// Its next message.
    fn source(&self) -> Source;

    /// Replaces it.
    fn set_source(&mut self, source: Source);

    /// Leaves the next message in its record.
    fn next_message(&mut self, sent: &Sent) -> Result<(), String>;
}

/// An application with this body.
struct Bound<B> {
    name: &'static str,
    body: B,
    largest: Option<u64>,
    fault: Option<Box<Fault>>,
}

impl<B> fmt::Debug for Bound<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound").field("name", &self.name).field("fault", &self.fault).finish_non_exhaustive()
    }
}

/// The application of a body.
pub fn bind<B: Body + 'static>(name: &'static str, mut body: B, start: &Start) -> Box<dyn Application> {
    body.set_source(Source { random: start.seed, ..body.source() });
    Box::new(Bound { name, body, largest: start.largest, fault: None })
}

impl<B: Body> Bound<B> {
    fn ask(&mut self, question: &Question) -> Result<Option<Message>, String> {
        let now_ns = records::time(question.now);
        self.body.next_message(&Sent { now_ns, messages: question.messages as i64, bytes: question.bytes as i64 })?;
        let Source { wait_ns, size, fault, .. } = self.body.source();
        if fault != 0 {
            return Err(records::failure(fault));
        }
        let Ok(wait) = u64::try_from(wait_ns) else {
            return Err(format!("left wait_ns at {wait_ns}; it must be 0 or more"));
        };
        let most = self.largest.unwrap_or(i64::MAX.cast_unsigned());
        let Some(size) = u64::try_from(size).ok().filter(|size| *size <= most) else {
            let range = self.largest.map_or_else(
                || "0 for the end, or more".to_owned(),
                |most| format!("from 0, for the end, to {most}, the largest message of UDP"),
            );
            return Err(format!("left size at {size}; it must be {range}"));
        };
        // Time goes on from one message to the next.
        let wait = Duration::from_nanos(wait.max(u64::from(question.messages > 0)));
        Ok((size > 0).then_some(Message { wait, size }))
    }
}

impl<B: Body> Application for Bound<B> {
    fn next(&mut self, question: &Question) -> Option<Message> {
        if self.fault.is_some() {
            return None;
        }
        self.ask(question).unwrap_or_else(|message| {
            let Question { now, messages, bytes } = *question;
            let name = self.name;
            let message =
                format!("{name}: next_message: {message}\nIt was asked after {messages} messages of {bytes} B.");
            self.fault = Some(Box::new(Fault { at: now, message }));
            None
        })
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_core::Instant;

    /// Says what it is given, one after the other.
    struct Script(Source, Vec<(i64, i64)>);

    impl Body for Script {
        fn source(&self) -> Source {
            self.0
        }

        fn set_source(&mut self, source: Source) {
            self.0 = source;
        }

        fn next_message(&mut self, sent: &Sent) -> Result<(), String> {
            let (wait_ns, size) = *self.1.get(sent.messages as usize).ok_or("there is no line")?;
            self.0 = Source { wait_ns, size, ..self.0 };
            Ok(())
        }
    }

    fn said(lines: &[(i64, i64)], largest: Option<u64>) -> (Vec<Option<(u64, u64)>>, Option<String>) {
        let mut application = bind("script", Script(Source::NONE, lines.to_vec()), &Start { largest, seed: 7 });
        let asked = (0..3).map(|messages| {
            let message = application.next(&Question { now: Instant::from_nanos(5), messages, bytes: 0 })?;
            Some((message.wait.as_nanos(), message.size))
        });
        let said = asked.collect();
        (said, application.fault().map(|fault| fault.message.clone()))
    }

    #[test]
    fn a_message_has_a_wait_and_a_size_and_time_goes_on() {
        assert_eq!(said(&[(0, 100), (0, 200), (5, 0)], None), (vec![Some((0, 100)), Some((1, 200)), None], None));
    }

    #[test]
    fn negative_waits_and_sizes_and_too_large_messages_are_failures() {
        for (line, largest, reason) in [
            ((-1, 1), None, "left wait_ns at -1; it must be 0 or more"),
            ((1, -5), None, "left size at -5; it must be 0 for the end, or more"),
            ((1, 11), Some(10), "left size at 11; it must be from 0, for the end, to 10, the largest message of UDP"),
        ] {
            let (messages, fault) = said(&[line, (1, 1), (1, 1)], largest);
            assert_eq!(messages, [None, None, None], "nobody asks again");
            let expected = format!("script: next_message: {reason}\nIt was asked after 0 messages of 0 B.");
            assert_eq!(fault, Some(expected));
        }
    }
}
