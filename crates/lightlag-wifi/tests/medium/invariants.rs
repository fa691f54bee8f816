//! Invariants that hold for any traffic.

use crate::bench::{Bench, Event, Saturated, at, circle, config, place};
use lightlag_core::Instant;
use lightlag_mobility::Vector;
use lightlag_net::Medium as _;
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use lightlag_wifi::phy::Standard;
use lightlag_wifi::{BlockAckAgreement, Class, MissingBlockAck, Radio};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn class(size: u32) -> Class {
    Class::ALL[size as usize % 4]
}

/// Runs stations in a square of 120 m that send packets to each other. Returns the medium and everything that happened.
fn scattered(
    seed: u64,
    stations: u32,
    packets: &[(u32, u32, u32, u32)],
    rts_threshold: u32,
    (standard, rate): (Standard, &str),
    block_ack_agreement: BlockAckAgreement,
) -> Bench {
    let spread = |n: u32| f64::from(n.wrapping_mul(2_654_435_761) >> 16) / 65_536.0 * 120.0;
    let places: Vec<Vector> = (0..stations).map(|at| Vector::new(spread(at + 1), spread(at + 77), 0.0)).collect();
    let missing_block_ack = if seed.is_multiple_of(2) { MissingBlockAck::Ask } else { MissingBlockAck::Repeat };
    let rate = rate.to_owned();
    let radio = Radio { rts_threshold, queue: 20, rate, missing_block_ack, block_ack_agreement, ..Radio::default() };
    let mut bench = Bench::new(&config(standard), &radio, &places, seed);
    let mut packets: Vec<_> = packets.iter().map(|of| (u64::from(of.0), of.1 % stations, of.2, of.3)).collect();
    packets.sort_unstable();
    for (micros, from, to, size) in packets {
        let now = at(micros as f64);
        bench.run(now);
        let to = match to % (stations + 1) {
            to if to == stations || to == from => Addressee::All,
            to => Addressee::One(StationId(to)),
        };
        bench.class[from as usize] = class(size);
        bench.offer(now, from, to, size);
    }
    bench.run(Instant::MAX);
    bench
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn packets_are_conserved_and_arrive_once_and_in_order(
        seed in 0u64..1000,
        stations in 2u32..12,
        packets in prop::collection::vec((0u32..30_000, 0u32..12, 0u32..13, 1u32..2000), 1..150),
        rts in prop::sample::select(vec![1u32, 500, 65_535]),
        form in prop::sample::select(vec![
            (Standard::A, "24 Mbit/s"), (Standard::N, "24 Mbit/s"), (Standard::N, "mcs3"), (Standard::Ac, "mcs5"),
        ]),
        agreement in prop::sample::select(vec![BlockAckAgreement::Aggregates, BlockAckAgreement::Ns3]),
    ) {
        let bench = scattered(seed, stations, &packets, rts, form, agreement);
        let mut pending = 0;
        bench.medium.pending(&mut |_| pending += 1);
        // In ns-3 packets wait for ever for others before an agreement, and for an agreement whose request expired.
        let may_wait = agreement == BlockAckAgreement::Ns3;
        prop_assert!(pending == 0 || may_wait, "a station has pending packets, but no timer");
        let mut outcomes = BTreeMap::new();
        let mut last = BTreeMap::new();
        for (_, event) in &bench.events {
            match event {
                Event::Acknowledged { packet } | Event::Dropped { packet, .. } => {
                    prop_assert!(outcomes.insert(*packet, ()).is_none(), "{:?} ended twice", packet);
                }
                Event::Received { at, packet: (from, number) } => {
                    // Broadcasts may pass packets that wait for others, and classes each other.
                    let of_one = bench.unicast.contains(&(*from, *number));
                    let class = bench.classes[&(*from, *number)];
                    let before = last.insert((*at, *from, of_one, class), *number);
                    prop_assert!(before < Some(*number), "{} got {} from {} after {:?}", at, number, from, before);
                }
            }
        }
        let waiting: u64 = (0..stations).map(|at| bench.medium.counters(StationId(at)).waiting).sum();
        prop_assert!(waiting == 0 || may_wait);
        let ended = bench.unicast.iter().filter(|packet| outcomes.contains_key(packet)).count() as u64;
        prop_assert!(bench.unicast.len() as u64 - ended <= waiting, "packets are lost");
    }

    #[test]
    fn equal_seeds_give_equal_outcomes(
        seed in 0u64..1000,
        packets in prop::collection::vec((0u32..9_000, 0u32..8, 0u32..9, 1u32..2000), 1..60),
        rate in prop::sample::select(vec!["24 Mbit/s", "mcs4"]),
        agreement in prop::sample::select(vec![BlockAckAgreement::Aggregates, BlockAckAgreement::Ns3]),
    ) {
        let events = || scattered(seed, 8, &packets, 500, (Standard::N, rate), agreement).events;
        prop_assert_eq!(events(), events());
    }
}

/// Returns the events of five saturated stations, with this number of silent stations in the neighbourhood.
fn with_silent(silent: u32) -> Vec<(Instant, Event)> {
    let mut positions = circle(5);
    positions.extend((0..silent).map(|at| place(6.0 + f64::from(at))));
    let mut bench = Bench::new(&config(Standard::A), &Radio::default(), &positions, 3);
    for from in 1..=5 {
        bench.saturate(at(0.0), Saturated { from, to: 0, size: 1000 }, 2);
    }
    bench.run(at(3e5));
    bench.events
}

/// The end of a frame is one event for all of its receivers, so a far receiver changes the time of that event but not
/// its outcome.
#[test]
fn silent_stations_change_nothing() {
    let outcomes = |silent| with_silent(silent).into_iter().map(|(_, event)| event).collect::<Vec<_>>();
    let without = outcomes(0);
    assert!(without.len() > 800);
    assert_eq!(without, outcomes(1));
    assert_eq!(without, outcomes(60));
}
