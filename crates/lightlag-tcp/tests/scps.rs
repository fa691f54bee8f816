//! SCPS-TP over a path: negotiation, SNACK, ACKs at a fixed interval, records, rate control.

mod path;

use lightlag_control::bucket::Bucket;
use lightlag_control::congestion::Choice;
use lightlag_core::{Bytes, Duration, Instant, Rate};
use lightlag_tcp::config::{LossAssumption, RateControl, Scps, SnackForm};
use lightlag_tcp::segment::{Flags, SeqNumber};
use lightlag_tcp::{Config, Connection, Options, Profile, Scheme};
use path::{CLIENT, Path, SERVER, Sent};
use proptest::prelude::*;
use std::sync::Arc;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

/// Returns a configuration with segments of 512 bytes, no congestion control and a window of 300 kB.
fn free() -> Config {
    let loss_assumption = LossAssumption::Congestion;
    Config { congestion: Choice::named("none"), loss_assumption, ..Profile::Scps.config() }
}

fn rated(bps: u64) -> Config {
    let rate = Rate::from_bps(bps).unwrap();
    Config {
        rate_control: Some(RateControl { rate, ack_rate: None, bucket: None, release: Default::default() }),
        ..free()
    }
}

fn complete(path: &Path, bytes: u64) {
    assert_eq!(path.ends[SERVER].received(), bytes);
    for end in &path.ends {
        assert_eq!(end.statistics().failure, None);
    }
}

/// Returns the total size of IPv4 header, TCP header and payload, in bytes.
fn wire_len(sent: &Sent) -> u64 {
    u64::from(20 + sent.segment.header_len() + u32::from(sent.segment.len))
}

#[test]
fn one_ack_an_interval_whatever_arrives() {
    // 400 segments at 1.5 Mbit/s with a loss of a tenth: data arrives for longer than a second.
    let lost = |sent: &Sent| sent.from == CLIENT && sent.segment.len > 0 && sent.data_index % 10 == 3;
    let mut path =
        Path::new(rated(1_500_000), 250).bend(move |sent, delay| if lost(sent) { vec![] } else { vec![delay] });
    path.transfer(400 * 512);
    path.run();
    complete(&path, 400 * 512);
    let arrivals: Vec<Instant> =
        path.data(CLIENT).iter().filter(|sent| !lost(sent)).map(|sent| sent.at + ms(250)).collect();
    let acks: Vec<Instant> = path.pure_acks(SERVER).iter().map(|sent| sent.at).collect();
    // The first that is not acknowledged starts the timer; the FIN alone is acknowledged immediately.
    let mut expected: Vec<Instant> = Vec::new();
    for arrival in &arrivals {
        if expected.last().is_none_or(|last| last < arrival) {
            expected.push(*arrival + ms(100));
        }
    }
    let common = acks.iter().filter(|ack| expected.contains(ack)).count();
    assert!(acks.len() - common <= 1, "{acks:?} {expected:?}");
    assert!(expected.len() - common <= 1, "{acks:?} {expected:?}");
    assert!(acks.len() >= 10);
}

#[test]
fn acks_of_a_stream_are_as_many_as_intervals() {
    // Data arrives without a pause, starting at 750 ms: 1000 packets of 552 bytes take 1000 · 2.944 ms less the five of
    // the bucket, and for that time there is an ACK each 100 ms and the gap to the next packet.
    let mut path = Path::new(rated(1_500_000), 250);
    path.transfer(1_000 * 512);
    path.run();
    let active = 0.002944 * 995.0;
    let acks = path.pure_acks(SERVER).len() as f64;
    let (least, most) = (active / 0.102944, (active / 0.1_f64).ceil());
    assert!((least.floor()..=most + 1.0).contains(&acks), "{acks}, {least} to {most}");
}

#[test]
fn a_fin_and_an_opening_window_get_an_immediate_ack() {
    let mut path = Path::new(Config { receive_buffer: Bytes(2_048), ..free() }, 50);
    path.ends[SERVER].read_later();
    path.transfer(4 * 512);
    path.run_until(at(1_000));
    assert_eq!(path.ends[SERVER].unread(), 2_048);
    let before = path.log.len();
    assert_eq!(path.ends[SERVER].read(2_048), 2_048);
    path.flush(SERVER);
    assert_eq!(path.log[before].at, at(1_000));
    path.run();
    let fin = path.log.iter().find(|sent| sent.from == CLIENT && sent.segment.flags.has(Flags::FIN)).unwrap().at;
    assert!(path.log.iter().any(|sent| sent.from == SERVER && sent.at == fin + ms(50)));
}

#[test]
fn the_timeout_is_never_shorter_than_the_round_trip_and_the_interval() {
    let mut path = Path::new(Config { ack_interval: Some(ms(400)), ..with_interval(400) }, 20);
    path.transfer(2_000 * 512);
    path.run();
    assert_eq!(path.ends[CLIENT].statistics().timeouts, 0);
    let snapshot = path.ends[CLIENT].snapshot();
    assert!(snapshot.rto >= snapshot.srtt + ms(400), "{} {}", snapshot.rto, snapshot.srtt);
}

/// Returns the configuration that a scenario with an ACK interval of `millis` has.
fn with_interval(millis: u64) -> Config {
    let options = format!(r#"{{ "profile": "scps", "ack_interval": "{millis} ms", "congestion": "none" }}"#);
    serde_json::from_str::<Options>(&options).unwrap().resolve().unwrap()
}

#[test]
fn every_profile_can_have_a_fixed_frequency() {
    for profile in Profile::ALL {
        let name = profile.name();
        let options = format!(
            r#"{{ "profile": "{name}", "ack_interval": "300 ms", "congestion": "none", "mss": "100 B",
                  "receive_buffer": "60 kB", "window_scaling": false }}"#
        );
        let config = serde_json::from_str::<Options>(&options).unwrap().resolve().unwrap();
        // A full window arrives in an interval, much of it above a hole.
        let lost = |sent: &Sent| sent.from == CLIENT && sent.segment.len > 0 && sent.data_index % 400 == 3;
        let mut path = Path::new(config, 50).bend(move |sent, delay| if lost(sent) { vec![] } else { vec![delay] });
        path.transfer(3_000 * 100);
        path.run();
        complete(&path, 3_000 * 100);
        let acks = path.pure_acks(SERVER);
        assert!(acks.len() > 5, "{name}");
        // The last ones are for the FIN.
        for pair in acks[..acks.len() - 2].windows(2) {
            // Immediately only where the hole was all that was missing of the window, which is closed then.
            let edge = pair[0].segment.ack.0 + u32::from(pair[0].segment.window);
            let gap = pair[1].at.since(pair[0].at);
            assert!(gap >= ms(300) || pair[1].segment.ack.0 >= edge, "{name}: {gap} before {}", pair[1].at);
        }
    }
}

#[test]
fn a_growing_window_is_advertised_with_the_next_ack() {
    for profile in Profile::ALL {
        let name = profile.name();
        let options = format!(
            r#"{{ "profile": "{name}", "ack_interval": "300 ms", "congestion": "none", "mss": "1000 B",
                  "receive_buffer": "1 MB", "window_scaling": true }}"#
        );
        let mut path = Path::new(serde_json::from_str::<Options>(&options).unwrap().resolve().unwrap(), 50);
        path.ends[CLIENT].open(Instant::ZERO);
        path.ends[CLIENT].write(20_000);
        path.flush(CLIENT);
        path.run_until(at(2_000));
        assert_eq!((path.ends[SERVER].received(), path.pure_acks(SERVER).len()), (20_000, 1), "{name}");
    }
}

#[test]
fn records_end_their_segments_and_stay_separate() {
    // 1,300 bytes: 512, 512, 276 with the mark; at most 508 in a segment with the mark's option.
    let config = Config { scps: Some(Scps { record_size: Some(Bytes(1_300)), ..Scps::default() }), ..free() };
    let lost = |sent: &Sent| sent.from == CLIENT && sent.segment.len > 0 && [2, 5, 6].contains(&sent.data_index);
    let mut path = Path::new(config, 50).bend(move |sent, delay| if lost(sent) { vec![] } else { vec![delay] });
    path.transfer(10 * 1_300 + 100);
    path.run();
    complete(&path, 13_100);
    for sent in path.data(CLIENT) {
        let end = sent.segment.seq.0 - 1_001 + u32::from(sent.segment.len);
        let ends = end % 1_300 == 0 || end == 13_100;
        assert_eq!(sent.segment.ends_record(), ends, "{:?}", sent.segment);
        assert_eq!(sent.segment.header_len(), if ends { 24 } else { 20 });
        assert!(sent.segment.header_len() + u32::from(sent.segment.len) <= 532);
        let start = end - u32::from(sent.segment.len);
        assert_eq!(start / 1_300, (end - 1) / 1_300, "no segment goes beyond a record");
    }
    assert_eq!(path.ends[SERVER].records(), 11);
}

#[test]
fn a_record_of_exactly_one_segment_is_shortened_by_its_mark() {
    let config = Config { scps: Some(Scps { record_size: Some(Bytes(512)), ..Scps::default() }), ..free() };
    let mut path = Path::new(config, 50);
    path.transfer(1_024);
    path.run();
    let lens: Vec<u16> = path.data(CLIENT).iter().map(|sent| sent.segment.len).collect();
    assert_eq!((lens, path.ends[SERVER].records()), (vec![508, 4, 508, 4], 2));
}

#[test]
fn reading_stops_at_the_end_of_a_record() {
    let config = Config { scps: Some(Scps { record_size: Some(Bytes(700)), ..Scps::default() }), ..free() };
    let mut path = Path::new(config, 50);
    path.ends[SERVER].read_later();
    path.transfer(1_500);
    path.run_until(at(1_000));
    let read: Vec<u64> = (0..5).map(|_| path.ends[SERVER].read_record(600)).collect();
    assert_eq!(read, [600, 100, 600, 100, 100]);
    assert_eq!(path.ends[SERVER].records(), 3);
}

#[test]
fn a_plain_peer_gets_neither_records_nor_options() {
    let config = Config { scps: Some(Scps { record_size: Some(Bytes(700)), ..Scps::default() }), ..free() };
    let mut path = Path::new(config, 50);
    path.ends[SERVER] = Connection::server(Arc::new(Profile::Rfc.config()), SeqNumber(5_000));
    path.transfer(10_000);
    path.run();
    complete(&path, 10_000);
    let beyond_syn = path.log.iter().filter(|sent| !sent.segment.flags.has(Flags::SYN));
    assert!(beyond_syn.clone().all(|sent| sent.segment.header_len() == 20), "no option after the SYN");
    assert_eq!(path.data(CLIENT).len(), 20);
}

#[test]
fn five_packets_and_then_one_every_2944_microseconds() {
    let mut path = Path::new(rated(1_500_000), 250);
    path.transfer(300 * 512);
    path.run();
    let times: Vec<u64> = path.data(CLIENT).iter().map(|sent| sent.at.as_nanos()).collect();
    // The ACK of the handshake took 40 of the 2,760 bytes of the bucket: the fifth packet waits for 40 · 8 / 1.5e6 s.
    assert_eq!((times[3], times[4]), (times[0], times[0] + 213_334));
    // The window of a SYN is not scaled: after 64 KiB the sender waits for the first ACK.
    for pair in times[6..120].windows(2).chain(times[140..].windows(2)) {
        assert_eq!(pair[1] - pair[0], 2_944_000);
    }
}

#[test]
fn acks_wait_for_tokens_and_then_report_the_newest_state() {
    // 12 bytes per second less than the ACKs need: 40 bytes each 100 ms are 3.2 kbit/s, and half of that is available.
    let rate = Rate::from_bps(1_500_000).unwrap();
    let ack_rate = Some(Rate::from_bps(1_600).unwrap());
    let config = Config {
        rate_control: Some(RateControl { rate, ack_rate, bucket: Some(Bytes(560)), release: Default::default() }),
        ..free()
    };
    let mut path = Path::new(config, 250);
    path.transfer(3_000 * 512);
    path.run();
    complete(&path, 3_000 * 512);
    let acks = path.pure_acks(SERVER);
    // After the bucket, one each 40 · 8 / 1600 = 200 ms.
    let gaps: Vec<u64> =
        acks.windows(2).map(|pair| (pair[1].at.as_nanos() - pair[0].at.as_nanos()) / 1_000_000).collect();
    assert!(gaps[35..gaps.len() - 3].iter().all(|gap| *gap == 200), "{gaps:?}");
    // None is stale: each acknowledges all data that had arrived.
    for ack in &acks {
        let arrived = path.data(CLIENT).iter().filter(|sent| sent.at + ms(250) <= ack.at).count() as u32;
        assert_eq!(ack.segment.ack.0 - 1_001, 512 * arrived);
    }
}

#[test]
fn a_route_is_shared() {
    let config = Arc::new(rated(1_500_000));
    let mut bucket = Bucket::new(Rate::from_bps(1_500_000).unwrap(), Bytes(2_760));
    let mut paths: Vec<Path> = (0..2)
        .map(|_| {
            let mut path = Path::new((*config).clone(), 250);
            path.ends[CLIENT].share(&mut bucket, 20);
            path
        })
        .collect();
    let mut bucket = Some(bucket);
    let mut lend = |path: &mut Path, what: &dyn Fn(&mut Path)| {
        path.bucket = bucket.take();
        what(path);
        bucket = path.bucket.take();
    };
    for path in &mut paths {
        lend(path, &|path| path.transfer(2_000 * 512));
    }
    // Both run on the same clock.
    for now in 1..5_000 {
        for path in &mut paths {
            lend(path, &|path| path.run_until(at(now)));
        }
    }
    let counts = [0, 1].map(|n: usize| paths[n].data(CLIENT).len() as f64);
    // 4.5 s at 339.7 packets per second.
    assert!((counts[0] + counts[1] - 339.7 * 4.5).abs() < 20.0, "{counts:?}");
    assert!((counts[0] / counts[1] - 1.0).abs() < 0.05, "{counts:?}");
}

#[test]
fn corruption_of_a_hundredth_changes_neither_window_nor_timeout() {
    let run = |loss_assumption| {
        let mut random = lightlag_core::RandomStream::new(7, "loss");
        let congestion = Choice::named("newreno");
        let config = Config { congestion, initial_window: 20, loss_assumption, ..rated(1_500_000) };
        let mut path = Path::new(config, 250).bend(move |sent, delay| {
            let lost = sent.from == CLIENT && sent.segment.len > 0 && random.uniform() < 0.01;
            if lost { vec![] } else { vec![delay] }
        });
        path.transfer(4_000 * 512);
        let (mut min_cwnd, mut timeout) = (u64::MAX, Duration::ZERO);
        while path.step() {
            let snapshot = path.ends[CLIENT].snapshot();
            if snapshot.snd_una > 1_000_000 && snapshot.snd_una < 1_900_000 {
                min_cwnd = min_cwnd.min(snapshot.cwnd);
                timeout = timeout.max(snapshot.rto);
            }
            if path.ends[SERVER].peer_closed() {
                break;
            }
        }
        complete(&path, 4_000 * 512);
        (min_cwnd, timeout, path.now)
    };
    let (window, timeout, end) = run(LossAssumption::Corruption);
    // It grew without a loss to the buffer of 300 kB, and never shrank; RTO = SRTT + max(4 RTTVAR, 0.1 s) < 1 s.
    assert!(window > 200_000 && timeout < ms(1_000), "{window} {timeout}");
    let (halved, _, later) = run(LossAssumption::Congestion);
    assert!(halved < 50_000 && later > end, "{halved} {later} {end}");
}

#[test]
fn snack_repairs_many_losses_of_a_window_in_a_round_trip_or_two() {
    // Every fifth of the first 200 segments is lost: forty holes, six per ACK, an ACK each 100 ms.
    let lost =
        |sent: &Sent| sent.from == CLIENT && sent.segment.len > 0 && sent.data_index < 200 && sent.data_index % 5 == 1;
    let finish = |snack| {
        let config = Config { scps: Some(Scps { snack, ..Scps::default() }), ..rated(1_500_000) };
        let mut path = Path::new(config, 250).bend(move |sent, delay| if lost(sent) { vec![] } else { vec![delay] });
        path.transfer(500 * 512);
        path.run();
        complete(&path, 500 * 512);
        let resent = path.ends[CLIENT].statistics().retransmitted_segments;
        let last = path.data(CLIENT).iter().map(|sent| sent.at).max().unwrap();
        (resent, last, path.ends[CLIENT].statistics().timeouts)
    };
    // 500 packets take 1.5 s, the handshake 0.5 s and the wait for the first scaled window 0.2 s. A bit vector reports
    // all holes together; without it the first six are repeated until they are repaired: seven round trips and ACK
    // intervals.
    for (form, max_ms) in [(SnackForm::Short, 5_000), (SnackForm::Long, 3_300)] {
        let (resent, last, timeouts) = finish(form);
        assert_eq!((resent, timeouts), (40, 0), "{form:?}");
        assert!(last < at(max_ms), "{form:?}: {last}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// In no interval of any run does an end send more than its token bucket permits, and all data arrives.
    #[test]
    fn a_run_keeps_to_its_rates(
        seed in any::<u64>(), loss in 0.0..0.2, kbps in 20_u64..5_000, ack_kbps in 2_u64..100, buffer in 2_000_u64..60_000,
        long in any::<bool>(), corruption in any::<bool>(), vegas in any::<bool>(), record in prop::option::of(1_u64..5_000),
    ) {
        let bps = |kbps: u64| Rate::from_bps(kbps * 1_000).unwrap();
        let control = RateControl { rate: bps(kbps), ack_rate: Some(bps(ack_kbps)), bucket: Some(Bytes(buffer)), release: Default::default() };
        let config = Config {
            congestion: Choice::named(if vegas { "vegas" } else { "none" }),
            rate_control: Some(control),
            loss_assumption: if corruption { LossAssumption::Corruption } else { LossAssumption::Congestion },
            scps: Some(Scps {
                snack: if long { SnackForm::Long } else { SnackForm::Short },
                record_size: record.map(Bytes),
                ..Scps::default()
            }),
            ..Profile::Scps.config()
        };
        let mut random = lightlag_core::RandomStream::new(seed, "path");
        let mut path = Path::new(config, 100).bend(move |_, delay| {
            if random.uniform() < loss { vec![] } else { vec![delay + ms((random.uniform() * 20.0) as u64)] }
        });
        path.transfer(100_000);
        path.run();
        if path.ends[CLIENT].statistics().failure.is_none() && path.ends[SERVER].statistics().failure.is_none() {
            prop_assert_eq!(path.ends[SERVER].received(), 100_000);
            if let Some(size) = record {
                prop_assert_eq!(path.ends[SERVER].records(), 100_000_u64.div_ceil(size));
            }
        } else {
            prop_assert!(loss > 0.1, "{loss}");
        }
        for (end, rate) in [(CLIENT, kbps), (SERVER, ack_kbps)] {
            let sent: Vec<_> = path.log.iter().filter(|sent| sent.from == end).collect();
            // The maximum over all intervals that end here, and the next: B + R t is linear.
            let mut debt = 0.0_f64;
            let mut last = Instant::ZERO;
            for packet in sent {
                debt = (debt - packet.at.since(last).as_secs_f64() * rate as f64 * 125.0).max(0.0) + wire_len(packet) as f64;
                last = packet.at;
                prop_assert!(debt <= buffer as f64 + 1e-3, "end {end}: {debt} above {buffer}");
            }
        }
    }
}

#[test]
fn the_profile_is_the_parameter_set_of_the_reference() {
    let config = Profile::Scps.config();
    assert_eq!((config.mss, config.receive_buffer, config.ack_interval), (512, Bytes(300_000), Some(ms(100))));
    assert_eq!((config.recovery, config.timestamps, config.window_scaling), (Scheme::Snack, false, true));
    assert_eq!(config.congestion, Choice::named("vegas"));
    assert_eq!(config.loss_assumption, LossAssumption::Corruption);
}

/// Returns a transfer over a path that is down for `seconds`, starting at 2 s. Packets that are sent or in transit
/// during that time are lost.
fn with_outage(config: Config, seconds: u64) -> Path {
    let out = at(2_000)..at(2_000 + 1_000 * seconds);
    let lost = move |sent: &Sent, delay| out.contains(&sent.at) || out.contains(&(sent.at + delay));
    let mut path = Path::new(config, 250).bend(move |sent, delay| if lost(sent, delay) { vec![] } else { vec![delay] });
    path.transfer(1_000_000);
    path
}

/// Returns the number of probes in an outage of `seconds`: the first after 1 s, the next ones 2, 4, 8, 16 and 32 s
/// later, and then one every 60 s.
fn probes_within(seconds: u64) -> u64 {
    let (mut wait, mut elapsed, mut count) = (1, 1, 0);
    while elapsed < seconds {
        count += 1;
        wait = (2 * wait).min(60);
        elapsed += wait;
    }
    count
}

#[test]
fn a_reported_outage_freezes_all_but_probes_until_its_end_is_reported() {
    let mut path = with_outage(rated(1_500_000), 300);
    path.run_until(at(2_000));
    let before = path.ends[CLIENT].snapshot();
    path.ends[CLIENT].link_lost(path.now);
    path.run_until(at(301_999));
    let silent: Vec<&Sent> = path.log.iter().filter(|sent| sent.from == CLIENT && sent.at > at(2_000)).collect();
    assert!(silent.iter().all(|sent| sent.segment.len == 0), "nothing but probes");
    assert_eq!(silent.len() as u64, probes_within(300));
    path.now = at(302_000);
    path.ends[CLIENT].link_restored(path.now);
    path.flush(CLIENT);
    let first = path.data(CLIENT).into_iter().find(|sent| sent.at >= at(302_000)).unwrap();
    assert_eq!((first.at, u64::from(first.segment.seq.0 - 1_001)), (at(302_000), before.snd_una));
    let after = path.ends[CLIENT].snapshot();
    assert_eq!((after.cwnd, after.ssthresh), (before.cwnd, before.ssthresh));
    path.run();
    complete(&path, 1_000_000);
    assert_eq!(path.ends[CLIENT].statistics().timeouts, 0);
    // No sample spans the outage.
    assert!(path.ends[CLIENT].snapshot().srtt < ms(1_500), "{}", path.ends[CLIENT].snapshot().srtt);
}

#[test]
fn an_unreported_outage_ends_with_the_reply_to_a_probe() {
    for seconds in [5, 60, 300, 600] {
        let mut path = with_outage(Config { outage_after: Some(2), ..rated(1_500_000) }, seconds);
        path.run();
        complete(&path, 1_000_000);
        let restored = at(2_000 + 1_000 * seconds);
        let resumed = path.data(CLIENT).iter().map(|sent| sent.at).find(|sent| *sent >= restored).unwrap();
        // At most an interval between probes, and a round trip.
        let interval = Duration::from_secs(seconds.min(60) + 1);
        assert!(resumed.since(restored) <= interval + ms(500), "{seconds} s: {}", resumed.since(restored));
        let statistics = path.ends[CLIENT].statistics();
        assert!(statistics.probes <= probes_within(seconds) + 1, "{seconds} s: {}", statistics.probes);
        assert!(statistics.timeouts <= 2, "{seconds} s: {}", statistics.timeouts);
    }
}

#[test]
fn any_segment_of_the_peer_ends_an_outage() {
    let mut path = Path::new(rated(1_500_000), 250);
    path.transfer(1_000_000);
    path.run_until(at(2_000));
    let una = path.ends[CLIENT].snapshot().snd_una;
    path.ends[CLIENT].link_lost(path.now);
    let srtt = path.ends[CLIENT].snapshot().srtt;
    assert!((ms(500)..ms(650)).contains(&srtt), "{srtt}");
    // A segment that arrives within a round trip may have been sent before the link was lost: it is accepted, and no
    // data is sent.
    path.run_until(at(1_999) + srtt);
    assert!(path.data(CLIENT).last().unwrap().at <= at(2_000));
    assert!(path.ends[CLIENT].snapshot().snd_una > una + 50_000);
    // There was no outage: the first ACK after that, or the reply to the first probe, shows it.
    path.run_until(at(3_600));
    assert!(path.data(CLIENT).last().unwrap().at > at(2_000) + srtt);
    path.run();
    complete(&path, 1_000_000);
}
