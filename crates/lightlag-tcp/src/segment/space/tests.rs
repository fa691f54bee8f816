use super::super::{Flags, SackBlock, SynOptions, Timestamps};
use super::*;

fn holes(count: u16) -> Vec<Snack> {
    (0..count).map(|n| Snack { offset: 2 * n, size: n + 1 }).collect()
}

#[test]
fn the_syn_of_the_reference_has_32_bytes_and_44_with_timestamps() {
    // 20 + MSS 4 + window scale 4 + capabilities 4, and 12 of timestamps.
    let syn = SynOptions { mss: Some(512), window_scale: Some(3), sack_permitted: false };
    let offer = Capabilities { bitmap: Capabilities::SNACK_SHORT, connection_id: 0 };
    let segment = Segment { flags: Flags::SYN, ..Segment::default() }.with_syn_options(syn).with_capabilities(offer);
    assert_eq!(segment.header_len(), 32);
    assert_eq!(segment.with_timestamps(Timestamps::default()).header_len(), 44);
    assert_eq!(segment.capabilities(), Some(offer));
    assert_eq!(segment.option_bytes()[8..], [20, 4, 0x40, 0]);
}

#[test]
fn reserved_bits_of_the_bitmap_are_discarded() {
    for bitmap in 0..=255 {
        let segment = Segment::default().with_capabilities(Capabilities { bitmap, connection_id: 9 });
        assert_eq!(segment.capabilities(), Some(Capabilities { bitmap: bitmap & 0xf8, connection_id: 9 }));
        assert_eq!((segment.snack(), segment.ends_record(), segment.experienced_corruption()), (None, false, false));
    }
}

#[test]
fn six_options_fit_alone_and_four_with_timestamps() {
    // 6 n bytes and NOPs: 6, 12, 18, 24, 30, 36.
    for (count, len) in [(0, 0), (1, 8), (2, 12), (3, 20), (4, 24), (5, 32), (6, 36), (9, 36)] {
        let segment = Segment::default().with_snacks(&holes(count));
        assert_eq!(segment.options_len(), len);
        assert_eq!(segment.snacks().collect::<Vec<_>>(), holes(count.min(6)));
    }
    let stamped = Segment::default().with_timestamps(Timestamps { value: 1, echo: 2 }).with_snacks(&holes(6));
    assert_eq!((stamped.snacks().count(), stamped.options_len()), (4, 36));
    assert_eq!(stamped.timestamps(), Some(Timestamps { value: 1, echo: 2 }));
}

#[test]
fn options_as_encoded_in_the_header() {
    let hole = Snack { offset: 0x0102, size: 3 };
    let segment = Segment::default().with_snacks(&[hole]);
    assert_eq!(segment.option_bytes(), [21, 6, 1, 2, 0, 3, 1, 1]);
    // The option without a value replaces the NOPs.
    assert_eq!(segment.with_corruption().option_bytes(), [21, 6, 1, 2, 0, 3, 23, 2]);
    assert_eq!(Segment::default().with_record_boundary().option_bytes(), [22, 2, 1, 1]);
    let vector = Segment::default().with_snack_vector(hole, &[0b1010_0000, 0, 1, 0]);
    assert_eq!(vector.option_bytes(), [21, 9, 1, 2, 0, 3, 0b1010_0000, 0, 1, 1, 1, 1]);
    assert_eq!(vector.snack_vector(), [0b1010_0000, 0, 1]);
}

#[test]
fn all_options_fit_into_forty_bytes() {
    let all = Segment::default().with_snacks(&holes(6)).with_corruption().with_record_boundary();
    assert_eq!((all.options_len(), all.option_bytes().len()), (40, 40));
    assert!(all.ends_record() && all.experienced_corruption());
    let long =
        Segment::default().with_timestamps(Timestamps::default()).with_snack_vector(Snack::default(), &[255; 34]);
    assert_eq!((long.snack_vector().len(), long.options_len()), (20, 40));
}

#[test]
fn options_that_do_not_fit_are_removed_one_by_one() {
    let mut segment = Segment::default().with_snack_vector(holes(1)[0], &[1; 8]).with_corruption();
    segment = segment.with_fewer_snacks();
    assert_eq!(segment, Segment::default().with_snacks(&holes(1)).with_corruption());
    segment = segment.with_fewer_snacks();
    assert_eq!(segment, Segment::default().with_corruption());
    assert_eq!(segment.with_fewer_snacks(), segment);
}

#[test]
fn sack_blocks_leave_no_space() {
    let block = SackBlock { start: SeqNumber(1), end: SeqNumber(2) };
    assert!(!Segment::default().with_sack(&[block]).can_report());
    assert!(!Segment::default().with_capabilities(Capabilities::default()).can_report());
    assert!(Segment::default().with_snacks(&holes(2)).can_report());
}

#[test]
fn trailing_zeros_of_a_truncated_vector_are_not_sent() {
    let hole = Snack { offset: 0, size: 1 };
    // A one beyond the maximum, and only zeros within it.
    let mut vector = [0; MAX_VECTOR + 1];
    vector[MAX_VECTOR] = 1;
    let segment = Segment::default().with_snack_vector(hole, &vector);
    assert_eq!(segment, Segment::default().with_snacks(&[hole]));
}
