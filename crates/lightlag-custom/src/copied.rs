//! Private copies of shared libraries.
//!
//! The loader maps the file of a library. If the file is overwritten or truncated while it is mapped, as `cp` and some
//! build tools do, the process executes other code or is killed by SIGBUS. A copy in memory that belongs only to this
//! process cannot change, and contains exactly the bytes that were checked.

// Creates a file in memory by a system call.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::PathBuf;

/// A copy of a library, as a file in memory.
pub(crate) struct Copied {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there are no such files on this platform"))]
    file: File,
}

impl Copied {
    /// Copies a library. Returns `None` if the system does not support files in memory, or if memory is exhausted.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(name: &std::path::Path, bytes: &[u8]) -> Option<Self> {
        use std::ffi::CString;
        use std::io::Write;
        use std::os::fd::FromRawFd;
        use std::os::unix::ffi::OsStrExt;

        /// Maximum length of the name in bytes; a limit of the kernel.
        const LONGEST: usize = 249;
        // Maps of the process, as debuggers and profilers read them, show this name.
        let name = name.file_name()?.as_bytes();
        let name = CString::new(&name[..name.len().min(LONGEST)]).ok()?;
        // SAFETY: the name ends with a zero byte.
        let descriptor = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor < 0 {
            return None;
        }
        // SAFETY: the descriptor is new, and nothing else owns it.
        let mut file = unsafe { File::from_raw_fd(descriptor) };
        file.write_all(bytes).ok()?;
        Some(Self { file })
    }

    /// Returns `None`: copies are not supported on this system.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of(_: &std::path::Path, _: &[u8]) -> Option<Self> {
        None
    }

    /// Returns a path to the copy. It is valid in this process and in a debugger, as long as the copy exists.
    #[cfg(target_os = "linux")]
    pub(crate) fn path(&self) -> PathBuf {
        use std::os::fd::AsRawFd;

        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()))
    }

    /// Returns a path to the copy.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn path(&self) -> PathBuf {
        unreachable!("there is no copy")
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_copy_has_the_bytes_and_is_dropped_with_its_value() {
        let copy = Copied::of(Path::new("/some/folder/libmine.so"), b"bytes").unwrap();
        let path = copy.path();
        assert_eq!(std::fs::read(&path).unwrap(), b"bytes");
        assert!(std::fs::read_link(&path).unwrap().to_string_lossy().contains("libmine.so"));
        drop(copy);
        assert!(!path.exists() || std::fs::read(&path).is_ok_and(|bytes| bytes != b"bytes"));
    }
}
