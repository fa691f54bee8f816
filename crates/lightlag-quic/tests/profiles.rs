//! Rules in which implementations differ.

mod path;

use lightlag_control::congestion::Choice;
use lightlag_core::{Duration, Instant};
use lightlag_quic::codec::{self, Context, Ids, Version};
use lightlag_quic::{Config, Connection, Profile, State};
use lightlag_transport::{Failure, Inspect, Stream};
use path::{CLIENT, Fate, Path, SERVER, at, ms};

/// Returns an endless download, and the number of datagrams with data for each acknowledgement from 5 to 10 s.
fn packets_per_ack(profile: Profile, delay: u64, rate: f64) -> f64 {
    let mut config = profile.config();
    config.mtu = None;
    let mut path = Path::new(config, delay).with_rates(rate, rate);
    path.logs = false;
    path.links[SERVER].max_queue = ms(2 * delay);
    path.ends[SERVER].write(u64::MAX);
    path.open();
    path.run_until(at(5_000));
    let before = [path.ends[SERVER].counters().data_packets, path.ends[CLIENT].counters().ack_packets];
    path.run_until(at(10_000));
    let after = [path.ends[SERVER].counters().data_packets, path.ends[CLIENT].counters().ack_packets];
    (after[0] - before[0]) as f64 / (after[1] - before[1]) as f64
}

#[test]
fn picoquic_acknowledges_a_quarter_of_the_window() {
    // 100 Mbit/s and 100 ms: 1000 packets, so 32 for one acknowledgement; the delay of 10 ms permits 83.
    let packets = packets_per_ack(Profile::Picoquic, 50, 100.0);
    assert!((24.0..=32.5).contains(&packets), "{packets}");
    // 1 Mbit/s: 10 ms between two packets, which is the maximum delay.
    let packets = packets_per_ack(Profile::Picoquic, 10, 1.0);
    assert!((1.0..=2.5).contains(&packets), "{packets}");
    let packets = packets_per_ack(Profile::Rfc9002, 50, 100.0);
    assert!((1.9..=2.1).contains(&packets), "{packets}");
}

#[test]
fn picoquic_scales_the_initial_window_with_the_round_trip_time() {
    // NewReno above 100 ms, BBR in its slow start on paths above 250 ms; CUBIC does not.
    for (congestion, delay, factor) in [
        ("newreno", 40, 1.0),
        ("newreno", 150, 3.0),
        ("newreno", 300, 6.0),
        ("newreno", 600, 6.1),
        ("bbr3", 300, 6.0),
        ("cubic", 300, 1.0),
    ] {
        let config = Config { congestion: Choice::named(congestion), ..Profile::Picoquic.config() };
        let mut path = Path::new(config, delay);
        path.open();
        path.run_until(at(2 * delay + 1));
        let window = path.ends[CLIENT].window() as f64;
        assert!((window / 15_360.0 - factor).abs() < 0.01, "{congestion}, {delay}: {window}");
    }
}

/// Returns an endless upload at 250 Mbit/s and 600 ms, with the windows in units of the bandwidth-delay product after
/// each of eight round trips.
fn windows_of_long_path(congestion: &str, profile: Profile) -> Vec<f64> {
    let config = Config { congestion: Choice::named(congestion), ..profile.config() };
    let mut path = Path::new(config, 300).with_rates(250.0, 250.0);
    path.logs = false;
    path.links[CLIENT].max_queue = ms(600);
    path.ends[CLIENT].write(u64::MAX);
    path.open();
    (1..=8)
        .map(|round| {
            path.run_until(at(600 * round + 60));
            path.ends[CLIENT].window() as f64 / 18.75e6
        })
        .collect()
}

#[test]
fn picoquic_reaches_half_of_a_long_path_in_a_few_round_trips() {
    for congestion in ["newreno", "cubic", "bbr3", "bbr"] {
        let windows = windows_of_long_path(congestion, Profile::Picoquic);
        // The first window needs a round trip, and gives a bandwidth above a tenth; the bursts of the second one give
        // the rest.
        assert!(windows[0] < 0.01 && windows[4] >= 0.45, "{congestion}: {windows:?}");
        let plain = windows_of_long_path(congestion, Profile::Rfc9002);
        assert!(plain[4] < 0.2, "{congestion}: {plain:?}");
    }
}

#[test]
fn picoquics_cubic_ignores_one_lost_packet_in_64() {
    let lossy = |profile: Profile| {
        let mut count = 0;
        let config = Config { congestion: Choice::named("cubic"), ..profile.config() };
        let mut path = Path::new(config, 50).with_rates(20.0, 20.0).with_rule(move |logged| {
            let has_data = logged.from == SERVER && logged.size > 1_000;
            count += u32::from(has_data);
            if has_data && count % 64 == 0 { Fate::Drop } else { Fate::Deliver }
        });
        path.links[SERVER].max_queue = ms(1_000);
        let end = path.download(4_000_000, at(60_000)).expect("a download");
        (end.as_secs_f64(), path.ends[SERVER].statistics().recoveries)
    };
    let (time, recoveries) = lossy(Profile::Picoquic);
    assert!(recoveries <= 1 && time < 3.0, "{recoveries} in {time} s");
    let (plain_time, plain_recoveries) = lossy(Profile::Rfc9002);
    assert!(plain_recoveries > 10 && plain_time > 2.0 * time, "{plain_recoveries} in {plain_time} s");
}

#[test]
fn picoquics_probe_timeouts_are_limited() {
    let mut path = Path::new(Profile::Picoquic.config(), 50);
    path.rule = Box::new(|logged| if logged.time > at(1_000) { Fate::Drop } else { Fate::Deliver });
    path.open();
    path.run_until(at(1_001));
    path.ends[CLIENT].write(100);
    path.flush(CLIENT);
    path.run_until(at(25_000));
    let times: Vec<Instant> = path.sent(CLIENT).map(|logged| logged.time).filter(|time| *time > at(1_000)).collect();
    let longest = times.windows(2).map(|pair| pair[1].since(pair[0])).max().expect("probes");
    assert!(longest <= ms(2_001) && longest > ms(1_900) && times.len() >= 12, "{longest:?}, {} probes", times.len());
    // In the handshake: 750 ms, then 1 s.
    let mut path = Path::new(Profile::Picoquic.config(), 50).with_rule(|_| Fate::Drop);
    path.open();
    path.run_until(at(10_000));
    let mut times: Vec<Instant> = path.sent(CLIENT).map(|logged| logged.time).collect();
    times.dedup();
    assert_eq!(times[..4], [at(0), at(750), at(1_750), at(2_750)]);
}

#[test]
fn quiche_undoes_a_reduction_after_few_losses() {
    for (profile, undone) in [(Profile::Quiche, 1), (Profile::Rfc9002, 0)] {
        let mut count = 0;
        let mut path = Path::new(profile.config(), 50).with_rates(20.0, 20.0).with_rule(move |logged| {
            count += u32::from(logged.from == SERVER);
            if logged.from == SERVER && count == 200 { Fate::Drop } else { Fate::Deliver }
        });
        path.download(1_500_000, at(60_000)).expect("a download");
        let statistics = path.ends[SERVER].statistics();
        assert_eq!((statistics.recoveries, statistics.undone), (1, undone), "{profile:?}");
    }
}

/// Returns a download whose path is cut from 1 s until `end`.
fn cut(profile: Profile, end: Instant) -> Path {
    let mut path = Path::new(profile.config(), 50)
        .with_rates(10.0, 10.0)
        .with_rule(move |logged| if (at(1_000)..end).contains(&logged.time) { Fate::Drop } else { Fate::Deliver });
    path.links[SERVER].max_queue = ms(200);
    path.ends[SERVER].write(u64::MAX);
    path.open();
    path
}

#[test]
fn msquic_finds_persistent_congestion_after_more_than_two_timeouts() {
    for (milliseconds, persistent) in [(300, 0), (6_000, 1)] {
        let mut path = cut(Profile::Msquic, at(1_000) + ms(milliseconds));
        path.run_until(at(15_000));
        let counters = path.ends[SERVER].counters();
        assert_eq!((counters.persistent, path.ends[SERVER].failure()), (persistent, None), "{milliseconds}");
    }
}

#[test]
fn msquic_gives_up_after_16_s_without_an_acknowledgement_and_after_10_s_of_a_handshake() {
    let mut path = cut(Profile::Msquic, Instant::MAX);
    path.run_until(at(16_900));
    assert_eq!(path.ends[SERVER].state(), State::Complete);
    path.run_until(at(32_000));
    assert_eq!((path.ends[SERVER].state(), path.ends[SERVER].failure()), (State::Closed, Some(Failure::Timeout)));
    let mut path = Path::new(Profile::Msquic.config(), 50).with_rule(|_| Fate::Drop);
    path.open();
    path.run_until(at(9_999));
    assert_eq!(path.ends[CLIENT].state(), State::Handshaking);
    path.run_until(at(10_001));
    assert_eq!((path.ends[CLIENT].state(), path.ends[CLIENT].failure()), (State::Closed, Some(Failure::SynTimeout)));
}

#[test]
fn msquic_restarts_from_the_initial_window_after_a_second_of_idle() {
    let window = |pause: Duration| {
        let mut config = Profile::Msquic.config();
        config.mtu = None;
        let mut path = Path::new(config, 50).with_rates(50.0, 50.0);
        path.ends[SERVER].write(1_000_000);
        path.open();
        path.run_until(at(3_000));
        assert_eq!(path.ends[SERVER].in_flight(), 0);
        let last = path.sent(SERVER).last().expect("data").time;
        path.run_until(last + pause);
        path.ends[SERVER].write(100_000);
        path.flush(SERVER);
        path.ends[SERVER].window()
    };
    assert_eq!(window(Duration::from_secs(5)), 12_400);
}

#[test]
fn aioquic_declares_crypto_packets_lost_at_a_timeout() {
    let lost = |config: Config| {
        let mut path = Path::new(config, 300);
        path.open();
        path.run_until(at(590));
        (path.ends[CLIENT].counters().lost, path.ends[CLIENT].counters().timeouts)
    };
    assert_eq!(lost(Profile::Aioquic.config()), (1, 1));
    let rfc = Config { initial_rtt: ms(70), ..Config::default() };
    assert_eq!(lost(rfc), (0, 1));
}

#[test]
fn aioquic_fills_the_window_to_the_last_byte_with_one_sequence_of_numbers() {
    let mut path = Path::new(Profile::Aioquic.config(), 50);
    path.ends[SERVER].write(1_000_000);
    path.open();
    // The pacer has sent the entire window before the acknowledgements of its first datagrams arrive.
    path.run_until(at(199));
    let server = &path.ends[SERVER];
    assert!(server.in_flight() == server.window() && server.window() > 12_000, "{}", server.window());
    let parts = path.sent(SERVER).flat_map(|logged| &logged.contents.parts);
    let numbers: Vec<u64> = parts.map(|part| part.number).collect();
    assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{numbers:?}");
}

#[test]
fn aioquic_transfers_on_a_path_that_changes_and_with_an_algorithm_that_it_does_not_have() {
    let bbr = Config { congestion: Choice::named("bbr"), ..Profile::Aioquic.config() };
    for (config, address_changes) in [(Profile::Aioquic.config(), true), (bbr, false)] {
        let mut path = Path::new(config, 50).with_rates(10.0, 10.0);
        path.ends[SERVER].write(5_000_000);
        path.ends[SERVER].close();
        path.open();
        path.run_until(at(2_000));
        path.ends[CLIENT].rebind(address_changes);
        let arrived = |ends: &[Connection; 2]| Stream::received(&ends[CLIENT]) < 5_000_000;
        assert!(path.run_while(at(30_000), arrived).is_some());
        assert_eq!(path.ends[SERVER].counters().migrations, 1);
    }
}

#[test]
fn packets_of_aioquic_have_the_sizes_of_their_bytes() {
    let mut path = Path::new(Profile::Aioquic.config(), 50).with_rates(10.0, 10.0);
    let mut count = 0;
    path.rule = Box::new(move |_| {
        count += 1;
        if count % 13 == 0 { Fate::Drop } else { Fate::Deliver }
    });
    path.download(300_030, at(60_000)).expect("a download");
    let (mut largest, mut numbers) = ([[None; 3]; 2], Vec::new());
    for logged in &path.log {
        let mut bytes = Vec::new();
        codec::encode(
            &mut bytes,
            &logged.contents,
            &Ids { destination: &[1; 8], source: &[2; 8], version: Version::One },
        );
        assert_eq!(bytes.len(), logged.size as usize);
        let context = Context { id_len: 8, largest: largest[logged.from] };
        let decoded = codec::decode(&bytes, &context).expect("packets");
        for part in &decoded.parts {
            let slot = &mut largest[logged.from][part.kind.space().expect("a packet number") as usize];
            *slot = (*slot).max(Some(part.number));
            numbers.push((part.number_len, part.number));
        }
    }
    assert!(numbers.len() > 300 && numbers.iter().all(|(len, _)| *len == 2), "{numbers:?}");
}
