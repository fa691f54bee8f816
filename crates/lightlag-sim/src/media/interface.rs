//! A node's interface to a medium.

use super::Parcel;
use super::parcel::Unaddressed;
use super::waiting::Waiting;
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
    pub(super) outbox: VecDeque<Box<Parcel>>,
    pub(super) waiting: Waiting,
    /// When its agent, its resolver or a packet that waits is due. It holds until they are told something.
    pub(super) deadline: Option<Instant>,
    /// Packets that it dropped because there was no route.
    pub(crate) no_route: u64,
    /// Links of which the agent was told that they broke.
    pub(crate) broken: u64,
}

impl Interface {
    /// Finds its deadline anew.
    pub(super) fn look_ahead(&mut self) {
        let routing = earlier(self.agent.poll_timeout(), self.resolver.poll_timeout());
        self.deadline = earlier(routing, self.waiting.expiry());
    }
}

/// The earlier one of two instants, if there are any.
pub(super) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}
