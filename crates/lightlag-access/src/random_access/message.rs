//! Packets of sensors in transit to the gateway.

use crate::contention::Contender;
use lightlag_core::Instant;
use lightlag_net::medium::Outgoing;

/// A packet of a sensor.
#[derive(Clone, Debug)]
pub(super) struct Message<P> {
    pub(super) packet: Outgoing<P>,
    pub(super) arrived: Instant,
    pub(super) attempts: u32,
}

/// A burst in the slots of a frame: the sensor, its slots and power, and the packet.
pub(super) type SlottedBurst<P> = (u32, Contender, Message<P>);

/// A packet of a sensor with NB-IoT that has a grant.
#[derive(Clone, Debug)]
pub(super) struct Transport<P> {
    pub(super) sensor: u32,
    pub(super) message: Message<P>,
    /// Number of blocks that the gateway has received.
    pub(super) received: u32,
    /// Transmissions of the present block, and whether it is decoded.
    pub(super) transmissions: u32,
    pub(super) is_decoded: bool,
}
