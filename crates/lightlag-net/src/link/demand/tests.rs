use super::*;
use crate::link::{Disturbance, LinkConfig, LinkModel, Outage, Phase, QueuedLink, Timetable};
use crate::queue::DropTail;
use crate::{EndpointId, Loss, LossProcess, NodeId, PacketFlags, QueueLimit};
use lightlag_core::{Probability, RandomStream};
use proptest::prelude::*;

/// Demand of a terminal of a geostationary satellite: frames of 26.5 ms, and the latency of a round trip.
const DEMAND: Demand = Demand {
    frame: Duration::from_micros(26_500),
    latency: Duration::from_millis(560),
    constant: None,
    free: None,
    most: Rate::from_mbps(2),
};
const DELAY: Duration = Duration::from_millis(280);

fn link(demand: Demand, queue: u64, loss: f64) -> QueuedLink<u32> {
    let config = LinkConfig { rate: Rate::from_mbps(8), delay: DELAY, queue: QueueLimit::Packets(queue), header: 0 };
    let loss = Loss::Packet(Probability::new(loss).unwrap());
    let loss = LossProcess::new(&loss, RandomStream::new(1, "loss"));
    QueuedLink::new(config, Box::new(DropTail::new(config.queue)), loss, Disturbance::none()).on_demand(demand)
}

fn packet(body: u32, size: u16) -> Packet<u32> {
    Packet::new(NodeId(1), EndpointId(0), size, PacketFlags::new(true), body)
}

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

/// Returns the departure times of packets from the transmitter: their arrivals minus the propagation delay.
fn departures(link: &mut QueuedLink<u32>) -> Vec<Duration> {
    let mut departures = Vec::new();
    while let Some(now) = link.next_wake() {
        if link.receive(now).is_some() {
            departures.push(now.since(Instant::ZERO).saturating_sub(DELAY));
        }
    }
    departures
}

#[test]
fn the_first_packet_waits_for_the_latency_and_up_to_a_frame() {
    // 1000 B at 8 Mbit/s: 1 ms.
    for micros in [0, 1, 5_000, 13_250, 26_499, 26_500, 26_501, 999_999, 7_654_321] {
        let mut link = link(DEMAND, 100, 0.0);
        link.send(at(micros), packet(0, 1_000));
        let wait = departures(&mut link)[0].as_nanos() - 1_000_000 - micros * 1_000;
        let frames = micros / 26_500 + 1;
        assert_eq!(wait, (frames * 26_500 + 560_000 - micros) * 1_000, "until the next request, and the latency");
        assert!((560_000_000..=586_500_000).contains(&wait), "{wait}");
    }
}

#[test]
fn a_grant_after_the_delay_fell_is_not_missed() {
    // Packets wait for grants in one phase, and are sent in another, in which they arrive sooner. A caller that calls
    // the link only when requested receives each packet at the same time as one that polls constantly.
    let waiting = Demand { latency: Duration::from_millis(78), frame: Duration::from_millis(17), ..DEMAND };
    for micros in (1_000..200_000).step_by(500) {
        let phase = |from, delay| Phase { from, rate: Rate::from_mbps(8), delay, is_up: true, loses: false };
        let phases = [phase(at(0), Duration::from_millis(50)), phase(at(micros), Duration::ZERO)];
        let sending = || {
            let timetable = Timetable::new(phases, Outage::Hold, false);
            let mut link = link(waiting, 100, 0.0).changing(timetable).on_demand(waiting);
            (0..3).for_each(|body| link.send(at(0), packet(body, 1_000)));
            link
        };
        let mut link = sending();
        let mut woken = Vec::new();
        while let Some(now) = link.next_wake() {
            woken.extend(link.receive(now).map(|packet| (packet.body, now.as_nanos() / 1_000)));
        }
        let mut link = sending();
        let mut watched = Vec::new();
        for micros in 0..300_000 {
            while let Some(packet) = link.receive(at(micros)) {
                watched.push((packet.body, micros));
            }
        }
        assert_eq!(woken, watched, "{micros}");
    }
}

#[test]
fn a_saturated_terminal_uses_its_full_assignment() {
    for max_kbps in [64, 500, 2_000, 7_999] {
        let max = Rate::from_bps(max_kbps * 1_000).unwrap();
        let mut link = link(Demand { most: max, ..DEMAND }, 1_000_000, 0.0);
        (0..5_000).for_each(|body| link.send(at(0), packet(body, 1_000)));
        let left = departures(&mut link);
        let (first, last) = (left[0], left[4_999]);
        let rate = 8.0 * 4_999_000.0 / (last.as_secs_f64() - first.as_secs_f64());
        // Within a frame of the total time.
        let share = 0.0265 / (last.as_secs_f64() - first.as_secs_f64());
        assert!((rate / max.as_bps() as f64 - 1.0).abs() < 2.0 * share + 1e-3, "{max}: {rate}");
    }
}

#[test]
fn each_byte_is_requested_once() {
    // One packet per frame: 1000 B in 26.5 ms.
    let most = Rate::from_bps(301_887).unwrap();
    let mut link = link(Demand { most, ..DEMAND }, 100, 0.0);
    (0..10).for_each(|body| link.send(at(1), packet(body, 1_000)));
    let left = departures(&mut link);
    for (number, time) in left.iter().enumerate() {
        let frame = Duration::from_micros(26_500 * (number as u64 + 1) + 560_000);
        assert!((frame..frame + DEMAND.frame).contains(time), "packet {number} is sent in its frame: {time:?}");
    }
    // Nothing was requested twice: later, no capacity is available without a request.
    let later = left[9] + Duration::from_micros(1);
    link.send(Instant::ZERO + later, packet(10, 1_000));
    let wait = departures(&mut link)[0].saturating_sub(later);
    assert!(wait >= DEMAND.latency, "{wait:?}");
}

#[test]
fn a_constant_assignment_needs_no_request() {
    // 64 kbit/s are 212 B in a frame of 26.5 ms.
    let constant = Some(Rate::from_bps(64_000).unwrap());
    let mut link = link(Demand { constant, ..DEMAND }, 100, 0.0);
    link.send(at(30_000), packet(0, 200));
    assert_eq!(departures(&mut link), [Duration::from_micros(30_200)], "immediately");
    // A packet of 1000 B is sent in parts: 212 B immediately, and 4 · 212 B starting with the next frame of grants.
    // Frames of grants start 560 mod 26.5 = 3.5 ms after frames of requests, so the fifth starts at 56.5 + 3 · 26.5 +
    // 26.5 ms.
    let mut link = self::link(Demand { constant, ..DEMAND }, 100, 0.0);
    link.send(at(31_000), packet(0, 1_000));
    assert_eq!(departures(&mut link), [Duration::from_micros(56_500 + 3 * 26_500 + 1_000 - 4 * 212)]);
}

#[test]
fn free_capacity_is_limited_by_the_maximum_assignment() {
    let free = Some(Rate::from_mbps(1));
    let mut alone = link(Demand { free, ..DEMAND }, 10_000, 0.0);
    alone.send(at(30_000), packet(0, 1_000));
    assert_eq!(departures(&mut alone), [Duration::from_micros(31_000)]);
    // In total with requests it does not exceed the maximum assignment.
    let mut busy = link(Demand { free, ..DEMAND }, 10_000, 0.0);
    (0..5_000).for_each(|body| busy.send(at(0), packet(body, 1_000)));
    let rate = 40e6 / departures(&mut busy)[4_999].as_secs_f64();
    assert!((1.85e6..2.01e6).contains(&rate), "{rate}");
}

#[test]
fn an_outage_holds_granted_capacity() {
    let phase = |micros, is_up| Phase { from: at(micros), rate: Rate::from_mbps(8), delay: DELAY, is_up, loses: false };
    let phases = [phase(0, true), phase(100_000, false), phase(900_000, true)];
    let mut link = link(DEMAND, 100, 0.0).changing(Timetable::new(phases, Outage::Hold, false));
    link.send(at(1), packet(0, 1_000));
    // Granted for the frame that starts at 586.5 ms, which passes unused; requested again, and granted 560 ms later.
    let left = departures(&mut link)[0];
    assert!(left > Duration::from_millis(900) && left < Duration::from_millis(1_500), "{left:?}");
    assert_eq!(link.in_flight(), 0);
}

proptest! {
    #[test]
    fn packets_are_conserved_and_in_order(
        gaps in prop::collection::vec((0u64..200_000, 40u16..1500), 1..200),
        loss in 0.0..0.5_f64,
        limit in 1u64..30,
        rates in (0u64..100, 0u64..100, 1u64..3_000),
        times in (1u64..50_000, 0u64..700_000),
    ) {
        let rate = |kbps: u64| Rate::from_bps(kbps * 1_000);
        let demand = Demand {
            frame: Duration::from_micros(times.0),
            latency: Duration::from_micros(times.1),
            constant: rate(rates.0),
            free: rate(rates.1),
            most: rate(rates.2).unwrap(),
        };
        let mut link = link(demand, limit, loss);
        let conserved = |link: &QueuedLink<u32>| {
            let c = link.counters();
            c.offered == c.dropped_queue + c.dropped_error + c.delivered + link.in_flight() as u64
        };
        let (mut now, mut last) = (0, 0);
        for (body, (gap, size)) in (1..).zip(&gaps) {
            while let Some(wake) = link.next_wake().filter(|wake| *wake <= at(now)) {
                if let Some(packet) = link.receive(wake) {
                    prop_assert!(packet.body > last, "in order");
                    last = packet.body;
                }
                prop_assert!(conserved(&link));
            }
            link.send(at(now), packet(body, *size));
            let _ = link.dropped().count();
            prop_assert!(conserved(&link));
            now += gap;
        }
        departures(&mut link);
        prop_assert!(conserved(&link) && link.in_flight() == 0, "every packet is sent in the end");
        let bytes: u64 = gaps.iter().map(|(_, size)| u64::from(*size)).sum();
        prop_assert!(link.totals(Instant::MAX).carried_bytes <= bytes);
    }
}
