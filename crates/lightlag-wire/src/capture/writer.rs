//! Writes captures as pcapng, with times in nanoseconds, several interfaces and comments.

use super::pcapng::{BYTE_ORDER, COMMENT, END, FLAGS, INTERFACE, NAME, NAMES, PACKET, RESOLUTION, SECTION, padding};
use super::{Direction, InterfaceId, LinkType};
use lightlag_core::Instant;
use std::io::{self, Write};
use std::net::IpAddr;

/// Option code for the name of the program that wrote the file (§4.1).
const APPLICATION: u16 = 4;

/// Resolution of times: units of 10^-9 seconds.
const NANOSECONDS: u8 = 9;

/// Record types in a name resolution block (§4.5): the end, and an IPv4 or IPv6 address with its name.
const RECORDS_END: u16 = 0;
const RECORD_V4: u16 = 1;
const RECORD_V6: u16 = 2;

/// Type of a decryption secrets block, and the type of secrets in it: a TLS key log (§4.7).
const SECRETS: u32 = 10;
const TLS_KEY_LOG: u32 = 0x544c_534b;

/// Maximum number of names in one block, so that no block becomes large.
const NAMES_IN_BLOCK: usize = 1000;

/// Maximum length of a string in an option or a record, in bytes. The length field has 16 bits, and covers an address
/// that precedes the string.
const LONGEST_TEXT: usize = 0xff00;

/// A capture that is being written as little-endian pcapng with one section. It does not keep written data in memory.
#[derive(Debug)]
pub struct Writer<W> {
    pub(super) out: W,
    block: Vec<u8>,
    interfaces: u32,
}

impl<W: Write> Writer<W> {
    /// Starts a file, in which `application` is the name of the program that wrote it. `out` should be buffered,
    /// because each packet is written immediately.
    ///
    /// # Errors
    /// If `out` returns an error.
    pub fn new(out: W, application: &str) -> io::Result<Self> {
        let mut writer = Self { out, block: Vec::new(), interfaces: 0 };
        writer.begin(u32::from_le_bytes(SECTION));
        writer.put(&BYTE_ORDER.to_le_bytes());
        // Version 1.0, and a section whose length is unknown.
        writer.put(&[1, 0, 0, 0]);
        writer.put(&u64::MAX.to_le_bytes());
        writer.text(APPLICATION, application);
        writer.end()?;
        Ok(writer)
    }

    /// Adds an interface for IP packets without a link-layer header. May be called at any time.
    ///
    /// # Errors
    /// If the file returns an error.
    pub fn interface(&mut self, name: &str) -> io::Result<InterfaceId> {
        self.interface_of(name, LinkType::RAW)
    }

    /// Adds an interface whose frames start with a header of the link type `link`.
    ///
    /// # Errors
    /// If the file returns an error.
    pub fn interface_of(&mut self, name: &str, link: LinkType) -> io::Result<InterfaceId> {
        self.begin(INTERFACE);
        self.put(&link.0.to_le_bytes());
        // Two reserved bytes, and no limit for packets.
        self.put(&[0; 6]);
        self.text(NAME, name);
        self.option(RESOLUTION, &[NANOSECONDS]);
        self.end()?;
        self.interfaces += 1;
        Ok(InterfaceId(self.interfaces - 1))
    }

    /// Writes names for addresses (§4.5), which other programs can show instead of the addresses. A name must not be
    /// empty or contain a NUL. The names must be written before the packets with these addresses.
    ///
    /// # Errors
    /// If the file returns an error.
    pub fn names<'a>(&mut self, names: impl IntoIterator<Item = (IpAddr, &'a str)>) -> io::Result<()> {
        let mut names = names.into_iter().peekable();
        while names.peek().is_some() {
            self.begin(NAMES);
            for (address, name) in names.by_ref().take(NAMES_IN_BLOCK) {
                let (kind, mut value) = match address {
                    IpAddr::V4(address) => (RECORD_V4, address.octets().to_vec()),
                    IpAddr::V6(address) => (RECORD_V6, address.octets().to_vec()),
                };
                value.extend_from_slice(whole_letters(name, LONGEST_TEXT).as_bytes());
                value.push(0);
                self.option(kind, &value);
            }
            self.option(RECORDS_END, &[]);
            self.end()?;
        }
        Ok(())
    }

    /// Writes a TLS key log (§4.7), with which other programs decrypt packets. It must be written before these packets.
    ///
    /// # Errors
    /// If the file returns an error.
    pub fn secrets(&mut self, key_log: &str) -> io::Result<()> {
        self.begin(SECRETS);
        self.put(&TLS_KEY_LOG.to_le_bytes());
        self.put(&(key_log.len() as u32).to_le_bytes());
        self.put(key_log.as_bytes());
        self.put(&[0; 3][..padding(key_log.len())]);
        self.end()
    }

    /// Writes a packet, or a frame of the interface's link type. An empty comment is omitted.
    ///
    /// # Errors
    /// If the file returns an error.
    ///
    /// # Panics
    /// If the interface belongs to another file.
    pub fn packet(
        &mut self,
        interface: InterfaceId,
        time: Instant,
        direction: Direction,
        packet: &[u8],
        comment: &str,
    ) -> io::Result<()> {
        assert!(interface.0 < self.interfaces, "{interface:?} is one of {} interfaces", self.interfaces);
        self.begin(PACKET);
        self.put(&interface.0.to_le_bytes());
        let nanos = time.as_nanos();
        self.put(&((nanos >> 32) as u32).to_le_bytes());
        self.put(&(nanos as u32).to_le_bytes());
        let length = (packet.len() as u32).to_le_bytes();
        self.put(&length);
        self.put(&length);
        self.put(packet);
        self.put(&[0; 3][..padding(packet.len())]);
        let flags: u32 = match direction {
            Direction::Unknown => 0,
            Direction::Inbound => 1,
            Direction::Outbound => 2,
        };
        if flags != 0 {
            self.option(FLAGS, &flags.to_le_bytes());
        }
        self.text(COMMENT, comment);
        self.end()
    }

    /// Flushes all buffered bytes, and returns the file.
    ///
    /// # Errors
    /// If the file returns an error.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.put(&kind.to_le_bytes());
        // The length, now that it is known.
        self.put(&[0; 4]);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
    }

    fn text(&mut self, code: u16, text: &str) {
        if !text.is_empty() {
            self.option(code, whole_letters(text, LONGEST_TEXT).as_bytes());
        }
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.put(&code.to_le_bytes());
        self.put(&(value.len() as u16).to_le_bytes());
        self.put(value);
        self.put(&[0; 3][..padding(value.len())]);
    }

    fn end(&mut self) -> io::Result<()> {
        self.option(END, &[]);
        let length = (self.block.len() as u32 + 4).to_le_bytes();
        self.block[4..8].copy_from_slice(&length);
        self.put(&length);
        self.out.write_all(&self.block)
    }
}

/// Returns the longest prefix of a string that has at most `max` bytes.
fn whole_letters(text: &str, max: usize) -> &str {
    let end = (0..=text.len().min(max)).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}
