use super::*;
use crate::{EndpointId, Loss, NodeId, PacketFlags};
use lightlag_core::{Probability, RandomStream, Rate};
use proptest::prelude::*;

fn packet(size: u16) -> Packet<u32> {
    Packet::new(NodeId(1), EndpointId(0), size, PacketFlags::new(true), 0)
}

fn link(rate: &str, delay: Duration, queue: QueueLimit, loss: &Loss) -> ComputedLink<u32> {
    let config = LinkConfig { rate: rate.parse().unwrap(), delay, queue, header: 0 };
    ComputedLink::new(config, LossProcess::new(loss, RandomStream::new(1, "link")))
}

fn nanos(n: u64) -> Instant {
    Instant::from_nanos(n)
}

#[test]
fn a_packet_arrives_after_serialisation_and_propagation() {
    let mut link = link("10 Mbit/s", Duration::from_millis(300), QueueLimit::Packets(10), &Loss::None);
    link.send(nanos(0), &packet(1500)).unwrap();
    // 12,000 bit / 10 Mbit/s = 1.2 ms
    assert_eq!(link.next_arrival(), Some(nanos(301_200_000)));
}

#[test]
fn back_to_back_packets_keep_the_exact_rate() {
    // 1500 B at 34.368 Mbit/s take 349,162.0111… ns: 10^5 of them must not drift by more than one.
    let mut link = link("34.368 Mbit/s", Duration::ZERO, QueueLimit::Packets(1_000_000), &Loss::None);
    let n = 100_000_u64;
    for _ in 0..n {
        link.send(nanos(0), &packet(1500)).unwrap();
    }
    let mut last = nanos(0);
    while let Some(arrival) = link.next_arrival() {
        last = arrival;
        link.receive();
    }
    assert_eq!(last.as_nanos(), (u128::from(n) * 12_000 * 1_000_000_000 / 34_368_000) as u64);
}

#[test]
fn packets_that_arrive_at_the_departure_of_the_last_one_also_keep_the_exact_rate() {
    // 1500 B at 1000 Tbit/s take 0.012 ns: sent one after the other, they must not stop the clock.
    let mut link = link("1000 Tbit/s", Duration::ZERO, QueueLimit::Packets(1), &Loss::None);
    let n = 100_000_u64;
    let mut now = nanos(0);
    for _ in 0..n {
        link.send(now, &packet(1500)).unwrap();
        now = link.next_arrival().unwrap();
        link.receive();
    }
    assert_eq!(now.as_nanos(), n * 12 / 1000);
}

#[test]
fn the_limit_of_the_queue_excludes_the_packet_in_transmission() {
    let mut link = link("1 Mbit/s", Duration::from_secs(1), QueueLimit::Packets(3), &Loss::None);
    let accepted = (0..10).filter(|_| link.send(nanos(0), &packet(1000)).is_ok()).count();
    assert_eq!(accepted, 4);
    assert_eq!(link.backlog(nanos(0)), Backlog { packets: 3, bytes: 3000 });
    // One packet takes 8 ms: at 8 ms the first has left and exactly one slot is free.
    assert!(link.send(nanos(7_999_999), &packet(1000)).is_err());
    assert!(link.send(nanos(8_000_000), &packet(1000)).is_ok());
    assert!(link.send(nanos(8_000_000), &packet(1000)).is_err());
    assert_eq!(link.counters().max_queue, 3);
    assert_eq!(link.counters().dropped_queue, 8);
}

#[test]
fn a_queue_in_bytes_counts_bytes() {
    let mut link = link("1 Mbit/s", Duration::ZERO, QueueLimit::Bytes(2500), &Loss::None);
    let accepted: Vec<bool> =
        [1000, 1000, 1000, 600, 500].map(|size| link.send(nanos(0), &packet(size)).is_ok()).into();
    // The first is in transmission; 1000 + 1000 + 500 wait; 600 did not fit.
    assert_eq!(accepted, [true, true, true, false, true]);
    assert_eq!(link.backlog(nanos(0)), Backlog { packets: 3, bytes: 2500 });
}

#[test]
fn the_link_header_takes_time() {
    let config =
        LinkConfig { rate: Rate::from_mbps(5), delay: Duration::ZERO, queue: QueueLimit::Packets(1), header: 7 };
    let mut link = ComputedLink::new(config, LossProcess::new(&Loss::None, RandomStream::new(1, "link")));
    link.send(nanos(0), &packet(1064)).unwrap();
    // (1064 + 7) · 8 / 5 Mbit/s = 1713.6 µs
    assert_eq!(link.next_arrival(), Some(nanos(1_713_600)));
}

#[test]
fn totals_stop_at_the_end_of_the_run() {
    // Three packets of 1 ms each at time 0: they wait 0, 1 and 2 ms.
    let mut link = link("8 Mbit/s", Duration::from_millis(5), QueueLimit::Packets(9), &Loss::None);
    for _ in 0..3 {
        link.send(nanos(0), &packet(1000)).unwrap();
    }
    let ms = 1_000_000_u128;
    assert_eq!(
        link.totals(nanos(10_000_000)),
        LinkTotals { carried_bytes: 3000, busy: 3 * ms, queued: 3 * ms, frames: None }
    );
    // At 1.5 ms: two have started, 1.5 ms of transmission; waited: the second 1 ms, the third 1.5 ms.
    assert_eq!(
        link.totals(nanos(1_500_000)),
        LinkTotals { carried_bytes: 2000, busy: ms * 3 / 2, queued: ms * 5 / 2, frames: None }
    );
}

#[test]
fn counts_continue_beyond_32_bits() {
    // 1000 B at 1 kbit/s take 8 s. The second packet waits 7 s and the third 14 s: 2^32 ns are 4.3 s.
    let mut link = link("1 kbit/s", Duration::ZERO, QueueLimit::Packets(9), &Loss::None);
    link.counts = LinkCounts { offered: u32::MAX, sent_bytes: u32::MAX - 999, waiting: 0 };
    let second = 1_000_000_000_u64;
    for at in [1, 2, 3] {
        link.send(nanos(at * second), &packet(1000)).unwrap();
    }
    assert_eq!(link.counters().offered, (1 << 32) + 2);
    let (busy, queued) = (24 * u128::from(second), 21 * u128::from(second));
    assert_eq!(
        link.totals(nanos(25 * second)),
        LinkTotals { carried_bytes: (1 << 32) + 2000, busy, queued, frames: None }
    );
}

proptest! {
    #[test]
    fn a_transmission_takes_the_time_of_an_exact_division(
        rate in prop_oneof![1_u64..1000, 1_u64..1_000_000_000_000, 1_u64..1 << 63],
        before in any::<u64>(),
        frame in 1_u64..1 << 17,
    ) {
        // If a byte takes an integer number of nanoseconds, there is never a remainder.
        let before = if 8_000_000_000 % rate == 0 { 0 } else { before % rate };
        let queue = QueueLimit::Packets(1);
        let config = LinkConfig { rate: Rate::from_bps(rate).unwrap(), delay: Duration::ZERO, queue, header: 0 };
        let work = u128::from(frame) * 8_000_000_000 + u128::from(before);
        let (nanos, rest) = LinkConstants::new(config).transmission(frame, before);
        prop_assert_eq!(u128::from(nanos) * u128::from(rate) + u128::from(rest), work);
        prop_assert!(rest < rate);
    }

    /// Comparison with a direct model of the queue: a list of the start and end of each packet's transmission.
    #[test]
    fn agrees_with_a_plain_model(
        gaps in prop::collection::vec((0u64..3_000_000, 40u16..1500), 1..300),
        limit in 1u64..20,
        in_bytes in any::<bool>(),
    ) {
        let queue = if in_bytes { QueueLimit::Bytes(limit * 700) } else { QueueLimit::Packets(limit) };
        let delay = Duration::from_micros(2_500);
        let mut link = link("8 Mbit/s", delay, queue, &Loss::None);
        let mut model: Vec<(u64, u64, u64)> = Vec::new();
        let (mut now, mut arrivals, mut max_queue) = (0, Vec::new(), 0);
        for (gap, size) in gaps {
            now += gap;
            while link.next_arrival().is_some_and(|at| at <= nanos(now)) {
                arrivals.push(link.next_arrival().unwrap().as_nanos());
                link.receive();
            }
            let waiting: Vec<u64> = model.iter().filter(|(start, _, _)| *start > now).map(|(_, _, size)| *size).collect();
            let busy = model.last().map_or(0, |(_, leave, _)| *leave);
            let fits = busy <= now || match queue {
                QueueLimit::Packets(limit) => (waiting.len() as u64) < limit,
                QueueLimit::Bytes(limit) => waiting.iter().sum::<u64>() + u64::from(size) <= limit,
            };
            prop_assert_eq!(link.send(nanos(now), &packet(size)).is_ok(), fits);
            if fits {
                let start = busy.max(now);
                // 8 Mbit/s: 1 µs a byte.
                model.push((start, start + u64::from(size) * 1000, u64::from(size)));
                if start > now {
                    max_queue = max_queue.max(waiting.len() + 1);
                }
            }
            let queued: Vec<u64> = model.iter().filter(|(start, _, _)| *start > now).map(|(_, _, size)| *size).collect();
            prop_assert_eq!(link.backlog(nanos(now)), Backlog { packets: queued.len() as u64, bytes: queued.iter().sum() });
        }
        prop_assert_eq!(link.counters().max_queue, max_queue as u64);
        while let Some(at) = link.next_arrival() {
            arrivals.push(at.as_nanos());
            link.receive();
        }
        let expected: Vec<u64> = model.iter().map(|(_, leave, _)| leave + delay.as_nanos()).collect();
        prop_assert_eq!(arrivals, expected);
    }

    #[test]
    fn packets_are_conserved(sizes in prop::collection::vec(40u16..1500, 1..200), loss in 0.0..1.0_f64, limit in 1u64..30) {
        let loss = Loss::Packet(Probability::new(loss).unwrap());
        let mut link = link("8 Mbit/s", Duration::from_millis(1), QueueLimit::Packets(limit), &loss);
        let (mut intact, mut refused) = (0, 0);
        for (i, size) in sizes.iter().enumerate() {
            refused += u64::from(link.send(nanos(i as u64 * 100_000), &packet(*size)).is_err());
            if i % 3 == 0 && link.in_flight() > 0 {
                intact += u64::from(!link.receive().flags.is_corrupted());
            }
            let c = link.counters();
            prop_assert_eq!((c.offered, c.dropped_queue, c.delivered), (i as u64 + 1, refused, intact));
            prop_assert_eq!(c.offered, c.dropped_queue + c.dropped_error + c.delivered + link.in_flight() as u64);
        }
    }
}
