use super::*;
use crate::phy::mode::{Band, Guard, Width};

fn legacy(mbps: u32) -> Mode {
    Mode::legacy(mbps, Band::Ghz5).unwrap()
}

fn mcs(index: u8) -> Mode {
    Mode::vht(index, 1, Width::Mhz20, Guard::Long).unwrap()
}

fn ratio(decibels: f64) -> f64 {
    libm::pow(10.0, decibels / 10.0)
}

fn per(curves: &ErrorCurves, mode: Mode, decibels: f64, bytes: u32) -> f64 {
    1.0 - success(curves.ln_success(mode, ratio(decibels), 8 * bytes))
}

/// The SNR in dB at which a tenth of all frames of 1536 bytes is lost.
fn snr_at_tenth(curves: &ErrorCurves, mode: Mode) -> f64 {
    let (mut low, mut high) = (-10.0, 40.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if per(curves, mode, middle, 1536) > 0.1 { low = middle } else { high = middle }
    }
    low
}

#[test]
fn nist_loses_a_tenth_at_the_snr_of_its_formulas() {
    let curves = ErrorCurves::new(ErrorModel::Nist);
    let expected = [3.97, 6.98, 9.87, 13.51, 16.62, 21.36, 22.63, 23.79, 29.11];
    for (index, snr) in expected.into_iter().enumerate() {
        let found = snr_at_tenth(&curves, mcs(index as u8));
        assert!((found - snr).abs() < 0.01, "MCS {index}: {found}");
    }
    assert!((snr_at_tenth(&curves, legacy(9)) - 6.86).abs() < 0.01);
    // 6, 12, 18, 24, 36, 48 and 54 Mbit/s have the modulations of MCS 0 to 6.
    for (rate, index) in [6, 12, 18, 24, 36, 48, 54].into_iter().zip(0..) {
        assert_eq!(snr_at_tenth(&curves, legacy(rate)), snr_at_tenth(&curves, mcs(index)), "{rate}");
    }
}

#[test]
fn nist_success_at_24_mbps() {
    let curves = ErrorCurves::new(ErrorModel::Nist);
    let survives = |snr| 1.0 - per(&curves, legacy(24), snr, 1536);
    assert!((survives(12.0) - 7.8e-6).abs() < 0.1e-6, "{}", survives(12.0));
    assert!((survives(13.0) - 0.582).abs() < 0.001, "{}", survives(13.0));
    assert!((survives(14.0) - 0.980).abs() < 0.001, "{}", survives(14.0));
    assert!((survives(15.0) - 0.9996).abs() < 0.0001, "{}", survives(15.0));
}

#[test]
fn tables_follow_the_formula_between_their_points() {
    let curves = ErrorCurves::new(ErrorModel::Nist);
    for (index, scheme) in SCHEMES.into_iter().enumerate() {
        for step in 0..4000 {
            let sinr = ratio(-5.0 + 0.01 * f64::from(step) + 0.0031);
            let exact = libm::log1p(-nist::error(scheme, sinr));
            let table = curves.curves[index].at(sinr);
            // A frame of 1536 bytes: success differs by less than 2e-4 wherever it matters.
            let differs = (libm::exp(12288.0 * exact) - libm::exp(12288.0 * table)).abs();
            assert!(differs < 2e-4, "{scheme:?} at {sinr}: {exact} {table}");
        }
    }
}

#[test]
fn pieces_add_up() {
    let curves = ErrorCurves::new(ErrorModel::Nist);
    let ln = |bits| curves.ln_success(legacy(24), ratio(13.5), bits);
    assert!((ln(4000) + ln(8288) - ln(12288)).abs() < 1e-12);
    assert_eq!(success(0.0), 1.0);
    assert_eq!(success(ln(12288) + f64::NEG_INFINITY), 0.0);
    assert_eq!(curves.ln_success(legacy(6), ratio(40.0), 500_000), 0.0);
    assert_eq!(curves.ln_success(legacy(54), ratio(0.0), 100), f64::NEG_INFINITY);
}
