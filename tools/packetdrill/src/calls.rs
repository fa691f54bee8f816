//! The system calls, on descriptors and slices.

use crate::descriptors::{Entry, SocketEntry};
use crate::device;
use crate::errno::{Errno, Outcome};
use crate::options::TCP_INQ;
use crate::sysctl;
use crate::world::{Guard, Inner, World};
use lightlag_host::{Shutdown, SocketError, SocketId, Writing};
use lightlag_tcp::State;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::RawFd;

fn os(error: &std::io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}

/// The address in a call: a host and port, or AF_UNSPEC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Peer {
    /// A host and port.
    At(SocketAddr),
    /// No address (AF_UNSPEC), with which `connect` dissolves the connection of a socket.
    Unspecified,
}

impl Peer {
    /// Reads a `sockaddr`. An IPv4-mapped IPv6 address becomes an IPv4 address.
    pub fn parse(bytes: &[u8]) -> Outcome<Self> {
        let family = bytes.get(..2).ok_or(Errno(libc::EINVAL))?;
        let port = bytes.get(2..4).map_or(0, |port| u16::from_be_bytes([port[0], port[1]]));
        let ip: IpAddr = match i32::from(u16::from_ne_bytes([family[0], family[1]])) {
            libc::AF_UNSPEC => return Ok(Self::Unspecified),
            libc::AF_INET => {
                let octets: [u8; 4] = bytes.get(4..8).ok_or(Errno(libc::EINVAL))?.try_into().unwrap_or_default();
                Ipv4Addr::from(octets).into()
            }
            libc::AF_INET6 => {
                let octets: [u8; 16] = bytes.get(8..24).ok_or(Errno(libc::EINVAL))?.try_into().unwrap_or_default();
                Ipv6Addr::from(octets).to_canonical()
            }
            _ => return Err(Errno(libc::EAFNOSUPPORT)),
        };
        Ok(Self::At(SocketAddr::new(ip, port)))
    }
}

/// The `sockaddr` of an address, in the form of the socket's domain.
fn sockaddr(address: SocketAddr, domain: i32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(28);
    bytes.extend((domain as u16).to_ne_bytes());
    bytes.extend(address.port().to_be_bytes());
    match (domain, address.ip()) {
        (libc::AF_INET6, ip) => {
            let ip = match ip {
                IpAddr::V4(ip) => ip.to_ipv6_mapped(),
                IpAddr::V6(ip) => ip,
            };
            bytes.extend([0; 4]);
            bytes.extend(ip.octets());
            bytes.extend([0; 4]);
        }
        (_, IpAddr::V4(ip)) => bytes.extend(ip.octets()),
        (_, IpAddr::V6(_)) => bytes.extend([0; 4]),
    }
    bytes.resize(bytes.len().max(16), 0);
    bytes
}

impl Inner {
    /// The socket of a descriptor.
    pub(crate) fn socket_entry(&mut self, fd: RawFd) -> Outcome<&mut SocketEntry> {
        match self.descriptors.get_mut(fd) {
            Some(Entry::Socket(entry)) => Ok(entry),
            Some(_) => Err(Errno(libc::ENOTSOCK)),
            None => Err(Errno(libc::EBADF)),
        }
    }

    pub(crate) fn id(&mut self, fd: RawFd) -> Outcome<SocketId> {
        self.socket_entry(fd).map(|entry| entry.id)
    }

    /// Rereads the settings of TCP Fast Open, so that they apply at the time of use. Errors in them are reported when a
    /// socket is created.
    pub(crate) fn refresh_fast_open(&mut self) {
        let _ = sysctl::apply_fast_open(&self.sysctl, &mut self.stack);
        let flushes = sysctl::flushes(&self.sysctl);
        if flushes != std::mem::replace(&mut self.flushes, flushes) {
            self.stack.forget_servers();
        }
    }

    /// The outcome of a handshake; `None` while it is in progress.
    fn handshake(&mut self, id: SocketId) -> Option<Outcome<()>> {
        match self.stack.state(id) {
            Ok(State::SynSent | State::SynReceived) => None,
            Ok(_) => Some(match self.stack.take_error(id) {
                Ok(Some(error)) | Err(error) => Err(error.into()),
                Ok(None) => Ok(()),
            }),
            Err(error) => Some(Err(error.into())),
        }
    }
}

impl World {
    /// `socket(2)`. Rereads the settings in /proc/sys, so a change affects only sockets opened after it.
    pub fn socket(&self, domain: i32, kind: i32, protocol: i32) -> Outcome<i32> {
        let mut inner = self.enter();
        if domain != libc::AF_INET && domain != libc::AF_INET6 {
            return Err(Errno(libc::EAFNOSUPPORT));
        }
        if kind & 0xf != libc::SOCK_STREAM {
            return Err(Errno(libc::ESOCKTNOSUPPORT));
        }
        if protocol == libc::IPPROTO_MPTCP {
            eprintln!("lightlag: socket(..., IPPROTO_MPTCP): there is no MPTCP here; use IPPROTO_TCP");
        }
        if protocol != 0 && protocol != libc::IPPROTO_TCP {
            return Err(Errno(libc::EPROTONOSUPPORT));
        }
        let (folder, timers) = (inner.sysctl.clone(), inner.timers);
        let mtu = inner.mtu.or_else(device::mtu).unwrap_or(device::USUAL_MTU);
        inner.stack.set_mtu(mtu);
        sysctl::apply(&folder, timers, &mut inner.stack).map_err(|message| {
            eprintln!("lightlag: {message}");
            Errno(libc::EINVAL)
        })?;
        let id = inner.stack.socket();
        let entry = SocketEntry::new(id, domain, kind & libc::SOCK_NONBLOCK != 0);
        inner.descriptors.open(Entry::Socket(entry)).map_err(|error| os(&error))
    }

    /// `bind(2)`. The address is also assigned to the host.
    pub fn bind(&self, fd: RawFd, to: Peer) -> Outcome<()> {
        let mut inner = self.enter();
        let id = inner.id(fd)?;
        let Peer::At(address) = to else { return Err(Errno(libc::EAFNOSUPPORT)) };
        if !address.ip().is_unspecified() {
            inner.stack.add_address(address.ip());
        }
        Ok(inner.stack.bind(id, address)?)
    }

    /// `listen(2)`.
    pub fn listen(&self, fd: RawFd, backlog: i32) -> Outcome<()> {
        let mut inner = self.enter();
        let id = inner.id(fd)?;
        Ok(inner.stack.listen_on(id, backlog.max(0) as usize)?)
    }

    /// `accept(2)`: a descriptor and the peer's `sockaddr`.
    pub fn accept(&self, fd: RawFd) -> Outcome<(i32, Vec<u8>)> {
        let mut inner = self.enter();
        let listener = inner.socket_entry(fd)?.clone();
        let attempt = |inner: &mut Inner| match inner.stack.accept(listener.id) {
            Err(SocketError::WouldBlock) => None,
            outcome => Some(outcome.map_err(Errno::from)),
        };
        let accepted;
        (inner, accepted) = self.call(inner, listener.nonblocking, attempt);
        let id = accepted?;
        let (_, remote) = inner.stack.addresses(id)?;
        let from = remote.map(|remote| sockaddr(remote, listener.domain)).unwrap_or_default();
        let entry = SocketEntry::new(id, listener.domain, false);
        let fd = inner.descriptors.open(Entry::Socket(entry)).map_err(|error| os(&error))?;
        Ok((fd, from))
    }

    /// Runs a call: once if it must not block, otherwise until it is done.
    fn call<'a, T>(
        &'a self,
        inner: Guard<'a>,
        nonblocking: bool,
        attempt: impl FnMut(&mut Inner) -> Option<Outcome<T>>,
    ) -> (Guard<'a>, Outcome<T>) {
        let deadline = nonblocking.then_some(inner.now);
        let (inner, outcome) = self.block(inner, deadline, attempt);
        (inner, outcome.unwrap_or(Err(Errno(libc::EAGAIN))))
    }

    /// `connect(2)`.
    pub fn connect(&self, fd: RawFd, to: Peer) -> Outcome<()> {
        let mut inner = self.enter();
        let entry = inner.socket_entry(fd)?.clone();
        let Peer::At(remote) = to else {
            inner.stack.dissolve(entry.id)?;
            inner.socket_entry(fd)?.connect_told = false;
            drop(self.settle(inner));
            return Ok(());
        };
        let now = inner.now;
        inner.refresh_fast_open();
        match inner.stack.connect(now, entry.id, remote) {
            Ok(()) if inner.stack.is_deferred(entry.id) => {
                inner.socket_entry(fd)?.connect_told = true;
                return Ok(());
            }
            Ok(()) if entry.nonblocking => {
                drop(self.settle(inner));
                return Err(Errno(libc::EINPROGRESS));
            }
            Ok(()) => {}
            Err(SocketError::InProgress) if !entry.nonblocking => {}
            Err(SocketError::AlreadyConnected) if entry.nonblocking && !entry.connect_told => {
                inner.socket_entry(fd)?.connect_told = true;
                return match inner.stack.take_error(entry.id)? {
                    Some(error) => Err(error.into()),
                    None => Ok(()),
                };
            }
            Err(error) => return Err(error.into()),
        }
        let (mut inner, outcome) = self.call(inner, false, |inner| inner.handshake(entry.id));
        if let Ok(entry) = inner.socket_entry(fd) {
            entry.connect_told = true;
        }
        outcome
    }

    /// `recv(2)`, and `read` with no flags.
    pub fn receive(&self, fd: RawFd, data: &mut [u8], flags: i32) -> Outcome<usize> {
        let mut inner = self.enter();
        if matches!(inner.descriptors.get(fd), Some(Entry::Pipe)) {
            drop(inner);
            return crate::polling::read_pipe(fd, data);
        }
        let entry = inner.socket_entry(fd)?.clone();
        if flags & libc::MSG_OOB != 0 {
            return Err(Errno(libc::EINVAL));
        }
        if flags & libc::MSG_ERRQUEUE != 0 {
            return Err(Errno(libc::EAGAIN));
        }
        let nonblocking = entry.nonblocking || flags & libc::MSG_DONTWAIT != 0;
        let whole = flags & libc::MSG_WAITALL != 0 && flags & libc::MSG_PEEK == 0;
        let mut len = 0;
        let attempt = |inner: &mut Inner| {
            let place = &mut data[len..];
            let outcome = match flags & libc::MSG_PEEK {
                0 => inner.stack.read(entry.id, place),
                _ => inner.stack.peek(entry.id, place),
            };
            match outcome {
                Ok(0) => Some(Ok(len)),
                Ok(count) => {
                    len += count;
                    (!whole || len == data.len()).then_some(Ok(len))
                }
                Err(SocketError::WouldBlock) => None,
                Err(_) if len > 0 => Some(Ok(len)),
                Err(error) => Some(Err(error.into())),
            }
        };
        let outcome;
        (inner, outcome) = self.call(inner, nonblocking, attempt);
        drop(inner);
        match outcome {
            Err(Errno(libc::EAGAIN)) if len > 0 => Ok(len),
            outcome => outcome,
        }
    }

    /// For a socket with TCP_INQ: number of bytes left to read, counting the end of the stream as one (`tcp_inq_hint`).
    pub fn left_to_read(&self, fd: RawFd) -> Option<i32> {
        let mut inner = self.enter();
        let entry = inner.socket_entry(fd).ok()?;
        let wanted = entry.kept.get(&(libc::SOL_TCP, TCP_INQ)).is_some_and(|value| value.iter().any(|byte| *byte != 0));
        let id = entry.id;
        if !wanted {
            return None;
        }
        let ended = inner.stack.readiness(id).is_ok_and(|readiness| readiness.peer_closed);
        let (unread, _) = inner.stack.queued(id).ok()?;
        Some(unread as i32 + i32::from(ended))
    }

    /// `sendfile(2)`: up to `len` bytes of a real file into a socket, from `offset` or from the file's position.
    pub fn send_file(&self, fd: RawFd, file: RawFd, offset: Option<i64>, len: usize) -> Outcome<usize> {
        /// Bytes copied at a time: the size of the pipe that the kernel uses.
        const AT_ONCE: usize = 65_536;
        let mut sent = 0;
        while sent < len {
            let mut data = vec![0; (len - sent).min(AT_ONCE)];
            let read = match offset {
                // SAFETY: the buffer has this length.
                Some(offset) => unsafe {
                    libc::pread(file, data.as_mut_ptr().cast(), data.len(), offset + sent as i64)
                },
                // SAFETY: as above.
                None => unsafe { libc::read(file, data.as_mut_ptr().cast(), data.len()) },
            };
            if read < 0 {
                return Err(os(&std::io::Error::last_os_error()));
            }
            data.truncate(read as usize);
            let outcome = if data.is_empty() { Ok(0) } else { self.transmit(fd, &data, 0, None) };
            match outcome {
                Ok(count) if count == AT_ONCE => sent += count,
                Ok(count) => return Ok(sent + count),
                Err(_) if sent > 0 => return Ok(sent),
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    /// `sendto(2)`, and `write` with no flags.
    pub fn transmit(&self, fd: RawFd, data: &[u8], flags: i32, to: Option<Peer>) -> Outcome<usize> {
        let mut inner = self.enter();
        if matches!(inner.descriptors.get(fd), Some(Entry::Pipe)) {
            drop(inner);
            return crate::polling::write_pipe(fd, data);
        }
        let entry = inner.socket_entry(fd)?.clone();
        if flags & libc::MSG_OOB != 0 {
            return Err(Errno(libc::EOPNOTSUPP));
        }
        let nonblocking = entry.nonblocking || flags & libc::MSG_DONTWAIT != 0;
        let mut len = 0;
        if flags & libc::MSG_FASTOPEN != 0 || inner.stack.is_deferred(entry.id) {
            let opened;
            (inner, opened) = self.open_with(inner, fd, data, to, nonblocking);
            len = opened?;
            if len == data.len() || nonblocking && len > 0 {
                return Ok(len);
            }
        }
        if to.is_some() && inner.stack.addresses(entry.id)?.1.is_none() {
            return Err(Errno(libc::ENOTCONN));
        }
        let how = Writing { more: flags & libc::MSG_MORE != 0, ends_record: flags & libc::MSG_EOR != 0 };
        let mut waited = false;
        let attempt = |inner: &mut Inner| {
            // A sleeping writer is notified when a third of the buffer is free (`sk_stream_is_writeable`).
            if std::mem::replace(&mut waited, true)
                && inner.stack.readiness(entry.id).is_ok_and(|readiness| !readiness.writable)
            {
                return None;
            }
            let now = inner.now;
            let rest = &data[len..];
            let outcome = inner.stack.write_with(now, entry.id, rest, how);
            match outcome {
                Ok(count) => {
                    len += count;
                    (len == data.len()).then_some(Ok(len))
                }
                Err(SocketError::WouldBlock) => None,
                Err(_) if len > 0 => Some(Ok(len)),
                Err(error) => Some(Err(error.into())),
            }
        };
        let outcome;
        (inner, outcome) = self.call(inner, nonblocking, attempt);
        drop(inner);
        match outcome {
            Err(Errno(libc::EAGAIN)) if len > 0 => Ok(len),
            outcome => outcome,
        }
    }

    /// Opens the connection for a `sendto(2)` with MSG_FASTOPEN, or for the first write after a deferred connect.
    /// Returns the number of bytes sent with the SYN (`tcp_sendmsg_fastopen`).
    fn open_with<'a>(
        &'a self,
        mut inner: Guard<'a>,
        fd: RawFd,
        data: &[u8],
        to: Option<Peer>,
        nonblocking: bool,
    ) -> (Guard<'a>, Outcome<usize>) {
        let (id, told) = match inner.socket_entry(fd) {
            Ok(entry) => (entry.id, entry.connect_told),
            Err(error) => return (inner, Err(error)),
        };
        inner.refresh_fast_open();
        let to = match to {
            Some(Peer::Unspecified) => return (inner, Err(Errno(libc::EOPNOTSUPP))),
            Some(Peer::At(to)) => Some(to),
            None => None,
        };
        let now = inner.now;
        let len = match inner.stack.connect_with(now, id, to, data, !nonblocking) {
            Ok(len) => len,
            // The call that reports the end of the handshake writes like any other.
            Err(SocketError::AlreadyConnected) if !told => {
                let outcome = inner.handshake(id).unwrap_or(Ok(()));
                if let Ok(entry) = inner.socket_entry(fd) {
                    entry.connect_told = true;
                }
                return (inner, outcome.map(|()| 0));
            }
            Err(error) => return (inner, Err(error.into())),
        };
        if let Ok(entry) = inner.socket_entry(fd) {
            entry.connect_told = !nonblocking;
        }
        if nonblocking {
            let inner = self.settle(inner);
            return (inner, if len > 0 { Ok(len) } else { Err(Errno(libc::EINPROGRESS)) });
        }
        let (inner, outcome) = self.call(inner, false, |inner| inner.handshake(id));
        (inner, outcome.map(|()| len))
    }

    /// `fcntl(2)`: the status flags.
    pub fn fcntl(&self, fd: RawFd, command: i32, argument: i32) -> Outcome<i32> {
        let mut inner = self.enter();
        let entry = inner.socket_entry(fd)?;
        match command {
            libc::F_GETFL => Ok(libc::O_RDWR | if entry.nonblocking { libc::O_NONBLOCK } else { 0 }),
            libc::F_SETFL => {
                entry.nonblocking = argument & libc::O_NONBLOCK != 0;
                Ok(0)
            }
            libc::F_GETFD | libc::F_SETFD => Ok(0),
            _ => Err(Errno(libc::EINVAL)),
        }
    }

    /// `ioctl(2)`: number of bytes that wait to be read, acknowledged or sent.
    pub fn ioctl(&self, fd: RawFd, request: u64) -> Outcome<i32> {
        /// `SIOCOUTQNSD` of linux/sockios.h.
        const NOT_SENT: u64 = 0x894b;
        let mut inner = self.enter();
        let id = inner.id(fd)?;
        let now = inner.now;
        let (unread, unacknowledged) = inner.stack.queued(id)?;
        Ok(match request {
            libc::FIONREAD => unread as i32,
            libc::TIOCOUTQ => unacknowledged as i32,
            NOT_SENT => inner.stack.info(now, id)?.notsent_bytes as i32,
            _ => return Err(Errno(libc::ENOTTY)),
        })
    }

    /// `close(2)`.
    pub fn close(&self, fd: RawFd) -> Outcome<()> {
        let mut inner = self.enter();
        let Some(entry) = inner.descriptors.close(fd) else { return Err(Errno(libc::EBADF)) };
        let Entry::Socket(socket) = entry else { return Ok(()) };
        let now = inner.now;
        let until = inner.stack.close(now, socket.id)?;
        inner = self.settle(inner);
        if until.is_some() && !socket.nonblocking {
            let attempt = |inner: &mut Inner| (!inner.stack.lingers(socket.id)).then_some(());
            let _ = self.block(inner, until, attempt);
        }
        Ok(())
    }

    /// `shutdown(2)`.
    pub fn shutdown(&self, fd: RawFd, how: i32) -> Outcome<()> {
        let mut inner = self.enter();
        let id = inner.id(fd)?;
        let how = match how {
            libc::SHUT_RD => Shutdown::Read,
            libc::SHUT_WR => Shutdown::Write,
            libc::SHUT_RDWR => Shutdown::Both,
            _ => return Err(Errno(libc::EINVAL)),
        };
        inner.stack.shutdown(id, how)?;
        drop(self.settle(inner));
        Ok(())
    }
}
