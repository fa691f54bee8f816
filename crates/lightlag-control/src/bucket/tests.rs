use super::*;
use proptest::prelude::*;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

/// Returns a bucket with only one connection.
fn alone(kbps: u64, size: u64) -> (Bucket, BucketUser) {
    let mut bucket = Bucket::new(Rate::from_bps(kbps * 1_000).unwrap(), Bytes(size));
    let member = bucket.join(20);
    (bucket, member)
}

#[test]
fn a_bucket_of_five_packets_sends_five_and_then_one_every_2944_microseconds() {
    // 552 bytes at 1.5 Mbit/s: 552 · 8 / 1.5e6 = 2.944 ms.
    let (mut bucket, member) = alone(1_500, 2_760);
    for _ in 0..5 {
        assert_eq!(bucket.ask(at(0), member, 532), Ok(()));
    }
    for n in 1..100 {
        let ready = at(n * 2_944_000);
        assert_eq!(bucket.ask(at((n - 1) * 2_944_000), member, 532), Err(ready));
        assert_eq!(bucket.ask(ready, member, 532), Ok(()));
    }
}

#[test]
fn an_idle_route_saves_no_more_than_its_bucket() {
    let (mut bucket, member) = alone(8, 1_000);
    for _ in 0..2 {
        assert_eq!(bucket.ask(at(3_600_000_000_000), member, 480), Ok(()));
    }
    assert_eq!(bucket.ask(at(3_600_000_000_000), member, 480), Err(at(3_600_500_000_000)));
}

#[test]
fn the_longest_waiter_goes_first() {
    let mut bucket = Bucket::new(Rate::from_bps(8_000).unwrap(), Bytes(1_000));
    let [first, second] = [bucket.join(0), bucket.join(0)];
    assert_eq!(bucket.ask(at(0), first, 1_000), Ok(()));
    // 1 ms a byte.
    assert_eq!(bucket.ask(at(0), first, 500), Err(at(500_000_000)));
    assert_eq!(bucket.ask(at(0), second, 100), Err(at(600_000_000)));
    assert_eq!(bucket.ask(at(500_000_000), second, 100), Err(at(600_000_000)));
    assert_eq!(bucket.ask(at(500_000_000), first, 500), Ok(()));
    assert_eq!(bucket.ask(at(500_000_000), first, 500), Err(at(1_100_000_000)));
    assert_eq!(bucket.ask(at(600_000_000), second, 100), Ok(()));
}

#[test]
fn an_absent_waiter_loses_its_position() {
    let mut bucket = Bucket::new(Rate::from_bps(8_000).unwrap(), Bytes(1_000));
    let [first, second] = [bucket.join(0), bucket.join(0)];
    assert_eq!(bucket.ask(at(0), first, 1_000), Ok(()));
    assert_eq!(bucket.ask(at(0), first, 500), Err(at(500_000_000)));
    assert_eq!(bucket.ask(at(0), second, 500), Err(at(1_000_000_000)));
    assert_eq!(bucket.ask(at(500_000_001), second, 500), Ok(()));
}

#[test]
fn fewer_bytes_than_requested_may_be_sent() {
    let (mut bucket, member) = alone(8, 1_000);
    assert_eq!(bucket.ask(at(0), member, 980), Ok(()));
    bucket.settle(member, Some(980), Some(480));
    assert_eq!(bucket.ask(at(0), member, 480), Ok(()));
    bucket.settle(member, Some(480), None);
    assert_eq!(bucket.ask(at(0), member, 481), Err(at(1_000_000)));
}

#[test]
fn a_wait_of_a_year_is_exact() {
    let mut bucket = Bucket::new(Rate::from_bps(1_000).unwrap(), Bytes(1 << 32));
    let member = bucket.join(0);
    assert_eq!(bucket.ask(at(0), member, u32::MAX), Ok(()));
    // 4 GiB less two bytes, one of which is there: parts of a byte exceed 64 bits.
    assert_eq!(bucket.ask(at(0), member, u32::MAX), Err(at((u64::from(u32::MAX) - 1) * 8_000_000)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any interval of length t carries at most B + R·t, whichever member sends.
    #[test]
    fn no_interval_carries_more_than_the_bucket_and_the_rate(
        kbps in 1_u64..10_000,
        size in 1_500_u64..20_000,
        steps in prop::collection::vec((0_u64..20_000_000, 0_usize..3, 20_u32..1_480), 1..120),
    ) {
        let mut bucket = Bucket::new(Rate::from_bps(kbps * 1_000).unwrap(), Bytes(size));
        let members: Vec<_> = (0..3).map(|_| bucket.join(20)).collect();
        let mut now = 0;
        let mut sent: Vec<(u64, u64)> = Vec::new();
        for (pause, who, bytes) in steps {
            now += pause;
            if bucket.ask(at(now), members[who], bytes).is_ok() {
                sent.push((now, u64::from(bytes) + 20));
            }
        }
        for first in 0..sent.len() {
            let mut carried = 0;
            for (last, bytes) in &sent[first..] {
                carried += bytes;
                let most = u128::from(size) * BYTE + u128::from(kbps * 1_000) * u128::from(last - sent[first].0);
                prop_assert!(u128::from(carried) * BYTE <= most);
            }
        }
    }
}
