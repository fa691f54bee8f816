//! DCTCP: reduces the window in proportion to the fraction of marked data.
//!
//! RFC 8257 §3.3-§3.5. The receiver echoes every mark, which gives the sender M, the marked fraction of a window of
//! data. Once per window, with g = 1/16 and α = 1 at the start,
//!
//! - α = (1 − g) α + g M;
//! - mark: ssthresh = W = W (1 − α/2), at most once per window (RFC 3168 §6.1.2);
//! - loss: W = ssthresh = max(FlightSize/2, 2), as in RFC 5681 (§3.5: α is not used), unless this window of data was
//!   already reduced; timeout: W = 1.
//!
//! The window grows like NewReno's (§3.4). The queue must mark packets while its instantaneous length exceeds a
//! threshold K, which has to be above C·RTT/7 (Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010).

use super::about::{About, Signal};
use super::hystart;
use super::registry::Algorithm;
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, Needs, SlowStart, Window};
use lightlag_core::{Instant, Unit, settings};

settings! {
    /// Parameters of [`Dctcp`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// g: weight of the last window of data in alpha.
        gain: f64 = 1.0 / 16.0 => quantity(Unit::Plain, 0.001, 1.0);
        /// alpha at the start: with 1 the first mark halves the window, with 0 it hardly changes the window.
        initial_alpha: f64 = 1.0 => quantity(Unit::Plain, 0.0, 1.0);
        + /// An early end of slow start, off by default.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

/// State of DCTCP.
pub struct Dctcp {
    window: Window,
    slow_start: SlowStart,
    gain: f64,
    /// α: the estimated fraction of marked data.
    alpha: f64,
    /// Bytes delivered in this window of data, and the bytes among them that were marked.
    delivered: u64,
    marked: u64,
    /// Stream offset whose acknowledgement ends this window of data.
    window_end: u64,
    /// Stream offsets of the first unacknowledged byte and of the next new byte.
    una: u64,
    nxt: u64,
    /// Stream offset; until it is acknowledged, the window is not reduced again.
    reduced_until: u64,
}

impl Dctcp {
    /// Creates DCTCP in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
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

    /// Updates α with an ACK (RFC 8257 §3.3, steps 1 to 8).
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
        about: "For data centres. The queue marks every packet above a low threshold, the receiver echoes each mark, \
                and the sender reduces its window by half of the marked fraction, so that the queue stays at the \
                threshold. It needs such a queue (RED or step with ECN) and ECN at both endpoints; without marks it \
                behaves like NewReno.",
        equations: &[
            "once per window:  alpha = (1 - g) alpha + g M,  M = marked/delivered bytes,  g = 1/16, alpha = 1 at the start",
            "marks:    W = ssthresh = W (1 - alpha/2), once per window",
            "slow start, avoidance:  as newreno",
            "loss:     ssthresh = max(FlightSize/2, 2), W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 1",
        ],
        source: "RFC 8257; Alizadeh et al., SIGCOMM 2010",
        year: 2010,
        signal: Signal::Marks,
        details: r#"
            g is `gain`, the first α is `initial_alpha`. A loss in a window of data that was already reduced causes no
            further reduction. The exact echo by the receiver is a function of the connection (docs/models/tcp.md). The
            queue marks packets while its length exceeds a threshold K; Alizadeh et al. require K > C·RTT/7.
        "#,
        variants: &[],
        deviations: &[],
        checks: "α after 1 to 4 windows without marks (0.9375, 0.8789, 0.8240, 0.7725), halved after 11; α approaches M; the \
                 reduction; a loss halves the window at any α; growth as in `newreno`.",
        not_modelled: "",
    };

    const NEEDS: Needs = Needs { exact_marks: true, ..Needs::NONE };

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Dctcp::new(self, start))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SEGMENT, ack, assert_within, congestion, start};
    use super::*;
    use crate::congestion::Allowance;
    use lightlag_core::Duration;

    const RTT: Duration = Duration::from_millis(1);

    /// A sender in congestion avoidance that sends one window of ten segments after the other.
    struct Flow {
        algorithm: Dctcp,
        acked: u64,
    }

    impl Flow {
        fn new() -> Self {
            Self { algorithm: Dctcp::new(&Config::default(), &start(10)), acked: 0 }
        }

        /// Acknowledges ten segments, the first `marked` of them with a mark.
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
        // Inside a window of data: what was sent before the reduction is still in transit.
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
