//! Any file is a capture or an error, never a panic; and parsed packets survive being written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_wire::capture::{CaptureError, Direction, Reader, Writer};
use lightlag_wire::decode_captured;

/// The first bytes of a gzip file. Positions in its errors refer to the decompressed contents.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A packet without its link-layer header.
type Seen = (u64, Direction, Vec<u8>, String);

fuzz_target!(|file: &[u8]| {
    let Ok(mut reader) = Reader::open(file) else { return };
    let mut packets: Vec<Seen> = Vec::new();
    let mut last = 0;
    let error = loop {
        match reader.next_packet() {
            Ok(Some(packet)) => {
                assert!(packet.number > last, "frames are numbered upwards");
                assert!(packet.frame.len() <= packet.wire_len as usize);
                last = packet.number;
                match packet.content {
                    Ok(captured) => {
                        assert!(captured.bytes.len() <= captured.wire_len && packet.ip == Some(captured.bytes));
                        let _ = decode_captured(captured);
                    }
                    Err(other) => assert!(packet.ip.is_none() && !other.to_string().is_empty()),
                }
                if let Some(ip) = packet.ip {
                    let comment = packet.comment.unwrap_or_default();
                    packets.push((packet.at.as_nanos(), packet.direction, ip.to_vec(), comment.into_owned()));
                }
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(matches!(reader.next_packet(), Ok(None)), "after the end nothing comes");
    if let Some(cut) = reader.cut() {
        let is_at_the_end = cut.at + cut.present == file.len() as u64 || file.starts_with(&GZIP);
        let is_unread = matches!(error, Some(CaptureError::UnknownLink { .. }));
        assert!((error.is_none() || is_unread) && is_at_the_end && cut.needed > cut.present, "{cut}");
    }
    assert_eq!(read(&written(&packets)), packets);
});

fn written(packets: &[Seen]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "").expect("memory can be written");
    let interface = writer.interface("fuzz").expect("memory can be written");
    for (at, direction, ip, comment) in packets {
        let at = lightlag_core::Instant::from_nanos(*at);
        writer.packet(interface, at, *direction, ip, comment).expect("memory can be written");
    }
    writer.finish().expect("memory can be written")
}

fn read(file: &[u8]) -> Vec<Seen> {
    let mut reader = Reader::open(file).expect("what is written can be read");
    let mut packets = Vec::new();
    while let Some(packet) = reader.next_packet().expect("what is written can be read") {
        let comment = packet.comment.unwrap_or_default();
        let ip = packet.ip.expect("what is written is IP");
        packets.push((packet.at.as_nanos(), packet.direction, ip.to_vec(), comment.into_owned()));
    }
    assert_eq!(reader.cut(), None);
    packets
}
