use super::*;
use crate::link::{Demand, Disturbance, LinkConfig, LinkModel, Outage, Phase, QueuedLink, Timetable};
use crate::queue::DropTail;
use crate::{Dwell, EndpointId, GilbertElliott, Loss, LossProcess, QueueLimit};
use lightlag_core::{Probability, RandomStream};
use proptest::prelude::*;

/// A code with three data packets and one repair packet per block. Blocks close after 5 ms.
const CODE: BlockCode = BlockCode { data: 3, repair: 1, flush: Duration::from_millis(5), in_order: true };

/// Returns a link where 1000 B take 1 ms to transmit and 2.5 ms to reach the far end.
fn link(code: BlockCode, loss: &Loss) -> QueuedLink<u32> {
    link_with(code, loss, 1)
}

/// Works like [`link`], with a given seed of the losses.
fn link_with(code: BlockCode, loss: &Loss, seed: u64) -> QueuedLink<u32> {
    let rate = Rate::from_mbps(8);
    let config = LinkConfig { rate, delay: Duration::from_micros(2_500), queue: QueueLimit::Packets(1_000), header: 0 };
    let loss = LossProcess::new(loss, RandomStream::new(seed, "loss"));
    QueuedLink::new(config, Box::new(DropTail::new(config.queue)), loss, Disturbance::none()).coded(code)
}

fn packet(body: u32, size: u16) -> Packet<u32> {
    Packet::new(NodeId(1), EndpointId(0), size, PacketFlags::new(true), body)
}

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

/// Returns each packet that the link delivers: time in microseconds, body, and whether it is intact.
fn deliveries(link: &mut QueuedLink<u32>) -> Vec<(u64, u32, bool)> {
    let mut delivered = Vec::new();
    while let Some(now) = link.next_wake() {
        if let Some(packet) = link.receive(now) {
            delivered.push((now.as_nanos() / 1_000, packet.body, !packet.flags.is_corrupted()));
        }
    }
    delivered
}

/// Returns the link and the deliveries for a burst of packets of 1000 B, of which the link loses the listed ones.
fn lost(code: BlockCode, packets: u32, lost: &[u64]) -> (QueuedLink<u32>, Vec<(u64, u32, bool)>) {
    let mut link = link(code, &Loss::Numbered(lost.to_vec()));
    (0..packets).for_each(|body| link.send(at(0), packet(body, 1_000)));
    let delivered = deliveries(&mut link);
    (link, delivered)
}

#[test]
fn a_lost_packet_arrives_with_the_kth_packet_of_its_block_and_later_data_waits() {
    // Transmissions: data 0..1, 1..2, 2..3 ms, repair 3..4 ms, data 4..5 ms. Then the block stays open until 9 ms.
    let (link, delivered) = lost(CODE, 4, &[2]);
    assert_eq!(delivered, [(3_500, 0, true), (6_500, 1, true), (6_500, 2, true), (7_500, 3, true)]);
    let counters = link.counters();
    assert_eq!((counters.repaired, counters.repair_packets), (1, 2), "the last block has ⌈1/3⌉ repair packets");
    assert_eq!((counters.dropped_error, counters.delivered, link.in_flight()), (0, 4, 0));
    assert_eq!(link.totals(at(20_000)).carried_bytes, 6_000);
}

#[test]
fn out_of_order_only_the_lost_packet_waits() {
    let (_, delivered) = lost(BlockCode { in_order: false, ..CODE }, 3, &[2]);
    assert_eq!(delivered, [(3_500, 0, true), (5_500, 2, true), (6_500, 1, true)]);
}

#[test]
fn a_block_is_abandoned_once_more_packets_are_lost_than_it_has_repair_packets() {
    let (link, delivered) = lost(CODE, 3, &[1, 2]);
    assert_eq!(delivered, [(4_500, 0, false), (4_500, 1, false), (5_500, 2, true)]);
    assert_eq!((link.counters().repaired, link.counters().dropped_error), (0, 2));
    // The repair packet is lost as well, which is detected when it would have arrived.
    let times = Loss::At(vec![at(1_000), at(3_000)]);
    let mut both = super::tests::link(CODE, &times);
    (0..3).for_each(|body| both.send(at(0), packet(body, 1_000)));
    assert_eq!(deliveries(&mut both), [(3_500, 0, true), (6_500, 1, false), (6_500, 2, true)]);
}

#[test]
fn a_repair_packet_has_the_maximum_size_of_its_block() {
    let mut link = link(CODE, &Loss::Numbered(vec![1]));
    for (body, size) in [(0, 200), (1, 800), (2, 500)] {
        link.send(at(0), packet(body, size));
    }
    // 1.5 ms of data, 0.8 ms of repair, 2.5 ms to the far end.
    assert!(deliveries(&mut link).iter().all(|delivered| delivered.0 == 4_800));
    assert_eq!(link.totals(at(9_000)).carried_bytes, 200 + 800 + 500 + 800);
}

#[test]
fn a_block_that_is_not_full_closes_when_it_is_old_and_nothing_waits() {
    let mut alone = link(CODE, &Loss::Numbered(vec![1]));
    alone.send(at(0), packet(0, 1_000));
    assert_eq!(deliveries(&mut alone), [(8_500, 0, true)], "closed at 5 ms, the repair packet is sent by 6 ms");
    // The second packet is in transmission when the block gets old: repair from 5.9 ms to 6.9 ms.
    let mut busy = link(CODE, &Loss::Numbered(vec![1]));
    busy.send(at(0), packet(0, 1_000));
    busy.send(at(4_900), packet(1, 1_000));
    assert_eq!(deliveries(&mut busy), [(9_400, 0, true), (9_400, 1, true)]);
    // Here the third also arrives: it waits at 5 ms, so the block fills.
    let mut full = link(CODE, &Loss::Numbered(vec![1]));
    full.send(at(0), packet(0, 1_000));
    full.send(at(4_900), packet(1, 1_000));
    full.send(at(4_950), packet(2, 1_000));
    assert_eq!(deliveries(&mut full).last(), Some(&(10_400, 2, true)));
    assert_eq!(full.counters().repair_packets, 1);
}

#[test]
fn an_outage_that_takes_packets_is_repaired_and_one_that_holds_them_delays_repair() {
    let up = Phase { from: at(0), rate: Rate::from_mbps(8), delay: CODE.flush, is_up: true, loses: false };
    let phases = |down| [up, Phase { from: at(down), is_up: false, ..up }, Phase { from: at(7_000), ..up }];
    // From 1 ms to 7 ms everything is lost: the second packet, sent at 6.5 ms, is repaired by the repair packet of 7.5
    // ms.
    let mut lost = link(CODE, &Loss::None).changing(Timetable::new(phases(1_000), Outage::Lose, false));
    lost.send(at(6_000), packet(0, 500));
    lost.send(at(8_000), packet(1, 500));
    lost.send(at(8_000), packet(2, 500));
    let delivered = deliveries(&mut lost);
    assert_eq!(delivered, [(14_500, 0, true), (14_500, 1, true), (14_500, 2, true)]);
    assert_eq!((lost.counters().dropped_outage, lost.counters().repaired), (0, 1));
    // The block gets old at 5 ms, in an outage: its repair packet is sent from 7 ms to 8 ms.
    let mut held = link(CODE, &Loss::Numbered(vec![1])).changing(Timetable::new(phases(4_000), Outage::Hold, false));
    held.send(at(0), packet(0, 1_000));
    assert_eq!(deliveries(&mut held), [(13_000, 0, true)]);
}

#[test]
fn a_terminal_also_requests_capacity_for_repair_packets() {
    let (frame, latency) = (Duration::from_millis(10), Duration::from_millis(40));
    let demand = Demand { frame, latency, constant: None, free: None, most: Rate::from_mbps(8) };
    let mut link = link(CODE, &Loss::Numbered(vec![3])).on_demand(demand);
    (0..3).for_each(|body| link.send(at(0), packet(body, 1_000)));
    // Requested at 10 ms, granted at 50 ms. The block is full at 53 ms, after the grant for 3000 B: requested at 60 ms,
    // sent from 100 ms to 101 ms.
    let delivered = deliveries(&mut link);
    assert_eq!(delivered, [(53_500, 0, true), (54_500, 1, true), (103_500, 2, true)]);
    assert_eq!(link.in_flight(), 0);
}

/// Returns the residual loss of data packets for each of `streams` random streams of losses. The blocks are full and
/// sent back to back.
fn residual_losses(code: BlockCode, loss: &Loss, blocks: u32, streams: u64) -> Vec<f64> {
    let one = |seed| {
        let mut link = link_with(code, loss, seed);
        for block in 0..blocks {
            let now = at(u64::from(block * (code.data + code.repair)) * 100);
            (0..code.data).for_each(|body| link.send(now, packet(body, 100)));
            while let Some(wake) = link.next_wake().filter(|wake| *wake <= now) {
                link.receive(wake);
            }
        }
        deliveries(&mut link);
        assert_eq!(link.counters().repair_packets, u64::from(blocks * code.repair));
        link.counters().dropped_error as f64 / f64::from(blocks * code.data)
    };
    (0..streams).map(one).collect()
}

/// Returns the mean of samples, and its standard error.
fn mean(samples: &[f64]) -> (f64, f64) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let variance = samples.iter().map(|sample| libm::pow(sample - mean, 2.0)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// Returns the residual loss of data packets with independent losses: the probability that a packet is lost, and at
/// least n − k of the other n − 1 packets of its block as well, p · P(Bin(n − 1, p) ≥ n − k).
fn independent(code: BlockCode, p: f64) -> f64 {
    let others = code.data + code.repair - 1;
    let choose = |m: u32| (0..m).fold(1.0, |c, i| c * f64::from(others - i) / f64::from(i + 1));
    let term = |m: u32| choose(m) * libm::pow(p, f64::from(m)) * libm::pow(1.0 - p, f64::from(others - m));
    p * (code.repair..=others).map(term).sum::<f64>()
}

/// Returns the residual loss of data packets with bursts of losses. A chain of two states moves before each packet,
/// with the probabilities `moves` from good to bad and from bad to good; each state has its probability of a loss.
/// Computes the joint distribution of the state, the lost data packets and all lost packets.
fn in_bursts(code: BlockCode, moves: [f64; 2], loss: [f64; 2]) -> f64 {
    let (k, n) = (code.data as usize, (code.data + code.repair) as usize);
    let bad = moves[0] / (moves[0] + moves[1]);
    let mut now = vec![[[0.0; 2]; 256]; k + 1];
    now[0][0] = [1.0 - bad, bad];
    for number in 0..n {
        let mut next = vec![[[0.0; 2]; 256]; k + 1];
        for (data, row) in now.iter().enumerate() {
            for (lost, states) in row.iter().enumerate().take(number + 1) {
                let moved = [
                    states[0] * (1.0 - moves[0]) + states[1] * moves[1],
                    states[1] * (1.0 - moves[1]) + states[0] * moves[0],
                ];
                for state in 0..2 {
                    next[data][lost][state] += moved[state] * (1.0 - loss[state]);
                    if moved[state] > 0.0 {
                        next[data + usize::from(number < k)][lost + 1][state] += moved[state] * loss[state];
                    }
                }
            }
        }
        now = next;
    }
    let failed = |(data, row): (usize, &[[f64; 2]; 256])| {
        row[code.repair as usize + 1..].iter().flatten().sum::<f64>() * data as f64
    };
    now.iter().enumerate().map(failed).sum::<f64>() / k as f64
}

fn chance(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

#[test]
fn the_residual_loss_of_independent_losses_is_binomial() {
    // (3, 2): p · (1 − (1 − p)²) = 0.1 · 0.19.
    assert!((independent(BlockCode { data: 2, repair: 1, ..CODE }, 0.1) - 0.019).abs() < 1e-12);
    for (data, repair) in [(4, 1), (10, 2), (20, 4), (2, 3), (100, 20)] {
        let code = BlockCode { data, repair, ..CODE };
        for p in [0.03, 0.1, 0.2] {
            let expected = independent(code, p);
            assert!(
                (in_bursts(code, [0.5, 0.5], [p, p]) / expected - 1.0).abs() < 1e-9,
                "both count the same patterns"
            );
            let (ours, error) = mean(&residual_losses(code, &Loss::Packet(chance(p)), 20_000 / data, 20));
            // (120, 100) at 0.03 fails too rarely to be seen: 10⁻⁹.
            let error = error.max((expected / 400_000.0).sqrt());
            assert!((ours - expected).abs() < 3.0 * error, "{code:?}, {p}: {ours} against {expected} ± {error}");
        }
    }
}

#[test]
fn the_residual_loss_of_bursts_matches_a_markov_chain() {
    // Bursts of 4 packets; states of 2 ms and 0.5 ms, and packets of 0.1 ms.
    let by_packet = Dwell::Packets { worsens: chance(0.02), recovers: chance(0.25) };
    let by_time = Dwell::Time { good: Duration::from_micros(2_000), bad: Duration::from_micros(500) };
    // Transitions of the second within 0.1 ms: its rates are 500/s and 2000/s.
    let mixing = 1.0 - libm::exp(-2_500.0 * 1e-4);
    let channels = [
        (by_packet, [0.02, 0.25], [0.0, 1.0]),
        (by_packet, [0.02, 0.25], [0.01, 0.6]),
        (by_time, [0.2 * mixing, 0.8 * mixing], [0.0, 0.7]),
    ];
    for (dwell, moves, [good, bad]) in channels {
        let loss = Loss::Bursts(GilbertElliott { dwell, good_loss: chance(good), bad_loss: chance(bad) });
        for (data, repair) in [(10, 2), (20, 10), (150, 20)] {
            let code = BlockCode { data, repair, ..CODE };
            let expected = in_bursts(code, moves, [good, bad]);
            let (ours, error) = mean(&residual_losses(code, &loss, 10_000 / data, 60));
            assert!((ours - expected).abs() < 3.0 * error, "{loss:?}, {code:?}: {ours} against {expected} ± {error}");
        }
    }
}

/// Time between two calls of a caller that polls.
const STEP: Duration = Duration::from_micros(20);

proptest! {
    /// Packets are conserved and arrive in order. A caller that polls receives them at the same times as one that uses
    /// events.
    #[test]
    fn packets_are_conserved_and_keep_their_order(
        sizes in prop::collection::vec((40u16..1500, 0u64..200), 1..200),
        data in 1u32..12,
        repair in 1u32..6,
        flush in 1u64..9_000,
        in_order in any::<bool>(),
        loss in 0.0..1.0_f64,
        changes in any::<bool>(),
        hold in any::<bool>(),
    ) {
        let code = BlockCode { data, repair, flush: Duration::from_micros(flush), in_order };
        let loss = Loss::Packet(Probability::new(loss).unwrap());
        let make = || {
            let link = link(code, &loss);
            let up = Phase {
                from: at(0), rate: Rate::from_mbps(8), delay: Duration::from_millis(9), is_up: true, loses: false
            };
            let phases = [
                up,
                Phase { from: at(20_000), is_up: false, ..up },
                Phase { from: at(31_000), delay: Duration::from_millis(1), rate: Rate::from_mbps(3), ..up },
            ];
            let outage = if hold { Outage::Hold } else { Outage::Lose };
            if changes { link.changing(Timetable::new(phases, outage, false)) } else { link }
        };
        let (mut waked, mut polled) = (make(), make());
        let conserved = |link: &QueuedLink<u32>| {
            let c = link.counters();
            c.offered == c.dropped_error + c.dropped_outage + c.delivered + link.in_flight() as u64
        };
        let (mut by_wake, mut by_poll) = (Vec::new(), Vec::new());
        let take = |link: &mut QueuedLink<u32>, now, into: &mut Vec<(Instant, u32)>| {
            let taken = link.receive(now);
            into.extend(taken.as_ref().map(|packet| (now, packet.body)));
            taken.is_some()
        };
        let mut now = Instant::ZERO;
        for (body, (size, gap)) in sizes.iter().enumerate() {
            let next = now + Duration::from_nanos(STEP.as_nanos() * gap);
            while let Some(wake) = waked.next_wake().filter(|wake| *wake < next) {
                prop_assert!(wake >= now);
                take(&mut waked, wake, &mut by_wake);
                prop_assert!(conserved(&waked));
            }
            while now < next {
                while take(&mut polled, now, &mut by_poll) {}
                now += STEP;
            }
            for link in [&mut waked, &mut polled] {
                link.send(now, packet(body as u32, *size));
                prop_assert!(conserved(link));
            }
        }
        while let Some(wake) = waked.next_wake() {
            take(&mut waked, wake, &mut by_wake);
        }
        prop_assert!(conserved(&waked) && waked.in_flight() == 0, "{:?}", waked.counters());
        let last = by_wake.last().map_or(now, |(time, _)| *time);
        let end = now.max(last) + Duration::from_secs(2);
        while now < end && polled.in_flight() > 0 {
            while take(&mut polled, now, &mut by_poll) {}
            now += STEP;
        }
        let micros = |times: &[(Instant, u32)]| {
            times.iter().map(|(time, body)| (time.as_nanos().div_ceil(STEP.as_nanos()), *body)).collect::<Vec<_>>()
        };
        prop_assert_eq!(micros(&by_wake), micros(&by_poll));
        // The last repair packets may still be in flight.
        for link in [&mut waked, &mut polled] {
            link.catch_up(end);
        }
        prop_assert_eq!(waked.counters(), polled.counters());
        if in_order {
            prop_assert!(by_wake.is_sorted());
        }
        let mut bodies: Vec<u32> = by_wake.iter().map(|(_, body)| *body).collect();
        bodies.sort_unstable();
        prop_assert!(bodies.iter().copied().eq(0..sizes.len() as u32), "each packet is handed over once");
    }
}
