//! The end of flows: a sender's account stops when the last byte of its data has arrived, whatever the run does after.

use super::{Endpoint, Hosts, Outcome, Task};
use lightlag_core::Instant;
use lightlag_tcp::{Failure, Limited, State};

/// The account of a sender at the end of its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    /// When its last byte arrived, or when its flow failed.
    pub(crate) at: Instant,
    pub(crate) limited: Limited,
    pub(crate) mean_cwnd_segments: f64,
}

impl Hosts {
    /// The account of the sender at an endpoint: at the end of its data, or of the run.
    pub(crate) fn account(&self, sender: usize, end: Instant) -> Ending {
        self.endings.get(&sender).copied().unwrap_or_else(|| self.account_now(sender, end))
    }

    pub(crate) fn account_now(&self, sender: usize, at: Instant) -> Ending {
        let connection = &self.endpoints[sender].connection;
        Ending { at, limited: connection.limited(at), mean_cwnd_segments: connection.mean_cwnd_segments(at) }
    }

    /// When the last byte of the sender at an endpoint arrived at the other end of its connection, if it did.
    pub(crate) fn arrived_at(&self, sender: usize) -> Option<Instant> {
        let failed = matches!(self.outcomes.of(self.endpoints[sender].flow as usize), Outcome::Failed(_));
        self.endings.get(&sender).filter(|_| !failed).map(|ending| ending.at)
    }

    /// The endpoint from which the data of a flow comes to its receiver.
    pub(crate) fn last_sender(&self, flow: usize) -> usize {
        self.endpoints[self.numbers.receiver(flow)].peer as usize
    }

    /// The endpoints from which the data of a flow leaves: at its sender and at proxies.
    pub(crate) fn senders_of(&self, flow: usize) -> Vec<usize> {
        let exits = self.relays.iter().map(|relay| relay.exit as usize);
        let of_flow = exits.filter(|exit| self.endpoints[*exit].flow as usize == flow);
        std::iter::once(self.numbers.sender(flow)).chain(of_flow).collect()
    }

    /// Whether the run waits for a flow.
    pub(crate) fn awaits(&self, flow: usize) -> bool {
        self.numbers.datagrams(flow).is_none()
            && matches!(self.endpoints[self.numbers.receiver(flow)].task, Task::Receive { .. })
    }

    /// The data of a sender has arrived at the other end of its connection.
    #[cold]
    pub(crate) fn sender_ends(&mut self, now: Instant, sender: usize) {
        if !self.endings.contains_key(&sender) {
            let ending = self.account_now(sender, now);
            self.endings.insert(sender, ending);
        }
    }

    /// The last byte of a flow has arrived.
    #[cold]
    pub(crate) fn flow_arrives(&mut self, now: Instant, flow: usize) {
        self.outcomes.set(flow, Outcome::Finished(now));
        self.sender_ends(now, self.last_sender(flow));
    }

    /// The last byte of a flow for which the run waits has arrived.
    #[cold]
    pub(crate) fn transfer_arrives(&mut self, now: Instant, flow: usize) {
        self.flow_arrives(now, flow);
        self.open_transfers -= 1;
    }

    /// The endpoints of flows whose last byte has arrived, those at proxies included.
    pub(crate) fn ends_of_finished_flows(&self) -> Vec<usize> {
        let finished = |at: &usize| matches!(self.outcomes.of(self.endpoints[*at].flow as usize), Outcome::Finished(_));
        (0..self.endpoints.len()).filter(finished).collect()
    }

    /// Whether the connection at an endpoint is closed, or both its ends keep it open and everything is acknowledged.
    pub(crate) fn has_closed(&self, endpoint: usize) -> bool {
        let Endpoint { connection, peer, .. } = &self.endpoints[endpoint];
        match connection.state() {
            State::Closed | State::Listen | State::TimeWait => true,
            State::Established => {
                let peer = &self.endpoints[*peer as usize].connection;
                peer.state() == State::Established && connection.all_acknowledged()
            }
            _ => false,
        }
    }

    /// A flow fails, unless its transfer had arrived or it failed before.
    #[cold]
    pub(crate) fn flow_fails(&mut self, now: Instant, flow: usize, failure: Failure) {
        if self.outcomes.of(flow) != Outcome::Unfinished {
            return;
        }
        self.outcomes.set(flow, Outcome::Failed(failure));
        for sender in self.senders_of(flow) {
            self.sender_ends(now, sender);
        }
        let receiver = &mut self.endpoints[self.numbers.receiver(flow)];
        if matches!(receiver.task, Task::Receive { .. }) {
            receiver.task = Task::Idle;
            self.open_transfers -= 1;
        }
    }
}
