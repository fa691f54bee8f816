//! Options of the retransmission timeout.

use super::options::{OptionError, between, error};
use super::{Config, Rto, RttSamples, Variance, VarianceGain};
use lightlag_core::params::overrides::set;
use lightlag_core::{Duration, overrides};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum timeout in hours: six times the maximum round-trip time, which is a day.
const LONGEST_TIMER: u64 = 144;

overrides! {
    /// Parameters of the retransmission timeout (RFC 6298). Omitted keys come from the profile.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[schemars(title = "Rto")]
    pub struct RtoOptions for Rto {
        /// Timeout before the first sample.
        initial: Duration;
        /// Timeout of the SYN.
        syn: Duration, apart;
        /// Minimum timeout.
        min: Duration;
        /// Maximum timeout, including back-off.
        max: Duration;
        /// Minimum of the variance term, which is 4 RTTVAR in RFC 6298.
        variance_floor: Duration;
        /// Gain with which a sample changes RTTVAR.
        variance_gain: VarianceGain;
        /// Rule for RTTVAR: mean (RFC 6298), or peak (the maximum deviation in a round trip, as in Linux; its gains are
        /// fixed).
        variance: Variance;
        /// Divide the gains of SRTT and RTTVAR by the number of samples expected in a round trip: one for every two
        /// segments in flight (RFC 7323 appendix G).
        scaled_gains: bool;
        /// Restart the timer at any ACK, even a duplicate (ns-2).
        every_ack: bool;
    }
}

/// Applies the options of the timeout to a configuration.
///
/// # Errors
/// A value contradicts other settings; the error names its key.
pub(super) fn apply_rto(options: RtoOptions, config: &mut Config) -> Result<(), OptionError> {
    let rto = &mut config.rto;
    options.set(rto);
    set(&mut rto.syn, &options.syn.or(options.initial));
    if options.scaled_gains == Some(true) && rto.variance == Variance::Peak {
        return error("rto.scaled_gains", "true needs variance = \"mean\": the gains of \"peak\" are fixed".into());
    }
    let one_at_a_time = matches!(config.rtt_samples, RttSamples::OnePerRound | RttSamples::Timed);
    if options.scaled_gains == Some(true) && one_at_a_time {
        return error("rto.scaled_gains", "true needs rtt_samples = \"send_time\" or \"timestamp\"".into());
    }
    for (key, value) in [("rto.initial", rto.initial), ("rto.syn", rto.syn), ("rto.max", rto.max)] {
        between(key, value, LONGEST_TIMER)?;
    }
    if rto.min > rto.max {
        return error("rto.min", format!("{} is above rto.max, which is {}: reduce it", rto.min, rto.max));
    }
    if rto.initial > rto.max {
        return error("rto.max", format!("{} is below rto.initial, which is {}: increase it", rto.max, rto.initial));
    }
    if rto.min.is_zero() && rto.variance_floor.is_zero() {
        return error(
            "rto.min",
            "0 s with rto.variance_floor = 0 s lets the timeout fall to the RTT: increase one of them".into(),
        );
    }
    Ok(())
}
