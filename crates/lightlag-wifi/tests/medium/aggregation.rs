//! A-MPDUs with block acknowledgements, compared with closed forms and with ns-3.37.
//!
//! The values of ns-3 are in `benchmarks/simulators/ns3/air.json`: `ns3-air-saturation --standard=n --mode=HtMcs7`, 10
//! s.

use crate::bench::{Bench, Event, Saturated, at, circle, config, place};
use lightlag_core::Duration;
use lightlag_mobility::Vector;
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use lightlag_net::queue::DropCause;
use lightlag_wifi::phy::{Band, ErrorCurves, ErrorModel, Guard, PhyMode, Standard, Width, noise_floor};
use lightlag_wifi::{FrameKind, MissingBlockAck, Radio};

fn mcs(number: u32, aggregation: f64) -> Radio {
    Radio { rate: format!("mcs{number}"), aggregation, ..Radio::default() }
}

/// Returns the bytes of an A-MPDU with this number of packets of 1500 B.
fn of(packets: u32) -> f64 {
    f64::from(packets * 1544)
}

fn saturated(radio: &Radio, positions: &[Vector], seconds: f64) -> Bench {
    let mut bench = Bench::new(&config(Standard::N), radio, positions, 1);
    for from in 1..positions.len() as u32 {
        bench.saturate(at(0.0), Saturated { from, to: 0, size: 1500 }, 130);
    }
    bench.run(at(seconds * 1e6));
    bench
}

fn near(what: &str, ours: f64, theirs: f64, share: f64) {
    assert!((ours / theirs - 1.0).abs() < share, "{what}: {ours} beside {theirs}");
}

#[test]
fn one_station_takes_the_sum_of_its_times() {
    for (packets, ns3) in [(1, 26139.0), (2, 34556.0), (4, 41716.0), (8, 46552.0), (16, 49408.0), (28, 50736.0)] {
        let bench = saturated(&mcs(7, of(packets)), &circle(1), 30.0);
        // AIFS 43 + mean backoff 67.5 + PPDU + SIFS 16 + ACK 28 or block ACK 32.
        let (size, answer) = if packets == 1 { (1538, 28.0) } else { (1544 * packets - 2, 32.0) };
        let ppdu = 36.0 + 4.0 * f64::from((16 + 8 * size + 6_u32).div_ceil(260));
        let cycle = 43.0 + 67.5 + ppdu + 16.0 + answer;
        let ours = bench.acknowledged() as f64;
        near(&format!("{packets} packets"), ours, 30e6 / cycle * f64::from(packets), 0.003);
        near(&format!("{packets} packets, ns-3"), ours / 3.0, ns3, 0.005);
        let counters = bench.medium.station_counters(StationId(1), at(1e9));
        if packets > 1 {
            assert!(counters.aggregated > counters.aggregates * u64::from(packets) * 99 / 100, "{counters:?}");
        }
    }
}

#[test]
fn without_aggregation_and_at_legacy_rates_every_frame_has_its_ack() {
    let legacy = Radio { rate: "54 Mbit/s".to_owned(), ..Radio::default() };
    for radio in [mcs(7, 0.0), legacy] {
        let bench = saturated(&radio, &circle(1), 0.1);
        assert_eq!(bench.medium.station_counters(StationId(1), at(1e9)).aggregates, 0);
        assert!(bench.acknowledged() > 100);
    }
}

/// Returns the distance over which a packet of 1500 B at MCS 7 is lost with this probability, and its exact probability
/// of loss there.
fn loses(share: f64) -> (f64, f64) {
    let curves = ErrorCurves::new(ErrorModel::Nist);
    let mode = PhyMode::ht(7, Width::Mhz20, Guard::Long, Band::Ghz5).unwrap();
    let lost = |distance: f64| {
        let loss = 46.6777 + 30.0 * libm::log10(distance);
        let snr = libm::pow(10.0, (16.0206 - loss) / 10.0) / noise_floor(Width::Mhz20, 7.0);
        1.0 - libm::exp(curves.ln_success(mode, snr, 8 * 1542))
    };
    let (mut near, mut far) = (1.0, 50.0);
    for _ in 0..60 {
        let middle = 0.5 * (near + far);
        if lost(middle) < share { near = middle } else { far = middle }
    }
    (near, lost(near))
}

#[test]
fn an_aggregate_loses_mpdus_one_by_one() {
    let (distance, lost) = loses(0.2);
    let radio = Radio { max_attempts: 255, ..mcs(7, of(16)) };
    let bench = saturated(&radio, &[Vector::ZERO, place(distance)], 20.0);
    let counters = bench.medium.station_counters(StationId(1), at(1e9));
    let sent = counters.sent as f64;
    // 20 s have about 98 000 MPDUs; the standard error is 0.0013.
    assert!((1.0 - bench.acknowledged() as f64 / sent - lost).abs() < 0.006, "{counters:?}");
    // The receiver releases in order, and nothing is lost.
    let received: Vec<u64> = bench.events.iter().filter_map(received).collect();
    assert!(received.iter().zip(1..).all(|(number, expected)| *number == expected));
    let clean = saturated(&mcs(7, of(16)), &circle(1), 20.0).acknowledged() as f64;
    // A repetition in the A-MPDU leaves the window less often full, and nothing else: goodput falls by the loss of
    // MPDUs.
    near("goodput", bench.acknowledged() as f64, clean * (1.0 - lost), 0.01);
}

fn received((_, event): &(lightlag_core::Instant, Event)) -> Option<u64> {
    match event {
        Event::Received { packet, .. } => Some(packet.1),
        _ => None,
    }
}

#[test]
fn a_dropped_packet_holds_the_others_until_a_request_reports_it() {
    let (distance, lost) = loses(0.5);
    let radio = Radio { max_attempts: 2, ..mcs(7, 65_535.0) };
    let mut bench = Bench::new(&config(Standard::N), &radio, &[Vector::ZERO, place(distance)], 5);
    for _ in 0..200 {
        bench.offer(at(1000.0), 1, Addressee::One(StationId(0)), 1500);
    }
    bench.medium.watch([StationId(1)]);
    bench.run(at(1e6));
    let dropped = bench.count(|of| matches!(of, Event::Dropped { cause: DropCause::Retry, .. })) as f64;
    assert!((dropped / 200.0 - lost * lost).abs() < 0.1, "{dropped} of 200 were dropped");
    let received: Vec<u64> = bench.events.iter().filter_map(received).collect();
    assert_eq!(received.len() as f64, 200.0 - dropped, "nothing that arrived is held for good");
    assert!(received.is_sorted());
    let mut requests = 0;
    while let Some(aired) = bench.medium.next_aired() {
        requests += u32::from(aired.kind == FrameKind::BlockAckRequest);
    }
    assert!(requests > 0);
}

#[test]
fn captures_have_each_mpdu_and_the_block_ack() {
    let mut bench = Bench::new(&config(Standard::N), &mcs(7, of(4)), &circle(1), 1);
    bench.medium.watch([StationId(0)]);
    for _ in 0..4 {
        bench.offer(at(0.0), 1, Addressee::One(StationId(0)), 1500);
    }
    bench.run(at(1e5));
    let aired: Vec<_> = std::iter::from_fn(|| bench.medium.next_aired()).collect();
    let kinds: Vec<_> = aired.iter().map(|of| (of.kind, of.packet, of.aggregate.map(|of| of.1))).collect();
    let data = |packet, last| (FrameKind::Data, packet, last);
    // All four were queued before the station's first event.
    assert_eq!(
        kinds,
        [
            data(1, Some(false)),
            data(2, Some(false)),
            data(3, Some(false)),
            data(4, Some(true)),
            (FrameKind::BlockAck, 1, None),
        ]
    );
    assert_eq!(aired[4].bitmap, 0b1111);
    assert_eq!(aired[4].length, Duration::from_micros(32));
}

#[test]
fn rts_covers_the_entire_aggregate() {
    let radio = Radio { rts_threshold: 3000, ..mcs(7, of(4)) };
    let bench = saturated(&radio, &circle(1), 5.0);
    // RTS 52 and CTS 44 at 6 Mbit/s, each with SIFS, before four packets.
    let ppdu = 36.0 + 4.0 * f64::from((16 + 8 * (1544 * 4 - 2) + 6_u32).div_ceil(260));
    let cycle = 43.0 + 67.5 + 52.0 + 16.0 + 44.0 + 16.0 + ppdu + 16.0 + 32.0;
    near("with RTS", bench.acknowledged() as f64, 5e6 / cycle * 4.0, 0.005);
}

/// With ten or more stations, packets expire in the queues. The goodput of ns-3 is the same if it doubles the
/// contention window after each failed request (`--keep-window`, twelve seeds). Otherwise it is lower, by 4 % with ten
/// stations and 19 % with twenty (docs/simulators-air.md).
#[test]
fn stations_share_the_medium_as_in_ns_3() {
    for (stations, ns3) in [(2, 47628.0), (5, 41460.5), (10, 36283.0), (20, 30864.0)] {
        let bench = saturated(&mcs(7, 65_535.0), &circle(stations), 10.0);
        near(&format!("{stations} stations"), bench.acknowledged() as f64, ns3, 0.02);
    }
}

/// IEEE 802.11-2020 §10.25.6.7: a receiver does not wait for packets that their sender has dropped because they are too
/// old.
#[test]
fn an_expired_packet_is_reported_to_its_receiver_immediately() {
    let (distance, _) = loses(0.5);
    let radio = Radio { lifetime: Duration::from_millis(20), max_attempts: 255, ..mcs(7, of(4)) };
    let mut bench = Bench::new(&config(Standard::N), &radio, &[Vector::ZERO, place(distance)], 5);
    for _ in 0..100 {
        bench.offer(at(1000.0), 1, Addressee::One(StationId(0)), 1500);
    }
    bench.medium.watch([StationId(1)]);
    bench.run(at(1e6));
    let dropped = bench.count(|of| matches!(of, Event::Dropped { cause: DropCause::Lifetime, .. }));
    assert!(dropped > 0 && bench.count(|of| matches!(of, Event::Dropped { .. })) == dropped);
    // Later ones were received before it expired, and are released after one exchange, not after the 100 ms that a
    // receiver waits without a notification.
    let last = bench.events.iter().rfind(|event| received(event).is_some()).unwrap().0;
    assert!(last < at(30_000.0), "{last}");
    let kinds: Vec<FrameKind> = std::iter::from_fn(|| bench.medium.next_aired()).map(|aired| aired.kind).collect();
    assert!(kinds.contains(&FrameKind::BlockAckRequest));
}

#[test]
fn block_ack_requests_take_time_from_packets() {
    let carried = |missing_block_ack| {
        saturated(&Radio { missing_block_ack, ..mcs(7, 65_535.0) }, &circle(5), 10.0).acknowledged() as f64
    };
    // A request after each of the 28 % of A-MPDUs that collide.
    let more = carried(MissingBlockAck::Repeat) / carried(MissingBlockAck::Ask) - 1.0;
    assert!((0.03..0.09).contains(&more), "{more}");
}
