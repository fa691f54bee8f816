//! Socket options as typed settings, with the names and meanings of Linux (tcp(7), socket(7)).

use crate::fast_open::Keys;
use lightlag_control::congestion::Choice;
use lightlag_core::{Bytes, Duration};
use lightlag_tcp::config::KeepAliveConfig;

/// One setting of one socket. Accepted sockets inherit the settings of their listener.
#[derive(Clone, PartialEq, Debug)]
pub enum SocketOption {
    /// TCP_NODELAY: small segments are sent immediately (no Nagle).
    NoDelay(bool),
    /// TCP_CONGESTION: the congestion control. It can be changed until the first data is sent.
    Congestion(Choice),
    /// TCP_MAXSEG: the largest segment, options included, 88 to 32,767 bytes. It must be set before the connection is
    /// opened.
    MaxSegment(u16),
    /// SO_RCVBUF: the receive buffer in bytes of payload, which is the part of Linux's doubled buffer that Linux
    /// advertises. Setting it ends autotuning.
    ReceiveBuffer(Bytes),
    /// SO_SNDBUF, as Linux reports it (twice the requested value). It counts the payload, and 896 bytes for each buffer
    /// of the kernel that holds some. When the limit is reached, no new buffer starts. A buffer that was already
    /// started may take up to half the peer's window more. Setting it ends autotuning.
    SendBuffer(Bytes),
    /// TCP_NOTSENT_LOWAT: no more data is accepted while this many bytes have never been sent. The socket becomes
    /// writable when less than half of that is unsent. Zero means the host's limit.
    NotSentLimit(Bytes),
    /// TCP_USER_TIMEOUT: the connection ends after waiting this long for an ACK or for an open window. Zero: it ends
    /// after the maximum number of retries.
    UserTimeout(Duration),
    /// SO_LINGER: [`Stack::close`](crate::Stack::close) completes once all data are acknowledged or this time has
    /// passed. A time of 0 s aborts the connection.
    Linger(Option<Duration>),
    /// TCP_LINGER2: the time in FIN-WAIT-2 after [`Stack::close`](crate::Stack::close); `None` means the host's
    /// default.
    FinWait(Option<Duration>),
    /// TCP_DEFER_ACCEPT: a listener accepts a connection only once data arrives, or after this number of SYN-ACK
    /// timeouts. Zero switches it off.
    DeferAccept(u8),
    /// SO_KEEPALIVE: an idle connection is probed.
    KeepAlive(bool),
    /// TCP_KEEPIDLE: idle time before the first probe, 1 s to 32,767 s.
    KeepIdle(Duration),
    /// TCP_KEEPINTVL: time from one probe to the next, 1 s to 32,767 s.
    KeepInterval(Duration),
    /// TCP_KEEPCNT: number of unanswered probes that end the connection, 1 to 127.
    KeepCount(u16),
    /// TCP_CORK: only full segments are sent, until the cork is removed or a timeout of at least 200 ms passes.
    Cork(bool),
    /// TCP_QUICKACK: pending and subsequent segments are acknowledged immediately.
    QuickAck(bool),
    /// TCP_SYNCNT: number of unanswered SYN retransmissions that end the connection, 1 to 127.
    SynCount(u8),
    /// TCP_FASTOPEN: a listener accepts data in a SYN while fewer than this number of such connections wait for their
    /// client's ACK.
    FastOpen(usize),
    /// TCP_FASTOPEN_KEY: the keys of a listener's cookies.
    FastOpenKeys(Keys),
    /// TCP_FASTOPEN_CONNECT: the SYN waits for the first write, if its data can be sent in the SYN.
    FastOpenConnect(bool),
    /// TCP_FASTOPEN_NO_COOKIE: data in a SYN needs no cookie.
    FastOpenNoCookie(bool),
}

/// All settings of a socket.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// TCP_NODELAY: small segments are sent immediately.
    pub no_delay: bool,
    /// TCP_CONGESTION: the congestion control.
    pub congestion: Choice,
    /// TCP_MAXSEG, if it was set.
    pub max_segment: Option<u16>,
    /// SO_RCVBUF, if it was set.
    pub receive_buffer: Option<Bytes>,
    /// SO_SNDBUF, if it was set.
    pub send_buffer: Option<Bytes>,
    /// TCP_NOTSENT_LOWAT; zero means the host's limit.
    pub not_sent_limit: Bytes,
    /// TCP_USER_TIMEOUT; zero if the number of retries is limited instead.
    pub user_timeout: Duration,
    /// SO_LINGER: maximum time of closing; `None` if closing does not wait.
    pub linger: Option<Duration>,
    /// TCP_LINGER2, if it was set.
    pub fin_wait: Option<Duration>,
    /// TCP_DEFER_ACCEPT, as a number of SYN-ACK timeouts; zero if it is off.
    pub defer_accept: u8,
    /// SO_KEEPALIVE: an idle connection is probed.
    pub keep_alive: bool,
    /// TCP_KEEPIDLE, TCP_KEEPINTVL and TCP_KEEPCNT.
    pub keep_alive_timing: KeepAliveConfig,
    /// TCP_CORK: only full segments are sent.
    pub cork: bool,
    /// TCP_QUICKACK, as it was last set.
    pub quick_ack: bool,
    /// TCP_SYNCNT, if it was set.
    pub syn_count: Option<u8>,
    /// TCP_FASTOPEN, if it was set.
    pub fast_open: Option<usize>,
    /// TCP_FASTOPEN_KEY, if it was set.
    pub fast_open_keys: Option<Keys>,
    /// TCP_FASTOPEN_CONNECT: the SYN waits for the first write.
    pub fast_open_connect: bool,
    /// TCP_FASTOPEN_NO_COOKIE: data in a SYN needs no cookie.
    pub fast_open_no_cookie: bool,
}

/// The values that Linux accepts for TCP_MAXSEG (TCP_MIN_MSS to MAX_TCP_WINDOW).
const MAX_SEGMENT: std::ops::RangeInclusive<u16> = 88..=32_767;
/// Maximum values of Linux for the times and the number of keep-alive probes.
const MOST_KEEP_TIME: Duration = Duration::from_secs(32_767);
const MOST_KEEP_COUNT: u16 = 127;
/// Maximum value of TCP_SYNCNT (MAX_TCP_SYNCNT).
const MOST_SYN_COUNT: u8 = 127;
/// Minimum receive buffer, which is half of Linux's minimum because Linux counts overhead; and the minimum send buffer
/// (SOCK_MIN_SNDBUF).
const LEAST_RECEIVE_BUFFER: Bytes = Bytes(1_152);
const LEAST_SEND_BUFFER: Bytes = Bytes(4_608);
/// Maximum receive buffer that a window can advertise (RFC 7323 §2.3).
const MOST_BUFFER: Bytes = Bytes(65_535 << 14);

impl Settings {
    /// Changes one setting; `None` if the value is invalid. A buffer size out of range becomes the minimum or maximum,
    /// as on Linux.
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
            SocketOption::FinWait(time) => self.fin_wait = *time,
            SocketOption::DeferAccept(timeouts) => self.defer_accept = *timeouts,
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

    /// Returns the timing of keep-alive probes; `None` if the connection is not probed.
    pub(crate) fn probing(&self) -> Option<KeepAliveConfig> {
        self.keep_alive.then_some(self.keep_alive_timing)
    }
}
