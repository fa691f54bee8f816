//! An algorithm whose window and rate are set by code outside the run, such as a learning policy.

use lightlag_control::congestion::custom::{AlgorithmFactory, Description, Factory, Origin};
use lightlag_control::congestion::{
    self, Ack, AckReport, Allowance, Cause, Congestion, CongestionControl, ConnectionStart, Departures, Needs, Steering,
};
use lightlag_core::{Instant, Rate};
use std::sync::Arc;

/// Name of the steered algorithm in a scenario.
pub const NAME: &str = "steered";

/// Registers the steered algorithm by its name.
///
/// # Errors
/// If an algorithm of lightlag has this name.
pub fn register() -> Result<(), String> {
    // A version instead of a digest: the controlling code is not part of the scenario.
    let (origin, code, parameters) = (Origin::Registered, "1".to_owned(), Vec::new());
    let facts = Description { name: NAME, origin, code, parameters, holds_interpreter: false };
    congestion::register(Arc::new(Steerable(facts)))
}

struct Steerable(Description);

impl Factory for Steerable {
    fn facts(&self) -> &Description {
        &self.0
    }
}

impl AlgorithmFactory for Steerable {
    /// Returns the needs: the algorithm sets a pacing rate, and its window also applies in recovery.
    fn needs(&self) -> Needs {
        Needs { pacing: true, controls_recovery: true, ..Needs::NONE }
    }

    fn build(self: Arc<Self>, start: &ConnectionStart, _values: &[f64]) -> Box<dyn CongestionControl> {
        let window = start.initial_window * start.segment_size;
        Box::new(Steered { window, pacing_rate: None, report: AckReport::default(), since: Instant::ZERO })
    }
}

/// State of a connection. The window stays until another one is set.
struct Steered {
    window: u64,
    pacing_rate: Option<Rate>,
    report: AckReport,
    /// Time of the first round-trip sample in the report.
    since: Instant,
}

impl Allowance for Steered {
    fn window(&self) -> u64 {
        self.window
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
}

impl CongestionControl for Steered {
    fn on_ack(&mut self, ack: &Ack) {
        let report = &mut self.report;
        report.delivered += ack.newly_delivered;
        report.lost += ack.newly_lost;
        report.marked += ack.newly_marked;
        if let Some(rtt) = ack.rtt.map(|rtt| rtt.as_secs_f64()) {
            if report.samples == 0 {
                self.since = ack.now;
            }
            let time = ack.now.since(self.since).as_secs_f64();
            report.samples += 1;
            report.rtt += rtt;
            let [times, squares, products] = &mut report.slope;
            *times += time;
            *squares += time * time;
            *products += time * rtt;
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        if matches!(event.cause, Cause::Timeout | Cause::RepeatedTimeout) {
            self.report.timeouts += 1;
            // All that was in flight counts as lost.
            self.report.lost += event.flight;
        }
    }

    fn departures(&self) -> Option<&dyn Departures> {
        Some(self)
    }

    fn steering(&mut self) -> Option<&mut dyn Steering> {
        Some(self)
    }
}

impl Departures for Steered {
    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }
}

impl Steering for Steered {
    fn steer(&mut self, window: u64, pacing_rate: Option<Rate>) {
        (self.window, self.pacing_rate) = (window, pacing_rate);
    }

    fn take(&mut self) -> AckReport {
        std::mem::take(&mut self.report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_control::congestion::Phase;
    use lightlag_core::Duration;

    fn steered() -> Box<dyn CongestionControl> {
        let start = ConnectionStart {
            segment_size: 1000,
            initial_window: 10,
            rtt: None,
            pipe: None,
            ssthresh: None,
            max_window: None,
            whole: false,
            timestamps: false,
            abe: false,
            ecn: false,
            tso: false,
            paces: false,
            seed: 1,
        };
        let facts = Description {
            name: NAME,
            origin: Origin::Registered,
            code: String::new(),
            parameters: Vec::new(),
            holds_interpreter: false,
        };
        Arc::new(Steerable(facts)).build(&start, &[])
    }

    fn ack(at_ms: u64, rtt_ms: u64) -> Ack {
        Ack {
            now: Instant::ZERO + Duration::from_millis(at_ms),
            newly_acked: 1000,
            newly_delivered: 1000,
            newly_lost: 0,
            newly_marked: 0,
            duplicate: false,
            ece: false,
            one_way: None,
            growth: 1.0,
            rtt: Some(Duration::from_millis(rtt_ms)),
            srtt: Duration::from_millis(rtt_ms),
            min_rtt: Duration::from_millis(rtt_ms),
            inflight: 0,
            prior_inflight: 1000,
            snd_una: 0,
            snd_nxt: 0,
            phase: Phase::Open,
            cwnd_limited: true,
            next_departure: Instant::ZERO,
            rate: None,
        }
    }

    #[test]
    fn a_window_stays_until_it_is_set() {
        let mut steered = steered();
        assert_eq!(steered.window(), 10_000);
        steered.on_ack(&ack(10, 10));
        assert_eq!(steered.window(), 10_000);
        let rate = Rate::from_bps(1_000_000);
        steered.steering().expect("it is steered").steer(5000, rate);
        assert_eq!((steered.window(), steered.departures().and_then(|it| it.pacing_rate())), (5000, rate));
    }

    #[test]
    fn a_report_sums_up_its_interval_and_resets() {
        let mut steered = steered();
        // A queue that grows by 2 ms each 10 ms.
        for at in 0..5 {
            steered.on_ack(&ack(100 + 10 * at, 20 + 2 * at));
        }
        let steering = steered.steering().expect("it is steered");
        let report = steering.take();
        assert_eq!((report.delivered, report.samples), (5000, 5));
        assert!((report.mean_rtt().expect("samples") - 0.024).abs() < 1e-12);
        assert!((report.rtt_gradient() - 0.2).abs() < 1e-9);
        assert_eq!(steering.take(), AckReport::default());
        assert_eq!(AckReport::default().rtt_gradient(), 0.0);
    }

    #[test]
    fn a_timeout_loses_the_flight() {
        let mut steered = steered();
        let event = |cause| Congestion {
            now: Instant::ZERO,
            cause,
            flight: 3000,
            srtt: Duration::ZERO,
            min_rtt: Duration::MAX,
        };
        steered.on_congestion(&event(Cause::Loss));
        steered.on_congestion(&event(Cause::Timeout));
        let report = steered.steering().expect("it is steered").take();
        assert_eq!((report.timeouts, report.lost), (1, 3000));
    }
}
