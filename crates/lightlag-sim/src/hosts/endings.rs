//! The completion of flows. The account of a sender stops when the last byte of its data has arrived, even if the run
//! continues.

use super::application::Application;
use super::socket::Task;
use super::{FlowOutcome, Hosts};
use crate::ids::FlowIndex;
use lightlag_core::Instant;
use lightlag_net::EndpointId;
use lightlag_transport::{Failure, Limited, QuicLimited, Standing, Status};

/// The account of a sender at the time when its data had all arrived.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    /// Arrival time of the sender's last byte, or the time when its flow failed.
    pub(crate) at: Instant,
    pub(crate) limited: Limited,
    /// Parts of these times; `None` for TCP.
    pub(crate) quic_limited: Option<Box<QuicLimited>>,
    pub(crate) mean_cwnd_segments: f64,
}

impl Ending {
    /// Returns the account at `time`. `standing` must still be valid then.
    pub(crate) fn new(time: Instant, standing: &Standing) -> Self {
        Self {
            at: time,
            limited: standing.limited(time),
            quic_limited: standing.quic_limited(time).map(Box::new),
            mean_cwnd_segments: standing.mean_cwnd_segments(time),
        }
    }
}

impl Hosts {
    /// Returns the account of the sender at an endpoint when its data had all arrived; if that did not happen, at the
    /// end of the run.
    pub(crate) fn account(&self, sender: EndpointId, end: Instant) -> Ending {
        self.endings.get(&sender).cloned().unwrap_or_else(|| self.account_now(sender, end))
    }

    pub(crate) fn account_now(&self, sender: EndpointId, time: Instant) -> Ending {
        Ending::new(time, &self.socket(sender).inspect().standing())
    }

    /// Returns the time when the sender's last byte arrived at the other endpoint of its connection; `None` if it did
    /// not.
    pub(crate) fn arrived_at(&self, sender: EndpointId) -> Option<Instant> {
        let failed = matches!(self.outcomes.of(self.port(sender).flow), FlowOutcome::Failed(_));
        self.endings.get(&sender).filter(|_| !failed).map(|ending| ending.at)
    }

    /// Returns the endpoint that sends the data of a flow to the flow's receiver: at the last proxy, or at the sender.
    pub(crate) fn last_sender(&self, flow: FlowIndex) -> EndpointId {
        self.port(self.numbers.receiver(flow)).peer
    }

    /// Returns the endpoints that send the data of a flow: at the flow's sender and at the proxies.
    pub(crate) fn senders_of(&self, flow: FlowIndex) -> Vec<EndpointId> {
        let exits = self.relays.iter().map(|relay| relay.exit);
        let of_flow = exits.filter(|exit| self.port(*exit).flow == flow);
        std::iter::once(self.numbers.sender(flow)).chain(of_flow).collect()
    }

    /// Returns the time when the client of a dialogue opened the connection of a flow, if it did.
    pub(crate) fn opened_by_client(&self, flow: FlowIndex) -> Option<Instant> {
        let client = self.port(self.numbers.receiver(flow));
        let Some(Application::Asks(talk)) = client.application.as_deref() else { return None };
        self.dialogues[talk.dialogue as usize].opened().nth(talk.line as usize).flatten()
    }

    /// Returns true if the run waits for a flow.
    pub(crate) fn awaits(&self, flow: FlowIndex) -> bool {
        self.numbers.datagrams(flow).is_none()
            && matches!(self.port(self.numbers.receiver(flow)).task, Task::Receive { .. })
    }

    /// Records that all data of a sender has arrived at the other endpoint of its connection.
    #[cold]
    pub(crate) fn sender_ends(&mut self, now: Instant, sender: EndpointId) {
        if !self.endings.contains_key(&sender) {
            let ending = self.account_now(sender, now);
            self.endings.insert(sender, ending);
        }
    }

    /// Records that the last byte of a flow has arrived.
    #[cold]
    pub(crate) fn flow_arrives(&mut self, now: Instant, flow: FlowIndex) {
        self.outcomes.set(flow, FlowOutcome::Finished(now));
        self.sender_ends(now, self.last_sender(flow));
    }

    /// Records that the last byte of a flow that the run waits for has arrived.
    #[cold]
    pub(crate) fn transfer_arrives(&mut self, now: Instant, flow: FlowIndex) {
        self.flow_arrives(now, flow);
        self.open_transfers -= 1;
    }

    /// Returns the endpoints of flows whose last byte has arrived, including the endpoints at proxies.
    pub(crate) fn ends_of_finished_flows(&self) -> Vec<EndpointId> {
        let finished = |at: &EndpointId| matches!(self.outcomes.of(self.port(*at).flow), FlowOutcome::Finished(_));
        self.ids().filter(finished).collect()
    }

    /// Returns true if the connection at an endpoint is closed, or if both endpoints keep it open and all data is
    /// acknowledged.
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

    /// Records that a flow has failed, unless its transfer was complete or the flow had failed before.
    #[cold]
    pub(crate) fn flow_fails(&mut self, now: Instant, flow: FlowIndex, failure: Failure) {
        if self.outcomes.of(flow) != FlowOutcome::Unfinished {
            return;
        }
        self.outcomes.set(flow, FlowOutcome::Failed(failure));
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
