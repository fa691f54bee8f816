//! Partial reliability (BETS) over a path: the delivered data and the holes exactly add up to the sent data.

mod path;

use lightlag_control::congestion::Choice;
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Rate};
use lightlag_tcp::config::{Bets, LossAssumption, RateControl, Scps, SnackForm};
use lightlag_tcp::segment::{Flags, SeqNumber};
use lightlag_tcp::{Config, Connection, Hole, HoleTotals, Profile, Scheme, State};
use path::{CLIENT, Path, SERVER, Sent};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

/// Returns a configuration with segments of 512 bytes and no congestion control. Each segment is sent up to
/// `transmissions` times, and holes are skipped after `patience_ms`.
fn bets(transmissions: u8, patience_ms: u64) -> Config {
    let bets = Some(Bets { max_transmissions: transmissions, receive_timeout: ms(patience_ms), hold: None });
    let scps = Some(Scps { bets, ..Scps::default() });
    let loss_assumption = LossAssumption::Congestion;
    Config { congestion: Choice::named("none"), scps, loss_assumption, ..Profile::Scps.config() }
}

/// Returns the holes reported to the server.
fn holes(path: &mut Path) -> Vec<(u64, u64)> {
    std::iter::from_fn(|| path.ends[SERVER].poll_hole()).map(|Hole { start, bytes }| (start, bytes)).collect()
}

fn is_data(sent: &Sent) -> bool {
    sent.from == CLIENT && sent.segment.len > 0
}

/// Checks that both ends are closed, and that the server has all data except the skipped holes.
fn ended(path: &Path, bytes: u64) {
    for end in &path.ends {
        assert_eq!((end.statistics().failure, end.state()), (None, State::Closed));
    }
    let server = &path.ends[SERVER];
    assert_eq!((server.received(), server.delivered() + server.holes().bytes), (bytes, bytes));
}

#[test]
fn abandoned_data_is_a_hole_at_the_peer() {
    // The second of six segments is never retransmitted; the receiver waits a second for it.
    let mut path = Path::new(bets(1, 1_000), 50).lose(&[1]);
    path.transfer(6 * 512);
    path.run_until(at(1_149));
    assert_eq!(path.ends[SERVER].received(), 512);
    // It detected the hole after 150 ms.
    path.run_until(at(1_150));
    assert_eq!((path.ends[SERVER].received(), holes(&mut path)), (6 * 512, vec![(512, 512)]));
    path.run();
    ended(&path, 6 * 512);
    assert_eq!(path.ends[SERVER].holes(), HoleTotals { count: 1, bytes: 512 });
    assert_eq!(path.ends[CLIENT].given_up(), HoleTotals { count: 1, bytes: 512 });
    let places: Vec<Hole> = path.ends[CLIENT].given_up_places().collect();
    assert_eq!(places, [Hole { start: 512, bytes: 512 }]);
    let statistics = path.ends[CLIENT].statistics();
    assert_eq!((statistics.retransmitted_segments, statistics.timeouts), (0, 0));
}

#[test]
fn a_segment_leaves_as_often_as_it_may() {
    for transmissions in 1..=5 {
        let head = |sent: &Sent| is_data(sent) && sent.segment.seq == SeqNumber(1_001 + 512);
        let mut path = Path::new(bets(transmissions, 60_000), 50);
        path = path.bend(move |sent, delay| if head(sent) { vec![] } else { vec![delay] });
        path.transfer(6 * 512);
        path.run();
        ended(&path, 6 * 512);
        assert_eq!(path.log.iter().filter(|sent| head(sent)).count(), usize::from(transmissions));
        assert_eq!(holes(&mut path), [(512, 512)]);
    }
}

#[test]
fn no_hole_without_a_loss() {
    for transmissions in [1, 20] {
        let mut path = Path::new(bets(transmissions, 1_000), 250);
        path.transfer(500_000);
        path.run();
        ended(&path, 500_000);
        assert_eq!((path.ends[SERVER].holes(), path.ends[CLIENT].given_up()), Default::default());
    }
}

#[test]
fn either_side_alone_is_reliable() {
    for plain in [CLIENT, SERVER] {
        let mut path = Path::new(bets(1, 10), 50).lose(&[1, 3]);
        let config = Arc::new(Config { scps: Some(Scps::default()), ..bets(1, 10) });
        path.ends[plain] = match plain {
            CLIENT => Connection::client(config, SeqNumber(1_000)),
            _ => Connection::server(config, SeqNumber(5_000)),
        };
        path.transfer(6 * 512);
        path.run();
        ended(&path, 6 * 512);
        assert_eq!((path.ends[SERVER].delivered(), path.ends[CLIENT].given_up().bytes), (6 * 512, 0));
    }
}

#[test]
fn a_late_copy_of_a_skipped_hole_is_a_duplicate() {
    // The second segment takes 2 s longer than the others.
    let mut path = Path::new(bets(1, 500), 50)
        .bend(|sent, delay| vec![if is_data(sent) && sent.data_index == 1 { delay + ms(2_000) } else { delay }]);
    path.ends[CLIENT].open(Instant::ZERO);
    path.ends[CLIENT].write(6 * 512);
    path.flush(CLIENT);
    path.run_until(at(5_000));
    assert_eq!(path.ends[SERVER].received(), 6 * 512);
    assert_eq!(holes(&mut path), [(512, 512)]);
    assert_eq!(path.ends[SERVER].statistics().duplicate_bytes, 512);
}

#[test]
fn a_fin_after_holes_ends_the_connection() {
    // All data is lost, or the end of it.
    for lost in [0..6, 3..6, 5..6] {
        let all = lost.clone();
        let mut path = Path::new(bets(1, 500), 50).bend(move |sent, delay| {
            if is_data(sent) && all.contains(&sent.data_index) { vec![] } else { vec![delay] }
        });
        path.transfer(6 * 512);
        path.run();
        ended(&path, 6 * 512);
        let hole = (lost.start as u64 * 512, lost.len() as u64 * 512);
        assert_eq!(holes(&mut path), [hole]);
        // The FIN arrives with the data; a timeout would have notified the sender only much later.
        let fin = path.log.iter().find(|sent| sent.segment.flags.has(Flags::FIN)).unwrap();
        assert_eq!((fin.segment.len, fin.at), (0, at(100)));
    }
}

#[test]
fn the_end_of_the_data_is_reported_without_a_fin() {
    let mut path = Path::new(bets(2, 500), 50)
        .bend(|sent, delay| if is_data(sent) && sent.segment.len > 1 { vec![] } else { vec![delay] });
    path.ends[CLIENT].open(Instant::ZERO);
    path.ends[CLIENT].write(4 * 512);
    path.flush(CLIENT);
    path.run_until(at(30_000));
    // All but the byte of the probe.
    assert_eq!(holes(&mut path), [(0, 4 * 512 - 1)]);
    assert_eq!((path.ends[SERVER].received(), path.ends[SERVER].delivered()), (4 * 512, 1));
    assert!(path.ends[CLIENT].all_acknowledged());
    assert_eq!(path.ends.each_ref().map(Connection::poll_timeout), [None, None], "both endpoints are idle");
    assert_eq!(path.ends[CLIENT].statistics().probes, 1);
}

#[test]
fn a_window_full_of_losses_opens_again() {
    // 2,048 bytes fill the window; the first 40 segments are lost.
    let config = Config { receive_buffer: Bytes(2_048), ..bets(1, 500) };
    let mut path = Path::new(config, 50).bend(|sent, delay| {
        if is_data(sent) && sent.segment.len > 1 && sent.data_index < 40 { vec![] } else { vec![delay] }
    });
    path.transfer(100 * 512);
    path.run();
    ended(&path, 100 * 512);
    let bytes = path.ends[SERVER].holes().bytes;
    assert!((30 * 512..40 * 512).contains(&bytes), "{bytes}");
}

#[test]
fn a_receiver_that_holds_enough_waits_no_longer() {
    // A timeout of 30 s, but four segments above the hole are too many.
    let config = |hold| {
        let bets = Some(Bets { max_transmissions: 1, receive_timeout: ms(30_000), hold: Some(Bytes(hold)) });
        Config { scps: Some(Scps { bets, ..Scps::default() }), ..bets_config() }
    };
    let mut path = Path::new(config(3 * 512), 50).lose(&[1]);
    path.transfer(20 * 512);
    path.run_until(at(1_000));
    assert_eq!((path.ends[SERVER].received(), holes(&mut path)), (20 * 512, vec![(512, 512)]));
    let mut path = Path::new(config(18 * 512), 50).lose(&[1]);
    path.transfer(20 * 512);
    path.run_until(at(30_149));
    assert_eq!(path.ends[SERVER].received(), 512);
    path.run();
    ended(&path, 20 * 512);
}

fn bets_config() -> Config {
    bets(1, 1_000)
}

#[test]
fn each_hole_has_its_own_clock() {
    // One segment per 12 ms; every tenth of the first hundred is lost, and each is skipped a second after it was
    // detected.
    let rate = Rate::from_bps(368_000).unwrap();
    let control = Some(RateControl { rate, ack_rate: None, bucket: Some(Bytes(552)), release: Default::default() });
    let config = Config { rate_control: control, ..bets(1, 1_000) };
    let mut path = Path::new(config, 50)
        .bend(|sent, delay| if is_data(sent) && sent.data_index % 10 == 5 { vec![] } else { vec![delay] });
    path.transfer(100 * 512);
    let mut skipped = Vec::new();
    while path.step() {
        let now = path.now;
        skipped.extend(holes(&mut path).into_iter().map(|hole| (hole, now)));
        if path.ends[SERVER].state() == State::CloseWait {
            path.ends[SERVER].close();
            path.flush(SERVER);
        }
    }
    ended(&path, 100 * 512);
    let starts: Vec<u64> = skipped.iter().map(|((start, _), _)| *start).collect();
    assert_eq!(starts, (0..10).map(|n| (10 * n + 5) * 512).collect::<Vec<_>>());
    for pair in skipped.windows(2) {
        assert_eq!(pair[1].1.since(pair[0].1), ms(120));
    }
    assert_eq!(path.ends[CLIENT].statistics().timeouts, 0, "the receiver's wait for a hole does not count as a loss");
}

#[test]
fn a_reader_gets_holes_at_their_position() {
    let mut path = Path::new(bets(1, 500), 50).lose(&[1, 2, 4]);
    path.ends[SERVER].read_later();
    path.transfer(6 * 512);
    path.run_until(at(2_000));
    let server = &mut path.ends[SERVER];
    assert_eq!((server.received(), server.unread(), server.poll_hole()), (6 * 512, 3 * 512, None));
    assert_eq!((server.read(511), server.poll_hole()), (511, None));
    assert_eq!((server.read(1), server.poll_hole()), (1, Some(Hole { start: 512, bytes: 1_024 })));
    assert_eq!((server.read(u64::MAX), server.unread()), (1_024, 0));
    assert_eq!((server.poll_hole(), server.poll_hole()), (Some(Hole { start: 2_048, bytes: 512 }), None));
    path.run();
    ended(&path, 6 * 512);
}

#[test]
fn a_record_with_a_hole_is_incomplete() {
    // Records of 700 bytes are sent as 512 and 188; the start of the second and the end of the fourth are lost.
    let base = bets(1, 500);
    let scps = Some(Scps { record_size: Some(Bytes(700)), ..base.scps.unwrap() });
    let mut path = Path::new(Config { scps, ..base }, 50).lose(&[2, 7]);
    path.transfer(8 * 700);
    path.run();
    ended(&path, 8 * 700);
    assert_eq!(holes(&mut path), [(700, 512), (3 * 700 + 512, 188)]);
    // Without its mark, the fourth continues up to the end of the fifth.
    assert_eq!(path.ends[SERVER].records(), 5);
}

#[test]
fn the_fraction_of_holes_matches_segments_lost_each_time() {
    // 20,000 segments, a fifth of all data is lost; the receiver waits 1.5 s, and a copy takes 0.2 s. At 0.4 Mbit/s the 160
    // units of a report cover that time.
    let (segments, loss) = (20_000_u64, 0.2_f64);
    for transmissions in 1..=4 {
        let mut random = RandomStream::new(7, "loss");
        let rate = Rate::from_bps(400_000).unwrap();
        let base = bets(transmissions, 1_500);
        let config = Config {
            rate_control: Some(RateControl { rate, ack_rate: None, bucket: None, release: Default::default() }),
            loss_assumption: LossAssumption::Corruption,
            scps: Some(Scps { snack: SnackForm::Long, ..base.scps.unwrap() }),
            ..base
        };
        let mut path = Path::new(config, 50)
            .bend(move |sent, delay| if is_data(sent) && random.uniform() < loss { vec![] } else { vec![delay] });
        path.transfer(segments * 512);
        path.run();
        ended(&path, segments * 512);
        let expected: f64 = (0..transmissions).map(|_| loss).product();
        let share = path.ends[SERVER].holes().bytes as f64 / (segments as f64 * 512.0);
        let band = 2.576 * (expected * (1.0 - expected) / segments as f64).sqrt();
        assert!((share - expected).abs() < band, "{transmissions}: {share}, {expected} ± {band}");
        let mean = path.data(CLIENT).len() as f64 / segments as f64;
        // 1 + p + p² … copies per segment.
        let copies = (1.0 - expected) / (1.0 - loss);
        assert!((mean / copies - 1.0).abs() < 0.02, "{transmissions}: {mean} {copies}");
    }
}

/// Returns a path that loses all packets for `seconds`, starting at 2 s.
fn with_outage(config: Config, seconds: u64) -> Path {
    let out = at(2_000)..at(2_000 + 1_000 * seconds);
    let lost = move |sent: &Sent, delay| out.contains(&sent.at) || out.contains(&(sent.at + delay));
    let mut path = Path::new(config, 250).bend(move |sent, delay| if lost(sent, delay) { vec![] } else { vec![delay] });
    path.transfer(1_000_000);
    path
}

#[test]
fn an_outage_costs_only_data_in_transit() {
    let rate = Rate::from_bps(1_500_000).unwrap();
    let control = Some(RateControl { rate, ack_rate: None, bucket: None, release: Default::default() });
    for transmissions in [1, 3] {
        let config = || Config { rate_control: control, ..bets(transmissions, 1_000) };
        // Notified: data sent a timeout ago or earlier is repaired as often as permitted.
        let mut path = with_outage(config(), 300);
        path.run_until(at(2_000));
        path.ends[CLIENT].link_lost(path.now);
        path.run_until(at(302_000));
        path.ends[CLIENT].link_restored(path.now);
        path.flush(CLIENT);
        path.run();
        ended(&path, 1_000_000);
        // A round trip's worth of it, and the data that the last ACKs had not covered.
        let lost = path.ends[SERVER].holes().bytes;
        assert!(if transmissions == 1 { (1..150_000).contains(&lost) } else { lost == 0 }, "{transmissions}: {lost}");
        // Not notified: at most a window is lost before two timeouts indicate it.
        let mut path = with_outage(Config { outage_after: Some(2), ..config() }, 300);
        path.run();
        ended(&path, 1_000_000);
        let lost = path.ends[SERVER].holes().bytes;
        assert!(if transmissions == 1 { (1..=300_000).contains(&lost) } else { lost == 0 }, "{transmissions}: {lost}");
    }
}

#[test]
fn a_connection_to_a_dead_peer_is_aborted() {
    for transmissions in [1, 20] {
        let mut path = Path::new(Config { retries: 6, ..bets(transmissions, 1_000) }, 50)
            .bend(|sent, delay| if sent.at > at(100) { vec![] } else { vec![delay] });
        path.transfer(100_000);
        path.run();
        assert_eq!(path.ends[CLIENT].state(), State::Closed);
        assert!(path.ends[CLIENT].statistics().failure.is_some());
    }
}

/// Random parameters of a stream and its path.
#[derive(Clone, Debug)]
struct Fate {
    seed: u64,
    loss: f64,
    ack_loss: f64,
    jitter_ms: u64,
    outage: Option<(u64, u64)>,
    bytes: u64,
    /// Number of bytes that the server reads at each event; `None` reads data as it arrives.
    reads: Option<u64>,
}

fn fates() -> impl Strategy<Value = Fate> {
    let outage = prop::option::weighted(0.3, (100_u64..4_000, 1_u64..20_000));
    let reads = prop::option::of(1_u64..3_000);
    let loss = prop_oneof![Just(0.0), 0.0..0.1, 0.0..0.5];
    (any::<u64>(), loss, 0.0..0.3, 0_u64..200, outage, 1_u64..150_000, reads).prop_map(
        |(seed, loss, ack_loss, jitter_ms, outage, bytes, reads)| Fate {
            seed,
            loss,
            ack_loss,
            jitter_ms,
            outage,
            bytes,
            reads,
        },
    )
}

/// Generates configurations for both ends.
fn behaviours() -> impl Strategy<Value = Config> {
    let bets = (prop_oneof![1_u8..4, 1_u8..=20], 20_u64..4_000, prop::option::of(1_u64..20_000));
    let forms = prop::sample::select(vec![SnackForm::Off, SnackForm::Short, SnackForm::Long]);
    let schemes = prop::sample::select(vec![Scheme::Reno, Scheme::NewReno, Scheme::Sack, Scheme::Rack, Scheme::Snack]);
    let algorithms = prop::sample::select(vec!["none", "vegas", "newreno", "cubic", "bbr"]);
    let rate = prop::option::of(100_000_u64..5_000_000);
    let record = prop::option::of(1_u64..5_000);
    let switches = (any::<[bool; 7]>(), prop::option::of(1_u8..4), 21_000_u64..200_000);
    (bets, forms, schemes, algorithms, rate, record, switches).prop_map(
        |((transmissions, patience, hold), snack, scheme, algorithm, rate, record, (on, outage_after, buffer))| {
            let [sack, timestamps, corruption, ticks, tlp, nagle, compression] = on;
            let base = Profile::Scps.config();
            let bets =
                Some(Bets { max_transmissions: transmissions, receive_timeout: ms(patience), hold: hold.map(Bytes) });
            let unfit = scheme == Scheme::Snack && snack == SnackForm::Off;
            Config {
                scps: Some(Scps { snack, bets, record_size: record.map(Bytes), compression, ..Scps::default() }),
                recovery: if unfit { Scheme::NewReno } else { scheme },
                congestion: Choice::named(algorithm),
                rate_control: rate.and_then(Rate::from_bps).map(|rate| RateControl {
                    rate,
                    ack_rate: None,
                    bucket: None,
                    release: Default::default(),
                }),
                loss_assumption: if corruption { LossAssumption::Corruption } else { LossAssumption::Congestion },
                ack_interval: base.ack_interval.filter(|_| ticks),
                receive_buffer: Bytes(buffer),
                timestamps,
                sack,
                tlp,
                nagle,
                outage_after,
                ..base
            }
        },
    )
}

/// Runs a stream, and checks each hole when it is reported. Returns the path and the holes.
fn play(config: Config, fate: &Fate) -> (Path, Vec<Hole>) {
    let arrivals: Arc<Mutex<Vec<(Instant, u64, u64)>>> = Arc::default();
    let (mut random, log, drawn) = (RandomStream::new(fate.seed, "path"), arrivals.clone(), fate.clone());
    // With timestamps, data that arrives after younger data counts as a segment of the past.
    let told_at_once = fate.reads.is_none() && !config.timestamps;
    let compressed = config.scps.is_some_and(|scps| scps.compression);
    let mut path = Path::new(config, 100).bend(move |sent, delay| {
        let loss = if is_data(sent) { drawn.loss } else { drawn.ack_loss };
        let lost = random.uniform() < loss;
        let late = ms((random.uniform() * drawn.jitter_ms as f64) as u64);
        let out = drawn.outage.is_some_and(|(from, long)| (at(from)..at(from + long)).contains(&sent.at));
        if lost || out {
            return vec![];
        }
        if is_data(sent) {
            let start = u64::from(sent.segment.seq.0) - 1_001;
            log.lock().unwrap().push((sent.at + delay + late, start, start + u64::from(sent.segment.len)));
        }
        vec![delay + late]
    });
    if fate.reads.is_some() {
        path.ends[SERVER].read_later();
    }
    let mut holes: Vec<Hole> = Vec::new();
    let (mut read, mut steps) = (0, 0);
    path.transfer(fate.bytes);
    loop {
        if let Some(bytes) = fate.reads {
            read += path.ends[SERVER].read(bytes);
            path.flush(SERVER);
        }
        while let Some(hole) = path.ends[SERVER].poll_hole() {
            let end = hole.start + hole.bytes;
            assert!(holes.last().is_none_or(|last| last.start + last.bytes <= hole.start), "in their order");
            if told_at_once {
                // No byte of it had arrived.
                let arrived = arrivals.lock().unwrap();
                let there = arrived.iter().find(|(time, from, to)| *time < path.now && *from < end && *to > hole.start);
                assert_eq!(there, None, "{hole:?} at {}", path.now);
            }
            holes.push(hole);
        }
        if path.ends[SERVER].state() == State::CloseWait && path.ends[SERVER].unread() == 0 {
            path.ends[SERVER].close();
            path.flush(SERVER);
        }
        steps += 1;
        assert!(steps < 3_000_000, "no end");
        // An end without state for the ID of a compressed header drops the segment: a FIN may be retransmitted
        // indefinitely to an end that is gone.
        let server = &path.ends[SERVER];
        let unheard = compressed && path.ends[CLIENT].state() == State::Closed && server.state() == State::LastAck;
        if unheard || !path.step() && path.ends[SERVER].unread() == 0 {
            break;
        }
    }
    // The data that arrived and the holes cover the stream.
    let mut covered: Vec<(u64, u64)> = arrivals.lock().unwrap().iter().map(|(_, from, to)| (*from, *to)).collect();
    covered.extend(holes.iter().map(|hole| (hole.start, hole.start + hole.bytes)));
    covered.sort_unstable();
    let end = covered.iter().fold(0, |end, (from, to)| if *from <= end { end.max(*to) } else { end });
    // If there are many holes simultaneously, fifty are stored.
    let whole = path.ends[SERVER].received() == fate.bytes;
    if whole && holes.iter().map(|hole| hole.bytes).sum::<u64>() == path.ends[SERVER].holes().bytes {
        assert_eq!(end, fate.bytes);
    }
    if whole && fate.reads.is_some() {
        assert_eq!(read, path.ends[SERVER].delivered());
    }
    (path, holes)
}

/// Checks that no interval carries more data than the token bucket permits, probes and FINs included.
fn keeps_to_its_rate(path: &Path, end: usize) {
    let Some((rate, size)) = path.ends[end].bucket() else { return };
    let (mut debt, mut last) = (0.0_f64, Instant::ZERO);
    for sent in path.log.iter().filter(|sent| sent.from == end) {
        let bytes = 20 + sent.segment.header_len() + u32::from(sent.segment.len);
        let earned = sent.at.since(last).as_secs_f64() * rate.as_bps() as f64 / 8.0;
        debt = (debt - earned).max(0.0) + f64::from(bytes);
        last = sent.at;
        assert!(debt <= size.0 as f64 + 1e-3, "end {end}: {debt} above {size}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any losses, delays and outages: the connection ends, delivered data and holes make up the complete stream,
    /// and every hole is missing data.
    #[test]
    fn delivered_data_and_holes_add_up_to_sent_data(config in behaviours(), fate in fates()) {
        // A compressed header that arrives before the ACK of the handshake cannot be read yet.
        let quiet = fate.loss == 0.0 && fate.outage.is_none() && !config.scps.unwrap().compression;
        let patient = config.scps.unwrap().bets.unwrap().receive_timeout > ms(fate.jitter_ms);
        let roomy = config.scps.unwrap().bets.unwrap().hold.is_none_or(|hold| hold > Bytes(fate.bytes))
            && config.receive_buffer.0 / 2 > fate.bytes;
        let corruption = config.loss_assumption == LossAssumption::Corruption;
        let noticed = config.outage_after.is_some();
        let compressed = config.scps.unwrap().compression;
        let (path, holes) = play(config, &fate);
        for end in [CLIENT, SERVER] {
            keeps_to_its_rate(&path, end);
        }
        let server = &path.ends[SERVER];
        // Corruption does not back off the timer: its retries may be exhausted before the end of an outage that is not
        // detected.
        let may_fail = fate.outage.is_some() && corruption && !noticed;
        if may_fail && path.ends.iter().any(|end| end.statistics().failure.is_some()) {
            return Ok(());
        }
        let unheard = compressed && server.state() == State::LastAck;
        prop_assert!(server.state() == State::Closed || unheard);
        prop_assert_eq!(path.ends[CLIENT].state(), State::Closed);
        for end in &path.ends {
            prop_assert_eq!(end.statistics().failure, None);
        }
        prop_assert_eq!(server.received(), fate.bytes);
        prop_assert_eq!(server.delivered() + server.holes().bytes, fate.bytes);
        if server.holes().count <= 50 {
            prop_assert_eq!(holes.iter().map(|hole| hole.bytes).sum::<u64>(), server.holes().bytes);
        }
        if quiet && patient && roomy {
            prop_assert_eq!(server.holes(), HoleTotals::default());
        }
    }
}
