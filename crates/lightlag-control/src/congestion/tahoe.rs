//! Tahoe: a loss reduces the window to one segment.
//!
//! Jacobson, "Congestion avoidance and control", SIGCOMM 1988, with the ssthresh of RFC 5681. The growth is as in
//! [`super::reno`], W and ssthresh in segments:
//!
//! - loss: ssthresh = max(FlightSize/2, 2) and W = 1. Slow start up to ssthresh follows, and all outstanding data is
//!   retransmitted ([`Needs::restart_on_loss`](super::Needs)), as after a timeout. The program of 1988 halved its
//!   window instead of FlightSize;
//! - mark: ssthresh as after a loss, and W = ssthresh. No data has to be repaired, and RFC 3168 §5 and §6.1.2 require
//!   half the window, whatever the reaction to a loss is;
//! - timeout: as Reno.
//!
//! Tahoe has no fast recovery, so `recovery` only determines when a segment counts as lost; `recovery = "reno"` is the
//! rule of 1988, three duplicate ACKs.

use super::about::{About, Deviation, Signal};
use super::reno::{self, INCREASES, RenoFamily};

/// Marker type of the algorithm `tahoe`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tahoe;

/// Parameters of Tahoe.
pub type Config = reno::Config<Tahoe>;

impl RenoFamily for Tahoe {
    const ABOUT: About = About {
        about: "The first TCP with congestion control (1988). After any loss the window is one segment, all outstanding \
                data is retransmitted, and slow start continues up to half of the previous window. Use it with recovery \
                = \"reno\".",
        equations: &[
            "slow start, per counted segment:  W += 1",
            "avoidance, per counted segment:   W += 1/W",
            "loss:     ssthresh = max(FlightSize/2, 2), W = 1",
            "mark:     ssthresh = max(FlightSize/2, 2), W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 1",
        ],
        source: "Jacobson, \"Congestion avoidance and control\", SIGCOMM 1988; RFC 5681 §3.1",
        year: 1988,
        signal: Signal::Loss,
        details: r#"
            The key `recovery`, not the name of the algorithm, selects how losses are repaired: `tahoe` is meant for
            `recovery = "reno"`. 1/2 is `beta`.

            A mark halves the window, as in RFC 3168 §6.1.2, because nothing has to be retransmitted. With ABE (RFC 8511
            §3) a mark leaves max(0.8 FlightSize, 2).

            With one loss every n segments the window is a sawtooth. Each tooth has W/2 segments more than Reno's, which
            are sent in slow start.
        "#,
        variants: INCREASES,
        deviations: &[Deviation {
            scope: "",
            source: "ssthresh is half of the window (the program of 1988)",
            here: "half of FlightSize",
            reason: "RFC 5681 §3.1 applies to all algorithms",
        }],
        checks: "The sawtooth at one loss every n segments, to 1 %.",
        not_modelled: "",
    };
    const RESTARTS: bool = true;
}

#[cfg(test)]
mod tests;
