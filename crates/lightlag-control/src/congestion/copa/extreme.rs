//! The smallest or the largest of the recent samples.

use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

/// A sliding minimum or maximum over time. It keeps only samples that can still become the extreme.
pub struct Extreme {
    largest: bool,
    samples: VecDeque<(Instant, Duration)>,
}

impl Extreme {
    /// Creates a filter for the minimum sample.
    pub fn smallest() -> Self {
        Self { largest: false, samples: VecDeque::new() }
    }

    /// Creates a filter for the maximum sample.
    pub fn largest() -> Self {
        Self { largest: true, samples: VecDeque::new() }
    }

    /// Adds a sample, and drops samples older than `age`.
    pub fn add(&mut self, now: Instant, sample: Duration, age: Duration) {
        let largest = self.largest;
        let beaten = |other: Duration| if largest { other <= sample } else { other >= sample };
        while self.samples.back().is_some_and(|(_, other)| beaten(*other)) {
            self.samples.pop_back();
        }
        self.samples.push_back((now, sample));
        while self.samples.front().is_some_and(|(time, _)| now.since(*time) > age) {
            self.samples.pop_front();
        }
    }

    /// Returns the extreme; `None` before the first sample.
    pub fn value(&self) -> Option<Duration> {
        self.samples.front().map(|(_, sample)| *sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extreme_of_the_last_period_is_returned() {
        let (mut smallest, mut largest) = (Extreme::smallest(), Extreme::largest());
        assert_eq!(smallest.value(), None);
        let samples = [(0, 5, 5, 5), (1, 7, 5, 7), (2, 6, 5, 7), (10, 8, 5, 8), (11, 9, 6, 9), (13, 9, 8, 9)];
        for (time, sample, min, max) in samples {
            let now = Instant::ZERO + Duration::from_secs(time);
            for extreme in [&mut smallest, &mut largest] {
                extreme.add(now, Duration::from_secs(sample), Duration::from_secs(10));
            }
            assert_eq!(smallest.value(), Some(Duration::from_secs(min)), "at {time}");
            assert_eq!(largest.value(), Some(Duration::from_secs(max)), "at {time}");
        }
    }
}
