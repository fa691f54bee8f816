//! Rate control: in no interval of any run does an end send more than its token bucket permits, whatever it sends.

mod path;

use lightlag_control::congestion::catalog;
use lightlag_core::{Bytes, Instant, RandomStream, Rate};
use lightlag_tcp::config::{Config, RateControl};
use lightlag_tcp::ecn::EcnMode;
use lightlag_tcp::segment::Flags;
use lightlag_tcp::{Options, Profile};
use path::{CLIENT, Path, SERVER, Sent};

const BUCKET: u64 = 4_000;
const KBPS: u64 = 400;
const ACK_KBPS: u64 = 30;

fn rate(kbps: u64) -> Rate {
    Rate::from_bps(kbps * 1_000).unwrap()
}

/// Returns the configuration of these options, with a token bucket for all outgoing segments.
fn rated(options: &str) -> Config {
    let options: Options = serde_json::from_str(options).unwrap();
    let control = RateControl {
        rate: rate(KBPS),
        ack_rate: Some(rate(ACK_KBPS)),
        bucket: Some(Bytes(BUCKET)),
        release: Default::default(),
    };
    Config { rate_control: Some(control), ..options.resolve().unwrap() }
}

/// Transfers 400 kB over a path with a delay of 100 ms in each direction and random loss. ECN-capable packets are
/// marked in alternating runs of 20.
fn transfer(config: Config, loss: f64) -> Path {
    let (mut random, mut count) = (RandomStream::new(5, "loss"), 0);
    let mut path = Path::new(config, 100)
        .bend(move |_, delay| if random.uniform() < loss { vec![] } else { vec![delay] })
        .mark(move |_| {
            count += 1;
            count / 20 % 2 == 1
        });
    path.transfer(400_000);
    path.run();
    path
}

fn wire_len(sent: &Sent) -> u64 {
    u64::from(20 + sent.segment.header_len() + u32::from(sent.segment.len))
}

/// Returns by how many bytes the busiest interval exceeded the rate.
fn debt(path: &Path, end: usize, kbps: u64) -> f64 {
    let (mut debt, mut max_debt, mut last) = (0.0_f64, 0.0_f64, Instant::ZERO);
    for packet in path.log.iter().filter(|sent| sent.from == end) {
        let earned = packet.at.since(last).as_secs_f64() * kbps as f64 * 125.0;
        debt = (debt - earned).max(0.0) + wire_len(packet) as f64;
        (last, max_debt) = (packet.at, max_debt.max(debt));
    }
    max_debt
}

fn assert_conforms(path: &Path, what: &str) {
    for (end, kbps) in [(CLIENT, KBPS), (SERVER, ACK_KBPS)] {
        let debt = debt(path, end, kbps);
        assert!(debt <= BUCKET as f64 + 1e-3, "{what}, end {end}: {debt} B beyond the rate, {BUCKET} in the bucket");
    }
    assert_eq!(path.ends[SERVER].received(), 400_000, "{what}");
}

#[test]
fn every_algorithm_keeps_to_its_bucket() {
    for name in catalog().iter().map(|entry| entry.name) {
        for profile in ["rfc", "linux"] {
            let options = format!(r#"{{ "profile": "{profile}", "congestion": "{name}", "mss": "1000 B" }}"#);
            assert_conforms(&transfer(rated(&options), 0.01), &format!("{name}, {profile}"));
        }
    }
}

#[test]
fn every_profile_and_every_form_of_ecn_keeps_to_its_bucket() {
    for profile in Profile::ALL.map(Profile::name) {
        for more in ["", r#", "ecn": "classic""#, r#", "ecn": "accecn""#, r#", "timestamps": true"#] {
            let options = format!(r#"{{ "profile": "{profile}", "mss": "1000 B"{more} }}"#);
            assert_conforms(&transfer(rated(&options), 0.02), &format!("{profile}{more}"));
        }
    }
}

#[test]
fn segments_of_low_priority_and_acks_of_changed_marks_were_there() {
    let peach = transfer(rated(r#"{ "profile": "rfc", "congestion": "peach", "mss": "1000 B" }"#), 0.01);
    let low = peach.log.iter().filter(|sent| sent.segment.flags.has(Flags::LOW)).count();
    assert!(low > 20, "{low}");
    let exact = rated(r#"{ "profile": "rfc", "congestion": "dctcp", "mss": "1000 B" }"#);
    assert_eq!(exact.ecn, EcnMode::Classic);
    let dctcp = transfer(exact, 0.0);
    // Where marks start and end, with an ACK delayed: two ACKs simultaneously, and the first reports the old state.
    let acks: Vec<_> = dctcp.log.iter().filter(|sent| sent.from == SERVER && sent.segment.len == 0).collect();
    let turns = acks.windows(2).filter(|pair| {
        let echoes = |sent: &Sent| sent.segment.flags.has(Flags::ECE);
        echoes(pair[0]) != echoes(pair[1])
    });
    assert!(turns.count() > 5);
}

/// Returns the time of each burst of data segments, and the number of its segments.
fn bursts(path: &Path) -> Vec<(Instant, usize)> {
    let mut bursts: Vec<(Instant, usize)> = Vec::new();
    for sent in path.log.iter().filter(|sent| sent.from == CLIENT && sent.segment.len > 0) {
        match bursts.last_mut() {
            Some((at, count)) if *at == sent.at => *count += 1,
            _ => bursts.push((sent.at, 1)),
        }
    }
    bursts
}

/// Runs SCPS-TP without congestion control at 400 kbit/s, with a bucket of five packets of 1000 B and this value of
/// `release`.
fn released(release: &str, delay_ms: u64) -> Path {
    let options = format!(
        r#"{{ "profile": "scps", "congestion": "none", "mss": "960 B", "ack_interval": "150 ms",
              "rate_control": {{ "rate": "400 kbit/s", "bucket": "5000 B", "release": "{release}" }} }}"#
    );
    let options: Options = serde_json::from_str(&options).unwrap();
    let mut path = Path::new(options.resolve().unwrap(), delay_ms);
    path.transfer(96_000);
    path.run();
    path
}

#[test]
fn an_ack_releases_the_tokens_of_the_bucket_and_nothing_is_sent_between_acks() {
    // Five packets are sent, and five more with each ACK: 100 ms are 5000 B, and an ACK arrives after 150 ms and a
    // round trip.
    let path = released("acks", 50);
    let bursts = bursts(&path);
    let acks: Vec<Instant> = path
        .log
        .iter()
        .filter(|sent| sent.from == SERVER && sent.segment.len == 0)
        .map(|sent| sent.at + lightlag_core::Duration::from_millis(50))
        .collect();
    assert!(bursts.iter().skip(1).all(|(at, _)| acks.contains(at)), "{bursts:?}");
    assert!(bursts.iter().skip(1).take(bursts.len() - 2).all(|(_, count)| *count == 5), "{bursts:?}");
    assert_eq!(path.ends[SERVER].received(), 96_000);
    // Released by tokens, one is sent every 20 ms.
    let steady = released("tokens", 50);
    assert!(steady.now < path.now);
    assert!(self::bursts(&steady).iter().skip(1).all(|(_, count)| *count == 1));
}

#[test]
fn data_that_waits_for_acks_arrives_whatever_is_lost() {
    // Scarce tokens: repairs also wait for them after a timeout, when no timer runs.
    for profile in Profile::ALL.map(Profile::name) {
        for more in ["", r#", "pacing": true"#] {
            for loss in [0.05, 0.2] {
                let options = format!(
                    r#"{{ "profile": "{profile}", "congestion": "newreno", "mss": "1000 B"{more},
                          "rate_control": {{ "rate": "20 kbit/s", "bucket": "3000 B", "release": "acks" }} }}"#
                );
                let options: Options = serde_json::from_str(&options).unwrap();
                for seed in 1..=5 {
                    let mut random = RandomStream::new(seed, "loss");
                    let mut path = Path::new(options.resolve().unwrap(), 1)
                        .bend(move |_, delay| if random.uniform() < loss { vec![] } else { vec![delay] });
                    path.transfer(60_000);
                    path.run();
                    assert_eq!(path.ends[SERVER].received(), 60_000, "{profile}{more}, loss {loss}, seed {seed}");
                }
            }
        }
    }
}

#[test]
fn data_without_an_expected_ack_is_sent_with_its_tokens() {
    // A bucket of one packet and a round trip shorter than the time for its tokens: no ACK finds any, and no further
    // ACK follows.
    let options = r#"{ "profile": "scps", "congestion": "none", "mss": "960 B", "ack_interval": "0 s",
        "rate_control": { "rate": "8 kbit/s", "bucket": "1000 B", "release": "acks" } }"#;
    let options: Options = serde_json::from_str(options).unwrap();
    let mut path = Path::new(options.resolve().unwrap(), 1);
    path.transfer(9_600);
    path.run();
    assert_eq!(path.ends[SERVER].received(), 9_600);
    // Ten packets at one per second; nothing was sent twice.
    assert_eq!(path.log.iter().filter(|sent| sent.from == CLIENT && sent.segment.len > 0).count(), 10);
}

#[test]
fn resets_also_wait_for_their_tokens() {
    let config = Config {
        rate_control: Some(RateControl {
            rate: rate(1),
            ack_rate: None,
            bucket: Some(Bytes(1_040)),
            release: Default::default(),
        }),
        ..rated(r#"{ "profile": "rfc", "mss": "1000 B" }"#)
    };
    let mut path = Path::new(config, 10);
    path.transfer(50_000);
    path.run_until(Instant::ZERO + lightlag_core::Duration::from_secs(20));
    let sent = path.log.len();
    path.ends[CLIENT].abort();
    path.flush(CLIENT);
    path.run_until(Instant::ZERO + lightlag_core::Duration::from_secs(40));
    let reset = path.log[sent..].iter().find(|sent| sent.segment.flags.has(Flags::RST)).unwrap();
    assert!(debt(&path, CLIENT, 1) <= 1_040.0, "{} {}", reset.at, debt(&path, CLIENT, 1));
}
