//! Tahoe: a loss costs the whole window.
//!
//! Jacobson, "Congestion avoidance and control", SIGCOMM 1988, with the ssthresh of RFC 5681. The growth is that of
//! [`super::reno`], W and ssthresh in segments:
//!
//! - loss: ssthresh = max(FlightSize/2, 2), W = 1: slow start up to ssthresh, and all outstanding data leaves again
//!   ([`Needs::restart_on_loss`](super::Needs)), as after a timeout. The program of 1988 halved its window instead of
//!   FlightSize;
//! - mark: ssthresh as after a loss and W = ssthresh: nothing has to be repaired, and RFC 3168 §5 and §6.1.2 demand
//!   half the window, whatever a drop costs;
//! - timeout: as Reno.
//!
//! It has no fast recovery, so `recovery` only defines a loss; `recovery = "reno"` is that of 1988, three duplicate
//! ACKs.

use super::registry::About;
use super::reno::{self, Member};

/// `tahoe`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tahoe;

/// Parameters of Tahoe.
pub type Config = reno::Config<Tahoe>;

impl Member for Tahoe {
    const ABOUT: About = About {
        about: "The first TCP with congestion control, of 1988: after any loss the window is one segment, slow start \
                follows up to half the old one, and everything outstanding leaves again. To be used with recovery = \
                \"reno\".",
        equations: &[
            "slow start, per counted segment:  W += 1",
            "avoidance, per counted segment:   W += 1/W",
            "loss:     ssthresh = max(FlightSize/2, 2), W = 1",
            "mark:     ssthresh = max(FlightSize/2, 2), W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 1",
        ],
        source: "Jacobson, \"Congestion avoidance and control\", SIGCOMM 1988; RFC 5681 §3.1",
    };
    const RESTARTS: bool = true;
}

#[cfg(test)]
mod tests;
