//! The best of several candidates and its lead over each of the others, from runs that are paired by seed.
//!
//! Two candidates are compared by the ratio of their means. Its interval is Fieller's (*Journal of the Royal
//! Statistical Society* B 16:175, 1954): all ratios r for which the mean of a - r b does not differ significantly from
//! 0 (Student's t). It excludes 1 if and only if the t test of the paired differences is significant.
//!
//! All pairs of the k candidates form one family: each of the m = k (k - 1) / 2 intervals has the confidence
//! 1 - 0.05 / m (Bonferroni), so that all of them hold jointly with 95 %, however the runs of a seed depend on each
//! other (Law, *Simulation Modeling and Analysis*, 5th ed., 2015, section 10.3.2). Which candidate is the best is
//! known only after the runs, so that intervals for the k - 1 others alone would hold too rarely: if all are equal, the
//! best and the worst of the runs differ too often. A pair has the same interval wherever it is shown.

use crate::statistics::{POWER, exact_sum, mean, sample_size, student_t, variance};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A candidate of a comparison.
#[derive(Clone, Debug, Deserialize)]
pub struct Rival {
    /// Name of the candidate.
    pub name: String,
    /// Values of the metric, as pairs of seed and value.
    pub values: Vec<(u64, f64)>,
    /// Whether all runs of the candidate are equal, because nothing in them is random.
    #[serde(default)]
    pub is_fixed: bool,
}

impl Rival {
    /// Returns the mean of its values.
    pub fn mean(&self) -> f64 {
        mean(&self.values.iter().map(|(_, value)| *value).collect::<Vec<_>>())
    }

    /// Returns true if both candidates have a value for at least one common seed.
    pub fn meets(&self, other: &Self) -> bool {
        !self.paired(other).0.is_empty()
    }

    /// Returns true if a random difference between the candidates has an interval.
    fn is_tested_with(&self, other: &Self) -> bool {
        !(self.is_fixed && other.is_fixed) && self.paired(other).0.len() > 1
    }

    /// Returns the values of both candidates for the seeds that both have.
    fn paired(&self, other: &Self) -> (Vec<f64>, Vec<f64>) {
        let others: BTreeMap<u64, f64> = other.values.iter().copied().collect();
        self.values.iter().filter_map(|(seed, value)| Some((*value, *others.get(seed)?))).unzip()
    }
}

/// The best candidate compared with another one, over the seeds that both have.
#[derive(Clone, Debug, Serialize)]
pub struct Gap {
    /// Name of the other candidate.
    pub other: String,
    /// Number of common seeds.
    pub pairs: usize,
    /// Mean of the best divided by the mean of the other; NaN if the divisor is 0.
    pub ratio: f64,
    /// Lower end of the ratio's confidence interval; NaN if there is none.
    pub low: f64,
    /// Upper end of the ratio's confidence interval; NaN if there is none.
    pub high: f64,
    /// Mean of the best minus the mean of the other.
    pub difference: f64,
    /// Half-width of the difference's confidence interval; NaN if there are fewer than two pairs, or all differences
    /// are equal.
    pub half_width: f64,
    /// Whether nothing is random in the runs of either candidate, so that the ratio is exact.
    pub is_fixed: bool,
    /// Standard deviation of the differences; NaN if there are fewer than two pairs.
    #[serde(skip)]
    deviation: f64,
    /// Confidence of this interval alone.
    #[serde(skip)]
    confidence: f64,
}

impl Gap {
    /// Compares the best candidate with another one.
    ///
    /// # Errors
    /// If they have no seed in common, or the confidence is not between 0 and 1.
    pub fn between(best: &Rival, other: &Rival, confidence: f64) -> Result<Self, String> {
        let (a, b) = best.paired(other);
        let pairs = a.len();
        if pairs == 0 {
            return Err(format!("{} and {} have no seed in common", best.name, other.name));
        }
        let (mean_a, mean_b) = (mean(&a), mean(&b));
        let is_fixed = best.is_fixed && other.is_fixed;
        let mut gap = Self {
            other: other.name.clone(),
            pairs,
            ratio: if mean_b == 0.0 { f64::NAN } else { mean_a / mean_b },
            low: f64::NAN,
            high: f64::NAN,
            difference: mean_a - mean_b,
            half_width: f64::NAN,
            is_fixed,
            deviation: f64::NAN,
            confidence,
        };
        if pairs > 1 && !is_fixed {
            let quantile = student_t(confidence, pairs - 1)?;
            let differences: Vec<f64> = a.iter().zip(&b).map(|(x, y)| x - y).collect();
            let spread = variance(&differences);
            gap.deviation = spread.sqrt();
            if spread > 0.0 {
                gap.half_width = quantile * (spread / pairs as f64).sqrt();
                (gap.low, gap.high) = fieller(&a, &b, quantile);
            }
        }
        Ok(gap)
    }

    /// Returns true if the difference is significant.
    pub fn is_clear(&self) -> bool {
        if self.is_fixed { self.difference != 0.0 } else { self.difference.abs() > self.half_width }
    }

    /// Returns true if both candidates have equal values for each common seed.
    pub fn is_equal(&self) -> bool {
        self.difference == 0.0 && (self.is_fixed || self.pairs == 1 || self.deviation == 0.0)
    }

    /// Returns the estimated number of seeds with which the test would find the difference with the probability
    /// [`POWER`], if its mean and its variance stay as they are; `None` if it cannot be estimated.
    pub fn seeds_needed(&self) -> Option<f64> {
        sample_size(self.deviation, self.difference.abs(), self.confidence, POWER).ok().flatten()
    }
}

/// Returns the confidence interval of the ratio of two means; NaN if the mean of `b` may be 0.
fn fieller(a: &[f64], b: &[f64], quantile: f64) -> (f64, f64) {
    let count = a.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let part = quantile * quantile / count;
    let shared = exact_sum(a.iter().zip(b).map(|(x, y)| (x - mean_a) * (y - mean_b))) / (count - 1.0);
    let below = mean_b * mean_b - part * variance(b);
    let middle = mean_a * mean_b - part * shared;
    let inside = middle * middle - below * (mean_a * mean_a - part * variance(a));
    if below <= 0.0 || inside < 0.0 {
        return (f64::NAN, f64::NAN);
    }
    ((middle - inside.sqrt()) / below, (middle + inside.sqrt()) / below)
}

/// Returns the confidence that each of several intervals needs for all of them to hold jointly with `confidence`
/// (Bonferroni).
pub fn confidence_of_each(comparisons: usize, confidence: f64) -> f64 {
    1.0 - (1.0 - confidence) / comparisons.max(1) as f64
}

/// Returns the number of intervals in the family of all pairs: pairs without randomness or with a single common seed
/// have none.
pub fn comparisons(rivals: &[Rival]) -> usize {
    let others = |at: usize| rivals[at + 1..].iter().filter(move |other| rivals[at].is_tested_with(other));
    (0..rivals.len()).map(|at| others(at).count()).sum()
}

/// Candidates ranked by a metric, best first.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// Candidates that have values, and at least one seed in common with the best.
    pub rivals: Vec<Rival>,
    /// Leads of the best over each of the others, in the same order.
    pub gaps: Vec<Gap>,
    more_is_better: bool,
    confidence: f64,
}

impl Ranking {
    /// Ranks candidates by their means. The intervals of all pairs hold jointly with `confidence`. Returns `None` if no
    /// candidate has a value.
    ///
    /// # Errors
    /// A confidence that is not between 0 and 1.
    pub fn of(mut rivals: Vec<Rival>, more_is_better: bool, confidence: f64) -> Result<Option<Self>, String> {
        rivals.retain(|rival| !rival.values.is_empty());
        rivals.sort_by(|a, b| {
            let order = a.mean().total_cmp(&b.mean());
            if more_is_better { order.reverse() } else { order }
        });
        if rivals.is_empty() {
            return Ok(None);
        }
        let each = confidence_of_each(comparisons(&rivals), confidence);
        let best = rivals.remove(0);
        rivals.retain(|rival| rival.meets(&best));
        let gaps = rivals.iter().map(|other| Gap::between(&best, other, each)).collect::<Result<_, _>>()?;
        rivals.insert(0, best);
        Ok(Some(Self { rivals, gaps, more_is_better, confidence: each }))
    }

    /// Returns the candidate with the best mean.
    pub fn best(&self) -> &Rival {
        &self.rivals[0]
    }

    /// Returns the gap between any two of its candidates, with the interval that it has everywhere.
    ///
    /// # Errors
    /// If they have no seed in common.
    pub fn gap(&self, one: &Rival, other: &Rival) -> Result<Gap, String> {
        Gap::between(one, other, self.confidence)
    }

    /// Returns the best, and the candidates that may be as good.
    pub fn level(&self) -> Vec<&str> {
        let others = self.gaps.iter().filter(|gap| !self.is_behind(gap)).map(|gap| gap.other.as_str());
        std::iter::once(self.best().name.as_str()).chain(others).collect()
    }

    /// Returns the gaps to the candidates that are significantly worse.
    pub fn behind(&self) -> Vec<&Gap> {
        self.gaps.iter().filter(|gap| self.is_behind(gap)).collect()
    }

    /// Returns the gaps to the candidates that cannot be distinguished from the best.
    pub fn undistinguished(&self) -> Vec<&Gap> {
        self.gaps.iter().filter(|gap| !gap.is_clear()).collect()
    }

    /// Returns the gaps to candidates that are significantly better than the best over their common seeds. This happens
    /// only if candidates have values for different seeds.
    pub fn ahead(&self) -> Vec<&Gap> {
        self.gaps.iter().filter(|gap| gap.is_clear() && !self.is_behind(gap)).collect()
    }

    fn is_behind(&self, gap: &Gap) -> bool {
        gap.is_clear() && (gap.difference > 0.0) == self.more_is_better
    }

    /// Returns true if the ranking has confidence intervals or nothing is random. Single random runs give no interval.
    pub fn is_judged(&self) -> bool {
        self.gaps.iter().all(|gap| gap.is_fixed || !gap.half_width.is_nan() || gap.pairs > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rival(name: &str, values: &[f64]) -> Rival {
        let values = values.iter().enumerate().map(|(at, value)| (at as u64 + 1, *value)).collect();
        Rival { name: name.to_owned(), values, is_fixed: false }
    }

    #[test]
    fn the_ratio_of_two_means_has_the_interval_of_fieller() {
        let rivals = vec![rival("slow", &[8.0, 9.1, 9.8]), rival("fast", &[9.0, 10.0, 11.0])];
        let ranking = Ranking::of(rivals, true, 0.95).unwrap().unwrap();
        assert_eq!(ranking.best().name, "fast");
        let gap = &ranking.gaps[0];
        assert!(gap.is_clear());
        assert!((gap.low - 1.08).abs() < 5e-3 && (gap.high - 1.15).abs() < 5e-3, "{gap:?}");
    }

    #[test]
    fn pairs_of_seeds_show_differences_that_the_spread_hides() {
        // The two move together by 4 from seed to seed, and differ by 0.2: intervals of each would overlap.
        let rivals = || vec![rival("b", &[6.0, 10.0, 14.0, 8.0]), rival("a", &[6.2, 10.21, 14.19, 8.2])];
        assert_eq!(Ranking::of(rivals(), true, 0.95).unwrap().unwrap().level(), ["a"]);
        assert_eq!(Ranking::of(rivals(), false, 0.95).unwrap().unwrap().level(), ["b"]);
    }

    #[test]
    fn candidates_without_values_or_common_seeds_are_left_out() {
        let apart = Rival { values: vec![(9, 1.0)], ..rival("distant", &[]) };
        let rivals = vec![rival("best", &[3.0, 4.0]), rival("nothing", &[]), apart.clone()];
        let ranking = Ranking::of(rivals, true, 0.95).unwrap().unwrap();
        assert_eq!(ranking.level(), ["best"]);
        let error = Gap::between(&rival("best", &[1.0]), &apart, 0.95).unwrap_err();
        assert_eq!(error, "best and distant have no seed in common");
        assert!(Ranking::of(vec![], true, 0.95).unwrap().is_none());
    }

    #[test]
    fn one_run_of_each_gives_no_verdict_unless_the_runs_are_deterministic() {
        let rivals =
            |is_fixed| vec![Rival { is_fixed, ..rival("a", &[1.0]) }, Rival { is_fixed, ..rival("b", &[2.0]) }];
        assert!(!Ranking::of(rivals(false), true, 0.95).unwrap().unwrap().is_judged());
        let fixed = Ranking::of(rivals(true), true, 0.95).unwrap().unwrap();
        assert!(fixed.is_judged());
        assert_eq!(fixed.behind().len(), 1);
        assert_eq!(fixed.gaps[0].seeds_needed(), None);
    }

    #[test]
    fn several_intervals_have_more_confidence_each() {
        assert!((confidence_of_each(3, 0.95) - 0.9833).abs() < 5e-5);
        assert_eq!(confidence_of_each(0, 0.95), 0.95);
    }

    #[test]
    fn pairs_without_an_interval_are_not_counted() {
        let fixed = |name| Rival { is_fixed: true, ..rival(name, &[1.0, 1.0]) };
        let rivals = [rival("a", &[1.0, 2.0]), rival("b", &[2.0, 3.0]), fixed("c"), fixed("d"), rival("e", &[1.0])];
        // a-b, a-c, a-d, b-c and b-d; c and d are exact, and e has one seed.
        assert_eq!(comparisons(&rivals), 5);
        assert_eq!(comparisons(&rivals[..1]), 0);
    }

    #[test]
    fn single_runs_have_no_verdict_on_equality() {
        let gap = Gap::between(&rival("a", &[1.0, 2.0]), &rival("b", &[1.0, 2.0]), 0.95).unwrap();
        assert!(gap.is_equal() && !gap.is_clear());
        assert_eq!(gap.seeds_needed(), None);
        let gap = Gap::between(&rival("a", &[1.0, 2.0]), &rival("b", &[2.0, 1.0]), 0.95).unwrap();
        assert!(!gap.is_equal());
    }
}
