//! `poll`, `epoll`, pipes and `splice`.

use crate::descriptors::{Entry, Interest, Interests};
use crate::errno::{Errno, Outcome};
use crate::world::{Inner, World};
use libc::{epoll_event, pollfd};
use lightlag_core::{Duration, Instant};
use std::io::{self, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Events that are always reported, requested or not.
const ALWAYS: i16 = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;

impl Inner {
    /// The events at a descriptor (poll(2)).
    fn events(&mut self, fd: RawFd) -> i16 {
        let Ok(id) = self.id(fd) else { return libc::POLLNVAL };
        let Ok(ready) = self.stack.readiness(id) else { return libc::POLLNVAL };
        let mut events = 0;
        for (on, bits) in [
            (ready.readable, libc::POLLIN | libc::POLLRDNORM),
            (ready.writable, libc::POLLOUT | libc::POLLWRNORM),
            (ready.peer_closed, libc::POLLRDHUP),
            (ready.hung_up, libc::POLLHUP),
            (ready.error, libc::POLLERR),
        ] {
            events |= if on { bits } else { 0 };
        }
        events
    }

    /// Number of notifications of a reader and of a writer at a descriptor.
    fn wakes(&mut self, fd: RawFd) -> (u64, u64) {
        let Ok(id) = self.id(fd) else { return (0, 0) };
        self.stack.readiness(id).map_or((0, 0), |ready| (ready.arrivals, ready.releases))
    }

    fn poll_once(&mut self, list: &mut [pollfd]) -> i32 {
        for item in list.iter_mut() {
            item.revents = if item.fd < 0 { 0 } else { self.events(item.fd) & (item.events | ALWAYS) };
        }
        list.iter().filter(|item| item.revents != 0).count() as i32
    }

    fn epoll_once(&mut self, epoll: RawFd, most: usize) -> Outcome<Vec<epoll_event>> {
        let interests = match self.descriptors.get(epoll) {
            Some(Entry::Epoll(interests)) => interests.clone(),
            Some(_) => return Err(Errno(libc::EINVAL)),
            None => return Err(Errno(libc::EBADF)),
        };
        let mut found = Vec::new();
        for (fd, mut interest) in interests {
            if !self.descriptors.has(fd) || interest.events & !(libc::EPOLLET as u32) == 0 {
                continue;
            }
            let now = u32::from(self.events(fd) as u16) & (interest.events | u32::from(ALWAYS as u16));
            let wakes = self.wakes(fd);
            // As `ep_poll_callback`: arrivals do not unblock a waiter that polls only for buffer space.
            let wants = |bits: i32| interest.events & bits as u32 != 0;
            interest.pending |= wakes.0 != interest.wakes.0 && wants(libc::EPOLLIN | libc::EPOLLRDHUP)
                || wakes.1 != interest.wakes.1 && wants(libc::EPOLLOUT);
            interest.wakes = wakes;
            let edge = interest.events & libc::EPOLLET as u32 != 0;
            if now != 0 && (interest.pending || !edge) && found.len() < most {
                found.push(epoll_event { events: now, u64: interest.data });
                interest.pending = false;
                if interest.events & libc::EPOLLONESHOT as u32 != 0 {
                    interest.events = 0;
                }
            } else if now == 0 {
                interest.pending = false;
            }
            if let Some(Entry::Epoll(interests)) = self.descriptors.get_mut(epoll) {
                interests.insert(fd, interest);
            }
        }
        Ok(found)
    }

    /// Returns the deadline of a wait in milliseconds. A negative wait has none.
    fn deadline(&self, timeout: i32) -> Option<Instant> {
        u64::try_from(timeout).ok().map(|millis| self.now + Duration::from_millis(millis))
    }
}

impl World {
    /// `poll(2)`.
    pub fn poll(&self, list: &mut [pollfd], timeout: i32) -> Outcome<i32> {
        let inner = self.enter();
        let deadline = inner.deadline(timeout);
        let (inner, found) =
            self.block(inner, deadline, |inner| Some(inner.poll_once(list)).filter(|count| *count > 0));
        drop(inner);
        Ok(found.unwrap_or(0))
    }

    /// `epoll_create(2)`.
    pub fn epoll_create(&self, size: i32) -> Outcome<i32> {
        if size <= 0 {
            return Err(Errno(libc::EINVAL));
        }
        let opened = self.enter().descriptors.open(Entry::Epoll(Interests::new()));
        opened.map_err(|error| os(&error))
    }

    /// `epoll_ctl(2)`.
    pub fn epoll_ctl(&self, epoll: RawFd, operation: i32, fd: RawFd, event: Option<epoll_event>) -> Outcome<()> {
        let mut inner = self.enter();
        inner.id(fd).map_err(|error| if error.0 == libc::ENOTSOCK { Errno(libc::EPERM) } else { error })?;
        let interests = match inner.descriptors.get_mut(epoll) {
            Some(Entry::Epoll(interests)) => interests,
            Some(_) => return Err(Errno(libc::EINVAL)),
            None => return Err(Errno(libc::EBADF)),
        };
        let known = interests.contains_key(&fd);
        let wanted =
            event.map(|event| Interest { events: event.events, data: event.u64, pending: true, wakes: (0, 0) });
        match (operation, wanted) {
            (libc::EPOLL_CTL_ADD, _) if known => return Err(Errno(libc::EEXIST)),
            (libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL, _) if !known => return Err(Errno(libc::ENOENT)),
            (libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD, Some(interest)) => {
                interests.insert(fd, interest);
            }
            (libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD, None) => return Err(Errno(libc::EFAULT)),
            (libc::EPOLL_CTL_DEL, _) => {
                interests.remove(&fd);
            }
            _ => return Err(Errno(libc::EINVAL)),
        }
        Ok(())
    }

    /// `epoll_wait(2)`. With EPOLLET a ready descriptor is reported once for each arrival, and once each time that
    /// buffer space became free for a waiting writer.
    pub fn epoll_wait(&self, epoll: RawFd, most: usize, timeout: i32) -> Outcome<Vec<epoll_event>> {
        let inner = self.enter();
        let deadline = inner.deadline(timeout);
        let attempt = |inner: &mut Inner| match inner.epoll_once(epoll, most) {
            Ok(found) if found.is_empty() => None,
            outcome => Some(outcome),
        };
        let (inner, found) = self.block(inner, deadline, attempt);
        drop(inner);
        found.unwrap_or(Ok(Vec::new()))
    }

    /// `pipe(2)`: a real pipe.
    pub fn pipe(&self) -> Outcome<(i32, i32)> {
        let (read, write) = io::pipe().map_err(|error| os(&error))?;
        let mut inner = self.enter();
        let read = inner.descriptors.insert(read.into(), Entry::Pipe);
        let write = inner.descriptors.insert(write.into(), Entry::Pipe);
        Ok((read, write))
    }

    /// `splice(2)` between a pipe and a socket.
    pub fn splice(&self, from: RawFd, to: RawFd, len: usize, flags: u32) -> Outcome<usize> {
        /// The capacity of a pipe (pipe(7)).
        const PIPE: usize = 65_536;
        let inner = self.enter();
        let is_pipe = |fd| matches!(inner.descriptors.get(fd), Some(Entry::Pipe));
        let (from_pipe, to_pipe) = (is_pipe(from), is_pipe(to));
        drop(inner);
        if !(from_pipe || to_pipe) {
            return Err(Errno(libc::EINVAL));
        }
        let wait = if flags & libc::SPLICE_F_NONBLOCK != 0 { libc::MSG_DONTWAIT } else { 0 };
        let more = if flags & libc::SPLICE_F_MORE != 0 { libc::MSG_MORE } else { 0 };
        let mut data = vec![0; len.min(PIPE)];
        let count = self.receive(from, &mut data, if from_pipe { 0 } else { wait })?;
        self.transmit(to, &data[..count], if to_pipe { 0 } else { wait | more }, None)
    }
}

fn os(error: &io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}

/// The pipe of a descriptor that [`World`] holds open.
fn file(fd: RawFd) -> Outcome<std::fs::File> {
    // SAFETY: a plain system call on a number.
    match unsafe { libc::dup(fd) } {
        -1 => Err(os(&io::Error::last_os_error())),
        // SAFETY: a new descriptor without another user.
        copy => Ok(unsafe { OwnedFd::from_raw_fd(copy) }.into()),
    }
}

pub(crate) fn read_pipe(fd: RawFd, data: &mut [u8]) -> Outcome<usize> {
    file(fd)?.read(data).map_err(|error| os(&error))
}

pub(crate) fn write_pipe(fd: RawFd, data: &[u8]) -> Outcome<usize> {
    file(fd)?.write(data).map_err(|error| os(&error))
}
