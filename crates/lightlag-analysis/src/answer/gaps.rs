//! Differences between candidates in words.

use crate::numbers::{fixed, number};
use crate::ranking::Gap;
use crate::words::listed;

/// Minimum ratio of two means that is written as a factor; smaller ones are written in percent.
const TIMES: f64 = 2.0;
/// Maximum number of candidates or points that one sentence lists by name.
pub(super) const NAMED: usize = 6;
/// Maximum number of decimals of a percentage. The second value applies to one that would otherwise be rounded to 0.
const MAX_DECIMALS: i32 = 2;
const MAX_DECIMALS_OF_SMALL: i32 = 4;
/// Maximum number of digits of a factor.
const MAX_DIGITS: usize = 6;

/// Returns a gap: `6 % more than cubic (95 %: 2 to 10 %)`, `2.3 times as much as cubic (95 %: 2.1 to 2.6)`. `than` is
/// the other candidate in words, and `what` follows "more", with a leading space.
pub fn by_how_much(gap: &Gap, than: &str, what: &str) -> String {
    let word = format!("{}{what} than {than}", if gap.difference > 0.0 { "more" } else { "less" });
    if gap.difference == 0.0 {
        format!("as much{what} as {than}")
    } else if gap.ratio.is_nan() || gap.ratio <= 0.0 {
        word
    } else if gap.ratio >= TIMES {
        times(gap, &format!(" times as much{what} as {than}"))
    } else {
        share(gap, &format!(" {word}"))
    }
}

/// Returns a gap followed by the name of the other candidate.
pub(super) fn to_other(gap: &Gap) -> String {
    by_how_much(gap, &gap.other, "")
}

/// Returns a gap as it follows a verb: ` by 6 % (95 %: 2 to 10 %)`, ` by a factor of 2.3 (95 %: 2.1 to 2.6)`.
pub(super) fn by(gap: &Gap) -> String {
    if gap.ratio.is_nan() || gap.ratio <= 0.0 {
        String::new()
    } else if gap.ratio >= TIMES {
        format!(" by a factor of {}", times(gap, ""))
    } else {
        format!(" by {}", share(gap, ""))
    }
}

fn times(gap: &Gap, word: &str) -> String {
    let ends = if gap.low.is_nan() {
        String::new()
    } else {
        format!(" (95 %: {} to {})", factor(gap.low), number(gap.high, 2))
    };
    format!("{}{word}{ends}", number(gap.ratio, 2))
}

/// Returns the lower end of a factor's interval with two digits; with more if it would look equal to 1, and is not.
fn factor(low: f64) -> String {
    let digits = (2..MAX_DIGITS).find(|digits| low == 1.0 || number(low, *digits) != "1");
    number(low, digits.unwrap_or(MAX_DIGITS))
}

fn share(gap: &Gap, word: &str) -> String {
    let sign = if gap.difference > 0.0 { 1.0 } else { -1.0 };
    let mut shares = vec![sign * (gap.ratio - 1.0)];
    if !gap.low.is_nan() {
        shares.extend([sign * (gap.low - 1.0), sign * (gap.high - 1.0)]);
        shares[1..].sort_by(f64::total_cmp);
    }
    match &percent(&shares)[..] {
        [share, low, high] => format!("{share} %{word} (95 %: {low} to {high} %)"),
        shares => format!("{} %{word}", shares.concat()),
    }
}

/// Returns fractions in percent. The last two are the ends of an interval, and half its width is shown with two digits;
/// more digits are used if a value would be rounded to 0.
fn percent(shares: &[f64]) -> Vec<String> {
    let values: Vec<f64> = shares.iter().map(|share| 100.0 * share).collect();
    let width = match values[..] {
        [.., low, high] => (high - low) / 2.0,
        [value] => value.abs(),
        [] => 0.0,
    };
    let scale = if width > 0.0 { libm::floor(libm::log10(width)) as i32 } else { 0 };
    let mut digits = (if width >= 1.0 { -scale } else { 1 - scale }).clamp(0, MAX_DECIMALS);
    let vanishes = |value: &f64, digits: i32| {
        *value != 0.0 && fixed(*value, digits as usize).chars().all(|digit| "-0.".contains(digit))
    };
    while digits < MAX_DECIMALS_OF_SMALL && values.iter().any(|value| vanishes(value, digits)) {
        digits += 1;
    }
    values.iter().map(|value| fixed(*value, digits as usize).replace('-', "−")).collect()
}

/// Returns a list of names in words; if there are too many, their number and the first three.
pub(super) fn some(names: &[&str]) -> String {
    if names.len() <= NAMED {
        listed(names)
    } else {
        format!("{} others, {} among them,", names.len(), listed(&names[..3]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_interval_does_not_look_equal_to_1() {
        assert_eq!([2.34, 1.004, 0.9996, 1.0, 0.5].map(factor), ["2.3", "1.004", "0.9996", "1", "0.5"]);
    }

    #[test]
    fn no_fraction_is_rounded_to_zero() {
        assert_eq!(percent(&[0.0612, 0.0211, 0.1013]), ["6", "2", "10"]);
        assert_eq!(percent(&[0.0031, 0.0002, 0.006]), ["0.31", "0.02", "0.60"]);
        assert_eq!(percent(&[0.4]), ["40"]);
        assert_eq!(percent(&[-0.4]), ["−40"]);
    }
}
