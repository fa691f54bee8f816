//! Tests of links that change according to a timetable.

use super::*;
use crate::queue::{DisciplineConfig, Pie, PieConfig};
use crate::{Deliveries, Distribution, Jitter, Outage, Phase, Timetable, Uniform};
use lightlag_core::Rate;

/// Default phase: 8 Mbit/s, 2.5 ms.
const USUAL: Phase = Phase {
    from: Instant::ZERO,
    rate: Rate::from_mbps(8),
    delay: Duration::from_micros(2_500),
    is_up: true,
    loses: false,
};

fn bits(bps: u64) -> Rate {
    Rate::from_bps(bps).unwrap()
}

fn from(micros: u64) -> Phase {
    Phase { from: at(micros), ..USUAL }
}

fn down(micros: u64) -> Phase {
    Phase { is_up: false, ..from(micros) }
}

fn changing(phases: &[Phase], outage: Outage, overtaking: bool) -> QueuedLink<u32> {
    disturbed(Disturbance::none()).changing(Timetable::new(phases, outage, overtaking))
}

/// Sends this many packets of 1000 B at time 0; each takes 1 ms at the default rate. Returns the arrivals: time in
/// microseconds, body, and whether the packet is damaged.
fn sent_at_once(packets: u32, phases: &[Phase], outage: Outage, overtaking: bool) -> Vec<(u64, u32, bool)> {
    let mut link = changing(phases, outage, overtaking);
    (0..packets).for_each(|body| link.send(at(0), packet(body, 1_000)));
    let mut arrivals = Vec::new();
    while let Some(now) = link.next_wake() {
        if let Some(packet) = link.receive(now) {
            arrivals.push((now.as_nanos() / 1_000, packet.body, packet.flags.is_corrupted()));
        }
    }
    arrivals
}

#[test]
fn a_packet_in_service_sends_its_remainder_at_the_new_rate() {
    // After 1.5 ms the rate falls to a quarter: of the second packet 500 B are left, 2 ms; the third takes 4 ms. At 6 ms
    // of it 2.5 ms are over, 375 B are left: at 24 Mbit/s 125 µs. The fourth takes 333.3 µs.
    let phases =
        [USUAL, Phase { rate: Rate::from_mbps(2), ..from(1_500) }, Phase { rate: Rate::from_mbps(24), ..from(6_000) }];
    let arrived = sent_at_once(4, &phases, Outage::Hold, false);
    let times: Vec<u64> = arrived.iter().map(|(time, ..)| *time).collect();
    assert_eq!(times, [1_000, 3_500, 6_125, 6_458].map(|end| end + 2_500));
}

#[test]
fn bits_are_exact_over_a_thousand_changes() {
    // Rates that divide nothing, each 1 ms: what has left after all of it is the sum of the bits, to the nanosecond.
    let phases: Vec<Phase> =
        (0..1000).map(|n| Phase { rate: bits(1_000_003 + 7_919 * ((n * 37) % 101)), ..from(n * 1_000) }).collect();
    let mut link = changing(&phases, Outage::Hold, false);
    (0..100).for_each(|body| link.send(at(0), packet(body, 701)));
    let arrived: Vec<u64> =
        std::iter::from_fn(|| link.next_wake().map(|now| link.receive(now).map_or(0, |_| now.as_nanos() - 2_500_000)))
            .filter(|end| *end > 0)
            .collect();
    assert_eq!(arrived.len(), 100);
    for (index, end) in arrived.iter().enumerate() {
        // In bits · 10⁻⁹: a million nanoseconds of each phase, and what is over of the last.
        let whole = (end / 1_000_000) as usize;
        let before: u128 = phases[..whole].iter().map(|phase| u128::from(phase.rate.as_bps()) * 1_000_000).sum();
        let rate = u128::from(phases[whole].rate.as_bps());
        let sent = before + rate * u128::from(end % 1_000_000);
        let asked = (index as u128 + 1) * 701 * 8 * 1_000_000_000;
        assert!(sent <= asked && asked < sent + rate, "packet {index}: {asked} of {sent}, {rate} a nanosecond");
    }
}

#[test]
fn packets_keep_the_delay_of_their_start_and_their_order() {
    // The delay falls by 2 ms when the third packet starts: it would overtake two others.
    let phases = [USUAL, Phase { delay: Duration::from_micros(500), ..from(2_000) }];
    let ordered = sent_at_once(6, &phases, Outage::Hold, false);
    let expected = [(3_500, 0), (4_500, 1), (4_500, 2), (4_500, 3), (5_500, 4), (6_500, 5)];
    assert_eq!(ordered, expected.map(|(time, body)| (time, body, false)));
    let overtaking = sent_at_once(6, &phases, Outage::Hold, true);
    let expected = [(3_500, 0), (3_500, 2), (4_500, 1), (4_500, 3), (5_500, 4), (6_500, 5)];
    assert_eq!(overtaking, expected.map(|(time, body)| (time, body, false)));
}

#[test]
fn a_packet_that_starts_much_later_may_overtake_all_others() {
    let long = Phase { delay: Duration::from_millis(300), ..USUAL };
    let phases = [long, Phase { delay: Duration::from_millis(1), ..from(4_000) }];
    let arrived = sent_at_once(5, &phases, Outage::Hold, true);
    let order: Vec<u32> = arrived.iter().map(|(_, body, _)| *body).collect();
    assert_eq!((order, arrived[0].0), (vec![4, 0, 1, 2, 3], 6_000));
}

#[test]
fn an_outage_cuts_the_frame_in_transmission_and_holds_the_rest() {
    let phases = [USUAL, down(1_400), from(10_000)];
    let arrived = sent_at_once(4, &phases, Outage::Hold, false);
    // The first has left and travels on. The second is cut at 1.4 ms; the others start at 10 ms.
    assert_eq!(arrived, [(3_500, 0, false), (3_900, 1, true), (13_500, 2, false), (14_500, 3, false)]);
    let mut link = changing(&phases, Outage::Hold, false);
    (0..4).for_each(|body| link.send(at(0), packet(body, 1_000)));
    assert_eq!(link.backlog(at(9_999)).packets, 2);
    link.catch_up(at(20_000));
    // 1 + 0.4 + 1 + 1 ms of transmission; waited 0, 1, 10 and 11 ms.
    let totals = link.totals(at(20_000));
    assert_eq!((totals.busy, totals.queued, totals.carried_bytes), (3_400_000, 22_000_000, 4_000));
}

#[test]
fn a_packet_at_an_idle_link_waits_for_the_end_of_an_outage() {
    let mut link = changing(&[USUAL, down(1_000), from(5_000)], Outage::Hold, false);
    link.send(at(2_000), packet(0, 1_000));
    assert_eq!(link.backlog(at(3_000)).packets, 1);
    assert_eq!(arrivals(&mut link), [(8_500, 0)]);
}

#[test]
fn a_transmitter_unaware_of_an_outage_loses_its_packets() {
    let phases = [USUAL, down(1_400), from(3_000)];
    let arrived = sent_at_once(5, &phases, Outage::Lose, false);
    let damaged: Vec<bool> = arrived.iter().map(|(.., damaged)| *damaged).collect();
    // 1 to 2 ms and 2 to 3 ms overlap with the outage; the next starts as it ends.
    assert_eq!(damaged, [false, true, true, false, false]);
    assert!(arrived.iter().map(|(time, ..)| *time).eq((0..5).map(|n| n * 1_000 + 3_500)));
}

#[test]
fn packets_lost_in_an_outage_are_not_reported() {
    // Cut in transmission, or sent into it; what is sent with a signal too weak arrives damaged.
    let weak = Phase { loses: true, ..from(5_000) };
    for (outage, unheard) in [(Outage::Hold, vec![1]), (Outage::Lose, vec![1, 2, 3])] {
        let mut link = changing(&[USUAL, down(1_500), from(3_500), weak, from(8_000)], outage, false);
        (0..8).for_each(|body| link.send(at(0), packet(body, 1_000)));
        let mut bodies = (Vec::new(), Vec::new());
        while let Some(now) = link.next_wake() {
            let Some(Packet { body, flags, .. }) = link.receive(now) else { continue };
            if flags.was_unheard() {
                assert!(flags.is_corrupted());
                bodies.0.push(body);
            } else if flags.is_corrupted() {
                bodies.1.push(body);
            }
        }
        assert_eq!(bodies.0, unheard);
        assert!(bodies.1.len() >= 3, "{bodies:?}");
    }
}

#[test]
fn an_endless_outage_holds_its_packets_and_schedules_no_event() {
    let mut link = changing(&[USUAL, down(1_400)], Outage::Hold, false);
    (0..4).for_each(|body| link.send(at(0), packet(body, 1_000)));
    let mut arrived = Vec::new();
    while let Some(now) = link.next_wake() {
        arrived.extend(link.receive(now).map(|packet| packet.body));
    }
    assert_eq!((arrived, link.in_flight()), (vec![0, 1], 2));
    link.catch_up(at(1_000_000));
    assert_eq!(link.totals(at(1_000_000)).busy, 1_400_000);
}

#[test]
fn a_controller_gets_the_new_rate() {
    let phases = [USUAL, Phase { rate: Rate::from_mbps(80), ..from(50_000) }];
    let config = config(QueueLimit::Packets(1_000));
    let drops = |phases: &[Phase]| {
        let pie = Pie::new(PieConfig::default(), config.queue, config.rate, stream("queue"));
        let mut link = QueuedLink::new(config, Box::new(pie), lossless(), Disturbance::none());
        link = link.changing(Timetable::new(phases, Outage::Hold, false));
        // 8 Mbit/s first, then 64.
        (0..4_000_u32).for_each(|n| link.send(at(50_000 + 125 * u64::from(n)), packet(n, 1_000)));
        link.counters().dropped_aqm
    };
    // At 80 Mbit/s nothing waits; at 8 Mbit/s seven of eight are too much.
    assert_eq!(drops(&phases), 0);
    assert!(drops(&[USUAL]) > 1_000);
}

/// Returns the arrivals of packets, which are given as (sending time in microseconds, size). The opportunities are at
/// `millis`, and the delay is 2.5 ms.
fn delivered(millis: &[u32], packets: &[(u64, u16)]) -> Vec<(u64, u32)> {
    let timetable = Timetable::new([USUAL], Outage::Hold, false).delivering(Some(Deliveries::new(millis)));
    let mut link = disturbed(Disturbance::none()).changing(timetable);
    let mut arrived = Vec::new();
    let take = |link: &mut QueuedLink<u32>, until: Instant, arrived: &mut Vec<(u64, u32)>| {
        while let Some(now) = link.next_wake().filter(|now| *now <= until) {
            arrived.extend(link.receive(now).map(|packet| (now.as_nanos() / 1_000 - 2_500, packet.body)));
        }
    };
    for (body, (micros, size)) in packets.iter().enumerate() {
        take(&mut link, at(*micros), &mut arrived);
        link.send(at(*micros), packet(body as u32, *size));
    }
    take(&mut link, Instant::MAX, &mut arrived);
    arrived
}

#[test]
fn each_opportunity_takes_1500_bytes() {
    // Two at 3 ms; 500 and 1000 B share one, 2000 B take two, and 1000 B of the second are for later packets.
    let arrived = delivered(&[3, 3, 4, 9], &[(0, 500), (0, 1_000), (0, 2_000), (0, 600), (0, 600)]);
    assert_eq!(arrived, [(3_000, 0), (3_000, 1), (4_000, 2), (4_000, 3), (9_000, 4)]);
}

#[test]
fn an_opportunity_without_a_packet_is_lost() {
    // What comes after 3 ms waits for 4 ms; at 4 ms itself it is still in time.
    let sizes = [(2_999, 1_500), (3_000, 1_500), (3_001, 1_500), (4_000, 1_500)];
    assert_eq!(delivered(&[3, 3, 4, 9], &sizes), [(3_000, 0), (3_000, 1), (4_000, 2), (9_000, 3)]);
    // A small one leaves 1400 B at 3 ms, which are over a microsecond later.
    assert_eq!(delivered(&[3, 9], &[(0, 100), (3_001, 100)]), [(3_000, 0), (9_000, 1)]);
}

#[test]
fn the_utilisation_of_opportunities_is_the_part_of_their_bytes_that_was_carried() {
    let timetable = Timetable::new([USUAL], Outage::Hold, false).delivering(Some(Deliveries::new([3, 4, 9])));
    let mut link = disturbed(Disturbance::none()).changing(timetable);
    for body in 0..3 {
        link.send(at(0), packet(body, 1_500));
    }
    link.catch_up(at(18_000));
    // Each of the first three is full, and the opportunities at 12, 13 and 18 ms find no packet.
    for (end, carried) in [(9_000, 9_000_000), (10_000, 10_000_000), (12_000, 9_000_000), (18_000, 9_000_000)] {
        assert_eq!(link.totals(at(end)).busy, carried, "{end}");
    }
    link.send(at(20_000), packet(3, 750));
    link.catch_up(at(21_000));
    assert_eq!(link.totals(at(21_000)).busy, 21_000_000 / 2);
}

#[test]
fn opportunities_repeat_after_the_last_one() {
    // A second round starts at 9 ms: 12, 13, 18; the tenth round starts at 90 ms.
    let sizes = [(9_500, 1_500), (9_500, 1_500), (9_500, 1_500), (92_000, 1_500), (9_000_004_500, 1_500)];
    let expected = [(12_000, 0), (13_000, 1), (18_000, 2), (93_000, 3), (9_000_009_000, 4)];
    assert_eq!(delivered(&[3, 4, 9], &sizes), expected);
    // An opportunity at 0 is another one at the end of each round.
    let sizes = [(0, 1_500), (1, 1_500), (1, 1_500), (1, 1_500)];
    assert_eq!(delivered(&[0, 5], &sizes), [(0, 0), (5_000, 1), (5_000, 2), (10_000, 3)]);
}

/// Sends 1000 packets at intervals of 1 ms, each with a delay of 10 ± 5 ms. Returns the body and the time in transit of
/// each, in nanoseconds.
fn jittered(overtaking: bool) -> Vec<(u32, u64)> {
    let phase = Phase { delay: Duration::from_millis(10), ..USUAL };
    let most = Duration::from_millis(5);
    let jitter = Jitter { distribution: Distribution::Uniform(Uniform), most, correlation: Probability::ZERO };
    let timetable = Timetable::new([phase], Outage::Hold, overtaking);
    let mut link = disturbed(Disturbance::none()).jittering(timetable, jitter, stream("jitter"));
    (0..1_000).for_each(|body| link.send(at(0), packet(body, 1_000)));
    let mut arrived = Vec::new();
    let mut last = Instant::ZERO;
    while let Some(now) = link.next_wake() {
        assert!(now >= last, "nothing arrives in the past");
        last = now;
        let travelled = |packet: Packet<u32>| (packet.body, now.as_nanos() - (u64::from(packet.body) + 1) * 1_000_000);
        arrived.extend(link.receive(now).map(travelled));
    }
    arrived
}

#[test]
fn packets_with_jitter_overtake_only_if_they_may() {
    let (ordered, mut free) = (jittered(false), jittered(true));
    assert!(ordered.is_sorted_by_key(|(body, _)| *body) && !free.is_sorted_by_key(|(body, _)| *body));
    assert!(free.iter().all(|(_, time)| (5_000_000..=15_000_000).contains(time)));
    free.sort_unstable();
    // The same draws: in order, each arrives at the latest moment of those up to it.
    let mut latest = 0;
    for ((body, waited), (other, travelled)) in ordered.into_iter().zip(free) {
        let left = u64::from(body + 1) * 1_000_000;
        latest = latest.max(left + travelled);
        assert_eq!((body, left + waited), (other, latest));
    }
}

proptest! {
    /// A timetable that repeats the same phase has no effect on the link, with any queue. With any timetable, each
    /// packet is delivered, dropped or in flight, and packets arrive in order unless they may overtake.
    #[test]
    fn packets_are_conserved_and_stay_in_order(
        gaps in prop::collection::vec((0u64..2_000_000, 40u16..1500), 1..200),
        changes in prop::collection::vec((1u64..20_000_000, 100_000u64..50_000_000, 0u64..20_000_000, any::<bool>()), 0..20),
        loses in any::<bool>(),
        overtaking in any::<bool>(),
        aqm in any::<bool>(),
    ) {
        let mut phases = vec![USUAL];
        for (after, rate, delay, is_up) in &changes {
            let from = phases.last().unwrap().from + Duration::from_nanos(*after);
            phases.push(Phase { from, rate: bits(*rate), delay: Duration::from_nanos(*delay), is_up: *is_up, loses: false });
        }
        let config = config(QueueLimit::Packets(20));
        let discipline =
            if aqm { DisciplineConfig::CoDel(Default::default()) } else { DisciplineConfig::DropTail };
        let outage = if loses { Outage::Lose } else { Outage::Hold };
        let build = || QueuedLink::<u32>::new(
            config, discipline.build(&config, stream("queue")), lossless(), Disturbance::none());
        let same: Vec<Phase> = phases.iter().map(|phase| Phase { from: phase.from, ..USUAL }).collect();
        let mut links = [
            build(),
            build().changing(Timetable::new(same, outage, overtaking)),
            build().changing(Timetable::new(phases, outage, overtaking)),
        ];
        let mut outcomes = Vec::new();
        for link in &mut links {
            let (mut now, mut came) = (Instant::ZERO, Vec::new());
            let mut dropped = 0;
            let drain = |link: &mut QueuedLink<u32>, until: Instant, came: &mut Vec<(Instant, u32)>| {
                while let Some(wake) = link.next_wake().filter(|wake| *wake <= until) {
                    came.extend(link.receive(wake).map(|packet| (wake, packet.body)));
                }
            };
            for (body, (gap, size)) in gaps.iter().enumerate() {
                now += Duration::from_nanos(*gap);
                drain(link, now, &mut came);
                link.send(now, packet(body as u32, *size));
                dropped += link.dropped().count();
            }
            let end = Instant::ZERO + Duration::from_secs(100);
            drain(link, end, &mut came);
            link.catch_up(end);
            dropped += link.dropped().count();
            prop_assert_eq!(came.len() + dropped + link.in_flight(), gaps.len());
            prop_assert!(came.is_sorted_by_key(|(time, _)| *time));
            prop_assert!(overtaking || came.is_sorted_by_key(|(_, body)| *body), "{:?}", came);
            outcomes.push((came, link.counters(), link.totals(end)));
        }
        prop_assert_eq!(&outcomes[0], &outcomes[1]);
    }
}
