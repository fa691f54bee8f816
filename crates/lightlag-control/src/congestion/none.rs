//! No congestion control: the flight is bounded only by the peer's window and, if there is one, the token bucket
//! (SCPS-TP's pure rate control). Losses are repaired, but reduce nothing.
//!
//! On a shared path this is unfair to all other flows. It is meant for dedicated links of known rate.

use super::about::{About, Signal};
use super::registry::Algorithm;
use super::{Ack, Allowance, Congestion, CongestionControl, ConnectionStart, Needs};
use lightlag_core::params::{Declared, Setting};

/// Window in bytes that is never full: 1 TiB.
const WINDOW: u64 = 1 << 40;

/// `none` has no parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config;

/// State of the algorithm: there is none.
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

impl Declared for Config {
    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "No congestion control. Only the peer's window limits the data in flight, and rate_control, if it is \
                set, the sending rate. For links with a known rate that are not shared, as in the pure rate control of \
                SCPS-TP.",
        equations: &[
            "window:   W = 1 TiB, so that the peer's window is the limit",
            "loss:     W as before; lost data is retransmitted",
            "timeout:  W as before; the timeout doubles, unless losses are attributed to corruption",
            "mark:     W as before",
            "rate:     at most B + R t bytes in any time t, with rate_control R and its bucket B",
        ],
        source: "CCSDS 714.0-B-2, Space Communications Protocol Specification: Transport Protocol, 2006",
        year: 2006,
        signal: Signal::Uncontrolled,
        details: r#"
            The key `rate_control` is described in docs/models/scps-tp.md. Results show a window of 1 TiB.
        "#,
        variants: &[],
        deviations: &[],
        checks: "",
        not_modelled: "",
    };

    // Proportional rate reduction would impose a window.
    const NEEDS: Needs = Needs { controls_recovery: true, ..Needs::NONE };

    fn build(&self, _: &ConnectionStart) -> Box<dyn CongestionControl> {
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
