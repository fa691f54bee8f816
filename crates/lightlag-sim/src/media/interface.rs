//! A node's interface to a medium.

use super::MediumPacket;
use super::packet::Unaddressed;
use super::waiting::AwaitingRoute;
use lightlag_core::Instant;
use lightlag_net::{NodeId, StationId};
use lightlag_routing::{Agent, arp};
use std::collections::VecDeque;

/// A node's interface to a medium.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) node: NodeId,
    pub(crate) medium: usize,
    pub(crate) station: StationId,
    pub(crate) agent: Box<dyn Agent>,
    pub(super) resolver: arp::Resolver,
    pub(super) unaddressed: Vec<Unaddressed>,
    pub(super) outbox: VecDeque<Box<MediumPacket>>,
    pub(super) waiting: AwaitingRoute,
    /// Earliest deadline of the agent, the address resolver and the waiting packets. It is valid until one of them
    /// receives input.
    pub(super) deadline: Option<Instant>,
    /// Number of packets that the interface dropped because there was no route.
    pub(crate) no_route: u64,
    /// Number of broken links that were reported to the agent.
    pub(crate) broken: u64,
}

impl Interface {
    /// Recomputes the deadline.
    pub(super) fn look_ahead(&mut self) {
        let routing = earlier(self.agent.poll_timeout(), self.resolver.poll_timeout());
        self.deadline = earlier(routing, self.waiting.expiry());
    }
}

/// Returns the earlier of two times; `None` if there are none.
pub(super) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}
