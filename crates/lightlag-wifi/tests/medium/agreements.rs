//! Block acknowledgement agreements that stations negotiate, as in ns-3.37.

use crate::bench::{Bench, Event, Saturated, at, circle, config, place};
use lightlag_core::Instant;
use lightlag_mobility::Vector;
use lightlag_net::Medium as _;
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use lightlag_wifi::phy::Standard;
use lightlag_wifi::{Aired, BlockAckAgreement, FrameKind, Radio};
use std::collections::BTreeSet;

fn negotiating() -> Radio {
    Radio { block_ack_agreement: BlockAckAgreement::Ns3, ..Radio::default() }
}

fn bench(standard: Standard, radio: &Radio, positions: &[Vector]) -> Bench {
    let mut bench = Bench::new(&config(standard), radio, positions, 1);
    bench.medium.watch((0..positions.len() as u32).map(StationId));
    bench
}

/// Returns the frames that stations sent.
fn sent(bench: &mut Bench) -> Vec<Aired<(u32, u64)>> {
    std::iter::from_fn(|| bench.medium.next_aired()).filter(|aired| aired.at == aired.from).collect()
}

fn kinds(bench: &mut Bench) -> Vec<FrameKind> {
    sent(bench).into_iter().map(|aired| aired.kind).collect()
}

#[test]
fn two_packets_for_a_receiver_take_a_request_and_a_response_first() {
    let mut bench = bench(Standard::N, &negotiating(), &circle(1));
    for _ in 0..3 {
        bench.offer(at(0.0), 1, Addressee::One(StationId(0)), 1500);
    }
    bench.run(at(1e5));
    let sent = sent(&mut bench);
    let kinds: Vec<FrameKind> = sent.iter().map(|aired| aired.kind).collect();
    let data = [FrameKind::Data, FrameKind::Ack];
    let negotiation = [FrameKind::AddBlockAckRequest, FrameKind::Ack, FrameKind::AddBlockAckResponse, FrameKind::Ack];
    assert_eq!(kinds, [&negotiation[..], &data, &data, &data].concat());
    // 37 B at 6 Mbit/s: 20 us and 14 symbols of 24 bits for 16 + 296 + 6 bits.
    for action in [&sent[0], &sent[2]] {
        assert_eq!(action.length, lightlag_core::Duration::from_micros(20 + 14 * 4));
    }
    assert_eq!(bench.acknowledged(), 3);
}

#[test]
fn one_packet_at_a_time_802_11a_and_no_aggregation_need_no_agreement() {
    let without = Radio { aggregation: 0.0, ..negotiating() };
    for (standard, radio, packets) in
        [(Standard::N, negotiating(), 1), (Standard::A, negotiating(), 3), (Standard::N, without, 3)]
    {
        let mut bench = bench(standard, &radio, &circle(1));
        for _ in 0..packets {
            bench.offer(at(0.0), 1, Addressee::One(StationId(0)), 1500);
        }
        bench.run(at(1e5));
        assert_eq!(kinds(&mut bench), [FrameKind::Data, FrameKind::Ack].repeat(packets));
    }
}

#[test]
fn each_dropped_packet_takes_a_request_and_holds_later_packets() {
    // At 48 m a station loses 56 % of its frames; two tries leave 31 % of the packets.
    let radio = Radio { max_attempts: 2, ..negotiating() };
    let mut bench = bench(Standard::N, &radio, &[Vector::ZERO, place(48.0)]);
    for _ in 0..300 {
        bench.offer(at(0.0), 1, Addressee::One(StationId(0)), 1500);
    }
    bench.run(Instant::MAX);
    let dropped = bench.count(|event| matches!(event, Event::Dropped { .. }));
    assert!((60..130).contains(&dropped), "{dropped} of 300 were dropped");
    let received =
        |(_, event): &(Instant, Event)| if let Event::Received { packet, .. } = event { Some(packet.1) } else { None };
    let numbers: Vec<u64> = bench.events.iter().filter_map(received).collect();
    assert!(numbers.is_sorted());
    let kinds = kinds(&mut bench);
    let requests = kinds.iter().filter(|kind| **kind == FrameKind::BlockAckRequest).count() as u64;
    assert!(requests * 10 >= dropped * 9, "{requests} requests for {dropped} packets");
}

#[test]
fn a_receiver_out_of_range_is_reported_and_gets_its_packets_without_an_agreement() {
    let mut bench = bench(Standard::N, &negotiating(), &[Vector::ZERO, place(500.0)]);
    for _ in 0..2 {
        bench.offer(at(0.0), 1, Addressee::One(StationId(0)), 1500);
    }
    bench.run(Instant::MAX);
    assert_eq!(bench.unreachable, [0]);
    let kinds = kinds(&mut bench);
    assert_eq!(kinds[..7], [FrameKind::AddBlockAckRequest; 7]);
    assert_eq!(kinds[7..], [FrameKind::Data; 14]);
}

/// The acknowledgement of a response may be lost, so that an A-MPDU arrives before the response is repeated.
#[test]
fn an_aggregate_that_overtakes_the_confirmation_of_an_agreement_loses_nothing() {
    let radio = Radio { rate: "mcs7".to_owned(), ..negotiating() };
    let mut bench = Bench::new(&config(Standard::N), &radio, &circle(20), 1);
    for from in 1..=20 {
        bench.saturate(at(0.0), Saturated { from, to: 0, size: 1500 }, 64);
    }
    bench.run(at(3e6));
    let mut known = BTreeSet::new();
    bench.medium.pending(&mut |packet| {
        known.insert(*packet);
    });
    known.extend(bench.events.iter().filter_map(|(_, event)| match event {
        Event::Received { packet, .. } => Some(*packet),
        _ => None,
    }));
    let acknowledged = bench.events.iter().filter_map(|(_, event)| match event {
        Event::Acknowledged { packet } => Some(*packet),
        _ => None,
    });
    let lost: Vec<_> = acknowledged.filter(|packet| !known.contains(packet)).collect();
    assert_eq!(lost, []);
    assert!(bench.acknowledged() > 5_000, "{}", bench.acknowledged());
}
