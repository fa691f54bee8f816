//! Discovery of the path MTU (RFC 8899, RFC 9000 §14.3).

mod path;

use lightlag_core::Duration;
use lightlag_quic::frame::Frame;
use lightlag_quic::{Config, Profile};
use lightlag_transport::{Inspect, Stream};
use path::{Fate, Logged, Path, SERVER, at, ms};

/// Returns an endless download over a path that drops datagrams with more UDP payload than `max` permits.
fn limited(config: Config, max: impl Fn(&Logged) -> u32 + 'static) -> Path {
    let mut path = Path::new(config, 20)
        .with_rates(10.0, 10.0)
        .with_rule(move |logged| if logged.size > max(logged) { Fate::Drop } else { Fate::Deliver });
    path.links[SERVER].max_queue = ms(200);
    path.ends[SERVER].write(u64::MAX);
    path.open();
    path
}

/// Returns the sizes of the server's probes.
fn probes(path: &Path) -> Vec<u32> {
    let is_probe = |logged: &&Logged| matches!(logged.contents.frames[..], [Frame::Ping, Frame::Padding(_)]);
    path.sent(SERVER).filter(is_probe).map(|logged| logged.size).collect()
}

#[test]
fn each_profile_probes_its_sizes() {
    let cases: [(Profile, u32, &[u32], u16); 6] = [
        (Profile::Quinn, 9_000, &[1_326, 1_389, 1_420, 1_452], 1_452),
        // 1420 is lost three times; the rest of the interval is too small.
        (Profile::Quinn, 1_400, &[1_326, 1_389, 1_420, 1_420, 1_420], 1_389),
        (Profile::Picoquic, 9_000, &[1_440], 1_440),
        (Profile::Picoquic, 1_300, &[1_440, 1_440, 1_440], 1_252),
        (Profile::Msquic, 9_000, &[1_320, 1_400, 1_472], 1_472),
        (Profile::Msquic, 1_350, &[1_320, 1_400, 1_400, 1_400], 1_320),
    ];
    for (profile, max, sizes, found) in cases {
        let mut path = limited(profile.config(), move |_| max);
        path.run_until(at(5_000));
        assert_eq!((probes(&path), path.ends[SERVER].datagram_size()), (sizes.to_vec(), found), "{profile:?} {max}");
        // Data is sent in datagrams of the size that was found.
        let largest = path.sent(SERVER).filter(|logged| logged.fate == Fate::Deliver).map(|logged| logged.size).max();
        assert_eq!(largest, Some(found.into()), "{profile:?} {max}");
    }
    let mut path = limited(Config::default(), |_| 9_000);
    path.run_until(at(2_000));
    assert!(probes(&path).is_empty());
}

#[test]
fn a_lost_probe_is_no_sign_of_congestion() {
    let mut config = Profile::Quinn.config();
    config.flow.send_buffer = Some(60_000);
    let mut path = limited(config, |_| 1_250);
    path.run_until(at(5_000));
    let server = &path.ends[SERVER];
    let sizes = [1_326, 1_326, 1_326, 1_262, 1_262, 1_262, 1_230, 1_261, 1_261, 1_261];
    assert_eq!(probes(&path), sizes);
    assert_eq!((server.statistics().recoveries, server.counters().lost, server.datagram_size()), (0, 0, 1_230));
}

#[test]
fn the_search_starts_again_after_the_raise_timer() {
    let config = Config { keep_alive: Some(Duration::from_secs(10)), ..Profile::Msquic.config() };
    let mut path = Path::new(config, 20).with_rule(|logged| {
        let max = if logged.time < at(100_000) { 1_240 } else { 9_000 };
        if logged.size > max { Fate::Drop } else { Fate::Deliver }
    });
    path.ends[SERVER].write(5_000);
    path.open();
    path.run_until(at(590_000));
    assert_eq!(path.ends[SERVER].datagram_size(), 1_240);
    path.run_until(at(700_000));
    assert_eq!(path.ends[SERVER].datagram_size(), 1_472);
}

#[test]
fn a_black_hole_returns_the_size_to_the_base() {
    let mut path = limited(Profile::Quinn.config(), |logged| if logged.time < at(3_000) { 9_000 } else { 1_300 });
    path.run_until(at(3_000));
    assert_eq!(path.ends[SERVER].datagram_size(), 1_452);
    path.run_until(at(20_000));
    let server = &path.ends[SERVER];
    assert_eq!((server.datagram_size(), server.counters().black_holes), (1_200, 1));
    let before = path.ends[SERVER].acknowledged();
    path.run_until(at(30_000));
    assert!(path.ends[SERVER].acknowledged() > before + 5_000_000);
    // A minute later the search finds what the path carries now.
    path.run_until(at(90_000));
    let size = path.ends[SERVER].datagram_size();
    assert!((1_260..=1_300).contains(&size), "{size}");
}
