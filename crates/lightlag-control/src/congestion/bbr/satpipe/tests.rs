use super::*;
use crate::congestion::tests::link::{Conditions, Link};
use crate::congestion::tests::{SEGMENT, assert_within, start};

const RATE: f64 = 1_000_000.0;
const RTT: Duration = Duration::from_millis(50);

fn link() -> Link<Bbr> {
    let of = Bbr::scheduled(&Config::default(), &ConnectionStart { rtt: Some(RTT), ..start(10) });
    Link::new(of, Conditions::new(RATE, RTT))
}

#[test]
fn a_handover_is_due_once_in_the_50_ms_before_it() {
    let mut handovers = Handovers::new(&Config::default());
    let mut due = |millis| handovers.is_due(Instant::ZERO + Duration::from_millis(millis));
    // Armed in the second that ends one second before the handover.
    let early = [9_999, 10_000, 10_999, 11_000, 11_949].map(&mut due);
    assert_eq!((early, due(11_950), due(11_999), due(26_960)), ([false; 5], true, false, false));
    // No sample between 11.95 and 12 s of a period: the mark lasts until the next handover.
    assert_eq!([25_500, 26_940, 27_000, 41_960].map(&mut due), [false, false, false, true]);
    let mut shifted = Handovers::new(&Config { offset: Duration::from_millis(500), ..Config::default() });
    let mut due = |millis| shifted.is_due(Instant::ZERO + Duration::from_millis(millis));
    assert_eq!([14_000, 15_449, 15_450].map(&mut due), [false, false, true]);
}

#[test]
fn the_path_is_empty_during_a_handover_and_the_model_stays() {
    let mut link = link();
    link.run_until(11.94, |_| {});
    let (window, bandwidth, rtt) = (link.algorithm.window, link.algorithm.bandwidth.max(), link.algorithm.min_rtt);
    let mut probes: Vec<(f64, u64)> = Vec::new();
    link.run_until(40.0, |link| {
        if link.algorithm.state == State::ProbeRtt {
            probes.push((link.now.as_secs_f64(), link.inflight));
        }
    });
    let starts: Vec<f64> = probes
        .iter()
        .map(|probe| probe.0)
        .filter(|at| !probes.iter().any(|other| other.0 < *at && at - other.0 < 1.0))
        .collect();
    assert_eq!(starts.len(), 2, "{starts:?}");
    for (at, handover) in starts.iter().zip([12.0, 27.0]) {
        assert!((handover - 0.05..handover - 0.045).contains(at), "{starts:?}");
        // The path of about 50 segments empties in a round trip; then 4 segments for 300 ms and the end of a round. The
        // last ACK in the state is up to a round trip of 51 ms older than the end.
        let of: Vec<&(f64, u64)> = probes.iter().filter(|probe| probe.0 >= *at && probe.0 < at + 1.0).collect();
        let lasted = of[of.len() - 1].0 - at;
        assert!((0.3..0.46).contains(&lasted), "{lasted} s");
        let at_handover = of.iter().rev().find(|probe| probe.0 <= handover + 0.02).unwrap().1;
        assert!(at_handover <= 4 * SEGMENT, "{at_handover} bytes in flight");
    }
    assert_within("window", link.algorithm.window, window, 0.06);
    assert_within("BtlBw", link.algorithm.bandwidth.max(), bandwidth, 0.03);
    assert_eq!(link.algorithm.min_rtt, rtt);
}
