//! The negotiation of block acknowledgement agreements.

use super::agreement::{ACTION_SIZE, Content};
use super::delivery::Outgoing;
use super::frame::{Frame, FrameKind, Peer};
use super::reorder::Reorder;
use super::{State, Wifi};
use crate::phy::BasicRates;
use crate::phy::timing::ACK_SIZE;
use lightlag_core::Instant;
use lightlag_net::StationId;
use lightlag_net::medium::{Addressee, Event};
use lightlag_net::queue::DropCause;

impl<P: Clone> Wifi<P> {
    /// Sends the management frame that is waiting, or a request if the next packet needs an agreement. Returns false if
    /// there is neither.
    pub(super) fn negotiate(&mut self, station: StationId, now: Instant) -> bool {
        let state = &mut self.stations[station.index()];
        let class = state.class;
        let wanted = state.wanted_agreement(class, now);
        let Some(agreements) = &mut state.agreements else { return false };
        if agreements.action(class).is_none() {
            let Some((to, first)) = wanted else { return false };
            agreements.request(now, to, first);
        }
        self.send_action(station, now);
        true
    }

    fn send_action(&mut self, station_id: StationId, now: Instant) {
        let state = &mut self.stations[station_id.index()];
        let Some(action) = state.agreements.as_ref().and_then(|agreements| agreements.action(state.class)) else {
            return;
        };
        state.acts = true;
        let mode = state.management_mode;
        let (kind, sequence) = match action.content {
            Content::Request(first) => (FrameKind::AddBlockAckRequest, first),
            Content::Response => (FrameKind::AddBlockAckResponse, 0),
        };
        let reserves = self.timing.sifs + self.answer_time(mode, ACK_SIZE);
        let to = Addressee::One(action.to.station);
        let outgoing = Outgoing::control(to, kind, mode, ACTION_SIZE, reserves);
        let (packet, class, is_retry) = (action.number, action.to.class, action.tries > 0);
        let end =
            self.send(station_id, now, Outgoing { packet, sequence, bitmap: packet, class, is_retry, ..outgoing });
        self.wait(station_id, end);
    }

    /// Handles the acknowledgement of the management frame that a station sent.
    pub(super) fn action_acknowledged(&mut self, station: StationId, now: Instant, next: Instant) {
        let state = &mut self.stations[station.index()];
        state.acts = false;
        state.access.renew(state.class);
        state.wake = None;
        let class = state.class;
        let answered = state.agreements.as_mut().and_then(|agreements| agreements.acknowledged(now, class));
        if let Some(peer) = answered {
            self.confirm(station, peer);
        }
        self.changed.push(station);
        self.next(station, now, Some(next));
    }

    /// Records that a sender of packets has received the response, so that its packets are now under the agreement.
    pub(super) fn confirm(&mut self, station: StationId, peer: Peer) {
        let Self { stations, events, .. } = self;
        let state = &mut stations[station.index()];
        if let Some(first) = state.agreements.as_mut().and_then(|agreements| agreements.confirm(peer)) {
            let before = std::mem::replace(state.reordered(peer), Reorder::patient(first));
            events.extend(before.into_held());
        }
    }

    /// Handles a missing acknowledgement of a management frame.
    pub(super) fn action_unanswered(&mut self, station: StationId, now: Instant) {
        let state = &mut self.stations[station.index()];
        let class = state.class;
        state.access.retry(class);
        let given_up = state.agreements.as_mut().and_then(|agreements| agreements.unacknowledged(now, class));
        if let Some(peer) = given_up {
            state.access.renew(class);
            self.unreachable(station, peer, DropCause::Retry);
        }
        self.next(station, now, None);
    }

    pub(super) fn unreachable(&mut self, station_id: StationId, peer: Peer, cause: DropCause) {
        let (at, to) = (station_id, peer.station);
        self.events.push_back(Event::Unreachable { at, to, cause });
    }

    /// Handles a received ADDBA request or response.
    pub(super) fn hear_action(&mut self, station: StationId, now: Instant, frame: &Frame<P>) {
        let peer = frame.peer();
        let state = &mut self.stations[station.index()];
        state.open(peer.class);
        let Some(agreements) = &mut state.agreements else { return };
        if !agreements.hear(frame.from, frame.packet) {
            return;
        }
        match frame.kind {
            FrameKind::AddBlockAckRequest => agreements.hear_request(now, peer, frame.sequence),
            _ => agreements.hear_response(peer),
        }
        self.resume(station, now);
    }

    /// Stops waiting for responses that are late.
    pub(super) fn give_up_responses(&mut self, station: StationId, now: Instant) {
        while let Some(peer) = self.stations[station.index()].agreements.as_mut().and_then(|of| of.pop_late(now)) {
            self.stations[station.index()].access.draw_anew(peer.class);
        }
        self.resume(station, now);
    }

    /// Resumes a station that has a new frame to send.
    fn resume(&mut self, station: StationId, now: Instant) {
        if self.stations[station.index()].access.state == State::Idle {
            self.contend(station, now);
        }
        self.changed.push(station);
    }

    /// Handles a missing reply to a block acknowledgement request. While the requested packets are alive, the request
    /// is repeated, each time after a longer backoff. Otherwise it is repeated only while other packets for the same
    /// receiver are waiting.
    pub(super) fn request_unanswered(&mut self, station: StationId, now: Instant, peer: Peer) {
        let state = &mut self.stations[station.index()];
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
        self.next(station, now, None);
    }

    /// Returns the mode of a block acknowledgement request. If agreements are negotiated, it is the mode of the reply,
    /// as in ns-3.
    pub(super) fn request_mode(&self, station: StationId) -> crate::phy::PhyMode {
        let state = &self.stations[station.index()];
        if state.agreements.is_some() { BasicRates::MANDATORY.answer(state.mode) } else { state.broadcast_mode }
    }
}
