//! The slow start that replaces Startup of picoquic's BBR on long paths (`bbr.c`, `bbr1.c`: startup_long_rtt).
//!
//! The window starts at the scaled initial window, or at a saved one (`saved`). It grows by the acknowledged bytes while
//! it limits the sender, and is at least half of the saved one, and of the peak bandwidth times the minimum round-trip
//! time. Packets are paced by the window. When the round-trip time rises, the path counts as full and BBR drains the
//! queue. Losses do not end this phase: BBRv3 calls its test of their volume with a notification that the test ignores.

use super::signals::{Peak, Rise};
use super::{LONG_RTT, Seed, long_window, packet_time};
use crate::config::Config;
use crate::details::Windows;
use lightlag_control::congestion::{
    self, Ack, Allowance, Cause, Choice, Congestion, CongestionControl, ConnectionStart, Departures, Internals, Lost,
    Sent, Transmissions, custom,
};
use lightlag_core::{Duration, Instant, Rate};

/// Maximum round-trip time with Startup in BBRv1 (BBR1_HYSTART_THRESHOLD_RTT).
const LONG_RTT_V1: Duration = Duration::from_millis(50);

/// The control of the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// BBR controls it; the path may turn out to be long.
    Model,
    /// Slow start on a long path.
    SlowStart,
    /// The start is over.
    Over,
}

/// BBR with picoquic's start on long paths.
pub(crate) struct LongStart {
    model: Box<dyn CongestionControl>,
    threshold: Duration,
    stage: Stage,
    initial: u64,
    segment: u64,
    window: u64,
    peak: Peak,
    rise: Rise,
    seed: Seed,
    /// The saved window in bytes; 0 without one.
    saved: u64,
}

impl LongStart {
    /// Returns BBR with this start, if the configuration is picoquic's and its algorithm BBR.
    pub(crate) fn of(config: &Config, start: &ConnectionStart) -> Option<Self> {
        if config.details.windows != Windows::Picoquic {
            return None;
        }
        let threshold = match &config.congestion {
            Choice::Bbr3(_) => LONG_RTT,
            Choice::Bbr(_) => LONG_RTT_V1,
            _ => return None,
        };
        let mut model = congestion::build(&config.congestion, start);
        model.startup()?.adapt_to_long_rtt(LONG_RTT);
        let initial = config.initial_window.bytes(start.segment_size);
        Some(Self {
            model,
            threshold,
            stage: Stage::Model,
            initial,
            segment: start.segment_size,
            window: initial,
            peak: Peak::default(),
            rise: Rise::default(),
            seed: Seed::of(config),
            saved: 0,
        })
    }

    fn is_slow_start(&self) -> bool {
        self.stage == Stage::SlowStart
    }

    /// Starts slow start if the path is long.
    fn check_path(&mut self, ack: &Ack) {
        let is_long = ack.min_rtt > self.threshold && ack.min_rtt < Duration::MAX;
        if self.stage != Stage::Model || !is_long {
            return;
        }
        self.stage = Stage::Over;
        if self.model.ssthresh() < u64::MAX {
            return;
        }
        if let Some(startup) = self.model.startup() {
            startup.hold_startup();
            self.window = self.model.window().max(long_window(self.initial, ack.min_rtt)).max(self.saved);
            self.stage = Stage::SlowStart;
        }
    }

    /// Ends slow start if the round-trip time has risen.
    fn check_delay(&mut self, ack: &Ack) {
        let packet_time = packet_time(self.window, self.segment, ack.srtt);
        let rises = |rtt| self.rise.rises(ack.now, rtt, packet_time);
        if ack.rtt.is_some_and(rises)
            && let Some(startup) = self.model.startup()
        {
            startup.end_startup(self.window);
            self.stage = Stage::Over;
        }
    }

    fn grow(&mut self, ack: &Ack) {
        let is_blocked = ack.prior_inflight + self.segment > self.window && ack.next_departure <= ack.now;
        if ack.cwnd_limited && is_blocked {
            self.window += ack.newly_acked;
        }
        self.window = self.window.max(self.peak.half_product(ack.min_rtt)).max(self.saved / 2);
    }
}

impl Allowance for LongStart {
    fn window(&self) -> u64 {
        if self.is_slow_start() { self.window } else { self.model.window() }
    }

    fn ssthresh(&self) -> u64 {
        if self.is_slow_start() { u64::MAX } else { self.model.ssthresh() }
    }
}

impl CongestionControl for LongStart {
    fn on_ack(&mut self, ack: &Ack) {
        if self.stage == Stage::Over {
            return self.model.on_ack(ack);
        }
        if let Some(rtt) = ack.rtt {
            let sent = Instant::from_nanos(ack.now.as_nanos().saturating_sub(rtt.as_nanos()));
            self.peak.acknowledged(ack.now, sent, ack.newly_acked);
            self.saved = self.seed.at_sample(rtt).unwrap_or(self.saved);
        }
        self.check_path(ack);
        if self.is_slow_start() {
            self.check_delay(ack);
        }
        self.model.on_ack(ack);
        if self.is_slow_start() {
            self.grow(ack);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        if self.is_slow_start()
            && event.cause == Cause::Timeout
            && let Some(startup) = self.model.startup()
        {
            startup.release_startup();
            self.stage = Stage::Over;
        }
        self.model.on_congestion(event);
    }

    fn on_undo(&mut self, now: Instant) {
        self.model.on_undo(now);
    }

    fn on_idle(&mut self, now: Instant, window: u64, threshold: u64) {
        self.model.on_idle(now, window, threshold);
    }

    fn on_recovered(&mut self, now: Instant) {
        self.model.on_recovered(now);
    }

    fn internals(&self) -> Internals {
        self.model.internals()
    }

    fn departures(&self) -> Option<&dyn Departures> {
        Some(self)
    }

    fn transmissions(&mut self) -> Option<&mut dyn Transmissions> {
        Some(self)
    }

    fn fault(&self) -> Option<&custom::Fault> {
        self.model.fault()
    }
}

impl Departures for LongStart {
    /// Returns BBR's rate. Slow start has none, so that the connection paces by the window.
    fn pacing_rate(&self) -> Option<Rate> {
        if self.is_slow_start() { None } else { self.model.departures()?.pacing_rate() }
    }
}

impl Transmissions for LongStart {
    fn on_sent(&mut self, sent: &Sent) {
        if let Some(model) = self.model.transmissions() {
            model.on_sent(sent);
        }
    }

    fn on_lost(&mut self, lost: &Lost) {
        if let Some(model) = self.model.transmissions() {
            model.on_lost(lost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use lightlag_control::congestion::careful_resume::{ResumeRule, Saved};
    use lightlag_control::congestion::{PathState, Phase};
    use lightlag_core::Bytes;

    fn bbr(name: &str) -> (Config, ConnectionStart) {
        let config = Config { congestion: Choice::named(name), ..Profile::Picoquic.config() };
        let start = ConnectionStart {
            segment_size: 1_440,
            initial_window: 11,
            rtt: None,
            pipe: None,
            ssthresh: None,
            max_window: None,
            whole: false,
            timestamps: false,
            abe: false,
            ecn: false,
            tso: false,
            paces: true,
            seed: 0,
        };
        (config, start)
    }

    /// Returns an acknowledgement of bytes that were sent `rtt` before, while `prior_inflight` bytes were in flight.
    fn ack(us: u64, rtt_ms: u64, bytes: u64, prior_inflight: u64) -> Ack {
        let (now, rtt) = (Instant::from_nanos(us * 1_000), Duration::from_millis(rtt_ms));
        Ack {
            now,
            newly_acked: bytes,
            newly_delivered: bytes,
            newly_lost: 0,
            newly_marked: 0,
            duplicate: false,
            ece: false,
            one_way: None,
            growth: bytes as f64 / 1_440.0,
            rtt: Some(rtt),
            srtt: rtt,
            min_rtt: rtt.min(Duration::from_millis(600)),
            inflight: prior_inflight - bytes,
            prior_inflight,
            snd_una: 0,
            snd_nxt: 0,
            phase: Phase::Open,
            cwnd_limited: true,
            next_departure: Instant::ZERO,
            rate: None,
        }
    }

    #[test]
    fn long_paths_have_a_slow_start_that_ends_when_the_delay_rises() {
        for (name, threshold_ms) in [("bbr3", 250), ("bbr", 50)] {
            let (config, start) = bbr(name);
            let mut short = LongStart::of(&config, &start).expect("BBR");
            short.on_ack(&ack(600_000, threshold_ms, 1_440, 1_440));
            assert_eq!((short.stage, short.window()), (Stage::Model, short.model.window()), "{name}");

            let mut long = LongStart::of(&config, &start).expect("BBR");
            long.on_ack(&ack(600_000, 600, 1_440, 1_440));
            assert_eq!((long.window(), long.ssthresh(), long.pacing_rate()), (92_160, u64::MAX, None));
            // The window is full: it grows by the bytes. Then it is not.
            long.on_ack(&ack(1_200_000, 600, 14_400, 92_160));
            assert_eq!(long.window(), 106_560);
            long.on_ack(&ack(1_200_500, 600, 14_400, 92_160));
            assert_eq!(long.window(), 106_560);
            // 62,500 B in 2 ms, and half of 31.25 MB/s · 0.6 s.
            long.on_ack(&ack(1_202_000, 600, 48_100, 92_160));
            assert_eq!(long.window(), 9_375_000);
            for index in 1..=20 {
                long.on_ack(&ack(1_202_000 + 2_000 * index, if index < 8 { 600 } else { 800 }, 1_440, 92_160));
            }
            assert_eq!(long.stage, Stage::Over, "{name}");
            assert!(long.pacing_rate().is_some() && long.ssthresh() < u64::MAX);
            assert_ne!(long.internals().state, Some(PathState::Startup));
        }
    }

    #[test]
    fn a_saved_window_is_the_start_and_its_half_the_minimum() {
        let (mut config, start) = bbr("bbr3");
        let saved_rtt = Duration::from_millis(600);
        let (saved_cwnd, rule) = (Bytes(18_750_000), ResumeRule::Picoquic);
        config.careful_resume = Some(Saved { saved_cwnd, saved_rtt, max_jump: None, rule });
        let mut long = LongStart::of(&config, &start).expect("BBR");
        long.on_ack(&ack(600_000, 600, 1_440, 1_440));
        assert_eq!((long.stage, long.window(), long.pacing_rate()), (Stage::SlowStart, 18_750_000, None));
        long.window = 1_440;
        long.on_ack(&ack(1_200_000, 600, 1_440, 1_440));
        assert_eq!(long.window(), 9_375_000);
        // Another path.
        let mut other = LongStart::of(&config, &start).expect("BBR");
        other.on_ack(&ack(600_000, 900, 1_440, 1_440));
        other.on_ack(&ack(1_200_000, 600, 1_440, 1_440));
        assert!(other.window() < 200_000);
    }

    #[test]
    fn other_algorithms_and_profiles_have_none() {
        let (config, start) = bbr("cubic");
        assert!(LongStart::of(&config, &start).is_none());
        let (config, start) = bbr("bbr3");
        let quinn = Config { details: Profile::Quinn.config().details, ..config };
        assert!(LongStart::of(&quinn, &start).is_none());
    }
}
