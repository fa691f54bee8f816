//! Compressed headers of SCPS-TP over a path: every byte arrives once and in order, and headers have the sizes of the
//! reference implementation.

mod path;

use lightlag_control::congestion::Choice;
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Rate};
use lightlag_tcp::config::{LossAssumption, Probe, RateControl, Scps, SnackForm};
use lightlag_tcp::segment::{Flags, SeqNumber};
use lightlag_tcp::{Config, Connection, Failure, Options, Profile, Scheme, State};
use path::{CLIENT, Path, SERVER, Sent};
use proptest::prelude::*;
use std::sync::Arc;

fn free() -> Config {
    let scps = Some(Scps { compression: true, ..Scps::default() });
    let loss_assumption = LossAssumption::Congestion;
    Config { congestion: Choice::named("none"), scps, loss_assumption, ..Profile::Scps.config() }
}

/// Returns the total size of IPv4 header, TCP header and payload, in bytes.
fn wire_len(sent: &Sent) -> u64 {
    u64::from(20 + sent.segment.header_len() + u32::from(sent.segment.len))
}

/// Checks that a segment outside the handshake is compressed, and that its header has the size of the reference
/// implementation.
fn has_the_sizes_of_the_reference(sent: &Sent) {
    let segment = &sent.segment;
    let len = segment.header_len();
    if segment.flags.has(Flags::SYN) {
        return assert!(!segment.is_compressed(), "{segment:?}");
    }
    let stamps = if segment.timestamps().is_some() { 8 } else { 0 };
    let fin = segment.flags.has(Flags::FIN);
    let expected = match (segment.len > 0, fin, segment.snacks().count() as u32) {
        (true, false, _) => 8 + stamps,
        (true, true, _) => 10 + stamps,
        (false, true, _) => 16 + stamps,
        (false, false, 0) if segment.experienced_corruption() => 14 + stamps,
        (false, false, 0) => 10 + stamps,
        (false, false, holes) => {
            let vector = segment.snack_vector().len() as u32;
            let corruption = if segment.experienced_corruption() { 2 } else { 0 };
            (12 + stamps + 6 * holes + vector + corruption).next_multiple_of(2)
        }
    };
    let number = if segment.len == 0 && !fin && segment.is_numbered() { 4 } else { 0 };
    assert!(segment.is_compressed(), "{segment:?}");
    assert_eq!(len, expected + number, "{segment:?}");
    assert_eq!(segment.flags.has(Flags::ACK), segment.len == 0, "{segment:?}");
}

#[test]
fn every_segment_of_a_transfer_has_the_size_of_the_reference() {
    for timestamps in [false, true] {
        let lost =
            |sent: &Sent| sent.from == CLIENT && sent.segment.len > 0 && [30, 200, 203].contains(&sent.data_index);
        let config = Config { timestamps, ..free() };
        let mut path = Path::new(config, 50).bend(move |sent, delay| if lost(sent) { vec![] } else { vec![delay] });
        path.transfer(300_000);
        path.run();
        assert_eq!(path.ends[SERVER].received(), 300_000);
        path.log.iter().for_each(has_the_sizes_of_the_reference);
        let seen = |wanted: u32| path.log.iter().any(|sent| sent.segment.header_len() == wanted);
        let sizes: &[u32] = if timestamps { &[16, 18, 26, 32] } else { &[8, 10, 18, 24] };
        assert!(sizes.iter().all(|size| seen(*size)), "{timestamps}");
        // Full packets are as long as plain ones: 552 bytes, of which 12, or 4 with timestamps, are more payload.
        let full = path.data(CLIENT).iter().map(wire_len).max();
        assert_eq!((full, path.data(CLIENT)[0].segment.len), (Some(552), if timestamps { 516 } else { 524 }));
    }
}

#[test]
fn either_end_alone_leaves_headers_plain() {
    for end in [CLIENT, SERVER] {
        let plain = Arc::new(Profile::Scps.config());
        let mut path = Path::new(free(), 50);
        path.ends[end] = match end {
            CLIENT => Connection::client(plain, SeqNumber(1_000)),
            _ => Connection::server(plain, SeqNumber(5_000)),
        };
        path.transfer(100_000);
        path.run();
        assert_eq!(path.ends[SERVER].received(), 100_000);
        assert!(path.log.iter().all(|sent| !sent.segment.is_compressed()));
        assert_eq!(path.data(CLIENT)[0].segment.len, 512);
    }
}

#[test]
fn records_cost_nothing() {
    let scps = Some(Scps { compression: true, record_size: Some(Bytes(524)), ..Scps::default() });
    let mut path = Path::new(Config { scps, ..free() }, 50);
    path.transfer(52_400);
    path.run();
    let data = path.data(CLIENT);
    assert_eq!((data.len(), path.ends[SERVER].records()), (100, 100));
    assert!(data[..99].iter().all(|sent| sent.segment.ends_record() && wire_len(sent) == 552));
}

#[test]
fn plain_and_compressed_transfers_take_as_long_as_their_bytes() {
    // Rate control alone, at many sizes: 500 full packets wait for tokens, so that goodput is rate · payload / packet.
    for mss in [64_u16, 128, 256, 512, 1_024] {
        for timestamps in [false, true] {
            let goodput = |compression: bool| {
                let rate = Rate::from_bps(1_000_000).unwrap();
                let config = Config {
                    mss,
                    timestamps,
                    scps: Some(Scps { compression, ..Scps::default() }),
                    rate_control: Some(RateControl {
                        rate,
                        ack_rate: None,
                        bucket: Some(Bytes(1_500)),
                        release: Default::default(),
                    }),
                    ..free()
                };
                let mut path = Path::new(config, 20);
                path.transfer(3_000 * u64::from(mss));
                path.run();
                let data = path.data(CLIENT);
                let (first, last) = (&data[100], &data[data.len() - 50]);
                let bytes = last.segment.seq.0 - first.segment.seq.0;
                f64::from(bytes) * 8.0 / last.at.since(first.at).as_secs_f64()
            };
            let (packet, plain, short) =
                (f64::from(mss) + 40.0, if timestamps { 52.0 } else { 40.0 }, if timestamps { 36.0 } else { 28.0 });
            let expected = (packet - short) / (packet - plain);
            let gain = goodput(true) / goodput(false);
            assert!((gain / expected - 1.0).abs() < 0.01, "MSS {mss}, timestamps {timestamps}: {gain}, {expected}");
        }
    }
}

#[test]
fn a_closed_window_opens_again() {
    for probe in [Probe::Empty, Probe::Byte] {
        // Window updates are lost for a long time: probes recover them, in both directions.
        let config = Config { probe, receive_buffer: Bytes(4_000), ..free() };
        let mut path = Path::new(config, 50).bend(|sent, delay| {
            let update = sent.segment.len == 0 && sent.at > Instant::from_nanos(3_000_000_000);
            if update && sent.at < Instant::from_nanos(30_000_000_000) { vec![] } else { vec![delay] }
        });
        for end in [CLIENT, SERVER] {
            path.ends[end].read_later();
        }
        path.ends[SERVER].write(20_000);
        path.ends[SERVER].close();
        path.transfer(20_000);
        let mut read = [0, 0];
        for second in 1..400 {
            path.run_until(Instant::ZERO + Duration::from_millis(1_500 * second));
            for end in [CLIENT, SERVER] {
                read[end] += path.ends[end].read(10_000);
                path.flush(end);
            }
        }
        assert_eq!(read, [20_000, 20_000], "{probe:?}");
        path.log.iter().for_each(has_the_sizes_of_the_reference);
    }
}

#[test]
fn options_that_a_compressed_header_cannot_carry_are_rejected() {
    let read = |text: &str| serde_json::from_str::<Options>(text).unwrap().resolve();
    let error = read(r#"{ "profile": "scps", "scps": { "compression": true }, "ecn": "classic" }"#).unwrap_err();
    assert_eq!(error.key, "scps.compression");
    assert!(error.message.contains("ECN bits") && error.message.contains("set ecn = \"off\""), "{}", error.message);
    assert!(read(r#"{ "profile": "scps", "scps": { "compression": true }, "congestion": "dctcp" }"#).is_err());
    let error = read(r#"{ "profile": "scps", "scps": { "compression": true }, "congestion": "peach" }"#).unwrap_err();
    assert_eq!((error.key.as_str(), error.message.contains("low priority")), ("scps.compression", true));
    let merged = read(r#"{ "profile": "linux", "scps": { "compression": true } }"#).unwrap();
    assert!(merged.scps.unwrap().compression);
    assert!(!read(r#"{ "profile": "scps" }"#).unwrap().scps.unwrap().compression);
}

/// Generates configurations that negotiate compression.
fn configs() -> impl Strategy<Value = Config> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let form = prop::sample::select(&[SnackForm::Off, SnackForm::Short, SnackForm::Long][..]);
    let profile =
        prop::sample::select(&[Profile::Scps, Profile::Scps, Profile::Linux, Profile::Rfc, Profile::Inet][..]);
    let congestion = prop::sample::select(&["none", "vegas", "newreno", "cubic", "hybla"][..]);
    let buffer = prop::sample::select(&[1_500_u64, 4_000, 20_000, 65_536, 300_000][..]);
    let interval = 1_u64..300;
    let record = prop::option::of(1_u64..5_000);
    let mss = prop::sample::select(&[100_u16, 512, 1_000, 1_460][..]);
    (profile, form, switches, congestion, buffer, (interval, record, mss)).prop_map(
        |(
            profile,
            snack,
            (timestamps, sack, scaling, corruption, payload),
            congestion,
            buffer,
            (interval, record, mss),
        )| {
            let mut base = profile.config();
            base.rto.variance_floor = base.rto.variance_floor.max(Duration::from_millis(interval));
            Config {
                congestion: Choice::named(congestion),
                timestamps,
                sack,
                window_scaling: scaling,
                mss,
                mss_is_payload: payload,
                receive_buffer: Bytes(buffer),
                receive_buffer_initial: None,
                recovery: match (snack, sack) {
                    (SnackForm::Off, true) => Scheme::Sack,
                    (SnackForm::Off, false) => Scheme::NewReno,
                    _ => Scheme::Snack,
                },
                loss_assumption: if corruption { LossAssumption::Corruption } else { LossAssumption::Congestion },
                // SNACK is designed for few ACKs.
                ack_interval: (snack != SnackForm::Off).then(|| Duration::from_millis(interval)),
                scps: Some(Scps { snack, record_size: record.map(Bytes), compression: true, ..Scps::default() }),
                retries: 60,
                syn_retries: 60,
                ..base
            }
        },
    )
}

fn random_path(config: Config, seed: u64, loss: f64, duplicate: f64, jitter_ms: f64, numbers: (u32, u32)) -> Path {
    let mut random = RandomStream::new(seed, "path");
    let (client, server) = (SeqNumber(numbers.0), SeqNumber(numbers.1));
    Path::with_numbers(config, 30, client, server).bend(move |_, delay| {
        let copies = if random.uniform() < loss { 0 } else { 1 + usize::from(random.uniform() < duplicate) };
        (0..copies).map(|_| delay + Duration::from_secs_f64(random.uniform() * jitter_ms / 1e3)).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a path does, all data in both directions arrives once and in order, and both ends terminate.
    #[test]
    fn both_directions_arrive_once_and_in_order(
        config in configs(),
        seed in any::<u64>(),
        loss in 0.0..0.3f64,
        duplicate in 0.0..0.2f64,
        jitter_ms in prop::sample::select(&[0.0, 1.0, 20.0, 200.0][..]),
        there in 1_u64..60_000,
        back in 1_u64..60_000,
        numbers in (any::<u32>(), any::<u32>()),
    ) {
        let records = config.scps.and_then(|scps| scps.record_size);
        let mut path = random_path(config, seed, loss, duplicate, jitter_ms, numbers);
        path.ends[SERVER].write(back);
        path.ends[SERVER].close();
        path.transfer(there);
        let (mut steps, mut before) = (0, [0, 0]);
        while path.step() {
            let now = [path.ends[SERVER].received(), path.ends[CLIENT].received()];
            prop_assert!(now[0] >= before[0] && now[1] >= before[1] && now[0] <= there && now[1] <= back);
            before = now;
            steps += 1;
            // Records of one byte are segments of their own, up to 120,000 of them, with copies, losses and ACKs.
            prop_assert!(steps < 2_000_000, "no end: {before:?} of {there}, {back}");
        }
        prop_assert_eq!(before, [there, back]);
        for end in &path.ends {
            prop_assert_eq!(end.state(), State::Closed);
            // An end that closed first and waited long enough does not acknowledge the peer's last FIN: it has no ID
            // any more.
            prop_assert!(matches!(end.statistics().failure, None | Some(Failure::Timeout)), "{:?}", end.statistics());
        }
        if let Some(size) = records {
            prop_assert_eq!(path.ends[SERVER].records(), there.div_ceil(size.0));
            prop_assert_eq!(path.ends[CLIENT].records(), back.div_ceil(size.0));
        }
        for sent in path.log.iter().filter(|sent| !sent.segment.flags.has(Flags::SYN)) {
            prop_assert!(sent.segment.is_compressed(), "{:?}", sent.segment);
            if sent.segment.sack().is_empty() {
                has_the_sizes_of_the_reference(sent);
            }
        }
    }

    /// The initial sequence numbers do not matter, even though headers leave out sequence numbers.
    #[test]
    fn a_trace_does_not_depend_on_the_initial_numbers(
        config in configs(), seed in any::<u64>(), loss in 0.0..0.2f64, client in any::<u32>(), server in any::<u32>()
    ) {
        let trace = |numbers| {
            let mut path = random_path(config.clone(), seed, loss, 0.1, 20.0, numbers);
            path.ends[SERVER].write(20_000);
            path.ends[SERVER].close();
            path.transfer(30_000);
            path.run();
            path.log.iter().map(|sent| (sent.at, sent.from, sent.segment.len, sent.segment.window)).collect::<Vec<_>>()
        };
        prop_assert_eq!(trace((0, 0)), trace((client, server)));
    }

    /// In no interval does an end send more than its token bucket permits, counted in bytes of compressed packets.
    #[test]
    fn a_run_keeps_to_its_rates(
        seed in any::<u64>(), loss in 0.0..0.1, kbps in 20_u64..5_000, ack_kbps in 2_u64..100, buffer in 2_000_u64..20_000,
        long in any::<bool>(), timestamps in any::<bool>(), back in 1_u64..5_000, record in prop::option::of(1_u64..5_000),
    ) {
        let bps = |kbps: u64| Rate::from_bps(kbps * 1_000).unwrap();
        let control = RateControl { rate: bps(kbps), ack_rate: Some(bps(ack_kbps)), bucket: Some(Bytes(buffer)), release: Default::default() };
        let snack = if long { SnackForm::Long } else { SnackForm::Short };
        let scps = Some(Scps { snack, record_size: record.map(Bytes), compression: true, ..Scps::default() });
        let config = Config { rate_control: Some(control), timestamps, scps, ..free() };
        let mut path = random_path(config, seed, loss, 0.0, 20.0, (7, 7));
        path.ends[SERVER].write(back);
        path.ends[SERVER].close();
        path.transfer(50_000);
        path.run();
        prop_assert_eq!((path.ends[SERVER].received(), path.ends[CLIENT].received()), (50_000, back));
        for (end, rate) in [(CLIENT, kbps), (SERVER, ack_kbps)] {
            let (mut debt, mut last) = (0.0_f64, Instant::ZERO);
            for packet in path.log.iter().filter(|sent| sent.from == end) {
                debt = (debt - packet.at.since(last).as_secs_f64() * rate as f64 * 125.0).max(0.0) + wire_len(packet) as f64;
                last = packet.at;
                prop_assert!(debt <= buffer as f64 + 1e-3, "end {end}: {debt} above {buffer}");
            }
        }
    }
}
