//! Constant-rate traffic: equal messages at equal intervals.

use crate::Stream;
use crate::kind::{Messages, NEVER, Progress, TrafficKind, stop};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Instant, RandomStream};

/// Constant-rate traffic.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Constant {
    /// Rate, and size of the messages.
    pub stream: Stream,
    /// Simulated time when sending stops; not limited if omitted.
    pub stop: Option<Duration>,
}

impl Described for Constant {
    const ABOUT: &'static str = "A constant rate.";

    fn settings() -> Vec<Setting<Self>> {
        let stream = Stream::settings(|of: &mut Self| &mut of.stream.rate, |of| &mut of.stream.size);
        stream.into_iter().chain([stop(|of: &mut Self| &mut of.stop)]).collect()
    }
}

impl TrafficKind for Constant {
    fn is_random(&self) -> bool {
        false
    }

    fn ends(&self) -> bool {
        self.stop.is_some()
    }
}

impl Messages for Constant {
    type Memory = ();

    fn first(&self, (): &mut (), start: Instant, _: Option<Bytes>, _: &mut RandomStream) -> Option<Instant> {
        Some(start)
    }

    fn size(&self, (): &(), _: &mut RandomStream) -> Bytes {
        self.stream.size
    }

    fn next(&self, (): &mut (), progress: &Progress, _: &mut RandomStream) -> Option<Instant> {
        let wait = self.stream.time_of(progress.messages);
        (wait < NEVER.since(Instant::ZERO)).then(|| progress.start + wait)
    }

    fn stop(&self) -> Option<Duration> {
        self.stop
    }

    fn largest(&self) -> Bytes {
        self.stream.size
    }

    fn stream(&self) -> Option<Stream> {
        Some(self.stream)
    }
}
