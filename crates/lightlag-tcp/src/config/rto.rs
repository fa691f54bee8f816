//! Options of the retransmission timeout.

use super::options::table::{self, set, table};
use super::options::{OptionError, between, error};
use super::{Config, Rto, RttSamples, Variance, VarianceGain};
use lightlag_core::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest timeout in hours: that of six round trips of a day.
const LONGEST_TIMER: u64 = 144;

table! {
    /// Parameters of the retransmission timeout. What is left out comes from the profile.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct RtoOptions for Rto {
        /// Before the first sample.
        initial: Duration;
        /// Of the SYN.
        syn: Duration, apart;
        /// Lower bound.
        min: Duration;
        /// Upper bound, with back-off.
        max: Duration;
        /// Lower bound of the variance term.
        variance_floor: Duration;
        /// Gain of RTTVAR.
        variance_gain: VarianceGain;
        /// How RTTVAR follows the samples: mean (RFC 6298) or peak (of a round trip, as Linux; its gains are fixed).
        variance: Variance;
        /// Divide the gains of SRTT and RTTVAR by the samples that a round trip should give, one for two segments in
        /// flight (RFC 7323 appendix G).
        scaled_gains: bool;
        /// Any ACK restarts the timer, a duplicate, too (ns-2).
        every_ack: bool;
    }
}

/// Sets the timeout's parameters in a configuration.
///
/// # Errors
/// The key whose value contradicts others.
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
        return error("rto.min", format!("{} is above rto.max, which is {}: make it smaller", rto.min, rto.max));
    }
    if rto.initial > rto.max {
        return error("rto.max", format!("{} is below rto.initial, which is {}: make it larger", rto.max, rto.initial));
    }
    if rto.min.is_zero() && rto.variance_floor.is_zero() {
        return error(
            "rto.min",
            "0 s with rto.variance_floor = 0 s lets the timeout fall to the RTT: raise one".into(),
        );
    }
    Ok(())
}
