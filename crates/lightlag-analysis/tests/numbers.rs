//! Numbers as text, compared with Python's formatting.

use lightlag_analysis::numbers;

const TEXTS: &str = include_str!("numbers.txt");

#[test]
fn numbers_have_the_digits_that_python_gives_them() {
    let mut compared = 0;
    for line in TEXTS.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split('\t').collect();
        let (kind, text) = (cells[0], cells[cells.len() - 1]);
        let arguments: Vec<f64> = cells[1..cells.len() - 1].iter().map(|cell| cell.parse().unwrap()).collect();
        let value = arguments[0];
        let other = arguments.get(1).copied().unwrap_or(0.0);
        let digits = other as usize;
        let written = match kind {
            "general" => numbers::general(value, digits),
            "number" => numbers::number(value, digits),
            "fixed" => numbers::fixed(value, digits),
            "grouped" => numbers::grouped(value, digits),
            "percent" => numbers::percent(value, digits),
            "window" => numbers::window(value),
            "rate" => numbers::rate(value),
            "size" => numbers::size(value),
            "milliseconds" => numbers::milliseconds(Some(value)),
            "rate_like" => numbers::rate_like(value, other),
            "size_like" => numbers::size_like(value, other),
            "share" => numbers::share(value, other),
            kind => panic!("no such kind: {kind}"),
        };
        assert_eq!(written, text, "{line}");
        compared += 1;
    }
    assert!(compared > 1500);
}

#[test]
fn a_fraction_never_has_an_exponent() {
    assert_eq!(numbers::share(3.0, 2000.0), "0.15%");
    assert_eq!(numbers::share(0.0, 5.0), "0%");
    assert_eq!(numbers::share(5.0, 0.0), "0%");
    assert_eq!(numbers::share(5.0, 5.0), "100%");
}

#[test]
fn a_missing_value_is_a_dash() {
    assert_eq!(numbers::milliseconds(None), "–");
}

#[test]
fn numbers_that_are_none_have_names() {
    assert_eq!(numbers::number(f64::NAN, 4), "nan");
    assert_eq!(numbers::number(f64::INFINITY, 4), "inf");
    assert_eq!(numbers::grouped(f64::NEG_INFINITY, 0), "-inf");
}
