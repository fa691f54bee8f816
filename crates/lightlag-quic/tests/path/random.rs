//! Transfers in both directions over random paths, between endpoints with random configurations.

use super::{Fate, Path, at};
use lightlag_control::congestion::Choice;
use lightlag_core::{Codepoint, Duration, RandomStream};
use lightlag_quic::config::{HandshakeSizes, ServerRules};
use lightlag_quic::credit::Tuning;
use lightlag_quic::{Config, Profile};
use lightlag_transport::Stream;

fn pick<T: Copy>(random: &mut RandomStream, from: &[T]) -> T {
    from[(random.bits() % from.len() as u64) as usize]
}

fn config(random: &mut RandomStream, profile: Profile) -> Config {
    let mut config = profile.config();
    // No end aborts.
    (config.idle_timeout, config.handshake_timeout, config.probes.give_up) = (Duration::ZERO, None, None);
    if config.details.flights && random.uniform() < 0.7 {
        // Other options would turn flights off.
        config.congestion = Choice::named(pick(random, &["reno", "cubic"]));
        config.handshake = HandshakeSizes::with_certificate(pick(random, &[500, 2_000, 3_507, 9_000]));
        config.id_len = pick(random, &[0, 8, 20]);
        config.flow.stream = pick(random, &[1_300, 5_000, 1 << 20]);
        config.flow.connection = pick(random, &[1_400, 9_000, 1 << 20]);
        return config;
    }
    config.congestion = Choice::named(pick(random, &["newreno", "cubic", "bbr", "dctcp"]));
    config.handshake = HandshakeSizes::with_certificate(pick(random, &[500, 2_000, 3_507, 9_000]));
    config.ecn = pick(random, &[Codepoint::NotEct, Codepoint::Ect0]);
    config.id_len = pick(random, &[0, 8, 20]);
    config.ack.threshold = pick(random, &[0, 1, 9]);
    config.ack.max_ranges = pick(random, &[2, 5, 64]);
    if random.uniform() < 0.3 {
        config.flow.stream = pick(random, &[1_300, 5_000, 20_000]);
        config.flow.connection = pick(random, &[1_400, 9_000, 40_000]);
        let tuning =
            [Tuning::Fixed(2), Tuning::Fixed(8), Tuning::Aioquic, Tuning::Quiche(60_000), Tuning::Msquic(60_000)];
        config.flow.stream_tuning = pick(random, &tuning);
        config.flow.connection_tuning = pick(random, &tuning);
    }
    config.server = ServerRules { retry: random.uniform() < 0.2, reject_early_data: random.uniform() < 0.3 };
    config
}

/// Returns a path with data to send at both ends, and the numbers of bytes.
pub fn case(seed: u64) -> (Path, [u64; 2]) {
    let mut random = RandomStream::new(seed, "case");
    let profile = pick(&mut random, &Profile::ALL);
    let server = config(&mut random, profile);
    let server_seed = random.bits();
    let mut client = Config { server: server.server, ..config(&mut random, profile) };
    let seeds = [random.bits(), server_seed];
    if random.uniform() < 0.3 {
        client.ticket = Some(server.remembered());
    }
    let loss = pick(&mut random, &[0.0, 0.02, 0.1, 0.3, 0.5]);
    let (burst, reorder, mark) = (random.uniform() < 0.3, random.uniform() * 0.2, random.uniform() * 0.1);
    let delay = pick(&mut random, &[1, 20, 300]);
    let (up, down) = (pick(&mut random, &[0.3, 2.0, 20.0]), pick(&mut random, &[1.0, 20.0]));
    let sizes = [random.bits() % 40_000, random.bits() % 40_000];
    let mut fates = RandomStream::new(seed, "fates");
    let mut is_bad = false;
    let mut path = Path::with_seeds(client, server, delay, seeds).with_rates(up, down).with_rule(move |logged| {
        if burst && fates.uniform() < 0.2 {
            is_bad = !is_bad;
        }
        // An adversary that lives for ever stops every protocol.
        let is_over = logged.time > at(20_000);
        let draw = fates.uniform();
        match draw {
            _ if is_over => Fate::Deliver,
            _ if burst && is_bad => Fate::Drop,
            _ if draw < loss => Fate::Drop,
            _ if fates.uniform() < reorder => Fate::Delay(Duration::from_nanos(fates.bits() % 400_000_000)),
            _ if fates.uniform() < mark => Fate::Mark,
            _ if fates.uniform() < 0.05 => Fate::Duplicate,
            _ => Fate::Deliver,
        }
    });
    for (end, size) in sizes.into_iter().enumerate() {
        path.ends[end].write(size);
        path.ends[end].close();
    }
    (path, sizes)
}
