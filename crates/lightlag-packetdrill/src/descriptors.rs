//! Descriptors that are real ones: the tool closes what a script leaves open through libc.

use crate::polling::Interests;
use lightlag_host::SocketId;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};

/// What a descriptor stands for.
pub(crate) enum Entry {
    Socket(SocketEntry),
    Epoll(Interests),
    /// One end of a real pipe.
    Pipe,
}

/// A socket as the application sees it.
#[derive(Clone, Debug)]
pub(crate) struct SocketEntry {
    pub(crate) id: SocketId,
    /// AF_INET or AF_INET6: the form in which addresses are told.
    pub(crate) domain: i32,
    pub(crate) nonblocking: bool,
    /// The end of a connect that did not block was told.
    pub(crate) connect_told: bool,
    /// Options that are kept and have no effect, by level and name.
    pub(crate) kept: BTreeMap<(i32, i32), Vec<u8>>,
}

impl SocketEntry {
    pub(crate) fn new(id: SocketId, domain: i32, nonblocking: bool) -> Self {
        Self { id, domain, nonblocking, connect_told: false, kept: BTreeMap::new() }
    }
}

/// All descriptors.
#[derive(Default)]
pub(crate) struct Descriptors {
    entries: BTreeMap<RawFd, (OwnedFd, Entry)>,
}

impl Descriptors {
    pub(crate) fn has(&self, fd: RawFd) -> bool {
        self.entries.contains_key(&fd)
    }

    /// A new descriptor, of /dev/null.
    pub(crate) fn open(&mut self, entry: Entry) -> io::Result<RawFd> {
        Ok(self.insert(File::open("/dev/null")?.into(), entry))
    }

    pub(crate) fn insert(&mut self, owned: OwnedFd, entry: Entry) -> RawFd {
        let fd = owned.as_raw_fd();
        if let Some((stale, _)) = self.entries.insert(fd, (owned, entry)) {
            // Closed behind our back, and its number was given again.
            let _ = stale.into_raw_fd();
        }
        fd
    }

    pub(crate) fn get(&self, fd: RawFd) -> Option<&Entry> {
        self.entries.get(&fd).map(|(_, entry)| entry)
    }

    pub(crate) fn get_mut(&mut self, fd: RawFd) -> Option<&mut Entry> {
        self.entries.get_mut(&fd).map(|(_, entry)| entry)
    }

    /// Closes a descriptor and says what it was.
    pub(crate) fn close(&mut self, fd: RawFd) -> Option<Entry> {
        self.entries.remove(&fd).map(|(_, entry)| entry)
    }
}

impl Drop for Descriptors {
    /// What is left was closed through libc, or will be: the numbers may belong to others by now.
    fn drop(&mut self) {
        for (owned, _) in std::mem::take(&mut self.entries).into_values() {
            let _ = owned.into_raw_fd();
        }
    }
}
