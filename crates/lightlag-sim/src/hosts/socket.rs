//! A socket: the position of an endpoint in the network, the remaining task of its application, and the connection.

use super::application::Application;
use super::endpoints::{EndpointSpec, Role};
use crate::body::Packet;
use crate::ids::FlowIndex;
use lightlag_core::{Instant, prefetch};
use lightlag_net::{EndpointId, NodeId, PackedExit};
use lightlag_transport::{Endpoint, Inspect, Stream};

/// The part of a socket that is independent of the transport.
// In this order, the fields that every packet needs share a cache line with the start of the connection.
#[repr(C)]
pub(crate) struct Port {
    pub(crate) node: NodeId,
    pub(crate) peer_node: NodeId,
    /// Other endpoint of the connection.
    pub(crate) peer: EndpointId,
    /// First link for the packets of the endpoint in the current epoch of the routes.
    pub(crate) out: PackedExit,
    /// Flow of the endpoint, and its role in the flow.
    pub(crate) flow: FlowIndex,
    pub(crate) role: Role,
    pub(crate) task: Task,
    /// Application, unless it simply writes all data and reads immediately.
    pub(crate) application: Option<Box<Application>>,
}

/// Remaining task of the application at an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    /// Open the connection at the start of the flow, write this number of bytes (`None`: unlimited) and close it.
    Open { transfer: Option<u64> },
    /// Open the connection at the start of the flow; the application writes on its own schedule.
    Begin,
    /// Wait until this number of bytes has arrived, including skipped holes.
    Receive { transfer: u64 },
    /// Forward the data that arrives to the other endpoint of this relay.
    Relay(u32),
    /// Report the number of bytes that have arrived to this collector.
    Collected(u32),
    /// No task.
    Idle,
}

/// A socket with a connection of the transport `E`.
// Aligned to cache lines, so that neighbours share none.
#[repr(C, align(64))]
pub(crate) struct Socket<E> {
    pub(crate) port: Port,
    pub(crate) connection: E,
}

impl<E: Endpoint + Stream> Socket<E> {
    pub(crate) fn new(end: EndpointSpec, out: PackedExit, connection: E, task: Task) -> Self {
        let EndpointSpec { flow, role, peer, node, peer_node } = end;
        debug_assert!(node != peer_node, "a connection joins two nodes");
        Self { port: Port { node, peer_node, peer, out, flow, role, task, application: None }, connection }
    }

    /// Prefetches the memory that is needed to handle this packet.
    #[inline(always)]
    pub(crate) fn prefetch_for(&self, packet: &Packet) {
        prefetch(self);
        if !packet.flags.carries_payload() {
            self.connection.prefetch_sender();
        }
    }

    /// Returns the time of the socket's next event.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let timeout = self.connection.poll_timeout();
        match &self.port.application {
            None => timeout,
            Some(application) => timeout.into_iter().chain(application.next(&self.connection)).min(),
        }
    }

    /// Returns true if the program of a proxy runs later because of an event at `now`.
    #[inline]
    pub(crate) fn puts_off(&mut self, now: Instant) -> bool {
        match self.port.application.as_deref_mut() {
            Some(Application::Wakes(waking)) => waking.puts_off(now),
            _ => false,
        }
    }

    /// Lets the application read the bytes that are due.
    #[inline]
    pub(crate) fn read(&mut self, now: Instant) {
        if let Some(application) = &mut self.port.application {
            application.read(now, &mut self.connection);
        }
    }
}

/// A socket of any transport, for rare events, records and results.
pub(crate) trait AnySocket {
    fn port(&self) -> &Port;

    fn port_mut(&mut self) -> &mut Port;

    /// Returns the connection's interface for records and results.
    fn inspect(&self) -> &dyn Inspect;

    /// Returns the connection's interface for applications.
    fn stream(&self) -> &dyn Stream;

    /// Returns the time of the application's next event.
    fn application_due(&self) -> Option<Instant>;
}

impl<E: Endpoint + Stream> AnySocket for Socket<E> {
    #[inline]
    fn port(&self) -> &Port {
        &self.port
    }

    #[inline]
    fn port_mut(&mut self) -> &mut Port {
        &mut self.port
    }

    #[inline]
    fn inspect(&self) -> &dyn Inspect {
        &self.connection
    }

    #[inline]
    fn stream(&self) -> &dyn Stream {
        &self.connection
    }

    fn application_due(&self) -> Option<Instant> {
        self.port.application.as_ref()?.next(&self.connection)
    }
}
