//! Simulated hosts of an [emulation](crate::emulation). They serve clients and connect to servers, which may be real or
//! simulated.
//!
//! A host consists of a [`Stack`](lightlag_host::Stack) and an application for each connection. It has no clock and no
//! device: the emulation gives it packets and the time, and takes its packets and its next deadline.

mod host;
mod http;
mod iperf;
mod options;
mod payload;
mod report;
mod session;

pub use http::Http;
pub use iperf::TestRequest;
pub use options::HostOptions;
pub use payload::PayloadSource;
pub use report::ConnectionReport;
pub use session::{Pause, Role};

pub(crate) use host::Host;
pub(crate) use options::Naming;

use lightlag_core::Duration;
use lightlag_host::{HostConfig, SocketError};
use serde::Serialize;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// An event of a host.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// The host listens, or is about to connect.
    Ready {
        /// Local address of a listener, or remote address of a client.
        address: String,
    },
    /// A connection was established.
    Opened {
        /// Address of the host.
        local: String,
        /// Address of the peer.
        remote: String,
    },
    /// A connection has ended.
    Closed(Box<ConnectionReport>),
}

/// The reason why a host failed.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The host cannot use its address or port, or its connection failed.
    #[error("{address}: {error}")]
    Socket {
        /// Local address of a listener, or remote address of a client.
        address: SocketAddr,
        /// The error of the socket.
        error: SocketError,
    },
    /// A file to be sent cannot be read, or a test of iperf3 failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The task of a host.
#[derive(Clone, Debug)]
pub enum HostTask {
    /// Listens on a port, and runs the same application on each connection.
    Listen {
        /// The port to listen on.
        port: u16,
        /// The application of each connection.
        role: Role,
        /// Number of connections that the host serves before it has finished; unlimited if `None`.
        connections: Option<u64>,
    },
    /// Opens connections, one after another.
    Connect {
        /// The address of the server.
        remote: SocketAddr,
        /// The application of each connection.
        role: Role,
        /// Number of connections.
        connections: u64,
        /// Time of the first connection, since the start of the emulation.
        start: Duration,
    },
}

/// A complete description of a simulated host.
#[derive(Clone, Debug)]
pub struct HostPlan {
    /// The host's addresses and its TCP settings.
    pub host: HostConfig,
    /// The host's task.
    pub action: HostTask,
    /// Whether sockets that connect request a fast open cookie, and send data in their SYN if possible.
    pub early: bool,
    /// A pause of the reading application, once per connection; `None` if there is none.
    pub pause: Option<Pause>,
}

impl HostPlan {
    /// Returns the address of the host.
    ///
    /// # Panics
    /// If the host has none.
    pub fn address(&self) -> IpAddr {
        *self.host.addresses.first().expect("a host has an address")
    }
}
