//! Data that a flow with partial reliability did without.

use crate::ids::FlowIndex;
use crate::table::rows;
use crate::tap::Tap;
use crate::world::World;
use lightlag_tcp::segment::Capabilities;

rows! {
    /// Holes in what arrived (BETS). Delivered bytes and bytes of holes make up the stream.
    #[derive(Copy)]
    pub struct HoleSummary {
        /// Holes that the receiver went on behind.
        count: u64 [""],
        /// Their bytes.
        bytes: u64 ["B"],
        /// Bytes that the sender gave up; some of them may have arrived.
        given_up_bytes: u64 ["B"],
    }
}

impl HoleSummary {
    /// Of a flow whose ends agreed on it.
    pub(super) fn of(world: &World<impl Tap>, flow: FlowIndex) -> Option<Self> {
        let hosts = &world.hosts;
        let sender = &hosts.tcp.get(hosts.numbers.sender(flow))?.connection;
        let receiver = &hosts.tcp.get(hosts.numbers.receiver(flow))?.connection;
        receiver.common_capabilities().filter(|bits| bits & Capabilities::BETS != 0)?;
        let holes = receiver.holes();
        Some(Self { count: holes.count, bytes: holes.bytes, given_up_bytes: sender.given_up().bytes })
    }
}
