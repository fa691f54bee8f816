//! Sequential input from a file, decompressed if necessary, and numbers in either byte order.

use super::{CaptureError, TruncatedFile};
use flate2::read::MultiGzDecoder;
use std::io::{self, BufReader, Chain, Cursor, Read};

/// Size of the read buffer in bytes.
const CHUNK: usize = 1 << 16;

/// The byte order of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Big,
    Little,
}

impl Order {
    pub fn u16(self, bytes: [u8; 2]) -> u16 {
        if self == Self::Big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    pub fn u32(self, bytes: [u8; 4]) -> u32 {
        if self == Self::Big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    pub fn u64(self, bytes: [u8; 8]) -> u64 {
        if self == Self::Big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) }
    }
}

/// Fields of a record that are read one after another.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    pub order: Order,
    pub bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    pub fn u16(&mut self) -> Option<u16> {
        Some(self.order.u16(self.take(2)?.try_into().ok()?))
    }

    pub fn u32(&mut self) -> Option<u32> {
        Some(self.order.u32(self.take(4)?.try_into().ok()?))
    }
}

/// The first bytes of a file, which identify its format.
pub type Magic = [u8; 4];

/// The first bytes of a file compressed by gzip (RFC 1952 §2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A capture file that is being read.
pub struct Input<R> {
    source: InputSource<R>,
    /// Number of bytes read so far, after decompression.
    at: u64,
}

/// A compressed file: the first bytes, which were already read, followed by the rest.
type Packed<R> = Chain<Cursor<Magic>, BufReader<R>>;

enum InputSource<R> {
    Plain(BufReader<R>),
    Gzip(Box<BufReader<MultiGzDecoder<Packed<R>>>>),
    /// Placeholder while the source is being replaced.
    Empty,
}

impl<R: Read> Read for InputSource<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(source) => source.read(buffer),
            // A compressed file that is cut ends where its last complete part ends.
            Self::Gzip(source) => match source.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
                // flate2 names only the damage.
                Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
                    Err(io::Error::new(error.kind(), format!("the gzip file is damaged ({error}); copy it again")))
                }
                read => read,
            },
            Self::Empty => Ok(0),
        }
    }
}

/// The result of filling a buffer.
pub enum Filled {
    /// The buffer was filled.
    Whole,
    /// Only this many bytes were read, possibly none, because the file ended.
    Part(usize),
}

impl<R: Read> Input<R> {
    pub fn new(source: R) -> Self {
        Self { source: InputSource::Plain(BufReader::with_capacity(CHUNK, source)), at: 0 }
    }

    /// Reads the first bytes of the file. If it is compressed with gzip, they are the first bytes after decompression.
    pub fn magic(&mut self) -> io::Result<Result<Magic, Filled>> {
        let mut magic = [0; 4];
        match self.fill(&mut magic)? {
            Filled::Whole if magic[..2] == GZIP => {}
            Filled::Whole => return Ok(Ok(magic)),
            part => return Ok(Err(part)),
        }
        if let InputSource::Plain(packed) = std::mem::replace(&mut self.source, InputSource::Empty) {
            let unpacked = MultiGzDecoder::new(Cursor::new(magic).chain(packed));
            self.source = InputSource::Gzip(Box::new(BufReader::with_capacity(CHUNK, unpacked)));
        }
        self.at = 0;
        match self.fill(&mut magic)? {
            Filled::Whole => Ok(Ok(magic)),
            part => Ok(Err(part)),
        }
    }

    /// Returns the number of bytes read so far, after decompression.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Fills `buffer` as far as the file has bytes.
    pub fn fill(&mut self, buffer: &mut [u8]) -> io::Result<Filled> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.source.read(&mut buffer[filled..]) {
                Ok(0) => return Ok(Filled::Part(filled)),
                Ok(count) => {
                    filled += count;
                    self.at += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Filled::Whole)
    }

    /// Replaces the contents of `buffer` by the next `len` bytes. `begun` bytes of the same block were read before.
    pub fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        len: usize,
        begun: u64,
    ) -> Result<Result<(), TruncatedFile>, CaptureError> {
        buffer.clear();
        // Memory grows only as bytes arrive, so a damaged length takes none.
        while buffer.len() < len {
            let start = buffer.len();
            buffer.resize(len.min(start + CHUNK), 0);
            if let Filled::Part(count) = self.fill(&mut buffer[start..])? {
                let present = begun + (start + count) as u64;
                return Ok(Err(TruncatedFile { at: self.at - present, needed: begun + len as u64, present }));
            }
        }
        Ok(Ok(()))
    }

    /// Skips the next `len` bytes. `begun` bytes of the same block were read before.
    pub fn skip(&mut self, len: u64, begun: u64) -> Result<Result<(), TruncatedFile>, CaptureError> {
        let skipped = io::copy(&mut self.source.by_ref().take(len), &mut io::sink())?;
        self.at += skipped;
        let present = begun + skipped;
        Ok(if skipped < len {
            Err(TruncatedFile { at: self.at - present, needed: begun + len, present })
        } else {
            Ok(())
        })
    }
}
