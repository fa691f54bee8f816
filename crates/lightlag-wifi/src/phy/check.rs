//! Checks of combinations of rates with other settings. Each returns one message, with a valid setting.

use super::basic::BasicRates;
use super::error_model::ErrorCurves;
use super::mode::PhyMode;
use crate::propagation::decibels::decibels;

/// Returns the reason why control frames cannot be sent at this rate; `None` if they can.
pub fn control_rate(key: &str, mode: PhyMode, basic: BasicRates) -> Option<String> {
    let is_known = basic.contains(mode) || BasicRates::MANDATORY.contains(mode);
    (!is_known).then(|| {
        format!(
            "{key}: {mode} is neither basic nor mandatory, so not every station can decode it; use 6, 12 or 24 Mbit/s"
        )
    })
}

/// Returns a warning for a configuration that aggregates packets at a rate without A-MPDUs; `None` if the rate has
/// them.
pub fn aggregation(mode: PhyMode) -> Option<String> {
    (!mode.aggregates())
        .then(|| format!("frames at {mode} are never aggregated; use an MCS of 802.11n or 802.11ac, such as \"mcs3\""))
}

/// Returns a warning if frames of this mode and size have an error rate above one half on a link with this SNR (a ratio
/// of powers).
pub fn link(name: &str, curves: &ErrorCurves, mode: PhyMode, snr: f64, bytes: u32) -> Option<String> {
    let needed = curves.needed_sinr(mode, 8 * bytes, 0.5);
    (snr < needed).then(|| {
        format!(
            "{name}: an SNR of {:.1} dB cannot carry {bytes} bytes at {mode}, which require {:.1} dB; move the \
             stations closer, or use a slower rate",
            decibels(snr.max(1e-30)),
            decibels(needed)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::error_model::ErrorModel;
    use crate::phy::mode::{Band, Guard, Width};
    use crate::propagation::decibels::ratio;

    fn legacy(mbps: u32) -> PhyMode {
        PhyMode::legacy(mbps, Band::Ghz5).unwrap()
    }

    #[test]
    fn responses_are_sent_at_basic_or_mandatory_rates() {
        assert_eq!(control_rate("control_rate", legacy(24), BasicRates::new(&[6]).unwrap()), None);
        assert_eq!(control_rate("control_rate", legacy(54), BasicRates::new(&[54]).unwrap()), None);
        let message = control_rate("control_rate", legacy(54), BasicRates::MANDATORY).unwrap();
        assert!(message.starts_with("control_rate: OfdmRate54Mbps is neither"), "{message}");
    }

    #[test]
    fn legacy_rates_never_aggregate() {
        assert!(aggregation(legacy(24)).unwrap().contains("never aggregated"));
        assert_eq!(aggregation(PhyMode::ht(0, Width::Mhz20, Guard::Long, Band::Ghz5).unwrap()), None);
    }

    #[test]
    fn a_link_that_is_too_weak_is_reported_with_both_snrs() {
        let curves = ErrorCurves::new(ErrorModel::Nist);
        assert_eq!(link("routes[0]", &curves, legacy(24), ratio(14.0), 1536), None);
        let message = link("routes[0]", &curves, legacy(24), ratio(11.0), 1536).unwrap();
        assert!(message.contains("11.0 dB") && message.contains("12.9 dB"), "{message}");
    }
}
