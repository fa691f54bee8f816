//! Completion of flows. A partition reports it to all others after the window, because it may affect both endpoints.

use super::World;
use crate::border::{Border, What};
use crate::hosts::socket::Task;
use crate::ids::FlowIndex;
use crate::tap::Tap;
use lightlag_core::Instant;
use lightlag_net::EndpointId;
use lightlag_transport::Failure;

impl<T: Tap, B: Border> World<T, B> {
    /// Handles the arrival of the last byte of a flow that the run waits for.
    #[cold]
    pub(super) fn transfer_arrives(&mut self, now: Instant, flow: FlowIndex) {
        match self.border.part() {
            None => self.hosts.transfer_arrives(now, flow),
            Some(part) => part.tell(&self.hosts, What::TransferArrives { flow }),
        }
    }

    /// Handles the arrival of the last byte of a flow.
    pub(super) fn flow_arrives(&mut self, now: Instant, flow: FlowIndex) {
        match self.border.part() {
            None => self.hosts.flow_arrives(now, flow),
            Some(part) => part.tell(&self.hosts, What::FlowArrives { flow }),
        }
    }

    /// Records that the run no longer waits for this flow.
    pub(super) fn closes(&mut self, flow: FlowIndex) {
        match self.border.part() {
            None => self.hosts.open_transfers -= 1,
            Some(part) => part.tell(&self.hosts, What::Closes { flow }),
        }
    }

    /// Records that all data of a sender has arrived at the other endpoint of its connection.
    pub(super) fn sender_ends(&mut self, now: Instant, sender: EndpointId) {
        match self.border.part() {
            None => self.hosts.sender_ends(now, sender),
            Some(part) => part.tell(&self.hosts, What::SenderEnds { sender }),
        }
    }

    /// Records that a flow has failed, unless its transfer was complete or the flow had failed before.
    pub(super) fn flow_fails(&mut self, now: Instant, flow: FlowIndex, failure: Failure) {
        let Some(part) = self.border.part() else { return self.hosts.flow_fails(now, flow, failure) };
        part.tell(&self.hosts, What::Fails { flow, failure });
        let receiver = self.hosts.numbers.receiver(flow);
        if part.has_endpoint(receiver)
            && let task @ Task::Receive { .. } = &mut self.hosts.port_mut(receiver).task
        {
            *task = Task::Idle;
        }
    }
}
