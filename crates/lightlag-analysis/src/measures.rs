//! The metrics shown in a comparison, and how their values are formatted.

use crate::numbers::{NONE, factor_of, fixed};
use crate::statistics::Interval;
use serde::Serialize;

/// Maximum number of decimals of a value.
const MAX_DECIMALS: i32 = 6;

/// A metric of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Measure {
    /// Name of the column in tables.
    pub column: &'static str,
    /// Title in texts and charts.
    pub title: &'static str,
    /// Unit as printed: "bit/s" takes a decimal prefix; for "%" the value is multiplied by 100, for "ms" by 1000.
    pub unit: &'static str,
    /// Definition of the metric, for a glossary.
    pub about: &'static str,
    /// Whether larger values are better.
    pub more_is_better: bool,
    /// Whether the conclusion of a comparison covers the metric.
    pub is_answered: bool,
}

/// Metrics of a comparison, in the order of its tables.
pub const MEASURES: [Measure; 8] = [
    Measure {
        more_is_better: true,
        ..Measure::of(
            "goodput_bps",
            "Goodput",
            "bit/s",
            "payload that all TCP flows combined had delivered, over the time from the first start to the last finish \
             or the end of the run",
        )
    },
    Measure::of(
        "completion_s",
        "Completion time",
        "s",
        "from the first start to the last finish, where all flows finish",
    ),
    Measure {
        more_is_better: true,
        ..Measure::of("jain", "Jain fairness", "", "(Σx)² / (n Σx²) of the goodputs of the n TCP flows of a run")
    },
    Measure::of(
        "retransmitted_share",
        "Retransmitted",
        "%",
        "retransmitted segments with payload, as a fraction of all segments with payload sent",
    ),
    Measure::of(
        "queueing_mean_s",
        "Queueing",
        "ms",
        "the mean waiting time of a run's data packets at the bottleneck until their transmission starts; the \
         bottleneck is the link direction with the longest total waiting time",
    ),
    Measure {
        is_answered: false,
        ..Measure::of(
            "queueing_p95_s",
            "Queueing p95",
            "ms",
            "95th percentile of these waiting times, with a maximum error of 1.6 %",
        )
    },
    Measure {
        is_answered: false,
        ..Measure::of("timeouts", "Timeouts", "", "expirations of the retransmission timers of all flows")
    },
    Measure {
        is_answered: false,
        ..Measure::of(
            "mean_rtt_s",
            "Mean RTT",
            "ms",
            "the mean of the round-trip samples of each flow, averaged over the flows",
        )
    },
];

impl Measure {
    /// Creates a metric whose smaller values are better, and which conclusions cover.
    const fn of(column: &'static str, title: &'static str, unit: &'static str, about: &'static str) -> Self {
        Self { column, title, unit, about, more_is_better: false, is_answered: true }
    }
}

/// Returns mean ± half-width with a unit; the half-width has two digits. `like` is the value whose decimal prefix is
/// used, such as the maximum of a column.
pub fn shown(unit: &str, interval: Interval, like: f64) -> String {
    if interval.count == 0 {
        return NONE.to_owned();
    }
    // Dividing is exact where multiplying by the inverse is not.
    let (times, factor, unit) = match unit {
        "" => (1.0, 1.0, String::new()),
        "%" => (100.0, 1.0, unit.to_owned()),
        "ms" => (1000.0, 1.0, " ms".to_owned()),
        "bit/s" => {
            let (factor, prefix) = factor_of(like);
            (1.0, factor, format!(" {prefix}{unit}"))
        }
        _ => (1.0, 1.0, format!(" {unit}")),
    };
    let (mean, half_width) = (interval.mean * times / factor, interval.half_width * times / factor);
    let digits = decimals(mean, half_width);
    let spread = if half_width.is_nan() { String::new() } else { format!(" ± {}", fixed(half_width, digits)) };
    format!("{}{spread}{unit}", fixed(mean, digits))
}

/// Returns a value of a metric with its unit.
pub fn amount(measure: &Measure, value: f64) -> String {
    shown(measure.unit, Interval { mean: value, half_width: f64::NAN, count: 1 }, value)
}

/// Returns the number of decimals that shows two digits of the half-width, but at most four digits of the mean.
pub fn decimals(mean: f64, half_width: f64) -> usize {
    let decimals_for = |value: f64, digits: i32| digits - 1 - libm::floor(libm::log10(value)) as i32;
    let of_mean = if mean == 0.0 { 0 } else { decimals_for(mean.abs(), 4) };
    let of_half = if half_width > 0.0 { decimals_for(half_width, 2) } else { of_mean };
    of_mean.min(of_half).clamp(0, MAX_DECIMALS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_show_two_digits_of_the_half_width() {
        let pairs = [(9.41, 0.123), (123.4, 17.0), (9.41, 0.0), (58.66, 0.0012)];
        assert_eq!(pairs.map(|(mean, half)| decimals(mean, half)), [2, 0, 3, 2]);
    }

    #[test]
    fn values_have_the_unit_of_their_measure() {
        let interval = |mean, half_width| Interval { mean, half_width, count: 3 };
        assert_eq!(shown("bit/s", interval(9_412_000.0, 123_000.0), 9_412_000.0), "9.41 ± 0.12 Mbit/s");
        assert_eq!(shown("bit/s", interval(412_000.0, f64::NAN), 9_412_000.0), "0.4120 Mbit/s");
        assert_eq!(shown("%", interval(0.0123, 0.001), 0.0), "1.23 ± 0.10%");
        assert_eq!(shown("ms", interval(0.25, f64::NAN), 0.0), "250.0 ms");
        assert_eq!(shown("", interval(0.5, f64::NAN), 0.0), "0.5000");
        assert_eq!(shown("s", Interval { mean: f64::NAN, half_width: f64::NAN, count: 0 }, 0.0), "–");
    }
}
