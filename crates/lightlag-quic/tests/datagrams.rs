//! Unreliable datagrams (RFC 9221): limits, the send queue, priority, losses, and the fate of every tag.

mod path;

use lightlag_core::{Duration, RandomStream};
use lightlag_quic::config::DatagramQueue;
use lightlag_quic::connection::datagrams::{DatagramError, DatagramFate};
use lightlag_quic::contents::TAG;
use lightlag_quic::frame::Frame;
use lightlag_quic::{Config, Connection, Profile};
use lightlag_transport::Stream;
use path::{CLIENT, Fate, Logged, Path, SERVER, at, ms};
use std::collections::BTreeMap;

fn established(path: &mut Path) {
    path.open();
    path.run_while(at(60_000), |ends| !ends.iter().all(Connection::is_confirmed)).expect("a handshake");
}

fn config() -> Config {
    Config { idle_timeout: Duration::ZERO, ..Config::default() }
}

fn arrivals(end: &mut Connection) -> Vec<(u64, u16)> {
    std::iter::from_fn(|| end.poll_datagram()).map(|datagram| (datagram.tag, datagram.len)).collect()
}

fn fates(end: &mut Connection) -> Vec<(u64, DatagramFate)> {
    std::iter::from_fn(|| end.poll_datagram_fate()).collect()
}

fn tags(logged: &Logged) -> Vec<u64> {
    let tag = |frame: &Frame| if let Frame::Datagram { tag, .. } = frame { Some(*tag) } else { None };
    logged.contents.frames.iter().filter_map(tag).collect()
}

#[test]
fn a_datagram_arrives_with_its_tag_and_length_in_both_directions() {
    let mut path = Path::new(config(), 10);
    established(&mut path);
    for (from, to) in [(CLIENT, SERVER), (SERVER, CLIENT)] {
        path.ends[from].send_datagram(7, 1_000).expect("a datagram that fits");
        path.flush(from);
        path.run_until(path.now + ms(200));
        assert_eq!(arrivals(&mut path.ends[to]), [(7, 1_000)]);
        assert_eq!(fates(&mut path.ends[from]), [(7, DatagramFate::Delivered)]);
        assert_eq!(path.ends[from].in_flight(), 0);
    }
}

#[test]
fn datagrams_wait_for_the_handshake() {
    let mut path = Path::new(config(), 10);
    path.ends[CLIENT].send_datagram(1, 500).expect("a datagram that fits");
    path.ends[SERVER].send_datagram(2, 500).expect("a datagram that fits");
    established(&mut path);
    path.run_until(path.now + ms(200));
    assert_eq!(arrivals(&mut path.ends[SERVER]), [(1, 500)]);
    assert_eq!(arrivals(&mut path.ends[CLIENT]), [(2, 500)]);
    // The client has the server's parameters one round trip after its first packet.
    let first = path.sent(CLIENT).find(|logged| !tags(logged).is_empty()).expect("a datagram");
    assert_eq!(first.time, at(20));
}

#[test]
fn the_largest_datagram_fills_a_packet() {
    let mut path = Path::new(config(), 10);
    established(&mut path);
    let max = path.ends[CLIENT].max_datagram();
    // 1 B + 8 B connection ID + 4 B packet number + 16 B tag, and 3 B of type and length.
    assert_eq!(u64::from(max), 1_200 - (1 + 8 + 4 + TAG) - 3);
    assert_eq!(path.ends[CLIENT].send_datagram(1, max + 1), Err(DatagramError::TooLarge(max)));
    path.ends[CLIENT].send_datagram(2, max).expect("a datagram that fits");
    path.flush(CLIENT);
    path.run_until(path.now + ms(200));
    assert_eq!(arrivals(&mut path.ends[SERVER]), [(2, max)]);
    // The packet number has 1 byte, not 4.
    assert_eq!(path.sent(CLIENT).find(|logged| !tags(logged).is_empty()).expect("a datagram").size, 1_200 - 3);
}

#[test]
fn the_limit_of_the_peer_counts_type_and_length() {
    for (frame, data) in [(60, 58), (65, 63), (66, 63), (67, 64), (100, 97)] {
        let server = Config { max_datagram_frame: frame, ..config() };
        let mut path = Path::between(config(), server, 10);
        established(&mut path);
        assert_eq!(path.ends[CLIENT].send_datagram(1, data + 1), Err(DatagramError::TooLarge(data)));
        assert_eq!(path.ends[CLIENT].send_datagram(2, data), Ok(()));
        path.flush(CLIENT);
        path.run_until(path.now + ms(200));
        assert_eq!(arrivals(&mut path.ends[SERVER]), [(2, data)], "{frame}");
        assert!(path.ends[SERVER].is_confirmed());
    }
}

#[test]
fn a_peer_without_support_gets_no_datagram() {
    let mut path = Path::between(config(), Config { max_datagram_frame: 0, ..config() }, 10);
    path.ends[CLIENT].send_datagram(1, 500).expect("the peer's parameters are unknown");
    established(&mut path);
    path.run_until(path.now + ms(200));
    assert_eq!(fates(&mut path.ends[CLIENT]), [(1, DatagramFate::Dropped)]);
    assert_eq!(path.ends[CLIENT].send_datagram(2, 500), Err(DatagramError::Unsupported));
    assert!(path.log.iter().all(|logged| tags(logged).is_empty()));
}

#[test]
fn a_full_queue_drops_the_oldest() {
    for limit in [DatagramQueue::Bytes(2_000), DatagramQueue::Datagrams(2)] {
        let mut path = Path::new(Config { datagram_queue: limit, ..config() }, 10);
        established(&mut path);
        for tag in 0..5 {
            path.ends[CLIENT].send_datagram(tag, 900).expect("a datagram that fits");
        }
        let dropped: Vec<_> = (0..3).map(|tag| (tag, DatagramFate::Dropped)).collect();
        assert_eq!(fates(&mut path.ends[CLIENT]), dropped, "{limit:?}");
        path.flush(CLIENT);
        path.run_until(path.now + ms(200));
        assert_eq!(arrivals(&mut path.ends[SERVER]), [(3, 900), (4, 900)], "{limit:?}");
    }
}

#[test]
fn datagrams_obey_the_window_and_precede_streams() {
    let mut path = Path::new(Config { pacing: None, ..config() }, 100);
    established(&mut path);
    path.run_until(path.now + ms(500));
    path.log.clear();
    let window = path.ends[CLIENT].window();
    path.ends[CLIENT].write(100_000);
    for tag in 0..50 {
        path.ends[CLIENT].send_datagram(tag, 1_000).expect("a datagram that fits");
    }
    path.flush(CLIENT);
    let first: Vec<u64> = path.sent(CLIENT).map(|logged| u64::from(logged.size)).collect();
    // The window of RFC 9002 limits the first flight; a packet is sent while less is in flight.
    let sent: u64 = first.iter().sum();
    assert!(sent >= window && sent < window + 1_200, "{sent} of {window}");
    let order: Vec<u64> = path.sent(CLIENT).flat_map(tags).collect();
    assert_eq!(order, (0..order.len() as u64).collect::<Vec<_>>());
    path.run_until(path.now + ms(5_000));
    let last = path.sent(CLIENT).rposition_of(|logged| !tags(logged).is_empty());
    let first_full = path.sent(CLIENT).position(|logged| {
        tags(logged).is_empty() && logged.contents.frames.iter().any(|frame| matches!(frame, Frame::Stream { .. }))
    });
    // A stream gets a packet of its own only after the last datagram.
    assert!(first_full > Some(last), "{first_full:?}, {last}");
    assert_eq!(arrivals(&mut path.ends[SERVER]).len(), 50);
}

/// Index of the last item with a property.
trait LastPosition: Iterator + Sized {
    fn rposition_of(self, is: impl Fn(&Self::Item) -> bool) -> usize {
        self.enumerate().filter(|(_, item)| is(item)).map(|(index, _)| index).last().expect("an item")
    }
}

impl<I: Iterator> LastPosition for I {}

#[test]
fn a_pacer_spreads_datagrams() {
    let mut path = Path::new(config(), 100);
    established(&mut path);
    path.run_until(path.now + ms(500));
    path.log.clear();
    let start = path.now;
    for tag in 0..10 {
        path.ends[CLIENT].send_datagram(tag, 1_100).expect("a datagram that fits");
    }
    path.flush(CLIENT);
    path.run_until(path.now + ms(1_000));
    let times: Vec<Duration> =
        path.sent(CLIENT).filter(|logged| !tags(logged).is_empty()).map(|logged| logged.time.since(start)).collect();
    let mut streams = Path::new(config(), 100);
    established(&mut streams);
    streams.run_until(streams.now + ms(500));
    streams.log.clear();
    streams.ends[CLIENT].write(11_500);
    streams.flush(CLIENT);
    streams.run_until(streams.now + ms(1_000));
    let of_streams: Vec<Duration> = streams
        .sent(CLIENT)
        .filter(|logged| logged.contents.frames.iter().any(|frame| matches!(frame, Frame::Stream { .. })))
        .map(|logged| logged.time.since(start))
        .collect();
    assert_eq!(times.len(), 10);
    // Packets of 1127 B instead of 1200 B leave at most as late.
    let (last, of_stream) = (times[9], of_streams[9]);
    assert!(last <= of_stream && last.as_nanos() * 10 >= of_stream.as_nanos() * 8, "{last} and {of_stream}");
}

#[test]
fn a_loss_is_reported_once_and_not_repaired() {
    let mut path = Path::new(config(), 20).with_rule(|logged| match tags(logged)[..] {
        [3] => Fate::Drop,
        _ => Fate::Deliver,
    });
    established(&mut path);
    for tag in 0..8 {
        path.ends[CLIENT].send_datagram(tag, 1_100).expect("a datagram that fits");
    }
    path.flush(CLIENT);
    path.run_until(path.now + ms(5_000));
    let arrived: Vec<u64> = arrivals(&mut path.ends[SERVER]).into_iter().map(|(tag, _)| tag).collect();
    assert_eq!(arrived, [0, 1, 2, 4, 5, 6, 7]);
    let lost: Vec<_> =
        fates(&mut path.ends[CLIENT]).into_iter().filter(|(_, fate)| *fate != DatagramFate::Delivered).collect();
    assert_eq!(lost, [(3, DatagramFate::Lost)]);
    assert_eq!(path.sent(CLIENT).flat_map(tags).filter(|tag| *tag == 3).count(), 1);
    let counts = path.ends[CLIENT].datagram_counts();
    assert_eq!((counts.accepted, counts.sent, counts.delivered, counts.lost), (8, 8, 7, 1));
    assert!(path.ends[CLIENT].window() < path.ends[SERVER].window(), "a loss reduces the window");
}

#[test]
fn a_probe_finds_out_that_the_last_datagram_is_lost() {
    let mut path =
        Path::new(config(), 20).with_rule(|logged| if tags(logged).is_empty() { Fate::Deliver } else { Fate::Drop });
    established(&mut path);
    path.ends[CLIENT].send_datagram(9, 100).expect("a datagram that fits");
    path.flush(CLIENT);
    path.run_until(path.now + ms(5_000));
    assert_eq!(fates(&mut path.ends[CLIENT]), [(9, DatagramFate::Lost)]);
    assert!(arrivals(&mut path.ends[SERVER]).is_empty());
}

#[test]
fn a_late_datagram_arrives_and_stays_reported_as_lost() {
    let mut path = Path::new(config(), 20).with_rule(|logged| match tags(logged)[..] {
        [0] => Fate::Delay(ms(30)),
        _ => Fate::Deliver,
    });
    established(&mut path);
    for tag in 0..6 {
        path.ends[CLIENT].send_datagram(tag, 1_100).expect("a datagram that fits");
    }
    path.flush(CLIENT);
    path.run_until(path.now + ms(5_000));
    assert_eq!(arrivals(&mut path.ends[SERVER]).last(), Some(&(0, 1_100)));
    let of_late: Vec<_> = fates(&mut path.ends[CLIENT]).into_iter().filter(|(tag, _)| *tag == 0).collect();
    assert_eq!(of_late, [(0, DatagramFate::Lost)]);
}

#[test]
fn a_shrunken_path_drops_the_datagrams_that_no_longer_fit() {
    let large = Profile::Quinn.config();
    let mut path = Path::new(Config { idle_timeout: Duration::ZERO, ..large }, 20);
    established(&mut path);
    path.run_until(path.now + ms(3_000));
    let grown = path.ends[CLIENT].max_datagram();
    assert!(grown > 1_200, "the search for the path MTU has found {grown}");
    let start = path.now;
    path.rule = Box::new(|logged| if logged.size > 1_300 { Fate::Drop } else { Fate::Deliver });
    for tag in 0..400 {
        path.ends[CLIENT].send_datagram(tag, grown).expect("a datagram that fits");
        path.flush(CLIENT);
        path.run_until(path.now + ms(50));
        if path.ends[CLIENT].max_datagram() < grown {
            break;
        }
    }
    let max = path.ends[CLIENT].max_datagram();
    assert!(max < 1_200, "a black hole was found after {}", path.now.since(start));
    path.ends[CLIENT].send_datagram(1_000, max).expect("a datagram that fits");
    path.flush(CLIENT);
    path.run_until(path.now + ms(20_000));
    assert_eq!(arrivals(&mut path.ends[SERVER]).last(), Some(&(1_000, max)));
    assert_eq!(path.ends[CLIENT].queued_datagrams(), 0);
}

#[test]
fn the_end_of_a_connection_settles_every_datagram() {
    let mut path = Path::new(config(), 100);
    established(&mut path);
    for tag in 0..40 {
        path.ends[CLIENT].send_datagram(tag, 1_000).expect("a datagram that fits");
    }
    path.flush(CLIENT);
    let sent = path.ends[CLIENT].datagram_counts().sent;
    assert!(sent > 0 && sent < 40);
    let now = path.now;
    path.ends[CLIENT].close_with(now, 0);
    let of_all = fates(&mut path.ends[CLIENT]);
    let count = |wanted| of_all.iter().filter(|(_, fate)| *fate == wanted).count() as u64;
    assert_eq!((count(DatagramFate::Lost), count(DatagramFate::Dropped)), (sent, 40 - sent));
    assert_eq!(path.ends[CLIENT].send_datagram(50, 1_000), Err(DatagramError::Closed));
}

/// Every tag arrives at most once, and its sender reports one fate: delivered, lost or dropped. A delivered one arrived,
/// and a dropped one did not.
#[test]
fn every_tag_has_one_fate_on_random_paths() {
    for seed in 0..600 {
        let mut random = RandomStream::new(seed, "datagrams");
        let pick = |random: &mut RandomStream, from: &[u64]| from[(random.bits() % from.len() as u64) as usize];
        let profile = Profile::ALL[seed as usize % Profile::ALL.len()];
        let mut config = profile.config();
        (config.idle_timeout, config.handshake_timeout, config.probes.give_up) = (Duration::ZERO, None, None);
        config.datagram_queue = match seed % 3 {
            0 => DatagramQueue::Datagrams(pick(&mut random, &[1, 5, 100])),
            _ => DatagramQueue::Bytes(pick(&mut random, &[1_500, 10_000, 1 << 20])),
        };
        let loss = [0.0, 0.02, 0.1, 0.3][(random.bits() % 4) as usize];
        let mut of_path = RandomStream::new(seed, "fates");
        let mut path = Path::with_seeds(config.clone(), config, pick(&mut random, &[1, 20, 200]), [seed, seed + 1])
            .with_rates(5.0, 20.0)
            .with_rule(move |_| match of_path.uniform() {
                draw if draw < loss => Fate::Drop,
                draw if draw < loss + 0.05 => Fate::Delay(ms(of_path.bits() % 300)),
                draw if draw < loss + 0.08 => Fate::Duplicate,
                _ => Fate::Deliver,
            });
        path.logs = false;
        for end in [CLIENT, SERVER] {
            path.ends[end].write(random.bits() % 50_000);
        }
        path.open();
        let (mut next, mut sent) = (0_u64, [BTreeMap::new(), BTreeMap::new()]);
        for _ in 0..150 {
            let from = (random.bits() % 2) as usize;
            for _ in 0..random.bits() % 4 {
                let len = 1 + (random.bits() % 1_250) as u16;
                if path.ends[from].send_datagram(next, len).is_ok() {
                    sent[from].insert(next, len);
                }
                next += 1;
            }
            path.flush(from);
            path.run_until(path.now + ms(random.bits() % 30));
        }
        path.run_until(path.now + ms(400_000));
        for (from, to) in [(CLIENT, SERVER), (SERVER, CLIENT)] {
            let mut arrived = BTreeMap::new();
            for (tag, len) in arrivals(&mut path.ends[to]) {
                assert_eq!(sent[from].get(&tag), Some(&len), "seed {seed}: {tag} was sent");
                assert_eq!(arrived.insert(tag, len), None, "seed {seed}: {tag} arrived twice");
            }
            let mut known = BTreeMap::new();
            for (tag, fate) in fates(&mut path.ends[from]) {
                assert_eq!(known.insert(tag, fate), None, "seed {seed}: {tag} has two fates");
                match fate {
                    DatagramFate::Delivered => assert!(arrived.contains_key(&tag), "seed {seed}: {tag} did not arrive"),
                    DatagramFate::Dropped => assert!(!arrived.contains_key(&tag), "seed {seed}: {tag} was sent"),
                    DatagramFate::Lost => {}
                }
            }
            let queued = path.ends[from].queued_datagrams();
            assert_eq!(known.len() + queued, sent[from].len(), "seed {seed}: {profile:?}");
            assert_eq!(queued, 0, "seed {seed}: {profile:?}");
            let counts = path.ends[from].datagram_counts();
            assert_eq!(counts.accepted, counts.sent + counts.dropped, "seed {seed}");
            assert_eq!(counts.sent, counts.delivered + counts.lost, "seed {seed}");
        }
    }
}
