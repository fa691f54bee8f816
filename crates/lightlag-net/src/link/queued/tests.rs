use super::*;
use crate::queue::{DropCause, DropTail};
use crate::{ComputedLink, EndpointId, Loss, LossPlace, NodeId, PacketFlags, QueueLimit, Reordering};
use lightlag_core::{Duration, Probability, RandomStream};
use proptest::prelude::*;

fn packet(body: u32, size: u16) -> Packet<u32> {
    Packet::new(NodeId(1), EndpointId(0), size, PacketFlags::new(true), body)
}

fn config(queue: QueueLimit) -> LinkConfig {
    // 8 Mbit/s: 1 µs a byte.
    LinkConfig { rate: "8 Mbit/s".parse().unwrap(), delay: Duration::from_micros(2_500), queue, header: 0 }
}

fn stream(name: &str) -> RandomStream {
    RandomStream::new(1, name)
}

fn lossless() -> LossProcess {
    LossProcess::new(&Loss::None, stream("loss"))
}

fn disturbed(disturbance: Disturbance) -> QueuedLink<u32> {
    let config = config(QueueLimit::Packets(1_000));
    QueuedLink::new(config, Box::new(DropTail::new(config.queue)), lossless(), disturbance)
}

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

/// Returns the arrivals: time in microseconds, body.
fn arrivals(link: &mut QueuedLink<u32>) -> Vec<(u64, u32)> {
    let mut arrivals = Vec::new();
    while let Some(now) = link.next_wake() {
        if let Some(packet) = link.receive(now) {
            arrivals.push((now.as_nanos() / 1_000, packet.body));
        }
    }
    arrivals
}

fn certain() -> Probability {
    Probability::new(1.0).unwrap()
}

#[test]
fn a_delayed_packet_lets_later_ones_pass() {
    let hold = |micros| Duration::from_micros(micros);
    // The first of the stream's draws below 0.3 hits the third packet.
    let some = Reordering { probability: Probability::new(0.3).unwrap(), least: hold(3_500), most: hold(3_500) };
    let mut link = disturbed(Disturbance::none().reordering(some, stream("reorder")));
    for body in 0..8 {
        link.send(at(0), packet(body, 1_000));
    }
    let arrived = arrivals(&mut link);
    // Packet n is sent after n + 1 ms and arrives 2.5 ms later, or 3.5 ms after that if it is delayed.
    let expected = |body: u32, held: bool| (u64::from(body) * 1_000 + 3_500 + if held { 3_500 } else { 0 }, body);
    let held: Vec<u32> = (0..8).filter(|body| arrived.contains(&expected(*body, true))).collect();
    let mut all: Vec<(u64, u32)> = (0..8).map(|body| expected(body, held.contains(&body))).collect();
    all.sort_unstable();
    assert_eq!(arrived, all);
    assert!(!held.is_empty() && held.len() < 8, "{held:?}");
    assert_eq!(link.counters().reordered, held.len() as u64);
    assert!(arrived.windows(2).any(|pair| pair[0].1 > pair[1].1), "a packet was overtaken: {arrived:?}");
}

#[test]
fn the_extra_delay_is_uniform_between_its_bounds() {
    let (min, max) = (Duration::from_millis(1), Duration::from_millis(10));
    let mut disturbance =
        Disturbance::none().reordering(Reordering { probability: certain(), least: min, most: max }, stream("reorder"));
    let n = 100_000;
    let extra: Vec<Duration> = (0..n).filter_map(|_| disturbance.held_back()).collect();
    assert_eq!(extra.len(), n);
    assert!(extra.iter().all(|extra| (min..=max).contains(extra)));
    let mean = extra.iter().map(|extra| extra.as_secs_f64()).sum::<f64>() / n as f64;
    // Uniform on 1 to 10 ms: mean 5.5 ms, standard deviation 9 ms/√12 = 2.6 ms, of the mean 8.2 µs; five of those.
    assert!((mean - 5.5e-3).abs() < 41e-6, "{mean}");
}

#[test]
fn a_copy_arrives_right_after_its_packet() {
    let mut link = disturbed(Disturbance::none().duplicating(certain(), stream("duplicate")));
    for body in 0..3 {
        link.send(at(0), packet(body, 1_000));
    }
    let arrived = arrivals(&mut link);
    assert_eq!(arrived, [(3_500, 0), (3_500, 0), (4_500, 1), (4_500, 1), (5_500, 2), (5_500, 2)]);
    assert_eq!((link.counters().duplicated, link.counters().delivered, link.counters().offered), (3, 6, 3));
    // Copies take no time on the link.
    assert_eq!(link.totals(at(6_000)).busy, 3_000_000);
}

#[test]
fn totals_stop_at_the_end_of_the_run() {
    // Three packets of 1 ms each at time 0: they wait 0, 1 and 2 ms.
    let mut link = disturbed(Disturbance::none());
    for body in 0..3 {
        link.send(at(0), packet(body, 1_000));
    }
    let ms = 1_000_000_u128;
    link.catch_up(at(1_500));
    // Two have started, 1.5 ms of transmission; the second has waited 1 ms, the third 1.5 ms.
    assert_eq!(
        link.totals(at(1_500)),
        LinkTotals { carried_bytes: 2000, busy: ms * 3 / 2, queued: ms * 5 / 2, frames: None }
    );
    link.catch_up(at(10_000));
    assert_eq!(link.totals(at(10_000)), LinkTotals { carried_bytes: 3000, busy: 3 * ms, queued: 3 * ms, frames: None });
}

mod changes;

proptest! {
    /// A drop-tail queue has the same results on both kinds of link, no matter when the link is called.
    #[test]
    fn agrees_with_the_computed_link(
        gaps in prop::collection::vec((0u64..3_000_000, 40u16..1500, any::<bool>()), 1..300),
        limit in 1u64..20,
        in_bytes in any::<bool>(),
        loss in 0.0..0.5_f64,
    ) {
        let config = config(if in_bytes { QueueLimit::Bytes(1500 + limit * 700) } else { QueueLimit::Packets(limit) });
        let loss = || LossProcess::new(&Loss::Packet(Probability::new(loss).unwrap()), stream("loss"));
        let mut computed = ComputedLink::new(config, loss());
        let mut queued = QueuedLink::new(config, Box::new(DropTail::new(config.queue)), loss(), Disturbance::none());
        computed.measure_waits();
        queued.measure_waits();
        let mut now = Instant::ZERO;
        let mut body = 0;
        let check = |computed: &mut ComputedLink<u32>, queued: &mut QueuedLink<u32>, until: Instant| {
            while let Some(time) = computed.next_arrival().filter(|at| *at <= until) {
                prop_assert_eq!(queued.next_wake(), Some(time));
                let (ours, theirs) = (queued.receive(time).unwrap(), computed.receive());
                prop_assert_eq!((ours.body, ours.flags), (theirs.body, theirs.flags));
            }
            Ok(())
        };
        for (gap, size, look) in gaps {
            now += Duration::from_nanos(gap);
            check(&mut computed, &mut queued, now)?;
            body += 1;
            let accepted = computed.send(now, &packet(body, size)).is_ok();
            queued.send(now, packet(body, size));
            let dropped: Vec<(Instant, u32)> = queued.dropped().map(|dropped| (dropped.at, dropped.packet.body)).collect();
            prop_assert_eq!(dropped, if accepted { vec![] } else { vec![(now, body)] });
            prop_assert_eq!(computed.in_flight(), queued.in_flight());
            if look {
                prop_assert_eq!(computed.backlog(now), queued.backlog(now));
            }
        }
        prop_assert_eq!(computed.counters(), queued.counters());
        check(&mut computed, &mut queued, Instant::MAX)?;
        let end = now + Duration::from_secs(10);
        queued.catch_up(end);
        prop_assert_eq!(computed.totals(end), queued.totals(end));
        prop_assert_eq!(computed.counters(), queued.counters());
        prop_assert_eq!(computed.waits(), queued.waits());
    }

    #[test]
    fn packets_are_conserved(
        sizes in prop::collection::vec(40u16..1500, 1..200),
        loss in 0.0..1.0_f64,
        limit in 1u64..30,
        doubled in 0.0..1.0_f64,
        held in 0.0..1.0_f64,
    ) {
        let config = config(QueueLimit::Packets(limit));
        let chance = |p| Probability::new(p).unwrap();
        let hold = Reordering { probability: chance(held), least: Duration::ZERO, most: Duration::from_millis(9) };
        let disturbance = Disturbance::none()
            .reordering(hold, stream("reorder"))
            .duplicating(chance(doubled), stream("duplicate"));
        let loss = LossProcess::new(&Loss::Packet(chance(loss)), stream("loss"));
        let mut link = QueuedLink::new(config, Box::new(DropTail::new(config.queue)), loss, disturbance);
        let conserved = |link: &QueuedLink<u32>| {
            let c = link.counters();
            let gone = c.dropped_queue + c.dropped_aqm + c.dropped_error + c.delivered;
            c.offered + c.duplicated == gone + link.in_flight() as u64
        };
        let (mut last, mut now) = (Instant::ZERO, Instant::ZERO);
        for (body, size) in sizes.iter().enumerate() {
            while let Some(wake) = link.next_wake().filter(|wake| *wake <= now) {
                prop_assert!(wake >= last, "time advances");
                last = wake;
                link.receive(wake);
                prop_assert!(conserved(&link));
            }
            link.send(now, packet(body as u32, *size));
            prop_assert!(conserved(&link));
            now += Duration::from_micros(300);
        }
        arrivals(&mut link);
        prop_assert!(conserved(&link) && link.in_flight() == 0);
    }
}

#[test]
fn a_loss_before_the_queue_takes_neither_space_nor_time() {
    let numbers = Loss::Numbered(vec![1, 3]);
    let loss = LossProcess::new(&numbers, stream("loss")).at(LossPlace::BeforeQueue);
    let config = config(QueueLimit::Packets(2));
    let mut link = QueuedLink::new(config, Box::new(DropTail::new(config.queue)), loss, Disturbance::none());
    for body in 1..=6 {
        link.send(at(0), packet(body, 1_000));
    }
    // 1 and 3 are lost; 2 is in transmission, 4 and 5 wait, 6 finds the queue full.
    let dropped: Vec<(u32, DropCause)> = link.dropped().map(|drop| (drop.packet.body, drop.cause)).collect();
    assert_eq!(dropped, [(1, DropCause::Error), (3, DropCause::Error), (6, DropCause::Queue)]);
    assert_eq!(arrivals(&mut link), [(3_500, 2), (4_500, 4), (5_500, 5)]);
    let counters = link.counters();
    assert_eq!((counters.offered, counters.dropped_error, counters.dropped_queue, counters.delivered), (6, 2, 1, 3));
}

#[test]
fn a_loss_after_the_queue_has_used_both() {
    let loss = LossProcess::new(&Loss::Numbered(vec![1, 3]), stream("loss"));
    let config = config(QueueLimit::Packets(2));
    let mut link = QueuedLink::new(config, Box::new(DropTail::new(config.queue)), loss, Disturbance::none());
    for body in 1..=4 {
        link.send(at(0), packet(body, 1_000));
    }
    // 4 found the queue full, so it has no number; 1 and 3 arrive corrupted.
    let mut intact = Vec::new();
    while let Some(now) = link.next_wake() {
        intact.extend(link.receive(now).filter(|packet| !packet.flags.is_corrupted()).map(|packet| packet.body));
    }
    assert_eq!(intact, [2]);
    assert_eq!(link.totals(at(10_000)).busy, 3_000_000);
}

#[test]
fn without_a_buffer_only_an_idle_link_takes_a_packet() {
    let config = config(QueueLimit::Packets(0));
    let mut queued = QueuedLink::new(config, Box::new(DropTail::new(config.queue)), lossless(), Disturbance::none());
    let mut computed = ComputedLink::new(config, lossless());
    for (time, body) in [(0, 1), (0, 2), (999, 3), (1_000, 4), (1_500, 5)] {
        queued.send(at(time), packet(body, 1_000));
        let taken = computed.send(at(time), &packet(body, 1_000)).is_ok();
        assert_eq!(taken, [1, 4].contains(&body), "packet {body} on a computed link");
    }
    assert_eq!(arrivals(&mut queued), [(3_500, 1), (4_500, 4)]);
}
