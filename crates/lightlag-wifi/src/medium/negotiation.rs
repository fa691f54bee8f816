//! The exchanges of stations that negotiate agreements about block acknowledgements.

use super::agreement::{ACTION_SIZE, Content};
use super::delivery::Outgoing;
use super::frame::{Frame, Kind, Peer};
use super::reorder::Reorder;
use super::{State, Wifi};
use crate::phy::BasicRates;
use crate::phy::timing::ACK_SIZE;
use lightlag_core::Instant;
use lightlag_net::StationId;
use lightlag_net::medium::{Addressee, Event};
use lightlag_net::queue::DropCause;

impl<P: Clone> Wifi<P> {
    /// Sends the management frame that waits, or a request if the next packet needs one. Returns false if there is neither.
    pub(super) fn negotiate(&mut self, at: StationId, now: Instant) -> bool {
        let state = &mut self.stations[at.index()];
        let class = state.class;
        let wanted = state.wanted_agreement(class, now);
        let Some(agreements) = &mut state.agreements else { return false };
        if agreements.action(class).is_none() {
            let Some((to, first)) = wanted else { return false };
            agreements.request(now, to, first);
        }
        self.send_action(at, now);
        true
    }

    fn send_action(&mut self, at: StationId, now: Instant) {
        let state = &mut self.stations[at.index()];
        let Some(action) = state.agreements.as_ref().and_then(|agreements| agreements.action(state.class)) else {
            return;
        };
        state.acts = true;
        let mode = state.management_mode;
        let (kind, sequence) = match action.content {
            Content::Request(first) => (Kind::AddBlockAckRequest, first),
            Content::Response => (Kind::AddBlockAckResponse, 0),
        };
        let reserves = self.timing.sifs + self.answer_time(mode, ACK_SIZE);
        let to = Addressee::One(action.to.station);
        let outgoing = Outgoing::control(to, kind, mode, ACTION_SIZE, reserves);
        let (packet, class, is_retry) = (action.number, action.to.class, action.tries > 0);
        let end = self.send(at, now, Outgoing { packet, sequence, bitmap: packet, class, is_retry, ..outgoing });
        self.wait(at, end);
    }

    /// The management frame that a station sent was acknowledged.
    pub(super) fn action_acknowledged(&mut self, at: StationId, now: Instant, next: Instant) {
        let state = &mut self.stations[at.index()];
        state.acts = false;
        state.access.renew(state.class);
        state.wake = None;
        let class = state.class;
        let answered = state.agreements.as_mut().and_then(|agreements| agreements.acknowledged(now, class));
        if let Some(peer) = answered {
            self.confirm(at, peer);
        }
        self.changed.push(at);
        self.next(at, now, Some(next));
    }

    /// A sender of packets has shown that it has the response: packets from it are under the agreement from now on.
    pub(super) fn confirm(&mut self, at: StationId, peer: Peer) {
        let Self { stations, events, .. } = self;
        let state = &mut stations[at.index()];
        if let Some(first) = state.agreements.as_mut().and_then(|agreements| agreements.confirm(peer)) {
            let before = std::mem::replace(state.reordered(peer), Reorder::patient(first));
            events.extend(before.into_held());
        }
    }

    /// No acknowledgement of a management frame came.
    pub(super) fn action_unanswered(&mut self, at: StationId, now: Instant) {
        let state = &mut self.stations[at.index()];
        let class = state.class;
        state.access.retry(class);
        let given_up = state.agreements.as_mut().and_then(|agreements| agreements.unacknowledged(now, class));
        if let Some(peer) = given_up {
            state.access.renew(class);
            self.unreachable(at, peer, DropCause::Retry);
        }
        self.next(at, now, None);
    }

    pub(super) fn unreachable(&mut self, at: StationId, peer: Peer, cause: DropCause) {
        let (at, to) = (at, peer.station);
        self.events.push_back(Event::Unreachable { at, to, cause });
    }

    /// A request or a response has arrived.
    pub(super) fn hear_action(&mut self, at: StationId, now: Instant, frame: &Frame<P>) {
        let peer = frame.peer();
        let state = &mut self.stations[at.index()];
        state.open(peer.class);
        let Some(agreements) = &mut state.agreements else { return };
        if !agreements.hear(frame.from, frame.packet) {
            return;
        }
        match frame.kind {
            Kind::AddBlockAckRequest => agreements.hear_request(now, peer, frame.sequence),
            _ => agreements.hear_response(peer),
        }
        self.resume(at, now);
    }

    /// Responses that are late are waited for no longer.
    pub(super) fn give_up_responses(&mut self, at: StationId, now: Instant) {
        while let Some(peer) = self.stations[at.index()].agreements.as_mut().and_then(|of| of.pop_late(now)) {
            self.stations[at.index()].access.draw_anew(peer.class);
        }
        self.resume(at, now);
    }

    /// A station has something to send that it had not.
    fn resume(&mut self, at: StationId, now: Instant) {
        if self.stations[at.index()].access.state == State::Idle {
            self.contend(at, now);
        }
        self.changed.push(at);
    }

    /// No answer to a block acknowledgement request came. It is repeated while packets that it asks for are alive, each time
    /// after a longer backoff, and otherwise while others for the same receiver wait.
    pub(super) fn request_unanswered(&mut self, at: StationId, now: Instant, peer: Peer) {
        let state = &mut self.stations[at.index()];
        let class = peer.class;
        let asks = state.unresolved.as_ref().filter(|(of, _)| *of == class);
        if asks.is_some_and(|(_, packets)| packets.iter().any(|number| state.queues[class].is_alive(*number, now))) {
            state.access.retry(class);
        } else {
            state.unresolved.take_if(|(of, _)| *of == class);
            state.access.allowed(class);
            state.access.renew(class);
            if let Some(agreements) = &mut state.agreements {
                agreements.request_failed(peer);
            }
        }
        self.next(at, now, None);
    }

    /// The mode of a block acknowledgement request: that of its answer where agreements are negotiated, as in ns-3.
    pub(super) fn request_mode(&self, at: StationId) -> crate::phy::Mode {
        let state = &self.stations[at.index()];
        if state.agreements.is_some() { BasicRates::MANDATORY.answer(state.mode) } else { state.broadcast_mode }
    }
}
