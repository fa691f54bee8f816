//! The effects of causes, measured by runs without them, and their order.

use super::causes::{Cause, Kind};
use super::{Diagnosis, Effect, Latency, Skipped, Tried, without_cause};
use crate::statistics::{Interval, interval, mean};
use crate::summary::Flow;
use serde_json::Value;
use std::cmp::Ordering;

/// Minimum gain of a cause.
pub(super) const LARGE: f64 = 0.1;
/// Weight of the gain of a setting of the scenario, which comes before another cause of similar effect.
const SETTING_WEIGHT: f64 = 2.0;
/// Weight of the gain of slow start and of other flows, which are common.
const COMMON_WEIGHT: f64 = 0.5;
/// Minimum queueing delay that is examined, as a fraction of the minimum round-trip time.
const QUEUEING: f64 = 0.5;
/// Minimum ratio of speeds, for runs without any data.
const SLOWEST: f64 = 1e-6;

impl Effect {
    /// Returns the order of effects in a diagnosis: large ones first, the rate last among them, then by the gain.
    fn importance(&self, other: &Self) -> Ordering {
        let kind = |effect: &Self| Cause::named(&effect.cause).map(|cause| cause.kind);
        let weighted = |effect: &Self| {
            let is_common = matches!(kind(effect), Some(Kind::Start | Kind::Shared));
            effect.gain
                * if effect.is_set {
                    SETTING_WEIGHT
                } else if is_common {
                    COMMON_WEIGHT
                } else {
                    1.0
                }
        };
        other
            .is_large
            .cmp(&self.is_large)
            .then((kind(self) == Some(Kind::Rate)).cmp(&(kind(other) == Some(Kind::Rate))))
            .then(weighted(other).total_cmp(&weighted(self)))
    }
}

/// Returns the causes of a flow's speed.
///
/// `base` has the results of the flow in the scenario, one for each seed, and `tried` its results with the same seeds
/// in the scenarios of [`variants`](super::variants). `short_queue` are those with FQ-CoDel at the bottleneck.
///
/// # Errors
/// If a cause is unknown, or results are missing.
pub fn diagnose(base: &[Flow], tried: &[Tried], short_queue: Option<&[Flow]>) -> Result<Diagnosis, String> {
    let first = base.first().ok_or("there is no run to diagnose")?;
    let mut effects = Vec::new();
    let mut skipped = Vec::new();
    for one in tried {
        let cause = Cause::named(&one.cause).ok_or_else(|| format!("{:?} is not a cause", one.cause))?;
        if let Some(reason) = &one.error {
            skipped.push(Skipped { cause: one.cause.clone(), reason: reason.clone() });
            continue;
        }
        let (gain, ends) = gain(base, &one.rows)?;
        effects.push(Effect {
            cause: one.cause.clone(),
            gain,
            gain_low: ends.map(|(low, _)| low),
            gain_high: ends.map(|(_, high)| high),
            is_large: gain >= LARGE && ends.is_none_or(|(low, _)| low > 0.0),
            is_set: one.is_set,
            statement: cause.statement.to_owned(),
            fix: cause.fix.to_owned(),
        });
    }
    effects.sort_by(Effect::importance);
    let completions: Option<Vec<f64>> = base.iter().map(Flow::completion_s).collect();
    Ok(Diagnosis {
        flow: first.name.clone(),
        goodput_bps: mean_of(base, |row| row.goodput_bps),
        completion_s: completions.map(|seconds| mean(&seconds)),
        seeds: base.len(),
        effects,
        latency: short_queue.map(|rows| latency(base, rows)).transpose()?,
        skipped,
    })
}

/// Returns the scenario with FQ-CoDel at the bottleneck, if the flow's packets wait long and the bottleneck may have that
/// queue.
pub(super) fn with_short_queue(scenario: &Value, base: &[Flow]) -> Option<Value> {
    let is_long = mean_of(base, queueing_s) >= QUEUEING * mean_of(base, min_rtt_s);
    let first = base.first().filter(|_| is_long)?;
    without_cause(scenario, first, super::removal::long_queue)
}

/// Returns the goodput, or for requests the inverse of the mean response time.
pub(super) fn speed(row: &Flow) -> f64 {
    let response_s = row.responses.and_then(|responses| responses.mean_s).filter(|seconds| *seconds != 0.0);
    response_s.map_or(row.goodput_bps, |seconds| 1.0 / seconds)
}

/// Returns the geometric mean of the gains over the seeds, and the ends of its interval if there are several seeds.
fn gain(before: &[Flow], after: &[Flow]) -> Result<(f64, Option<(f64, f64)>), String> {
    if before.len() != after.len() {
        return Err(format!("{} runs without a cause for {} with it", after.len(), before.len()));
    }
    let ratio = |(old, new): (&Flow, &Flow)| libm::log((speed(new) / speed(old)).max(SLOWEST));
    let logarithms: Vec<f64> = before.iter().zip(after).map(ratio).collect();
    let Interval { mean, half_width, .. } = interval(&logarithms);
    let ends = (logarithms.len() > 1).then(|| (libm::expm1(mean - half_width), libm::expm1(mean + half_width)));
    Ok((libm::expm1(mean), ends))
}

fn latency(base: &[Flow], short_queue: &[Flow]) -> Result<Latency, String> {
    Ok(Latency {
        queueing_s: mean_of(base, queueing_s),
        min_rtt_s: mean_of(base, min_rtt_s),
        shortened_s: mean_of(short_queue, queueing_s),
        gain: gain(base, short_queue)?.0,
    })
}

fn queueing_s(row: &Flow) -> f64 {
    row.mean_rtt_s.unwrap_or(0.0) - min_rtt_s(row)
}

fn min_rtt_s(row: &Flow) -> f64 {
    row.min_rtt_s.unwrap_or(0.0)
}

fn mean_of(rows: &[Flow], value: impl Fn(&Flow) -> f64) -> f64 {
    mean(&rows.iter().map(value).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(goodputs: &[f64]) -> Vec<Flow> {
        let row = |goodput_bps: &f64| Flow {
            name: "a->c".to_owned(),
            goodput_bps: *goodput_bps,
            min_rtt_s: Some(0.1),
            mean_rtt_s: Some(0.2),
            ..Flow::default()
        };
        goodputs.iter().map(row).collect()
    }

    fn tried(cause: &str, is_set: bool, goodputs: &[f64]) -> Tried {
        Tried { cause: cause.to_owned(), is_set, rows: rows(goodputs), error: None }
    }

    #[test]
    fn the_gain_is_a_geometric_mean_with_an_interval_of_logarithms() {
        // ln 2 and ln 8 have the mean ln 4, and the half-width 12.706 · (ln 8 − ln 2) / 2 = 8.807.
        let found = diagnose(&rows(&[1.0, 1.0]), &[tried("capacity", false, &[2.0, 8.0])], None).unwrap();
        let effect = &found.effects[0];
        assert!((effect.gain - 3.0).abs() < 1e-12);
        assert!((effect.gain_low.unwrap() - (4.0 * libm::exp(-8.807) - 1.0)).abs() < 1e-3);
        assert!(!effect.is_large, "the interval has 0");
        let one = diagnose(&rows(&[1.0]), &[tried("capacity", false, &[1.2])], None).unwrap();
        assert_eq!(one.effects[0].gain_low, None);
        assert!(one.effects[0].is_large);
    }

    #[test]
    fn a_setting_comes_before_a_path_and_common_causes_and_the_rate_after_it() {
        let causes = [
            tried("capacity", false, &[9.0]),
            tried("policer", false, &[1.05]),
            tried("slow start", false, &[1.7]),
            tried("other flows", false, &[1.8]),
            tried("losses of data", false, &[1.5]),
            tried("receive window", true, &[1.3]),
        ];
        let found = diagnose(&rows(&[1.0]), &causes, None).unwrap();
        let order: Vec<&str> = found.effects.iter().map(|effect| effect.cause.as_str()).collect();
        assert_eq!(order, ["receive window", "losses of data", "other flows", "slow start", "capacity", "policer"]);
    }

    #[test]
    fn a_scenario_that_is_invalid_without_a_cause_is_skipped() {
        let error = Some("links[1].ramp: needs slots".to_owned());
        let invalid = Tried { cause: "handovers".to_owned(), is_set: false, rows: vec![], error };
        let found = diagnose(&rows(&[1.0]), &[invalid], None).unwrap();
        assert_eq!((found.effects.len(), found.skipped[0].cause.as_str()), (0, "handovers"));
        assert!(diagnose(&rows(&[1.0]), &[tried("moon", false, &[1.0])], None).is_err());
        assert!(diagnose(&rows(&[1.0]), &[tried("capacity", false, &[])], None).is_err());
    }

    #[test]
    fn requests_have_the_speed_of_their_responses() {
        let responses = Some(crate::summary::Pages { count: 3, mean_s: Some(0.5), p95_s: None });
        assert_eq!(speed(&Flow { responses, goodput_bps: 7.0, ..Flow::default() }), 2.0);
        assert_eq!(speed(&rows(&[7.0])[0]), 7.0);
    }
}
