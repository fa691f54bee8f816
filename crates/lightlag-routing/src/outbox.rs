//! Actions that wait until the node takes them, and messages that wait for their time.

use crate::messages::Message;
use crate::{Action, Receiver, Traffic};
use lightlag_core::Duration;
use lightlag_core::{Instant, RandomStream};
use lightlag_net::NodeId;
use std::collections::{BTreeMap, VecDeque};

/// The actions of an agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    ready: VecDeque<Action>,
    /// Messages by the time at which they leave; of those with the same time the first one goes first.
    delayed: BTreeMap<(Instant, u64), (Receiver, Message, u8)>,
    number: u64,
    traffic: Traffic,
}

impl Outbox {
    /// Sends a message now.
    pub(crate) fn send(&mut self, to: Receiver, message: Message, ttl: u8) {
        self.traffic.count(&message);
        self.ready.push_back(Action::Send { to, message, ttl });
    }

    /// Sends a message at this time.
    pub(crate) fn send_at(&mut self, at: Instant, to: Receiver, message: Message, ttl: u8) {
        self.number += 1;
        self.delayed.insert((at, self.number), (to, message, ttl));
    }

    /// The packets for a destination may leave.
    pub(crate) fn release(&mut self, destination: NodeId) {
        self.ready.push_back(Action::Release { destination });
    }

    /// The packets for a destination are given up.
    pub(crate) fn discard(&mut self, destination: NodeId) {
        self.ready.push_back(Action::Discard { destination });
    }

    /// The route to a destination broke.
    pub(crate) fn broken(&mut self, destination: NodeId) {
        self.ready.push_back(Action::Broken { destination });
    }

    /// The next time at which a message leaves.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.delayed.first_key_value().map(|(&(at, _), _)| at)
    }

    /// Sends the messages whose time has come.
    pub(crate) fn advance(&mut self, now: Instant) {
        while let Some(entry) = self.delayed.first_entry()
            && entry.key().0 <= now
        {
            let (to, message, ttl) = entry.remove();
            self.send(to, message, ttl);
        }
    }

    /// The next action.
    pub(crate) fn take(&mut self) -> Option<Action> {
        self.ready.pop_front()
    }

    /// Counters of the messages that left.
    pub(crate) fn traffic(&self) -> &Traffic {
        &self.traffic
    }
}

/// A whole number of milliseconds, uniform from zero to `most`, both included.
pub(crate) fn whole_milliseconds(random: &mut RandomStream, most: Duration) -> Duration {
    let choices = most.as_nanos() / 1_000_000 + 1;
    let choice = (random.uniform() * choices as f64) as u64;
    Duration::from_millis(choice)
}
