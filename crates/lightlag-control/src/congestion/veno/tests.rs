use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::{SEGMENT, Steady, ack, assert_within, congestion, start};
use lightlag_core::Instant;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Returns Veno in congestion avoidance at a window of `window` segments, after an ACK that did not increase it. `rtt`:
/// RTT of this ACK; RTTmin is 100 ms.
fn avoiding(window: u64, rtt: Duration) -> Veno {
    let mut veno = Veno::new(&Config::default(), &start(window));
    veno.window.leave_slow_start();
    veno.on_ack(&Ack { cwnd_limited: false, ..measured(rtt) });
    veno
}

fn measured(rtt: Duration) -> Ack {
    Ack { min_rtt: ms(100), ..ack(Instant::ZERO, rtt) }
}

#[test]
fn a_loss_without_a_queue_keeps_four_fifths() {
    // N = 40·5/105 = 1.9 and 40·10/110 = 3.64.
    for (rtt, left) in [(105, 32), (110, 20), (108, 32), (109, 20)] {
        for cause in [Cause::Loss, Cause::Mark] {
            let mut veno = avoiding(40, ms(rtt));
            veno.on_congestion(&congestion(cause, 10.0));
            assert_eq!((veno.window(), veno.ssthresh()), (left * SEGMENT, left * SEGMENT), "{rtt} ms");
        }
    }
    // Without a sample it is half, as in Reno.
    let mut veno = Veno::new(&Config::default(), &start(40));
    veno.on_congestion(&congestion(Cause::Loss, 40.0));
    assert_eq!(veno.window(), 20 * SEGMENT);
}

#[test]
fn a_timeout_is_renos() {
    for rtt in [105, 200] {
        let mut veno = avoiding(40, ms(rtt));
        veno.on_congestion(&congestion(Cause::Timeout, 30.0));
        assert_eq!((veno.window(), veno.ssthresh()), (SEGMENT, 15 * SEGMENT));
        veno.on_undo(Instant::ZERO);
        assert_eq!(veno.window(), 40 * SEGMENT);
    }
}

#[test]
fn with_a_queue_it_grows_half_as_fast() {
    for (rtt, growth) in [(100, 1.0 / 40.0), (105, 1.0 / 40.0), (110, 0.5 / 40.0)] {
        let mut veno = avoiding(40, ms(rtt));
        veno.on_ack(&measured(ms(rtt)));
        assert_eq!(veno.window.segments(), 40.0 + growth, "{rtt} ms");
    }
}

#[test]
fn the_round_trip_time_is_the_mean_or_the_newest_sample() {
    for (rtt_source, left) in [(RttSource::Srtt, 32), (RttSource::Sample, 20)] {
        let mut veno = Veno::new(&Config { rtt_source, ..Config::default() }, &start(40));
        veno.on_ack(&Ack { srtt: ms(102), cwnd_limited: false, ..measured(ms(130)) });
        veno.on_congestion(&congestion(Cause::Loss, 40.0));
        assert_eq!(veno.window(), left * SEGMENT, "{rtt_source:?}");
    }
}

#[test]
fn slow_start_ignores_the_queue() {
    let mut veno = Veno::new(&Config::default(), &start(40));
    veno.on_ack(&measured(ms(300)));
    assert_eq!(veno.window(), 41 * SEGMENT);
}

#[test]
fn on_a_lossy_path_without_a_queue_the_mean_window_matches_a_decrease_by_a_fifth() {
    // √(α(1 + β)/(2(1 − β)p)) with α = 1, β = 0.8: √(4.5/p) (RFC 9438 §4.3 equation 3).
    for p in [1e-2, 1e-3, 1e-4] {
        let (mean, p) = Steady::new(r#""veno""#, ms(100)).lose_at_random(p, 4000);
        assert_within(&format!("mean window at {p:.2e}"), mean, (4.5 / p).sqrt(), 0.1);
    }
}
