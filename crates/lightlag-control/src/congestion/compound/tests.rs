use super::*;
use crate::congestion::Allowance;
use crate::congestion::tests::bottleneck::Bottleneck;
use crate::congestion::tests::{SEGMENT, Steady, ack, assert_within, congestion, start};

const BASE: Duration = Duration::from_millis(100);

/// Returns Compound in congestion avoidance with the windows C and D, at the start of a round.
fn avoiding(config: &Config, loss_window: f64, delay_window: f64) -> Compound {
    let mut compound = Compound::new(config, &start(10));
    compound.on_congestion(&congestion(Cause::Loss, 4.0));
    compound.window.raise_to(loss_window + delay_window);
    compound.delay_window = delay_window;
    compound.on_ack(&round_of(100));
    compound
}

/// Returns an ACK that ends a round with one sample, and does not grow the window by itself.
fn round_of(rtt_ms: u64) -> Ack {
    Ack { growth: 0.0, min_rtt: BASE, ..ack(Instant::ZERO, Duration::from_millis(rtt_ms)) }
}

#[test]
fn a_round_without_a_queue_adds_alpha_times_a_power_of_the_window() {
    // 100^0.75/8 = 3.953, of which Reno's part adds one, whatever the two parts are.
    for delay_window in [0.0, 60.0] {
        let mut compound = avoiding(&Config::default(), 100.0 - delay_window, delay_window);
        compound.on_ack(&round_of(100));
        assert_within("D", compound.delay_window - delay_window, 2.953, 1e-4);
        assert_within("W", compound.window.segments(), 102.953, 1e-5);
        let (before, loss_window) = (compound.window.segments(), compound.loss_window());
        compound.on_ack(&Ack { snd_nxt: 1, growth: 1.0, ..round_of(100) });
        compound.on_ack(&Ack { snd_una: 0, growth: 1.0, ..round_of(100) });
        assert!(compound.loss_window() > loss_window && compound.window.segments() - before < 6.0);
    }
    // 10 000^0.75 / 8 = 125; below 38 nothing.
    let mut large = avoiding(&Config::default(), 10_000.0, 0.0);
    large.on_ack(&round_of(100));
    assert_within("D", large.delay_window, 124.0, 1e-9);
    let mut small = avoiding(&Config::default(), 37.9, 0.0);
    small.on_ack(&round_of(100));
    assert_eq!(small.delay_window, 0.0);
}

#[test]
fn reno_s_part_adds_a_segment_a_round() {
    let mut compound = avoiding(&Config { alpha: 0.0, ..Config::default() }, 40.0, 60.0);
    for _ in 0..100 {
        compound.on_ack(&Ack { growth: 1.0, ..round_of(100) });
    }
    assert_within("C", compound.loss_window(), 41.0, 0.001);
    assert_eq!(compound.delay_window, 60.0);
}

#[test]
fn a_queue_of_gamma_takes_its_length_from_the_second_window() {
    // diff = 200 * (RTT − 100)/RTT: 28.6 and 33.3.
    for (rtt, expected) in [(116, 200.0), (120, 200.0 - 33.333), (400, 150.0)] {
        let mut compound = avoiding(&Config::default(), 150.0, 50.0);
        compound.on_ack(&Ack { cwnd_limited: false, ..round_of(rtt) });
        assert_within(&format!("W at {rtt} ms"), compound.window.segments(), expected, 1e-5);
        assert_within("C", compound.loss_window(), 150.0, 1e-9);
    }
}

#[test]
fn a_loss_halves_both_and_a_timeout_ends_the_second() {
    let mut compound = avoiding(&Config::default(), 40.0, 60.0);
    compound.on_congestion(&congestion(Cause::Loss, 100.0));
    assert_eq!((compound.window(), compound.loss_window(), compound.delay_window), (50 * SEGMENT, 20.0, 30.0));
    compound.on_undo(Instant::ZERO);
    assert_eq!((compound.window(), compound.loss_window(), compound.delay_window), (100 * SEGMENT, 40.0, 60.0));
    let srtt = Duration::from_millis(170);
    compound.on_congestion(&Congestion { srtt, ..congestion(Cause::Timeout, 100.0) });
    assert_eq!((compound.window(), compound.ssthresh(), compound.delay_window), (SEGMENT, 50 * SEGMENT, 0.0));
    assert_eq!(compound.base, srtt);
    // Half of the flight, if the window was not filled.
    let mut compound = avoiding(&Config::default(), 40.0, 60.0);
    compound.on_congestion(&congestion(Cause::Loss, 30.0));
    assert_eq!((compound.window(), compound.delay_window), (15 * SEGMENT, 0.0));
}

#[test]
fn gamma_follows_reno_s_queue_if_wanted() {
    // C = 100 at 110 ms: 9.09 wait; 0.2 · 30 + 0.8 · 0.75 · 9.09 = 11.45. Then nothing waits: 2.29, at least 5.
    let mut compound = avoiding(&Config { tune_gamma: true, ..Config::default() }, 100.0, 0.0);
    compound.on_ack(&Ack { cwnd_limited: false, ..round_of(110) });
    compound.on_congestion(&congestion(Cause::Loss, 100.0));
    assert_within("gamma", compound.gamma, 11.4545, 1e-4);
    compound.on_congestion(&congestion(Cause::Loss, 100.0));
    assert_within("gamma without a round between", compound.gamma, 11.4545, 1e-4);
    compound.on_ack(&round_of(100));
    compound.on_ack(&round_of(100));
    compound.on_congestion(&congestion(Cause::Loss, 50.0));
    assert_eq!(compound.gamma, 5.0);
    compound.on_congestion(&congestion(Cause::Timeout, 50.0));
    assert_eq!(compound.gamma, 30.0);
}

#[test]
fn regular_losses_give_the_mean_window_of_its_power_law() {
    // dW/dt = α W^k per round from W/2 to W between losses, with 1/p segments from one to the next.
    for n in [10_000_u64, 100_000] {
        let mut path = Steady::new(r#""compound""#, BASE);
        path.avoid_from(400.0);
        let (mut begin, mut first) = (path.now, 0);
        for loss in 0..40 {
            (0..n).for_each(|_| path.acknowledge());
            path.react(Cause::Loss);
            if loss == 19 {
                (begin, first) = (path.now, path.acked);
            }
        }
        let mean = (path.acked - first) as f64 * (BASE / path.now.since(begin));
        assert_within(&format!("mean window at 1/{n}"), mean, 0.7286 * libm::pow(0.26958 * n as f64, 0.8), 0.03);
    }
}

#[test]
fn the_second_window_fills_the_path_and_keeps_the_queue_about_gamma() {
    // μ base = 1000; a round adds 22.
    let mut path = Bottleneck::new(10_000.0, BASE);
    path.limit = 500.0;
    path.add(r#""compound""#);
    path.warm_up(Duration::from_secs(10));
    let mut max_window = 0.0_f64;
    for _ in 0..200 {
        path.run(Duration::from_millis(100));
        max_window = max_window.max(path.flows[0].algorithm.window() as f64 / SEGMENT as f64);
    }
    assert!((1030.0..1090.0).contains(&max_window), "{max_window}");
    assert!(path.mean_queue() < 60.0, "{}", path.mean_queue());
    assert_within("utilisation", path.utilisation(Duration::from_secs(20)), 1.0, 0.02);
}
