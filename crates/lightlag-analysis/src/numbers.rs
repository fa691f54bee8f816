//! Numbers as text for people.
//!
//! The digits follow Python's format language, so a number looks the same wherever it is shown: correctly rounded, with
//! ties rounded to the even digit.

/// Minimum magnitude of a number that is written without an exponent.
const SMALLEST: f64 = 1e-9;
/// Minimum time in seconds that is written in seconds; shorter times are written in milliseconds.
const LONG_S: f64 = 10.0;
/// Minimum window in segments that counts as unlimited: the window of `congestion = "none"`.
pub const UNLIMITED_SEGMENTS: f64 = 1e9;
/// Text shown for a missing value.
pub const NONE: &str = "–";
/// Decimal prefixes; each stands for 1000 times the previous one.
const PREFIXES: [&str; 5] = ["", "k", "M", "G", "T"];

/// Returns a number with `digits` digits after the decimal point.
pub fn fixed(value: f64, digits: usize) -> String {
    if value.is_finite() { format!("{value:.digits$}") } else { special(value) }
}

/// Returns a number with `digits` digits after the decimal point, and commas between thousands.
pub fn grouped(value: f64, digits: usize) -> String {
    let text = fixed(value, digits);
    if !value.is_finite() {
        return text;
    }
    let (sign, text) = text.strip_prefix('-').map_or(("", text.as_str()), |text| ("-", text));
    let (whole, part) = text.split_once('.').map_or((text, ""), |(whole, part)| (whole, part));
    let mut out = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if !part.is_empty() {
        out.push('.');
        out.push_str(part);
    }
    out
}

/// Returns a count with commas between thousands.
pub fn count(value: u64) -> String {
    grouped(value as f64, 0)
}

/// Returns a number with `digits` significant digits, without trailing zeros, as Python's `.{digits}g` does: in
/// scientific notation below 10⁻⁴ and at or above 10^digits.
pub fn general(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return special(value);
    }
    let digits = digits.max(1);
    let text = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.unsigned_abs());
    }
    let places = (digits as i32 - 1 - exponent).max(0) as usize;
    without_zeros(&format!("{value:.places$}")).to_owned()
}

/// Returns a number with `digits` significant digits and without an exponent; large numbers are rounded to integers.
///
/// ```
/// use lightlag_analysis::numbers::number;
/// assert_eq!(number(1170.0, 4), "1170");
/// assert_eq!(number(24_990.4, 4), "24,990");
/// assert_eq!(number(0.00003178, 4), "0.00003178");
/// ```
pub fn number(value: f64, digits: usize) -> String {
    let text = general(value, digits);
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    if !value.is_finite() || value.abs() < SMALLEST {
        return text;
    }
    if value.abs() >= 1.0 {
        return grouped(value, 0);
    }
    let digits = mantissa.chars().filter(char::is_ascii_digit).count() as i32;
    let exponent: i32 = exponent.parse().unwrap_or(0);
    fixed(value, (digits - 1 - exponent).max(0) as usize)
}

/// Returns a mean window in segments, or "unlimited" if it is too large to limit the sender.
pub fn window(segments: f64) -> String {
    if segments >= UNLIMITED_SEGMENTS { "unlimited".to_owned() } else { number(segments, 4) }
}

/// Returns a number scaled to less than 1000, and its decimal prefix.
///
/// ```
/// assert_eq!(lightlag_analysis::numbers::scaled(34_368_000.0), (34.368, "M"));
/// ```
pub fn scaled(value: f64) -> (f64, &'static str) {
    let (mut value, mut index) = (value, 0);
    while value.abs() >= 999.95 && index + 1 < PREFIXES.len() {
        value /= 1000.0;
        index += 1;
    }
    (value, PREFIXES[index])
}

/// Returns the power of 1000 of a value's decimal prefix, and the prefix.
pub fn factor_of(value: f64) -> (f64, &'static str) {
    let (_, prefix) = scaled(value);
    let factor = PREFIXES.iter().take_while(|other| **other != prefix).fold(1.0, |factor, _| factor * 1000.0);
    (factor, prefix)
}

/// Returns a value with a unit and the decimal prefix of `like`; a value below a thousandth of that prefix gets its
/// own.
fn with_unit(value: f64, like: f64, unit: &str) -> String {
    let (mut factor, mut prefix) = factor_of(like);
    if value != 0.0 && value.abs() < factor / 1000.0 {
        (factor, prefix) = factor_of(value);
    }
    format!("{} {prefix}{unit}", number(value / factor, 4))
}

/// Returns a rate in bit/s with the decimal prefix that suits it.
pub fn rate(bps: f64) -> String {
    rate_like(bps, bps)
}

/// Returns a rate in bit/s with the decimal prefix of `like`, such as the maximum of a column.
pub fn rate_like(bps: f64, like: f64) -> String {
    with_unit(bps, like, "bit/s")
}

/// Returns a size in bytes with the decimal prefix that suits it.
pub fn size(bytes: f64) -> String {
    size_like(bytes, bytes)
}

/// Returns a size in bytes with the decimal prefix of `like`, such as the maximum of a column.
///
/// ```
/// use lightlag_analysis::numbers::size_like;
/// assert_eq!(size_like(120_000.0, 20_000_000.0), "0.12 MB");
/// assert_eq!(size_like(12.0, 20_000_000.0), "12 B");
/// ```
pub fn size_like(bytes: f64, like: f64) -> String {
    with_unit(bytes, like, "B")
}

/// Returns a fraction in percent, with two digits for small ones; 0 % if the total is 0.
pub fn share(part: f64, whole: f64) -> String {
    if part == 0.0 || whole == 0.0 { "0%".to_owned() } else { format!("{}%", number(100.0 * part / whole, 2)) }
}

/// Returns a fraction from 0 to 1 in percent, with `digits` digits after the decimal point.
pub fn percent(share: f64, digits: usize) -> String {
    format!("{}%", fixed(share * 100.0, digits))
}

/// Returns a time in milliseconds, or in seconds if it is at least 10 s; a dash if there is none.
pub fn milliseconds(seconds: Option<f64>) -> String {
    match seconds {
        None => NONE.to_owned(),
        Some(seconds) if seconds.abs() < LONG_S => format!("{} ms", number(seconds * 1e3, 4)),
        Some(seconds) => format!("{} s", number(seconds, 4)),
    }
}

fn special(value: f64) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value > 0.0 {
        "inf".to_owned()
    } else {
        "-inf".to_owned()
    }
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}
