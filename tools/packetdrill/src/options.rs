//! `getsockopt` and `setsockopt`.

use crate::errno::{Errno, Outcome};
use crate::info;
use crate::sysctl;
use crate::world::{Inner, World};
use lightlag_core::{Bytes, Duration};
use lightlag_host::{Keys, Settings, SocketOption};
use std::os::fd::RawFd;

/// TCP_CC_INFO of linux/tcp.h.
const TCP_CC_INFO: i32 = 26;
/// SO_MEMINFO of asm-generic/socket.h.
const SO_MEMINFO: i32 = 55;

/// TCP_FASTOPEN_KEY and TCP_FASTOPEN_NO_COOKIE of linux/tcp.h.
const TCP_FASTOPEN_KEY: i32 = 33;
const TCP_FASTOPEN_NO_COOKIE: i32 = 34;

/// TCP_INQ of linux/tcp.h, and the control message of that name: number of bytes left to read.
pub(crate) const TCP_INQ: i32 = 36;

/// Options without effect: they are stored, and returned on request.
const KEPT: [(i32, i32); 17] = [
    (libc::SOL_SOCKET, libc::SO_REUSEADDR),
    (libc::SOL_SOCKET, libc::SO_REUSEPORT),
    (libc::SOL_SOCKET, libc::SO_PRIORITY),
    (libc::SOL_SOCKET, libc::SO_MARK),
    (libc::SOL_SOCKET, libc::SO_RCVLOWAT),
    (libc::SOL_SOCKET, libc::SO_BINDTODEVICE),
    // A hint: the data is copied.
    (libc::SOL_SOCKET, libc::SO_ZEROCOPY),
    (libc::SOL_IP, libc::IP_TOS),
    (libc::SOL_IP, libc::IP_TTL),
    (libc::SOL_IP, libc::IP_FREEBIND),
    (libc::SOL_IP, libc::IP_MTU_DISCOVER),
    (libc::SOL_IP, libc::IP_RECVERR),
    (libc::SOL_IPV6, libc::IPV6_TCLASS),
    (libc::SOL_IPV6, libc::IPV6_V6ONLY),
    (libc::SOL_IPV6, libc::IPV6_MTU_DISCOVER),
    (libc::SOL_IPV6, libc::IPV6_RECVERR),
    (libc::SOL_TCP, TCP_INQ),
];

/// Parses an int. Linux also accepts a single byte for IP options.
fn int(value: &[u8]) -> Outcome<i32> {
    match value {
        [byte] => Ok(i32::from(*byte)),
        [a, b, c, d, ..] => Ok(i32::from_ne_bytes([*a, *b, *c, *d])),
        _ => Err(Errno(libc::EINVAL)),
    }
}

/// Parses an int that is 0 or 1.
fn switch(value: &[u8]) -> Outcome<bool> {
    match int(value)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Errno(libc::EINVAL)),
    }
}

fn seconds(value: &[u8]) -> Outcome<Duration> {
    Ok(Duration::from_secs(u64::try_from(int(value)?).map_err(|_| Errno(libc::EINVAL))?))
}

/// Returns the number of timeouts of a SYN-ACK that start within the given time (`secs_to_retrans`).
fn timeouts_within(seconds: u64) -> u8 {
    let (mut timeouts, mut wait, mut total) = (0, 1, 0);
    while total < seconds && timeouts < u8::MAX {
        timeouts += 1;
        total += wait;
        wait = (2 * wait).min(LONGEST_TIMEOUT);
    }
    timeouts
}

/// Returns the time in seconds within which a SYN-ACK has this number of timeouts (`retrans_to_secs`).
fn seconds_of(timeouts: u8) -> u64 {
    (0..u32::from(timeouts)).map(|doublings| (1 << doublings.min(32)).min(LONGEST_TIMEOUT)).sum()
}

/// The maximum timeout in seconds (TCP_RTO_MAX).
const LONGEST_TIMEOUT: u64 = 120;

/// `struct linger`.
fn linger(value: &[u8]) -> Outcome<Option<Duration>> {
    let on = int(value)? != 0;
    let time = seconds(value.get(4..8).ok_or(Errno(libc::EINVAL))?);
    if on { time.map(Some) } else { Ok(None) }
}

/// The typed form of an option that the stack implements.
fn typed(level: i32, name: i32, value: &[u8]) -> Outcome<Option<SocketOption>> {
    let on = || int(value).map(|value| value != 0);
    let size = || int(value).map(|value| Bytes(value.max(0) as u64));
    Ok(Some(match (level, name) {
        // Linux doubles it for its overhead.
        (libc::SOL_SOCKET, libc::SO_SNDBUF) => SocketOption::SendBuffer(Bytes(2 * size()?.0)),
        (libc::SOL_SOCKET, libc::SO_RCVBUF) => SocketOption::ReceiveBuffer(size()?),
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => SocketOption::KeepAlive(on()?),
        (libc::SOL_SOCKET, libc::SO_LINGER) => SocketOption::Linger(linger(value)?),
        (libc::SOL_TCP, libc::TCP_NODELAY) => SocketOption::NoDelay(on()?),
        (libc::SOL_TCP, libc::TCP_CORK) => SocketOption::Cork(on()?),
        (libc::SOL_TCP, libc::TCP_QUICKACK) => SocketOption::QuickAck(on()?),
        (libc::SOL_TCP, libc::TCP_NOTSENT_LOWAT) => SocketOption::NotSentLimit(Bytes(u64::from(int(value)? as u32))),
        (libc::SOL_TCP, libc::TCP_DEFER_ACCEPT) => {
            SocketOption::DeferAccept(timeouts_within(int(value)?.max(0) as u64))
        }
        (libc::SOL_TCP, libc::TCP_LINGER2) => {
            // A negative value disables the wait; one above TCP_FIN_TIMEOUT_MAX counts as that.
            let seconds = int(value)?.clamp(0, 120) as u64;
            SocketOption::FinWait((seconds > 0 || int(value)? < 0).then(|| Duration::from_secs(seconds)))
        }
        (libc::SOL_TCP, libc::TCP_USER_TIMEOUT) => {
            let millis = u64::try_from(int(value)?).map_err(|_| Errno(libc::EINVAL))?;
            SocketOption::UserTimeout(Duration::from_millis(millis))
        }
        (libc::SOL_TCP, libc::TCP_MAXSEG) => {
            SocketOption::MaxSegment(u16::try_from(int(value)?).map_err(|_| Errno(libc::EINVAL))?)
        }
        (libc::SOL_TCP, libc::TCP_KEEPIDLE) => SocketOption::KeepIdle(seconds(value)?),
        (libc::SOL_TCP, libc::TCP_KEEPINTVL) => SocketOption::KeepInterval(seconds(value)?),
        (libc::SOL_TCP, libc::TCP_KEEPCNT) => {
            SocketOption::KeepCount(u16::try_from(int(value)?).map_err(|_| Errno(libc::EINVAL))?)
        }
        (libc::SOL_TCP, libc::TCP_SYNCNT) => {
            SocketOption::SynCount(u8::try_from(int(value)?).map_err(|_| Errno(libc::EINVAL))?)
        }
        (libc::SOL_TCP, libc::TCP_FASTOPEN) => {
            SocketOption::FastOpen(usize::try_from(int(value)?).map_err(|_| Errno(libc::EINVAL))?)
        }
        (libc::SOL_TCP, libc::TCP_FASTOPEN_CONNECT) => SocketOption::FastOpenConnect(switch(value)?),
        (libc::SOL_TCP, TCP_FASTOPEN_NO_COOKIE) => SocketOption::FastOpenNoCookie(switch(value)?),
        (libc::SOL_TCP, TCP_FASTOPEN_KEY) => {
            SocketOption::FastOpenKeys(Keys::from_bytes(value).ok_or(Errno(libc::EINVAL))?)
        }
        (libc::SOL_TCP, libc::TCP_CONGESTION) => {
            let name = value.split(|byte| *byte == 0).next().unwrap_or_default();
            let choice = std::str::from_utf8(name).ok().and_then(sysctl::congestion);
            SocketOption::Congestion(choice.ok_or(Errno(libc::ENOENT))?)
        }
        _ => return Ok(None),
    }))
}

impl World {
    /// `setsockopt(2)`.
    pub fn set_option(&self, fd: RawFd, level: i32, name: i32, value: &[u8]) -> Outcome<()> {
        let mut inner = self.enter();
        let id = inner.id(fd)?;
        if let Some(option) = typed(level, name, value)? {
            let now = inner.now;
            inner.refresh_fast_open();
            inner.stack.set_option(now, id, &option)?;
            drop(self.settle(inner));
        } else if KEPT.contains(&(level, name)) {
            inner.socket_entry(fd)?.kept.insert((level, name), value.to_vec());
        } else {
            return Err(Errno(libc::ENOPROTOOPT));
        }
        Ok(())
    }

    /// `getsockopt(2)`: the bytes of the value.
    pub fn get_option(&self, fd: RawFd, level: i32, name: i32) -> Outcome<Vec<u8>> {
        let mut inner = self.enter();
        let id = inner.id(fd)?;
        if let Some(kept) = inner.socket_entry(fd)?.kept.get(&(level, name)) {
            return Ok(kept.clone());
        }
        if KEPT.contains(&(level, name)) {
            return Ok(0_i32.to_ne_bytes().to_vec());
        }
        let now = inner.now;
        let settings = inner.stack.settings(id)?.clone();
        let int = match (level, name) {
            (libc::SOL_SOCKET, libc::SO_ERROR) => inner.stack.take_error(id)?.map_or(0, |error| Errno::from(error).0),
            (libc::SOL_SOCKET, libc::SO_TYPE) => libc::SOCK_STREAM,
            (libc::SOL_SOCKET, libc::SO_PROTOCOL) => libc::IPPROTO_TCP,
            (libc::SOL_SOCKET, libc::SO_DOMAIN) => inner.socket_entry(fd)?.domain,
            (libc::SOL_SOCKET, libc::SO_LINGER) => {
                let time = settings.linger.map_or(0, |time| (time.as_nanos() / 1_000_000_000) as i32);
                return Ok([i32::from(settings.linger.is_some()), time].map(i32::to_ne_bytes).concat());
            }
            (libc::SOL_SOCKET, SO_MEMINFO) => return inner.memory(fd, &settings),
            (libc::SOL_TCP, libc::TCP_INFO) => return Ok(info::tcp_info(&inner.stack.info(now, id)?)),
            (libc::SOL_TCP, TCP_FASTOPEN_KEY) => {
                let keys = settings.fast_open_keys.or(inner.stack.config().fast_open.keys);
                return Ok(keys.map(|keys| keys.to_bytes()).unwrap_or_default());
            }
            // Information that an algorithm gives about itself; most give none.
            (libc::SOL_TCP, TCP_CC_INFO) => return Ok(Vec::new()),
            (libc::SOL_TCP, libc::TCP_CONGESTION) => {
                let mut name = sysctl::congestion_name(&settings.congestion).as_bytes().to_vec();
                // TCP_CA_NAME_MAX.
                name.resize(16, 0);
                return Ok(name);
            }
            _ => inner.setting(fd, level, name, &settings)?,
        };
        Ok(int.to_ne_bytes().to_vec())
    }
}

impl Inner {
    /// Returns an option of a socket whose value is a plain integer.
    fn setting(&mut self, fd: RawFd, level: i32, name: i32, settings: &Settings) -> Outcome<i32> {
        let seconds = |time: Duration| (time.as_nanos() / 1_000_000_000) as i32;
        Ok(match (level, name) {
            (libc::SOL_SOCKET, libc::SO_SNDBUF) => self.buffers(fd, settings)?.0,
            (libc::SOL_SOCKET, libc::SO_RCVBUF) => self.buffers(fd, settings)?.1,
            (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => settings.keep_alive.into(),
            (libc::SOL_TCP, libc::TCP_NODELAY) => settings.no_delay.into(),
            (libc::SOL_TCP, libc::TCP_CORK) => settings.cork.into(),
            (libc::SOL_TCP, libc::TCP_FASTOPEN) => settings.fast_open.unwrap_or_default() as i32,
            (libc::SOL_TCP, libc::TCP_FASTOPEN_CONNECT) => settings.fast_open_connect.into(),
            (libc::SOL_TCP, TCP_FASTOPEN_NO_COOKIE) => settings.fast_open_no_cookie.into(),
            (libc::SOL_TCP, libc::TCP_SYNCNT) => {
                settings.syn_count.unwrap_or(self.stack.config().tcp.syn_retries).into()
            }
            (libc::SOL_TCP, libc::TCP_DEFER_ACCEPT) => seconds_of(settings.defer_accept) as i32,
            (libc::SOL_TCP, libc::TCP_LINGER2) => {
                let time = settings.fin_wait.or(self.stack.config().tcp.fin_wait);
                time.map_or(-1, seconds)
            }
            (libc::SOL_TCP, libc::TCP_QUICKACK) => settings.quick_ack.into(),
            (libc::SOL_TCP, libc::TCP_KEEPIDLE) => seconds(settings.keep_alive_timing.idle),
            (libc::SOL_TCP, libc::TCP_KEEPINTVL) => seconds(settings.keep_alive_timing.interval),
            (libc::SOL_TCP, libc::TCP_KEEPCNT) => settings.keep_alive_timing.probes.into(),
            (libc::SOL_TCP, libc::TCP_NOTSENT_LOWAT) => settings.not_sent_limit.0 as u32 as i32,
            (libc::SOL_TCP, libc::TCP_USER_TIMEOUT) => (settings.user_timeout.as_nanos() / 1_000_000) as i32,
            (libc::SOL_TCP, libc::TCP_MAXSEG) => {
                let (now, id) = (self.now, self.id(fd)?);
                match self.stack.info(now, id) {
                    Ok(info) => info.snd_mss as i32,
                    // The value that Linux reports for an unconnected socket: the user's, or 536 (TCP_MSS_DEFAULT).
                    Err(_) => settings.max_segment.unwrap_or(536).into(),
                }
            }
            _ => return Err(Errno(libc::ENOPROTOOPT)),
        })
    }

    /// SO_SNDBUF and SO_RCVBUF as Linux reports them: with its overhead, which doubles the receive buffer.
    fn buffers(&mut self, fd: RawFd, settings: &Settings) -> Outcome<(i32, i32)> {
        let (now, id) = (self.now, self.id(fd)?);
        let receive = match settings.receive_buffer {
            Some(bytes) => bytes.0,
            None => self.stack.info(now, id).map_or(65_535, |info| info.receive_buffer),
        };
        let send = match settings.send_buffer {
            Some(bytes) => bytes.0,
            None => self.stack.info(now, id).map_or(self.stack.config().send_buffer.initial.0, |info| info.send_buffer),
        };
        let told = |bytes: u64| i32::try_from(bytes).unwrap_or(i32::MAX);
        Ok((told(send), told(2 * receive)))
    }

    fn memory(&mut self, fd: RawFd, settings: &Settings) -> Outcome<Vec<u8>> {
        let (send, receive) = self.buffers(fd, settings)?;
        let id = self.id(fd)?;
        let (unread, unacknowledged) = self.stack.queued(id).unwrap_or_default();
        Ok(info::memory(unread, receive as u64, unacknowledged, send as u64))
    }
}
