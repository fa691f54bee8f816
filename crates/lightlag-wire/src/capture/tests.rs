use super::*;
use crate::dot11::radiotap::{self, Radiotap};
use crate::dot11::{Address, EtherType, Frame, FrameBody, FrameHeader, Sequence};
use lightlag_core::Duration;
use std::io::Cursor;

mod forms;

/// An owned copy of a packet's contents.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Seen {
    number: u64,
    interface: u32,
    nanos: u64,
    direction: Direction,
    wire_len: u32,
    ip: Option<Vec<u8>>,
    comment: Option<String>,
}

type Read = (Vec<Seen>, Option<TruncatedFile>, Option<CaptureError>);

fn read(bytes: &[u8]) -> Read {
    let mut reader = match Reader::open(bytes) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), None, Some(error)),
    };
    let mut packets = Vec::new();
    let error = loop {
        match reader.next_packet() {
            Ok(Some(packet)) => packets.push(Seen {
                number: packet.number,
                interface: packet.interface.0,
                nanos: packet.at.as_nanos(),
                direction: packet.direction,
                wire_len: packet.wire_len,
                ip: packet.ip.map(<[u8]>::to_vec),
                comment: packet.comment.map(Cow::into_owned),
            }),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(matches!(reader.next_packet(), Ok(None)), "no packet follows the end");
    (packets, reader.cut(), error)
}

fn good(bytes: &[u8]) -> Vec<Seen> {
    let (packets, cut, error) = read(bytes);
    assert!(cut.is_none() && error.is_none(), "{cut:?} {error:?}");
    packets
}

/// The bytes of a file, written in one byte order.
struct Bytes {
    big: bool,
    bytes: Vec<u8>,
}

impl Bytes {
    fn new(big: bool) -> Self {
        Self { big, bytes: Vec::new() }
    }

    fn u16(mut self, number: u16) -> Self {
        self.bytes.extend(if self.big { number.to_be_bytes() } else { number.to_le_bytes() });
        self
    }

    fn u32(mut self, number: u32) -> Self {
        self.bytes.extend(if self.big { number.to_be_bytes() } else { number.to_le_bytes() });
        self
    }

    fn put(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    fn block(self, kind: u32, body: &Self) -> Self {
        assert_eq!(body.bytes.len() % 4, 0);
        let length = body.bytes.len() as u32 + 12;
        self.u32(kind).u32(length).put(&body.bytes).u32(length)
    }

    fn section(self) -> Self {
        let body = Self::new(self.big).u32(0x1a2b_3c4d).u16(1).u16(0).put(&[0xff; 8]);
        self.block(0x0a0d_0d0a, &body)
    }

    fn interface(self, link: u16, options: &[u8]) -> Self {
        let body = Self::new(self.big).u16(link).u16(0).u32(0).put(options);
        self.block(1, &body)
    }

    fn packet(self, interface: u32, time: u64, frame: &[u8], options: &[u8]) -> Self {
        let length = frame.len() as u32;
        let body = Self::new(self.big).u32(interface).u32((time >> 32) as u32).u32(time as u32);
        let body = body.u32(length).u32(length).put(frame).put(&[0; 3][..pcapng::padding(frame.len())]).put(options);
        self.block(6, &body)
    }

    fn classic(self, magic: u32, link: u32) -> Self {
        self.u32(magic).u16(2).u16(4).u32(0).u32(0).u32(65_535).u32(link)
    }

    fn record(self, seconds: u32, fraction: u32, frame: &[u8]) -> Self {
        self.u32(seconds).u32(fraction).u32(frame.len() as u32).u32(frame.len() as u32).put(frame)
    }
}

/// Returns a capture with two interfaces, directions and comments.
fn written() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "lightlag").unwrap();
    let ground = writer.interface("ground").unwrap();
    let time = Instant::from_nanos(1_234_567_891_234_567_891);
    writer.packet(ground, time, Direction::Outbound, &[0x45; 41], "cwnd 10").unwrap();
    let space = writer.interface("satellite → ground").unwrap();
    writer.packet(space, time + Duration::from_nanos(1), Direction::Inbound, &[0x45; 44], "").unwrap();
    writer.packet(ground, Instant::from_nanos(0), Direction::Unknown, &[], "späth").unwrap();
    writer.finish().unwrap()
}

#[test]
fn written_packets_are_read_back() {
    let bytes = written();
    let mut reader = Reader::open(&bytes[..]).unwrap();
    let first = reader.next_packet().unwrap().unwrap();
    assert_eq!((first.number, first.interface, first.ip), (1, InterfaceId(0), Some(&[0x45; 41][..])));
    assert_eq!((first.at.as_nanos(), first.wire_len), (1_234_567_891_234_567_891, 41));
    assert_eq!((first.direction, first.comment.as_deref()), (Direction::Outbound, Some("cwnd 10")));
    let packets = good(&bytes);
    assert_eq!((packets[1].nanos, packets[1].interface, packets[1].comment.clone()), (packets[0].nanos + 1, 1, None));
    assert_eq!((packets[2].nanos, packets[2].comment.as_deref()), (0, Some("späth")));
    while reader.next_packet().unwrap().is_some() {}
    let names: Vec<_> = reader.interfaces().iter().map(|interface| (interface.name.as_str(), interface.link)).collect();
    assert_eq!(names, [("ground", LinkType::RAW), ("satellite → ground", LinkType::RAW)]);
    assert_eq!((packets.len(), reader.cut()), (3, None));
}

#[test]
fn a_file_cut_anywhere_keeps_earlier_packets() {
    let bytes = written();
    let whole = good(&bytes);
    let mut before = 0;
    for len in 0..bytes.len() {
        let (packets, cut, error) = read(&bytes[..len]);
        assert_eq!(packets, whole[..packets.len()]);
        assert!(packets.len() >= before, "{len}");
        before = packets.len();
        match (cut, error) {
            (Some(cut), None) => {
                assert_eq!(cut.at + cut.present, len as u64, "{cut}");
                assert!(cut.needed > cut.present, "{cut}");
            }
            // The file ends between two blocks, so nothing is missing; the header must be complete.
            (None, None) => {}
            (None, Some(CaptureError::NotACapture(_))) => assert!(len < 44, "{len}"),
            other => panic!("{len}: {other:?}"),
        }
    }
    assert_eq!(before, 2);
}

#[test]
fn a_classic_capture_of_every_kind() {
    let ip = [0x45; 40];
    for (magic, nanos) in [(0xa1b2_c3d4, 7_000_005_000), (0xa1b2_3c4d, 7_000_000_005)] {
        for big in [false, true] {
            let bytes = Bytes::new(big).classic(magic, 101).record(7, 5, &ip).record(8, 0, &ip[..20]).bytes;
            let packets = good(&bytes);
            assert_eq!(packets.len(), 2);
            assert_eq!((packets[0].nanos, packets[0].ip.as_deref()), (nanos, Some(&ip[..])));
            assert_eq!((packets[1].number, packets[1].nanos), (2, 8_000_000_000));
            let (packets, cut, error) = read(&bytes[..bytes.len() - 21]);
            assert_eq!((packets.len(), error.is_none()), (1, true));
            assert_eq!(cut, Some(TruncatedFile { at: 24 + 56, needed: 16, present: 15 }));
            let (packets, cut, _) = read(&bytes[..bytes.len() - 1]);
            assert_eq!((packets.len(), cut), (1, Some(TruncatedFile { at: 24 + 56, needed: 36, present: 35 })));
        }
    }
}

#[test]
fn the_ip_packet_after_every_link_layer() {
    let mut ethernet = vec![0; 12];
    ethernet.extend([0x08, 0x00, 0x45, 1]);
    let mut vlan = vec![0; 12];
    vlan.extend([0x88, 0xa8, 0, 1, 0x81, 0x00, 0, 2, 0x86, 0xdd, 0x60, 1]);
    let mut arp = vec![0; 12];
    arp.extend([0x08, 0x06, 0, 1]);
    let mut cooked = vec![0; 14];
    cooked.extend([0x08, 0x00, 0x45, 1]);
    let mut cooked_2 = vec![0x86, 0xdd];
    cooked_2.extend([0; 18]);
    cooked_2.extend([0x60, 1]);
    let v4 = Some(&[0x45, 1][..]);
    let v6 = Some(&[0x60, 1][..]);
    for (link, frame, expected) in [
        (101, &[0x45, 1][..], v4),
        (12, &[0x45, 1], v4),
        (14, &[0x45, 1], v4),
        (228, &[0x45, 1], v4),
        (229, &[0x60, 1], v6),
        (1, &ethernet, v4),
        (1, &vlan, v6),
        (1, &arp, None),
        (1, &ethernet[..13], None),
        (1, &vlan[..18], None),
        (113, &cooked, v4),
        (276, &cooked_2, v6),
        (276, &cooked_2[..19], None),
        (0, &[2, 0, 0, 0, 0x45, 1], v4),
        (0, &[0, 0, 0, 30, 0x60, 1], v6),
        (0, &[1, 0, 0, 0, 0x45, 1], None),
        (108, &[0, 0, 0, 2, 0x45, 1], v4),
        (108, &[0, 0], None),
    ] {
        let bytes = Bytes::new(false).classic(0xa1b2_c3d4, link).record(0, 0, frame).bytes;
        assert_eq!(good(&bytes)[0].ip.as_deref(), expected, "{link} {frame:?}");
    }
}

#[test]
fn an_unknown_link_type_is_a_clear_error() {
    let bytes =
        Bytes::new(true).section().interface(195, &[0, 2, 0, 3, b'w', b'p', b'n', 0]).packet(0, 0, &[1], &[]).bytes;
    let (packets, _, error) = read(&bytes);
    assert_eq!(packets.len(), 1);
    assert_eq!(
        error.unwrap().to_string(),
        "interface 0 (\"wpn\") has link type 195 (IEEE 802.15.4), which is not supported, and no other interface has \
         packets: record a network interface with one of Ethernet, Linux cooked (-i any), raw IP, PPP, HDLC, SLIP, \
         802.11, loopback, NFLOG and PKTAP"
    );
}

#[test]
fn both_byte_orders_and_sections_of_pcapng() {
    for big in [false, true] {
        let one = Bytes::new(big).section().interface(101, &[]).packet(0, 3, &[0x45], &[]);
        // A second section in the other byte order, whose interface 0 is the second of the file.
        let two = Bytes::new(!big).section().interface(229, &[]).packet(0, 4, &[0x60, 1], &[]);
        let packets = good(&one.put(&two.bytes).bytes);
        let brief: Vec<_> = packets.iter().map(|packet| (packet.interface, packet.nanos)).collect();
        assert_eq!(brief, [(0, 3_000), (1, 4_000)]);
    }
}

#[test]
fn times_in_any_unit() {
    let second = 1_000_000_000;
    for (options, units, nanos) in [
        // Microseconds by default; milliseconds; nanoseconds; picoseconds.
        (&[][..], 1_500_000, 1_500_000_000),
        (&[9, 0, 1, 0, 3, 0, 0, 0], 1_500, 1_500_000_000),
        (&[9, 0, 1, 0, 9, 0, 0, 0], 1_500, 1_500),
        (&[9, 0, 1, 0, 12, 0, 0, 0], 1_500_000, 1_500),
        // 2^-10 of a second, and absurdly small units.
        (&[9, 0, 1, 0, 0x8a, 0, 0, 0], 1_536, 1_500_000_000),
        (&[9, 0, 1, 0, 0x7f, 0, 0, 0], u64::MAX, 0),
        (&[9, 0, 1, 0, 0xff, 0, 0, 0], u64::MAX, 0),
        // An offset of 2 s, one before 1970, and a time beyond 64 bits of nanoseconds.
        (&[14, 0, 8, 0, 2, 0, 0, 0, 0, 0, 0, 0], 5, 2 * second + 5_000),
        (&[14, 0, 8, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 1_500_000, second / 2),
        (&[], u64::MAX, u64::MAX),
    ] {
        let bytes = Bytes::new(false).section().interface(101, options).packet(0, units, &[0x45], &[]).bytes;
        assert_eq!(good(&bytes)[0].nanos, nanos, "{options:?}");
    }
}

#[test]
fn blocks_other_than_packets_are_skipped() {
    let other = Bytes::new(false).put(&[1; 400]);
    let simple = Bytes::new(false).u32(4).put(&[0x45; 4]);
    let old = Bytes::new(false).u16(0).u16(77).u32(0).u32(9).u32(1).u32(60).put(&[0x45, 0, 0, 0]);
    let bytes = Bytes::new(false).section().interface(101, &[]).block(4, &other).block(3, &simple).block(2, &old);
    let bytes = bytes.packet(0, 10, &[0x45], &[]).bytes;
    let packets = good(&bytes);
    let brief: Vec<_> = packets.iter().map(|packet| (packet.number, packet.nanos, packet.wire_len)).collect();
    assert_eq!(brief, [(1, 0, 4), (2, 9_000, 60), (3, 10_000, 1)]);
}

#[test]
fn damage_is_reported_with_its_position() {
    let start = || Bytes::new(false).section().interface(101, &[]);
    let offset = start().bytes.len() as u64;
    let long = Bytes::new(false).u32(0).u32(0).u32(0).u32(5).u32(5).put(&[0; 4]);
    for (bytes, expected) in [
        (start().packet(1, 0, &[], &[]), "a packet of an interface without a description"),
        (start().u32(6).u32(13), "a block whose length is not a multiple of 4 of at least 12"),
        (start().u32(6).u32(0), "a block whose length is not a multiple of 4 of at least 12"),
        (start().u32(6).u32(0x8000_0000), "a packet larger than 16 MiB"),
        (start().block(6, &long), "a packet longer than its block"),
        (start().block(6, &Bytes::new(false).u32(0)), "a packet block shorter than 20 bytes"),
        (start().block(1, &Bytes::new(false).u32(0)), "an interface description shorter than 8 bytes"),
        (start().u32(5).u32(12).u32(12).u32(1).u32(12).u32(16), "a block with different lengths at its start and end"),
    ] {
        match read(&bytes.bytes).2 {
            Some(CaptureError::Damaged { at: place, what }) => assert!(what == expected && place >= offset, "{what}"),
            other => panic!("{expected}: {other:?}"),
        }
    }
    let bytes = Bytes::new(false).classic(0xa1b2_c3d4, 101).u32(0).u32(0).u32(u32::MAX).u32(0).bytes;
    assert!(matches!(read(&bytes).2, Some(CaptureError::Damaged { at: 24, .. })));
}

#[test]
fn a_file_that_is_not_a_capture_is_reported() {
    for (bytes, expected) in [
        (&b""[..], "not a capture: the file is empty"),
        (b"abc", "not a capture: the file has fewer than four bytes"),
        (b"\x1f\x8b\x08\x00", "not a capture: the file is empty"),
        (b"time,cwnd\n", "not a capture: the file starts with neither a pcapng nor a pcap header"),
        (b"\xd4\xc3\xb2\xa1\x02", "not a capture: the file ends within its header"),
        (b"\x0a\x0d\x0d\x0a\x02", "not a capture: the file ends within its header"),
    ] {
        assert_eq!(read(bytes).2.unwrap().to_string(), expected);
    }
}

#[test]
fn comments_and_names_are_read_up_to_invalid_utf8() {
    let comment = [1, 0, 3, 0, b'a', 0xff, b'b', 0, 0, 0, 0, 0];
    let bytes = Bytes::new(false).section().interface(101, &[]).packet(0, 0, &[0x45], &comment).bytes;
    assert_eq!(good(&bytes)[0].comment.as_deref(), Some("a\u{fffd}b"));
}

/// pcapng §4.5: a block of type 4 has a record for each address, of type 1 for IPv4 and 2 for IPv6, with a name that
/// ends with a NUL.
#[test]
fn names_of_addresses_are_in_a_block_of_their_own() {
    let mut writer = Writer::new(Vec::new(), "").unwrap();
    let interface = writer.interface("ground").unwrap();
    let before = writer.out.len();
    let names = [("10.0.0.1".parse().unwrap(), "client"), ("fd00::2".parse().unwrap(), "späth")];
    writer.names(names).unwrap();
    writer.packet(interface, Instant::default(), Direction::Unknown, &[0x45], "").unwrap();
    let file = writer.finish().unwrap();
    let v4 = Bytes::new(false).u16(1).u16(11).put(&[10, 0, 0, 1]).put(b"client\0\0");
    let mut v6 = [0; 16];
    (v6[0], v6[15]) = (0xfd, 2);
    let v6 = Bytes::new(false).u16(2).u16(16 + 6 + 1).put(&v6).put("späth\0\0".as_bytes());
    let body = Bytes::new(false).put(&v4.bytes).put(&v6.bytes).u32(0).u32(0);
    let expected = Bytes::new(false).block(4, &body).bytes;
    assert_eq!(file[before..before + expected.len()], expected);
    assert_eq!(good(&file).len(), 1, "a reader passes over names");
    let mut none = Writer::new(Vec::new(), "").unwrap();
    let empty = none.out.len();
    none.names([]).unwrap();
    assert_eq!(none.out.len(), empty);
}

/// A decryption secrets block (§4.7): its type, its length, the type of the secrets, their length, and padding.
#[test]
fn secrets_are_in_a_block_that_is_skipped() {
    let mut writer = Writer::new(Vec::new(), "").expect("a vector takes everything");
    let interface = writer.interface("node").expect("a vector takes everything");
    let start = writer.out.len();
    writer.secrets("LABEL 00 11\n").expect("a vector takes everything");
    writer.packet(interface, Instant::ZERO, Direction::Unknown, &[0x45; 40], "").expect("a vector takes everything");
    let bytes = writer.finish().expect("a vector takes everything");
    let block = Bytes::new(false).u32(0x544c_534b).u32(12).put(b"LABEL 00 11\n").u32(0);
    let expected = Bytes::new(false).block(10, &block).bytes;
    assert_eq!(bytes[start..start + expected.len()], expected);
    assert_eq!(good(&bytes).len(), 1);
}

#[test]
fn many_names_are_in_several_blocks() {
    let mut writer = Writer::new(Vec::new(), "").unwrap();
    let before = writer.out.len();
    let long = "ä".repeat(40_000);
    writer
        .names((0..2_500_u32).map(|at| (std::net::Ipv4Addr::from_bits(at).into(), if at == 0 { &long } else { "n" })))
        .unwrap();
    let (mut offset, mut blocks) = (before, 0);
    while offset < writer.out.len() {
        assert_eq!(writer.out[offset..offset + 4], [4, 0, 0, 0]);
        offset += u32::from_le_bytes(writer.out[offset + 4..offset + 8].try_into().unwrap()) as usize;
        blocks += 1;
    }
    assert_eq!((offset, blocks), (writer.out.len(), 3));
}

#[test]
fn a_long_comment_is_cut_between_characters() {
    let mut writer = Writer::new(Vec::new(), "").unwrap();
    let interface = writer.interface("").unwrap();
    let long = "ä".repeat(40_000);
    writer.packet(interface, Instant::default(), Direction::Unknown, &[0x45], &long).unwrap();
    let packets = good(&writer.finish().unwrap());
    let comment = packets[0].comment.clone().unwrap();
    assert!(long.starts_with(&comment) && comment.len() > 65_000, "{}", comment.len());
}

#[test]
fn a_pipe_may_give_a_byte_at_a_time() {
    struct Drops(Cursor<Vec<u8>>);
    impl io::Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = buffer.len().min(1);
            self.0.read(&mut buffer[..len])
        }
    }
    let mut reader = Reader::open(Drops(Cursor::new(written()))).unwrap();
    let mut count = 0;
    while reader.next_packet().unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, 3);
}

/// Returns an 802.11 data frame with a radiotap header.
fn on_the_air(sequence: u64, is_retry: bool, ethertype: EtherType, payload: &[u8]) -> Vec<u8> {
    let [transmitter, receiver] = [0, 1].map(Address::of_node);
    let header =
        FrameHeader { transmitter, bssid: Address::of_network(0), sequence: Sequence::new(sequence), is_retry };
    let frame =
        Frame { duration: Duration::ZERO, receiver, body: FrameBody::Data { header, qos: None, ethertype, payload } };
    let mut out = Vec::new();
    radiotap::record(&mut out, &Radiotap { signal_dbm: Some(-70), ..Radiotap::default() }, &frame);
    out
}

#[test]
fn packets_of_the_air_are_read_once() {
    let mut writer = Writer::new(Vec::new(), "lightlag").unwrap();
    writer.interface("node").unwrap();
    let air = writer.interface_of("node air", LinkType::IEEE802_11_RADIOTAP).unwrap();
    let mut put = |frame: &[u8]| writer.packet(air, Instant::ZERO, Direction::Inbound, frame, "").unwrap();
    put(&on_the_air(1, false, EtherType::IPV4, &[0x45; 20]));
    put(&on_the_air(1, true, EtherType::IPV4, &[0x45; 20]));
    put(&on_the_air(2, true, EtherType::IPV6, &[0x60; 40]));
    put(&on_the_air(3, false, EtherType::ARP, &[1; 28]));
    let mut damaged = on_the_air(4, false, EtherType::IPV4, &[0x45; 20]);
    let last = damaged.len() - 5;
    damaged[last] ^= 1;
    put(&damaged);
    let seen = good(&writer.finish().unwrap());
    assert!(seen.iter().all(|seen| seen.interface == 1));
    let ip: Vec<_> = seen.into_iter().map(|seen| seen.ip).collect();
    assert_eq!(ip, [Some(vec![0x45; 20]), None, Some(vec![0x60; 40]), None, None]);
}

#[test]
fn the_header_of_gpsr_is_not_part_of_a_packet() {
    let mut greedy = vec![0; 49];
    greedy.extend([0x45; 20]);
    let file = |payload: &[u8]| {
        let frame = on_the_air(1, false, EtherType(0x88b5), payload);
        Bytes::new(false).classic(0xa1b2_c3d4, 127).record(0, 0, &frame).bytes
    };
    assert_eq!(good(&file(&greedy))[0].ip.as_deref(), Some(&[0x45; 20][..]));
    greedy[0] = 2;
    assert_eq!(good(&file(&greedy))[0].ip, None, "another experiment");
}

#[test]
fn frames_of_the_air_are_read_from_pcap_and_when_they_are_cut() {
    let frame = on_the_air(1, false, EtherType::IPV4, &[0x45; 20]);
    // 802.11 without radiotap has no check sequence.
    let bare = &frame[usize::from(frame[2])..frame.len() - 4];
    for (link, frame) in [(127, &frame[..]), (105, bare)] {
        let bytes = Bytes::new(false).classic(0xa1b2_c3d4, link).record(0, 0, frame).bytes;
        assert_eq!(good(&bytes)[0].ip.as_deref(), Some(&[0x45; 20][..]), "{link}");
    }
    for (missing, left) in [(1, 20), (4, 20), (5, 19), (24, 0)] {
        let captured = &frame[..frame.len() - missing];
        let record = Bytes::new(false).u32(0).u32(0).u32(captured.len() as u32).u32(frame.len() as u32).put(captured);
        let bytes = Bytes::new(false).classic(0xa1b2_c3d4, 127).put(&record.bytes).bytes;
        assert_eq!(good(&bytes)[0].ip.as_deref(), Some(&[0x45; 20][..left]), "{missing} bytes missing");
    }
}
