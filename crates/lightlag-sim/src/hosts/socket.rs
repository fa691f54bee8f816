//! An endpoint at its node: its place in the network, the task of its application, and the connection itself.

use super::application::Application;
use super::ends::{End, Role};
use crate::body::Packet;
use crate::ids::FlowIndex;
use lightlag_core::{Instant, prefetch};
use lightlag_net::{EndpointId, NodeId, PackedExit};
use lightlag_transport::{Endpoint, Inspect, Stream};

/// The part of a socket that is the same for all transports.
// In this order, the fields that every packet needs share a cache line with the start of the connection.
#[repr(C)]
pub(crate) struct Port {
    pub(crate) node: NodeId,
    pub(crate) peer_node: NodeId,
    /// The endpoint at the other end of its connection.
    pub(crate) peer: EndpointId,
    /// The link on which its packets leave in this epoch of the routes.
    pub(crate) out: PackedExit,
    /// The flow that it belongs to, and its role in it.
    pub(crate) flow: FlowIndex,
    pub(crate) role: Role,
    pub(crate) task: Task,
    /// An application that does more than write everything and read at once.
    pub(crate) application: Option<Box<Application>>,
}

/// The task that the application at an endpoint still has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    /// Open the connection at the start of the flow, write this many bytes (`None`: without end) and close.
    Open { transfer: Option<u64> },
    /// Open the connection at the start of the flow; the application writes by itself.
    Begin,
    /// Wait until this many bytes have arrived, holes counted.
    Receive { transfer: u64 },
    /// Pass on what arrives to the other end of this relay.
    Relay(u32),
    /// Report to this collector how much has arrived of its messages.
    Collected(u32),
    /// Nothing.
    Idle,
}

/// One end of a connection of the transport `E`, at its node.
// Whole cache lines: neighbours do not share one.
#[repr(C, align(64))]
pub(crate) struct Socket<E> {
    pub(crate) port: Port,
    pub(crate) connection: E,
}

impl<E: Endpoint + Stream> Socket<E> {
    pub(crate) fn new(end: End, out: PackedExit, connection: E, task: Task) -> Self {
        let End { flow, role, peer, node, peer_node } = end;
        debug_assert!(node != peer_node, "a connection joins two nodes");
        Self { port: Port { node, peer_node, peer, out, flow, role, task, application: None }, connection }
    }

    /// Fetches from memory what a packet to it needs.
    #[inline(always)]
    pub(crate) fn prefetch_for(&self, packet: &Packet) {
        prefetch(self);
        if !packet.flags.carries_payload() {
            self.connection.prefetch_sender();
        }
    }

    /// Returns the instant at which it next has something to do by itself.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let timeout = self.connection.poll_timeout();
        match &self.port.application {
            None => timeout,
            Some(application) => timeout.into_iter().chain(application.next(&self.connection)).min(),
        }
    }

    /// Lets the application read what is due.
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

    /// Returns the connection as records and results see it.
    fn inspect(&self) -> &dyn Inspect;

    /// Returns the connection as applications see it.
    fn stream(&self) -> &dyn Stream;

    /// Returns the instant at which the application next has something to do.
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
