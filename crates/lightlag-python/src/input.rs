//! Input files: they are opened without waiting for the writer of a pipe, and read up to a maximum size.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

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

/// Returns the contents of a file, a pipe or a character device, at most `most` bytes. With `only_files`, only regular
/// files are allowed. Errors are like the errors of Python's `open`, with the reason as `strerror`.
#[pyfunction]
#[pyo3(signature = (path, most, only_files=false))]
pub(crate) fn read_file(py: Python<'_>, path: PathBuf, most: u64, only_files: bool) -> PyResult<Bound<'_, PyBytes>> {
    let read = py.detach(|| bounded(&path, most, only_files));
    read.map(|bytes| PyBytes::new(py, &bytes)).map_err(|error| PyOSError::new_err((code(&error), reason(&error), path)))
}

fn bounded(path: &Path, max: u64, only_files: bool) -> io::Result<Vec<u8>> {
    let mut input = Input::open(path)?;
    if only_files && input.len().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let too_large = || Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {}", size(max))));
    let len = input.len().unwrap_or(0);
    if len > max {
        return too_large();
    }
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
    input.by_ref().take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return too_large();
    }
    Ok(bytes)
}

fn size(bytes: u64) -> String {
    if bytes >= 1 << 30 { format!("{} GiB", bytes >> 30) } else { format!("{} MiB", bytes >> 20) }
}

/// Returns the error number. Python derives the class of the exception from it.
fn code(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or_else(|| match error.kind() {
        io::ErrorKind::FileTooLarge => libc::EFBIG,
        io::ErrorKind::InvalidInput => libc::EINVAL,
        _ => libc::EIO,
    })
}

fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or(&text).to_owned()
}
