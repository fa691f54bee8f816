//! NewReno: the window of [`super::reno`], with a repair that survives several losses in a window.
//!
//! RFC 5681 §3.1, §3.2 and RFC 6582, which concerns only the repair: `newreno` goes with `recovery = "newreno"`, or
//! with SACK (RFC 6675 §5 has the same window).

use super::registry::About;
use super::reno::{self, Member};

/// `newreno`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewReno;

/// Parameters of NewReno.
pub type Config = reno::Config<NewReno>;

impl Member for NewReno {
    const ABOUT: About = About {
        about: "The standard TCP: one segment more each round trip, half the window after a loss. Its rate falls \
                with the round-trip time and with the square root of the loss rate, so that long or lossy paths \
                stay empty.",
        equations: &[
            "slow start, per counted segment:  W += 1",
            "avoidance, per counted segment:   W += 1/W",
            "loss:     ssthresh = max(FlightSize/2, 2), W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 1",
            "mean window with random loss p:   sqrt(3/(2p)) segments",
        ],
        source: "RFC 5681, RFC 6582; the mean window: Mathis, Semke, Mahdavi, Ott, CCR 27(3), 1997",
    };
    const RESTARTS: bool = false;
}
