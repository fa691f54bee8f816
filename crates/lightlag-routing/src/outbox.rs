//! Actions that wait until the node takes them, and messages that wait for their transmission time.

use crate::messages::Message;
use crate::{NodeAction, Receiver, Traffic};
use lightlag_core::Duration;
use lightlag_core::{Instant, RandomStream};
use lightlag_net::NodeId;
use std::collections::{BTreeMap, VecDeque};

/// The pending actions of an agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    ready: VecDeque<NodeAction>,
    /// Messages by transmission time; messages with equal times stay in the order of insertion.
    delayed: BTreeMap<(Instant, u64), (Receiver, Message, u8)>,
    number: u64,
    traffic: Traffic,
}

impl Outbox {
    /// Sends a message now.
    pub(crate) fn send(&mut self, to: Receiver, message: Message, ttl: u8) {
        self.traffic.count(&message);
        self.ready.push_back(NodeAction::Send { to, message, ttl });
    }

    /// Sends a message at this time.
    pub(crate) fn send_at(&mut self, time: Instant, to: Receiver, message: Message, ttl: u8) {
        self.number += 1;
        self.delayed.insert((time, self.number), (to, message, ttl));
    }

    /// Releases the packets for a destination.
    pub(crate) fn release(&mut self, destination: NodeId) {
        self.ready.push_back(NodeAction::Release { destination });
    }

    /// Drops the packets for a destination.
    pub(crate) fn discard(&mut self, destination: NodeId) {
        self.ready.push_back(NodeAction::Discard { destination });
    }

    /// Reports that the route to a destination broke.
    pub(crate) fn broken(&mut self, destination: NodeId) {
        self.ready.push_back(NodeAction::Broken { destination });
    }

    /// Returns the transmission time of the next delayed message.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.delayed.first_key_value().map(|(&(at, _), _)| at)
    }

    /// Sends the messages whose transmission time has been reached.
    pub(crate) fn advance(&mut self, now: Instant) {
        while let Some(entry) = self.delayed.first_entry()
            && entry.key().0 <= now
        {
            let (to, message, ttl) = entry.remove();
            self.send(to, message, ttl);
        }
    }

    /// Returns the next action.
    pub(crate) fn take(&mut self) -> Option<NodeAction> {
        self.ready.pop_front()
    }

    /// Returns the counters of the messages that were sent.
    pub(crate) fn traffic(&self) -> &Traffic {
        &self.traffic
    }
}

/// Returns a random whole number of milliseconds, uniform from zero to `max`, both inclusive.
pub(crate) fn whole_milliseconds(random: &mut RandomStream, max: Duration) -> Duration {
    let choices = max.as_nanos() / 1_000_000 + 1;
    let choice = (random.uniform() * choices as f64) as u64;
    Duration::from_millis(choice)
}
