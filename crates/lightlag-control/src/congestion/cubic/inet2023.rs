//! CUBIC as it is computed by a program that was published for INET, in whole segments.
//!
//! The code that accompanies "TCP Cubic Implementation in the OMNeT++ INET Framework for SIoT Simulation Scenarios"
//! (2023) follows the pseudo-code of the paper of 2008, with integers in bytes and in segments. The figures of the
//! study show the effects of the integers, so this variant keeps them; m is the segment size:
//!
//! - slow start while cwnd <= ssthresh: cwnd += m for each ACK, however much it acknowledges;
//! - an epoch starts with the first ACK of avoidance: K = ∛((Wmax − cwnd)/m/C) if cwnd < Wmax, else K = 0 and Wmax =
//!   cwnd. That cwnd is ssthresh + m, so K is slightly less than the paper's ∛(0.2·Wmax/C);
//! - t = now + dMin − start, with dMin the smallest RTT since the last timeout;
//! - delta = ⌊C·|t − K|³⌋ and target = ⌊Wmax/m⌋ ∓ delta in segments: around K, for ±1.36 s, the target is Wmax;
//! - cnt = ⌊⌊cwnd/m⌋ / (target − ⌊cwnd/m⌋)⌋, or 100·⌊cwnd/m⌋ if the target is not above;
//! - an increment follows when the counter exceeds cnt: cwnd += m every cnt + 2 ACKs;
//! - loss: Wmax = cwnd (0.9·cwnd if cwnd is below the last Wmax), ssthresh = max(⌊0.8·cwnd⌋, 2 m), of the window, not
//!   of FlightSize;
//! - timeout, repeated or not: the same ssthresh; Wmax and dMin are forgotten.
//!
//! The Reno-friendly part of the program adds less than a byte at a time to an integer, so it never has an effect; it
//! is left out.
//!
//! The authors name HyStart as future work. `slow_start = "hystart"` adds it: when [`HyStart`] detects a full path, the
//! threshold becomes cwnd, and the next ACK starts avoidance. HyStart needs a round-trip time with every ACK
//! (`rtt_samples = "send_time"`), which the profile of INET does not provide.

use super::Config;
use crate::congestion::hystart::{HyStart, Policy};
use crate::congestion::{Ack, Allowance, Cause, Congestion, CongestionControl, ConnectionStart, GrowthEpoch};
use lightlag_core::{Duration, Instant};

/// The rules of this variant, as a part of the description of CUBIC.
pub(super) const ABOUT: &str = r#"
    The program published with "TCP Cubic Implementation in the OMNeT++ INET Framework for SIoT Simulation Scenarios" (2023),
    with its integers; β = 0.8, C = 0.4.

    - Slow start applies while cwnd ≤ ssthresh, with one segment per ACK, so that avoidance starts at ssthresh + 1 and K =
      ∛((0.2 Wmax − 1)/C).
    - ⌊C |t − K|³⌋ has whole segments: within 1.36 s of K the target is Wmax, a plateau.
    - The window grows by one segment every cnt + 2 ACKs, with cnt = ⌊W/(target − W)⌋ in whole segments.
    - ssthresh = 0.8 cwnd, of the window; a timeout then discards Wmax and the minimum RTT.
    - The Reno-friendly part of the program adds less than a byte at a time to an integer and so has no effect. It is left
      out.
    - `slow_start = "hystart"` is an addition that the study names as future work: when HyStart detects a full path,
      ssthresh becomes cwnd. It needs a round-trip time with every ACK (`rtt_samples = "send_time"`); the profile `inet`
      takes one per round.
"#;

/// State of the variant `inet2023`. Sizes are in bytes.
pub struct CubicInet {
    beta: f64,
    c: f64,
    fast_convergence: bool,
    segment_size: u64,
    cwnd: u64,
    ssthresh: u64,
    hystart: Option<HyStart>,
    /// Wmax in bytes; zero before a loss and after a timeout.
    last_max: u64,
    min_rtt: Option<Duration>,
    waited: u64,
    curve: Option<InetCurve>,
    /// Window and threshold before the last reaction, for an undo.
    before: (u64, u64),
}

#[derive(Clone, Copy)]
struct InetCurve {
    start: Instant,
    k: f64,
    origin: u64,
}

impl CubicInet {
    /// Creates the variant in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        Self {
            beta: config.beta,
            c: config.c,
            fast_convergence: config.fast_convergence,
            segment_size: start.segment_size,
            cwnd: start.initial_window * start.segment_size,
            ssthresh: u64::MAX,
            hystart: (config.hystart.policy == Policy::HyStart).then(|| HyStart::new(&config.hystart, start.paces)),
            last_max: 0,
            min_rtt: None,
            waited: 0,
            curve: None,
            before: (0, 0),
        }
    }

    fn begin_epoch(&self, now: Instant) -> InetCurve {
        if self.cwnd >= self.last_max {
            return InetCurve { start: now, k: 0.0, origin: self.cwnd };
        }
        let distance = (self.last_max - self.cwnd) as f64 / self.segment_size as f64;
        InetCurve { start: now, k: libm::cbrt(distance / self.c), origin: self.last_max }
    }

    /// Returns cnt, which determines the number of ACKs per increment.
    fn count(&self, curve: &InetCurve, now: Instant) -> u64 {
        let t = (now.since(curve.start) + self.min_rtt.unwrap_or_default()).as_secs_f64();
        let distance = (t - curve.k).abs();
        let delta = (self.c * distance * distance * distance) as u64;
        let origin = curve.origin / self.segment_size;
        let target = if t < curve.k { origin.saturating_sub(delta) } else { origin + delta };
        let window = self.cwnd / self.segment_size;
        if target > window { window / (target - window) } else { 100 * window }
    }
}

impl Allowance for CubicInet {
    fn window(&self) -> u64 {
        self.cwnd.max(self.segment_size)
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }
}

impl CongestionControl for CubicInet {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        if !ack.may_grow() {
            return;
        }
        if self.cwnd <= self.ssthresh {
            let segments = self.cwnd as f64 / self.segment_size as f64;
            if self.hystart.as_mut().is_some_and(|hystart| hystart.ends_slow_start(ack, segments)) {
                self.ssthresh = self.cwnd;
            }
            self.cwnd += self.segment_size;
            return;
        }
        let curve = self.curve.unwrap_or_else(|| self.begin_epoch(ack.now));
        self.curve = Some(curve);
        if self.waited > self.count(&curve, ack.now) {
            self.cwnd += self.segment_size;
            self.waited = 0;
        } else {
            self.waited += 1;
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let window = self.cwnd as f64;
        self.before = (self.cwnd, self.ssthresh);
        self.last_max = if self.fast_convergence && self.cwnd < self.last_max {
            (window * (1.0 + self.beta) / 2.0) as u64
        } else {
            self.cwnd
        };
        self.ssthresh = ((window * self.beta) as u64).max(2 * self.segment_size);
        self.cwnd = self.ssthresh;
        self.curve = None;
        if matches!(event.cause, Cause::Timeout | Cause::RepeatedTimeout) {
            self.cwnd = self.segment_size;
            self.last_max = 0;
            self.min_rtt = None;
        }
    }

    fn on_undo(&mut self, _now: Instant) {
        (self.cwnd, self.ssthresh) = (self.cwnd.max(self.before.0), self.ssthresh.max(self.before.1));
    }

    fn on_idle(&mut self, _now: Instant, window: u64, threshold: u64) {
        self.curve = None;
        (self.cwnd, self.ssthresh) = (self.cwnd.min(window), self.ssthresh.max(threshold));
    }

    fn epoch(&self) -> Option<GrowthEpoch> {
        let curve = self.curve?;
        let w_max = curve.origin as f64 / self.segment_size as f64;
        Some(GrowthEpoch { start: curve.start, w_max, k: Duration::from_secs_f64(curve.k) })
    }
}

#[cfg(test)]
mod tests;
