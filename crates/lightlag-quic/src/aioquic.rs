//! The windows of aioquic 1.2.0: Reno and CUBIC, which count each acknowledged packet, whether the window was used or
//! not, and leave slow start when the round-trip time rises.

use crate::packet_window::PacketWindow;
use lightlag_control::congestion::{Ack, Allowance, Congestion, CongestionControl};
use lightlag_core::{Duration, Instant};

/// Reduction by CUBIC.
const BETA: f64 = 0.7;
/// Growth of CUBIC in datagrams per s³.
const C: f64 = 0.4;
/// CUBIC restarts this long after the transmission of the packet acknowledged last.
const MAX_IDLE: Duration = Duration::from_secs(2);
/// Samples that are compared, and rises that end slow start.
const SAMPLES: usize = 5;

/// Detection of a rising round-trip time: at most one sample in 1 ms, minimum and maximum of the last five.
#[derive(Debug, Default)]
struct Monitor {
    samples: [f64; SAMPLES],
    count: usize,
    time: f64,
    filtered: Option<f64>,
    rises: usize,
}

impl Monitor {
    /// Adds a sample. Returns true if slow start has to end.
    fn rises(&mut self, now: f64, rtt: f64) -> bool {
        if now <= self.time + 0.001 {
            return false;
        }
        self.samples[self.count % SAMPLES] = rtt;
        self.count += 1;
        self.time = now;
        if self.count < SAMPLES {
            return false;
        }
        let least = self.samples.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.samples.iter().copied().fold(0.0, f64::max);
        let filtered = self.filtered.map_or(most, |filtered| filtered.min(most));
        self.filtered = Some(filtered);
        let delta = least - filtered;
        if delta * 4.0 >= filtered {
            self.rises += 1;
            return self.rises >= SAMPLES;
        }
        if delta > 0.0 {
            self.rises = 0;
        }
        false
    }
}

/// State of CUBIC.
#[derive(Debug)]
struct Cubic {
    k: f64,
    w_max: u64,
    w_est: u64,
    /// Start of congestion avoidance, and the last round-trip sample, in seconds.
    epoch: f64,
    rtt: f64,
    is_first: bool,
    starts: bool,
    last_ack: Option<Instant>,
}

/// A congestion window of aioquic.
#[derive(Debug)]
pub(crate) struct AioquicWindow {
    /// `None` for Reno.
    cubic: Option<Cubic>,
    window: u64,
    ssthresh: u64,
    datagram: u64,
    /// Start of the last episode; packets sent up to it do not count for Reno.
    recovery_start: Instant,
    /// Acknowledged bytes that have not increased Reno's window.
    stash: u64,
    monitor: Monitor,
}

impl AioquicWindow {
    pub(crate) fn new(is_cubic: bool, window: u64, datagram: u64) -> Self {
        let cubic = is_cubic.then_some(Cubic {
            k: 0.0,
            w_max: window,
            w_est: 0,
            epoch: 0.0,
            rtt: 0.02,
            is_first: true,
            starts: false,
            last_ack: None,
        });
        let recovery_start = Instant::ZERO;
        Self { cubic, window, ssthresh: u64::MAX, datagram, recovery_start, stash: 0, monitor: Monitor::default() }
    }

    /// Growth of CUBIC in congestion avoidance for one packet (RFC 9438 §4.2 to §4.5).
    fn grow(&mut self, now: Instant, bytes: u64) {
        let Some(cubic) = &mut self.cubic else { return };
        if cubic.is_first && !cubic.starts {
            cubic.w_max = self.window;
        }
        if cubic.is_first || cubic.starts {
            (cubic.is_first, cubic.starts) = (false, false);
            (cubic.epoch, cubic.w_est) = (now.as_secs_f64(), self.window);
            let missing = cubic.w_max as f64 - self.window as f64;
            cubic.k = libm::cbrt(missing / self.datagram as f64 / C);
        }
        let (size, window) = (self.datagram as f64, self.window as f64);
        cubic.w_est = (cubic.w_est as f64 + size * (bytes as f64 / window)) as u64;
        let curve = |time: f64| {
            let ahead = time - cubic.k;
            (C * (ahead * ahead * ahead) + cubic.w_max as f64 / size) * size
        };
        let time = now.as_secs_f64() - cubic.epoch;
        let target = curve(time + cubic.rtt).trunc().clamp(window, (1.5 * window).trunc());
        self.window = if curve(time).trunc() < cubic.w_est as f64 {
            cubic.w_est
        } else {
            (window + (target - window) * (size / window)) as u64
        };
    }
}

impl PacketWindow for AioquicWindow {
    fn set_datagram(&mut self, datagram: u64) {
        self.datagram = datagram;
    }

    fn packet_sent(&mut self, now: Instant) {
        let Some((last, rtt)) = self.cubic.as_ref().and_then(|cubic| Some((cubic.last_ack?, cubic.rtt))) else {
            return;
        };
        // The packet sent at time 0 counts as none.
        if last != Instant::ZERO && now.since(last) >= MAX_IDLE {
            let mut fresh = Self::new(true, 10 * self.datagram, self.datagram);
            (fresh.recovery_start, fresh.monitor) = (self.recovery_start, std::mem::take(&mut self.monitor));
            if let Some(cubic) = &mut fresh.cubic {
                (cubic.last_ack, cubic.rtt) = (Some(last), rtt);
            }
            *self = fresh;
        }
    }

    fn packet_acked(&mut self, now: Instant, sent: Instant, bytes: u64, _limited: bool, _srtt: Duration) {
        match &mut self.cubic {
            Some(cubic) => cubic.last_ack = Some(sent),
            None if sent <= self.recovery_start => return,
            None => {}
        }
        if self.window < self.ssthresh {
            self.window += bytes;
        } else if self.cubic.is_some() {
            self.grow(now, bytes);
        } else {
            self.stash += bytes;
            let count = self.stash / self.window;
            self.stash -= count * self.window;
            self.window += count * self.datagram;
        }
    }

    fn sampled(&mut self, now: f64, rtt: f64) {
        if let Some(cubic) = &mut self.cubic {
            cubic.rtt = rtt;
        }
        if self.ssthresh == u64::MAX && self.monitor.rises(now, rtt) {
            self.ssthresh = self.window;
        }
    }

    fn congestion(&mut self, now: Instant, sent: Instant, _persistent: bool, in_flight: u64) -> bool {
        if sent <= self.recovery_start {
            return false;
        }
        self.recovery_start = now;
        let least = 2 * self.datagram;
        let reduced = match &mut self.cubic {
            Some(cubic) => {
                let is_lower = self.window < cubic.w_max;
                cubic.w_max = if is_lower { (self.window as f64 * (1.0 + BETA) / 2.0) as u64 } else { self.window };
                cubic.starts = true;
                // The bytes in flight, not the window.
                (in_flight as f64 * BETA) as u64
            }
            None => self.window / 2,
        };
        self.window = reduced.max(least);
        self.ssthresh = self.window;
        true
    }
}

impl Allowance for AioquicWindow {
    fn window(&self) -> u64 {
        self.window
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }
}

/// For reports: the path calls the methods of [`PacketWindow`] instead.
impl CongestionControl for AioquicWindow {
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
    fn slow_start_ends_after_five_samples_above_the_minimum() {
        let mut window = AioquicWindow::new(false, 12_000, 1_200);
        (0..5).for_each(|index| window.sampled(0.1 + 0.01 * f64::from(index), 0.1));
        assert_eq!(window.ssthresh, u64::MAX);
        // The minimum of the last five has to be a quarter above: four samples pass before it rises.
        for index in 0..9 {
            assert_eq!(window.ssthresh, u64::MAX, "{index}");
            window.sampled(0.2 + 0.01 * f64::from(index), 0.13);
        }
        assert_eq!(window.ssthresh, 12_000);
    }

    #[test]
    fn cubic_falls_to_a_part_of_the_bytes_in_flight_and_grows_again() {
        let mut window = AioquicWindow::new(true, 120_000, 1_200);
        assert!(window.congestion(at(100), at(50), false, 60_000));
        assert_eq!((window.window, window.ssthresh), (42_000, 42_000));
        for ms in (200..8_000).step_by(2) {
            window.packet_acked(at(ms), at(ms - 100), 1_200, false, RTT);
        }
        assert!(window.window > 120_000, "{}", window.window);
    }
}
