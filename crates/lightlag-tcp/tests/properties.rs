//! Whatever a path does to segments, every byte arrives once and in order, and every connection terminates.

mod path;

use lightlag_control::congestion::Choice;
use lightlag_core::{Duration, RandomStream};
use lightlag_tcp::config::{DelayedAck, Growth, RttSamples, Scheme};
use lightlag_tcp::segment::SeqNumber;
use lightlag_tcp::{Config, Failure, Profile, State};
use path::{CLIENT, Path, SERVER};
use proptest::prelude::*;

fn configs() -> impl Strategy<Value = Config> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let profile = prop::sample::select(&Profile::ALL[..]);
    let scheme = prop::sample::select(&[Scheme::Reno, Scheme::NewReno, Scheme::Sack][..]);
    let growth = prop::sample::select(&[Growth::PerAck, Growth::PerSegment, Growth::Abc(2)][..]);
    let samples = prop::sample::select(&[RttSamples::SendTime, RttSamples::Timestamp, RttSamples::OnePerRound][..]);
    let delayed = prop::option::of(1u16..4);
    let buffer = prop::sample::select(&[1_500_u64, 4_000, 20_000, 65_536, 1 << 20][..]);
    let congestion = prop::sample::select(&["newreno", "cubic", "peach", "peach+"][..]);
    (profile, switches, scheme, growth, samples, delayed, buffer, congestion).prop_map(
        |(
            profile,
            (sack, timestamps, scaling, limited_transmit, nagle),
            recovery,
            growth,
            rtt_samples,
            delayed,
            buffer,
            congestion,
        )| {
            Config {
                congestion: Choice::named(congestion),
                sack,
                timestamps,
                window_scaling: scaling,
                limited_transmit,
                nagle,
                recovery,
                growth,
                rtt_samples,
                delayed_ack: delayed.map(|segments| DelayedAck {
                    segments,
                    timeout: Duration::from_millis(150),
                    quick: 0,
                    adaptive: false,
                }),
                receive_buffer: lightlag_core::Bytes(buffer),
                retries: 60,
                syn_retries: 60,
                ..profile.config()
            }
        },
    )
}

/// Returns a path that randomly loses, duplicates and delays segments.
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

    #[test]
    fn every_byte_arrives_once_and_in_order(
        config in configs(),
        seed in any::<u64>(),
        loss in 0.0..0.35f64,
        duplicate in 0.0..0.3f64,
        jitter_ms in prop::sample::select(&[0.0, 1.0, 20.0, 200.0][..]),
        bytes in 1u64..120_000,
        numbers in (any::<u32>(), any::<u32>()),
    ) {
        let mut path = random_path(config, seed, loss, duplicate, jitter_ms, numbers);
        path.transfer(bytes);
        let mut received = 0;
        let mut steps = 0;
        loop {
            if path.ends[SERVER].state() == State::CloseWait {
                path.ends[SERVER].close();
                path.flush(SERVER);
            }
            let unfinished = path.ends[SERVER].received() < bytes;
            let alive = path.step();
            prop_assert!(alive || !unfinished, "nothing will happen, but {received} of {bytes} bytes arrived");
            prop_assert!(path.ends[SERVER].received() >= received && path.ends[SERVER].received() <= bytes);
            received = path.ends[SERVER].received();
            steps += 1;
            prop_assert!(steps < 200_000, "no end: {received} of {bytes}");
            if !alive {
                break;
            }
        }
        prop_assert_eq!(received, bytes);
        for end in &path.ends {
            prop_assert_eq!(end.state(), State::Closed);
        }
        prop_assert_eq!(path.ends[CLIENT].statistics().failure, None::<Failure>);
    }

    /// Closing before the handshake, with nothing to send, ends the connection (RFC 9293 §3.10.4).
    #[test]
    fn an_endpoint_without_data_that_closes_immediately_sends_nothing(config in configs()) {
        let mut path = random_path(config, 0, 0.0, 0.0, 0.0, (0, 0));
        path.transfer(0);
        prop_assert!(!path.step());
        prop_assert!(path.log.is_empty());
        prop_assert_eq!([path.ends[CLIENT].state(), path.ends[SERVER].state()], [State::Closed, State::Listen]);
    }

    /// The initial sequence numbers do not matter.
    #[test]
    fn a_trace_does_not_depend_on_the_initial_numbers(
        config in configs(), seed in any::<u64>(), loss in 0.0..0.2f64, client in any::<u32>(), server in any::<u32>()
    ) {
        let trace = |numbers| {
            let mut path = random_path(config.clone(), seed, loss, 0.1, 20.0, numbers);
            path.transfer(60_000);
            path.run();
            path.log.iter().map(|sent| (sent.at, sent.from, sent.segment.len, sent.segment.window, sent.segment.sack().len())).collect::<Vec<_>>()
        };
        prop_assert_eq!(trace((0, 0)), trace((client, server)));
    }

    /// Data in both directions simultaneously. An end that closes before the connection is open must have data to send,
    /// or the connection never opens.
    #[test]
    fn both_directions_carry_data_simultaneously(
        config in configs(), seed in any::<u64>(), loss in 0.0..0.2f64, there in 1u64..50_000, back in 1u64..50_000
    ) {
        let mut path = random_path(config, seed, loss, 0.1, 20.0, (7, 7));
        path.ends[SERVER].write(back);
        path.ends[SERVER].close();
        path.transfer(there);
        for _ in 0..200_000 {
            if !path.step() {
                break;
            }
        }
        prop_assert_eq!((path.ends[SERVER].received(), path.ends[CLIENT].received()), (there, back));
    }
}

#[test]
fn endpoints_that_probe_and_have_filled_each_others_windows_resume() {
    // ACKs at a fixed interval acknowledge data and low-priority probes together, and are sent from the right edge of
    // the window.
    let config = Config {
        congestion: Choice::named("peach"),
        timestamps: true,
        window_scaling: false,
        receive_buffer: lightlag_core::Bytes(4_000),
        recovery: Scheme::Reno,
        sack: false,
        rtt_samples: RttSamples::SendTime,
        growth: Growth::PerAck,
        limited_transmit: true,
        nagle: false,
        delayed_ack: None,
        syn_retries: 60,
        retries: 60,
        ..Profile::Scps.config()
    };
    let mut path = random_path(config, 17_875_421_558_853_479_059, 0.174_953_199_190_414_4, 0.1, 20.0, (7, 7));
    path.ends[SERVER].write(7_999);
    path.ends[SERVER].close();
    path.transfer(4_499);
    path.run();
    assert_eq!((path.ends[SERVER].received(), path.ends[CLIENT].received()), (4_499, 7_999));
}

#[test]
fn endpoints_whose_windows_are_full_in_both_directions_resume() {
    let config = Config {
        congestion: Choice::named("newreno"),
        timestamps: false,
        window_scaling: false,
        receive_buffer: lightlag_core::Bytes(4_000),
        recovery: Scheme::Reno,
        sack: false,
        delayed_ack: None,
        syn_retries: 60,
        retries: 60,
        ..Profile::Ns2Linux.config()
    };
    let mut path = random_path(config, 10_239_213_160_518_629_740, 0.047_284_301_888_287_52, 0.1, 20.0, (7, 7));
    path.ends[SERVER].write(7_999);
    path.ends[SERVER].close();
    path.transfer(21_999);
    for _ in 0..200_000 {
        if !path.step() {
            break;
        }
    }
    assert_eq!((path.ends[SERVER].received(), path.ends[CLIENT].received()), (21_999, 7_999));
}
