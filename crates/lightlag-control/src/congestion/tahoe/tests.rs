use crate::congestion::tests::{SEGMENT, Steady, ack, congestion, start};
use crate::congestion::{Ack, Cause, Choice, Phase, build};
use lightlag_core::{Duration, Instant};

const RTT: Duration = Duration::from_millis(100);

#[test]
fn a_loss_costs_the_entire_window_and_slow_start_goes_to_half_of_the_flight() {
    let mut tahoe = build(&Choice::named("tahoe"), &start(10));
    assert!(Choice::named("tahoe").fixed_needs().restart_on_loss);
    tahoe.on_congestion(&congestion(Cause::Loss, 10.0));
    assert_eq!((tahoe.window(), tahoe.ssthresh()), (SEGMENT, 5 * SEGMENT));
    let windows: Vec<u64> = (0..5)
        .map(|_| {
            tahoe.on_ack(&Ack { phase: Phase::Loss, ..ack(Instant::ZERO, RTT) });
            tahoe.window()
        })
        .collect();
    assert_eq!(windows, [2000, 3000, 4000, 5000, 5200]);
}

#[test]
fn a_mark_and_a_false_alarm_do_not_cost_the_window() {
    let mut tahoe = build(&Choice::named("tahoe"), &start(10));
    tahoe.on_congestion(&congestion(Cause::Mark, 10.0));
    assert_eq!((tahoe.window(), tahoe.ssthresh()), (5 * SEGMENT, 5 * SEGMENT));
    tahoe.on_congestion(&congestion(Cause::Loss, 5.0));
    tahoe.on_undo(Instant::ZERO);
    assert_eq!((tahoe.window(), tahoe.ssthresh()), (5 * SEGMENT, 5 * SEGMENT));
}

#[test]
fn every_nth_loss_costs_a_slow_start() {
    // From 1 to W/2 in slow start: W/2 segments in log2(W/2) rounds; then n = 3W²/8 to W as Reno. W = 40: 20 + 600.
    let mut path = Steady::new(r#""tahoe""#, RTT);
    path.avoid_from(40.0);
    for n in 0..20 {
        (0..620).for_each(|_| path.acknowledge());
        // Each tooth is four times nearer to that than the one before.
        assert!(n < 10 || (path.window() - 40.0).abs() < 0.5, "{}", path.window());
        path.react(Cause::Loss);
        assert_eq!(path.algorithm.window(), SEGMENT);
    }
}

#[test]
fn the_three_share_their_growth() {
    let trace = |choice: &str| -> Vec<u64> {
        let mut path = Steady::new(choice, RTT);
        path.react(Cause::Timeout);
        (0..500)
            .map(|_| {
                path.acknowledge();
                path.algorithm.window()
            })
            .collect()
    };
    assert_eq!(trace(r#""tahoe""#), trace(r#""reno""#));
    assert_eq!(trace(r#""reno""#), trace(r#""newreno""#));
}
