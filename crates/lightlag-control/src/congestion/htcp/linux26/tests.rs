use super::*;
use crate::congestion::Cause;
use crate::congestion::tests::congestion;

fn module(min_rtt: f64) -> HtcpLinux26 {
    HtcpLinux26 { min_rtt, since: Some(0.0), ..HtcpLinux26::new(&Config::default()) }
}

#[test]
fn alpha_grows_with_time_and_with_the_round_trip_time() {
    // The factor: 1 for a second, ⌊1 + 10·2 + 1⌋ = 22 after 3 s; times RTTmin/100 ms in eighths, within 1/10 and 2.
    for (min_rtt, time, factor) in [
        (100.0, 1000.0, 1.0),
        (100.0, 3000.0, 22.0),
        (50.0, 3000.0, 11.0),
        (600.0, 3000.0, 44.0),
        (5.0, 3000.0, 2.0),
        (25.0, 500.0, 1.0),
    ] {
        let mut module = module(min_rtt);
        module.update_alpha(time);
        assert_eq!(module.alpha / ONE, factor, "{min_rtt} ms, {time} ms");
    }
}

#[test]
fn only_the_second_loss_with_a_steady_throughput_has_the_ratio_of_the_round_trip_times() {
    let mut module = module(100.0);
    module.max_rtt = 160.0;
    for (throughput, beta) in
        [(1000.0, 64.0), (1100.0, 64.0), (1200.0, 80.0), (1500.0, 64.0), (1500.0, 64.0), (1500.0, 80.0)]
    {
        module.throughput.max = throughput;
        module.update_beta();
        assert_eq!(module.beta, beta, "{throughput}");
    }
}

#[test]
fn a_short_round_trip_time_halves() {
    let mut module = module(10.0);
    (module.max_rtt, module.is_steady) = (11.0, true);
    module.update_beta();
    assert_eq!(module.beta, 64.0);
}

#[test]
fn the_maximum_round_trip_time_fades_with_each_loss() {
    let mut module = module(100.0);
    module.max_rtt = 200.0;
    module.threshold(100.0, &congestion(Cause::Loss, 100.0));
    assert_eq!(module.max_rtt, 195.0);
}
