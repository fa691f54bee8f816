use super::*;
use crate::link::{ComputedLink, Disturbance, LinkConfig, LinkModel, QueuedLink};
use crate::queue::{DropCause, DropTail};
use crate::{EndpointId, Loss, LossProcess, PacketFlags, QueueLimit};
use lightlag_core::RandomStream;
use proptest::prelude::*;

/// Nodes on a line. Node `n` starts at a distance of `n` ms, and approaches by 20 µs per second for 100 s.
#[derive(Debug)]
struct Line;

impl Flight for Line {
    fn light_time(&self, _: u32, to: u32, time: Instant) -> Duration {
        Duration::from_nanos(u64::from(to) * 1_000_000 - time.as_nanos().min(100_000_000_000) / 50_000)
    }

    fn elevation(&self, _: u32, to: u32, time: Instant) -> f64 {
        time.as_secs_f64() / 10.0 + f64::from(to) / 100.0
    }
}

fn end(number: u32) -> FarEnd {
    FarEnd { number, node: NodeId(number) }
}

/// Returns a link of 8 Mbit/s, 1 µs per byte. Destinations 0 to 3 have the exits 0, 1, 1 and none.
fn link(beam: Beam) -> QueuedLink<u32> {
    let queue = QueueLimit::Packets(10);
    let config = LinkConfig { rate: "8 Mbit/s".parse().unwrap(), delay: Duration::ZERO, queue, header: 0 };
    let loss = LossProcess::new(&Loss::None, RandomStream::new(1, "loss"));
    QueuedLink::new(config, Box::new(DropTail::new(queue)), loss, Disturbance::none()).beaming(beam)
}

fn dish() -> QueuedLink<u32> {
    link(Beam::by_exit(Arc::new(Line), 0, [0, 1, 1, NO_EXIT].into(), 2))
}

fn packet(destination: u32, body: u32) -> Packet<u32> {
    Packet::new(NodeId(destination), EndpointId(0), 1_000, PacketFlags::new(true), body)
}

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

/// Returns the arrivals: time in microseconds, body, node.
fn arrivals(link: &mut QueuedLink<u32>) -> Vec<(u64, u32, u32)> {
    let mut arrivals = Vec::new();
    while let Some(now) = link.next_wake() {
        if let Some((packet, node)) = link.receive_at(now) {
            arrivals.push((now.as_nanos() / 1_000, packet.body, node.unwrap().0));
        }
    }
    arrivals
}

#[test]
fn a_packet_travels_for_the_time_of_light_when_its_transmission_starts() {
    let mut link = link(Beam::between(Arc::new(Line), 0, end(5)));
    link.send(at(0), packet(0, 1));
    // 1 ms of transmission and 5 ms of flight; 50 s later the end is 1 ms nearer.
    assert_eq!(arrivals(&mut link), [(6_000, 1, 5)]);
    link.send(at(50_000_000), packet(0, 2));
    assert_eq!(arrivals(&mut link), [(50_005_000, 2, 5)]);
}

#[test]
fn packets_to_a_nearer_end_overtake() {
    let mut link = dish();
    link.aim(at(0), 0, Some(end(9)), Unrest::default());
    link.aim(at(0), 1, Some(end(5)), Unrest::default());
    link.send(at(0), packet(0, 1));
    link.send(at(0), packet(2, 2));
    assert_eq!(arrivals(&mut link), [(6_999, 2, 5), (10_000, 1, 9)]);
}

#[test]
fn a_blind_dish_holds_waiting_packets_until_it_is_aimed() {
    let mut link = dish();
    link.send(at(0), packet(0, 1));
    assert_eq!(link.next_wake(), None);
    link.aim(at(5_000), 0, Some(end(5)), Unrest::default());
    assert_eq!(arrivals(&mut link), [(10_999, 1, 5)]);
}

#[test]
fn waiting_packets_follow_the_dish_and_sent_ones_do_not() {
    let mut link = dish();
    link.aim(at(0), 0, Some(end(5)), Unrest::default());
    for body in 1..=3 {
        link.send(at(0), packet(0, body));
    }
    // In transmission: the second.
    link.aim(at(1_500), 0, Some(end(9)), Unrest::default());
    assert_eq!(arrivals(&mut link), [(6_000, 1, 5), (6_999, 2, 5), (11_999, 3, 9)]);
}

#[test]
fn a_packet_without_a_far_end_is_dropped_where_others_have_one() {
    let mut link = dish();
    link.aim(at(0), 0, Some(end(5)), Unrest::default());
    link.send(at(0), packet(1, 1));
    link.send(at(0), packet(3, 2));
    link.send(at(0), packet(0, 3));
    let dropped: Vec<_> = link.dropped().map(|dropped| (dropped.packet.body, dropped.cause)).collect();
    assert_eq!(dropped, [(1, DropCause::NoRoute), (2, DropCause::NoRoute)]);
    assert_eq!(arrivals(&mut link), [(6_000, 3, 5)]);
    let counters = link.counters();
    assert_eq!((counters.offered, counters.dropped_route, counters.delivered), (3, 2, 1));
}

#[test]
fn a_handover_withdraws_loses_and_holds() {
    let mut link = dish();
    link.aim(at(0), 0, Some(end(5)), Unrest::default());
    for body in 1..=4 {
        link.send(at(0), packet(0, body));
    }
    link.lose_in_flight(at(2_500), &mut |packet| packet.body == 1);
    let back = link.withdraw(at(2_500), &mut |packet| packet.body == 4);
    assert_eq!(back.iter().map(|packet| packet.body).collect::<Vec<_>>(), [4]);
    // The third is in transmission; the next may leave at 20 ms and not before.
    link.aim(at(2_500), 0, Some(end(5)), Unrest { held_until: at(20_000), ..Unrest::default() });
    link.send(at(2_500), packet(0, 5));
    let arrived = arrivals(&mut link);
    assert_eq!(arrived.iter().map(|(_, body, _)| *body).collect::<Vec<_>>(), [1, 2, 3, 5]);
    assert_eq!(arrived[3].0, 24_999, "held until 20 ms, then 5 ms of flight");
    let counters = link.counters();
    assert_eq!((counters.withdrawn, counters.dropped_outage, counters.delivered), (1, 1, 3));
}

#[test]
fn packets_that_leave_in_a_burst_after_a_handover_are_lost() {
    let mut link = dish();
    link.aim(at(0), 0, Some(end(5)), Unrest { lost_until: at(2_500), ..Unrest::default() });
    for body in 1..=4 {
        link.send(at(0), packet(0, body));
    }
    assert_eq!(arrivals(&mut link).len(), 4);
    // Those whose transmission starts after 0, 1 and 2 ms.
    let counters = link.counters();
    assert_eq!((counters.dropped_outage, counters.delivered), (3, 1));
}

#[test]
fn the_rate_follows_the_elevation_in_steps() {
    let rate = |mbps| Rate::from_mbps(mbps);
    let rates = Some([(0.0, rate(1)), (0.5, rate(8))].into());
    let mut link = link(Beam::by_exit(Arc::new(Line), 0, [0].into(), 1).at_rates(rates));
    link.aim(at(0), 0, Some(end(5)), Unrest::default());
    link.send(at(0), packet(0, 1));
    link.send(at(10_000_000), packet(0, 2));
    // 8 ms at 1 Mbit/s, 1 ms at 8 Mbit/s, and the distance shrinks by 20 µs per second.
    assert_eq!(arrivals(&mut link), [(13_000, 1, 5), (10_005_800, 2, 5)]);
}

#[test]
fn a_delay_and_a_timetable_come_on_top_of_the_flight() {
    let phase = |from, rate| crate::Phase {
        from,
        rate: Rate::from_mbps(rate),
        delay: Duration::from_millis(2),
        is_up: true,
        loses: false,
    };
    let timetable = crate::Timetable::new(vec![phase(at(0), 8), phase(at(2_000), 4)], crate::Outage::Hold, false);
    let mut link = dish().changing(timetable);
    link.aim(at(0), 0, Some(end(5)), Unrest::default());
    for body in 1..=3 {
        link.send(at(0), packet(0, body));
    }
    let arrived = arrivals(&mut link);
    assert_eq!(arrived, [(8_000, 1, 5), (8_999, 2, 5), (10_999, 3, 5)], "the third takes 2 ms to send");
}

#[test]
fn a_computed_link_to_one_far_end_is_the_same() {
    let beam = || Beam::between(Arc::new(Line), 0, end(5));
    let mut queued = link(beam());
    let loss = LossProcess::new(&Loss::None, RandomStream::new(1, "loss"));
    let mut computed = ComputedLink::new(*queued.config(), loss).beaming(beam());
    let mut expected = Vec::new();
    for burst in 0..50_u32 {
        let now = at(u64::from(burst) * 2_300_000);
        for body in 0..4 {
            queued.send(now, packet(0, 4 * burst + body));
            computed.send(now, &packet(0, 4 * burst + body)).unwrap();
        }
        expected.extend(arrivals(&mut queued).into_iter().map(|(time, body, _)| (time, body)));
    }
    let mut received = Vec::new();
    while let Some(now) = computed.next_arrival() {
        received.push((now.as_nanos() / 1_000, computed.receive().body));
    }
    assert_eq!(received, expected);
    assert_eq!(received.len(), 200);
}

enum Call {
    Send { body: u32, destination: u32 },
    Aim { exit: usize, number: u32 },
}

proptest! {
    #[test]
    fn every_packet_arrives_once_and_in_order_for_each_end(
        sends in prop::collection::vec((0_u64..3_000, 0_u32..3), 1..60),
        aims in prop::collection::vec((0_u64..90_000, 0_usize..2, 1_u32..20), 0..20),
    ) {
        let mut link = dish();
        link.aim(at(0), 0, Some(end(3)), Unrest::default());
        link.aim(at(0), 1, Some(end(7)), Unrest::default());
        let mut calls = Vec::new();
        let mut now = 0;
        for (body, (gap, destination)) in (0..).zip(&sends) {
            now += gap;
            calls.push((now, Call::Send { body, destination: *destination }));
        }
        calls.extend(aims.iter().map(|(time, exit, number)| (*time, Call::Aim { exit: *exit, number: *number })));
        calls.sort_by_key(|(time, _)| *time);
        let mut arrived = Vec::new();
        let mut take = |link: &mut QueuedLink<u32>, until: Instant| {
            while let Some(wake) = link.next_wake().filter(|wake| *wake < until) {
                let known = link.receive_at(wake);
                arrived.extend(known.map(|(packet, node)| (packet.body, packet.destination, node)));
            }
        };
        for (time, call) in calls {
            take(&mut link, at(time));
            match call {
                Call::Send { body, destination } => link.send(at(time), packet(destination, body)),
                Call::Aim { exit, number } => link.aim(at(time), exit, Some(end(number)), Unrest::default()),
            }
        }
        take(&mut link, Instant::MAX);
        let full = link.dropped().count();
        prop_assert_eq!(arrived.len() + full, sends.len());
        let mut bodies: Vec<u32> = arrived.iter().map(|(body, ..)| *body).collect();
        bodies.sort_unstable();
        bodies.dedup();
        prop_assert_eq!(bodies.len(), arrived.len());
        if aims.is_empty() {
            for exit in [vec![0], vec![1, 2]] {
                let order: Vec<u32> =
                    arrived.iter().filter(|(_, to, _)| exit.contains(&to.0)).map(|(body, ..)| *body).collect();
                prop_assert!(order.is_sorted());
            }
        }
    }
}
