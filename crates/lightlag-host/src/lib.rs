//! A host without I/O: sockets that transfer real bytes over lightlag's TCP.
//!
//! A [`Stack`] takes IP packets and the time, and returns IP packets and a deadline. No call blocks: a call that cannot
//! proceed returns [`SocketError::WouldBlock`], and [`Stack::readiness`] reports when it can. The clock may be virtual
//! or real, and the packets may come from a TUN device, a pipe or a script.
//!
//! ```
//! use lightlag_core::Instant;
//! use lightlag_host::{HostConfig, Stack};
//! let (client_ip, server_ip) = ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
//! let mut client = Stack::new(HostConfig { seed: 1, ..HostConfig::new(vec![client_ip]) });
//! let mut server = Stack::new(HostConfig { seed: 2, ..HostConfig::new(vec![server_ip]) });
//! let now = Instant::ZERO;
//! let listener = server.listen((server_ip, 80).into(), 5).unwrap();
//! let socket = client.socket();
//! client.connect(now, socket, (server_ip, 80).into()).unwrap();
//! let mut packet = Vec::new();
//! for _ in 0..2 {
//!     while client.poll_packet(now, &mut packet) {
//!         server.packet_in(now, &packet);
//!     }
//!     while server.poll_packet(now, &mut packet) {
//!         client.packet_in(now, &packet);
//!     }
//! }
//! let accepted = server.accept(listener).unwrap();
//! client.write(now, socket, b"hello").unwrap();
//! assert!(client.poll_packet(now, &mut packet));
//! server.packet_in(now, &packet);
//! let mut data = [0; 10];
//! assert_eq!(server.read(accepted, &mut data), Ok(5));
//! assert_eq!(&data[..5], b"hello");
//! ```
//!
//! - [`Stack`]: packets, time, and the calls of the socket interface.
//! - [`SocketOption`] and [`Settings`]: the socket options of Linux, typed.
//! - [`TcpInfo`]: the supported fields of TCP_INFO.

mod bursts;
mod cookies;
mod error;
mod fast_open;
mod icmp;
mod info;
mod options;
mod ring;
mod send_space;
mod sockets;
mod stack;
mod stopwatch;
mod stream;
mod table;

pub use error::SocketError;
pub use fast_open::{FastOpen, Key, Keys};
pub use info::TcpInfo;
pub use options::{Settings, SocketOption};
pub use send_space::SendBuffer;
pub use sockets::{Readiness, Shutdown};
pub use stack::{Counters, HostConfig, Limits, Stack, SynCookies};
pub use stream::{Traffic, Writing};
pub use table::SocketId;
