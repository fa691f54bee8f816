//! Messages at a constant interval.

use crate::kind::{LEAST, Messages, Progress, TrafficKind, count, stop};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Varied};

/// Messages at a constant interval.
#[derive(Clone, PartialEq, Debug)]
pub struct Periodic {
    /// Size of a message.
    pub size: Varied<Bytes>,
    /// Interval between messages.
    pub every: Duration,
    /// Time from the start to the first message; zero if omitted.
    pub first: Option<Varied<Duration>>,
    /// Number of messages; unlimited if omitted.
    pub count: Option<u64>,
    /// Simulated time when sending stops; not limited if omitted.
    pub stop: Option<Duration>,
}

impl Default for Periodic {
    fn default() -> Self {
        let size = Varied::constant(Bytes(100));
        Self { size, every: Duration::from_secs(1), first: None, count: None, stop: None }
    }
}

/// Returns the setting `size` of a kind whose messages may have different sizes.
pub(crate) fn size<C: Clone + 'static>(field: fn(&mut C) -> &mut Varied<Bytes>) -> Setting<C> {
    Setting::drawn_size("size", field)
        .about("Size of a message.")
        .required("specify the size of a message, such as \"100 B\"")
}

/// Returns the setting `every` of a kind with single messages.
pub(crate) fn every<C: Clone + 'static>(field: fn(&mut C) -> &mut Duration) -> Setting<C> {
    Setting::time_above_zero(
        "every",
        field,
        "0 s is not a valid interval between messages; write a time such as \"1 s\"",
    )
    .about("Interval between two messages.")
    .required("specify the interval between messages, such as \"1 s\"")
}

impl Described for Periodic {
    const ABOUT: &'static str = "One message per interval.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            size(|of: &mut Self| &mut of.size),
            every(|of: &mut Self| &mut of.every),
            Setting::drawn_time("first", |of: &mut Self| &mut of.first)
                .about("Time from the start to the first message; zero if omitted."),
            count(|of: &mut Self| &mut of.count),
            stop(|of: &mut Self| &mut of.stop),
        ]
    }
}

impl TrafficKind for Periodic {
    fn is_random(&self) -> bool {
        self.size.is_random() || self.first.as_ref().is_some_and(Varied::is_random)
    }

    fn ends(&self) -> bool {
        self.count.is_some() || self.stop.is_some()
    }
}

impl Messages for Periodic {
    type Memory = ();

    fn first(&self, (): &mut (), start: Instant, _: Option<Bytes>, random: &mut RandomStream) -> Option<Instant> {
        Some(start + self.first.as_ref().map_or(Duration::ZERO, |first| first.draw(random)))
    }

    #[inline]
    fn size(&self, (): &(), random: &mut RandomStream) -> Bytes {
        self.size.draw(random)
    }

    #[inline]
    fn next(&self, (): &mut (), progress: &Progress, _: &mut RandomStream) -> Option<Instant> {
        (self.count != Some(progress.messages)).then(|| progress.now + self.every.max(LEAST))
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
