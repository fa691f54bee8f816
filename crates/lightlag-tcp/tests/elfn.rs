//! Explicit link failure notification (Holland and Vaidya, MobiCom 1999): a sender that is notified of a broken route.

mod path;

use lightlag_core::{Bytes, Duration, Instant};
use lightlag_tcp::{Config, Snapshot};
use path::{CLIENT, Path, SERVER, Sent, plain};

const BREAK_MS: u64 = 2_030;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// Returns a transfer over a route with a round-trip time of 100 ms, which breaks for `millis`. Packets that are sent
/// or arrive during the break are lost.
fn broken(config: Config, millis: u64) -> Path {
    let out = at(BREAK_MS)..at(BREAK_MS + millis);
    let lost = move |sent: &Sent, delay| out.contains(&sent.at) || out.contains(&(sent.at + delay));
    let mut path = Path::new(config, 50).bend(move |sent, delay| if lost(sent, delay) { vec![] } else { vec![delay] });
    path.transfer(3_000_000);
    path.run_until(at(BREAK_MS));
    path
}

/// Returns a configuration whose receive buffer of 40 segments limits the window.
fn bounded() -> Config {
    Config { receive_buffer: Bytes(40_000), ..plain() }
}

fn sender(path: &Path) -> Snapshot {
    path.ends[CLIENT].snapshot()
}

fn window(path: &Path) -> (u64, u64) {
    (sender(path).cwnd, sender(path).ssthresh)
}

/// Returns the times of the client's segments after the start of the break in milliseconds: those with data, or those
/// without.
fn sent(path: &Path, has_data: bool) -> Vec<u64> {
    let is_wanted = |sent: &&Sent| sent.from == CLIENT && sent.at >= at(BREAK_MS) && (sent.segment.len > 0) == has_data;
    path.log.iter().filter(is_wanted).map(|sent| sent.at.as_nanos() / 1_000_000).collect()
}

fn complete(path: &mut Path) {
    path.run();
    assert_eq!(path.ends[SERVER].received(), 3_000_000);
    assert!(path.ends.iter().all(|end| end.statistics().failure.is_none()));
}

#[test]
fn a_lost_route_freezes_the_timer_and_the_window_and_probes_leave_at_equal_times() {
    let mut path = broken(bounded(), 300_000);
    let (window_before, rto, una) = (window(&path), sender(&path).rto, sender(&path).snd_una);
    assert!(window_before.0 >= 40_000, "{window_before:?}");
    path.ends[CLIENT].route_lost(path.now);
    path.flush(CLIENT);
    path.run_until(at(BREAK_MS + 299_999));
    assert_eq!(sent(&path, true), [0; 0], "nothing but probes");
    // The first is sent immediately, so that routing looks for another route; then one every 2 s.
    let expected: Vec<u64> = (0..150).map(|probe| BREAK_MS + 2_000 * probe).collect();
    assert_eq!(sent(&path, false), expected);
    assert_eq!((window(&path), sender(&path).rto), (window_before, rto));
    path.now = at(BREAK_MS + 300_000);
    path.ends[CLIENT].link_restored(path.now);
    path.flush(CLIENT);
    let first = path.data(CLIENT).into_iter().find(|sent| sent.at > at(BREAK_MS)).unwrap();
    assert_eq!(first.at, path.now);
    assert_eq!((window(&path), sender(&path).rto), (window_before, rto));
    assert_eq!(u64::from(first.segment.seq.0 - 1_001), una);
    complete(&mut path);
    assert_eq!(path.ends[CLIENT].statistics().timeouts, 0);
}

#[test]
fn the_reply_to_a_probe_resumes_with_the_window_where_a_timer_restarts() {
    for millis in [700, 3_100, 5_000, 20_000] {
        let back = BREAK_MS + millis;
        let resumed = |is_told: bool| {
            let mut path = broken(bounded(), millis);
            let before = window(&path);
            if is_told {
                path.ends[CLIENT].route_lost(path.now);
                path.flush(CLIENT);
            }
            path.run_until(at(back));
            let first = loop {
                assert!(path.step());
                let arrived = path.log.last().unwrap();
                if arrived.from == CLIENT && arrived.segment.len > 0 && arrived.at > at(back) {
                    break arrived.at.as_nanos() / 1_000_000;
                }
            };
            let after = window(&path);
            complete(&mut path);
            (first, before, after, path.ends[CLIENT].statistics().timeouts)
        };
        let (probed, before, after, timeouts) = resumed(true);
        // Probes are sent at multiples of 2 s after the break, and the reply takes a round trip.
        assert_eq!(probed, BREAK_MS + millis.next_multiple_of(2_000) + 100, "{millis} ms");
        assert_eq!((after, timeouts), (before, 0), "{millis} ms");
        // Timeouts, each after twice the time of the one before: the RTO is 1 s.
        let (timer, before, after, timeouts) = resumed(false);
        assert!(timeouts > 0 && after.0 <= 2_000 && after.1 < before.0, "{millis} ms: {after:?} after {before:?}");
        assert!((millis < 1_000) || timer > probed, "{millis} ms: at {timer} ms compared with {probed} ms");
    }
}

#[test]
fn more_notifications_bring_no_more_probes() {
    let mut path = broken(bounded(), 10_000);
    for step in 0..95 {
        path.ends[CLIENT].route_lost(path.now);
        path.flush(CLIENT);
        path.run_until(at(BREAK_MS + 100 * (step + 1)));
    }
    assert_eq!(sent(&path, false), [0, 2_000, 4_000, 6_000, 8_000].map(|after| BREAK_MS + after));
    complete(&mut path);
}

#[test]
fn an_assumed_outage_becomes_the_outage_of_a_route() {
    let mut path = broken(Config { outage_after: Some(1), ..bounded() }, 60_000);
    // The first timeout, a second after the last ACK, starts the outage, whose probes wait for 1, 2, 4, 8 s.
    path.run_until(at(BREAK_MS + 10_000));
    let guessed = sent(&path, false);
    assert_eq!(guessed.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<u64>>(), [2_000, 4_000]);
    path.ends[CLIENT].route_lost(path.now);
    path.flush(CLIENT);
    path.run_until(at(BREAK_MS + 20_000));
    let steady: Vec<u64> = (0..6).map(|probe| BREAK_MS + 10_000 + 2_000 * probe).collect();
    assert_eq!(sent(&path, false)[guessed.len()..], steady);
    complete(&mut path);
}

#[test]
fn an_end_without_a_connection_takes_no_notice() {
    let mut path = Path::new(plain(), 50);
    path.ends[CLIENT].route_lost(path.now);
    path.transfer(3_000_000);
    path.run_until(at(49));
    path.ends[CLIENT].route_lost(path.now);
    path.flush(CLIENT);
    assert_eq!(path.log.len(), 1, "the SYN");
    complete(&mut path);
    path.ends[CLIENT].route_lost(path.now);
    path.flush(CLIENT);
    assert_eq!(path.ends[CLIENT].poll_timeout(), None);
}
