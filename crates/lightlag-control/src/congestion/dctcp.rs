//! DCTCP: a reduction in proportion to the marked part of a window.
//!
//! RFC 8257 §3.3-§3.5. The receiver echoes every mark, so the sender knows the marked fraction M of a window of data.
//! Once a window, with g = 1/16 and α = 1 at the start,
//!
//! - α = (1 − g) α + g M;
//! - a marked window: W = W (1 − α/2), at most once a window (RFC 3168 §6.1.2), and ssthresh with it;
//! - loss: W = ssthresh = max(FlightSize/2, 2), as in RFC 5681 (§3.5: α is not used), unless this window of data was
//!   already reduced; timeout: W = 1.
//!
//! It grows like NewReno (§3.4). Its queue must mark at a threshold K of the instantaneous length, above C·RTT/7
//! (Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010).

use super::hystart;
use super::registry::{About, Algorithm};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, Needs, SlowStart, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Instant, Unit};

/// Parameters of [`Dctcp`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// g: the weight of the last window in α.
    pub gain: f64,
    /// α at the start.
    pub initial_alpha: f64,
    /// An early end of slow start, off by default.
    pub hystart: hystart::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self { gain: 1.0 / 16.0, initial_alpha: 1.0, hystart: hystart::Config::default() }
    }
}

/// DCTCP's window.
pub struct Dctcp {
    window: Window,
    slow_start: SlowStart,
    gain: f64,
    /// The estimate of the marked fraction.
    alpha: f64,
    /// Bytes delivered in this window of data, and the marked ones among them.
    delivered: u64,
    marked: u64,
    /// The offset whose acknowledgement ends this window of data.
    window_end: u64,
    /// The first unacknowledged offset, and the next new one.
    una: u64,
    nxt: u64,
    /// No further reduction until this offset is acknowledged.
    reduced_until: u64,
}

impl Dctcp {
    /// DCTCP in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        Self {
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            gain: config.gain,
            alpha: config.initial_alpha,
            delivered: 0,
            marked: 0,
            window_end: 0,
            una: 0,
            nxt: 0,
            reduced_until: 0,
        }
    }

    /// RFC 8257 §3.3, steps 1 to 8.
    fn estimate(&mut self, ack: &Ack) {
        self.delivered += ack.newly_delivered;
        self.marked += ack.newly_marked.min(ack.newly_delivered);
        if ack.snd_una <= self.window_end || self.delivered == 0 {
            return;
        }
        let fraction = self.marked as f64 / self.delivered as f64;
        self.alpha += self.gain * (fraction - self.alpha);
        (self.delivered, self.marked) = (0, 0);
        self.window_end = ack.snd_nxt;
    }
}

window_based!(Dctcp);

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, ack: &Ack) {
        (self.una, self.nxt) = (ack.snd_una, ack.snd_nxt);
        self.estimate(ack);
        if ack.may_grow() {
            self.slow_start.grow_as_reno(ack, &mut self.window);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        // One reduction per window of data, whatever the signal; timeouts are exempt (§3.5).
        let again = self.una < self.reduced_until;
        let threshold = match event.cause {
            Cause::Loss | Cause::Mark if again => return,
            Cause::Mark => self.window.segments() * (1.0 - self.alpha / 2.0),
            Cause::Loss | Cause::Timeout | Cause::RepeatedTimeout => self.window.in_segments(event.flight) / 2.0,
        };
        self.reduced_until = self.nxt;
        self.window.react(event, threshold);
    }

    fn on_undo(&mut self, _now: Instant) {
        self.reduced_until = self.una;
        self.window.undo();
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "For data centres: the queue marks every packet above a short threshold, the receiver echoes each mark, \
                and the sender reduces its window by half the fraction that was marked. The queue stays at the \
                threshold. It needs such a queue (a RED or threshold queue with ECN) and both ends to agree; without \
                marks it is NewReno.",
        equations: &[
            "once a window:  alpha = (1 - g) alpha + g M,  M = marked/delivered bytes",
            "marks:    W = W (1 - alpha/2), once a window",
            "slow start, avoidance:  as newreno",
            "loss:     ssthresh = max(FlightSize/2, 2), W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 1",
        ],
        source: "RFC 8257; Alizadeh et al., SIGCOMM 2010",
    };

    const NEEDS: Needs = Needs { exact_marks: true, ..Needs::NONE };

    fn settings() -> Vec<Setting<Self>> {
        let own: Vec<Setting<Self>> = vec![
            Setting::quantity("gain", |config: &mut Self| &mut config.gain, Unit::Plain, 0.001, 1.0)
                .by_default("0.0625")
                .about("g: the weight of the last window in alpha."),
            Setting::quantity("initial_alpha", |config: &mut Self| &mut config.initial_alpha, Unit::Plain, 0.0, 1.0)
                .by_default("1")
                .about("alpha at the start: with 1 the first mark halves the window, with 0 it hardly changes it."),
        ];
        [own, hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Dctcp::new(self, start))
    }
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SEGMENT, ack, assert_within, congestion, start};
    use super::*;
    use crate::congestion::Allowance;
    use lightlag_core::Duration;

    const RTT: Duration = Duration::from_millis(1);

    /// A sender in avoidance, one window of ten segments after the other.
    struct Flow {
        algorithm: Dctcp,
        acked: u64,
    }

    impl Flow {
        fn new() -> Self {
            Self { algorithm: Dctcp::new(&Config::default(), &start(10)), acked: 0 }
        }

        /// Ten segments are acknowledged, the first `marked` of them with a mark.
        fn window(&mut self, marked: u64) {
            self.segments(10, marked);
        }

        fn segments(&mut self, count: u64, marked: u64) {
            for n in 0..count {
                self.acked += SEGMENT;
                let newly_marked = if n < marked { SEGMENT } else { 0 };
                let (snd_una, snd_nxt) = (self.acked, self.acked.div_ceil(10 * SEGMENT) * 10 * SEGMENT);
                let ready = ack(Instant::ZERO, RTT);
                self.algorithm.on_ack(&Ack { newly_marked, snd_una, snd_nxt, ece: newly_marked > 0, ..ready });
            }
        }
    }

    #[test]
    fn alpha_decays_by_a_sixteenth_a_window() {
        let mut flow = Flow::new();
        for expected in [0.9375, 0.8789, 0.8240, 0.7725] {
            flow.window(0);
            assert_within("alpha", flow.algorithm.alpha, expected, 1e-4);
        }
        // It halves every 10.74 windows.
        (4..10).for_each(|_| flow.window(0));
        assert!(flow.algorithm.alpha > 0.5);
        flow.window(0);
        assert!(flow.algorithm.alpha < 0.5);
    }

    #[test]
    fn alpha_goes_to_the_marked_fraction() {
        let mut flow = Flow::new();
        (0..400).for_each(|_| flow.window(3));
        assert_within("alpha", flow.algorithm.alpha, 0.3, 1e-3);
    }

    #[test]
    fn a_marked_window_costs_half_of_alpha() {
        let mut flow = Flow::new();
        (0..400).for_each(|_| flow.window(2));
        let before = flow.algorithm.window.segments();
        flow.algorithm.on_congestion(&congestion(Cause::Mark, 10.0));
        assert_within("window", flow.algorithm.window.segments(), before * 0.9, 1e-3);
        assert_eq!(flow.algorithm.window(), flow.algorithm.ssthresh());
    }

    #[test]
    fn a_window_of_data_is_reduced_once() {
        let mut flow = Flow::new();
        // Inside a window of data: what was sent before the reduction is still on the way.
        flow.segments(5, 5);
        flow.algorithm.on_congestion(&congestion(Cause::Mark, 10.0));
        let window = flow.algorithm.window();
        flow.algorithm.on_congestion(&congestion(Cause::Mark, 10.0));
        flow.algorithm.on_congestion(&congestion(Cause::Loss, 6.0));
        assert_eq!(flow.algorithm.window(), window);
        (0..3).for_each(|_| flow.window(0));
        flow.algorithm.on_congestion(&congestion(Cause::Loss, 6.0));
        assert_eq!(flow.algorithm.window(), 3 * SEGMENT);
        flow.algorithm.on_congestion(&congestion(Cause::Timeout, 6.0));
        assert_eq!(flow.algorithm.window(), SEGMENT);
    }

    #[test]
    fn a_loss_halves_whatever_alpha_is() {
        let mut flow = Flow::new();
        (0..400).for_each(|_| flow.window(0));
        assert!(flow.algorithm.alpha < 1e-3);
        flow.algorithm.on_congestion(&congestion(Cause::Loss, 20.0));
        assert_eq!(flow.algorithm.window(), 10 * SEGMENT);
    }

    #[test]
    fn without_marks_it_grows_as_new_reno() {
        let mut flow = Flow::new();
        flow.algorithm.on_congestion(&congestion(Cause::Loss, 20.0));
        let choice = serde_json::from_str(r#""newreno""#).unwrap();
        let mut reference = super::super::build(&choice, &start(10));
        reference.on_congestion(&congestion(Cause::Loss, 20.0));
        for _ in 0..500 {
            let ready = ack(Instant::ZERO, RTT);
            flow.algorithm.on_ack(&ready);
            reference.on_ack(&ready);
            assert_eq!(flow.algorithm.window(), reference.window());
        }
    }
}
