use super::*;
use crate::phy::mode::{Band, Guard, Width};
use proptest::prelude::*;

fn legacy(mbps: u32) -> PhyMode {
    PhyMode::legacy(mbps, Band::Ghz5).unwrap()
}

fn mcs(index: u8) -> PhyMode {
    PhyMode::vht(index, 1, Width::Mhz20, Guard::Long).unwrap()
}

fn ratio(decibels: f64) -> f64 {
    libm::pow(10.0, decibels / 10.0)
}

fn per(curves: &ErrorCurves, mode: PhyMode, decibels: f64, bytes: u32) -> f64 {
    1.0 - success(curves.ln_success(mode, ratio(decibels), 8 * bytes))
}

/// Returns the SNR in dB for which a tenth of all frames of 1536 bytes are lost.
fn snr_at_tenth(curves: &ErrorCurves, mode: PhyMode) -> f64 {
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
    let expected = [3.97, 6.98, 9.87, 13.51, 16.62, 21.36, 22.63, 23.79, 28.50];
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
fn the_needed_sinr_is_the_minimum_that_suffices() {
    let curves = ErrorCurves::new(ErrorModel::Nist);
    let needed = curves.needed_sinr(legacy(24), 8 * 1536, 0.9);
    assert!((10.0 * libm::log10(needed) - 13.51).abs() < 0.01);
    // The threshold of ns-3's Ideal rates: a bit is wrong with 1e-6.
    let ideal = curves.needed_sinr(legacy(24), 1, 1.0 - 1e-6);
    assert!((nist::error(legacy(24).scheme(), ideal) / 1e-6 - 1.0).abs() < 0.02);
}

#[test]
fn segments_of_a_frame_add_up() {
    let curves = ErrorCurves::new(ErrorModel::Nist);
    let ln = |bits| curves.ln_success(legacy(24), ratio(13.5), bits);
    assert!((ln(4000) + ln(8288) - ln(12288)).abs() < 1e-12);
    assert_eq!(success(0.0), 1.0);
    assert_eq!(success(ln(12288) + f64::NEG_INFINITY), 0.0);
    assert_eq!(curves.ln_success(legacy(6), ratio(40.0), 500_000), 0.0);
    assert_eq!(curves.ln_success(legacy(54), ratio(0.0), 100), f64::NEG_INFINITY);
}

/// Returns the SNR for which a tenth of all frames are lost, for MCS 0 to 8.
fn all_at_tenth(model: ErrorModel) -> Vec<f64> {
    let curves = ErrorCurves::new(model);
    (0..9).map(|index| snr_at_tenth(&curves, mcs(index))).collect()
}

#[test]
fn tables_lose_a_tenth_at_the_snr_of_the_link_simulations() {
    let bcc = [0.94, 3.95, 6.44, 9.72, 12.82, 17.07, 18.39, 19.66, 23.74];
    let ldpc = [-0.61, 2.40, 4.86, 7.93, 10.94, 15.14, 16.49, 18.00, 21.69];
    for (coding, expected) in [(Coding::Bcc, bcc), (Coding::Ldpc, ldpc)] {
        let measured = all_at_tenth(ErrorModel::Table(coding));
        for (found, expected) in measured.iter().zip(expected) {
            assert!((found - expected).abs() < 0.035, "{coding:?} {found} {expected}");
        }
    }
}

#[test]
fn yans_success_at_24_mbps() {
    let curves = ErrorCurves::new(ErrorModel::Yans);
    let survives = |snr| 1.0 - per(&curves, legacy(24), snr, 1536);
    // As ns-3.37 has them; its R counts the bits of the code: 48 Mbit/s.
    assert!((survives(7.95) - 0.002811).abs() < 1e-5, "{}", survives(7.95));
    assert!((survives(9.0) - 0.334708).abs() < 1e-4, "{}", survives(9.0));
    assert!((survives(10.4) - 0.943748).abs() < 1e-4, "{}", survives(10.4));
    assert!((snr_at_tenth(&curves, legacy(24)) - 10.14).abs() < 0.01, "{}", snr_at_tenth(&curves, legacy(24)));
}

#[test]
fn yans_depends_on_the_rate_and_not_on_the_modulation_alone() {
    let curves = ErrorCurves::new(ErrorModel::Yans);
    let ht = PhyMode::ht(3, Width::Mhz20, Guard::Long, Band::Ghz5).unwrap();
    // 52 subcarriers instead of 48 share the same power: 10·lg(52/48) = 0.348 dB.
    let shift = snr_at_tenth(&curves, ht) - snr_at_tenth(&curves, legacy(24));
    assert!((shift - 0.348).abs() < 0.002, "{shift}");
}

#[test]
fn short_segments_take_the_curve_of_short_frames() {
    let curves = ErrorCurves::new(ErrorModel::Table(Coding::Bcc));
    let per_bit = |bytes: u32| curves.ln_success(mcs(3), ratio(8.5), 8 * bytes) / f64::from(8 * bytes);
    assert!((per_bit(399) - per_bit(32)).abs() < 1e-15 && (per_bit(400) - per_bit(1458)).abs() < 1e-15);
    assert!((per_bit(399) - per_bit(400)).abs() > 1e-6);
}

#[test]
fn better_signals_never_do_worse() {
    for model in ErrorModel::ALL {
        let curves = ErrorCurves::new(model);
        for curve in curves.curves.iter().chain(&curves.short) {
            let values: Vec<f64> = (0..6000).map(|step| curve.at(ratio(-15.0 + 0.01 * f64::from(step)))).collect();
            assert!(values.is_sorted(), "{model:?}");
            assert!(values[0] < -0.01 && values[5999] == 0.0, "{model:?} {} {}", values[0], values[5999]);
        }
    }
}

proptest! {
    #[test]
    fn frames_are_safe_however_they_are_split(
        model in 0usize..4,
        index in 0u8..9,
        log_bits in 7u32..18,
        cuts in proptest::collection::vec((0.0f64..1.0, 0.0f64..3.0), 1..30),
    ) {
        let curves = ErrorCurves::new(ErrorModel::ALL[model]);
        let bits = 1u32 << log_bits;
        let safe = curves.safe_sinr(mcs(index), bits);
        let whole: f64 = cuts.iter().map(|(share, _)| share).sum();
        let pieces = cuts.iter().map(|(share, above)| {
            let bits = (f64::from(bits) * share / whole + 0.5) as u32;
            curves.ln_success(mcs(index), safe * ratio(*above), bits)
        });
        let headers = mcs(index).headers().map(|header| curves.ln_header_success(safe, header.bits + 15));
        let ln: f64 = pieces.chain(headers).sum();
        prop_assert!(survives(ln, SAFE.next_down()), "{} {}", ln, success(ln));
        // Not far below it most frames of this size are at risk.
        prop_assert!(curves.ln_success(mcs(index), safe * ratio(-1.0), bits) < -1e-4);
    }

    #[test]
    fn a_draw_is_compared_with_the_exponential(ln in -41.0f64..0.0, drawn in 0.0f64..1.0, off in -2e-6f64..2e-6) {
        let near = (libm::exp(ln) * (1.0 + off)).min(1.0 - 1e-9);
        for drawn in [drawn, near, libm::exp(ln).min(1.0 - 1e-9), 0.0] {
            prop_assert_eq!(survives(ln, drawn), drawn < success(ln), "{} {}", ln, drawn);
        }
    }
}
