//! A diagnosis as sentences, and as a table.

use super::effects::LARGE;
use super::{Diagnosis, Effect};
use crate::numbers::{NONE, fixed, general, milliseconds, rate};
use crate::rows::TextTable;

/// Minimum effect in tables.
const SMALL: f64 = 0.01;

impl Diagnosis {
    /// Returns the speed of the flow, and the number of seeds if there are several.
    pub fn headline(&self) -> String {
        let of = if self.seeds > 1 { format!(", mean of {} seeds", self.seeds) } else { String::new() };
        format!("{}{of}", self.speed())
    }

    fn speed(&self) -> String {
        let took = self.completion_s.map_or(String::new(), |seconds| format!(", {} s", general(seconds, 4)));
        format!("{}: {}{took}", self.flow, rate(self.goodput_bps))
    }

    /// Returns the conclusion: the speed, the cause, its effect and the fix.
    pub fn sentences(&self) -> Vec<String> {
        let mut found = vec![self.speed()];
        match self.cause() {
            None => found.push(format!("No cause has an effect of {} % or more.", fixed(100.0 * LARGE, 0))),
            Some(first) => {
                found.push(format!("Cause: {}: {}.", first.cause, first.statement));
                let interval = first.ends().map_or(String::new(), |ends| format!(" (95 %: {ends})"));
                found.push(format!("Without it: {} times as fast{interval}.", general(1.0 + first.gain, 3)));
                found.push(format!("Fix: {}.", first.fix));
            }
        }
        if let Some(latency) = &self.latency {
            let [waits, path, short] =
                [latency.queueing_s, latency.min_rtt_s, latency.shortened_s].map(|seconds| milliseconds(Some(seconds)));
            found.push(format!(
                "Latency: packets wait {waits} in queues, on a path of {path}; with FQ-CoDel at the bottleneck {short}, \
                 and the speed changes by {:+.0} %.",
                100.0 * latency.gain
            ));
        }
        let skipped = self.skipped.iter().map(|one| format!("Not examined: {}: {}", one.cause, one.reason));
        found.extend(skipped);
        found
    }

    /// Returns the effects of at least 1 % as a table.
    pub fn table(&self) -> TextTable {
        let shown = self.effects.iter().filter(|effect| effect.gain.abs() >= SMALL);
        let row = |effect: &Effect| {
            let speed = format!("{} ×", general(1.0 + effect.gain, 3));
            let interval = effect.ends().unwrap_or_else(|| NONE.to_owned());
            vec![("without", effect.cause.clone()), ("speed", speed), ("95 % interval", interval)]
        };
        TextTable::of("Effects", shown.map(row).collect())
    }
}

impl Effect {
    /// Returns the ends of the interval of the ratio of speeds as text; `None` with one seed.
    fn ends(&self) -> Option<String> {
        let (low, high) = (self.gain_low?, self.gain_high?);
        Some(format!("{} to {}", general(1.0 + low, 3), general(1.0 + high, 3)))
    }
}
