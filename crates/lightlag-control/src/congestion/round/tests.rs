use super::*;
use crate::congestion::tests::ack;
use lightlag_core::Instant;

fn at(snd_una: u64, snd_nxt: u64, rtt_ms: Option<u64>) -> Ack {
    let rtt = rtt_ms.map(Duration::from_millis);
    Ack { snd_una, snd_nxt, rtt, ..ack(Instant::ZERO, Duration::from_millis(1)) }
}

#[test]
fn a_round_ends_when_the_data_outstanding_at_its_start_is_acknowledged() {
    let mut round = Round::default();
    assert_eq!(round.on_ack(&at(1000, 5000, Some(90))), None);
    assert_eq!(round.on_ack(&at(3000, 7000, Some(100))), None);
    assert_eq!(round.on_ack(&at(4999, 8000, None)), None);
    let samples = round.on_ack(&at(5000, 9000, Some(130))).unwrap();
    assert_eq!((samples.count, samples.min), (2, Duration::from_millis(100)));
    assert_eq!(samples.mean(), Some(Duration::from_millis(115)));
    assert_eq!(round.on_ack(&at(8999, 12_000, None)), None);
    let samples = round.on_ack(&at(9000, 12_000, None)).unwrap();
    assert_eq!((samples.count, samples.min, samples.mean()), (0, Duration::MAX, None));
}

#[test]
fn a_forgotten_sample_no_longer_counts() {
    let mut round = Round::default();
    round.on_ack(&at(0, 2000, Some(10)));
    round.on_ack(&at(1000, 3000, Some(10)));
    round.forget();
    assert_eq!(round.on_ack(&at(2000, 4000, Some(30))).unwrap().min, Duration::from_millis(30));
}

#[test]
fn a_round_beyond_its_start_lasts_until_data_sent_in_it_is_acknowledged() {
    let mut round = Round::default();
    assert_eq!(round.on_ack_beyond(&at(1000, 5000, Some(90))), None);
    assert_eq!(round.on_ack_beyond(&at(5000, 9000, Some(100))), None);
    let samples = round.on_ack_beyond(&at(5001, 9000, Some(130))).unwrap();
    assert_eq!((samples.count, samples.min), (2, Duration::from_millis(100)));
    assert_eq!(round.on_ack_beyond(&at(9000, 9000, None)), None);
    round.take_in(&at(9001, 9000, Some(70)));
    assert_eq!(round.on_ack_beyond(&at(9001, 9000, None)).unwrap().min, Duration::from_millis(70));
}
