//! Single exchanges, compared with times computed by hand.

use crate::bench::{Bench, Event, at, config, place};
use lightlag_core::{Duration, Instant};
use lightlag_mobility::Vector;
use lightlag_net::Medium as _;
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use lightlag_net::queue::DropCause;
use lightlag_wifi::Radio;
use lightlag_wifi::phy::Standard;

const ONE: Addressee = Addressee::One(StationId(1));

/// Propagation delay over 10 m.
const LIGHT: Duration = Duration::from_nanos(33);

fn two(radio: &Radio) -> Bench {
    Bench::new(&config(Standard::A), radio, &[Vector::ZERO, place(10.0)], 1)
}

fn times(bench: &Bench) -> Vec<Instant> {
    bench.events.iter().map(|(at, _)| *at).collect()
}

#[test]
fn the_first_frame_is_sent_immediately_and_its_ack_follows() {
    let mut bench = two(&Radio::default());
    bench.offer(at(1000.0), 0, ONE, 1500);
    bench.run(at(1e5));
    // An idle medium and no backoff: data 536, SIFS 16, ACK 28, and twice the propagation delay.
    assert_eq!(times(&bench), [at(1536.0) + LIGHT, at(1580.0) + LIGHT * 2]);
}

#[test]
fn a_frame_without_an_ack_is_dropped_after_its_attempts() {
    let mut bench = Bench::new(&config(Standard::A), &Radio::default(), &[Vector::ZERO, place(500.0)], 1);
    bench.offer(at(1000.0), 0, ONE, 1500);
    bench.run(at(1e6));
    assert!(matches!(bench.events[..], [(_, Event::Dropped { cause: DropCause::Retry, .. })]));
    assert_eq!(bench.attempts(), 7);
}

#[test]
fn rts_and_cts_go_before_the_data_also_at_the_slowest_rate() {
    let mut bench = two(&Radio { rts_threshold: 1, ..Radio::default() });
    bench.offer(at(1000.0), 0, ONE, 1500);
    bench.run(at(1e5));
    // At 6 Mbit/s the RTS takes 52, the CTS 44: its end is later than the 45 µs in which it must start.
    assert_eq!(times(&bench)[0], at(1000.0 + 52.0 + 16.0 + 44.0 + 16.0 + 536.0) + LIGHT * 3);
    assert_eq!(bench.attempts(), 1);
}

#[test]
fn an_ack_at_6_mbit_is_waited_for() {
    let mut bench = two(&Radio { rate: "6 Mbit/s".to_owned(), ..Radio::default() });
    bench.offer(at(1000.0), 0, ONE, 1500);
    bench.run(at(1e5));
    assert_eq!(times(&bench), [at(1000.0 + 2072.0) + LIGHT, at(3072.0 + 16.0 + 44.0) + LIGHT * 2]);
    assert_eq!(bench.attempts(), 1);
}

#[test]
fn a_broadcast_has_neither_ack_nor_retransmission() {
    let mut bench = two(&Radio::default());
    bench.offer(at(1000.0), 0, Addressee::All, 88 - 36);
    bench.run(at(1e5));
    assert_eq!(times(&bench), [at(1144.0) + LIGHT]);
}

#[test]
fn stations_at_one_position_are_a_metre_apart() {
    let mut bench = Bench::new(&config(Standard::A), &Radio::default(), &[Vector::ZERO; 3], 1);
    bench.offer(at(0.0), 0, ONE, 1500);
    bench.offer(at(5000.0), 2, Addressee::All, 100);
    bench.run(at(1e5));
    assert_eq!(bench.count(|event| matches!(event, Event::Received { .. })), 3);
}

#[test]
fn a_medium_with_one_station_or_none_in_range_continues() {
    let mut bench = Bench::new(&config(Standard::A), &Radio::default(), &[Vector::ZERO], 1);
    bench.offer(at(0.0), 0, Addressee::All, 100);
    bench.run(at(1e6));
    assert_eq!((bench.events.len(), bench.attempts()), (0, 1));
}

#[test]
fn a_frame_that_expires_leaves_its_failures_to_the_next_one() {
    // Seven attempts take about 9 ms, of which the first frame covers a part: failures in a row are counted per
    // station.
    let radio = Radio { lifetime: Duration::from_millis(3), ..Radio::default() };
    let mut bench = Bench::new(&config(Standard::A), &radio, &[Vector::ZERO, place(500.0)], 1);
    bench.offer(at(1000.0), 0, ONE, 1500);
    for packet in 1..20 {
        bench.run(at(1000.0 + 1000.0 * f64::from(packet)));
        bench.offer(at(1000.0 + 1000.0 * f64::from(packet)), 0, ONE, 1500);
    }
    bench.run(at(1e6));
    let dropped = |of| bench.count(|event| matches!(event, Event::Dropped { cause, .. } if *cause == of));
    assert!(dropped(DropCause::Lifetime) > 0);
    assert_eq!(dropped(DropCause::Retry), bench.attempts() / 7);
    assert!(dropped(DropCause::Retry) > 0);
}

/// Returns the senders of the frames that arrive at a receiver between two stations that are out of range of each
/// other. The far station sends first; the near one, whose signal is 15 dB stronger at the receiver, sends `later`
/// microseconds later.
fn captured(capture: bool, later: f64) -> Vec<u32> {
    let radio = Radio { capture, ..Radio::default() };
    let mut bench = Bench::new(&config(Standard::A), &radio, &[Vector::ZERO, place(40.0), place(-12.65)], 1);
    bench.offer(at(1000.0), 1, Addressee::All, 1500);
    bench.run(at(1000.0 + later));
    bench.offer(at(1000.0 + later), 2, Addressee::All, 1500);
    bench.run(at(1e5));
    let from = |event: &Event| match event {
        Event::Received { at: 0, packet } => Some(packet.0),
        _ => None,
    };
    bench.events.iter().filter_map(|(_, event)| from(event)).collect()
}

#[test]
fn a_stronger_frame_captures_the_receiver_within_twenty_microseconds() {
    assert_eq!([2.0, 10.0, 30.0].map(|later| captured(false, later)), [vec![2], vec![], vec![]]);
    assert_eq!([2.0, 10.0, 19.0, 30.0].map(|later| captured(true, later)), [vec![2], vec![2], vec![2], vec![]]);
}

/// Returns the time for which the medium is busy at a station while another one, at this distance in metres, sends a
/// frame.
fn busy(radio: &Radio, metres: f64) -> Duration {
    let mut bench = Bench::new(&config(Standard::A), radio, &[Vector::ZERO, place(metres)], 1);
    bench.offer(at(1000.0), 0, Addressee::All, 1500);
    bench.run(at(1e5));
    bench.offer(at(2e5), 1, Addressee::All, 1);
    bench.run(at(3e5));
    let counters = bench.medium.station_counters(StationId(1), at(3e5));
    counters.busy - counters.broadcast_airtime
}

#[test]
fn the_medium_is_busy_with_detected_or_strong_frames() {
    // At 16 dBm 51.5 m are -82 dBm, and 94.8 m are 4 dB above the noise.
    let detection = |detection| Radio { detection, ..Radio::default() };
    let frame = Duration::from_micros(2068);
    assert_eq!(busy(&detection(-82.0), 50.0), frame);
    assert_eq!(busy(&detection(-82.0), 60.0), Duration::ZERO);
    assert_eq!(busy(&detection(-101.0), 80.0), frame);
    assert_eq!(busy(&detection(-101.0), 120.0), Duration::ZERO);
    let sensitive = Radio { carrier_sense: -95.0, ..detection(-82.0) };
    assert_eq!(busy(&sensitive, 120.0), frame);
}

#[test]
fn a_frame_on_the_air_counts_at_its_receivers_before_it_ends() {
    let mut bench = two(&Radio::default());
    bench.offer(at(1000.0), 0, ONE, 1500);
    bench.run(at(1200.0));
    bench.medium.settle(at(1200.0));
    // 10 m are 33 ns, and 4 us pass until it is noticed.
    let busy = bench.medium.station_counters(StationId(1), at(1200.0)).busy;
    assert_eq!(busy, Duration::from_nanos(200_000 - 33 - 4_000));
}
