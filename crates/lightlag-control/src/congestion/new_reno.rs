//! NewReno: the window of [`super::reno`], with a recovery that can repair several losses in a window.
//!
//! RFC 5681 §3.1, §3.2 and RFC 6582, which concerns only the recovery: `newreno` is meant for `recovery = "newreno"`,
//! or for SACK (RFC 6675 §5 has the same window).

use super::about::{About, Signal};
use super::reno::{self, INCREASES, RenoFamily};

/// Marker type of the algorithm `newreno`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewReno;

/// Parameters of NewReno.
pub type Config = reno::Config<NewReno>;

impl RenoFamily for NewReno {
    const ABOUT: About = About {
        about: "The standard TCP. The window grows by one segment per round trip and is halved after a loss. Its rate \
                falls with the round-trip time and with the square root of the loss rate, so that it cannot fill long or \
                lossy paths.",
        equations: &[
            "slow start, per counted segment:  W += 1",
            "avoidance, per counted segment:   W += 1/W",
            "loss:     ssthresh = max(FlightSize/2, 2), W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 1",
            "mean window with random loss p:   sqrt(3/(2p)) segments",
        ],
        source: "RFC 5681, RFC 6582; the mean window: Mathis, Semke, Mahdavi, Ott, CCR 27(3), 1997",
        year: 1999,
        signal: Signal::Loss,
        details: r#"
            The key `recovery`, not the name of the algorithm, selects how losses are repaired. `newreno` is meant for
            `recovery = "newreno"` or `"sack"`, where fast recovery ends when all data of the window with the loss is
            acknowledged.

            With one loss every n segments the window is a sawtooth from W/2 to W with n = 3W²/8, and its mean is
            √(3/(2p)). 1/2 is `beta` (0.7 in quicly), with which the mean is √((1 + β)/(2 (1 − β) p)). A mark counts as a
            loss; with ABE (RFC 8511 §3) it leaves max(0.8 FlightSize, 2).
        "#,
        variants: INCREASES,
        deviations: &[],
        checks: "The sawtooth at one loss every n segments, to 1 %; the mean window under random loss at p = 10⁻², 10⁻³ \
                 and 10⁻⁴, to 10 %; both also with β = 0.7.",
        not_modelled: "",
    };
    const RESTARTS: bool = false;
}
