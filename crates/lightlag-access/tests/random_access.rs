//! Random access compared with the theory of ALOHA and with published throughputs of CRDSA.

use lightlag_access::contention::{Contender, Decoder, Scheme};
use lightlag_access::random_access::Technique;
use lightlag_access::{RandomAccess, RandomAccessConfig};
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Rate};
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
