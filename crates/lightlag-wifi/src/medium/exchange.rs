//! The exchanges of a station: which packets it sends, how others reply, and what follows from a reply or its absence.

use super::access::State;
use super::aggregate::{self, AggregateLength, BLOCK_ACK_REQUEST_SIZE, BLOCK_ACK_SIZE, Mpdu};
use super::delivery::Outgoing;
use super::frame::{Frame, FrameKind, Msdu, Peer};
use super::queue::Pending;
use super::station::StationState;
use super::{RTS_SIZE, Wifi};
use crate::phy::timing::ACK_SIZE;
use crate::phy::{BasicRates, PhyMode};
use crate::rate::{Choice, PpduOutcome};
use lightlag_core::{Bytes, Duration, Instant};
use lightlag_net::StationId;
use lightlag_net::medium::{Addressee, Event};
use lightlag_net::queue::DropCause;

impl<P: Clone> Wifi<P> {
    /// Starts the next exchange of a station: a block acknowledgement request or a management frame if one is due,
    /// otherwise its next packets or an RTS for them.
    pub(super) fn start(&mut self, station: StationId, now: Instant) {
        let class = self.stations[station.index()].class;
        if let Some(peer) = self.stations[station.index()].next_owed(class) {
            return self.ask_what_arrived(station, now, peer);
        }
        if self.negotiate(station, now) {
            return;
        }
        self.choose(station, now);
        let state = &self.stations[station.index()];
        let together = state.together;
        let Some(pending) = state.head(state.class) else { return };
        let (to, packet) = (pending.msdu.to, pending.number);
        let size = together.unwrap_or_else(|| pending.msdu.size + state.overhead);
        if matches!(to, Addressee::One(_)) && size > state.rts_threshold {
            let mode = state.broadcast_mode;
            let data_mode = state.mode;
            let ppdu = if together.is_some() { size } else { aggregate::alone(data_mode, size) };
            let (cts, data) = (self.answer_time(mode, ACK_SIZE), data_mode.duration(Bytes(ppdu.into())));
            let ack = self.acknowledgement_time(data_mode, together);
            let reserves = self.timing.sifs * 3 + cts + data + ack;
            let outgoing =
                Outgoing { packet, class, ..Outgoing::control(to, FrameKind::Rts, mode, RTS_SIZE.0 as u32, reserves) };
            let end = self.send(station, now, outgoing);
            self.stations[station.index()].access.ask();
            self.wait(station, end);
        } else {
            self.send_data(station, now);
        }
    }

    /// Chooses the packets that a station sends next, and their mode.
    pub(super) fn choose(&mut self, station_id: StationId, now: Instant) {
        let sifs = self.timing.sifs;
        let (seed, curves) = (self.seed, &self.curves);
        let state = &mut self.stations[station_id.index()];
        let class = state.class;
        let to = state.head(class).map(|pending| pending.msdu.to);
        if let Some(control) = &mut state.control
            && let Some(Addressee::One(to)) = to
            && let Some(state_of_pair) = control.of(to, curves, seed)
        {
            Choice { mode: state.mode, is_probe: state.is_probe } = state_of_pair.choose(now);
        }
        let burst = state.access.burst(class);
        let longest = if burst > Duration::ZERO {
            let answer = BasicRates::MANDATORY.answer(state.mode).duration(Bytes(BLOCK_ACK_SIZE.into()));
            state.mode.largest(burst.saturating_sub(sifs + answer)).0 as u32
        } else {
            u32::MAX
        };
        let limit = state.aggregation.filter(|_| !state.is_probe).and_then(|limit| aggregate::most(state.mode, limit));
        let max_bytes = limit.map(|limit| limit.min(longest));
        let mut sending = std::mem::take(&mut state.sending);
        let next = |station| state.next_sequence(Peer { station, class });
        let is_blocked = |station| {
            state.agreements.as_ref().is_some_and(|agreements| agreements.is_blocked(Peer { station, class }))
        };
        let max_for = |station| max_bytes.filter(|_| state.may_aggregate(Peer { station, class }));
        state.together = state.queues[class].choose(is_blocked, max_for, state.overhead, next, &mut sending);
        state.sending = sending;
    }

    pub(super) fn send_data(&mut self, station_id: StationId, start: Instant) {
        let reserves = {
            let state = &self.stations[station_id.index()];
            self.timing.sifs + self.acknowledgement_time(state.mode, state.together)
        };
        let state = &mut self.stations[station_id.index()];
        let class = state.class;
        state.counters.sent += state.sending.len() as u64;
        state.queues[class].sent += state.sending.len() as u64;
        let to = state.current().map_or(Addressee::All, |of| of.msdu.to);
        if let (Some(size), Addressee::One(to)) = (state.together, to) {
            let mut mpdus = Vec::with_capacity(state.sending.len());
            let mut length = AggregateLength::default();
            for index in 0..state.sending.len() {
                let packet = state.sending[index];
                let fresh = state.next_sequence(Peer { station: to, class });
                let Some(pending) = state.queues[state.class].get_mut(packet) else { continue };
                let is_fresh = pending.sequence == 0;
                if is_fresh {
                    pending.sequence = fresh;
                }
                let (offset, bytes) = length.place(pending.msdu.size + state.overhead);
                length = length.with(pending.msdu.size + state.overhead);
                let payload = (!self.watched.is_empty()).then(|| pending.msdu.payload.clone());
                let (sequence, is_retry) = (pending.sequence, pending.tries > 0);
                mpdus.push(Mpdu { packet, sequence, is_retry, offset, bytes, payload });
                if is_fresh {
                    state.number(Peer { station: to, class });
                }
            }
            state.counters.retries += mpdus.iter().map(|mpdu| u64::from(mpdu.is_retry)).sum::<u64>();
            state.counters.aggregates += 1;
            state.counters.aggregated += mpdus.len() as u64;
            let outgoing = Outgoing::control(Addressee::One(to), FrameKind::Data, state.mode, size, reserves);
            let end = self.send(station_id, start, Outgoing { mpdus, class, ..outgoing });
            return self.wait(station_id, end);
        }
        let is_numbered = state.aggregation.is_some() || state.agreements.is_some();
        let fresh = match state.current() {
            Some(pending) => match pending.msdu.to {
                Addressee::One(station) if pending.sequence == 0 && is_numbered => {
                    Some(state.number(Peer { station, class }))
                }
                _ => None,
            },
            None => return,
        };
        let Some(number) = state.sending.first() else { return };
        let Some(pending) = state.queues[class].get_mut(*number) else { return };
        pending.sequence = fresh.unwrap_or(pending.sequence);
        let (to, packet, sequence) = (pending.msdu.to, pending.number, pending.sequence);
        let is_retry = pending.tries > 0;
        let is_needed = to == Addressee::All || !self.watched.is_empty();
        let payload = is_needed.then(|| pending.msdu.payload.clone());
        let size = pending.msdu.size + state.overhead;
        state.counters.retries += u64::from(is_retry);
        let (mode, reserves) = match to {
            Addressee::All => (state.broadcast_mode, Duration::ZERO),
            Addressee::One(_) => (state.mode, reserves),
        };
        let outgoing = Outgoing::control(to, FrameKind::Data, mode, aggregate::alone(mode, size), reserves);
        let end = self.send(station_id, start, Outgoing { packet, sequence, is_retry, payload, class, ..outgoing });
        match to {
            Addressee::All => {
                let state = &mut self.stations[station_id.index()];
                state.access.state = State::Sending(end);
                state.wake = Some(end);
                self.changed.push(station_id);
            }
            Addressee::One(_) => self.wait(station_id, end),
        }
    }

    /// Requests a block acknowledgement from a receiver. The request also states the first packet that may still
    /// arrive, so that the receiver stops waiting for earlier ones.
    pub(super) fn ask_what_arrived(&mut self, station_id: StationId, now: Instant, peer: Peer) {
        let state = &mut self.stations[station_id.index()];
        let is_sent = |of: &&Pending<P>| of.sequence > 0 && of.msdu.to == Addressee::One(peer.station);
        let sequence = state.queues[peer.class].iter().find(is_sent).map(|of| of.sequence);
        let sequence = sequence.unwrap_or_else(|| state.next_sequence(peer));
        state.tells = Some(peer);
        state.access.ask();
        let mode = self.request_mode(station_id);
        let (kind, to) = (FrameKind::BlockAckRequest, Addressee::One(peer.station));
        let reserves = self.timing.sifs + self.answer_time(mode, Bytes(BLOCK_ACK_SIZE.into()));
        let outgoing = Outgoing::control(to, kind, mode, BLOCK_ACK_REQUEST_SIZE, reserves);
        let end = self.send(station_id, now, Outgoing { sequence, class: peer.class, ..outgoing });
        self.wait(station_id, end);
    }

    /// Returns the duration of a reply of this size to a frame of this mode.
    pub(super) fn answer_time(&self, mode: PhyMode, size: Bytes) -> Duration {
        BasicRates::MANDATORY.answer(mode).duration(size)
    }

    /// Returns the duration of the acknowledgement of a frame. If `together` is given, the frame is an A-MPDU of that
    /// size.
    pub(super) fn acknowledgement_time(&self, mode: PhyMode, together: Option<u32>) -> Duration {
        let size = if together.is_some() { Bytes(BLOCK_ACK_SIZE.into()) } else { ACK_SIZE };
        self.answer_time(mode, size)
    }

    /// Sends a station's reply, an ACK or CTS, to a frame.
    pub(super) fn answer(
        &mut self,
        station: StationId,
        start: Instant,
        (frame, ratio): (&Frame<P>, f64),
        kind: FrameKind,
        reserves: Duration,
    ) {
        let mode = BasicRates::MANDATORY.answer(frame.sent.mode);
        let outgoing = Outgoing::control(Addressee::One(frame.from), kind, mode, ACK_SIZE.0 as u32, reserves);
        let (answers, answered) = (Some(frame.exchange), Some(ratio));
        self.send(station, start, Outgoing { answers, answered, class: frame.class, ..outgoing });
    }

    /// Replies to a frame with a block acknowledgement that covers its sender's packets, starting at `sequence`.
    pub(super) fn acknowledge_block(
        &mut self,
        station: StationId,
        start: Instant,
        (frame, ratio): (&Frame<P>, f64),
        sequence: u64,
    ) {
        let bitmap = self.stations[station.index()].reordered(frame.peer()).bitmap(sequence);
        let (to, mode) = (Addressee::One(frame.from), BasicRates::MANDATORY.answer(frame.sent.mode));
        let outgoing = Outgoing::control(to, FrameKind::BlockAck, mode, BLOCK_ACK_SIZE, Duration::ZERO);
        let (answers, answered, class) = (Some(frame.exchange), Some(ratio), frame.class);
        self.send(station, start, Outgoing { sequence, bitmap, answers, answered, class, ..outgoing });
    }

    pub(super) fn acknowledged(&mut self, station: StationId, now: Instant, next: Instant) {
        let state = &mut self.stations[station.index()];
        state.access.renew(state.class);
        state.wake = None;
        let sent = state.take_current(now);
        if let Some(Pending { msdu: Msdu { to: Addressee::One(to), payload, .. }, .. }) = sent {
            state.counters.settled += 1;
            self.events.push_back(Event::Acknowledged { at: station, to, payload });
        }
        self.next(station, now, Some(next));
    }

    /// Handles a block acknowledgement: the packets that have arrived are removed, and the others will be
    /// retransmitted.
    pub(super) fn block_acknowledged(&mut self, station: StationId, now: Instant, next: Instant, snr: Option<f64>) {
        if self.stations[station.index()].tells.is_none() {
            let StationState { sending, queues, class, .. } = &mut self.stations[station.index()];
            let queue = &mut queues[*class];
            let arrived = sending.iter().filter(|number| queue.get_mut(**number).is_some_and(|of| of.arrived)).count();
            self.learn(station, arrived as u32, snr);
        }
        let state = &mut self.stations[station.index()];
        let class = state.class;
        state.access.allowed(class);
        state.access.renew(class);
        state.wake = None;
        let receiver = state.tells.take();
        let has_receiver = receiver.is_some();
        if let Some(receiver) = receiver {
            state.tell_done(receiver);
        }
        let about = match state.unresolved.take_if(|(of, _)| has_receiver && *of == class) {
            Some((_, packets)) => packets,
            None if has_receiver => Vec::new(),
            None => std::mem::take(&mut state.sending),
        };
        for number in about {
            let Some(pending) = state.queues[state.class].get_mut(number) else { continue };
            pending.tries += 1;
            let (arrived, tries) = (pending.arrived, pending.tries);
            if !arrived && tries < state.tries {
                continue;
            }
            let Some(pending) = state.queues[state.class].take(now, number) else { continue };
            let event = match pending.msdu {
                Msdu { to: Addressee::One(to), payload, .. } if arrived => {
                    state.counters.settled += 1;
                    Event::Acknowledged { at: station, to, payload }
                }
                _ => {
                    state.counters.dropped_retry += 1;
                    state.give_up(station, class, pending, DropCause::Retry)
                }
            };
            self.events.push_back(event);
        }
        self.next(station, now, Some(next));
    }

    /// Handles the end of a broadcast frame at its sender.
    pub(super) fn finish(&mut self, station: StationId, now: Instant) {
        let state = &mut self.stations[station.index()];
        state.access.renew(state.class);
        state.counters.settled += u64::from(state.take_current(now).is_some());
        self.next(station, now, Some(now + self.timing.sifs));
    }

    /// Handles a missing reply.
    pub(super) fn unanswered(&mut self, station_id: StationId, now: Instant) {
        let state = &mut self.stations[station_id.index()];
        let until = state.access.busy_until.max(now);
        state.access.occupy(until, until);
        state.access.busy_until = until;
        let class = state.class;
        if std::mem::take(&mut state.acts) {
            return self.action_unanswered(station_id, now);
        }
        if state.agreements.is_some()
            && let Some(receiver) = state.tells.take()
        {
            return self.request_unanswered(station_id, now, receiver);
        }
        let is_request = state.access.asks();
        let is_last = state.access.retry(class) >= state.tries;
        if is_last {
            state.access.renew(class);
        }
        if let Some(receiver) = state.tells.take() {
            if is_last {
                state.tell_done(receiver);
                for number in state.unresolved.take_if(|(of, _)| *of == class).map_or(Vec::new(), |(_, of)| of) {
                    if let Some(pending) = state.queues[class].take(now, number) {
                        state.counters.dropped_retry += 1;
                        self.events.push_back(state.give_up(station_id, class, pending, DropCause::Retry));
                    }
                }
            }
            return self.next(station_id, now, None);
        }
        if state.asks_again
            && !is_request
            && state.together.is_some()
            && state.unresolved.is_none()
            && let Some(Addressee::One(station)) = state.current().map(|of| of.msdu.to)
        {
            let peer = Peer { station, class };
            state.owed.retain(|of| *of != peer);
            state.owed.push_front(peer);
            self.learn(station_id, 0, None);
            let state = &mut self.stations[station_id.index()];
            state.unresolved = Some((class, std::mem::take(&mut state.sending)));
            return self.next(station_id, now, None);
        }
        if !is_request {
            self.learn(station_id, 0, None);
        }
        let state = &mut self.stations[station_id.index()];
        let is_alone = state.together.is_none();
        for number in std::mem::take(&mut state.sending) {
            let Some(pending) = state.queues[state.class].get_mut(number) else { continue };
            pending.tries += u32::from(!is_request);
            if pending.tries < state.tries && !(is_last && (is_alone || is_request)) {
                continue;
            }
            if let Some(pending) = state.queues[state.class].take(now, number) {
                state.counters.dropped_retry += 1;
                self.events.push_back(state.give_up(station_id, class, pending, DropCause::Retry));
            }
        }
        self.next(station_id, now, None);
    }

    /// Reports the outcome of the packets just sent to the station's rate control.
    pub(super) fn learn(&mut self, station: StationId, arrived: u32, snr: Option<f64>) {
        let (seed, curves) = (self.seed, &self.curves);
        let to = self.stations[station.index()].current().map(|pending| pending.msdu.to);
        let StationState { control, sending, mode, .. } = &mut self.stations[station.index()];
        if let Some(control) = control
            && let Some(Addressee::One(to)) = to
            && let Some(of) = control.of(to, curves, seed)
        {
            of.learn(PpduOutcome { mode: *mode, sent: sending.len() as u32, arrived, snr });
        }
    }
}
