//! Windows of time that repeat or are listed, such as the passes of a satellite over a place.

use crate::params::{self, Declared, Parameter};
use crate::{Duration, Instant};

/// One window of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Start of the window.
    pub start: Instant,
    /// End of the window, which does not belong to it.
    pub end: Instant,
}

crate::settings! {
    /// Windows of time: one per period, or a list of starts and ends. Without keys there are none.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Windows {
        /// Start of the first window.
        first: Duration = Duration::ZERO => time_or_zero();
        /// Duration of each window.
        duration: Duration = Duration::ZERO => time_or_zero();
        /// Time between the starts of two windows.
        period: Duration = Duration::ZERO => time_or_zero();
        /// Starts of the windows, instead of first, duration and period.
        starts: Vec<Duration> = Vec::new() => times();
        /// Ends of the windows, one per start.
        ends: Vec<Duration> = Vec::new() => times();
    }
}

impl Windows {
    /// Example of a table, for messages.
    pub const EXAMPLE: &'static str = "{ first = \"5 min\", duration = \"8 min\", period = \"95 min\" }";

    /// Returns the parameters of the table.
    pub fn parameters() -> Vec<Parameter> {
        params::parameters(Self::settings())
    }

    /// Returns windows with these starts and ends.
    pub fn listed(windows: &[(Duration, Duration)]) -> Self {
        let (starts, ends) = windows.iter().copied().unzip();
        Self { starts, ends, ..Self::default() }
    }

    /// Returns one window of `duration` per `period`.
    pub fn periodic(first: Duration, duration: Duration, period: Duration) -> Self {
        Self { first, duration, period, ..Self::default() }
    }

    /// Returns true if no window is configured.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the reason why the windows are not valid, if there is one.
    pub fn refusal(&self) -> Option<&'static str> {
        if self.is_empty() {
            return None;
        }
        if self.starts.is_empty() && self.ends.is_empty() {
            return if self.duration.is_zero() {
                Some("has no duration; specify it, such as duration = \"8 min\"")
            } else if self.period <= self.duration {
                Some("has a period that is not longer than its duration, so that windows touch; increase the period")
            } else {
                None
            };
        }
        let is_periodic = [self.first, self.duration, self.period].iter().any(|time| !time.is_zero());
        let mut edges = self.starts.iter().zip(&self.ends).flat_map(|(start, end)| [start, end]);
        let mut last = edges.next();
        let ascends = edges.all(|edge| last.replace(edge).is_some_and(|before| before < edge));
        if is_periodic {
            Some("cannot have starts and ends together with first, duration or period; remove one of the two")
        } else if self.starts.len() != self.ends.len() {
            Some("needs as many ends as starts; complete the shorter list")
        } else if !ascends {
            Some("needs ends after their starts and before the next start; write both lists in ascending order")
        } else {
            None
        }
    }

    /// Returns the window that contains `now`, or else the next one; `None` after the last.
    pub fn at(&self, now: Instant) -> Option<Window> {
        let since = now.since(Instant::ZERO);
        if self.starts.is_empty() {
            let ended = since.saturating_sub(self.first + self.duration);
            let past = match (since < self.first + self.duration, self.period.as_nanos()) {
                (true, _) => 0,
                (false, 0) => return None,
                (false, period) => ended.as_nanos() / period + 1,
            };
            let start = Instant::ZERO + self.first + self.period * past;
            return Some(Window { start, end: start + self.duration });
        }
        let index = self.ends.partition_point(|end| *end <= since);
        let (start, end) = (self.starts.get(index)?, self.ends.get(index)?);
        Some(Window { start: Instant::ZERO + *start, end: Instant::ZERO + *end })
    }

    /// Returns the window after the one that contains `now` or comes next.
    pub fn after(&self, now: Instant) -> Option<Window> {
        self.at(self.at(now)?.end)
    }

    /// Returns the first time at or after `start` when a transmission that takes `time` fits into a window; `None` if
    /// there is none.
    pub fn fit(&self, start: Instant, time: Duration) -> Option<Instant> {
        let mut start = start;
        loop {
            let window = self.at(start)?;
            start = start.max(window.start);
            if start + time <= window.end {
                return Some(start);
            }
            if self.starts.is_empty() && time > self.duration {
                return None;
            }
            start = window.end;
        }
    }

    /// Returns the minimum duration of a window.
    pub fn shortest(&self) -> Duration {
        let listed = self.starts.iter().zip(&self.ends).map(|(start, end)| *end - *start);
        listed.min().unwrap_or(self.duration)
    }

    /// Returns the ratio of the total time to the time in windows, for windows that repeat; of a list between its first
    /// start and its last end.
    pub fn scarcity(&self) -> f64 {
        if self.starts.is_empty() {
            return self.period.as_secs_f64() / self.duration.as_secs_f64();
        }
        let inside: f64 = self.starts.iter().zip(&self.ends).map(|(start, end)| (*end - *start).as_secs_f64()).sum();
        let all = self.ends[self.ends.len() - 1] - self.starts[0];
        all.as_secs_f64() / inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn window(start: u64, end: u64) -> Option<Window> {
        Some(Window { start: time(start), end: time(end) })
    }

    #[test]
    fn windows_repeat() {
        let windows = Windows::periodic(Duration::from_secs(10), Duration::from_secs(5), Duration::from_secs(100));
        for (now, expected) in [(0, (10, 15)), (10, (10, 15)), (14, (10, 15)), (15, (110, 115)), (1012, (1010, 1015))] {
            assert_eq!(windows.at(time(now)), window(expected.0, expected.1), "at {now} s");
        }
        assert_eq!(windows.after(time(12)), window(110, 115));
        assert_eq!(windows.fit(time(12), Duration::from_secs(3)), Some(time(12)));
        assert_eq!(windows.fit(time(12), Duration::from_secs(4)), Some(time(110)));
        assert_eq!(windows.fit(time(12), Duration::from_secs(6)), None);
        assert!((windows.scarcity() - 20.0).abs() < 1e-12);
    }

    #[test]
    fn listed_windows_end() {
        let seconds = |(start, end)| (Duration::from_secs(start), Duration::from_secs(end));
        let windows = Windows::listed(&[(1, 2), (5, 9)].map(seconds));
        assert_eq!(windows.refusal(), None);
        assert_eq!(
            [0, 1, 2, 8].map(|now| windows.at(time(now))),
            [window(1, 2), window(1, 2), window(5, 9), window(5, 9)]
        );
        assert_eq!(windows.at(time(9)), None);
        assert_eq!(windows.fit(time(1), Duration::from_secs(2)), Some(time(5)));
        // 8 s from the first start to the last end, 5 s of them in windows.
        assert!((windows.scarcity() - 1.6).abs() < 1e-12);
        assert_eq!(windows.shortest(), Duration::from_secs(1));
    }

    #[test]
    fn windows_that_overlap_or_are_incomplete_are_rejected() {
        let second = Duration::from_secs(1);
        let cases = [
            (Windows::periodic(second, Duration::ZERO, second), "no duration"),
            (Windows::periodic(second, second, second), "period"),
            (Windows { starts: vec![second], ..Windows::default() }, "as many ends"),
            (Windows::listed(&[(second * 2, second)]), "ascending"),
            (Windows::listed(&[(second, second * 3), (second * 2, second * 4)]), "ascending"),
            (Windows { period: second, ..Windows::listed(&[(second, second * 3)]) }, "together"),
        ];
        for (windows, fragment) in cases {
            let refusal = windows.refusal().unwrap_or_default();
            assert!(refusal.contains(fragment), "{refusal:?} does not contain {fragment:?}");
        }
        assert_eq!(Windows::default().refusal(), None);
    }
}
