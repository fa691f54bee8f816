use super::*;
use crate::congestion::tests::{SEGMENT, assert_within, congestion, start};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const MIN_RTT: Duration = ms(550);

fn noordwijk() -> Noordwijk {
    Noordwijk::new(&Config::default(), &start(10))
}

/// Returns a train of this many segments with 2 ms per segment; the first one queued for `queueing` ms.
fn train(segments: f64, queueing: u64) -> Train {
    let span = Duration::from_secs_f64(0.002 * (segments - 1.0));
    Train { segments, rtt: Some(MIN_RTT + ms(queueing)), span, per_segment: Some(0.002) }
}

fn take(noordwijk: &mut Noordwijk, trains: &[Train]) {
    trains.iter().for_each(|train| noordwijk.take(train, MIN_RTT));
}

fn event(cause: Cause) -> Congestion {
    congestion(cause, 20.0)
}

#[test]
fn it_starts_with_twenty_segments_every_half_second() {
    let noordwijk = noordwijk();
    assert_eq!((noordwijk.whole(), noordwijk.timer), (20, ms(500)));
    assert_eq!(noordwijk.release(Instant::ZERO).segments, 20);
    assert_eq!((noordwijk.window(), noordwijk.ssthresh()), (20 * SEGMENT, u64::MAX));
}

#[test]
fn a_complete_burst_sets_the_timer_to_the_rate_of_the_bottleneck() {
    let mut noordwijk = noordwijk();
    // δ = 2 ms: 20 segments in 40 ms are 500 per second.
    take(&mut noordwijk, &[train(20.0, 0)]);
    assert_eq!((noordwijk.whole(), noordwijk.timer), (20, ms(40)));
    // A part of a burst does not set the timer.
    take(&mut noordwijk, &[Train { per_segment: Some(0.05), ..train(7.0, 0) }]);
    assert_eq!(noordwijk.timer, ms(40));
    // Nor does a burst whose ACKs arrived simultaneously.
    take(&mut noordwijk, &[Train { per_segment: None, ..train(20.0, 0) }]);
    assert_eq!(noordwijk.timer, ms(40));
    take(&mut noordwijk, &[Train { per_segment: Some(1e-9), ..train(20.0, 0) }]);
    assert_eq!(noordwijk.timer, SHORTEST);
}

#[test]
fn every_second_burst_adjusts_or_tracks_the_rate() {
    let mut noordwijk = noordwijk();
    // T = 40 ms, Δ = 201 ms: B = 20 · 40/241.
    take(&mut noordwijk, &[train(20.0, 201)]);
    assert_eq!(noordwijk.burst, 20.0);
    take(&mut noordwijk, &[train(20.0, 201)]);
    assert_within("B", noordwijk.burst, 20.0 * 40.0 / 241.0, 1e-9);
    assert_eq!(noordwijk.whole(), 3);
    // Later bursts met the same queue, and change nothing.
    take(&mut noordwijk, &[train(20.0, 201), train(20.0, 201)]);
    assert_within("B", noordwijk.burst, 20.0 * 40.0 / 241.0, 1e-9);
    assert_eq!(noordwijk.timer, ms(40));
    // Δ = β is rate tracking: half of the distance to B0, finally B0.
    for expected in [11.66, 15.83, 17.91, 18.96, 19.48] {
        take(&mut noordwijk, &[train(3.0, 200), train(3.0, 200)]);
        assert_within("B", noordwijk.burst, expected, 1e-3);
    }
    take(&mut noordwijk, &[train(19.0, 0), train(19.0, 0)]);
    assert_eq!(noordwijk.whole(), 20);
}

#[test]
fn a_burst_has_a_minimum_of_one_segment() {
    let mut noordwijk = noordwijk();
    take(&mut noordwijk, &[train(2.0, 5_000), train(2.0, 5_000)]);
    assert_eq!(noordwijk.whole(), 1);
}

#[test]
fn a_train_without_a_sample_waits_for_one() {
    let mut noordwijk = noordwijk();
    take(&mut noordwijk, &[train(20.0, 300), Train { rtt: None, ..train(20.0, 300) }]);
    assert_eq!(noordwijk.burst, 20.0);
    take(&mut noordwijk, &[train(20.0, 300)]);
    assert_within("B", noordwijk.burst, 20.0 * 40.0 / 340.0, 1e-9);
}

#[test]
fn only_a_timeout_or_an_idle_time_restarts() {
    let mut noordwijk = noordwijk();
    take(&mut noordwijk, &[train(20.0, 0), train(20.0, 300)]);
    let before = (noordwijk.burst, noordwijk.timer);
    for cause in [Cause::Loss, Cause::Mark] {
        noordwijk.on_congestion(&event(cause));
        assert_eq!((noordwijk.burst, noordwijk.timer), before);
    }
    let mut idle = super::Noordwijk::new(&Config::default(), &start(10));
    take(&mut idle, &[train(20.0, 0), train(20.0, 300)]);
    // A burst was due immediately, and another one 40 ms later.
    idle.on_idle(Instant::ZERO + ms(40), SEGMENT, SEGMENT);
    assert_eq!((idle.burst, idle.timer), before);
    idle.on_idle(Instant::ZERO + ms(41), SEGMENT, SEGMENT);
    noordwijk.on_congestion(&event(Cause::Timeout));
    for one in [noordwijk, idle] {
        assert_eq!((one.burst, one.timer), (20.0, ms(500)));
    }
}
