//! The payload that an application sends: a number of bytes of a pattern, or a file.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// Description of a payload.
#[derive(Clone, Debug)]
pub enum PayloadSource {
    /// This number of bytes of a pattern that does not repeat.
    Pattern(u64),
    /// The contents of a file.
    File(PathBuf),
}

/// A payload that is being sent, without the bytes that were sent already.
pub struct Payload {
    left: u64,
    from: From,
}

enum From {
    /// State of the SplitMix64 generator that produces the pattern.
    Pattern(u64),
    File(File),
}

impl PayloadSource {
    /// Opens the payload for sending from its start.
    ///
    /// # Errors
    /// If the file cannot be opened, or is not a regular file.
    pub fn open(&self) -> io::Result<Payload> {
        match self {
            Self::Pattern(len) => Ok(Payload { left: *len, from: From::Pattern(0) }),
            Self::File(path) => {
                let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
                // Before it is opened: opening a pipe waits for its writer.
                let about = std::fs::metadata(path).map_err(named)?;
                if !about.is_file() {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{}: no file", path.display())));
                }
                let file = File::open(path).map_err(named)?;
                Ok(Payload { left: about.len(), from: From::File(file) })
            }
        }
    }
}

impl Payload {
    /// Returns true if no bytes remain.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Returns the number of bytes that remain.
    pub fn len(&self) -> u64 {
        self.left
    }

    /// Discards the bytes that remain.
    pub fn discard(&mut self) {
        self.left = 0;
    }

    /// Appends up to `max` bytes to `out`.
    ///
    /// # Errors
    /// If the file cannot be read, or has been shortened.
    pub fn next(&mut self, max: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let len = self.left.min(max as u64) as usize;
        let start = out.len();
        match &mut self.from {
            From::Pattern(state) => {
                while out.len() < start + len {
                    out.extend_from_slice(&split_mix(state).to_le_bytes());
                }
                out.truncate(start + len);
            }
            From::File(file) => {
                out.resize(start + len, 0);
                file.read_exact(&mut out[start..])?;
            }
        }
        self.left -= len as u64;
        Ok(())
    }
}

/// Returns the next number of the SplitMix64 generator (Steele, Lea, Flood 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_the_same_however_it_is_split() {
        let all = |piece: usize| {
            let mut payload = PayloadSource::Pattern(1_000).open().unwrap();
            let mut out = Vec::new();
            while !payload.is_empty() {
                payload.next(piece, &mut out).unwrap();
            }
            out
        };
        assert_eq!(all(1_000).len(), 1_000);
        assert_eq!(all(1_000), all(64));
    }

    #[test]
    fn a_file_that_is_missing_is_named() {
        let error = PayloadSource::File("/nowhere/at all".into()).open().err().unwrap();
        assert!(error.to_string().starts_with("/nowhere/at all: "), "{error}");
    }
}
