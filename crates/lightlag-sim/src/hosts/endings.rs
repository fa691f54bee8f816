//! The end of flows: a sender's account stops when the last byte of its data has arrived, whatever the run does after.

use super::socket::Task;
use super::{Hosts, Outcome};
use crate::ids::FlowIndex;
use lightlag_core::Instant;
use lightlag_net::EndpointId;
use lightlag_transport::{Failure, Limited, Status};

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
    pub(crate) fn account(&self, sender: EndpointId, end: Instant) -> Ending {
        self.endings.get(&sender).copied().unwrap_or_else(|| self.account_now(sender, end))
    }

    pub(crate) fn account_now(&self, sender: EndpointId, at: Instant) -> Ending {
        let standing = self.socket(sender).inspect().standing();
        Ending { at, limited: standing.limited(at), mean_cwnd_segments: standing.mean_cwnd_segments(at) }
    }

    /// When the last byte of the sender at an endpoint arrived at the other end of its connection, if it did.
    pub(crate) fn arrived_at(&self, sender: EndpointId) -> Option<Instant> {
        let failed = matches!(self.outcomes.of(self.port(sender).flow), Outcome::Failed(_));
        self.endings.get(&sender).filter(|_| !failed).map(|ending| ending.at)
    }

    /// The endpoint from which the data of a flow comes to its receiver.
    pub(crate) fn last_sender(&self, flow: FlowIndex) -> EndpointId {
        self.port(self.numbers.receiver(flow)).peer
    }

    /// The endpoints from which the data of a flow leaves: at its sender and at proxies.
    pub(crate) fn senders_of(&self, flow: FlowIndex) -> Vec<EndpointId> {
        let exits = self.relays.iter().map(|relay| relay.exit);
        let of_flow = exits.filter(|exit| self.port(*exit).flow == flow);
        std::iter::once(self.numbers.sender(flow)).chain(of_flow).collect()
    }

    /// Whether the run waits for a flow.
    pub(crate) fn awaits(&self, flow: FlowIndex) -> bool {
        self.numbers.datagrams(flow).is_none()
            && matches!(self.port(self.numbers.receiver(flow)).task, Task::Receive { .. })
    }

    /// The data of a sender has arrived at the other end of its connection.
    #[cold]
    pub(crate) fn sender_ends(&mut self, now: Instant, sender: EndpointId) {
        if !self.endings.contains_key(&sender) {
            let ending = self.account_now(sender, now);
            self.endings.insert(sender, ending);
        }
    }

    /// The last byte of a flow has arrived.
    #[cold]
    pub(crate) fn flow_arrives(&mut self, now: Instant, flow: FlowIndex) {
        self.outcomes.set(flow, Outcome::Finished(now));
        self.sender_ends(now, self.last_sender(flow));
    }

    /// The last byte of a flow for which the run waits has arrived.
    #[cold]
    pub(crate) fn transfer_arrives(&mut self, now: Instant, flow: FlowIndex) {
        self.flow_arrives(now, flow);
        self.open_transfers -= 1;
    }

    /// The endpoints of flows whose last byte has arrived, those at proxies included.
    pub(crate) fn ends_of_finished_flows(&self) -> Vec<EndpointId> {
        let finished = |at: &EndpointId| matches!(self.outcomes.of(self.port(*at).flow), Outcome::Finished(_));
        self.ids().filter(finished).collect()
    }

    /// Whether the connection at an endpoint is closed, or both its ends keep it open and everything is acknowledged.
    pub(crate) fn has_closed(&self, endpoint: EndpointId) -> bool {
        let socket = self.socket(endpoint);
        match socket.inspect().status() {
            Status::Closed | Status::Listening | Status::Lingering => true,
            Status::Open => {
                let peer = self.socket(socket.port().peer).inspect();
                peer.status() == Status::Open && socket.stream().all_acknowledged()
            }
            Status::Opening | Status::PeerClosed | Status::Closing => false,
        }
    }

    /// A flow fails, unless its transfer had arrived or it failed before.
    #[cold]
    pub(crate) fn flow_fails(&mut self, now: Instant, flow: FlowIndex, failure: Failure) {
        if self.outcomes.of(flow) != Outcome::Unfinished {
            return;
        }
        self.outcomes.set(flow, Outcome::Failed(failure));
        for sender in self.senders_of(flow) {
            self.sender_ends(now, sender);
        }
        let receiver = self.port_mut(self.numbers.receiver(flow));
        if matches!(receiver.task, Task::Receive { .. }) {
            receiver.task = Task::Idle;
            self.open_transfers -= 1;
        }
    }
}
