//! A Startup that the caller replaces, and the intervals of picoquic on long paths (picoquic d199d45, `bbr.c`).

use super::states::State;
use super::{Ack, Bbr3, Startup};
use lightlag_core::Duration;

/// Lifetime of the minimum round-trip time of a long path, in round-trip times.
const LIFETIME_RTTS: u64 = 100;
/// Part of the minimum round-trip time by which a sample may exceed it and still confirms it. picoquic computes
/// 5 · 100 · RTT / 10⁶, although the name is BBRMinRttMarginPercent.
const MARGIN: f64 = 0.0005;
/// Packets whose transmission time is added to the margin.
const MARGIN_PACKETS: f64 = 2.0;
/// Wait between two probes for bandwidth on a long path: this many round-trip times, and up to this many more.
const WAIT_RTTS: f64 = 8.0;
const MORE_RTTS: f64 = 4.0;

impl Bbr3 {
    /// Returns true if the intervals follow the round-trip time.
    fn is_long(&self) -> bool {
        self.min_rtt > self.long_rtt && self.min_rtt < Duration::MAX
    }

    /// Returns the lifetime of a round-trip time before ProbeRTT measures it again.
    pub(super) fn rtt_lifetime(&self) -> Duration {
        if self.is_long() { self.min_rtt * LIFETIME_RTTS } else { self.config.probe_rtt_interval }
    }

    /// Returns the wait until the next probe for bandwidth, for a number in [0, 1).
    pub(super) fn probe_wait(&self, random: f64) -> Duration {
        if self.is_long() {
            Duration::from_secs_f64(self.min_rtt.as_secs_f64() * (WAIT_RTTS + MORE_RTTS * random))
        } else {
            Duration::from_secs_f64(2.0 + random)
        }
    }

    /// Notes a sample that confirms the minimum round-trip time, with the rules for long paths.
    pub(super) fn confirm_min_rtt(&mut self, ack: &Ack, rtt: Duration) {
        if self.long_rtt == Duration::MAX || self.min_rtt == Duration::MAX {
            return;
        }
        let packets = MARGIN_PACKETS * self.segment / self.max_bw.max().max(1.0);
        let margin = Duration::from_secs_f64(MARGIN * self.min_rtt.as_secs_f64() + packets);
        if rtt < self.min_rtt + margin {
            (self.probe_rtt_min_at, self.min_rtt_at) = (ack.now, ack.now);
        }
    }
}

impl Startup for Bbr3 {
    fn hold_startup(&mut self) {
        self.is_held = true;
    }

    fn release_startup(&mut self) {
        self.is_held = false;
    }

    fn end_startup(&mut self, window: u64) {
        self.is_held = false;
        (self.full_bw_now, self.full_bw_reached) = (true, true);
        self.window = window as f64;
        self.state = State::Drain;
        self.drain_start_round = self.rounds.count;
    }

    fn adapt_to_long_rtt(&mut self, threshold: Duration) {
        self.long_rtt = threshold;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, State};
    use super::*;
    use crate::congestion::tests::link::{Conditions, Link};
    use crate::congestion::tests::{SEGMENT, start};
    use crate::congestion::{ConnectionStart, Startup};

    fn flow(rtt: Duration, prepare: fn(&mut Bbr3)) -> Link<Bbr3> {
        let path = Conditions::new(1e6, rtt);
        let mut bbr = Bbr3::new(&Config::default(), &ConnectionStart { rtt: Some(rtt), ..start(10) });
        prepare(&mut bbr);
        Link::new(bbr, path)
    }

    #[test]
    fn a_held_startup_ends_when_the_caller_says_so() {
        let mut link = flow(Duration::from_millis(100), |bbr| bbr.hold_startup());
        link.run_until(4.0, |link| assert_eq!(link.algorithm.state, State::Startup));
        link.algorithm.end_startup(200 * SEGMENT);
        assert_eq!((link.algorithm.state, link.algorithm.window), (State::Drain, 200.0 * SEGMENT as f64));
        link.run_until(8.0, |_| {});
        assert!(link.algorithm.is_in_probe_bw() && link.algorithm.full_bw_reached);
        // Released, it ends as usual.
        let mut link = flow(Duration::from_millis(100), |bbr| bbr.hold_startup());
        link.algorithm.release_startup();
        link.run_until(4.0, |_| {});
        assert_ne!(link.algorithm.state, State::Startup);
    }

    #[test]
    fn intervals_grow_with_a_long_round_trip_time() {
        for (ms, is_long) in [(250, false), (600, true)] {
            let mut link = flow(Duration::from_millis(ms), |bbr| bbr.adapt_to_long_rtt(Duration::from_millis(250)));
            link.run_until(1.0, |_| {});
            let bbr = &link.algorithm;
            // 100 · 0.6 s; 8 · 0.6 s to 12 · 0.6 s.
            let lifetime = if is_long { Duration::from_secs(60) } else { Duration::from_secs(5) };
            let waits = if is_long { [4.8, 7.2] } else { [2.0, 3.0] };
            assert!(bbr.rtt_lifetime().as_secs_f64() / lifetime.as_secs_f64() < 1.02);
            for (random, wait) in [0.0, 1.0].into_iter().zip(waits) {
                let found = bbr.probe_wait(random).as_secs_f64();
                assert!((found / wait - 1.0).abs() < 0.02, "{ms} ms: {found}");
            }
        }
    }

    #[test]
    fn samples_near_the_minimum_keep_it() {
        // Version 3 enters ProbeRTT every 5 s; a path without a queue of its own gives samples at the minimum.
        let probes = |prepare: fn(&mut Bbr3)| {
            let mut link = flow(Duration::from_millis(600), prepare);
            let mut has_probed = false;
            link.run_until(40.0, |link| has_probed |= link.algorithm.state == State::ProbeRtt);
            has_probed
        };
        assert!(probes(|_| {}));
        assert!(!probes(|bbr| bbr.adapt_to_long_rtt(Duration::from_millis(250))));
    }
}
