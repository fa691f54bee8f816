//! Whatever a path does to datagrams: every byte arrives, credit and the amplification limit hold, nothing stalls, and
//! acknowledgements never wait for the window.

mod path;

use lightlag_control::congestion::Choice;
use lightlag_core::{Duration, RandomStream};
use lightlag_quic::config::{HandshakeSizes, ServerRules};
use lightlag_quic::credit::Tuning;
use lightlag_quic::frame::Direction;
use lightlag_quic::{Config, Profile};
use lightlag_transport::{Inspect, Stream};
use path::{CLIENT, Fate, Path, SERVER, at, ms};

fn pick<T: Copy>(random: &mut RandomStream, from: &[T]) -> T {
    from[(random.bits() % from.len() as u64) as usize]
}

fn config(random: &mut RandomStream, profile: Profile) -> Config {
    let mut config = profile.config();
    config.idle_timeout = Duration::ZERO;
    config.congestion = Choice::named(pick(random, &["newreno", "cubic", "bbr", "dctcp"]));
    config.handshake = HandshakeSizes::with_certificate(pick(random, &[500, 2_000, 3_507, 9_000]));
    config.ecn = pick(random, &[lightlag_core::Codepoint::NotEct, lightlag_core::Codepoint::Ect0]);
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
    config.seed = random.bits();
    config
}

/// Runs a transfer in both directions over a random path, and checks every property.
fn run(seed: u64) {
    let mut random = RandomStream::new(seed, "case");
    let profile = pick(&mut random, &Profile::ALL);
    let server = config(&mut random, profile);
    let mut client = Config { server: server.server, ..config(&mut random, profile) };
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
    let mut path = Path::between(client, server, delay).with_rates(up, down).with_rule(move |logged| {
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
    path.logs = false;
    path.check = Some(Box::new(move |ends, now| {
        for end in ends {
            assert!(end.poll_timeout().is_none_or(|timer| timer >= now), "seed {seed}: a timer stays due at {now:?}");
            let streams = end.streams();
            assert!(streams.sent_bytes() <= streams.peer_limit(), "seed {seed}: credit exceeded");
            assert!(end.failure().is_none(), "seed {seed}: {:?}", end.failure());
        }
        let (server, counters) = (&ends[SERVER], ends[SERVER].counters());
        let sent = counters.bytes_sent;
        assert!(server.is_unlimited() || sent <= 3 * counters.bytes_received, "seed {seed}: {sent} bytes amplified");
    }));
    for (end, size) in sizes.into_iter().enumerate() {
        path.ends[end].write(size);
        path.ends[end].close();
    }
    path.open();
    let goes_on = |ends: &[lightlag_quic::Connection; 2]| {
        ends.iter().any(|end| !end.all_acknowledged() || !end.peer_closed() || !end.is_confirmed())
    };
    let end = path.run_while(at(4_000_000), goes_on);
    let [client, server] = &path.ends;
    let ended = (client.state(), client.counters(), server.state(), server.counters());
    assert!(end.is_some(), "seed {seed}: a deadlock, next event {:?}: {ended:?}", path.next_event());
    assert_eq!([server.received(), client.received()], sizes, "seed {seed}");
    // The last acknowledgements may have been lost; probes get others.
    let is_busy = |ends: &[lightlag_quic::Connection; 2]| ends.iter().any(|end| end.in_flight() > 0);
    assert!(path.run_while(at(8_000_000), is_busy).is_some(), "seed {seed}: bytes stay in flight");
    path.run_until(path.now + ms(2_000));
    assert_eq!(path.arena.used(), 0, "seed {seed}");
}

#[test]
fn transfers_over_random_paths_complete_within_all_limits() {
    (0..10_000).for_each(run);
}

#[test]
#[ignore = "takes minutes"]
fn a_hundred_thousand_transfers_over_random_paths_complete() {
    (10_000..110_000).for_each(run);
}

#[test]
fn streams_with_priorities_and_resets_share_a_lossy_path() {
    for seed in 0..200 {
        let mut random = RandomStream::new(seed, "loss");
        let mut path = Path::new(Config::default(), 20)
            .with_rates(10.0, 10.0)
            .with_rule(move |_| if random.uniform() < 0.05 { Fate::Drop } else { Fate::Deliver });
        path.logs = false;
        path.open();
        path.run_while(at(60_000), |ends| ends[SERVER].is_confirmed()).expect("a handshake");
        path.run_while(at(60_000), |ends| !ends[SERVER].is_confirmed()).expect("a handshake");
        let server = &mut path.ends[SERVER];
        let ids: Vec<u64> = (0..6).map(|_| server.open_stream(Direction::Unidirectional).expect("a stream")).collect();
        for (index, id) in ids.iter().enumerate() {
            server.write_stream(*id, 20_000);
            server.finish_stream(*id);
            server.set_priority(*id, index as i32 % 3, index % 2 == 0);
        }
        path.flush(SERVER);
        path.run_until(path.now + ms(30));
        path.ends[SERVER].reset_stream(ids[0], 7);
        path.flush(SERVER);
        path.run_until(path.now + ms(30_000));
        for (index, id) in ids.iter().enumerate() {
            let stream = path.ends[CLIENT].streams().receiving(*id).expect("a stream");
            assert!(stream.is_complete(), "seed {seed}, stream {id}");
            assert!(index == 0 || stream.in_order() == 20_000, "seed {seed}, stream {id}");
        }
        assert_eq!(path.ends[SERVER].in_flight(), 0, "seed {seed}");
    }
}
