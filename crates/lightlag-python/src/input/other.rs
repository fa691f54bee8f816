//! Opening files on systems whose pipes have no paths.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A file or a device for reading.
pub(crate) struct Input {
    file: File,
    /// Length of a regular file in bytes.
    len: Option<u64>,
}

impl Input {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let about = file.metadata()?;
        Ok(Self { file, len: about.is_file().then_some(about.len()) })
    }

    /// Returns the length of a regular file in bytes; None for a device.
    pub(crate) fn len(&self) -> Option<u64> {
        self.len
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}
