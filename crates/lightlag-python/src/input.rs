//! Input files: they are opened without waiting for the writer of a pipe, and read up to a maximum size.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use other::Input;
#[cfg(unix)]
pub(crate) use unix::Input;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Returns the contents of a file, a pipe or a character device, at most `most` bytes. With `only_files`, only regular
/// files are allowed. Errors are like the errors of Python's `open`, with the reason as `strerror`.
#[pyfunction]
#[pyo3(signature = (path, most, only_files=false))]
pub(crate) fn read_file(py: Python<'_>, path: PathBuf, most: u64, only_files: bool) -> PyResult<Bound<'_, PyBytes>> {
    let read = py.detach(|| bounded(&path, most, only_files));
    read.map(|bytes| PyBytes::new(py, &bytes)).map_err(|error| os_error(&error, path))
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

/// Returns Python's exception for an error of the system.
fn os_error(error: &io::Error, path: PathBuf) -> PyErr {
    match error.raw_os_error() {
        // Python derives its error number from the number of Windows.
        Some(number) if cfg!(windows) => PyOSError::new_err((libc::EIO, reason(error), path, number)),
        _ => PyOSError::new_err((code(error), reason(error), path)),
    }
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
