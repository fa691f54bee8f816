//! The descriptors. All are real file descriptors, because the tool closes those that a script leaves open through
//! libc.

use lightlag_host::SocketId;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};

/// The object that a descriptor refers to.
pub(crate) enum Entry {
    Socket(SocketEntry),
    Epoll(Interests),
    /// One end of a real pipe.
    Pipe,
}

/// The descriptors that an epoll watches.
pub(crate) type Interests = BTreeMap<RawFd, Interest>;

/// One watched descriptor of an epoll.
#[derive(Clone, Copy)]
pub(crate) struct Interest {
    pub(crate) events: u32,
    pub(crate) data: u64,
    /// For EPOLLET: an event that is not reported yet, and the last notification counts of a reader and of a writer.
    pub(crate) pending: bool,
    pub(crate) wakes: (u64, u64),
}

/// A socket from the application's point of view.
#[derive(Clone, Debug)]
pub(crate) struct SocketEntry {
    pub(crate) id: SocketId,
    /// AF_INET or AF_INET6: the form of reported addresses.
    pub(crate) domain: i32,
    pub(crate) nonblocking: bool,
    /// The outcome of a non-blocking connect was reported.
    pub(crate) connect_told: bool,
    /// Options without effect, by level and name. Their values are stored.
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

    /// Opens a new descriptor, of /dev/null.
    pub(crate) fn open(&mut self, entry: Entry) -> io::Result<RawFd> {
        Ok(self.insert(File::open("/dev/null")?.into(), entry))
    }

    pub(crate) fn insert(&mut self, owned: OwnedFd, entry: Entry) -> RawFd {
        let fd = owned.as_raw_fd();
        if let Some((stale, _)) = self.entries.insert(fd, (owned, entry)) {
            // The tool closed it through libc, and its number was assigned again.
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

    /// Closes a descriptor and returns its object.
    pub(crate) fn close(&mut self, fd: RawFd) -> Option<Entry> {
        self.entries.remove(&fd).map(|(_, entry)| entry)
    }
}

impl Drop for Descriptors {
    /// Does not close the remaining descriptors: they were closed through libc or will be, and their numbers may be
    /// reused.
    fn drop(&mut self) {
        for (owned, _) in std::mem::take(&mut self.entries).into_values() {
            let _ = owned.into_raw_fd();
        }
    }
}
