//! Adapts custom traffic to the engine, as an application.

mod native;

pub use native::NativeTraffic;

use crate::records;
use lightlag_core::Duration;
use lightlag_core::custom::Fault;
use lightlag_plugin::{Sent, Source};
use lightlag_traffic::custom::{Application, ApplicationInfo, MessageRequest, NextMessage};
use std::fmt;

/// Callbacks of custom traffic for one application. An error ends the run; its text states the cause.
pub trait ApplicationCallbacks: Send {
    /// Returns the shared part of the record, which holds the next message.
    fn source(&self) -> Source;

    /// Replaces the shared part of the record.
    fn set_source(&mut self, source: Source);

    /// Called for the next message; stores it in the record.
    fn next_message(&mut self, sent: &Sent) -> Result<(), String>;
}

/// Application whose messages come from the callbacks `B`.
struct BoundApplication<B> {
    name: &'static str,
    body: B,
    largest: Option<u64>,
    fault: Option<Box<Fault>>,
}

impl<B> fmt::Debug for BoundApplication<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound").field("name", &self.name).field("fault", &self.fault).finish_non_exhaustive()
    }
}

/// Returns an application whose messages come from these callbacks.
pub fn bind<B: ApplicationCallbacks + 'static>(
    name: &'static str,
    mut body: B,
    start: &ApplicationInfo,
) -> Box<dyn Application> {
    body.set_source(Source { random: start.seed, ..body.source() });
    Box::new(BoundApplication { name, body, largest: start.largest, fault: None })
}

impl<B: ApplicationCallbacks> BoundApplication<B> {
    fn ask(&mut self, question: &MessageRequest) -> Result<Option<NextMessage>, String> {
        let now_ns = records::time(question.now);
        self.body.next_message(&Sent { now_ns, messages: question.messages as i64, bytes: question.bytes as i64 })?;
        let Source { wait_ns, size, fault, .. } = self.body.source();
        if fault != 0 {
            return Err(records::failure(fault));
        }
        let Ok(wait) = u64::try_from(wait_ns) else {
            return Err(format!("left wait_ns at {wait_ns}; it must be 0 or more"));
        };
        let max_size = self.largest.unwrap_or(i64::MAX.cast_unsigned());
        let Some(size) = u64::try_from(size).ok().filter(|size| *size <= max_size) else {
            let range = self.largest.map_or_else(
                || "0 for the end, or more".to_owned(),
                |most| format!("from 0, for the end, to {most}, the maximum size of a UDP message"),
            );
            return Err(format!("left size at {size}; it must be {range}"));
        };
        // Time advances from one message to the next.
        let wait = Duration::from_nanos(wait.max(u64::from(question.messages > 0)));
        Ok((size > 0).then_some(NextMessage { wait, size }))
    }
}

impl<B: ApplicationCallbacks> Application for BoundApplication<B> {
    fn next(&mut self, question: &MessageRequest) -> Option<NextMessage> {
        if self.fault.is_some() {
            return None;
        }
        self.ask(question).unwrap_or_else(|message| {
            let MessageRequest { now, messages, bytes } = *question;
            let name = self.name;
            let message =
                format!("{name}: next_message: {message}\nIt was called after {messages} messages of {bytes} B.");
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

    /// An application that returns the given messages in turn.
    struct ScriptedApplication(Source, Vec<(i64, i64)>);

    impl ApplicationCallbacks for ScriptedApplication {
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
        let mut application =
            bind("script", ScriptedApplication(Source::NONE, lines.to_vec()), &ApplicationInfo { largest, seed: 7 });
        let requests = (0..3).map(|messages| {
            let message = application.next(&MessageRequest { now: Instant::from_nanos(5), messages, bytes: 0 })?;
            Some((message.wait.as_nanos(), message.size))
        });
        let said = requests.collect();
        (said, application.fault().map(|fault| fault.message.clone()))
    }

    #[test]
    fn a_message_has_a_wait_and_a_size_and_time_advances() {
        assert_eq!(said(&[(0, 100), (0, 200), (5, 0)], None), (vec![Some((0, 100)), Some((1, 200)), None], None));
    }

    #[test]
    fn negative_waits_and_sizes_and_too_large_messages_are_failures() {
        for (line, largest, reason) in [
            ((-1, 1), None, "left wait_ns at -1; it must be 0 or more"),
            ((1, -5), None, "left size at -5; it must be 0 for the end, or more"),
            (
                (1, 11),
                Some(10),
                "left size at 11; it must be from 0, for the end, to 10, the maximum size of a UDP message",
            ),
        ] {
            let (messages, fault) = said(&[line, (1, 1), (1, 1)], largest);
            assert_eq!(messages, [None, None, None], "it is not called again");
            let expected = format!("script: next_message: {reason}\nIt was called after 0 messages of 0 B.");
            assert_eq!(fault, Some(expected));
        }
    }
}
