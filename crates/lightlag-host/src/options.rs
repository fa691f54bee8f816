//! Socket options as typed settings, with the names and meanings of Linux (tcp(7), socket(7)).

use crate::fast_open::Keys;
use lightlag_control::congestion::Choice;
use lightlag_core::{Bytes, Duration};
use lightlag_tcp::config::KeepAlive;

/// One setting of one socket. A listener hands its settings down to the sockets that it accepts.
#[derive(Clone, PartialEq, Debug)]
pub enum SocketOption {
    /// TCP_NODELAY: small segments leave at once (no Nagle).
    NoDelay(bool),
    /// TCP_CONGESTION: the congestion control. Takes effect until the first data leaves; afterwards it is refused.
    Congestion(Choice),
    /// TCP_MAXSEG: the most that a segment carries, options included, 88 to 32,767 bytes. To be set before the
    /// connection is opened.
    MaxSegment(u16),
    /// SO_RCVBUF: the receive buffer, counted in payload: what Linux advertises of a buffer that it doubled. It does
    /// not tune itself any more.
    ReceiveBuffer(Bytes),
    /// SO_SNDBUF as Linux tells it, which is twice what was asked for: payload and 896 bytes for each buffer of the kernel
    /// that holds some. Once so much is queued no new one begins; what was begun may hold half the peer's window more. It
    /// does not tune itself any more.
    SendBuffer(Bytes),
    /// TCP_NOTSENT_LOWAT: nothing more is taken while so many bytes wait to leave for the first time, and the socket is not
    /// writable while half of that waits. Zero takes the host's limit.
    NotSentLimit(Bytes),
    /// TCP_USER_TIMEOUT: the connection ends once data, or an opening window, was awaited so long. Zero leaves it to the
    /// number of retries.
    UserTimeout(Duration),
    /// SO_LINGER: [`Stack::close`](crate::Stack::close) is not done before all data are acknowledged or so much time
    /// has passed; with a time of 0 s it aborts the connection.
    Linger(Option<Duration>),
    /// SO_KEEPALIVE: probe an idle connection.
    KeepAlive(bool),
    /// TCP_KEEPIDLE: the first probe leaves after so much silence, 1 s to 32,767 s.
    KeepIdle(Duration),
    /// TCP_KEEPINTVL: time from one probe to the next, 1 s to 32,767 s.
    KeepInterval(Duration),
    /// TCP_KEEPCNT: so many probes without an answer end the connection, 1 to 127.
    KeepCount(u16),
    /// TCP_CORK: only full segments leave, until it is pulled or for a timeout, at least 200 ms.
    Cork(bool),
    /// TCP_QUICKACK: what is waiting for a delayed ACK and the next segments are acknowledged at once.
    QuickAck(bool),
    /// TCP_SYNCNT: so many repeated SYNs without an answer end the connection, 1 to 127.
    SynCount(u8),
    /// TCP_FASTOPEN: a listener takes data with a SYN, while the handshakes of fewer connections than this are under way.
    FastOpen(usize),
    /// TCP_FASTOPEN_KEY: what the cookies of a listener are made with.
    FastOpenKeys(Keys),
    /// TCP_FASTOPEN_CONNECT: connecting waits for the first write, if that can leave with the SYN.
    FastOpenConnect(bool),
    /// TCP_FASTOPEN_NO_COOKIE: data with a SYN needs no cookie.
    FastOpenNoCookie(bool),
}

/// All settings of a socket.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// TCP_NODELAY.
    pub no_delay: bool,
    /// TCP_CONGESTION.
    pub congestion: Choice,
    /// TCP_MAXSEG, where it was set.
    pub max_segment: Option<u16>,
    /// SO_RCVBUF, where it was set.
    pub receive_buffer: Option<Bytes>,
    /// SO_SNDBUF, where it was set.
    pub send_buffer: Option<Bytes>,
    /// TCP_NOTSENT_LOWAT; zero is the host's.
    pub not_sent_limit: Bytes,
    /// TCP_USER_TIMEOUT; zero where retries are counted.
    pub user_timeout: Duration,
    /// SO_LINGER.
    pub linger: Option<Duration>,
    /// SO_KEEPALIVE.
    pub keep_alive: bool,
    /// TCP_KEEPIDLE, TCP_KEEPINTVL and TCP_KEEPCNT.
    pub keep_alive_timing: KeepAlive,
    /// TCP_CORK.
    pub cork: bool,
    /// TCP_QUICKACK: whether it was asked for last.
    pub quick_ack: bool,
    /// TCP_SYNCNT, where it was set.
    pub syn_count: Option<u8>,
    /// TCP_FASTOPEN, where it was set.
    pub fast_open: Option<usize>,
    /// TCP_FASTOPEN_KEY, where it was set.
    pub fast_open_keys: Option<Keys>,
    /// TCP_FASTOPEN_CONNECT.
    pub fast_open_connect: bool,
    /// TCP_FASTOPEN_NO_COOKIE.
    pub fast_open_no_cookie: bool,
}

/// What TCP_MAXSEG takes on Linux (TCP_MIN_MSS, MAX_TCP_WINDOW).
const MAX_SEGMENT: std::ops::RangeInclusive<u16> = 88..=32_767;
/// Bounds of the times and of the count of keep-alive on Linux.
const MOST_KEEP_TIME: Duration = Duration::from_secs(32_767);
const MOST_KEEP_COUNT: u16 = 127;
/// MAX_TCP_SYNCNT.
const MOST_SYN_COUNT: u8 = 127;
/// The smallest receive buffer, half of what Linux takes with its overhead, and the smallest send buffer (SOCK_MIN_SNDBUF).
const LEAST_RECEIVE_BUFFER: Bytes = Bytes(1_152);
const LEAST_SEND_BUFFER: Bytes = Bytes(4_608);
/// The largest receive buffer that a window can show (RFC 7323 §2.3).
const MOST_BUFFER: Bytes = Bytes(65_535 << 14);

impl Settings {
    /// Takes one setting over; `None` where the value does not fit. Buffers that are too small or too large become
    /// the smallest or largest possible ones, as on Linux.
    pub(crate) fn take(&mut self, option: &SocketOption) -> Option<()> {
        let whole = |time: &Duration| (*time >= Duration::from_secs(1) && *time <= MOST_KEEP_TIME).then_some(*time);
        match option {
            SocketOption::NoDelay(on) => self.no_delay = *on,
            SocketOption::Congestion(choice) => self.congestion = choice.clone(),
            SocketOption::MaxSegment(bytes) => {
                self.max_segment = Some(MAX_SEGMENT.contains(bytes).then_some(*bytes)?);
            }
            SocketOption::ReceiveBuffer(bytes) => {
                self.receive_buffer = Some((*bytes).clamp(LEAST_RECEIVE_BUFFER, MOST_BUFFER));
            }
            SocketOption::SendBuffer(bytes) => {
                self.send_buffer = Some((*bytes).clamp(LEAST_SEND_BUFFER, MOST_BUFFER));
            }
            SocketOption::NotSentLimit(bytes) => self.not_sent_limit = *bytes,
            SocketOption::UserTimeout(time) => self.user_timeout = *time,
            SocketOption::Linger(time) => self.linger = *time,
            SocketOption::KeepAlive(on) => self.keep_alive = *on,
            SocketOption::KeepIdle(time) => self.keep_alive_timing.idle = whole(time)?,
            SocketOption::KeepInterval(time) => self.keep_alive_timing.interval = whole(time)?,
            SocketOption::KeepCount(count) => {
                self.keep_alive_timing.probes = (1..=MOST_KEEP_COUNT).contains(count).then_some(*count)?;
            }
            SocketOption::Cork(on) => self.cork = *on,
            SocketOption::QuickAck(on) => self.quick_ack = *on,
            SocketOption::SynCount(count) => {
                self.syn_count = Some((1..=MOST_SYN_COUNT).contains(count).then_some(*count)?);
            }
            SocketOption::FastOpen(most) => self.fast_open = Some(*most),
            SocketOption::FastOpenKeys(keys) => self.fast_open_keys = Some(*keys),
            SocketOption::FastOpenConnect(on) => self.fast_open_connect = *on,
            SocketOption::FastOpenNoCookie(on) => self.fast_open_no_cookie = *on,
        }
        Some(())
    }

    /// The probing that the connection is to do.
    pub(crate) fn probing(&self) -> Option<KeepAlive> {
        self.keep_alive.then_some(self.keep_alive_timing)
    }
}
