//! The use of a window of an earlier connection (`timing.c`: picoquic_validate_bdp_seed; `newreno.c`, `cubic.c`,
//! `bbr.c`: notification seed_cwin).
//!
//! If the first round-trip sample differs by at most a quarter from the saved one, the entire saved window applies
//! immediately: NewReno and CUBIC leave slow start there. The slow start of BBRv3 on long paths starts there, with half
//! of it as its minimum. RFC 9959 is more careful: half of the window, after the initial data.
//!
//! Not modelled: BBRv1, where the saved rate only replaces a sample, and BBRv3 up to 250 ms, where Startup has other
//! gains.

use super::LONG_RTT;
use crate::config::Config;
use crate::details::Windows;
use lightlag_control::congestion::Choice;
use lightlag_control::congestion::careful_resume::{ResumeRule, Saved};
use lightlag_control::congestion::loss_assumption::LossAssumption;
use lightlag_core::Duration;
use lightlag_core::params::refusal::{OptionError, error};

/// A saved window that waits for the first round-trip sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seed(Option<Saved>);

impl Seed {
    /// Returns the window of a configuration with picoquic's rule.
    pub(crate) fn of(config: &Config) -> Self {
        Self(config.careful_resume.filter(|saved| saved.rule == ResumeRule::Picoquic))
    }

    /// Returns the window in bytes at the first sample, if this is similar to the saved round-trip time.
    #[inline]
    pub(crate) fn at_sample(&mut self, rtt: Duration) -> Option<u64> {
        self.0.take().filter(|saved| saved.saved_rtt.abs_diff(rtt) <= rtt / 4).map(|saved| saved.saved_cwnd.0)
    }
}

/// Checks that a configuration has picoquic's rule for a saved window.
///
/// # Errors
/// If the profile or the algorithm has no such rule.
pub(crate) fn check_saved(config: &Config, saved: &Saved) -> Result<(), OptionError> {
    if config.details.windows != Windows::Picoquic {
        let message = "picoquic needs profile = \"picoquic\"; remove it to use the rules of RFC 9959".to_owned();
        return error("careful_resume.rule", message);
    }
    if saved.max_jump.is_some() {
        return error("careful_resume.max_jump", "has no effect with rule = \"picoquic\"; remove it".to_owned());
    }
    let name = config.congestion.name();
    match &config.congestion {
        Choice::Bbr3(_) if saved.saved_rtt > LONG_RTT => Ok(()),
        Choice::Bbr3(_) => {
            let message =
                format!("{} is not above {LONG_RTT}, as bbr3 with rule = \"picoquic\" needs", saved.saved_rtt);
            error("careful_resume.saved_rtt", message)
        }
        _ if config.loss_assumption != LossAssumption::Congestion => {
            error("careful_resume.rule", "picoquic needs loss_assumption = \"congestion\"; remove either".to_owned())
        }
        _ if config.has_plain_window() => Ok(()),
        _ => {
            let message = format!(
                "picoquic has no such rule for {name} with these parameters; use \"bbr3\", or \"cubic\" or \"newreno\" \
                 without parameters"
            );
            error("careful_resume.rule", message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_core::Bytes;

    #[test]
    fn a_first_sample_within_a_quarter_gives_the_whole_window_once() {
        let saved_rtt = Duration::from_millis(600);
        let saved = Saved { saved_cwnd: Bytes(18_750_000), saved_rtt, max_jump: None, rule: ResumeRule::Picoquic };
        for (ms, window) in [(479, None), (480, Some(18_750_000)), (800, Some(18_750_000)), (801, None)] {
            let mut seed = Seed(Some(saved));
            assert_eq!(seed.at_sample(Duration::from_millis(ms)), window, "{ms} ms");
            assert_eq!(seed.at_sample(saved_rtt), None);
        }
    }
}
