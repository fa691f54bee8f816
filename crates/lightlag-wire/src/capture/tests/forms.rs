//! File formats: compressed, older and unsupported ones, packets without a time, interfaces with an unsupported link
//! type.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_file_packed_by_gzip_is_read_as_it_is() {
    let bytes = written();
    assert_eq!(good(&packed(&bytes)), good(&bytes));
    let classic = Bytes::new(true).classic(0xa1b2_c3d4, 101).record(1, 2, &[0x45; 20]).bytes;
    assert_eq!(good(&packed(&classic)), good(&classic));
    // Two members, one after the other.
    let (first, second) = bytes.split_at(100);
    assert_eq!(good(&[packed(first), packed(second)].concat()), good(&bytes));
}

#[test]
fn a_truncated_compressed_file_gives_its_complete_packets() {
    let bytes = packed(&written());
    for len in 0..bytes.len() {
        let (packets, _, error) = read(&bytes[..len]);
        assert!(packets.len() <= 3 && (error.is_none() || packets.is_empty()), "{len}: {error:?}");
    }
}

#[test]
fn a_packed_file_that_is_damaged_is_named() {
    let mut bytes = packed(&written());
    // A block of the type that is reserved (RFC 1951 §3.2.3), after a header of 10 bytes.
    bytes[10] = 0x07;
    let error = read(&bytes).2.unwrap().to_string();
    assert!(error.contains("the gzip file is damaged (") && error.ends_with("; copy it again"), "{error}");
}

#[test]
fn the_form_of_kuznetzov_has_more_numbers_before_a_packet() {
    let record = [&[0; 8][..], &[0x45; 20]].concat();
    let bytes = Bytes::new(false).classic(0xa1b2_cd34, 101).u32(1).u32(2).u32(20).u32(20).put(&record).bytes;
    let packets = good(&bytes);
    assert_eq!((packets[0].nanos, packets[0].ip.as_deref()), (1_000_002_000, Some(&[0x45; 20][..])));
}

#[test]
fn before_version_2_3_the_lengths_are_exchanged() {
    let bytes = Bytes::new(false).u32(0xa1b2_c3d4).u16(2).u16(2).u32(0).u32(0).u32(96).u32(101);
    let bytes = bytes.u32(1).u32(2).u32(1500).u32(40).put(&[0x45; 40]).bytes;
    let packets = good(&bytes);
    assert_eq!((packets[0].wire_len, packets[0].ip.as_ref().map(Vec::len)), (1500, Some(40)));
}

#[test]
fn a_known_form_that_is_not_read_has_its_fix() {
    for (bytes, what, fix) in [
        (&b"snoop\0\0\0"[..], "snoop", "editcap -F pcapng"),
        (b"GMBU\x05\x02", "Network Monitor", "editcap -F pcapng"),
        (b"\x28\xb5\x2f\xfd\0", "zstd", "unzstd"),
        (b"\x04\x22\x4d\x18\0", "lz4", "unlz4"),
        (b"PK\x03\x04\0", "zip", "unzip"),
        (b"BZh91AY", "bzip2", "bunzip2"),
    ] {
        let error = read(bytes).2.unwrap().to_string();
        assert!(error.contains(what) && error.contains(fix), "{error}");
    }
}

#[test]
fn packets_without_a_time_are_read() {
    let simple = |frame: &[u8], len: u32| Bytes::new(false).u32(len).put(frame);
    let bytes = Bytes::new(false).section().interface(101, &[]).packet(0, 5, &[0x45; 20], &[]);
    let bytes = bytes.block(3, &simple(&[0x45; 20], 20)).block(3, &simple(&[0x45; 40], 1500)).bytes;
    let packets = good(&bytes);
    let seen: Vec<_> = packets.iter().map(|seen| (seen.number, seen.nanos, seen.wire_len)).collect();
    assert_eq!(seen, [(1, 5_000, 20), (2, 5_000, 20), (3, 5_000, 1500)]);
    let mut reader = Reader::open(&bytes[..]).unwrap();
    assert!(reader.next_packet().unwrap().unwrap().has_time);
    assert!(!reader.next_packet().unwrap().unwrap().has_time);
    reader.next_packet().unwrap();
    assert_eq!(reader.without_time(), 2);
    let nowhere = Bytes::new(false).section().block(3, &simple(&[0x45; 20], 20)).bytes;
    assert!(matches!(read(&nowhere).2, Some(CaptureError::Damaged { .. })));
}

#[test]
fn one_interface_that_is_not_read_does_not_hide_the_others() {
    let bytes = Bytes::new(false).section().interface(189, &[]).interface(101, &[]);
    let bytes = bytes.packet(0, 1, &[0; 64], &[]).packet(1, 2, &[0x45; 20], &[]).bytes;
    let packets = good(&bytes);
    assert_eq!(packets.iter().map(|seen| seen.ip.is_some()).collect::<Vec<_>>(), [false, true]);
    let usb = Bytes::new(false).section().interface(189, &[]).interface(101, &[]).packet(0, 1, &[0; 64], &[]).bytes;
    let (packets, _, error) = read(&usb);
    let error = error.unwrap().to_string();
    assert_eq!(packets.len(), 1);
    assert!(error.contains("link type 189 (USB)") && error.contains("record a network interface"), "{error}");
}
