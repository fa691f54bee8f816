//! Errors of a socket, in the terms of the socket interface.

use lightlag_tcp::Failure;
use thiserror::Error;

/// The reason why a call failed or a connection ended, with the usual error number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum SocketError {
    /// No such socket, or one that was closed (EBADF).
    #[error("no such socket")]
    BadSocket,
    /// Nothing to read, no room to write, nobody to accept: try again later (EAGAIN).
    #[error("the call would block")]
    WouldBlock,
    /// The connection is not established (ENOTCONN).
    #[error("the socket is not connected")]
    NotConnected,
    /// It is connected already (EISCONN).
    #[error("the socket is connected already")]
    AlreadyConnected,
    /// The handshake is under way (EALREADY).
    #[error("the connection is being opened already")]
    InProgress,
    /// The call does not suit the state of the socket (EINVAL).
    #[error("the call does not fit the state of the socket")]
    Invalid,
    /// The local address is in use (EADDRINUSE).
    #[error("the address is in use")]
    AddressInUse,
    /// The host does not have the local address, or the two addresses are of different families (EADDRNOTAVAIL).
    #[error("the address is none of this host")]
    AddressNotAvailable,
    /// The call needs a socket that listens, or one that does not (EOPNOTSUPP).
    #[error("the socket does not do this")]
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
    /// The peer did not answer (ETIMEDOUT).
    #[error("the peer did not answer in time")]
    TimedOut,
    /// The peer kept its window closed while data waited (ETIMEDOUT).
    #[error("the peer kept its window closed for too long")]
    Stalled,
    /// The host is at its limit of connections or memory (ENOBUFS).
    #[error("the connection was reset because the host is at its limit of connections or memory")]
    Evicted,
    /// The local end aborted the connection (ECONNABORTED).
    #[error("the connection was aborted")]
    Aborted,
    /// A router said that the peer's host cannot be reached (EHOSTUNREACH).
    #[error("the host cannot be reached")]
    HostUnreachable,
    /// A router said that the peer's network cannot be reached (ENETUNREACH).
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
