//! Exact sums, means and confidence intervals.

use serde::Serialize;
use std::f64::consts::PI;

/// Default confidence of intervals.
pub const CONFIDENCE: f64 = 0.95;
/// Probability with which an estimated number of runs suffices to find a difference.
pub const POWER: f64 = 0.8;
/// Maximum number of values for the quantiles of a sample size; beyond it they change by less than 0.2 %.
const MANY_VALUES: usize = 1000;
/// Number of bisection steps that determine a quantile to the last digit of a floating-point number.
const HALVINGS: usize = 60;

/// Returns the sum of numbers, rounded only once (Shewchuk, *Discrete & Computational Geometry* 18:305, 1997).
pub fn exact_sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut parts: Vec<f64> = Vec::new();
    for value in values {
        let mut sum = value;
        let mut kept = 0;
        for at in 0..parts.len() {
            let (large, small) = if sum.abs() < parts[at].abs() { (parts[at], sum) } else { (sum, parts[at]) };
            let high = large + small;
            let low = small - (high - large);
            if low != 0.0 {
                parts[kept] = low;
                kept += 1;
            }
            sum = high;
        }
        parts.truncate(kept);
        parts.push(sum);
    }
    rounded(&parts)
}

/// Returns the correctly rounded sum of non-overlapping parts, smallest first.
fn rounded(parts: &[f64]) -> f64 {
    let Some((last, mut rest)) = parts.split_last() else { return 0.0 };
    let (mut high, mut low) = (*last, 0.0);
    while let Some((part, before)) = rest.split_last() {
        rest = before;
        let sum = high + part;
        low = part - (sum - high);
        high = sum;
        if low != 0.0 {
            break;
        }
    }
    // Half way between two numbers, what is left decides.
    if rest.last().is_some_and(|below| (low < 0.0 && *below < 0.0) || (low > 0.0 && *below > 0.0)) {
        let twice = low * 2.0;
        let next = high + twice;
        if twice == next - high {
            return next;
        }
    }
    high
}

/// Returns the mean of numbers; NaN if there are none.
pub fn mean(values: &[f64]) -> f64 {
    exact_sum(values.iter().copied()) / values.len() as f64
}

/// Returns the sample variance. It is exactly 0 if all values are equal, which a sum of squares with rounding errors
/// would not give.
pub fn variance(values: &[f64]) -> f64 {
    if values.iter().all(|value| *value == values[0]) { 0.0 } else { spread(values, mean(values)) }
}

fn spread(values: &[f64], mean: f64) -> f64 {
    exact_sum(values.iter().map(|value| (value - mean) * (value - mean))) / (values.len() - 1) as f64
}

/// Returns Jain's fairness index (Σx)² / (n Σx²): 1 if all are equal, 1/n if one has everything, NaN if all are 0.
pub fn jain(shares: &[f64]) -> f64 {
    let squares = exact_sum(shares.iter().map(|share| share * share));
    let sum = exact_sum(shares.iter().copied());
    if squares > 0.0 { sum * sum / (shares.len() as f64 * squares) } else { f64::NAN }
}

/// Returns the t for which a variable with Student's t distribution lies in [-t, t] with probability `confidence`.
///
/// The probability is a finite series for integer degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4); the
/// quantile is found by bisection.
///
/// # Errors
/// A confidence that is not between 0 and 1, or less than one degree of freedom.
pub fn student_t(confidence: f64, freedom: usize) -> Result<f64, String> {
    if !(confidence > 0.0 && confidence < 1.0) || freedom < 1 {
        return Err(format!("no interval of confidence {confidence} with {freedom} degrees of freedom"));
    }
    let (mut low, mut high) = (0.0, PI / 2.0);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if inside(middle, freedom) < confidence {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(libm::tan(low) * (freedom as f64).sqrt())
}

/// Returns the probability that the variable lies in [-t, t], where tan(`angle`) = t / √freedom.
fn inside(angle: f64, freedom: usize) -> f64 {
    let (sine, cosine) = libm::sincos(angle);
    let odd = freedom % 2;
    let (mut term, mut total) = (if odd == 1 { cosine } else { 1.0 }, 0.0);
    for k in (2 + odd..=freedom).step_by(2) {
        total += term;
        term *= cosine * cosine * (k - 1) as f64 / k as f64;
    }
    if odd == 1 { 2.0 / PI * (angle + sine * total) } else { sine * total }
}

/// Returns the number of values, at least 2, whose Student-t interval of `confidence` has a half-width below `distance`
/// with a margin for `power`; `None` without a deviation or a distance.
///
/// It is the smallest n with (t(confidence) + t(power)) · `deviation` / √n ≤ `distance`, where both quantiles have n - 1
/// degrees of freedom and the second one is one-sided (Chow, Shao and Wang, *Sample Size Calculations in Clinical
/// Research*, 2nd ed., 2008, section 3.1). A paired test then finds a difference of `distance` with the probability
/// `power`. A power of 0.5 has no margin: the interval is as narrow as `distance` if the deviation stays as it is.
///
/// # Errors
/// A confidence that is not between 0 and 1, or a power that is not from 0.5 to below 1.
pub fn sample_size(deviation: f64, distance: f64, confidence: f64, power: f64) -> Result<Option<f64>, String> {
    if !(0.5..1.0).contains(&power) {
        return Err(format!("no sample size for a power of {power}"));
    }
    if !(deviation > 0.0 && distance > 0.0 && deviation.is_finite()) {
        return Ok(None);
    }
    let needed = |count: usize| -> Result<f64, String> {
        let margin = if power > 0.5 { student_t(2.0 * power - 1.0, count - 1)? } else { 0.0 };
        let root = (student_t(confidence, count - 1)? + margin) * deviation / distance;
        Ok(root * root)
    };
    let limit = needed(MANY_VALUES)?;
    if limit > MANY_VALUES as f64 {
        return Ok(Some(libm::ceil(limit)));
    }
    // `needed` falls as the count grows, so halving finds the minimum that suffices.
    let (mut low, mut high) = (2, MANY_VALUES);
    while low < high {
        let middle = usize::midpoint(low, high);
        if needed(middle)? <= middle as f64 {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(Some(high as f64))
}

/// A mean, and the half-width of its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Mean of the values; NaN without values.
    pub mean: f64,
    /// Half-width of the confidence interval; NaN if there are fewer than two values.
    pub half_width: f64,
    /// Number of values.
    pub count: usize,
}

/// Returns the mean of independent values with its Student-t interval.
///
/// # Errors
/// A confidence that is not between 0 and 1.
pub fn mean_interval(values: &[f64], confidence: f64) -> Result<Interval, String> {
    let count = values.len();
    let mean = mean(values);
    let half_width = if count < 2 {
        f64::NAN
    } else {
        student_t(confidence, count - 1)? * (spread(values, mean) / count as f64).sqrt()
    };
    Ok(Interval { mean, half_width, count })
}

/// Returns the mean of independent values with its 95 % interval.
pub fn interval(values: &[f64]) -> Interval {
    mean_interval(values, CONFIDENCE).unwrap_or(Interval { mean: f64::NAN, half_width: f64::NAN, count: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_exact() {
        assert_eq!(exact_sum([1e100, 1.0, -1e100]), 1.0);
        assert_eq!(exact_sum([0.1; 10]), 1.0);
        assert_eq!(exact_sum([]), 0.0);
        assert_eq!(exact_sum([1.0, f64::EPSILON / 2.0, f64::EPSILON * f64::EPSILON / 4.0]), 1.0 + f64::EPSILON);
    }

    #[test]
    fn quantiles_of_student_match_tables() {
        let quantiles = [
            (0.95, 1, 12.7062),
            (0.95, 2, 4.30265),
            (0.95, 9, 2.26216),
            (0.95, 29, 2.04523),
            (0.99, 4, 4.60409),
            (0.9, 10, 1.81246),
            (0.95, 1000, 1.96234),
        ];
        for (confidence, freedom, t) in quantiles {
            assert!((student_t(confidence, freedom).unwrap() - t).abs() < 5e-5, "{confidence}, {freedom}");
        }
        assert_eq!(student_t(1.0, 3).unwrap_err(), "no interval of confidence 1 with 3 degrees of freedom");
    }

    #[test]
    fn an_interval_grows_narrower_with_more_values_of_the_same_spread() {
        let few = mean_interval(&[9.0, 10.0, 11.0], CONFIDENCE).unwrap();
        assert_eq!((few.mean, few.count), (10.0, 3));
        assert!((few.half_width - 2.484).abs() < 1e-3);
        let many = mean_interval(&[9.0, 10.0, 11.0, 9.0, 10.0, 11.0], CONFIDENCE).unwrap();
        assert!(many.half_width < few.half_width);
        assert!(mean_interval(&[5.0], CONFIDENCE).unwrap().half_width.is_nan());
        assert_eq!(mean_interval(&[], CONFIDENCE).unwrap().count, 0);
    }

    #[test]
    fn sample_sizes_match_tables_of_the_paired_t_test() {
        // Cohen, Statistical Power Analysis, 2nd ed., 1988, with 5 % and 80 %: 199 pairs for d = 0.2, 34 for 0.5 and
        // 15 for 0.8.
        let sizes = [0.2, 0.5, 0.8].map(|distance| sample_size(1.0, distance, 0.95, 0.8).unwrap().unwrap());
        for (size, table) in sizes.into_iter().zip([199.0, 34.0, 15.0]) {
            assert!((size - table).abs() <= 1.0, "{size} against {table}");
        }
        assert_eq!(sample_size(0.0, 1.0, 0.95, 0.8), Ok(None));
        assert_eq!(sample_size(f64::NAN, 1.0, 0.95, 0.8), Ok(None));
        assert_eq!(sample_size(1.0, 0.0, 0.95, 0.8), Ok(None));
        assert_eq!(sample_size(1.0, 1.0, 0.95, 1.0).unwrap_err(), "no sample size for a power of 1");
        assert!(sample_size(1.0, 1.0, 1.0, 0.8).is_err());
    }

    #[test]
    fn a_sample_size_without_a_margin_is_that_of_the_interval() {
        for distance in [0.01, 0.1, 0.3, 2.0] {
            let count = sample_size(1.0, distance, 0.95, 0.5).unwrap().unwrap();
            let half_width = |count: f64| student_t(0.95, count as usize - 1).unwrap() / count.sqrt();
            assert!(half_width(count) <= distance * 1.001, "{count}");
            assert!(count == 2.0 || half_width(count - 1.0) > distance * 0.998, "{count}");
        }
    }

    #[test]
    fn the_index_of_jain_is_between_one_nth_and_one() {
        assert_eq!(jain(&[5.0; 4]), 1.0);
        assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), 0.25);
        assert!(jain(&[0.0, 0.0]).is_nan());
    }
}
