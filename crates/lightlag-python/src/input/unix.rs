//! Opening files, pipes and devices without waiting.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Time limit for a process to open a pipe for writing, in intervals of [`LOOK_MS`].
const LOOKS: u32 = 40;
/// Milliseconds between two checks for the writer of a pipe.
const LOOK_MS: u16 = 50;

/// A file, a pipe or a character device for reading. A signal ends reading with an error, so that the caller can handle
/// it.
pub(crate) struct Input {
    file: File,
    /// Length of a regular file in bytes.
    len: Option<u64>,
    has_writer: bool,
}

impl Input {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be opened, or is a directory, a block device or a socket.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
        let about = file.metadata()?;
        let kind = about.file_type();
        if kind.is_dir() {
            return Err(io::Error::from_raw_os_error(libc::EISDIR));
        }
        if kind.is_block_device() || kind.is_socket() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is neither a file nor a pipe"));
        }
        Ok(Self { file, len: kind.is_file().then_some(about.len()), has_writer: !kind.is_fifo() })
    }

    /// Returns the length of a regular file in bytes; None for a pipe or a device.
    pub(crate) fn len(&self) -> Option<u64> {
        self.len
    }

    /// Waits for data or for the end of a pipe. Returns false after `timeout`.
    fn is_ready(&self, timeout: PollTimeout) -> io::Result<bool> {
        let mut waiting = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
        match poll(&mut waiting, timeout) {
            Ok(count) => Ok(count > 0),
            Err(Errno::EINTR) => Err(io::Error::other("interrupted by a signal")),
            Err(error) => Err(error.into()),
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut looks = 0;
        loop {
            match self.file.read(buffer) {
                // The end of a pipe, or no process has opened it yet.
                Ok(0) if !self.has_writer && !buffer.is_empty() => {
                    if self.is_ready(PollTimeout::from(LOOK_MS))? {
                        self.has_writer = true;
                    } else if looks == LOOKS {
                        return Err(io::Error::other("no process writes to this pipe"));
                    }
                    looks += 1;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.has_writer = true;
                    self.is_ready(PollTimeout::NONE)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    return Err(io::Error::other("interrupted by a signal"));
                }
                read => {
                    self.has_writer |= read.is_ok();
                    return read;
                }
            }
        }
    }
}
