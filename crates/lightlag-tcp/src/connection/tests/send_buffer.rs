//! Written data waits until the send buffer has free space.

use super::*;
use lightlag_core::Bytes;

/// Returns a client with a send buffer of 4,500 bytes, segments of 1,000 bytes and a congestion window of 100 segments.
fn buffered() -> Connection {
    let send_buffer = Some(Bytes(4_500));
    established(Config { send_buffer, initial_window: 100, initial_window_bytes: None, ..config() })
}

fn lengths(segments: &[Segment]) -> Vec<u16> {
    segments.iter().map(|segment| segment.len).collect()
}

#[test]
fn no_more_is_unacknowledged_than_the_buffer_holds() {
    let mut client = buffered();
    client.write(u64::MAX);
    // Four full segments fit into 4,500 bytes.
    assert_eq!(lengths(&drain(&mut client, at(100))), [1_000; 4]);
    assert!(!client.all_acknowledged());
    client.handle_segment(at(200), &segment(1, 2_001, 0, Flags::ACK, 600));
    assert_eq!(lengths(&drain(&mut client, at(200))), [1_000; 2]);
    // An ACK inside a segment frees space for none.
    client.handle_segment(at(210), &segment(1, 2_301, 0, Flags::ACK, 610));
    assert_eq!(lengths(&drain(&mut client, at(210))), [0; 0]);
}

#[test]
fn the_end_follows_the_last_data_that_waited() {
    let mut client = buffered();
    client.write(6_200);
    client.close();
    let first = drain(&mut client, at(100));
    assert!(lengths(&first) == [1_000; 4] && first.iter().all(|segment| !segment.flags.has(Flags::FIN)));
    assert_eq!((client.state(), client.has_sent_everything()), (State::Established, false));
    client.handle_segment(at(200), &segment(1, 4_001, 0, Flags::ACK, 600));
    let rest = drain(&mut client, at(200));
    assert_eq!(lengths(&rest), [1_000, 1_000, 200]);
    assert!(rest[2].flags.has(Flags::FIN) && client.state() == State::FinWait1);
    assert!(client.has_sent_everything());
    client.handle_segment(at(300), &segment(1, 6_202, 0, Flags::ACK, 700));
    assert!(client.all_acknowledged() && client.state() == State::FinWait2);
}

#[test]
fn a_write_that_fits_is_sent_immediately_and_completely() {
    let mut client = buffered();
    client.write(1_300);
    assert_eq!(lengths(&drain(&mut client, at(100))), [1_000, 300]);
    client.write(3_200);
    // 4,500 bytes in total.
    assert_eq!(lengths(&drain(&mut client, at(110))), [1_000, 1_000, 1_000, 200]);
}

#[test]
fn a_buffer_below_a_segment_is_filled_when_it_is_empty() {
    // A compressed header leaves more bytes for payload than the MSS, which is the minimum buffer.
    let mut client = established(Config { send_buffer: Some(Bytes(700)), ..config() });
    client.write(1_500);
    client.close();
    assert_eq!(lengths(&drain(&mut client, at(100))), [700]);
    client.handle_segment(at(200), &segment(1, 301, 0, Flags::ACK, 600));
    assert_eq!(lengths(&drain(&mut client, at(200))), [0; 0]);
    client.handle_segment(at(210), &segment(1, 701, 0, Flags::ACK, 610));
    assert_eq!(lengths(&drain(&mut client, at(210))), [700]);
    client.handle_segment(at(300), &segment(1, 1_401, 0, Flags::ACK, 700));
    assert_eq!(lengths(&drain(&mut client, at(300))), [100]);
}
