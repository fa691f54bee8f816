//! Curves over time: decimation that preserves their shape, interpolation, and the clipping of peaks.

/// Fraction of the time during which a curve does not exceed its typical value.
const USUAL: f64 = 0.9;
/// A peak above this multiple of the typical value is clipped.
const PEAK: f64 = 4.0;

/// Returns a round bin width in seconds, at least 0.1 s, that divides the given time into 50 to 125 bins.
pub fn bin_width(seconds: f64) -> f64 {
    let min_width = (seconds / 125.0).max(0.1) * (1.0 - 1e-9);
    let mut power = 0.1;
    loop {
        if let Some(step) = [1.0, 2.0, 5.0].into_iter().find(|step| step * power >= min_width) {
            return step * power;
        }
        power *= 10.0;
    }
}

/// Returns the rows of a decimated curve: the first, last, minimum and maximum row of each of `points / 4` equal
/// intervals. Times are ascending; values may be NaN.
pub fn decimate_rows(times: &[f64], values: &[f64], points: usize) -> Vec<usize> {
    let count = times.len();
    if count <= points {
        return (0..count).collect();
    }
    let (slices, first, last) = (points / 4, times[0], times[count - 1]);
    let end = |slice: usize| first + slice as f64 * (last - first) / slices as f64;
    let (mut kept, mut from, mut slice) = (Vec::with_capacity(points), 0, 1);
    while from < count {
        while slice < slices && times[from] >= end(slice) {
            slice += 1;
        }
        let behind = || from + times[from..].partition_point(|time| *time < end(slice));
        let to = if slice < slices { behind() } else { count };
        let known = || (from..to).filter(|row| !values[*row].is_nan());
        let by_value = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
        let extremes = [known().min_by(by_value), known().rev().max_by(by_value)];
        kept.extend([from, to - 1].into_iter().chain(extremes.into_iter().flatten()));
        from = to;
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Returns the values of a piecewise linear curve at ascending times: 0 before its first row, and the last value after
/// its last row.
pub fn levels_at(times: impl IntoIterator<Item = f64>, then: &[f64], level: &[f64]) -> Vec<f64> {
    let mut row = 0;
    let value_at = |time: f64| {
        row += then[row..].partition_point(|then| *then <= time);
        if row == 0 {
            return 0.0;
        }
        let (start, low) = (then[row - 1], level[row - 1]);
        if row == then.len() || start == time {
            low
        } else {
            (level[row] - low) / (then[row] - start) * (time - start) + low
        }
    };
    times.into_iter().map(value_at).collect()
}

/// Returns the goodput in bit/s in equal intervals up to `end_s`, from the payload that had arrived by each time in
/// `then`. An incomplete last interval is omitted.
pub fn goodput(then: &[f64], arrived_bytes: &[f64], interval_s: f64, end_s: f64) -> Vec<f64> {
    let steps = (end_s / interval_s * (1.0 + 1e-12)).floor() as usize;
    let levels = levels_at((0..=steps).map(|step| step as f64 * interval_s), then, arrived_bytes);
    levels.windows(2).map(|pair| 8.0 * (pair[1] - pair[0]) / interval_s).collect()
}

/// Returns where to cut off a peak that would flatten the rest of the curves, given as times and values; `None` if
/// there is no such peak.
///
/// A peak is cut off if it exceeds 4 times the value that the curves stay below for 90 % of their time.
pub fn usual_top<'a>(curves: impl IntoIterator<Item = (&'a [f64], &'a [f64])>) -> Option<f64> {
    let (mut usual, mut peak) = (0.0_f64, 0.0_f64);
    for (times, values) in curves {
        let steps = values.iter().zip(times.windows(2)).map(|(value, times)| (*value, times[1] - times[0]));
        let mut steps: Vec<(f64, f64)> = steps.filter(|(value, _)| !value.is_nan()).collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut left = USUAL * steps.iter().map(|(_, time)| time).sum::<f64>();
        let reached = steps.iter().find(|(_, time)| {
            left -= time;
            left <= 0.0
        });
        usual = reached.map_or(usual, |(value, _)| usual.max(*value));
        peak = steps.last().map_or(peak, |(value, _)| peak.max(*value));
    }
    (usual > 0.0 && peak > PEAK * usual).then_some(1.6 * usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_round_widths() {
        assert_eq!([120.0, 10.0, 3600.0, 0.0].map(bin_width), [1.0, 0.1, 50.0, 0.1]);
    }

    #[test]
    fn a_decimated_curve_keeps_its_visible_features() {
        let times: Vec<f64> = (0..1000).map(f64::from).collect();
        let mut values = vec![1.0; 1000];
        (values[333], values[707], values[5]) = (9.0, -9.0, f64::NAN);
        let kept = decimate_rows(&times, &values, 40);
        assert!(kept.len() <= 40 && kept.is_sorted());
        assert!([0, 333, 707, 999].iter().all(|row| kept.contains(row)));
        assert_eq!(decimate_rows(&times[..40], &values[..40], 40), (0..40).collect::<Vec<_>>());
        assert_eq!(decimate_rows(&[0.0; 9], &[f64::NAN; 9], 8), [0, 8]);
    }

    #[test]
    fn goodput_grows_evenly_between_rows() {
        let (times, arrived) = ([0.5, 1.5, 2.5], [0.0, 1000.0, 1000.0]);
        assert_eq!(goodput(&times, &arrived, 1.0, 3.5), [4000.0, 4000.0, 0.0]);
        assert!(goodput(&times, &arrived, 1.0, 0.9).is_empty());
    }

    #[test]
    fn a_peak_does_not_flatten_the_rest() {
        let times: Vec<f64> = (0..100).map(f64::from).collect();
        let mut values = vec![100.0; 100];
        assert_eq!(usual_top([(&times[..], &values[..])]), None);
        values[50] = 5000.0;
        assert_eq!(usual_top([(&times[..], &values[..])]), Some(160.0));
        assert_eq!(usual_top([]), None);
    }
}
