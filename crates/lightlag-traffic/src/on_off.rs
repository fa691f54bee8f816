//! On-off traffic: a constant rate with interruptions. On periods and off periods alternate; the duration of each is
//! chosen separately.
//!
//! The rate is exact over the on periods: a message that is not due before the end of an on period is delayed by the
//! duration of the off period.

use crate::Stream;
use crate::kind::{LEAST, Messages, NEVER, Progress, TrafficKind, stop};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Varied};

/// On-off traffic at a constant rate.
#[derive(Clone, PartialEq, Debug)]
pub struct OnOff {
    /// Rate, and size of the messages, during on periods.
    pub stream: Stream,
    /// Duration of each on period; the flow starts with one.
    pub on: Varied<Duration>,
    /// Duration of each off period.
    pub off: Varied<Duration>,
    /// Simulated time when sending stops; not limited if omitted.
    pub stop: Option<Duration>,
}

impl Default for OnOff {
    fn default() -> Self {
        let second = Varied::constant(Duration::from_secs(1));
        Self { stream: Stream::default(), on: second.clone(), off: second, stop: None }
    }
}

impl Described for OnOff {
    const ABOUT: &'static str = "A constant rate that is switched on and off.";

    fn settings() -> Vec<Setting<Self>> {
        let remedy = "specify its duration, such as \"1 s\" or { distribution = \"exponential\", mean = \"1 s\" }";
        let [rate, size] = Stream::settings(|of: &mut Self| &mut of.stream.rate, |of| &mut of.stream.size);
        vec![
            rate.about("Payload rate while it is on."),
            size,
            Setting::drawn_wait("on", |of: &mut Self| &mut of.on)
                .about("Duration of each on period; the flow starts with an on period.")
                .required(remedy),
            Setting::drawn_wait("off", |of: &mut Self| &mut of.off)
                .about("Duration of each off period.")
                .required(remedy),
            stop(|of: &mut Self| &mut of.stop),
        ]
    }
}

impl TrafficKind for OnOff {
    fn is_random(&self) -> bool {
        self.on.is_random() || self.off.is_random()
    }

    fn ends(&self) -> bool {
        self.stop.is_some()
    }
}

/// The current on period.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spell {
    /// Total duration of all earlier on periods.
    served: Duration,
    since: Instant,
    end: Instant,
}

impl Messages for OnOff {
    type Memory = Spell;

    fn first(&self, spell: &mut Spell, start: Instant, _: Option<Bytes>, random: &mut RandomStream) -> Option<Instant> {
        *spell = Spell { served: Duration::ZERO, since: start, end: start + self.on.draw(random).max(LEAST) };
        Some(start)
    }

    fn size(&self, _: &Spell, _: &mut RandomStream) -> Bytes {
        self.stream.size
    }

    fn next(&self, spell: &mut Spell, progress: &Progress, random: &mut RandomStream) -> Option<Instant> {
        let due = self.stream.time_of(progress.messages);
        while due >= spell.served + spell.end.since(spell.since) {
            spell.served += spell.end.since(spell.since);
            spell.since = spell.end + self.off.draw(random).max(LEAST);
            spell.end = spell.since + self.on.draw(random).max(LEAST);
            if spell.since >= self.end() {
                return None;
            }
        }
        let wait = due.saturating_sub(spell.served);
        (wait < NEVER.since(Instant::ZERO)).then(|| spell.since + wait)
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
