//! Poisson traffic: messages at random times, independent of each other, so that the intervals between them are
//! exponentially distributed.

use crate::kind::{LEAST, Messages, Progress, TrafficKind, count, stop};
use crate::periodic::{every, size};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Varied};

/// Poisson traffic: messages at random times.
#[derive(Clone, PartialEq, Debug)]
pub struct Poisson {
    /// Size of a message.
    pub size: Varied<Bytes>,
    /// Mean interval between messages.
    pub every: Duration,
    /// Time from the start to the first message; if omitted, it is random like the intervals.
    pub first: Option<Varied<Duration>>,
    /// Number of messages; unlimited if omitted.
    pub count: Option<u64>,
    /// Simulated time when sending stops; not limited if omitted.
    pub stop: Option<Duration>,
}

impl Default for Poisson {
    fn default() -> Self {
        let size = Varied::constant(Bytes(100));
        Self { size, every: Duration::from_secs(1), first: None, count: None, stop: None }
    }
}

impl Described for Poisson {
    const ABOUT: &'static str = "Messages at random, independent times.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            size(|of: &mut Self| &mut of.size),
            every(|of: &mut Self| &mut of.every).about("From one to the next, on average."),
            Setting::drawn_time("first", |of: &mut Self| &mut of.first)
                .about("Time from the start to the first message; drawn like the intervals if omitted."),
            count(|of: &mut Self| &mut of.count),
            stop(|of: &mut Self| &mut of.stop),
        ]
    }
}

impl TrafficKind for Poisson {
    fn is_random(&self) -> bool {
        true
    }

    fn ends(&self) -> bool {
        self.count.is_some() || self.stop.is_some()
    }
}

impl Poisson {
    fn gap(&self, random: &mut RandomStream) -> Duration {
        Varied::exponential(self.every).draw(random)
    }
}

impl Messages for Poisson {
    type Memory = ();

    fn first(&self, (): &mut (), start: Instant, _: Option<Bytes>, random: &mut RandomStream) -> Option<Instant> {
        let wait = match &self.first {
            Some(first) => first.draw(random),
            None => self.gap(random),
        };
        Some(start + wait)
    }

    #[inline]
    fn size(&self, (): &(), random: &mut RandomStream) -> Bytes {
        self.size.draw(random)
    }

    #[inline]
    fn next(&self, (): &mut (), progress: &Progress, random: &mut RandomStream) -> Option<Instant> {
        (self.count != Some(progress.messages)).then(|| progress.now + self.gap(random).max(LEAST))
    }

    #[inline]
    fn stop(&self) -> Option<Duration> {
        self.stop
    }

    fn largest(&self) -> Bytes {
        self.size.largest()
    }

    fn is_memoryless(&self) -> bool {
        self.count.is_none()
    }
}
