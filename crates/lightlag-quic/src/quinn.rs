//! The windows of quinn-proto 0.11.19: NewReno, and CUBIC of RFC 8312 with complete datagrams. Both count each
//! acknowledged packet, before the round-trip sample of its acknowledgement.

use crate::pacing::seconds;
use crate::packet_window::PacketWindow;
use lightlag_control::congestion::{Ack, Allowance, Congestion, CongestionControl};
use lightlag_core::{Duration, Instant};

/// Reduction by CUBIC.
const BETA: f64 = 0.7;
/// Growth of CUBIC in datagrams per s³.
const C: f64 = 0.4;

/// State of CUBIC.
#[derive(Clone, Copy, Debug, Default)]
struct Cubic {
    k: f64,
    w_max: f64,
    /// Growth that has not reached a datagram.
    increment: u64,
}

/// A congestion window of quinn.
#[derive(Debug)]
pub(crate) struct QuinnWindow {
    /// `None` for NewReno.
    cubic: Option<Cubic>,
    window: u64,
    ssthresh: u64,
    datagram: u64,
    /// Packets sent up to this time do not count.
    recovery_start: Option<Instant>,
    /// NewReno: acknowledged bytes that have not increased the window.
    acked: u64,
}

impl QuinnWindow {
    pub(crate) fn new(is_cubic: bool, window: u64, datagram: u64) -> Self {
        let cubic = is_cubic.then(Cubic::default);
        Self { cubic, window, ssthresh: u64::MAX, datagram, recovery_start: None, acked: 0 }
    }

    fn counts(&self, sent: Instant) -> bool {
        self.recovery_start.is_none_or(|start| sent > start)
    }

    /// Growth of CUBIC in congestion avoidance for one packet (RFC 8312 §4.1 to §4.4).
    fn grow(&mut self, now: Instant, srtt: Duration) {
        let Some(cubic) = &mut self.cubic else { return };
        let size = self.datagram as f64;
        let start = *self.recovery_start.get_or_insert_with(|| {
            (cubic.w_max, cubic.k) = (self.window as f64, 0.0);
            now
        });
        let (time, w_max) = (now.since(start), cubic.w_max / size);
        let ahead = seconds(time + srtt) - cubic.k;
        let target = (C * (ahead * ahead * ahead) + w_max) * size;
        let friendly = (w_max * BETA + 3.0 * (1.0 - BETA) / (1.0 + BETA) * seconds(time) / seconds(srtt)) * size;
        let mut window = self.window;
        if target < friendly {
            window = window.max(friendly as u64);
        } else if window < target as u64 {
            window = window.saturating_add(((target - window as f64) / window as f64 * size) as u64);
        }
        cubic.increment += window - self.window;
        if cubic.increment >= self.datagram {
            self.window += self.datagram;
            cubic.increment = 0;
        }
    }
}

impl PacketWindow for QuinnWindow {
    // For NewReno, packets sent at that instant do not count.
    fn start(&mut self, now: Instant) {
        if self.cubic.is_none() {
            self.recovery_start = Some(now);
        }
    }

    fn set_datagram(&mut self, datagram: u64) {
        self.datagram = datagram;
    }

    #[inline]
    fn packet_acked(&mut self, now: Instant, sent: Instant, bytes: u64, limited: bool, srtt: Duration) {
        if limited || !self.counts(sent) {
            return;
        }
        if self.window < self.ssthresh {
            self.window += bytes;
            if self.window >= self.ssthresh {
                self.acked = self.window - self.ssthresh;
            }
        } else if self.cubic.is_some() {
            self.grow(now, srtt);
        } else {
            self.acked += bytes;
            if self.acked >= self.window {
                self.acked -= self.window;
                self.window += self.datagram;
            }
        }
    }

    fn congestion(&mut self, now: Instant, sent: Instant, persistent: bool, _in_flight: u64) -> bool {
        if !self.counts(sent) {
            return false;
        }
        self.recovery_start = Some(now);
        let least = 2 * self.datagram;
        let window = self.window as f64;
        let Some(cubic) = &mut self.cubic else {
            self.window = (((window as f32) * 0.5) as u64).max(least);
            self.ssthresh = self.window;
            if persistent {
                self.window = least;
            }
            return true;
        };
        cubic.w_max = if window < cubic.w_max { window * (1.0 + BETA) / 2.0 } else { window };
        self.ssthresh = ((window * BETA) as u64).max(least);
        self.window = self.ssthresh;
        cubic.k = libm::cbrt(cubic.w_max / self.datagram as f64 * (1.0 - BETA) / C);
        cubic.increment = (cubic.increment as f64 * BETA) as u64;
        if persistent {
            self.recovery_start = None;
            cubic.w_max = self.window as f64;
            self.ssthresh = ((self.window as f64 * BETA) as u64).max(least);
            cubic.increment = 0;
            self.window = least;
        }
        true
    }
}

impl Allowance for QuinnWindow {
    fn window(&self) -> u64 {
        self.window
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }
}

/// For reports: the path calls the methods of [`PacketWindow`] instead.
impl CongestionControl for QuinnWindow {
    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_congestion(&mut self, _event: &Congestion) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn newreno_adds_a_datagram_per_window_and_halves_it() {
        let mut window = QuinnWindow::new(false, 12_000, 1_200);
        window.start(at(0));
        window.packet_acked(at(100), at(0), 1_200, false, RTT);
        assert_eq!(window.window, 12_000, "a packet that was sent at the start");
        window.packet_acked(at(100), at(1), 1_200, false, RTT);
        assert!(window.congestion(at(200), at(50), false, 0) && !window.congestion(at(201), at(150), false, 0));
        assert_eq!((window.window, window.ssthresh), (6_600, 6_600));
        (0..6).for_each(|_| window.packet_acked(at(300), at(210), 1_200, false, RTT));
        assert_eq!((window.window, window.acked), (7_800, 600));
        assert!(window.congestion(at(400), at(300), true, 0));
        assert_eq!((window.window, window.ssthresh), (2_400, 3_900));
    }

    #[test]
    fn cubic_returns_to_the_old_window_after_k() {
        let mut window = QuinnWindow::new(true, 120_000, 1_200);
        assert!(window.congestion(at(0), at(0), false, 0));
        assert_eq!(window.window, 84_000);
        // K = ∛(100 · 0.3/0.4) = 4.217 s.
        for ms in (100..4_217).step_by(1) {
            window.packet_acked(at(ms), at(ms - 99), 1_200, false, RTT);
        }
        assert!(window.window.abs_diff(120_000) <= 2_400, "{}", window.window);
    }
}
