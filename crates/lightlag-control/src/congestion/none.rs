//! No congestion control: the flight is bounded by the peer's window and by the token bucket, if there is one
//! (SCPS-TP's pure rate control). Losses are only repaired.
//!
//! On a shared path this is unfair to all other flows. It is meant for dedicated links of known rate.

use super::registry::{About, Algorithm};
use super::{Ack, Allowance, Congestion, CongestionControl, Needs, Start};
use lightlag_core::params::Setting;

/// A window that is never full: 1 TiB.
const WINDOW: u64 = 1 << 40;

/// `none` has no parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config;

/// The absence of a window.
struct Unlimited;

impl Allowance for Unlimited {
    fn window(&self) -> u64 {
        WINDOW
    }

    fn ssthresh(&self) -> u64 {
        WINDOW
    }
}

impl CongestionControl for Unlimited {
    fn on_ack(&mut self, _: &Ack) {}

    fn on_congestion(&mut self, _: &Congestion) {}
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "No congestion control: the peer's window alone bounds what is in flight, and rate_control, where it is \
                set, how fast it leaves. For links whose rate is known and not shared, as SCPS-TP's pure rate control.",
        equations: &[
            "window:   W = 1 TiB, so that the peer's window binds",
            "loss:     W as before; what is lost leaves again",
            "timeout:  W as before; the timeout doubles, unless losses are blamed on corruption",
            "mark:     W as before",
            "rate:     at most B + R t bytes in any time t, with rate_control R and its bucket B",
        ],
        source: "CCSDS 714.0-B-2, Space Communications Protocol Specification: Transport Protocol, 2006",
    };

    // Proportional rate reduction would impose a window.
    const NEEDS: Needs = Needs { own_recovery: true, ..Needs::NONE };

    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }

    fn build(&self, _: &Start) -> Box<dyn CongestionControl> {
        Box::new(Unlimited)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, congestion, start};
    use super::super::{Cause, Choice, build};
    use lightlag_core::Duration;
    use lightlag_core::Instant;

    #[test]
    fn nothing_changes_the_window() {
        let mut algorithm = build(&Choice::named("none"), &start(1));
        for cause in [Cause::Loss, Cause::Timeout, Cause::RepeatedTimeout, Cause::Mark] {
            algorithm.on_congestion(&congestion(cause, 10.0));
            algorithm.on_ack(&ack(Instant::ZERO, Duration::from_millis(100)));
            algorithm.on_idle(Instant::ZERO, 1, 1);
            assert_eq!((algorithm.window(), algorithm.ssthresh()), (1 << 40, 1 << 40));
        }
    }
}
