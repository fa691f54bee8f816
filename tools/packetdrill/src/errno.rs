//! Error numbers, the results of calls.

use lightlag_host::SocketError;

/// An error number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Errno(pub i32);

/// The result of a call.
pub type Outcome<T> = Result<T, Errno>;

impl From<SocketError> for Errno {
    fn from(error: SocketError) -> Self {
        use SocketError as E;
        Self(match error {
            E::BadSocket => libc::EBADF,
            E::WouldBlock => libc::EAGAIN,
            E::NotConnected => libc::ENOTCONN,
            E::AlreadyConnected => libc::EISCONN,
            E::InProgress => libc::EALREADY,
            E::Invalid | E::BadOption => libc::EINVAL,
            E::AddressInUse => libc::EADDRINUSE,
            E::AddressNotAvailable => libc::EADDRNOTAVAIL,
            E::NotSupported => libc::EOPNOTSUPP,
            E::BrokenPipe => libc::EPIPE,
            E::Refused => libc::ECONNREFUSED,
            E::Reset => libc::ECONNRESET,
            E::TimedOut | E::Stalled => libc::ETIMEDOUT,
            E::Evicted => libc::ENOBUFS,
            E::Aborted => libc::ECONNABORTED,
            E::HostUnreachable => libc::EHOSTUNREACH,
            E::NetworkUnreachable => libc::ENETUNREACH,
        })
    }
}
