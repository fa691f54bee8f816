//! The replies of a receiver to segments after a hole: the example of Reschka et al. 2010, Fig. 1.

use lightlag_core::Instant;
use lightlag_tcp::segment::{Flags, SeqNumber, SynOptions};
use lightlag_tcp::{Config, Connection, Profile, Segment};
use std::sync::Arc;

/// Returns a server with an open connection. The peer's first byte of data has the sequence number 0.
fn server() -> Connection {
    let config = Config { sack: true, ..Profile::Inet.config() };
    let mut server = Connection::server(Arc::new(config), SeqNumber(0));
    let offer = SynOptions { mss: Some(1_000), window_scale: None, sack_permitted: true };
    let syn = Segment::new(SeqNumber(u32::MAX), SeqNumber(0), 65_535, Flags::SYN).with_syn_options(offer);
    server.handle_segment(Instant::ZERO, &syn);
    let answer = server.poll_segment(Instant::ZERO).unwrap();
    // MSS 536; SACK-permitted after two NOPs.
    assert_eq!(answer.option_bytes(), [2, 4, 0x02, 0x18, 1, 1, 4, 2]);
    server.handle_segment(Instant::ZERO, &Segment::new(SeqNumber(0), SeqNumber(1), 65_535, Flags::ACK));
    server
}

fn answers(server: &mut Connection, first: u32) -> Vec<Segment> {
    let mut data = Segment::new(SeqNumber(first), SeqNumber(1), 65_535, Flags::ACK);
    data.len = 1_000;
    server.handle_segment(Instant::ZERO, &data);
    std::iter::from_fn(|| server.poll_segment(Instant::ZERO)).collect()
}

#[test]
fn the_segment_above_the_hole_is_reported_byte_for_byte() {
    let mut server = server();
    for first in (0..6_000).step_by(1_000) {
        let [ack] = answers(&mut server, first)[..] else { panic!("one ACK for each segment") };
        assert_eq!((ack.ack, ack.options_len()), (SeqNumber(first + 1_000), 0));
    }
    // [6000, 7000) is lost.
    let [ack] = answers(&mut server, 7_000)[..] else { panic!("one immediate ACK") };
    assert_eq!(ack.ack, SeqNumber(6_000));
    assert_eq!(ack.option_bytes(), [1, 1, 5, 10, 0, 0, 0x1b, 0x58, 0, 0, 0x1f, 0x40]);
    assert_eq!(ack.header_len(), 32);
    // Its retransmission makes the ACK cover everything, and there is nothing left to report.
    let [ack] = answers(&mut server, 6_000)[..] else { panic!("one immediate ACK") };
    assert_eq!((ack.ack, ack.options_len()), (SeqNumber(8_000), 0));
}
