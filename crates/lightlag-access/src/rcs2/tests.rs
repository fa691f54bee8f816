//! Tests of a beam against closed forms, and of its conservation of packets and slots.

mod losses;

use super::adaptation::Climate;
use super::task::Task;
use super::{Rcs2, Rcs2Config, Terminal};
use crate::contention::Scheme;
use lightlag_core::{Duration, Instant, RandomStream, Rate};
use lightlag_net::StationId;
use lightlag_net::medium::{Addressee, Event, Medium, Outgoing, Precedence};
use lightlag_net::queue::DropCause;
use proptest::prelude::*;
use std::collections::BTreeMap;

const HUB: StationId = StationId(0);

/// A beam, and what happened in it.
struct Bench {
    beam: Rcs2<u32>,
    /// Time of arrival and receiver of each packet.
    received: BTreeMap<u32, (Instant, StationId)>,
    dropped: BTreeMap<u32, DropCause>,
    offered: u32,
}

impl Bench {
    fn new(config: &Rcs2Config, terminals: &[Terminal]) -> Self {
        let mut stations = vec![Terminal::default()];
        stations.extend_from_slice(terminals);
        let beam = Rcs2::new(config, &stations, HUB, 7, "test");
        Self { beam, received: BTreeMap::new(), dropped: BTreeMap::new(), offered: 0 }
    }

    /// Offers a packet at a station; returns its number.
    fn offer(&mut self, now: Instant, station: u32, to: u32, size: u32) -> u32 {
        self.run(now);
        let (to, precedence, payload) = (Addressee::One(StationId(to)), Precedence::Station, self.offered);
        self.beam.offer(now, StationId(station), Outgoing { to, size, precedence, payload });
        self.offered += 1;
        self.take(now);
        payload
    }

    fn take(&mut self, now: Instant) {
        while let Some(event) = self.beam.poll_event() {
            match event {
                Event::Received { at, payload, .. } => {
                    assert!(self.received.insert(payload, (now, at)).is_none(), "packet {payload} arrived twice");
                }
                Event::Dropped { payload, cause, .. } => {
                    assert!(self.dropped.insert(payload, cause).is_none(), "packet {payload} was dropped twice");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn run(&mut self, end: Instant) {
        while let Some(next) = self.beam.next_wake().filter(|next| *next <= end) {
            self.beam.handle_wake(next);
            self.take(next);
        }
    }

    fn delay(&self, packet: u32, offered: Instant) -> Duration {
        self.received[&packet].0.since(offered)
    }

    /// Checks that every packet and every slot is accounted for.
    fn check(&mut self, end: Instant) {
        self.beam.settle(end);
        let mut waiting = 0;
        for station in 0..self.beam.stations.len() as u32 {
            let counters = self.beam.station_counters(StationId(station), end);
            let packets = counters.packets;
            assert_eq!(packets.offered, packets.settled + packets.dropped + packets.waiting, "{packets:?}");
            let upcoming = self.beam.upcoming_slots(StationId(station));
            assert_eq!(counters.granted, counters.used + counters.idle + upcoming, "{counters:?}");
            waiting += packets.waiting;
        }
        let mut pending = 0;
        self.beam.pending(&mut |_| pending += 1);
        assert_eq!(pending, waiting);
        assert_eq!(self.offered as u64, self.received.len() as u64 + self.dropped.len() as u64 + waiting);
    }
}

fn ms(time: f64) -> Duration {
    Duration::from_secs_f64(time / 1e3)
}

fn at(time: f64) -> Instant {
    Instant::ZERO + ms(time)
}

fn aloha() -> Rcs2Config {
    Rcs2Config { contention: Scheme::SlottedAloha, ..Rcs2Config::default() }
}

#[test]
fn a_request_by_random_access_takes_its_closed_form() {
    // Frame 26.5 ms, delay 130 ms, 40 slots; the first 20 are for random access.
    let (frame, delay, slot) = (26.5, 130.0, 26.5 / 40.0);
    let ceil = |time: f64| (time / frame - 1e-9).ceil() * frame;
    let mut bench = Bench::new(&aloha(), &[Terminal::default()]);
    for number in 0..100 {
        let start = 1000.0 * f64::from(number) + 0.377 * f64::from(number);
        let packet = bench.offer(at(start), 1, 0, 100);
        bench.run(at(start + 999.0));
        // Random access in the next frame that its burst can reach; assignment two delays ahead of a frame; slot 20.
        let decoded = ceil(start + delay) + 20.0 * slot;
        let expected = ceil(decoded + 2.0 * delay) + 21.0 * slot - start;
        let measured = bench.delay(packet, at(start)).as_secs_f64() * 1e3;
        assert!((measured - expected).abs() < 1e-3, "{number}: {measured} ms instead of {expected} ms");
    }
    bench.check(at(1e5));
}

#[test]
fn the_mean_delay_of_a_request_is_three_delays_and_the_frame() {
    let mut bench = Bench::new(&aloha(), &[Terminal::default()]);
    let mut random = RandomStream::new(1, "arrivals");
    let (mut sum, count) = (0.0, 4000);
    for number in 0..count {
        let start = 1000.0 * f64::from(number) + 26.5 * random.uniform();
        let packet = bench.offer(at(start), 1, 0, 100);
        bench.run(at(start + 900.0));
        sum += bench.delay(packet, at(start)).as_secs_f64() * 1e3;
    }
    // Wait for a frame: F/2 on average. From the start of that frame n, random access ends F/2 later; 260 ms further are
    // 9.81 F + 0.5 F, so the assigned frame is n + 11, and its slot ends 21/40 F later.
    let expected = 130.0 + 26.5 * (0.5 + 11.0 + 21.0 / 40.0);
    let mean = sum / f64::from(count);
    assert!((mean / expected - 1.0).abs() < 0.005, "{mean} ms instead of {expected} ms");
}

#[test]
fn a_constant_assignment_needs_no_request() {
    let config = Rcs2Config { contention_slots: 0, ..aloha() };
    // One slot per frame: 184 B · 8 / 26.5 ms = 55.5 kbit/s.
    let terminal = Terminal { constant: Rate::from_bps(55_000), volume_based: false, ..Terminal::default() };
    let mut bench = Bench::new(&config, &[terminal.clone(), terminal]);
    for number in 0..50 {
        let start = 500.0 * f64::from(number) + 0.71 * f64::from(number);
        let packet = bench.offer(at(start), 2, 0, 100);
        bench.run(at(start + 400.0));
        // The second terminal has slot 1 of each frame; its burst is sent a delay earlier.
        let slot = 26.5 / 40.0;
        let frames = ((start + 130.0 - slot) / 26.5 - 1e-9).ceil();
        let expected = frames * 26.5 + 2.0 * slot - start;
        let measured = bench.delay(packet, at(start)).as_secs_f64() * 1e3;
        assert!((measured - expected).abs() < 1e-3, "{number}: {measured} ms instead of {expected} ms");
    }
    let end = at(26_500.0);
    bench.check(end);
    // 26.5 s are 1000 frames; the terminal can reach all but the first five, and 5 later ones whose slot has not come.
    let counters = bench.beam.station_counters(StationId(2), end);
    assert_eq!((counters.granted, counters.used), (1000, 50));
}

#[test]
fn terminals_share_the_carriers_fairly() {
    let config =
        Rcs2Config { carriers: 1, slots: 41, contention_slots: 0, control_period: 10, ..Rcs2Config::default() };
    let terminals = vec![Terminal { terminal_queue: 1_000_000, ..Terminal::default() }; 10];
    let mut bench = Bench::new(&config, &terminals);
    // Terminals are offered between half and ten times their part of 4 slots per frame.
    for step in 0..2000_u32 {
        let now = at(10.0 * f64::from(step));
        for terminal in 1..=10 {
            for _ in 0..terminal {
                bench.offer(now, terminal, 0, 181);
            }
        }
    }
    let end = at(20_000.0);
    bench.run(end);
    bench.check(end);
    let used: Vec<u64> = (1..=10).map(|station| bench.beam.station_counters(StationId(station), end).used).collect();
    // 40 slots per frame, 754 frames, without those before the first requests arrive.
    let total: u64 = used.iter().sum();
    assert!(total > 40 * 754 * 95 / 100, "{used:?}");
    // The first is offered 100 packets/s, 2.65 per frame, below its part. The others differ by less than 3 %.
    assert!(used[0] > 1900, "{used:?}");
    let rest = &used[1..];
    let (least, greatest) = (rest.iter().min().unwrap(), rest.iter().max().unwrap());
    assert!((greatest - least) as f64 / (*greatest as f64) < 0.03, "{used:?}");
}

#[test]
fn a_rate_follows_constant_traffic() {
    let terminal = Terminal {
        rate_based: Rate::from_bps(2_000_000),
        volume_based: false,
        terminal_queue: 10_000,
        ..Terminal::default()
    };
    let mut bench = Bench::new(&aloha(), &[terminal]);
    let mut packets = Vec::new();
    // 500 kbit/s: 125 packets of 500 B per second.
    for number in 0..5000 {
        let start = at(8.0 * f64::from(number));
        packets.push((bench.offer(start, 1, 0, 500), start));
    }
    let end = at(41_000.0);
    bench.run(end);
    bench.check(end);
    assert_eq!(bench.dropped.len(), 0);
    // After the first round trips, packets wait for slots of their rate, not for requests.
    let late: Vec<f64> =
        packets[1000..].iter().map(|(packet, start)| bench.delay(*packet, *start).as_secs_f64()).collect();
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    assert!((0.130..0.260).contains(&mean), "{mean} s");
}

#[test]
fn a_rate_is_requested_once_per_period() {
    let config = Rcs2Config {
        carriers: 1,
        slots: 146,
        contention_slots: 0,
        rate_period: Some(ms(1000.0)),
        rate_timeout: ms(1026.5),
        ..Rcs2Config::default()
    };
    // Two slots per frame.
    let terminal = Terminal {
        constant: Rate::from_bps(100_000),
        rate_based: Rate::from_bps(5_120_000),
        volume_based: false,
        ..Terminal::default()
    };
    let mut bench = Bench::new(&config, std::slice::from_ref(&terminal));
    // One packet per slot.
    for _ in 0..150 {
        bench.offer(at(300.0), 1, 0, 181);
    }
    // The request is sent in the first constant slot after 1 s, and the assignment needs 260 ms.
    bench.run(at(1007.0 + 260.0));
    let slow = bench.received.len();
    // 26.5 ms frames from 318 ms to 1137 ms at the terminal.
    assert!((60..=66).contains(&slow), "{slow}");
    // The requested rate spreads the others over a round trip; frames add up to three.
    bench.run(at(1007.0 + 260.0 + 260.0 + 3.0 * 26.5));
    assert_eq!(bench.received.len(), 150);
    for number in 0..1000 {
        bench.offer(at(2000.0 + 10.0 * f64::from(number)), 1, 0, 181);
    }
    bench.run(at(13_000.0));
    bench.check(at(13_000.0));
    let requests = bench.beam.station_counters(StationId(1), at(13_000.0)).requests;
    assert_eq!(requests, 11, "at 1 s, and from 2 s to 11 s");
    // At 2 s, no more packets have arrived; those that wait without a slot are spread over 100 frames. Slots of the
    // next round trip are assigned.
    let spread = Rcs2Config { rate_spread: Some(ms(2650.0)), ..config.clone() };
    let mut bench = Bench::new(&spread, &[Terminal { terminal_queue: 10_000, ..terminal }]);
    for _ in 0..10_000 {
        bench.offer(at(0.0), 1, 0, 181);
    }
    let mut received = |time| {
        bench.run(at(time));
        bench.received.len() as f64
    };
    let waiting = 10_000.0 - received(2000.0 + 260.0);
    let (start, end) = (received(2500.0), received(2500.0 + 26.5 * 30.0));
    assert!(((end - start) / (0.3 * waiting) - 1.0).abs() < 0.02, "{waiting}: {start} to {end}");
    let message = Rcs2Config { rate_timeout: ms(500.0), rate_period: Some(ms(1000.0)), ..config }.check().unwrap_err();
    assert_eq!(message.0, "rate_period");
}

#[test]
fn free_capacity_replaces_requests() {
    let config = Rcs2Config { contention_data: true, ..aloha() };
    let terminal = Terminal { free: true, ..Terminal::default() };
    let mut bench = Bench::new(&config, &[terminal]);
    let first = bench.offer(at(0.0), 1, 0, 100);
    bench.run(at(600.0));
    assert!(bench.delay(first, at(0.0)) < ms(200.0));
    // Within a second of the first burst, slots come without a request.
    let second = bench.offer(at(600.0), 1, 0, 1500);
    bench.run(at(800.0));
    assert!(bench.delay(second, at(600.0)) < ms(130.0 + 2.0 * 26.5), "{}", bench.delay(second, at(600.0)));
    bench.run(at(5000.0));
    bench.check(at(5000.0));
    assert!(bench.beam.next_wake().is_none(), "an idle beam has no events");
}

#[test]
fn a_control_slot_carries_requests_without_collisions() {
    let config = Rcs2Config { contention_slots: 0, control_period: 8, ..aloha() };
    let mut bench = Bench::new(&config, &vec![Terminal::default(); 100]);
    for terminal in 1..=100 {
        bench.offer(at(0.0), terminal, 0, 100);
    }
    // Up to 8 frames until the control slot, then the round trip.
    bench.run(at(130.0 + 8.0 * 26.5 + 260.0 + 3.0 * 26.5));
    assert_eq!(bench.received.len(), 100);
    bench.check(at(1000.0));
}

#[test]
fn a_logon_takes_its_exchanges() {
    let config = Rcs2Config { logon: true, logon_exchanges: 3, ..aloha() };
    let mut bench = Bench::new(&config, &[Terminal::default()]);
    let packet = bench.offer(at(10.0), 1, 0, 100);
    bench.run(at(3000.0));
    let (frame, delay, slot) = (26.5, 130.0, 26.5 / 40.0);
    let ceil = |time: f64| (time / frame - 1e-9_f64).ceil() * frame;
    let logged_on = ceil(10.0 + delay) + 20.0 * slot + delay + 2.0 * 2.0 * delay;
    let decoded = ceil(logged_on + delay) + 20.0 * slot;
    let expected = ceil(decoded + 2.0 * delay) + 21.0 * slot - 10.0;
    let measured = bench.delay(packet, at(10.0)).as_secs_f64() * 1e3;
    assert!((measured - expected).abs() < 1e-3, "{measured} ms instead of {expected} ms");
}

#[test]
fn random_access_gives_up_after_the_last_attempt() {
    // 200 terminals in 2 slots, simultaneously: with two attempts almost all fail.
    let config = Rcs2Config { contention_slots: 2, access_attempts: 2, access_backoff: 1, ..aloha() };
    let mut bench = Bench::new(&config, &vec![Terminal::default(); 200]);
    for terminal in 1..=200 {
        bench.offer(at(0.0), terminal, 0, 100);
    }
    bench.run(at(5000.0));
    assert!(bench.dropped.len() >= 190, "{}", bench.dropped.len());
    assert!(bench.dropped.values().all(|cause| *cause == DropCause::Retry));
    bench.check(at(5000.0));
}

#[test]
fn idle_terminals_have_no_events() {
    let mut bench = Bench::new(&aloha(), &vec![Terminal::default(); 10_000]);
    assert!(bench.beam.next_wake().is_none());
    bench.offer(at(0.0), 5000, 0, 100);
    let mut handled = 0;
    while let Some(next) = bench.beam.next_wake() {
        bench.beam.handle_wake(next);
        bench.take(next);
        handled += 1;
    }
    // Random access, its decoding and outcome, an assignment, a slot, and the arrival of its burst.
    assert!(handled <= 6, "{handled}");
    assert_eq!(bench.received.len(), 1);
}

#[test]
fn the_forward_carrier_is_a_queue() {
    let slow = Terminal { forward_rate: Rate::from_mbps(1), ..Terminal::default() };
    let mut bench = Bench::new(&aloha(), &[slow, Terminal::default()]);
    let first = bench.offer(at(0.0), 0, 1, 1250);
    let second = bench.offer(at(0.0), 0, 2, 1250);
    bench.run(at(1000.0));
    // 10 ms at 1 Mbit/s, then 0.5 ms at 20 Mbit/s.
    assert_eq!(bench.delay(first, at(0.0)), ms(140.0));
    assert_eq!(bench.delay(second, at(0.0)), ms(140.5));
    assert_eq!(bench.received[&second].1, StationId(2));
}

#[test]
fn a_terminal_with_better_coding_needs_fewer_slots() {
    let clear = Terminal { slot_payload: lightlag_core::Bytes(400), ..Terminal::default() };
    let mut bench = Bench::new(&aloha(), &[Terminal::default(), clear]);
    bench.offer(at(0.0), 1, 0, 1500);
    bench.offer(at(0.0), 2, 0, 1500);
    bench.run(at(2000.0));
    let bursts = [1, 2].map(|station| bench.beam.station_counters(StationId(station), at(2000.0)).bursts);
    // 184 B: 179 + 7 · 182 + 47; 396 B: 391 + 2 · 394 + 321.
    assert_eq!(bursts, [9, 4]);
}

/// Weather that changes within seconds.
fn storm() -> Climate {
    Climate {
        adaptive: true,
        clear_sky: 8.0,
        rain_median: 3.0,
        rain_correlation: ms(5_000.0),
        acm_step: ms(100.0),
        ..Climate::default()
    }
}

#[test]
fn a_terminal_uses_the_waveform_of_its_weather() {
    // 10 dB without rain, with a margin of 1 dB: 8PSK 3/4, 400 B. Without adaptation 188 B.
    let climate = Climate { adaptive: true, clear_sky: 10.0, ..Climate::default() };
    let mut bench = Bench::new(&aloha(), &[Terminal { climate, ..Terminal::default() }, Terminal::default()]);
    for terminal in [1, 2] {
        bench.offer(at(0.0), terminal, 0, 1500);
    }
    bench.run(at(2000.0));
    let counters = [1, 2].map(|station| bench.beam.station_counters(StationId(station), at(2000.0)));
    assert_eq!(counters.map(|of| of.bursts), [4, 9]);
    assert_eq!(counters.map(|of| of.waveform_changes + of.lost_bursts), [0, 0]);
    bench.check(at(2000.0));
}

#[test]
fn a_fast_fade_loses_the_packets_and_requests_of_its_bursts() {
    let terminal = Terminal { terminal_queue: 10_000, climate: storm(), ..Terminal::default() };
    let mut bench = Bench::new(&aloha(), &[terminal]);
    for number in 0..6000 {
        bench.offer(at(50.0 * f64::from(number)), 1, 0, 700);
    }
    let end = at(900_000.0);
    bench.run(end);
    bench.check(end);
    let counters = bench.beam.station_counters(StationId(1), end);
    assert!(counters.lost_bursts > 20 && counters.waveform_changes > 20, "{counters:?}");
    // A lost burst of at most 599 B carries fragments of one or two packets of 700 B.
    let lost = bench.dropped.len() as u64;
    assert!(bench.dropped.values().all(|cause| *cause == DropCause::Error || *cause == DropCause::Retry));
    assert!(counters.dropped_error > 20 && counters.dropped_error <= 2 * counters.lost_bursts, "{counters:?}");
    // The terminal recovers from lost requests: everything else arrives.
    assert_eq!(bench.received.len() as u64 + lost, 6000);
    assert!(bench.beam.next_wake().is_none());
}

#[test]
fn an_outage_lasts_until_the_weather_improves() {
    // −0.4 dB are needed, and A has a median of 3 dB: C/N is below for P(A > 2.4 dB).
    let climate = Climate { clear_sky: 2.0, rain_deviation: 0.5, ..storm() };
    let mut bench = Bench::new(&aloha(), &[Terminal { climate, ..Terminal::default() }]);
    let mut delays = Vec::new();
    for number in 0..300 {
        let start = at(2000.0 * f64::from(number));
        let packet = bench.offer(start, 1, 0, 60);
        bench.run(start + ms(1999.0));
        delays.push((packet, start));
    }
    bench.run(at(1e6));
    bench.check(at(1e6));
    let late =
        |packet: &&(u32, Instant)| bench.received.get(&packet.0).is_some_and(|of| of.0.since(packet.1) > ms(1000.0));
    let count = delays.iter().filter(late).count();
    assert!((60..290).contains(&count), "{count} of 300 packets waited for an outage");
    assert_eq!(bench.received.len() + bench.dropped.len(), 300);
}

/// Returns the mean delay in ms of packets of 100 B every 25 ms over a beam with one terminal.
fn mean_delay(config: &Rcs2Config) -> f64 {
    let mut bench = Bench::new(config, &[Terminal { terminal_queue: 10_000, ..Terminal::default() }]);
    let packets: Vec<(u32, Instant)> = (0..4000)
        .map(|number| {
            let start = at(25.3 * f64::from(number));
            (bench.offer(start, 1, 0, 160), start)
        })
        .collect();
    bench.run(at(25.3 * 4000.0 + 5000.0));
    bench.check(at(25.3 * 4000.0 + 5000.0));
    let delays = packets[200..].iter().map(|(packet, start)| bench.delay(*packet, *start).as_secs_f64() * 1e3);
    delays.sum::<f64>() / 3800.0
}

#[test]
fn a_request_in_each_frame_has_the_delay_of_a_packet_alone() {
    // Control slot 0 of each frame, with 40 slots of 26.5/40 ms. A packet waits F/2 on average for a control slot of the
    // terminal, whose request ends at the NCC 130 ms and a slot later. 260 ms further, the next frame is
    // ⌈(260 + F/40)/F⌉ = 10 frames after the frame of the request, and its slot ends 2/40 F later, or later ones if several
    // packets of a frame were requested together: 1.05 packets per frame on average.
    let config = Rcs2Config { contention_slots: 0, control_period: 1, ..aloha() };
    let frame = 26.5;
    let expected = 0.5 * frame + 130.0 + 10.0 * frame + 2.0 / 40.0 * frame;
    let measured = mean_delay(&config);
    assert!((measured / expected - 1.0).abs() < 0.01, "{measured} ms instead of {expected} ms");
    // Requests by random access only: in bursts while slots are assigned, so they form groups one round trip apart.
    let grouped = mean_delay(&aloha());
    assert!(grouped > measured + 100.0, "{grouped} ms with requests in bursts");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn packets_and_slots_are_conserved(
        seed in any::<u64>(),
        carriers in 1..4_u32,
        slots in 4..30_u32,
        contention in 3..8_u32,
        scheme in 0..3_usize,
        kinds in proptest::collection::vec(0..8_u32, 1..12),
        logon in any::<bool>(),
        data in any::<bool>(),
        control in 0..5_u32,
        load in 1..60_u32,
    ) {
        let contention_slots = contention.min(slots);
        let config = Rcs2Config {
            carriers: carriers + 1,
            slots,
            contention_slots,
            contention: [Scheme::SlottedAloha, Scheme::Crdsa2, Scheme::Crdsa3][scheme],
            contention_data: data,
            logon,
            access_attempts: 3,
            control_period: control * 2,
            ..Rcs2Config::default()
        };
        let terminal = |kind: &u32| {
            let terminal = Terminal { delay: ms(125.0 + f64::from(*kind)), terminal_queue: 20, ..Terminal::default() };
            match kind {
                0 => Terminal { constant: Rate::from_bps(40_000), ..terminal },
                1 => Terminal { rate_based: Rate::from_bps(200_000), volume_based: false, ..terminal },
                2 => Terminal { rate_based: Rate::from_bps(100_000), ..terminal },
                3 => Terminal { free: true, ..terminal },
                4 => Terminal { slot_payload: lightlag_core::Bytes(40), ..terminal },
                5 => Terminal { climate: storm(), ..terminal },
                6 => Terminal { climate: storm(), rate_based: Rate::from_bps(100_000), free: true, ..terminal },
                _ => terminal,
            }
        };
        let terminals: Vec<Terminal> = kinds.iter().map(terminal).collect();
        prop_assume!(config.check().and_then(|()| config.check_all(&terminals)).is_ok());
        let mut bench = Bench::new(&config, &terminals);
        let mut random = RandomStream::new(seed, "traffic");
        let mut now = 0.0;
        let stations = terminals.len() as u32 + 1;
        for step in 0..400 {
            now += f64::from(load) * random.uniform();
            let station = ((random.uniform() * f64::from(stations)) as u32).min(stations - 1);
            let to = if station == 0 { 1 + step % (stations - 1) } else { 0 };
            bench.offer(at(now), station, to, 20 + (random.uniform() * 1480.0) as u32);
            if step % 50 == 0 {
                bench.check(at(now));
                no_slot_is_used_twice(&bench.beam, carriers + 1);
            }
        }
        // Everything that can be served is served, and nothing remains to be done.
        let end = at(now + 600_000.0);
        bench.run(end);
        bench.check(end);
        prop_assert!(bench.beam.next_wake().is_none());
        let left: u64 = (0..stations)
            .map(|station| bench.beam.station_counters(StationId(station), end).packets.waiting)
            .sum();
        prop_assert_eq!(left, 0);
    }
}

/// Checks that a terminal sends one burst at a time, and that each time has as many bursts as carriers.
fn no_slot_is_used_twice(beam: &Rcs2<u32>, carriers: u32) {
    let mut users: BTreeMap<Instant, Vec<u32>> = BTreeMap::new();
    for task in beam.tasks.events() {
        if let Task::Slot { terminal, end, .. } = task {
            users.entry(*end).or_default().push(*terminal);
        }
    }
    for (end, mut terminals) in users {
        assert!(terminals.len() <= carriers as usize, "{} bursts at {end}", terminals.len());
        terminals.sort_unstable();
        assert!(terminals.windows(2).all(|pair| pair[0] != pair[1]), "a terminal has two slots at {end}");
    }
}
