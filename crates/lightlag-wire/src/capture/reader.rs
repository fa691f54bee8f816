//! Reads captures of both forms, packet by packet.

use super::classic::Classic;
use super::input::{Filled, Input};
use super::layers::{self, Bytes, Content, Layer, Protocol};
use super::pcapng::{self, Section};
use super::{CaptureError, Cut, Direction, Interface, InterfaceId, LinkType, Other, Packet};
use crate::dot11::{Duplicates, Msdu, Relayed};
use lightlag_core::Instant;
use std::io::Read;

/// A capture being read from a file or a pipe. It holds one packet at a time.
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
    form: Form,
    interfaces: Vec<Interface>,
    buffer: Vec<u8>,
    duplicates: Duplicates,
    relayed: Relayed,
    packets: u64,
    /// Packets without a time, and the time of the last one that has a time.
    timeless: u64,
    last: Instant,
    /// The first interface with a link type that is not read.
    unread: Option<(InterfaceId, LinkType)>,
    /// A packet with another link type came.
    is_readable: bool,
    cut: Option<Cut>,
    ended: bool,
}

enum Form {
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
            Err(_) => return Err(CaptureError::NotACapture("the file has less than four bytes")),
        };
        let (mut buffer, mut interfaces) = (Vec::new(), Vec::new());
        let form = if magic == pcapng::SECTION {
            Form::Pcapng(pcapng::open(&mut input, &mut buffer, 0)?)
        } else if let Some(recognised) = Classic::recognise(magic) {
            let classic = Classic::open(&mut input, recognised)?;
            interfaces.push(Interface { name: String::new(), link: classic.link });
            Form::Classic(classic)
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

    /// The next packet. `None` at the end of the file, even if that comes too early: see [`Reader::cut`].
    ///
    /// # Errors
    /// If the file cannot be read or is damaged. Earlier packets were right; no more follow. At the end of a file that
    /// has only packets with link types that are not read: [`CaptureError::UnknownLink`].
    pub fn next_packet(&mut self) -> Result<Option<Packet<'_>>, CaptureError> {
        if self.ended {
            return Ok(None);
        }
        // Unless a packet is found, this call is the last, with an error or without.
        self.ended = true;
        let record = match &mut self.form {
            Form::Classic(classic) => classic.next(&mut self.input, &mut self.buffer)?.map(|record| {
                record.map(|record| pcapng::Record {
                    interface: InterfaceId(0),
                    at: Some(record.at),
                    wire_len: record.wire_len,
                    direction: Direction::Unknown,
                    frame: 0..self.buffer.len(),
                    comment: None,
                })
            }),
            Form::Pcapng(section) => section.next(&mut self.input, &mut self.buffer, &mut self.interfaces)?,
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

    /// The end of the file: an error if no link type in it is read.
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

    /// The interfaces described so far.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// The position of an incomplete end of the file, once known.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// Packets for which the capture has no time (simple packet blocks).
    pub fn without_time(&self) -> u64 {
        self.timeless
    }
}

/// The contents of a data frame of 802.11, unless the capture has seen them before.
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
            Content::Other(Other::Named("packet passed on over 802.11"))
        }
        content => content,
    }
}

/// Forms of files that are not read: their first bytes, a name, and what makes a capture of them.
const FOREIGN: [(&[u8], &str, &str); 14] = [
    (b"snoo", "a capture of snoop", EDITCAP),
    (b"GMBU", "a capture of Microsoft Network Monitor", EDITCAP),
    (b"RTSS", "a capture of Microsoft Network Monitor", EDITCAP),
    (b"TRSN", "a capture of Sniffer", EDITCAP),
    (b"XCP\0", "a capture of NetXRay", EDITCAP),
    (b"iptr", "a capture of iptrace", EDITCAP),
    (b"\xaa\xaa\xaa\xaa", "a capture of 5View", EDITCAP),
    (b"btsn", "a log of Bluetooth", "it has no IP packets"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "unpack it first (unzstd FILE)"),
    (b"\x04\x22\x4d\x18", "compressed by lz4", "unpack it first (unlz4 FILE)"),
    (b"\xfd7zX", "compressed by xz", "unpack it first (unxz FILE)"),
    (b"BZh", "compressed by bzip2", "unpack it first (bunzip2 FILE)"),
    (b"PK\x03\x04", "an archive of zip", "unpack it first (unzip FILE)"),
    (b"7z\xbc\xaf", "an archive of 7-Zip", "unpack it first (7z x FILE)"),
];

/// Wireshark's tools read these forms.
const EDITCAP: &str = "convert it (editcap -F pcapng FILE new.pcapng)";

fn unrecognised(magic: [u8; 4]) -> CaptureError {
    match FOREIGN.iter().find(|(start, ..)| magic.starts_with(start)) {
        Some((_, what, fix)) => CaptureError::Foreign { what, fix },
        None => CaptureError::NotACapture("the file begins neither like pcapng nor like pcap"),
    }
}
