//! The data of one monitor interval for an agent.

/// Data of a monitor interval of a flow. Sizes are in bytes of payload, times in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Interval {
    /// Simulated time at the end of the interval.
    pub time: f64,
    /// Length of the interval.
    pub length: f64,
    /// Data sent, including retransmissions.
    pub sent: f64,
    /// Data acknowledged or SACKed for the first time.
    pub delivered: f64,
    /// Data marked as lost.
    pub lost: f64,
    /// Data that was delivered with a CE mark.
    pub marked: f64,
    /// Number of timeouts.
    pub timeouts: f64,
    /// Mean round-trip time; without a sample, the value of the previous interval.
    pub rtt: f64,
    /// Minimum round-trip time in the episode so far.
    pub min_rtt: f64,
    /// Slope of the round-trip time, in seconds per second.
    pub rtt_gradient: f64,
    /// Data in flight at the end of the interval.
    pub inflight: f64,
    /// Window at the end of the interval.
    pub window: f64,
    /// Pacing rate in bytes per second; 0 if there is none.
    pub pacing_rate: f64,
    /// Maximum delivery rate of an interval in the episode so far, in bytes per second.
    pub peak: f64,
    /// Payload of a full segment.
    pub segment: f64,
}

impl Interval {
    /// Returns the delivered bytes per second.
    pub fn delivery_rate(&self) -> f64 {
        ratio(self.delivered, self.length)
    }

    /// Returns the sent bytes per second.
    pub fn send_rate(&self) -> f64 {
        ratio(self.sent, self.length)
    }

    /// Returns the loss rate: lost data divided by the sum of lost and delivered data.
    pub fn loss(&self) -> f64 {
        ratio(self.lost, self.lost + self.delivered)
    }
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

const MEGABITS: f64 = 8e-6;

/// A feature: a number that an agent can observe.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// Name of the feature.
    pub name: &'static str,
    /// Unit; empty for ratios.
    pub unit: &'static str,
    /// Meaning, for descriptions.
    pub meaning: &'static str,
    /// Minimum and maximum; values outside are limited to this range.
    pub range: (f64, f64),
    of: fn(&Interval) -> f64,
}

impl Feature {
    /// Returns the feature with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FEATURES.iter().find(|feature| feature.name == name)
    }

    /// Returns the value of the feature for an interval.
    pub fn of(&self, interval: &Interval) -> f64 {
        let (least, most) = self.range;
        (self.of)(interval).clamp(least, most)
    }
}

const fn feature(
    name: &'static str,
    unit: &'static str,
    range: (f64, f64),
    meaning: &'static str,
    value_of: fn(&Interval) -> f64,
) -> Feature {
    Feature { name, unit, meaning, range, of: value_of }
}

/// All features that an agent can observe.
// The first three ratios are the observation of Aurora (Jay et al., ICML 2019, section 4.1).
pub const FEATURES: &[Feature] = &[
    feature("rtt_gradient", "", (-10.0, 10.0), "change of the round-trip time, in seconds per second", |it| {
        it.rtt_gradient
    }),
    feature("rtt_ratio", "", (0.0, 100.0), "mean round-trip time divided by the minimum of the episode so far", |it| {
        ratio(it.rtt, it.min_rtt)
    }),
    feature("send_ratio", "", (0.0, 100.0), "ratio of data sent to data delivered", |it| {
        ratio(it.sent, it.delivered.max(it.segment))
    }),
    feature("delivery", "", (0.0, 1.0), "delivery rate divided by the maximum of the episode so far", |it| {
        ratio(it.delivery_rate(), it.peak)
    }),
    feature("loss", "", (0.0, 1.0), "fraction of the data that was lost", Interval::loss),
    feature("marks", "", (0.0, 1.0), "fraction of the delivered data that was marked with CE", |it| {
        ratio(it.marked, it.delivered)
    }),
    feature(
        "inflight_ratio",
        "",
        (0.0, 100.0),
        "data in flight divided by the product of maximum delivery rate and minimum round-trip time",
        |it| ratio(it.inflight, it.peak * it.min_rtt),
    ),
    feature("delivery_rate", "Mbit/s", (0.0, 1e7), "data delivered per second", |it| MEGABITS * it.delivery_rate()),
    feature("send_rate", "Mbit/s", (0.0, 1e7), "data sent per second", |it| MEGABITS * it.send_rate()),
    feature("pacing_rate", "Mbit/s", (0.0, 1e7), "the rate that the agent set; 0 if it sets windows", |it| {
        MEGABITS * it.pacing_rate
    }),
    feature("rtt", "s", (0.0, 1e5), "mean round-trip time", |it| it.rtt),
    feature("min_rtt", "s", (0.0, 1e5), "minimum round-trip time of the episode so far", |it| it.min_rtt),
    feature("inflight", "segments", (0.0, 1e9), "data in flight at the end of the interval", |it| {
        ratio(it.inflight, it.segment)
    }),
    feature("cwnd", "segments", (0.0, 1e9), "window at the end of the interval", |it| ratio(it.window, it.segment)),
    feature("timeouts", "", (0.0, 1e6), "timeouts of the retransmission timer", |it| it.timeouts),
    feature("time", "s", (0.0, 1e9), "simulated time at the end of the interval", |it| it.time),
    feature("interval", "s", (0.0, 1e9), "length of the interval", |it| it.length),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn interval() -> Interval {
        Interval {
            time: 2.0,
            length: 0.5,
            sent: 6000.0,
            delivered: 3000.0,
            lost: 1000.0,
            marked: 1500.0,
            rtt: 0.3,
            min_rtt: 0.1,
            rtt_gradient: 0.25,
            inflight: 2000.0,
            window: 8000.0,
            peak: 12_000.0,
            segment: 1000.0,
            ..Interval::default()
        }
    }

    fn value(name: &str, interval: &Interval) -> f64 {
        Feature::named(name).expect("it exists").of(interval)
    }

    #[test]
    fn features_match_their_definitions() {
        let one = interval();
        let expected = [
            ("rtt_gradient", 0.25),
            ("rtt_ratio", 3.0),
            ("send_ratio", 2.0),
            ("delivery", 0.5),
            ("loss", 0.25),
            ("marks", 0.5),
            ("inflight_ratio", 2000.0 / 1200.0),
            ("delivery_rate", 0.048),
            ("send_rate", 0.096),
            ("cwnd", 8.0),
        ];
        for (name, right) in expected {
            assert!((value(name, &one) - right).abs() < 1e-9, "{name}: {} is not {right}", value(name, &one));
        }
    }

    #[test]
    fn an_interval_without_anything_has_finite_features() {
        for feature in FEATURES {
            assert!(feature.of(&Interval::default()).is_finite(), "{}", feature.name);
        }
        let burst = Interval { sent: 1e9, segment: 1.0, ..Interval::default() };
        assert_eq!(value("send_ratio", &burst), 100.0);
    }
}
