//! Reads captures of both forms, packet by packet.

use super::classic::Classic;
use super::input::{Filled, Input};
use super::pcapng::{self, Section};
use super::{CaptureError, Cut, Direction, Interface, InterfaceId, Packet, link};
use crate::dot11::{Duplicates, Relayed};
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
    timeless: u64,
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
        let mut magic = [0; 4];
        if let Filled::Part(count) = input.fill(&mut magic)? {
            let what = if count == 0 { "the file is empty" } else { "the file has less than four bytes" };
            return Err(CaptureError::NotACapture(what));
        }
        let (mut buffer, mut interfaces) = (Vec::new(), Vec::new());
        let form = if magic == pcapng::SECTION {
            Form::Pcapng(pcapng::open(&mut input, &mut buffer, 0)?)
        } else if let Some(recognised) = Classic::recognise(magic) {
            let classic = Classic::open(&mut input, recognised)?;
            interfaces.push(Interface { name: String::new(), link: classic.link });
            Form::Classic(classic)
        } else {
            return Err(CaptureError::NotACapture(unrecognised(magic)));
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
            cut: None,
            ended: false,
        })
    }

    /// The next packet. `None` at the end of the file, even if that comes too early: see [`Reader::cut`].
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or has an unknown link type. Earlier packets were right; no more follow.
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
                    at: record.at,
                    wire_len: record.wire_len,
                    direction: Direction::Unknown,
                    frame: 0..self.buffer.len(),
                    comment: None,
                })
            }),
            Form::Pcapng(section) => {
                section.next(&mut self.input, &mut self.buffer, &mut self.interfaces, &mut self.timeless)?
            }
        };
        let record = match record {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(None),
            Err(cut) => {
                self.cut = Some(cut);
                return Ok(None);
            }
        };
        let interface = &self.interfaces[record.interface.0 as usize];
        let frame = &self.buffer[record.frame];
        let ip = if interface.link.is_wireless() {
            let msdu = interface.link.msdu(frame, record.wire_len);
            let msdu = msdu.filter(|msdu| !self.duplicates.is_copy(record.interface.0, msdu));
            let ip = msdu.and_then(|msdu| link::packet(&msdu));
            ip.filter(|ip| !self.relayed.is_copy(record.interface.0, ip))
        } else if let Ok(ip) = interface.link.ip(frame) {
            ip
        } else {
            return Err(CaptureError::UnknownLink {
                interface: record.interface.0,
                name: interface.name.clone(),
                link: interface.link,
            });
        };
        self.ended = false;
        self.packets += 1;
        Ok(Some(Packet {
            number: self.packets + self.timeless,
            interface: record.interface,
            at: record.at,
            direction: record.direction,
            wire_len: record.wire_len,
            frame,
            ip,
            comment: record.comment.map(|place| String::from_utf8_lossy(&self.buffer[place])),
        }))
    }

    /// The interfaces described so far.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// The position of an incomplete end of the file, once known.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// Packets left out because the capture has no time for them (simple packet blocks).
    pub fn without_time(&self) -> u64 {
        self.timeless
    }
}

fn unrecognised(magic: [u8; 4]) -> &'static str {
    match magic {
        [0x1f, 0x8b, ..] => "the file is compressed by gzip: unpack it first (gunzip)",
        [0x28, 0xb5, 0x2f, 0xfd] => "the file is compressed by zstd: unpack it first (unzstd)",
        [0xa1, 0xb2, 0xcd, 0x34] | [0x34, 0xcd, 0xb2, 0xa1] => {
            "pcap in the form of Kuznetzov, which no longer is in use: convert it (editcap)"
        }
        _ => "the file begins neither like pcapng nor like pcap",
    }
}
