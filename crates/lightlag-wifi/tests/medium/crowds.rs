//! Large media store faint frames differently from small ones. The results must be the same.

use crate::bench::{Bench, at, config, place};
use lightlag_core::Instant;
use lightlag_mobility::Vector;
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use lightlag_wifi::phy::Standard;
use lightlag_wifi::{Radio, StationCounters};
use proptest::prelude::*;

const TALKING: u32 = 24;

/// Runs stations in a square of 250 m, where most frames are faint, together with `silent` stations that are out of
/// reach.
fn run(seed: u64, packets: &[(u32, u32, u32)], silent: u32) -> Bench {
    let spread = |n: u32| f64::from(n.wrapping_mul(2_654_435_761) >> 16) / 65_536.0 * 250.0;
    let talking = (1..=TALKING).map(|at| Vector::new(spread(at), spread(at + 77), 0.0));
    let places: Vec<Vector> = talking.chain((0..silent).map(|at| place(1e5 + f64::from(at)))).collect();
    let radio = Radio { rate: "24 Mbit/s".to_owned(), ..Radio::default() };
    let mut bench = Bench::new(&config(Standard::A), &radio, &places, seed);
    let mut packets = packets.to_vec();
    packets.sort_unstable();
    for (micros, from, to) in packets {
        let now = at(f64::from(micros));
        bench.run(now);
        let to = if to % TALKING == from { Addressee::All } else { Addressee::One(StationId(to % TALKING)) };
        bench.offer(now, from, to, 20 + micros % 1_400);
    }
    bench.run(Instant::MAX);
    bench
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn silent_stations_out_of_reach_change_nothing(
        seed in 0u64..1000,
        packets in prop::collection::vec((0u32..40_000, 0u32..TALKING, 0u32..40), 50..400),
    ) {
        let (small, large) = (run(seed, &packets, 0), run(seed, &packets, 200));
        prop_assert_eq!(&small.events, &large.events);
        let counters = |bench: &Bench| -> Vec<StationCounters> {
            (0..TALKING).map(|at| bench.medium.station_counters(StationId(at), Instant::MAX)).collect()
        };
        prop_assert_eq!(counters(&small), counters(&large));
        prop_assert!(counters(&small).iter().any(|of| of.collisions > 0), "no station interferes with another");
    }
}
