use super::*;
use crate::config::Config;
use crate::profile::Profile;
use lightlag_control::congestion::careful_resume::{ResumeRule, Saved};
use lightlag_core::Bytes;

const RTT: Duration = Duration::from_millis(600);
const DATAGRAM: u64 = 1_440;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Returns an acknowledgement at `ms` of bytes that were sent 600 ms before.
fn ack(ms: u64, acked: u64) -> Report {
    Report {
        now: at(ms),
        acked,
        sent: at(ms - 600),
        rtt: Some(RTT),
        srtt: RTT,
        min_rtt: RTT,
        is_marked: false,
        is_persistent: false,
        is_blocked: true,
        limited: Instant::ZERO,
    }
}

/// Returns a window in slow start that has grown to `window` bytes.
fn window(is_cubic: bool, window: u64) -> PicoquicWindow {
    PicoquicWindow { window, ..PicoquicWindow::new(is_cubic, 15_360, DATAGRAM) }
}

#[test]
fn newreno_scales_its_initial_window_and_cubic_does_not() {
    for (is_cubic, bytes) in [(false, 92_160), (true, 15_360)] {
        let mut window = window(is_cubic, 15_360);
        // The handshake: sent at the time when the sender had nothing else to send.
        window.report(&ack(600, 1_200));
        assert_eq!(window.window, bytes);
    }
}

#[test]
fn slow_start_jumps_to_half_of_the_bandwidth_delay_product() {
    for is_cubic in [false, true] {
        let mut window = window(is_cubic, 15_360);
        // 62,500 B in 2 ms are 31.25 MB/s, or 250 Mbit/s. Half of 18.75 MB is 9.375 MB; the bytes are added to it.
        window.report(&ack(1_200, 14_400));
        window.report(&ack(1_202, 62_500));
        assert_eq!(window.window, 9_375_000 + 62_500);
        // A sender without data does not grow, but the estimate counts: 93,750 B in 2 ms.
        window.report(&Report { limited: at(605), ..ack(1_204, 93_750) });
        assert_eq!(window.window, 14_062_500);
    }
    // CUBIC grows only while the window limits it.
    for (is_cubic, growth) in [(false, 1_000), (true, 0)] {
        let mut window = window(is_cubic, 100_000);
        window.report(&Report { is_blocked: false, ..ack(1_200, 1_000) });
        assert_eq!(window.window, 100_000 + growth);
    }
}

#[test]
fn newreno_halves_the_window_for_each_loss_after_the_last_reduction() {
    let mut window = window(false, 144_000);
    window.packet_lost(10, at(500));
    window.packet_lost(12, at(501));
    assert_eq!(window.report(&ack(1_200, 0)), Some(true));
    assert_eq!((window.window, window.ssthresh), (72_000, 72_000));
    // Packets sent before the reduction belong to it; one that was sent with it does not.
    window.packet_lost(20, at(1_199));
    assert_eq!(window.report(&ack(1_300, 0)), Some(false));
    // 14,400 B · 1440 B / 72,000 B = 288 B, the same again, and a rest: 720 · 1440/72,576 = 14.3.
    for (acked, bytes) in [(14_400, 72_288), (14_400, 72_574), (720, 72_589)] {
        window.report(&ack(1_400, acked));
        assert_eq!(window.window, bytes);
    }
    window.packet_lost(30, at(1_200));
    assert_eq!(window.report(&ack(1_800, 0)), Some(true));
    assert_eq!(window.window, 36_294);
    assert_eq!(window.report(&Report { is_persistent: true, ..ack(2_500, 0) }), Some(true));
    assert_eq!((window.window, window.ssthresh), (MIN_WINDOW, 18_147));
}

#[test]
fn cubic_reacts_to_three_losses_in_a_row_but_not_to_one_in_64_packets() {
    let mut window = window(true, 1_440_000);
    for count in 1..200 {
        window.packet_lost(64 * count, at(10 * u64::from(count)));
        assert_eq!(window.report(&ack(600 + 10 * u64::from(count), 0)), Some(false));
    }
    let last = 64 * 199;
    window.packet_lost(last + 1, at(2_000));
    assert_eq!(window.report(&ack(2_600, 0)), Some(false));
    window.packet_lost(last + 2, at(2_000));
    assert_eq!(window.report(&ack(2_600, 0)), Some(true));
    // 1000 datagrams: w_max = 875 by fast convergence, and 7/8 of it remain: 765.6 datagrams.
    assert_eq!((window.window, window.ssthresh), (1_102_500, 1_102_500));
    // K = ∛(875 · 1/8/0.4) = 6.49 s: then the curve is at 875 datagrams.
    window.report(&ack(2_600 + 6_490, 1_440));
    assert!(window.window.abs_diff(1_260_000) < 1_440, "{}", window.window);
}

#[test]
fn cubic_continues_at_the_plateau_when_the_delay_rises() {
    let mut window = window(true, 1_440_000);
    (1..=7).for_each(|index| {
        window.report(&Report { is_blocked: false, ..ack(5_000 + 2 * index, 10) });
    });
    let slow = |ms| Report { rtt: Some(RTT * 2), is_blocked: false, ..ack(ms, 10) };
    (1..=12).for_each(|index| {
        window.report(&slow(6_000 + 2 * index));
    });
    assert_eq!((window.window, window.ssthresh), (1_440_000, u64::MAX));
    window.report(&slow(6_026));
    // A sixth is the window of a path of 100 ms; half of the difference remains: 1,440,000 - 600,000 = 840,000. The
    // reduction to 7/8 sets only the threshold, because the curve continues at its plateau.
    assert_eq!(window.ssthresh, 735_000);
    assert!(window.window.abs_diff(840_000) <= 1_440, "{}", window.window);
}

#[test]
fn newreno_ends_slow_start_at_its_window_when_the_delay_rises() {
    let mut window = window(false, 1_440_000);
    (1..=7).for_each(|index| {
        window.report(&ack(5_000 + 2 * index, 0));
    });
    (1..=13).for_each(|index| {
        window.report(&Report { rtt: Some(RTT * 2), ..ack(6_000 + 2 * index, 0) });
    });
    assert_eq!((window.window, window.ssthresh, window.is_slow_start), (1_440_000, 1_440_000, false));
}

#[test]
fn a_saved_window_ends_slow_start_there() {
    let seed = |bytes| {
        let saved = Saved { saved_cwnd: Bytes(bytes), saved_rtt: RTT, max_jump: None, rule: ResumeRule::Picoquic };
        Seed::of(&Config { careful_resume: Some(saved), ..Profile::Picoquic.config() })
    };
    for is_cubic in [false, true] {
        let mut window = window(is_cubic, 15_360).with_seed(seed(18_750_000));
        // One datagram of the handshake, while the sender had nothing else to send.
        window.report(&Report { limited: at(600), ..ack(600, 1_200) });
        assert_eq!((window.window, window.ssthresh, window.is_slow_start), (18_750_000, 18_750_000, false));
        // CUBIC's curve starts at 7/8 of it, but the parallel Reno at the window.
        window.report(&Report { acked: 1_200, ..ack(1_201, 1_200) });
        assert!((18_750_000..18_752_000).contains(&window.window), "{}", window.window);
    }
    // NewReno keeps a larger window, and its slow start.
    let mut larger = window(false, 200_000).with_seed(seed(100_000));
    larger.report(&Report { limited: at(600), ..ack(600, 1_200) });
    assert_eq!((larger.window, larger.is_slow_start), (200_000, true));
}

#[test]
fn newreno_restores_the_window_within_a_round_trip_after_a_spurious_loss() {
    let halved = || {
        let mut window = window(false, 144_000);
        window.packet_lost(10, at(500));
        window.report(&ack(1_200, 0));
        assert_eq!(window.window, 72_000);
        window
    };
    // No packet that was sent at 1200 ms or later is acknowledged.
    let mut undone = halved();
    assert!(undone.packet_spurious(at(1_300), at(1_199), RTT));
    assert_eq!(undone.window, 144_000);
    // A second spurious packet does not double it again.
    assert!(!undone.packet_spurious(at(1_300), at(1_199), RTT));
    assert!(!halved().packet_spurious(at(1_799), at(1_200), RTT));
    assert!(!halved().packet_spurious(at(1_800), at(1_199), RTT));
    // Without a reduction there is nothing to restore.
    assert!(!window(false, 144_000).packet_spurious(at(1_300), at(700), RTT));
}

#[test]
fn cubic_returns_to_slow_start_after_a_spurious_loss_but_keeps_the_start_of_its_curve_later() {
    let lose = |window: &mut PicoquicWindow, first: u32, sent: u64, ms: u64| {
        (first..first + 3).for_each(|number| window.packet_lost(number, at(sent)));
        assert_eq!(window.report(&ack(ms, 0)), Some(true));
    };
    let mut undone = window(true, 144_000);
    lose(&mut undone, 10, 500, 1_200);
    // The first reduction counts as one below the last maximum: 100 datagrams · 7/8 · 7/8 = 76.5625.
    assert_eq!((undone.window, undone.is_slow_start), (110_250, false));
    assert!(undone.packet_spurious(at(1_300), at(700), RTT));
    assert_eq!((undone.window, undone.is_slow_start, undone.ssthresh), (144_000, true, u64::MAX));

    // The second reduction has a former maximum of 76.5625 datagrams.
    let mut late = window(true, 144_000);
    lose(&mut late, 10, 500, 1_200);
    lose(&mut late, 20, 1_300, 1_900);
    assert_eq!(late.window, (76.5625 * 7.0 / 8.0 * 7.0 / 8.0 * 1_440.0) as u64);
    // K = ∛(76.5625 / 8 / 0.4) = 2.8815 s; the curve is 0.4 · (0.1 - K)³ + 76.5625 = 67.95 datagrams.
    assert!(late.packet_spurious(at(2_000), at(1_400), RTT));
    assert_eq!((late.window / 1_440, late.is_slow_start), (67, false));
    assert_eq!(late.ssthresh, (76.5625 * 0.75 * 1_440.0) as u64);
}
