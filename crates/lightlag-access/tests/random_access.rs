//! Random access compared with the theory of ALOHA and with published throughputs of CRDSA.

use lightlag_access::contention::{Contender, Decoder, Scheme};
use lightlag_access::random_access::Technique;
use lightlag_access::{RandomAccess, RandomAccessConfig};
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Rate, Windows};
use lightlag_net::StationId;
use lightlag_net::medium::{Addressee, Event, Medium, Outgoing, Precedence};

const HUB: StationId = StationId(0);

fn packet(size: u32) -> Outgoing<()> {
    Outgoing { to: Addressee::One(HUB), size, precedence: Precedence::Station, payload: () }
}

/// Offers packets of 100 B at random times to 2000 sensors, `load` packets per packet time on average, and returns the
/// packets received per packet time.
fn throughput(config: &RandomAccessConfig, load: f64, packets: u32) -> f64 {
    const SENSORS: u32 = 2000;
    let mut medium = RandomAccess::new(config, SENSORS as usize + 1, HUB, 1, "test");
    let time = config.burst_rate.time_to_send(Bytes(100));
    let gap = Duration::from_secs_f64(time.as_secs_f64() / load);
    let mut random = RandomStream::new(5, "arrivals");
    let (mut now, mut received) = (Instant::ZERO, 0_u32);
    let mut advance = |medium: &mut RandomAccess<()>, now: Instant| {
        while let Some(next) = medium.next_wake().filter(|next| *next <= now) {
            medium.handle_wake(next);
        }
        while let Some(event) = medium.poll_event() {
            received += u32::from(matches!(event, Event::Received { .. }));
        }
    };
    for _ in 0..packets {
        now += random.exponential(gap);
        advance(&mut medium, now);
        let sensor = 1 + ((random.uniform() * f64::from(SENSORS)) as u32).min(SENSORS - 1);
        medium.offer(now, StationId(sensor), packet(100));
    }
    let span = now.as_secs_f64();
    advance(&mut medium, now + Duration::from_secs(3600));
    for station in (0..=SENSORS).map(StationId) {
        let counters = medium.counters(station);
        assert_eq!(counters.offered, counters.settled + counters.dropped + counters.waiting);
        assert_eq!(counters.waiting, 0);
    }
    f64::from(received) * time.as_secs_f64() / span
}

fn config(technique: Technique) -> RandomAccessConfig {
    RandomAccessConfig { technique, sensor_queue: 1000, ..RandomAccessConfig::default() }
}

/// Relative tolerance of throughputs with a closed form. With 200,000 packets the standard deviation is below 0.5 %.
const TOLERANCE: f64 = 0.02;

#[test]
fn pure_aloha_delivers_g_exp_minus_2g() {
    for load in [0.1, 0.5, 1.0] {
        let (measured, theory) = (throughput(&config(Technique::Aloha), load, 200_000), load * libm::exp(-2.0 * load));
        assert!((measured / theory - 1.0).abs() < TOLERANCE, "G = {load}: {measured} instead of {theory}");
    }
}

#[test]
fn slotted_aloha_delivers_g_exp_minus_g() {
    for load in [0.1, 0.5, 1.0, 1.5] {
        let theory = load * libm::exp(-load);
        let measured = throughput(&config(Technique::SlottedAloha), load, 200_000);
        assert!((measured / theory - 1.0).abs() < TOLERANCE, "G = {load}: {measured} instead of {theory}");
    }
}

/// Returns the bursts decoded per slot in frames with a number of bursts that `users` draws.
fn decoded(scheme: Scheme, slots: u32, frames: u32, mut users: impl FnMut(&mut RandomStream) -> u32) -> f64 {
    let (mut random, mut decoder) = (RandomStream::new(3, "users"), Decoder::default());
    let mut sum = 0;
    for _ in 0..frames {
        let count = users(&mut random);
        let bursts: Vec<_> = (0..count).map(|_| Contender::draw(scheme, slots, slots, 1.0, &mut random)).collect();
        sum += decoder.decode(slots, &bursts, 50, None).iter().filter(|iteration| **iteration > 0).count();
    }
    sum as f64 / f64::from(slots * frames)
}

/// Throughputs of CRDSA with frames of 100 slots and a fixed number of bursts per frame (Casini, De Gaudenzio, Herrero
/// 2007; Liva 2011): the peaks are about 0.55 with two replicas and 0.68 with three, and at moderate loads nearly
/// everything is delivered.
#[test]
fn crdsa_delivers_the_published_throughput() {
    let peak =
        |scheme, users: &[u32]| users.iter().map(|users| decoded(scheme, 100, 2000, |_| *users)).fold(0.0, f64::max);
    let two = peak(Scheme::Crdsa2, &[55, 60, 65, 70, 75]);
    let three = peak(Scheme::Crdsa3, &[60, 65, 70, 75, 80]);
    assert!((two - 0.55).abs() < 0.02, "peak of two replicas {two}");
    assert!((three - 0.68).abs() < 0.02, "peak of three replicas {three}");
    for (scheme, users) in [(Scheme::Crdsa2, 35), (Scheme::Crdsa3, 55)] {
        let moderate = decoded(scheme, 100, 2000, |_| users);
        assert!((moderate * 100.0 / f64::from(users) - 1.0).abs() < TOLERANCE, "{users} users: {moderate}");
    }
}

/// The medium with Poisson arrivals has the throughput of frames with a Poisson number of bursts.
#[test]
fn crdsa_in_the_medium_has_the_throughput_of_its_frames() {
    for (technique, scheme) in [(Technique::Crdsa2, Scheme::Crdsa2), (Technique::Crdsa3, Scheme::Crdsa3)] {
        for load in [0.4, 0.65, 0.8] {
            let config = RandomAccessConfig { sic_iterations: 50, ..config(technique) };
            let measured = throughput(&config, load, 100_000);
            let expected = decoded(scheme, 100, 2000, |random| poisson(load * 100.0, random));
            assert!((measured / expected - 1.0).abs() < TOLERANCE, "G = {load}: {measured} instead of {expected}");
        }
    }
}

/// Returns a Poisson number with this mean: the number of exponential gaps within it.
fn poisson(mean: f64, random: &mut RandomStream) -> u32 {
    let (mut sum, mut count) = (0.0, 0);
    loop {
        sum -= libm::log1p(-random.uniform());
        if sum > mean {
            return count;
        }
        count += 1;
    }
}

#[test]
fn power_differences_raise_the_throughput_of_crdsa() {
    let equal = config(Technique::Crdsa2);
    let unequal = RandomAccessConfig { capture_threshold: Some(3.0), power_spread: 3.0, ..equal.clone() };
    let [equal, unequal] = [equal, unequal].map(|config| throughput(&config, 1.0, 50_000));
    assert!(unequal > equal * 1.5, "{unequal} and {equal}");
}

#[test]
fn a_lora_burst_survives_weaker_ones_and_other_spreading_factors() {
    // One spreading factor and equal powers: pure ALOHA. Six spreading factors at equal powers do not disturb each other.
    let lora = RandomAccessConfig { spreading_min: 7, spreading_max: 7, ..config(Technique::Lora) };
    let airtime = lora.airtime(100, 7);
    let rate = Rate::from_bps((800.0 / airtime.as_secs_f64()) as u64).unwrap();
    let load = 0.5;
    let one = throughput(&RandomAccessConfig { burst_rate: rate, ..lora.clone() }, load, 100_000);
    let theory = load * libm::exp(-2.0 * load);
    assert!((one / theory - 1.0).abs() < TOLERANCE, "{one} instead of {theory}");
    // With a spread of 8 dB, the difference of two bursts has 11.3 dB; a burst exceeds another by 6 dB with the
    // probability Q(6 / 11.3) = 0.298. The number of others that overlap is Poisson with 2 G, and each must be weaker:
    // between the value for independent comparisons, exp(−2 G · 0.702), and the gain of strong bursts over several.
    let spread = RandomAccessConfig { burst_rate: rate, power_spread: 8.0, ..lora };
    let captured = throughput(&spread, load, 100_000);
    assert!(captured > load * libm::exp(-2.0 * load * 0.702) && captured < 1.25 * theory * 1.35, "{captured}");
}

#[test]
fn acknowledged_packets_are_retransmitted_until_they_arrive() {
    let plain = config(Technique::Aloha);
    let acknowledged = RandomAccessConfig { acknowledged: true, access_attempts: 20, ..plain.clone() };
    let load = 0.05;
    let [plain, acknowledged] = [plain, acknowledged].map(|config| throughput(&config, load, 50_000));
    assert!((plain / (load * libm::exp(-2.0 * load)) - 1.0).abs() < TOLERANCE);
    assert!((acknowledged / load - 1.0).abs() < 0.001, "{acknowledged}");
}

#[test]
fn energy_is_power_times_airtime() {
    let config = RandomAccessConfig { spreading_min: 12, spreading_max: 12, ..config(Technique::Lora) };
    let mut medium = RandomAccess::new(&config, 2, HUB, 1, "test");
    medium.offer(Instant::ZERO, StationId(1), packet(51));
    // 14 dBm are 25.12 mW; SF12 with 51 B takes 2.465792 s.
    let energy = medium.energy_mj(StationId(1));
    assert!((energy - 25.1189 * 2.465_792).abs() < 0.001, "{energy} mJ");
}

#[test]
fn a_packet_above_the_slot_is_dropped() {
    let mut medium = RandomAccess::new(&config(Technique::SlottedAloha), 2, HUB, 1, "test");
    medium.offer(Instant::ZERO, StationId(1), packet(101));
    assert!(matches!(medium.poll_event(), Some(Event::Dropped { .. })));
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

fn seconds(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

fn passing(technique: Technique) -> RandomAccessConfig {
    let passes = Windows::periodic(Duration::from_secs(600), Duration::from_secs(300), Duration::from_secs(6000));
    RandomAccessConfig {
        passes,
        pass_backoff: Duration::from_secs(100),
        delay: Duration::from_millis(5),
        ..config(technique)
    }
}

#[test]
fn bursts_are_received_in_passes_only() {
    for technique in [Technique::Aloha, Technique::SlottedAloha, Technique::Crdsa3] {
        let config = RandomAccessConfig { burst_rate: Rate::from_mbps(1), acknowledged: true, ..passing(technique) };
        let mut medium = RandomAccess::new(&config, 201, HUB, 1, "test");
        let mut random = RandomStream::new(5, "arrivals");
        let mut now = Instant::ZERO;
        let mut received = Vec::new();
        for _ in 0..4000 {
            now += random.exponential(Duration::from_secs(5));
            received.extend(run(&mut medium, now));
            let sensor = 1 + ((random.uniform() * 200.0) as u32).min(199);
            medium.offer(now, StationId(sensor), packet(100));
        }
        let end = now.since(Instant::ZERO).as_nanos() / 6_000_000_000_000 * 6000 + 7000;
        received.extend(run(&mut medium, seconds(end)));
        assert_eq!(received.len(), 4000, "{technique:?}: acknowledged packets arrive in the last pass at the latest");
        for time in received {
            let in_period = (time.as_secs_f64() - 0.005) % 6000.0;
            // A burst of 100 B takes 0.8 ms, and ends within the pass.
            assert!((600.0008..=900.0).contains(&in_period), "{technique:?}: received {in_period} s into the period");
        }
    }
}

/// Sensors with k packets each spread them over the interval W, so that pure ALOHA has the load G = n k T / W.
#[test]
fn packets_that_waited_for_a_pass_are_spread_evenly() {
    const SENSORS: u32 = 5000;
    let config = passing(Technique::Aloha);
    for waiting in [1_u32, 4] {
        let mut medium = RandomAccess::new(&config, SENSORS as usize + 1, HUB, 1, "test");
        for sensor in 1..=SENSORS {
            (0..waiting).for_each(|_| medium.offer(seconds(1), StationId(sensor), packet(100)));
        }
        let airtime = config.airtime(100, 0).as_secs_f64();
        let load = f64::from(SENSORS * waiting) * airtime / 100.0;
        let received = run(&mut medium, seconds(1000));
        let fraction = received.len() as f64 / f64::from(SENSORS * waiting);
        // 5,000 packets: the standard deviation of the fraction is below 0.4 %.
        let theory = libm::exp(-2.0 * load);
        assert!((fraction / theory - 1.0).abs() < TOLERANCE, "{waiting}: {fraction} instead of {theory}");
        // The mean of uniform times over 100 s, with a standard deviation of up to 100/√(12·4,600) = 0.43 s.
        let mean = received.iter().map(|time| time.as_secs_f64()).sum::<f64>() / received.len() as f64;
        assert!((mean - 650.0).abs() < 1.5, "{waiting}: a mean of {mean} s");
        assert!(received.iter().all(|time| *time < seconds(701)), "{waiting}: after the interval");
    }
}

#[test]
fn the_queue_of_a_sensor_is_bounded_between_passes() {
    let config = RandomAccessConfig { sensor_queue: 3, ..passing(Technique::Aloha) };
    let mut medium = RandomAccess::new(&config, 2, HUB, 1, "test");
    (0..5).for_each(|_| medium.offer(seconds(1), StationId(1), packet(100)));
    let counters = medium.station_counters(StationId(1));
    assert_eq!((counters.dropped_queue, counters.packets.waiting, counters.airtime), (2, 3, Duration::ZERO));
    assert_eq!(medium.energy_mj(StationId(1)), 0.0);
    // The forward carrier also waits for the pass.
    let to_sensor = Outgoing { to: Addressee::One(StationId(1)), ..packet(100) };
    medium.offer(seconds(2), HUB, to_sensor);
    let received = run(&mut medium, seconds(7000));
    assert_eq!(received.len(), 4);
    // 100 B at 20 Mbit/s take 40 us.
    assert_eq!(received[0], seconds(600) + Duration::from_micros(40) + config.delay);
}

#[test]
fn a_burst_longer_than_a_pass_waits_for_a_longer_pass() {
    let listed = |windows: &[(u64, u64)]| {
        let windows: Vec<_> = windows.iter().map(|(a, b)| (Duration::from_secs(*a), Duration::from_secs(*b))).collect();
        RandomAccessConfig {
            passes: Windows::listed(&windows),
            spreading_min: 12,
            spreading_max: 12,
            pass_backoff: Duration::ZERO,
            ..config(Technique::Lora)
        }
    };
    // SF12 with 51 B takes 2.47 s.
    let mut medium = RandomAccess::new(&listed(&[(10, 12), (20, 30)]), 2, HUB, 1, "test");
    medium.offer(seconds(0), StationId(1), packet(51));
    let received = run(&mut medium, seconds(100));
    assert_eq!(received.len(), 1);
    assert!((received[0].as_secs_f64() - (20.0 + 2.465_792 + 0.130)).abs() < 1e-3, "{received:?}");
    let mut medium = RandomAccess::new(&listed(&[(10, 12)]), 2, HUB, 1, "test");
    medium.offer(seconds(0), StationId(1), packet(51));
    assert_eq!(run(&mut medium, seconds(100)).len(), 0);
    assert_eq!(medium.counters(StationId(1)).waiting, 1);
}

/// Offered packets are delivered, dropped for one cause, or waiting, at any time; and the energy is the
/// power times the airtime of the bursts that were sent.
#[test]
fn packets_and_energy_are_conserved() {
    let techniques = [Technique::Aloha, Technique::SlottedAloha, Technique::Crdsa2, Technique::Crdsa3, Technique::Lora];
    for (technique, acknowledged) in
        techniques.into_iter().flat_map(|technique| [(technique, false), (technique, true)])
    {
        let config = RandomAccessConfig {
            acknowledged,
            burst_rate: Rate::from_bps(20_000).unwrap(),
            access_attempts: 2,
            sensor_queue: 3,
            retry_backoff: Duration::from_secs(1),
            ..passing(technique)
        };
        let mut medium = RandomAccess::new(&config, 41, HUB, 3, "test");
        let mut random = RandomStream::new(5, "arrivals");
        let (mut now, mut received, mut offered) = (Instant::ZERO, 0, 0);
        for _ in 0..3000 {
            now += random.exponential(Duration::from_secs(4));
            received += run(&mut medium, now).len();
            medium.offer(now, StationId(1 + ((random.uniform() * 40.0) as u32).min(39)), packet(100));
            while medium.poll_event().is_some() {}
            offered += 1;
            let all: Vec<_> = (1..=40).map(|sensor| medium.station_counters(StationId(sensor))).collect();
            let sum = |of: fn(&lightlag_access::StationCounters) -> u64| all.iter().map(of).sum::<u64>();
            let dropped = sum(|of| of.dropped_queue + of.dropped_retry + of.dropped_collision);
            assert_eq!(sum(|of| of.packets.offered), offered);
            assert_eq!(offered, sum(|of| of.packets.settled) + dropped + sum(|of| of.packets.waiting));
            assert_eq!(sum(|of| of.packets.settled), received as u64);
        }
        let mut pending = 0;
        medium.pending(&mut |()| pending += 1);
        let waiting: u64 = (1..=40).map(|sensor| medium.counters(StationId(sensor)).waiting).sum();
        assert_eq!(pending, waiting, "{technique:?}");
        for sensor in (1..=40).map(StationId) {
            let counters = medium.station_counters(sensor);
            let replicas = config.scheme().map_or(1, Scheme::replicas) as u64;
            let airtime = config.airtime(100, medium.variant(sensor)) * (counters.contentions * replicas);
            assert_eq!(counters.airtime, airtime);
            // 14 dBm are 25.1189 mW.
            assert!((medium.energy_mj(sensor) / 25.1189 / airtime.as_secs_f64() - 1.0).abs() < 1e-5);
        }
        assert!(received > 100, "{technique:?}: {received}");
    }
}
