use super::super::{Capabilities, SackBlock, Snack, SynOptions};
use super::*;

const STAMPS: Timestamps = Timestamps { value: 0x0102_0304, echo: 0x0506_0708 };
const ID: u8 = 7;

fn data() -> Segment {
    let mut segment = Segment::new(SeqNumber(0x0a0b_0c0d), SeqNumber(9), 9, Flags::ACK);
    segment.len = 512;
    segment
}

fn ack() -> Segment {
    Segment::new(SeqNumber(5), SeqNumber(0x1112_1314), 0x2122, Flags::ACK)
}

fn holes(count: usize) -> Vec<Snack> {
    (0..count as u16).map(|n| Snack { offset: 3 * n, size: 1 }).collect()
}

fn fin() -> Segment {
    Segment { flags: Flags::ACK.with(Flags::FIN), ..ack() }
}

#[test]
fn sizes_of_the_reference() {
    // Description, bytes of its plain header, bytes of its compressed one.
    let rows = [
        ("data", data(), 20, 8),
        ("data with timestamps", data().with_timestamps(STAMPS), 32, 16),
        ("pure ACK", ack(), 20, 10),
        ("ACK with timestamps", ack().with_timestamps(STAMPS), 32, 18),
        ("ACK with a SNACK", ack().with_snacks(&holes(1)), 28, 18),
        ("ACK with two SNACKs", ack().with_snacks(&holes(2)), 32, 24),
        ("FIN", fin(), 20, 16),
        // These follow from the layout.
        ("data that ends a record", data().with_record_boundary(), 24, 8),
        ("the same with timestamps", data().with_timestamps(STAMPS).with_record_boundary(), 36, 16),
        ("ACK with six SNACKs", ack().with_snacks(&holes(6)), 56, 48),
        ("ACK with a bit vector of one byte", ack().with_snack_vector(holes(1)[0], &[0x80]), 28, 20),
        ("ACK that reports corruption", ack().with_corruption(), 24, 14),
        ("ACK with a SACK block", ack().with_sack(&[SackBlock::default()]), 32, 22),
        ("FIN with timestamps", fin().with_timestamps(STAMPS), 32, 24),
        ("FIN with data", Segment { flags: fin().flags, ..data() }, 20, 10),
        ("reset", Segment { flags: Flags::ACK.with(Flags::RST), ..ack() }, 20, 16),
    ];
    for (name, plain, bytes, compressed) in rows {
        assert_eq!(plain.header_len(), bytes, "{name}");
        let short = plain.compressed(ID, false);
        assert_eq!((short.header_len(), short.compressed_bytes().len()), (compressed, compressed as usize), "{name}");
    }
    // A probe has an old number, and includes it.
    assert_eq!(ack().compressed(ID, true).header_len(), 14);
}

#[test]
fn a_syn_is_as_long_as_before() {
    let offer = Capabilities { bitmap: Capabilities::COMPRESSION, connection_id: ID };
    let syn = SynOptions { mss: Some(512), window_scale: Some(3), sack_permitted: false };
    let segment = Segment { flags: Flags::SYN, ..ack() }.with_syn_options(syn).with_capabilities(offer);
    assert_eq!((segment.header_len(), segment.capabilities(), segment.connection_id()), (32, Some(offer), 0));
}

#[test]
fn bytes_in_the_order_of_the_reference() {
    assert_eq!(data().compressed(ID, false).compressed_bytes(), [7, 0x08, 0x0a, 0x0b, 0x0c, 0x0d, 0, 0]);
    let stamped = data().with_timestamps(STAMPS).with_record_boundary().compressed(ID, false);
    let expected = [7, 0x68, 0x0a, 0x0b, 0x0c, 0x0d, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0];
    assert_eq!(stamped.compressed_bytes(), expected);
    assert_eq!(ack().compressed(ID, false).compressed_bytes(), [7, 0x04, 0x21, 0x22, 0x11, 0x12, 0x13, 0x14, 0, 0]);
    let reported = ack().with_snacks(&holes(1)).compressed(ID, false);
    let expected = [7, 0x84, 0x40, 0x21, 0x22, 0x11, 0x12, 0x13, 0x14, 6, 21, 6, 0, 0, 0, 1, 0, 0];
    assert_eq!(reported.compressed_bytes(), expected);
    let fin = fin().compressed(ID, false).compressed_bytes();
    assert_eq!(fin, [7, 0x8c, 0x22, 0x21, 0x22, 0x11, 0x12, 0x13, 0x14, 0, 0, 0, 5, 0, 0, 0]);
}

#[test]
fn fields_of_a_compressed_header() {
    let short = data().compressed(ID, false);
    assert_eq!((short.connection_id(), short.is_compressed(), short.is_numbered()), (ID, true, true));
    assert_eq!((short.flags.has(Flags::ACK), short.ack, short.window), (false, SeqNumber(0), 0));
    assert_eq!(short.restored(), Segment { flags: Flags::default(), ack: SeqNumber(0), window: 0, ..data() });
    let reported = ack().with_timestamps(STAMPS).with_snacks(&holes(4)).with_corruption();
    let back = reported.compressed(ID, false);
    assert!(!back.is_numbered());
    assert_eq!(back.restored(), Segment { seq: SeqNumber(0), ..reported });
    assert_eq!(reported.compressed(ID, true).restored(), reported);
}

#[test]
#[should_panic(expected = "does not fit a compressed header")]
fn a_syn_is_never_compressed() {
    let _ = Segment { flags: Flags::SYN, ..ack() }.compressed(ID, false);
}

#[test]
#[should_panic(expected = "does not fit a compressed header")]
fn a_congestion_mark_is_not_encoded() {
    let _ = Segment { flags: Flags::ACK.with(Flags::ECE), ..ack() }.compressed(ID, false);
}
