//! The proxies and tunnels that flows pass.

use crate::spec::{Opens, Reads, TunnelPayload};
use lightlag_control::congestion::Choice;
use lightlag_core::{Bytes, Instant};
use lightlag_net::NodeId;
use lightlag_tcp::Config;
use std::sync::Arc;

/// A node that splits the connections that cross it.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// Node of the proxy.
    pub node: NodeId,
    /// Maximum number of bytes that the proxy buffers for each flow.
    pub buffer: Bytes,
    /// Reads of the proxy's program; `None` if all data is read as it arrives.
    pub reads: Option<Reads>,
    /// TCP configuration of the endpoint towards the sender.
    pub client: Arc<Config>,
    /// TCP configuration of the endpoint towards the receiver.
    pub server: Arc<Config>,
    /// QUIC configurations of the endpoints that open and that accept connections, for a proxy that ends QUIC.
    pub quic: Option<Arc<lightlag_quic::Ends>>,
    /// Time when the proxy opens the next connection of a flow.
    pub opens: Opens,
    /// Whether connections to the next proxy with `pool` are opened in advance.
    pub pool: bool,
    /// Whether the proxy prefetches the objects of web pages.
    pub prefetch: bool,
    /// Time when the proxy crashes, if it does.
    pub crash: Option<Instant>,
}

impl Proxy {
    /// Returns the congestion control of the endpoints that open connections.
    pub fn congestion(&self) -> &Choice {
        self.quic.as_ref().map_or(&self.server.congestion, |ends| &ends.client.congestion)
    }
}

/// A passage of a flow through a proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Split {
    /// Index of the flow.
    pub flow: u32,
    /// Index of the proxy.
    pub proxy: u32,
}

/// A QUIC connection that carries packets in DATAGRAM frames.
#[derive(Clone, Debug)]
pub struct Tunnel {
    /// Nodes of the client and of the server.
    pub ends: [NodeId; 2],
    /// Index of the flow that stands for the connection.
    pub flow: u32,
    /// Contents of the datagrams.
    pub payload: TunnelPayload,
    /// Bytes before the payload in the datagrams of each flow: quarter stream ID and context ID (RFC 9297 §2.1); `None`
    /// for a flow whose packets do not enter the tunnel.
    pub headers: Vec<Option<u8>>,
}
