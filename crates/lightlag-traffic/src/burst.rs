//! Bursts of simultaneous messages, such as those that an alarm triggers.

use crate::kind::{LEAST, Messages, Progress, TrafficKind, count, stop};
use crate::periodic::size;
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Varied};

/// Maximum number of messages in a burst, which are all sent simultaneously.
const MOST_TOGETHER: u32 = 1_000_000;

/// Bursts of simultaneous messages.
#[derive(Clone, PartialEq, Debug)]
pub struct Burst {
    /// Size of a message.
    pub size: Varied<Bytes>,
    /// Number of messages in a burst, at least 1.
    pub messages: u32,
    /// Interval between bursts; a single burst if omitted.
    pub every: Option<Varied<Duration>>,
    /// Time from the start to the first burst; zero if omitted.
    pub first: Option<Varied<Duration>>,
    /// Number of bursts; unlimited if omitted.
    pub count: Option<u64>,
    /// Simulated time when sending stops; not limited if omitted.
    pub stop: Option<Duration>,
}

impl Default for Burst {
    fn default() -> Self {
        Self { size: Varied::constant(Bytes(100)), messages: 10, every: None, first: None, count: None, stop: None }
    }
}

impl Described for Burst {
    const ABOUT: &'static str = "Many messages at the same time.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            size(|of: &mut Self| &mut of.size),
            Setting::count("messages", |of: &mut Self| &mut of.messages, MOST_TOGETHER, "a whole number", "")
                .about("Number of messages in a burst.")
                .required("specify the number of messages in a burst"),
            Setting::drawn_wait("every", |of: &mut Self| &mut of.every)
                .about("Interval between two bursts; without it there is one burst.")
                .checked(|of| {
                    let is_missing = of.every.is_none() && of.count.is_some_and(|count| count > 1);
                    is_missing.then_some("is missing; specify the interval between two bursts")
                }),
            Setting::drawn_time("first", |of: &mut Self| &mut of.first)
                .about("Time from the start to the first burst; zero if omitted."),
            count(|of: &mut Self| &mut of.count).about("Number of bursts; unlimited if omitted."),
            stop(|of: &mut Self| &mut of.stop),
        ]
    }
}

impl TrafficKind for Burst {
    fn is_random(&self) -> bool {
        let varies = |time: &Option<Varied<Duration>>| time.as_ref().is_some_and(Varied::is_random);
        self.size.is_random() || varies(&self.every) || varies(&self.first)
    }

    fn ends(&self) -> bool {
        self.every.is_none() || self.count.is_some() || self.stop.is_some()
    }
}

impl Messages for Burst {
    type Memory = ();

    fn first(&self, (): &mut (), start: Instant, _: Option<Bytes>, random: &mut RandomStream) -> Option<Instant> {
        Some(start + self.first.as_ref().map_or(Duration::ZERO, |first| first.draw(random)))
    }

    fn size(&self, (): &(), random: &mut RandomStream) -> Bytes {
        self.size.draw(random)
    }

    fn next(&self, (): &mut (), progress: &Progress, random: &mut RandomStream) -> Option<Instant> {
        let bursts = progress.messages / u64::from(self.messages);
        if !progress.messages.is_multiple_of(u64::from(self.messages)) {
            return Some(progress.now);
        }
        let every = self.every.as_ref().filter(|_| self.count != Some(bursts))?;
        Some(progress.now + every.draw(random).max(LEAST))
    }

    fn stop(&self) -> Option<Duration> {
        self.stop
    }

    fn largest(&self) -> Bytes {
        self.size.largest()
    }
}
