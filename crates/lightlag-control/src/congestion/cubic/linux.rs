//! CUBIC as the Linux kernel computes it, in whole segments: the current code and the first version.
//!
//! tcp_cubic.c of Linux 6 (`linux`), and of 2.6.16 and the releases after it (`linux-2.6`), which the TCP-Linux patch
//! of ns-2 contains. Windows are whole segments, K and t integer multiples of 1/1024 s; ⌊ ⌋ rounds down. C = 410/1024:
//!
//! - slow start while W < ssthresh; in `linux-2.6` while W ≤ ssthresh, and the first ssthresh is 100;
//! - an epoch starts with the first ACK of avoidance: K = ⌊∛((Wmax − W)/C)⌋ if W < Wmax, else K = 0 and Wmax = W;
//! - t = now + dMin − start, with dMin the smallest RTT since the last timeout; samples in the first second of an epoch
//!   do not count;
//! - target = Wmax ∓ ⌊C·|t − K|³⌋; cnt = ⌊W/(target − W)⌋, or 100·W if the target is not above;
//! - the target is computed again when W changes, or 1/32 s later. `linux` counts ticks of 4 ms here and in t, and
//!   computes a target once per tick: several segments of one tick may follow the same cnt;
//! - no loss since the start or a timeout: `linux` cnt ≤ 20, `linux-2.6` cnt = 50;
//! - `linux-2.6`: cnt ≥ ⌊W/(16·dMin/100 ms)⌋, so that W grows by at most 16 segments in 100 ms (in later releases of
//!   2.6 only for t ≥ K). Its dMin comes from timestamps; without them there is no dMin and no such bound;
//! - Reno's window grows by one for every ⌊W·⌊8(1 + β)/(3(1 − β))⌋/8⌋ segments; if this window, Wreno, is above W, cnt
//!   ≤ ⌊W/(Wreno − W)⌋;
//! - `linux`: cnt ≥ 2, so W grows by at most half in a round; W += 1 for every cnt counted segments;
//! - `linux-2.6`: cnt is divided by the mean number of segments per ACK, and counts ACKs: W += 1 every cnt + 1 ACKs.
//!   The mean starts at 2 and is stored in sixteenths, so with one ACK per segment it stays at 31/16. ACKs during the
//!   repair of losses do not change it;
//! - loss, mark: Wmax = W, or ⌊W(1 + β)/2⌋ if W is below the last Wmax; ssthresh = max(⌊β·W⌋, 2), of the window, not of
//!   FlightSize. β = 717/1024, in `linux-2.6` 819/1024;
//! - timeout: the same ssthresh; Wmax, dMin and the epoch are forgotten. Undo restores the window, not Wmax;
//! - an idle time does not count for t;
//! - HyStart also examines ACKs that cause no growth because the window was not used.
//!
//! Not modelled: the jiffies of `linux-2.6` (time has its full resolution here), and the lookup table for ∛ (the root
//! is exact here).

use super::super::window::window_based;
use super::{ABE_KEPT, Config, CubicConstants, CubicVariant};
use crate::congestion::{
    Ack, Cause, Congestion, CongestionControl, ConnectionStart, GrowthEpoch, Phase, SlowStart, Window,
};
use lightlag_core::{Duration, Instant};

/// The rules of both variants, as a part of the description of CUBIC.
pub(super) const ABOUT: &str = r#"
    tcp_cubic.c of Linux 6, compared with 2.6.16 and later (`linux-2.6`), which ns-2's TCP-Linux contains. Whole segments;
    K and t in 1/1024 s.

    | | `linux` | `linux-2.6` |
    |---|---|---|
    | β, C | 717/1024, 410/1024 | 819/1024, 410/1024 |
    | target | Wmax ∓ ⌊C·abs(t − K)³⌋, t = now + dMin − start; recomputed when W changes or after 1/32 s | the same |
    | cnt | ⌊W/(target − W)⌋, at least 2; 100 W if the target is not above W | the same, at least ⌊W/(16 dMin/100 ms)⌋ |
    | before a loss or after a timeout | cnt ≤ 20 | cnt = 50 |
    | Reno's window | one more for each ⌊15 W/8⌋ segments; if above W, cnt ≤ ⌊W/(that window − W)⌋ | one more for each ⌊23 W/8⌋ |
    | increment | one segment for cnt counted ones | one segment for cnt/d + 1 ACKs, d the mean number of segments per ACK outside of repairs |
    | loss | ssthresh = ⌊β W⌋ | the same |
    | first ssthresh | none (`initial_ssthresh`) | 100; none in the profile `ns2-linux` |
    | slow start | HyStart; W < ssthresh | standard; W ≤ ssthresh |

    dMin is the minimum RTT since the last timeout, except for samples in the first second of an epoch; in `linux-2.6`
    only timestamps give samples. In `linux` the target is computed once per tick of 4 ms, as in the kernel. A timeout
    starts a HyStart round that lasts until all data outstanding then is acknowledged, and RTTmin is measured again
    (`cubictcp_state`).
"#;

/// Units of t and K per second.
const TICKS: f64 = 1024.0;
/// Time for which a target stays valid while the window is unchanged.
const HOLD: Duration = Duration::from_nanos(1_000_000_000 / 32);
/// `linux`: clock ticks per second.
const HZ: u64 = 250;
/// Nanoseconds per tick.
const TICK: u64 = 1_000_000_000 / HZ;
/// Time at the start of an epoch in which samples do not count for dMin.
const SETTLING: Duration = Duration::from_secs(1);
/// `linux-2.6`: the maximum number of segments by which the window grows in 100 ms.
const MOST_IN_100_MS: f64 = 16.0;

/// The default constants of the two variants; connections that use them share this copy.
static DEFAULTS: [CubicConstants; 2] =
    [CubicConstants::of(&Config::of(CubicVariant::Linux)), CubicConstants::of(&Config::of(CubicVariant::Linux26))];

/// State of the kernel's CUBIC.
pub struct CubicLinux {
    /// Constants of the connection, if they are not the defaults of the variant.
    rules: Option<Box<CubicConstants>>,
    window: Window,
    slow_start: SlowStart,
    /// Wmax; zero before a loss and after a timeout.
    last_max: u64,
    /// dMin; [`Duration::MAX`] if unknown.
    delay_min: Duration,
    /// Segments counted since the last increment.
    credit: f64,
    cnt: u64,
    /// The window and the time of the last computation of the target.
    taken: (u64, Instant),
    /// The curve of the last epoch.
    curve: LinuxCurve,
    last_ack: Instant,
    /// Mean number of segments per ACK, over about 16 ACKs, in sixteenths.
    delayed_ack: u32,
    /// Whether this is `linux-2.6`.
    is_first: bool,
    in_epoch: bool,
    /// Whether a mark reduces the window less than a loss (ABE, RFC 8511).
    abe: bool,
    /// Whether round-trip samples count for dMin.
    samples: bool,
}

#[derive(Clone, Copy, Default)]
struct LinuxCurve {
    start: Instant,
    /// K, in units of 1/1024 s.
    k: u64,
    origin: u64,
    /// Window that Reno would have, and the segments counted towards its next increment.
    reno: u64,
    counted: f64,
}

impl CubicLinux {
    /// Creates the variant in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        let mut window = Window::new(start);
        if config.initial_ssthresh > 0.0 {
            window.limit_slow_start(config.initial_ssthresh);
        }
        let is_first = config.variant == CubicVariant::Linux26;
        let rules = CubicConstants::of(config);
        Self {
            rules: (rules != DEFAULTS[usize::from(is_first)]).then(|| Box::new(rules)),
            window,
            slow_start: SlowStart::new(&config.hystart, start),
            last_max: 0,
            delay_min: Duration::MAX,
            credit: 0.0,
            cnt: 0,
            taken: (0, Instant::ZERO),
            curve: LinuxCurve::default(),
            last_ack: Instant::ZERO,
            delayed_ack: 2 * 16,
            is_first,
            in_epoch: false,
            abe: start.abe,
            samples: start.timestamps || !is_first,
        }
    }

    #[inline]
    fn rules(&self) -> &CubicConstants {
        self.rules.as_deref().unwrap_or(&DEFAULTS[usize::from(self.is_first)])
    }

    /// Returns the curve of the epoch, if there is one.
    #[inline]
    fn curve(&self) -> Option<&LinuxCurve> {
        self.in_epoch.then_some(&self.curve)
    }

    /// Returns the window in whole segments.
    fn whole(&self) -> u64 {
        self.window.segments() as u64
    }

    fn sample(&mut self, ack: &Ack) {
        if self.is_first && ack.newly_acked > 0 && ack.phase == Phase::Open {
            let segments = self.window.in_segments(ack.newly_acked) as u32;
            self.delayed_ack = (self.delayed_ack - (self.delayed_ack >> 4)).saturating_add(segments);
        }
        let settling = self.curve().is_some_and(|curve| ack.now.since(curve.start) < SETTLING);
        if let Some(rtt) = ack.rtt.filter(|_| self.samples && !settling) {
            self.delay_min = self.delay_min.min(rtt);
        }
    }

    fn begin_epoch(&mut self, now: Instant) -> LinuxCurve {
        let window = self.whole();
        self.taken = (0, now);
        let (k, origin) = if self.last_max > window {
            let distance = (self.last_max - window) as f64;
            ((TICKS * libm::cbrt(distance / self.rules().c)) as u64, self.last_max)
        } else {
            (0, window)
        };
        LinuxCurve { start: now, k, origin, reno: window, counted: 0.0 }
    }

    fn avoid_congestion(&mut self, now: Instant, counted: f64) {
        let begins = !self.in_epoch;
        let mut curve = if begins { self.begin_epoch(now) } else { self.curve };
        self.in_epoch = true;
        curve.counted += counted;
        let window = self.whole();
        if self.taken.0 != window || self.is_held_longer(now) {
            let wanted = if !begins && self.is_in_tick_of(now) {
                self.cnt
            } else {
                self.taken = (window, now);
                self.count(&curve, now, window)
            };
            self.cnt = self.bounded(&mut curve, window, wanted);
        }
        self.curve = curve;
        if self.is_first { self.add_by_acks(counted) } else { self.add_by_segments(counted) }
    }

    /// Returns true if the target is older than its lifetime.
    fn is_held_longer(&self, now: Instant) -> bool {
        let taken = self.taken.1;
        if self.is_first { now.since(taken) > HOLD } else { tick(now) - tick(taken) > HZ / 32 }
    }

    /// Returns true if time counts in ticks and the target was computed in the current one.
    fn is_in_tick_of(&self, now: Instant) -> bool {
        !self.is_first && tick(now) == tick(self.taken.1)
    }

    /// Returns t, the time on the curve, in units of 1/1024 s.
    fn elapsed(&self, curve: &LinuxCurve, now: Instant) -> u64 {
        let ahead = if self.delay_min == Duration::MAX { Duration::ZERO } else { self.delay_min };
        if self.is_first {
            (TICKS * (now.since(curve.start) + ahead).as_secs_f64()) as u64
        } else {
            (tick(now).saturating_sub(tick(curve.start)) + ahead.as_nanos().div_ceil(TICK)) * 1024 / HZ
        }
    }

    /// Returns cnt by the curve alone: the number of segments to count for an increment.
    fn count(&self, curve: &LinuxCurve, now: Instant, window: u64) -> u64 {
        let t = self.elapsed(curve, now);
        let distance = t.abs_diff(curve.k) as f64 / TICKS;
        let delta = (self.rules().c * distance * distance * distance) as u64;
        let target = if t < curve.k { curve.origin.saturating_sub(delta) } else { curve.origin.saturating_add(delta) };
        let wanted = if target > window { window / (target - window) } else { 100 * window };
        if !self.is_first || self.delay_min == Duration::MAX {
            return wanted;
        }
        let in_a_round = MOST_IN_100_MS * self.delay_min.as_secs_f64() / 0.1;
        wanted.max((window as f64 / in_a_round) as u64)
    }

    /// Applies the kernel's other bounds to cnt.
    fn bounded(&self, curve: &mut LinuxCurve, window: u64, mut cnt: u64) -> u64 {
        if self.last_max == 0 {
            cnt = if self.is_first { 50 } else { cnt.min(20) };
        }
        let rules = self.rules();
        if rules.reno_friendly {
            let beta = rules.beta;
            let scale = (8.0 * (1.0 + beta) / 3.0 / (1.0 - beta)) as u64;
            let each = (window * scale / 8).max(1) as f64;
            while curve.counted > each {
                curve.counted -= each;
                curve.reno += 1;
            }
            if curve.reno > window {
                cnt = cnt.min(window / (curve.reno - window));
            }
        }
        if self.is_first { (cnt * 16 / u64::from(self.delayed_ack)).max(1) } else { cnt.max(2) }
    }

    fn add_by_segments(&mut self, counted: f64) {
        let cnt = self.cnt as f64;
        if self.credit >= cnt {
            // Segments counted for a larger cnt give one segment.
            self.credit = 0.0;
            self.window.grow(1.0);
        }
        self.credit += counted;
        let whole = if self.credit >= cnt { libm::floor(self.credit / cnt) } else { 0.0 };
        self.credit -= whole * cnt;
        self.window.grow(whole);
    }

    fn add_by_acks(&mut self, acks: f64) {
        if self.credit >= self.cnt as f64 {
            self.credit = 0.0;
            self.window.grow(1.0);
        } else {
            self.credit += acks;
        }
    }
}

/// Returns the number of the kernel's tick that contains `time`.
fn tick(time: Instant) -> u64 {
    time.as_nanos() / TICK
}

window_based!(CubicLinux);

impl CongestionControl for CubicLinux {
    fn on_ack(&mut self, ack: &Ack) {
        self.sample(ack);
        self.last_ack = ack.now;
        if !ack.may_grow() {
            self.slow_start.observe(ack, &mut self.window);
            return;
        }
        let starting = self.is_first && self.window.segments() <= self.window.threshold();
        let left = self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
        if starting {
            self.window.grow(left);
        } else if left > 0.0 {
            self.avoid_congestion(ack.now, if self.is_first { 1.0 } else { left });
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let window = self.whole();
        let &CubicConstants { beta, fast_convergence, .. } = self.rules();
        self.in_epoch = false;
        self.credit = 0.0;
        self.last_max = match event.cause {
            Cause::Loss | Cause::Mark if fast_convergence && window < self.last_max => {
                (window as f64 * (1.0 + beta) / 2.0) as u64
            }
            Cause::Loss | Cause::Mark => window,
            Cause::Timeout | Cause::RepeatedTimeout => {
                self.delay_min = Duration::MAX;
                self.delayed_ack = 2 * 16;
                self.slow_start.time_out(event.now);
                0
            }
        };
        let kept = if event.cause == Cause::Mark && self.abe { beta.max(ABE_KEPT) } else { beta };
        self.window.react(event, libm::floor(kept * window as f64));
    }

    fn on_idle(&mut self, now: Instant, window: u64, threshold: u64) {
        self.curve.start = (self.curve.start + now.since(self.last_ack)).min(now);
        self.window.restart(window, threshold);
    }

    fn least_in_recovery(&self) -> u64 {
        self.window.threshold_bytes()
    }

    fn epoch(&self) -> Option<GrowthEpoch> {
        let curve = self.curve()?;
        let k = Duration::from_secs_f64(curve.k as f64 / TICKS);
        Some(GrowthEpoch { start: curve.start, w_max: curve.origin as f64, k })
    }
}

#[cfg(test)]
mod tests;
