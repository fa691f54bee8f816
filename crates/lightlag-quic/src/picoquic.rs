//! The congestion control of picoquic d199d45: NewReno and CUBIC, and the start of BBR on long paths.
//!
//! The algorithms share three signals (`signals`), which are read from `picoquic/cc_common.c` and `picoquic/frames.c`:
//!
//! - The peak bandwidth, measured between two acknowledgements more than 1 ms apart. In slow start, the window is at
//!   least half of its product with the round-trip time.
//! - A rising round-trip time ends slow start: seven times, the minimum of the last seven samples exceeds the smallest
//!   maximum of seven samples by more than a quarter.
//! - The smoothed loss rate, 1/16 for each lost packet. CUBIC reacts to a loss only if it exceeds 15 %; NewReno reacts
//!   to each one.
//!
//! [`window`] has the windows, [`startup`] the slow start that replaces BBR's Startup, and [`saved`] the use of a saved
//! window. Not modelled: one-way delays from the extension for timestamps; the reaction of picoquic's BBRs to
//! timeouts, and of its BBRv1 to a loss rate above 20 %; and the rules with which its BBRv3 leaves a probe when the delay
//! rises.

mod saved;
mod signals;
mod startup;
mod window;

pub(crate) use saved::{Seed, check_saved};
pub(crate) use startup::LongStart;
pub(crate) use window::PicoquicWindow;

use lightlag_core::Duration;

/// Maximum round-trip time with Startup in BBRv3 (BBRLongRttThreshold).
pub(crate) const LONG_RTT: Duration = Duration::from_millis(250);
/// Above this round-trip time, initial windows grow with it (PICOQUIC_TARGET_RENO_RTT).
pub(crate) const RENO_RTT: Duration = Duration::from_millis(100);
/// Up to this one (PICOQUIC_TARGET_SATELLITE_RTT).
pub(crate) const SATELLITE_RTT: Duration = Duration::from_millis(610);

/// Returns the initial window on a path: larger in proportion to a round-trip time above 100 ms, at most 6.1 times.
pub(crate) fn long_window(initial: u64, min_rtt: Duration) -> u64 {
    let rtt = min_rtt.min(SATELLITE_RTT).max(RENO_RTT);
    (initial as f64 * rtt.as_nanos() as f64 / RENO_RTT.as_nanos() as f64) as u64
}

/// Returns the time between two packets in slow start, as the pacer counts it: 1.25 windows per round-trip time, and no
/// pacing below eight datagrams.
fn packet_time(window: u64, datagram: u64, srtt: Duration) -> Duration {
    if window < 8 * datagram {
        return Duration::from_micros(1);
    }
    Duration::from_nanos((srtt.as_nanos() as f64 * datagram as f64 / (1.25 * window as f64)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_window_grows_from_100_to_610_ms() {
        let window = |ms| long_window(15_360, Duration::from_millis(ms));
        assert_eq!([50, 100, 300, 600, 610, 5_000].map(window), [15_360, 15_360, 46_080, 92_160, 93_696, 93_696]);
    }
}
