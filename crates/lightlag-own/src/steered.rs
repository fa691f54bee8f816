//! An algorithm whose window and rate somebody sets from outside of the run, as a policy does that learns.

use lightlag_control::congestion::own::{Facts, Maker, Origin, Outside};
use lightlag_control::congestion::{
    self, Ack, Allowance, Cause, Congestion, CongestionControl, Departures, Needs, Report, Start, Steering,
};
use lightlag_core::{Instant, Rate};
use std::sync::Arc;

/// The name in a scenario of the algorithm that is steered.
pub const NAME: &str = "steered";

/// Makes the algorithm known by its name.
///
/// # Errors
/// If an algorithm of lightlag has that name.
pub fn register() -> Result<(), String> {
    // A version in place of a digest: whoever steers is no part of the scenario.
    let (origin, code, parameters) = (Origin::Registered, "1".to_owned(), Vec::new());
    let facts = Facts { name: NAME, origin, code, parameters, holds_interpreter: false };
    congestion::register(Arc::new(Steerable(facts)))
}

struct Steerable(Facts);

impl Outside for Steerable {
    fn facts(&self) -> &Facts {
        &self.0
    }
}

impl Maker for Steerable {
    /// Its window applies in recovery, too.
    fn needs(&self) -> Needs {
        Needs { pacing: true, own_recovery: true, ..Needs::NONE }
    }

    fn build(self: Arc<Self>, start: &Start, _values: &[f64]) -> Box<dyn CongestionControl> {
        let window = start.initial_window * start.segment_size;
        Box::new(Steered { window, pacing_rate: None, report: Report::default(), since: Instant::ZERO })
    }
}

/// The algorithm at a connection. It keeps its window until it is told another one.
struct Steered {
    window: u64,
    pacing_rate: Option<Rate>,
    report: Report,
    /// The time of the first round-trip sample in the report.
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

    fn take(&mut self) -> Report {
        std::mem::take(&mut self.report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_control::congestion::Phase;
    use lightlag_core::Duration;

    fn steered() -> Box<dyn CongestionControl> {
        let start = Start {
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
            seed: 1,
        };
        let facts = Facts {
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
    fn a_report_sums_up_its_interval_and_starts_anew() {
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
        assert_eq!(steering.take(), Report::default());
        assert_eq!(Report::default().rtt_gradient(), 0.0);
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
