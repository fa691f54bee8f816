//! Data that a flow with partial reliability did not deliver.

use crate::ids::FlowIndex;
use crate::table::rows;
use crate::tap::Tap;
use crate::world::World;
use lightlag_tcp::segment::Capabilities;

rows! {
    /// Holes in the received stream (BETS). The bytes delivered and the bytes in holes add up to the stream.
    #[derive(Copy)]
    pub struct HoleSummary {
        /// Holes that the receiver skipped.
        count: u64 [""],
        /// Total size of these holes in bytes.
        bytes: u64 ["B"],
        /// Bytes that the sender abandoned. Some of them may have arrived.
        given_up_bytes: u64 ["B"],
    }
}

impl HoleSummary {
    /// Returns the summary of a flow; `None` unless its endpoints negotiated partial reliability.
    pub(super) fn of(world: &World<impl Tap>, flow: FlowIndex) -> Option<Self> {
        let hosts = &world.hosts;
        let sender = &hosts.tcp.get(hosts.numbers.sender(flow))?.connection;
        let receiver = &hosts.tcp.get(hosts.numbers.receiver(flow))?.connection;
        receiver.common_capabilities().filter(|bits| bits & Capabilities::BETS != 0)?;
        let holes = receiver.holes();
        Some(Self { count: holes.count, bytes: holes.bytes, given_up_bytes: sender.given_up().bytes })
    }
}
