//! Simulated hosts of an [emulation](crate::emulation): they serve clients and connect to servers, real or simulated.
//!
//! A host is a [`Stack`](lightlag_host::Stack) and the application of each of its connections. It has no clock and no
//! device: the emulation passes packets and the time, and takes packets and a deadline.

mod host;
mod http;
mod iperf;
mod options;
mod payload;
mod report;
mod session;

pub use http::Http;
pub use iperf::Test;
pub use options::HostOptions;
pub use payload::Source;
pub use report::Report;
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
    /// The host listens or is about to connect.
    Ready {
        /// The address at which it listens, or to which it connects.
        address: String,
    },
    /// A connection is open.
    Opened {
        /// The host's address.
        local: String,
        /// The peer's address.
        remote: String,
    },
    /// A connection is over.
    Closed(Box<Report>),
}

/// The reason why a host failed.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// It cannot use its address or port, or its connection failed.
    #[error("{address}: {error}")]
    Socket {
        /// Address at which it was to listen or to which it connected.
        address: SocketAddr,
        /// The error.
        error: SocketError,
    },
    /// A file to be sent cannot be read, or a test of iperf3 failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The task of the host.
#[derive(Clone, Debug)]
pub enum Action {
    /// Listens at a port and does the same with each connection.
    Listen {
        /// The port.
        port: u16,
        /// The application of each connection.
        role: Role,
        /// Number of connections after which the host ends.
        connections: Option<u64>,
    },
    /// Opens connections, one after the other.
    Connect {
        /// The address of the server.
        remote: SocketAddr,
        /// The application of each connection.
        role: Role,
        /// Number of connections.
        connections: u64,
        /// Time of the first one, since the start of the emulation.
        start: Duration,
    },
}

/// A simulated host: its TCP, and its task.
#[derive(Clone, Debug)]
pub struct HostPlan {
    /// Its addresses and its TCP.
    pub host: HostConfig,
    /// Its task.
    pub action: Action,
    /// Connecting sockets request a cookie, and send data in their SYN if possible.
    pub early: bool,
    /// The reader stops once for a while.
    pub pause: Option<Pause>,
}

impl HostPlan {
    /// Address of the host.
    ///
    /// # Panics
    /// If the host has none.
    pub fn address(&self) -> IpAddr {
        *self.host.addresses.first().expect("a host has an address")
    }
}
