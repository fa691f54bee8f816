//! Whatever a path does to datagrams: every byte arrives, credit and the amplification limit hold, nothing stalls,
//! acknowledgements never wait for the window, and the shortcuts for common packets change nothing.

mod path;

use lightlag_core::RandomStream;
use lightlag_quic::frame::Direction;
use lightlag_quic::{Config, Connection};
use lightlag_transport::{Inspect, Stream};
use path::random::case;
use path::{CLIENT, Fate, Path, SERVER, at, ms};

/// Runs a transfer in both directions over a random path, and checks every property.
fn run(seed: u64) {
    let (mut path, sizes) = case(seed);
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
        // quinn sends a full datagram while the limit permits a byte.
        let slack = if server.config().details.loose_amplification { 1_200 } else { 0 };
        assert!(
            server.is_unlimited() || sent <= 3 * counters.bytes_received + slack,
            "seed {seed}: {sent} bytes amplified"
        );
    }));
    path.open();
    let goes_on = |ends: &[Connection; 2]| {
        ends.iter().any(|end| !end.all_acknowledged() || !end.peer_closed() || !end.is_confirmed())
    };
    // quinn's back-off outlasts the handshake: the next probe may be hours away.
    let patience = if path.ends[CLIENT].config().details.keeps_backoff { 100 } else { 1 };
    let end = path.run_while(at(4_000_000 * patience), goes_on);
    let [client, server] = &path.ends;
    let ended = (client.state(), client.counters(), server.state(), server.counters());
    assert!(end.is_some(), "seed {seed}: a deadlock, next event {:?}: {ended:?}", path.next_event());
    assert_eq!([server.received(), client.received()], sizes, "seed {seed}");
    // The last acknowledgements may have been lost; probes get others.
    let is_busy = |ends: &[Connection; 2]| ends.iter().any(|end| end.in_flight() > 0);
    let settled = path.run_while(at(8_000_000 * patience), is_busy).is_some();
    // quinn pads acknowledgements in datagrams with handshake data, and nothing makes the peer acknowledge these.
    let stays = |end: &Connection| if end.config().details.free_coalescing { 1_200 } else { 0 };
    assert!(settled || path.ends.iter().all(|end| end.in_flight() <= stays(end)), "seed {seed}: bytes stay in flight");
    // The search for the path MTU may still have a probe in transit.
    let is_done = (0..20).any(|_| {
        path.run_until(path.now + ms(2_000));
        path.arena.used() == 0
    });
    assert!(is_done, "seed {seed}: {} packets keep their contents", path.arena.used());
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
fn transfers_complete_while_the_client_changes_its_address_and_port() {
    for seed in 0..1_000 {
        let (mut path, sizes) = case(seed);
        path.logs = false;
        let mut random = RandomStream::new(seed, "rebinding");
        path.open();
        let goes_on = |ends: &[Connection; 2]| {
            ends.iter().any(|end| !end.all_acknowledged() || !end.peer_closed() || !end.is_confirmed())
        };
        let patience = if path.ends[CLIENT].config().details.keeps_backoff { 100 } else { 1 };
        while goes_on(&path.ends) {
            if random.uniform() < 0.05 && path.now < at(20_000) {
                if path.ends[CLIENT].is_confirmed() && random.uniform() < 0.5 {
                    let now = path.now;
                    path.ends[CLIENT].migrate(now);
                    path.flush(CLIENT);
                } else if path.ends[SERVER].is_confirmed() {
                    path.ends[CLIENT].rebind(random.uniform() < 0.5);
                }
            }
            assert!(path.step(at(4_000_000 * patience)), "seed {seed}: a deadlock");
        }
        assert_eq!([path.ends[SERVER].received(), path.ends[CLIENT].received()], sizes, "seed {seed}");
        assert!(path.ends.iter().all(|end| end.failure().is_none()), "seed {seed}");
    }
}

#[test]
fn shortcuts_send_the_packets_of_the_general_path() {
    for seed in 0..3_000 {
        let runs = [false, true].map(|is_general| {
            let (mut path, _) = case(seed);
            if is_general {
                path.ends = path.ends.map(Connection::without_shortcuts);
            }
            path.open();
            path.run_until(at(40_000));
            path
        });
        let [plain, general] = &runs;
        assert!(plain.log.iter().eq(&general.log), "seed {seed}");
        assert_eq!(plain.now, general.now);
        for end in [CLIENT, SERVER] {
            let state = |path: &Path| {
                let end = &path.ends[end];
                (end.counters(), end.snapshot(), end.standing(), end.poll_timeout(), *end.rtt())
            };
            assert_eq!(format!("{:?}", state(plain)), format!("{:?}", state(general)), "seed {seed}");
        }
    }
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
