//! Extensions and rarely used rules: acknowledgement frequency, keep-alive, the idle timeout, Careful Resume, key updates.

mod path;

use lightlag_control::congestion::Choice;
use lightlag_control::congestion::careful_resume::{ResumeRule, Saved};
use lightlag_core::{Bytes, Duration};
use lightlag_quic::config::AckFrequency;
use lightlag_quic::frame::Frame;
use lightlag_quic::{Config, Kind, State};
use lightlag_transport::{Failure, Inspect, Stream};
use path::{CLIENT, Fate, Path, SERVER, at, ms};

fn frequent(threshold: u64, max_delay: Option<Duration>) -> Config {
    Config {
        ack_frequency: Some(AckFrequency { threshold, max_delay, reordering: 1 }),
        min_ack_delay: Some(ms(1)),
        ..Config::default()
    }
}

#[test]
fn a_requested_frequency_reduces_acknowledgements_and_keeps_the_throughput() {
    let run = |config: Config| {
        let mut path = Path::new(config, 50).with_rates(10.0, 10.0);
        path.logs = false;
        let time = path.download(5_000_000, at(60_000)).expect("a download");
        (time.as_secs_f64(), path.ends[CLIENT].counters().ack_packets)
    };
    let (plain, many) = run(Config::default());
    for threshold in [3, 9] {
        let (time, few) = run(frequent(threshold, None));
        assert!((time / plain - 1.0).abs() < 0.02, "threshold {threshold}: {time} s instead of {plain} s");
        // One for threshold + 1 packets instead of two, except at the start.
        let expected = many as f64 * 2.0 / (threshold as f64 + 1.0);
        assert!((few as f64 / expected - 1.0).abs() < 0.15, "threshold {threshold}: {few} of {many}");
    }
}

#[test]
fn the_probe_timeout_includes_the_larger_delay_until_the_request_is_acknowledged() {
    for (requested, before, after) in [(5, 25, 5), (100, 100, 100)] {
        let mut path = Path::new(frequent(9, Some(ms(requested))), 100);
        path.ends[SERVER].write(u64::MAX);
        path.ends[CLIENT].write(100);
        path.open();
        let asks = |path: &Path| {
            path.sent(SERVER)
                .find(|logged| logged.contents.frames.iter().any(|frame| matches!(frame, Frame::AckFrequency { .. })))
                .map(|logged| logged.time)
        };
        while asks(&path).is_none() {
            assert!(path.step(at(5_000)), "the server requests a frequency");
        }
        let asked = path.now;
        assert_eq!(path.ends[SERVER].max_ack_delay(), ms(before), "{requested}");
        path.run_until(asked + ms(195));
        assert_eq!(path.ends[SERVER].max_ack_delay(), ms(before), "{requested}");
        path.run_until(asked + ms(400));
        assert_eq!(path.ends[SERVER].max_ack_delay(), ms(after), "{requested}");
    }
}

#[test]
fn probes_request_an_immediate_acknowledgement_from_a_peer_with_a_high_threshold() {
    let mut path = Path::new(frequent(1_000, Some(ms(2_000))), 50)
        .with_rule(|logged| if (at(3_000)..at(4_000)).contains(&logged.time) { Fate::Drop } else { Fate::Deliver });
    path.ends[SERVER].write(5_000);
    path.open();
    path.run_until(at(3_500));
    path.ends[SERVER].write(1_000);
    path.flush(SERVER);
    path.run_until(at(30_000));
    let hastens = |frame: &Frame| *frame == Frame::ImmediateAck;
    let probe = path.sent(SERVER).find(|logged| logged.contents.frames.iter().any(hastens)).expect("a probe");
    let answered = path.sent(CLIENT).find(|logged| logged.time > probe.time).map(|logged| logged.time);
    assert!(probe.fate == Fate::Drop || answered.is_some_and(|time| time <= probe.time + ms(51)), "{answered:?}");
    assert_eq!(path.ends[SERVER].in_flight(), 0);
}

#[test]
fn a_frequency_is_not_requested_from_a_peer_that_does_not_support_it() {
    let server = frequent(9, None);
    let mut path = Path::between(Config::default(), server, 50);
    path.download(500_000, at(60_000)).expect("a download");
    let is_request = |frame: &Frame| matches!(frame, Frame::AckFrequency { .. });
    assert!(!path.log.iter().any(|logged| logged.contents.frames.iter().any(is_request)));
}

#[test]
fn keep_alive_holds_an_idle_connection_open() {
    let idle = Config { idle_timeout: Duration::from_secs(5), ..Config::default() };
    for (keep_alive, state) in [(Some(Duration::from_secs(2)), State::Complete), (None, State::Closed)] {
        let client = Config { keep_alive, ..idle.clone() };
        let mut path = Path::between(client, idle.clone(), 50);
        path.ends[SERVER].write(1_000);
        path.open();
        path.run_until(at(60_000));
        assert_eq!((path.ends[CLIENT].state(), path.ends[SERVER].state()), (state, state), "{keep_alive:?}");
        let pings =
            path.sent(CLIENT).filter(|logged| logged.contents.frames.contains(&Frame::Ping) && logged.time > at(1_000));
        // One for two seconds; each is acknowledged, which counts as activity.
        let count = pings.count();
        assert!(keep_alive.is_none() || (26..=30).contains(&count), "{count}");
    }
}

/// RFC 9000 §10.1: the timer restarts when the first eliciting packet since the last receipt is sent, not with later
/// ones.
#[test]
fn the_idle_timeout_counts_from_the_first_eliciting_packet_since_the_last_receipt() {
    let config = Config { idle_timeout: Duration::from_secs(10), ..Config::default() };
    let mut path =
        Path::new(config, 50).with_rule(|logged| if logged.time >= at(2_000) { Fate::Drop } else { Fate::Deliver });
    path.open();
    path.run_until(at(5_000));
    // The last receipt was before 2 s. Data at 5 s restarts the timer; probes and data at 9 s do not.
    path.ends[CLIENT].write(1_000);
    path.flush(CLIENT);
    path.run_until(at(9_000));
    path.ends[CLIENT].write(1_000);
    path.flush(CLIENT);
    path.run_until(at(14_999));
    assert_eq!(path.ends[CLIENT].state(), State::Complete);
    path.run_until(at(15_000));
    assert_eq!((path.ends[CLIENT].state(), path.ends[CLIENT].failure()), (State::Closed, Some(Failure::Timeout)));
}

#[test]
fn careful_resume_jumps_to_half_of_the_saved_window_on_the_same_path() {
    let time = |saved_rtt: Option<Duration>| {
        let careful_resume = saved_rtt.map(|saved_rtt| Saved {
            saved_cwnd: Bytes(1_500_000),
            saved_rtt,
            max_jump: None,
            rule: ResumeRule::Rfc9959,
        });
        let config = Config { congestion: Choice::named("cubic"), careful_resume, ..Config::default() };
        let mut path = Path::new(config, 300).with_rates(2.0, 20.0);
        path.logs = false;
        path.download(4_000_000, at(60_000)).expect("a download").as_secs_f64()
    };
    let (plain, resumed, other) = (time(None), time(Some(ms(600))), time(Some(ms(1_300))));
    // The jump from 12 kB to 750 kB replaces six doublings.
    assert!(plain - resumed > 1.5, "{plain} and {resumed}");
    // A path with less than half of the saved round-trip time is another path.
    assert!((other - plain).abs() < 0.1, "{plain} and {other}");
}

#[test]
fn keys_are_updated_in_turn_and_change_nothing_else() {
    let run = |key_update: Option<u64>| {
        let mut path = Path::new(Config { key_update, ..Config::default() }, 50).with_rates(10.0, 10.0);
        path.links[SERVER].max_queue = ms(60);
        let time = path.download(2_000_000, at(60_000)).expect("a download");
        let phases = |from: usize| {
            let short = path.sent(from).flat_map(|logged| logged.contents.parts.clone());
            let short = short.filter(|part| part.kind == Kind::OneRtt);
            let mut phases: Vec<(u64, bool)> = short.map(|part| (part.number, part.key_phase)).collect();
            phases.dedup_by_key(|(_, phase)| *phase);
            phases
        };
        (time, phases(SERVER), phases(CLIENT), path.ends[SERVER].counters().key_updates)
    };
    let (plain, none, _, _) = run(None);
    let (time, server, client, updates) = run(Some(200));
    assert_eq!((time, none.len()), (plain, 1));
    // 1,714 packets of data and repairs of the losses; the client, which sends fewer packets, follows.
    assert!(updates >= 8 && server.len() as u64 == updates + 1, "{server:?}");
    assert!(server.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 200), "{server:?}");
    assert!(client.len() >= server.len() - 1, "{client:?}");
}
