//! The errors of a socket, with the names of the socket interface.

use lightlag_tcp::Failure;
use thiserror::Error;

/// The reason why a call failed or a connection ended, with its errno value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum SocketError {
    /// The socket does not exist, or was closed (EBADF).
    #[error("no such socket")]
    BadSocket,
    /// No data to read, no space to write, no connection to accept: try again later (EAGAIN).
    #[error("the call would block")]
    WouldBlock,
    /// The connection is not established (ENOTCONN).
    #[error("the socket is not connected")]
    NotConnected,
    /// The socket is already connected (EISCONN).
    #[error("the socket is connected already")]
    AlreadyConnected,
    /// The handshake is in progress (EALREADY).
    #[error("the connection is being opened already")]
    InProgress,
    /// The call is not valid in the current state of the socket (EINVAL).
    #[error("the call does not fit the state of the socket")]
    Invalid,
    /// The local address is in use (EADDRINUSE).
    #[error("the address is in use")]
    AddressInUse,
    /// The host does not have the local address, or the two addresses are of different families (EADDRNOTAVAIL).
    #[error("the address does not belong to this host")]
    AddressNotAvailable,
    /// The call requires a listening socket, or a socket that does not listen (EOPNOTSUPP).
    #[error("the socket does not support this call")]
    NotSupported,
    /// The value of a socket option is out of range or unknown (EINVAL, ENOENT).
    #[error("the value does not fit the option")]
    BadOption,
    /// Data was written after the local end was closed, or after the connection ended (EPIPE).
    #[error("the connection is closed for writing")]
    BrokenPipe,
    /// The peer answered the SYN with a reset (ECONNREFUSED).
    #[error("the peer refused the connection")]
    Refused,
    /// The peer reset the connection (ECONNRESET).
    #[error("the peer reset the connection")]
    Reset,
    /// The peer did not reply (ETIMEDOUT).
    #[error("the peer did not answer in time")]
    TimedOut,
    /// The peer kept its window closed while data waited (ETIMEDOUT).
    #[error("the peer kept its window closed for too long")]
    Stalled,
    /// The connection was reset because the host reached its limit of connections or memory (ENOBUFS).
    #[error("the connection was reset because the host is at its limit of connections or memory")]
    Evicted,
    /// The local end aborted the connection (ECONNABORTED).
    #[error("the connection was aborted")]
    Aborted,
    /// A router reported that the peer's host cannot be reached (EHOSTUNREACH).
    #[error("the host cannot be reached")]
    HostUnreachable,
    /// A router reported that the peer's network cannot be reached (ENETUNREACH).
    #[error("the network cannot be reached")]
    NetworkUnreachable,
}

impl From<Failure> for SocketError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::SynTimeout | Failure::Timeout | Failure::KeepAlive | Failure::ProbeTimeout | Failure::FinWait => {
                Self::TimedOut
            }
            Failure::Refused => Self::Refused,
            Failure::Reset => Self::Reset,
            Failure::Aborted | Failure::Crashed => Self::Aborted,
        }
    }
}
