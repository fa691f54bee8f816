//! Reads captures in both formats, packet by packet.

use super::classic::Classic;
use super::input::{Filled, Input};
use super::layers::{self, Bytes, Content, Layer, Protocol};
use super::pcapng::{self, Section};
use super::{CaptureError, Direction, Interface, InterfaceId, LinkType, Other, Packet, TruncatedFile};
use crate::dot11::{Duplicates, Msdu, Relayed};
use lightlag_core::Instant;
use std::io::Read;

/// A capture being read from a file or a pipe. Only one packet is stored at a time.
///
/// ```no_run
/// use lightlag_wire::{capture::Reader, decode_captured};
///
/// let mut reader = Reader::open(std::fs::File::open("capture.pcapng")?)?;
/// while let Some(packet) = reader.next_packet()? {
///     if let Some(Ok(tcp)) = packet.ip.map(decode_captured) {
///         println!("{} {:?}", packet.at, tcp.segment);
///     }
/// }
/// if let Some(cut) = reader.cut() {
///     eprintln!("{cut}");
/// }
/// # Ok::<(), lightlag_wire::capture::CaptureError>(())
/// ```
pub struct Reader<R> {
    input: Input<R>,
    form: ReaderFormat,
    interfaces: Vec<Interface>,
    buffer: Vec<u8>,
    duplicates: Duplicates,
    relayed: Relayed,
    packets: u64,
    /// `timeless` is the number of packets without a time, `last` the time of the last packet that has one.
    timeless: u64,
    last: Instant,
    /// The first interface whose packets have an unsupported link type, with that link type.
    unread: Option<(InterfaceId, LinkType)>,
    /// Whether a packet with a supported link type was read.
    is_readable: bool,
    cut: Option<TruncatedFile>,
    ended: bool,
}

enum ReaderFormat {
    Classic(Classic),
    Pcapng(Section),
}

impl<R: Read> Reader<R> {
    /// Reads the header of a capture.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a capture.
    pub fn open(source: R) -> Result<Self, CaptureError> {
        let mut input = Input::new(source);
        let magic = match input.magic()? {
            Ok(magic) => magic,
            Err(Filled::Part(0)) => return Err(CaptureError::NotACapture("the file is empty")),
            Err(_) => return Err(CaptureError::NotACapture("the file has fewer than four bytes")),
        };
        let (mut buffer, mut interfaces) = (Vec::new(), Vec::new());
        let form = if magic == pcapng::SECTION {
            ReaderFormat::Pcapng(pcapng::open(&mut input, &mut buffer, 0)?)
        } else if let Some(recognised) = Classic::recognise(magic) {
            let classic = Classic::open(&mut input, recognised)?;
            interfaces.push(Interface { name: String::new(), link: classic.link });
            ReaderFormat::Classic(classic)
        } else {
            return Err(unrecognised(magic));
        };
        let (duplicates, relayed) = Default::default();
        Ok(Self {
            input,
            form,
            interfaces,
            buffer,
            duplicates,
            relayed,
            packets: 0,
            timeless: 0,
            last: Instant::ZERO,
            unread: None,
            is_readable: false,
            cut: None,
            ended: false,
        })
    }

    /// Returns the next packet; `None` at the end of the file, even if the file is truncated: see [`Reader::cut`].
    ///
    /// # Errors
    /// If the file cannot be read or is damaged: earlier packets were correct, and no more follow. At the end of a file
    /// in which no packet has a supported link type: [`CaptureError::UnknownLink`].
    pub fn next_packet(&mut self) -> Result<Option<Packet<'_>>, CaptureError> {
        if self.ended {
            return Ok(None);
        }
        // Unless a packet is found, this call is the last, with an error or without.
        self.ended = true;
        let record = match &mut self.form {
            ReaderFormat::Classic(classic) => classic.next(&mut self.input, &mut self.buffer)?.map(|record| {
                record.map(|record| pcapng::PcapngRecord {
                    interface: InterfaceId(0),
                    at: Some(record.at),
                    wire_len: record.wire_len,
                    direction: Direction::Unknown,
                    frame: 0..self.buffer.len(),
                    comment: None,
                })
            }),
            ReaderFormat::Pcapng(section) => section.next(&mut self.input, &mut self.buffer, &mut self.interfaces)?,
        };
        let record = match record {
            Ok(Some(record)) => record,
            Ok(None) => return self.end(),
            Err(cut) => {
                self.cut = Some(cut);
                return self.end();
            }
        };
        let interface = &self.interfaces[record.interface.0 as usize];
        let frame = &self.buffer[record.frame];
        let bytes = Bytes { bytes: frame, missing: record.wire_len as usize - frame.len() };
        let protocol = Protocol::Link(interface.link);
        let content = match layers::content(Layer { protocol, bytes }) {
            Content::Wireless(msdu, bytes) => {
                unwrapped(&mut self.duplicates, &mut self.relayed, record.interface.0, msdu, bytes.missing)
            }
            content => content,
        };
        let ip = match content {
            Content::Ip(packet) => Ok(packet),
            Content::Other(other) => Err(other),
            Content::Wireless(..) => Err(Other::Named("802.11 in 802.11")),
        };
        if let Err(Other::Link(link)) = ip {
            self.unread.get_or_insert((record.interface, link));
        } else {
            self.is_readable = true;
        }
        self.ended = false;
        self.packets += 1;
        self.timeless += u64::from(record.at.is_none());
        self.last = record.at.unwrap_or(self.last);
        Ok(Some(Packet {
            number: self.packets,
            interface: record.interface,
            at: self.last,
            has_time: record.at.is_some(),
            direction: record.direction,
            wire_len: record.wire_len,
            frame,
            ip: ip.ok().map(|packet| packet.bytes),
            content: ip,
            comment: record.comment.map(|place| String::from_utf8_lossy(&self.buffer[place])),
        }))
    }

    /// Returns the result at the end of the file: an error if no packet has a supported link type.
    fn end(&self) -> Result<Option<Packet<'_>>, CaptureError> {
        match self.unread.filter(|_| !self.is_readable) {
            Some((interface, link)) => Err(CaptureError::UnknownLink {
                interface: interface.0,
                name: self.interfaces[interface.0 as usize].name.clone(),
                link,
            }),
            None => Ok(None),
        }
    }

    /// Returns the interfaces that were described so far.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Returns where the file was truncated, once that is known.
    pub fn cut(&self) -> Option<TruncatedFile> {
        self.cut
    }

    /// Returns the number of packets without a time (simple packet blocks).
    pub fn without_time(&self) -> u64 {
        self.timeless
    }
}

/// Returns the contents of an 802.11 data frame, unless it is a retransmission or a forwarded packet that was captured
/// before.
fn unwrapped<'a>(
    duplicates: &mut Duplicates,
    relayed: &mut Relayed,
    interface: u32,
    msdu: Msdu<'a>,
    missing: usize,
) -> Content<'a> {
    if duplicates.is_copy(interface, &msdu) {
        return Content::Other(Other::Named("retransmission of 802.11"));
    }
    let bytes = Bytes { bytes: msdu.payload, missing };
    match layers::content(Layer { protocol: Protocol::EtherType(msdu.ethertype.0), bytes }) {
        Content::Ip(packet) if relayed.is_copy(interface, packet.bytes) => {
            Content::Other(Other::Named("packet forwarded over 802.11"))
        }
        content => content,
    }
}

/// Unsupported file formats: the first bytes, a name, and instructions for converting such a file to a capture.
const FOREIGN: [(&[u8], &str, &str); 14] = [
    (b"snoo", "a snoop capture", EDITCAP),
    (b"GMBU", "a Microsoft Network Monitor capture", EDITCAP),
    (b"RTSS", "a Microsoft Network Monitor capture", EDITCAP),
    (b"TRSN", "a Sniffer capture", EDITCAP),
    (b"XCP\0", "a NetXRay capture", EDITCAP),
    (b"iptr", "an iptrace capture", EDITCAP),
    (b"\xaa\xaa\xaa\xaa", "a 5View capture", EDITCAP),
    (b"btsn", "a Bluetooth log", "it has no IP packets"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it first (unzstd FILE)"),
    (b"\x04\x22\x4d\x18", "compressed with lz4", "unpack it first (unlz4 FILE)"),
    (b"\xfd7zX", "compressed with xz", "unpack it first (unxz FILE)"),
    (b"BZh", "compressed with bzip2", "unpack it first (bunzip2 FILE)"),
    (b"PK\x03\x04", "a zip archive", "unpack it first (unzip FILE)"),
    (b"7z\xbc\xaf", "a 7-Zip archive", "unpack it first (7z x FILE)"),
];

/// Instructions for converting a format that Wireshark's tools can read.
const EDITCAP: &str = "convert it (editcap -F pcapng FILE new.pcapng)";

fn unrecognised(magic: [u8; 4]) -> CaptureError {
    match FOREIGN.iter().find(|(start, ..)| magic.starts_with(start)) {
        Some((_, what, fix)) => CaptureError::Foreign { what, fix },
        None => CaptureError::NotACapture("the file starts with neither a pcapng nor a pcap header"),
    }
}
