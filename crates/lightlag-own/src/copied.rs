//! Private copies of shared libraries.
//!
//! The loader maps a library. If its file is overwritten or cut off meanwhile, as `cp` and some build tools do, the process
//! runs other code or dies of SIGBUS. A copy in memory that belongs to this process alone cannot change, and holds exactly the
//! bytes that were checked.

// The system is asked for a file in memory.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::PathBuf;

/// A file in memory.
pub(crate) struct Copied {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there are no such files"))]
    file: File,
}

impl Copied {
    /// Copies a library. Returns `None` where the system has no files in memory, or has no room.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(name: &std::path::Path, bytes: &[u8]) -> Option<Self> {
        use std::ffi::CString;
        use std::io::Write;
        use std::os::fd::FromRawFd;
        use std::os::unix::ffi::OsStrExt;

        /// Longest name in bytes that the kernel takes.
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

    /// Copies nothing.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of(_: &std::path::Path, _: &[u8]) -> Option<Self> {
        None
    }

    /// A path that leads to the copy while it lives, in this process and in a debugger.
    #[cfg(target_os = "linux")]
    pub(crate) fn path(&self) -> PathBuf {
        use std::os::fd::AsRawFd;

        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()))
    }

    /// A path that leads to the copy.
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
    fn a_copy_has_the_bytes_and_goes_with_its_value() {
        let copy = Copied::of(Path::new("/some/folder/libmine.so"), b"bytes").unwrap();
        let path = copy.path();
        assert_eq!(std::fs::read(&path).unwrap(), b"bytes");
        assert!(std::fs::read_link(&path).unwrap().to_string_lossy().contains("libmine.so"));
        drop(copy);
        assert!(!path.exists() || std::fs::read(&path).is_ok_and(|bytes| bytes != b"bytes"));
    }
}
