//! NB-IoT compared with the theory of its preambles and with the sum of its steps.

use lightlag_access::random_access::{NbIotConfig, Technique};
use lightlag_access::{RandomAccess, RandomAccessConfig};
use lightlag_core::{Duration, Instant, Probability, RandomStream, Windows};
use lightlag_net::StationId;
use lightlag_net::medium::{Addressee, Event, Medium, Outgoing, Precedence};

const HUB: StationId = StationId(0);

/// Relative tolerance of frequencies with a closed form. Their standard deviations are below 0.7 %.
const TOLERANCE: f64 = 0.02;

fn packet(size: u32) -> Outgoing<()> {
    Outgoing { to: Addressee::One(HUB), size, precedence: Precedence::Station, payload: () }
}

fn config(nb_iot: NbIotConfig) -> RandomAccessConfig {
    RandomAccessConfig { technique: Technique::NbIot, delay: ms(4), access_attempts: 1, nb_iot, ..Default::default() }
}

fn one_class(subcarriers: u32) -> NbIotConfig {
    NbIotConfig { coverage: vec![vec![1.0, f64::from(subcarriers), 1.0, 1.0]], ..NbIotConfig::default() }
}

fn ms(of: u64) -> Duration {
    Duration::from_millis(of)
}

fn time(of: Duration) -> Instant {
    Instant::ZERO + of
}

/// Handles all events up to `end`. Returns the times when packets were received at the gateway.
fn run(medium: &mut RandomAccess<()>, end: Instant) -> Vec<Instant> {
    let mut received = Vec::new();
    while let Some(next) = medium.next_wake().filter(|next| *next <= end) {
        medium.handle_wake(next);
        while let Some(event) = medium.poll_event() {
            received.extend(matches!(event, Event::Received { .. }).then_some(next));
        }
    }
    received
}

/// With n sensors on k subcarriers, a preamble collides with the probability 1 − (1 − 1/k)^(n − 1).
#[test]
fn preambles_collide_as_often_as_the_theory() {
    for (sensors, subcarriers) in [(2, 12), (10, 12), (10, 48), (40, 36), (48, 48)] {
        let mut medium = RandomAccess::new(&config(one_class(subcarriers)), sensors + 1, HUB, 1, "test");
        // The next round starts when all data of the previous one has arrived.
        let rounds = 200_000 / sensors as u64;
        for round in 0..rounds {
            let now = time(ms(640 * 20) * round);
            run(&mut medium, now);
            (1..=sensors as u32).for_each(|sensor| medium.offer(now, StationId(sensor), packet(20)));
        }
        run(&mut medium, time(Duration::from_secs(3600 * 24 * 40)));
        let counters: Vec<_> = (1..=sensors as u32).map(|at| medium.station_counters(StationId(at))).collect();
        let collisions: u64 = counters.iter().map(|of| of.collisions).sum();
        let collided = collisions as f64 / (rounds * sensors as u64) as f64;
        let theory = 1.0 - libm::pow(1.0 - 1.0 / f64::from(subcarriers), sensors as f64 - 1.0);
        // With 200,000 preambles, which collide in pairs, the standard deviation of the rarest is 1.0 %.
        let tolerance = if theory < 0.1 { 2.0 * TOLERANCE } else { TOLERANCE };
        assert!(
            (collided / theory - 1.0).abs() < tolerance,
            "{sensors}, {subcarriers}: {collided} instead of {theory}"
        );
    }
}

/// Preambles at random times are slotted ALOHA on k channels: G k e^(−G) of them succeed per opportunity.
#[test]
fn preambles_have_the_throughput_of_slotted_aloha_on_channels() {
    const SENSORS: u32 = 20_000;
    for (subcarriers, load) in [(48_u32, 0.2), (48, 1.0), (12, 0.5), (12, 1.5)] {
        let nb_iot = NbIotConfig { data_carriers: 20, ..one_class(subcarriers) };
        let period = nb_iot.nprach_period.as_secs_f64();
        let config = RandomAccessConfig { sensor_queue: 1000, ..config(nb_iot) };
        let mut medium = RandomAccess::new(&config, SENSORS as usize + 1, HUB, 1, "test");
        let (mut random, mut now) = (RandomStream::new(5, "arrivals"), Instant::ZERO);
        let gap = Duration::from_secs_f64(period / load / f64::from(subcarriers));
        for _ in 0..100_000 {
            now += random.exponential(gap);
            run(&mut medium, now);
            let sensor = 1 + ((random.uniform() * f64::from(SENSORS)) as u32).min(SENSORS - 1);
            medium.offer(now, StationId(sensor), packet(20));
        }
        let opportunities = now.as_secs_f64() / period;
        run(&mut medium, now + Duration::from_secs(3600));
        let decoded: u64 = (1..=SENSORS).map(|at| medium.station_counters(StationId(at)).decoded_first).sum();
        let theory = load * f64::from(subcarriers) * libm::exp(-load);
        let measured = decoded as f64 / opportunities;
        assert!((measured / theory - 1.0).abs() < TOLERANCE, "{subcarriers}, G = {load}: {measured}, not {theory}");
    }
}

/// Without contention, the delay is the sum of the steps: opportunity, preamble, response, round trip and grant,
/// message 3, response, round trip and grant, data. With HARQ each further block takes a response, a round trip and a grant.
#[test]
fn the_delay_without_contention_is_the_sum_of_the_steps() {
    for (delay, harq) in [(4, true), (4, false), (270, true), (270, false)] {
        let coverage = vec![vec![1.0, 12.0, 8.0, 2.0]];
        let config = RandomAccessConfig {
            delay: ms(delay),
            burst_overhead: 10,
            ..config(NbIotConfig { harq, coverage, ..NbIotConfig::default() })
        };
        let mut medium = RandomAccess::new(&config, 2, HUB, 1, "test");
        medium.offer(time(ms(100)), StationId(1), packet(140));
        let received = run(&mut medium, time(Duration::from_secs(100)));
        // The opportunity at 640 ms is the first one for both delays. A preamble takes 8 · 6.4 ms, message 3 with 88 bits 2
        // resource units of 8 ms, and 150 B a block of 680 bits with 10 units and one of 552 bits with 8; data twice.
        let exchange = 20 + 2 * delay + 12;
        let blocks = 2 * 80 + 2 * 64 + if harq { exchange } else { 0 };
        let expected = time(Duration::from_micros(640_000 + 8 * 6_400)) + ms(exchange + 2 * 16 + exchange + blocks);
        assert_eq!(received, [expected], "{delay} ms, HARQ {harq}");
        let airtime = Duration::from_micros(8 * 6_400) + ms(2 * 16 + 2 * 80 + 2 * 64);
        let counters = medium.station_counters(StationId(1));
        assert_eq!((counters.airtime, counters.contentions, counters.bursts), (airtime, 1, 2));
        assert_eq!(config.airtime(140, 0), airtime);
    }
}

/// A sensor whose preamble collides starts again after the contention timer and its backoff, and its packet arrives.
#[test]
fn collided_sensors_start_again() {
    let config = RandomAccessConfig { access_attempts: 10, ..config(one_class(12)) };
    let mut medium = RandomAccess::new(&config, 41, HUB, 1, "test");
    (1..=40).for_each(|sensor| medium.offer(Instant::ZERO, StationId(sensor), packet(20)));
    let received = run(&mut medium, time(Duration::from_secs(10_000)));
    assert_eq!(received.len(), 40);
    let contentions: u64 = (1..=40).map(|sensor| medium.station_counters(StationId(sensor)).contentions).sum();
    assert!(contentions > 60, "{contentions} preambles for 40 packets");
}

/// A block is decoded with the probability 1 − p; with HARQ in one of m transmissions, 1 − p^m.
#[test]
fn blocks_are_lost_with_their_probability() {
    for (harq, p) in [(true, 0.4), (false, 0.1)] {
        let block_error = Probability::new(p).unwrap();
        let nb_iot = NbIotConfig { harq, block_error, harq_transmissions: 3, ..NbIotConfig::default() };
        let mut medium = RandomAccess::new(&config(nb_iot), 2, HUB, 1, "test");
        let mut received = 0;
        for round in 0..20_000 {
            received += run(&mut medium, time(Duration::from_secs(20) * round)).len();
            medium.offer(time(Duration::from_secs(20) * round), StationId(1), packet(150));
        }
        received += run(&mut medium, time(Duration::from_secs(1_000_000))).len();
        // 150 B are two blocks.
        let one = if harq { 1.0 - libm::pow(p, 3.0) } else { 1.0 - p };
        let fraction = received as f64 / 20_000.0;
        assert!((fraction / (one * one) - 1.0).abs() < TOLERANCE, "{fraction} instead of {}", one * one);
        let counters = medium.station_counters(StationId(1));
        assert_eq!(counters.dropped_retry + counters.packets.settled, 20_000);
    }
}

/// Grants share the tones: the carrier delivers one packet per tone in the time of message 3 and the data.
#[test]
fn a_saturated_carrier_has_the_capacity_of_its_tones() {
    let nb_iot = NbIotConfig { tbs_index: 4, ..one_class(48) };
    let mut medium = RandomAccess::new(&config(nb_iot), 12_001, HUB, 1, "test");
    let mut random = RandomStream::new(5, "arrivals");
    let mut now = Instant::ZERO;
    let mut received = Vec::new();
    // G = 1: 48/e = 17.7 sensors per 640 ms obtain grants, 27.6 per second.
    for _ in 0..60_000 {
        now += random.exponential(Duration::from_secs_f64(0.64 / 48.0));
        received.extend(run(&mut medium, now));
        medium.offer(now, StationId(1 + ((random.uniform() * 12_000.0) as u32).min(11_999)), packet(50));
    }
    let rate = received.len() as f64 / now.as_secs_f64();
    // Per opportunity: 48 (1 − 1/e) = 30.3 occupied subcarriers with 16 ms each, 12 tones · 640 ms in total. 50 B are 400
    // bits, 6 units, 48 ms. The rest of the capacity is (7,680 − 485)/48 = 149.9 packets: no limit, so all arrive.
    let offered = 48.0 * libm::exp(-1.0) / 0.64;
    assert!((rate / offered - 1.0).abs() < TOLERANCE, "{rate} per second instead of {offered}");
    let narrow = NbIotConfig { tones: 12, tbs_index: 0, ..one_class(48) };
    // One grant at a time. Message 3: 88 bits, 4 units of 1 ms. 50 B: 256 bits with 10 units and 152 bits with 6.
    let narrow = NbIotConfig { harq: false, coverage: vec![vec![1.0, 48.0, 1.0, 4.0]], ..narrow };
    let mut medium = RandomAccess::new(&config(narrow), 12_001, HUB, 1, "test");
    let (mut now, mut received) = (Instant::ZERO, 0);
    for _ in 0..60_000 {
        now += random.exponential(Duration::from_secs_f64(0.64 / 48.0));
        received += run(&mut medium, now).len();
        medium.offer(now, StationId(1 + ((random.uniform() * 12_000.0) as u32).min(11_999)), packet(50));
    }
    // The carrier is always busy: each identified sensor takes 16 ms for message 3 and 64 ms for data, and each collided
    // subcarrier 16 ms. Occupied subcarriers per identified sensor: (1 − e^−1)/e^−1 = 1.718.
    let capacity = 1.0 / (0.016 * 1.718_28 + 0.064);
    let rate = f64::from(received as u32) / now.as_secs_f64();
    assert!(rate <= capacity * 1.001 && rate > 0.9 * capacity, "{rate} per second instead of {capacity}");
}

#[test]
fn coverage_classes_have_their_own_preambles_and_repetitions() {
    let coverage = vec![vec![0.7, 24.0, 1.0, 1.0], vec![0.3, 12.0, 16.0, 8.0]];
    let config =
        RandomAccessConfig { access_attempts: 10, ..config(NbIotConfig { coverage, ..NbIotConfig::default() }) };
    let mut medium = RandomAccess::new(&config, 2001, HUB, 1, "test");
    let mut random = RandomStream::new(5, "arrivals");
    let mut now = Instant::ZERO;
    for sensor in 1..=2000 {
        now += random.exponential(Duration::from_secs(1));
        run(&mut medium, now);
        medium.offer(now, StationId(sensor), packet(50));
    }
    run(&mut medium, now + Duration::from_secs(10_000));
    let second = (1..=2000).filter(|sensor| medium.variant(StationId(*sensor)) == 1).count();
    // The standard deviation is 20.
    assert!((540..=660).contains(&second), "{second}");
    for sensor in (1..=2000).map(StationId) {
        let (counters, class) = (medium.station_counters(sensor), medium.variant(sensor));
        assert_eq!(counters.packets.settled + counters.packets.dropped, 1);
        let access = config.nb_iot.preamble([1, 16][class as usize]) + config.nb_iot.message_3([1, 8][class as usize]);
        let data = config.airtime(50, class) - access;
        assert_eq!(counters.airtime, access * counters.contentions + data * counters.packets.settled);
        let energy = 25.1189 * counters.airtime.as_secs_f64();
        assert!((medium.energy_mj(sensor) / energy - 1.0).abs() < 1e-5);
    }
}

/// Packets are conserved at any time, with passes, collisions, lost blocks and full queues.
#[test]
fn packets_are_conserved() {
    let passes = Windows::periodic(Duration::from_secs(100), Duration::from_secs(50), Duration::from_secs(1000));
    let nb_iot = NbIotConfig { block_error: Probability::HALF, harq_transmissions: 2, ..one_class(12) };
    let config = RandomAccessConfig {
        passes,
        access_attempts: 3,
        sensor_queue: 2,
        pass_backoff: Duration::from_secs(10),
        ..config(nb_iot)
    };
    let mut medium = RandomAccess::new(&config, 101, HUB, 1, "test");
    let mut random = RandomStream::new(5, "arrivals");
    let (mut now, mut received) = (Instant::ZERO, 0);
    for offered in 1..=5000_u64 {
        now += random.exponential(Duration::from_secs(2));
        received += run(&mut medium, now).len() as u64;
        medium.offer(now, StationId(1 + ((random.uniform() * 100.0) as u32).min(99)), packet(100));
        while medium.poll_event().is_some() {}
        let all: Vec<_> = (1..=100).map(|sensor| medium.station_counters(StationId(sensor))).collect();
        let sum = |of: fn(&lightlag_access::StationCounters) -> u64| all.iter().map(of).sum::<u64>();
        assert_eq!(sum(|of| of.packets.settled), received);
        assert_eq!(offered, received + sum(|of| of.dropped_queue + of.dropped_retry) + sum(|of| of.packets.waiting));
        let mut pending = 0;
        medium.pending(&mut |()| pending += 1);
        assert_eq!(pending, sum(|of| of.packets.waiting));
    }
    let all: Vec<_> = (1..=100).map(|sensor| medium.station_counters(StationId(sensor))).collect();
    assert!(received > 300, "{received}");
    assert!(all.iter().any(|of| of.dropped_queue > 0) && all.iter().any(|of| of.dropped_retry > 0));
}
